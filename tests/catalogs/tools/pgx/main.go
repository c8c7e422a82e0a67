// What pgx asks of a database that is there: types by name, what statements are, and what a pool and database/sql begin with.
package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"

	"github.com/jackc/pgx/v5"
	_ "github.com/jackc/pgx/v5/stdlib"
)

func main() {
	ctx := context.Background()
	connection, err := pgx.Connect(ctx, "sslmode=disable")
	if err != nil {
		panic(err)
	}
	for _, name := range []string{"int4", "app.customer", "_text", "app.order_line", "app.order_line[]", "jsonb", "app.nosuch"} {
		kind, err := connection.LoadType(ctx, name)
		if err != nil {
			fmt.Fprintln(os.Stderr, name, err)
			continue
		}
		connection.TypeMap().RegisterType(kind)
	}
	kinds, err := connection.LoadTypes(ctx, []string{"app.customer", "app.orders"})
	fmt.Fprintln(os.Stderr, len(kinds), err)
	connection.TypeMap().RegisterTypes(kinds)
	for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe, pgx.QueryExecModeDescribeExec, pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol} {
		rows, err := connection.Query(ctx, "SELECT relname FROM pg_class WHERE relname = ANY ($1) AND relkind = $2 ORDER BY 1", mode, []string{"customer", "orders"}, "r")
		if err != nil {
			panic(err)
		}
		for rows.Next() {
		}
		if rows.Err() != nil {
			panic(rows.Err())
		}
	}
	database, err := sql.Open("pgx", "sslmode=disable")
	if err != nil {
		panic(err)
	}
	rows, err := database.Query("SELECT nspname FROM pg_namespace WHERE nspname = $1", "app")
	if err != nil {
		panic(err)
	}
	for rows.Next() {
	}
}
