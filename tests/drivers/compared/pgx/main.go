// pgx: types in and out in both forms, statements that are prepared, pools, batches, COPY, notifications, cancels; and database/sql over it.
package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
	_ "github.com/jackc/pgx/v5/stdlib"
)

var ctx = context.Background()
var failed = false

func show(what string, values ...any) {
	fmt.Print(what, ":")
	for _, v := range values {
		fmt.Printf(" %#v", v)
	}
	fmt.Println()
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func step(name string, f func(c *pgx.Conn)) {
	fmt.Println("==", name)
	defer func() {
		if r := recover(); r != nil {
			failed = true
			fmt.Println("FAIL", name, r)
		}
	}()
	c := connect()
	defer c.Close(ctx)
	f(c)
}

func connect() *pgx.Conn {
	config, err := pgx.ParseConfig("timezone=UTC")
	must(err)
	c, err := pgx.ConnectConfig(ctx, config)
	must(err)
	return c
}

// Hints are left out: Stoa suggests tables as well.
func wrong(err error) {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		show("error", e.Code, e.Severity, e.Message, e.Detail, e.Position, e.SchemaName, e.TableName, e.ColumnName, e.ConstraintName)
	} else if err != nil {
		show("other error", strings.ReplaceAll(err.Error(), "\n", " "))
	} else {
		show("no error")
	}
}

func text(v any) string {
	switch v := v.(type) {
	case time.Time:
		return v.UTC().Format(time.RFC3339Nano)
	case pgtype.Numeric:
		b, _ := v.MarshalJSON()
		return string(b)
	case *big.Int:
		return v.String()
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("%v", v)
	}
	return fmt.Sprintf("%T %s", v, b)
}

func typesOf(c *pgx.Conn) {
	when := time.Date(2024, 2, 29, 1, 2, 3, 4000, time.UTC)
	numeric := func(s string) pgtype.Numeric {
		var n pgtype.Numeric
		must(n.Scan(s))
		return n
	}
	for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe, pgx.QueryExecModeDescribeExec, pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol} {
		show("mode", mode.String())
		for _, t := range []struct {
			ty    string
			value any
		}{
			{"bool", true}, {"int2", int16(-5)}, {"int4", int32(1<<31 - 1)}, {"int8", int64(-1 << 62)}, {"float4", float32(1.5)}, {"float8", 0.1}, {"numeric", numeric("12345678901234567890.1200")}, {"numeric", numeric("NaN")},
			{"text", "größe 'x' \"y\" \\"}, {"varchar(9)", "abc"}, {"char(5)", "ab"}, {"bytea", []byte{0, 255, 16}}, {"date", when}, {"timestamp", when}, {"timestamptz", when}, {"time", pgtype.Time{Microseconds: 86399999999, Valid: true}},
			{"interval", pgtype.Interval{Months: 14, Days: 3, Microseconds: 5, Valid: true}}, {"uuid", "6ecd8c99-4036-403d-bf84-cf8400f67836"}, {"json", map[string]any{"a": []any{1, nil}}}, {"jsonb", map[string]any{"b": 1.5, "a": "x"}},
			{"int4[]", []int32{1, 2, 3}}, {"text[]", []string{"a", "b\"c,d", ""}}, {"int8[]", []*int64{nil}}, {"timestamptz[]", []time.Time{when}}, {"numeric[]", []pgtype.Numeric{numeric("1.10")}}, {"uuid[]", []string{"6ecd8c99-4036-403d-bf84-cf8400f67836"}}, {"bool[]", []bool{}}, {"oid", uint32(4000000000)}, {"\"char\"", "x"}, {"name", "n"},
		} {
			var asText string
			var back, null any
			err := c.QueryRow(ctx, fmt.Sprintf("SELECT $1::%s, ($1::%s)::text, NULL::%s", t.ty, t.ty, t.ty), mode, t.value).Scan(&back, &asText, &null)
			if err != nil {
				show(t.ty, "error")
				wrong(err)
				continue
			}
			show(t.ty, text(back), asText, null)
		}
	}
}

