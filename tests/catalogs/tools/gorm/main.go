// What GORM and golang-migrate ask of a database that is there. Argument: gorm or migrate.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/golang-migrate/migrate/v4"
	_ "github.com/golang-migrate/migrate/v4/database/pgx/v5"
	_ "github.com/golang-migrate/migrate/v4/source/file"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
)

type Buyer struct {
	ID    int64  `gorm:"primaryKey"`
	Name  string `gorm:"not null;comment:who"`
	Email string `gorm:"size:100;uniqueIndex"`
	Added string `gorm:"default:x;index"`
}

func (Buyer) TableName() string { return "app.buyer" }

type Bill struct {
	ID      int64
	BuyerID int64
	Buyer   Buyer
	Total   float64 `gorm:"type:numeric(10,2);check:total > 0"`
}

func (Bill) TableName() string { return "app.bill" }

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	switch os.Args[1] {
	case "gorm":
		database, err := gorm.Open(postgres.Open("sslmode=disable"))
		must(err)
		about := database.Migrator()
		fmt.Fprintln(os.Stderr, about.CurrentDatabase(), about.HasTable("app.orders"), about.HasColumn("app.orders", "note"), about.HasIndex("app.orders", "order_note"), about.HasConstraint("app.order_line", "of_order"))
		for _, table := range []string{"app.customer", "app.orders", "app.order_line"} {
			_, err = about.ColumnTypes(table)
			must(err)
			_, err = about.GetIndexes(table)
			must(err)
		}
		_, err = about.GetTables()
		must(err)
		must(database.AutoMigrate(&Buyer{}, &Bill{}))
		must(database.AutoMigrate(&Buyer{}, &Bill{}))
		must(about.DropTable(&Bill{}, &Buyer{}))
	default:
		work, err := os.MkdirTemp("", "migrations")
		must(err)
		defer os.RemoveAll(work)
		must(os.WriteFile(filepath.Join(work, "1_first.up.sql"), []byte("CREATE TABLE app.made (a int);"), 0o600))
		must(os.WriteFile(filepath.Join(work, "1_first.down.sql"), []byte("DROP TABLE app.made;"), 0o600))
		of := os.Getenv
		address := fmt.Sprintf("pgx5://%s:%s@%s:%s/%s?sslmode=disable", of("PGUSER"), of("PGPASSWORD"), of("PGHOST"), of("PGPORT"), of("PGDATABASE"))
		changes, err := migrate.New("file://"+work, address)
		must(err)
		must(changes.Up())
		must(changes.Down())
		_, _ = changes.Close()
	}
}