func main() {
	step("the connection", func(c *pgx.Conn) {
		p := c.PgConn()
		for _, name := range []string{"server_encoding", "client_encoding", "DateStyle", "IntervalStyle", "TimeZone", "integer_datetimes", "standard_conforming_strings"} {
			show(name, p.ParameterStatus(name))
		}
		show("status", string(p.TxStatus()), p.PID() != 0)
		must(c.Ping(ctx))
	})
	step("types", typesOf)
	step("scans into Go's own", func(c *pgx.Conn) {
		var i *int
		var s string
		var b []byte
		var m map[string]any
		var l []string
		var f float64
		var d time.Duration
		must(c.QueryRow(ctx, "SELECT NULL::int, 'x', 'ab'::bytea, '{\"a\": [1]}'::jsonb, ARRAY['x', 'y'], 1.25::numeric, interval '1 hour'").Scan(&i, &s, &b, &m, &l, &f, &d))
		show("values", i, s, b, text(m), l, f, d)
		type item struct {
			ID   int32
			Name *string
		}
		rows, err := c.Query(ctx, "SELECT g AS id, nullif('n' || g, 'n2') AS name FROM generate_series(1, 3) g")
		must(err)
		items, err := pgx.CollectRows(rows, pgx.RowToStructByName[item])
		must(err)
		show("structs", text(items))
		rows, err = c.Query(ctx, "SELECT 1 AS a, 'x'::varchar(7) AS b, now()")
		must(err)
		for _, f := range rows.FieldDescriptions() {
			show("field", f.Name, f.DataTypeOID, f.DataTypeSize, f.TypeModifier, f.Format, f.TableOID, f.TableAttributeNumber)
		}
		rows.Close()
		show("named", c.QueryRow(ctx, "SELECT @a::int + @b::int", pgx.NamedArgs{"a": 1, "b": 2}).Scan(&i), *i)
	})
	step("tables, batches, copies", func(c *pgx.Conn) {
		_, err := c.Exec(ctx, "DROP TABLE IF EXISTS gx CASCADE; CREATE TABLE gx (id int PRIMARY KEY, name text, n numeric, at timestamptz, tags text[], doc jsonb, u uuid)")
		must(err)
		batch := &pgx.Batch{}
		for i := 0; i < 500; i++ {
			batch.Queue("INSERT INTO gx (id, name, n) VALUES ($1, $2, $3)", i, fmt.Sprint("n", i), i)
		}
		batch.Queue("SELECT count(*) FROM gx")
		results := c.SendBatch(ctx, batch)
		for i := 0; i < 500; i++ {
			_, err := results.Exec()
			must(err)
		}
		var n int
		must(results.QueryRow().Scan(&n))
		must(results.Close())
		show("batch", n)
		batch = &pgx.Batch{}
		batch.Queue("INSERT INTO gx (id) VALUES (1000)")
		batch.Queue("INSERT INTO gx (id) VALUES (1)")
		batch.Queue("INSERT INTO gx (id) VALUES (1001)")
		wrong(c.SendBatch(ctx, batch).Close())
		must(c.QueryRow(ctx, "SELECT count(*) FROM gx WHERE id >= 1000").Scan(&n))
		show("nothing of it", n)
		rows := [][]any{}
		for i := 0; i < 5000; i++ {
			rows = append(rows, []any{2000 + i, nil, int64(i), time.Unix(int64(i)*86400, 0), []string{"a", fmt.Sprint(i)}, map[string]any{"i": i}, "6ecd8c99-4036-403d-bf84-cf8400f67836"})
		}
		count, err := c.CopyFrom(ctx, pgx.Identifier{"gx"}, []string{"id", "name", "n", "at", "tags", "doc", "u"}, pgx.CopyFromRows(rows))
		must(err)
		var sum, text string
		must(c.QueryRow(ctx, "SELECT sum(n)::text, max(at)::text || max(tags)::text || count(doc) FROM gx WHERE id >= 2000").Scan(&sum, &text))
		show("copied", count, sum, text)
		_, err = c.CopyFrom(ctx, pgx.Identifier{"gx"}, []string{"id"}, pgx.CopyFromRows([][]any{{9000}, {1}}))
		wrong(err)
		tag, err := c.Exec(ctx, "UPDATE gx SET n = n + 1 WHERE id < $1", 100)
		must(err)
		show("tag", tag.String(), tag.RowsAffected())
		var out strings.Builder
		tag, err = c.PgConn().CopyTo(ctx, &out, "COPY (SELECT id, name FROM gx WHERE id < 3 ORDER BY id) TO STDOUT WITH (FORMAT csv)")
		must(err)
		show("out", out.String(), tag.String())
	})
	step("errors", func(c *pgx.Conn) {
		for _, q := range []struct {
			sql  string
			args []any
		}{{"INSERT INTO gx (id) VALUES ($1)", []any{1}}, {"SELECT 1 / $1::int", []any{0}}, {"SELECT * FROM nowhere", nil}, {"SELEC 1", nil}, {"SELECT $1::int", []any{"x"}}, {"INSERT INTO gx (name) VALUES ($1)", []any{"x"}}, {"SELECT nofunction($1)", []any{1}}, {"SELECT $1 + $2", []any{1, 2}}, {"SELECT $2::int", []any{1, 2}}, {"SELECT name FROM gx WHERE nothing = $1", []any{1}}} {
			_, err := c.Exec(ctx, q.sql, q.args...)
			wrong(err)
			_, err = c.Exec(ctx, q.sql, append([]any{pgx.QueryExecModeExec}, q.args...)...)
			wrong(err)
		}
	})
	step("transactions", func(c *pgx.Conn) {
		for _, o := range []pgx.TxOptions{{}, {IsoLevel: pgx.RepeatableRead}, {IsoLevel: pgx.Serializable, AccessMode: pgx.ReadOnly, DeferrableMode: pgx.Deferrable}} {
			wrong(pgx.BeginTxFunc(ctx, c, o, func(tx pgx.Tx) error {
				var level, only string
				must(tx.QueryRow(ctx, "SELECT current_setting('transaction_isolation'), current_setting('transaction_read_only')").Scan(&level, &only))
				show("in", level, only)
				_, err := tx.Exec(ctx, "INSERT INTO gx (id) VALUES ($1)", 9000)
				wrong(err)
				if err == nil {
					inner, err := tx.Begin(ctx)
					must(err)
					_, err = inner.Exec(ctx, "INSERT INTO gx (id) VALUES (9000)")
					wrong(err)
					must(inner.Rollback(ctx))
					_, err = tx.Exec(ctx, "DELETE FROM gx WHERE id = 9000")
					return err
				}
				return nil
			}))
		}
		tx, err := c.Begin(ctx)
		must(err)
		_, err = tx.Exec(ctx, "SELECT 1 / 0")
		wrong(err)
		_, err = tx.Exec(ctx, "SELECT 1")
		wrong(err)
		wrong(tx.Commit(ctx))
		show("status", string(c.PgConn().TxStatus()))
	})
	step("prepared statements and definitions", func(c *pgx.Conn) {
		_, err := c.Exec(ctx, "DROP TABLE IF EXISTS gx_d; CREATE TABLE gx_d (a int, b text); INSERT INTO gx_d VALUES (1, 'x')")
		must(err)
		d, err := c.Prepare(ctx, "q", "SELECT * FROM gx_d WHERE a = $1")
		must(err)
		show("described", d.ParamOIDs, len(d.Fields))
		look := func(sql string) {
			rows, err := c.Query(ctx, sql, 1)
			if err != nil {
				wrong(err)
				return
			}
			values, err := pgx.CollectRows(rows, func(r pgx.CollectableRow) (string, error) { v, err := r.Values(); return text(v), err })
			wrong(err)
			show("rows", values)
		}
		for i := 0; i < 7; i++ {
			look("q")
			look("SELECT * FROM gx_d WHERE a = $1 AND true")
		}
		for _, ddl := range []string{"CREATE INDEX ON gx_d (a)", "ALTER TABLE gx_d ADD c int DEFAULT 5", "ALTER TABLE gx_d DROP c", "ALTER TABLE gx_d ALTER b TYPE varchar(7)", "ALTER TABLE gx_d RENAME b TO bb", "DROP TABLE gx_d"} {
			_, err = c.Exec(ctx, ddl)
			must(err)
			show("after", ddl)
			look("q")
			look("SELECT * FROM gx_d WHERE a = $1 AND true")
			look("SELECT * FROM gx_d WHERE a = $1 AND true")
		}
	})
	step("notifications and notices", func(c *pgx.Conn) {
		_, err := c.Exec(ctx, "LISTEN gx")
		must(err)
		other := connect()
		defer other.Close(ctx)
		_, err = other.Exec(ctx, "SELECT pg_notify('gx', $1)", "word")
		must(err)
		limited, cancel := context.WithTimeout(ctx, 20*time.Second)
		defer cancel()
		n, err := c.WaitForNotification(limited)
		must(err)
		show("notified", n.Channel, n.Payload, n.PID == other.PgConn().PID())
		config, _ := pgx.ParseConfig("")
		config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { show("notice", n.Severity, n.Code, n.Message) }
		loud, err := pgx.ConnectConfig(ctx, config)
		must(err)
		_, err = loud.Exec(ctx, "DROP TABLE IF EXISTS gx_nowhere")
		must(err)
		loud.Close(ctx)
	})
	step("cancels", func(c *pgx.Conn) {
		done := make(chan error)
		go func() {
			_, err := c.Exec(ctx, "SELECT count(*) FROM generate_series(1, 100000000) a, generate_series(1, 1000) b")
			done <- err
		}()
		time.Sleep(300 * time.Millisecond)
		must(c.PgConn().CancelRequest(ctx))
		wrong(<-done)
		var one int
		must(c.QueryRow(ctx, "SELECT 1").Scan(&one))
		limited, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
		defer cancel()
		_, err := c.Exec(limited, "SELECT pg_sleep(60)")
		show("timed out", err != nil && pgconn.Timeout(err), c.IsClosed())
	})
	step("large results", func(c *pgx.Conn) {
		rows, err := c.Query(ctx, "SELECT g, 'row ' || g, g::numeric / 3 FROM generate_series(1, $1) g", 200000)
		must(err)
		var total int64
		for rows.Next() {
			var g int64
			var s string
			var n pgtype.Numeric
			must(rows.Scan(&g, &s, &n))
			total += g + int64(len(s))
		}
		must(rows.Err())
		show("total", total)
		var wide []byte
		must(c.QueryRow(ctx, "SELECT decode(repeat('ab', 3000000), 'hex')").Scan(&wide))
		show("wide", len(wide))
		tx, err := c.Begin(ctx)
		must(err)
		_, err = tx.Exec(ctx, "DECLARE c CURSOR FOR SELECT g FROM generate_series(1, 1000) g")
		must(err)
		n := 0
		for {
			rows, err := tx.Query(ctx, "FETCH 100 FROM c")
			must(err)
			got, err := pgx.CollectRows(rows, pgx.RowTo[int])
			must(err)
			if len(got) == 0 {
				break
			}
			n += len(got)
		}
		show("cursor", n)
		must(tx.Commit(ctx))
	})
	step("types of one's own", func(c *pgx.Conn) {
		for _, name := range []string{"int4", "_text", "hstore", "no_such_type"} {
			t, err := c.LoadType(ctx, name)
			if err != nil {
				show("type", name, "unknown")
			} else {
				show("type", t.Name, t.OID, fmt.Sprintf("%T", t.Codec))
			}
		}
	})
	step("a pool", func(_ *pgx.Conn) {
		config, err := pgxpool.ParseConfig("pool_max_conns=4")
		must(err)
		pool, err := pgxpool.NewWithConfig(ctx, config)
		must(err)
		defer pool.Close()
		var wait sync.WaitGroup
		var lock sync.Mutex
		total := 0
		for i := 0; i < 40; i++ {
			wait.Add(1)
			go func() {
				defer wait.Done()
				var got int
				must(pool.QueryRow(ctx, "SELECT $1::int * 2 FROM pg_sleep(0.005)", i).Scan(&got))
				lock.Lock()
				total += got
				lock.Unlock()
			}()
		}
		wait.Wait()
		show("pool", total)
	})
	step("database/sql", func(_ *pgx.Conn) {
		db, err := sql.Open("pgx", "")
		must(err)
		defer db.Close()
		statement, err := db.Prepare("SELECT id, name, at FROM gx WHERE id < $1 ORDER BY id")
		must(err)
		for i := 0; i < 3; i++ {
			rows, err := statement.Query(3)
			must(err)
			columns, _ := rows.ColumnTypes()
			for _, t := range columns {
				_, null := t.Nullable()
				length, hasLength := t.Length()
				show("column", t.Name(), t.DatabaseTypeName(), t.ScanType().String(), null, length, hasLength)
			}
			for rows.Next() {
				var id int
				var name sql.NullString
				var at sql.NullTime
				must(rows.Scan(&id, &name, &at))
				show("row", id, name.String, at.Valid)
			}
			rows.Close()
		}
		tx, err := db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelSerializable, ReadOnly: true})
		must(err)
		_, err = tx.Exec("DELETE FROM gx")
		wrong(err)
		must(tx.Rollback())
	})
	if failed {
		os.Exit(1)
	}
}
