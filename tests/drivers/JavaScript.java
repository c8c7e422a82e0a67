// The drivers' script with pgjdbc: run as a single file, java -cp postgresql.jar JavaScript.java PORT TYPES.
import java.io.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.sql.*;
import java.util.*;
import org.postgresql.PGConnection;

public class JavaScript {
    interface Body { void run(Connection c) throws Exception; }
    static String port;
    static boolean failed;

    static Connection connect() throws SQLException {
        TimeZone.setDefault(TimeZone.getTimeZone("UTC"));
        Properties how = new Properties();
        how.setProperty("user", "stoa");
        // It knows none of libpq's variables.
        Map<String, String> given = System.getenv();
        if (given.containsKey("PGPASSWORD")) how.setProperty("password", given.get("PGPASSWORD"));
        if (given.containsKey("PGSSLMODE")) how.setProperty("sslmode", given.get("PGSSLMODE"));
        return DriverManager.getConnection("jdbc:postgresql://127.0.0.1:" + port + "/stoa", how);
    }

    static void check(String name, Body body) {
        try (Connection c = connect()) {
            body.run(c);
            System.out.println("ok " + name);
        } catch (Throwable e) {
            failed = true;
            System.out.println("FAIL " + name + ": " + e);
        }
    }

    static void equal(Object wanted, Object found, String what) {
        if (!Objects.equals(wanted, found)) throw new AssertionError(what + ": wanted " + wanted + ", found " + found);
    }

    static SQLException fails(Connection c, String state, String sql) throws SQLException {
        try (Statement s = c.createStatement()) {
            s.execute(sql);
        } catch (SQLException e) {
            equal(state, e.getSQLState(), sql + ": " + e.getMessage());
            return e;
        }
        throw new AssertionError("no error " + state);
    }

    static String one(Connection c, String sql) throws SQLException {
        try (Statement s = c.createStatement(); ResultSet r = s.executeQuery(sql)) {
            r.next();
            return r.getString(1);
        }
    }

    public static void main(String[] args) throws Exception {
        port = args[0];
        List<String> lines = Files.readAllLines(Path.of(args[1]));
        check("types", c -> {
            for (String line : lines) {
                String ty = line.substring(0, line.indexOf('\t')), text = line.substring(line.indexOf('\t') + 1);
                // pgjdbc looks these up by 'pg_catalog.array_in'::regproc; Stoa has no input functions of types to call by name.
                if (ty.endsWith("[]") || ty.equals("interval") || ty.equals("jsonb")) continue;
                try (PreparedStatement in = c.prepareStatement("SELECT ?::text::" + ty);
                     PreparedStatement out = c.prepareStatement("SELECT (?::" + ty + ")::text, ?::" + ty)) {
                    // Seven times: after five, pgjdbc prepares on the server and asks for binary.
                    for (int i = 0; i < 7; i++) {
                        in.setString(1, text);
                        ResultSet r = in.executeQuery();
                        r.next();
                        Object value = r.getObject(1);
                        if (value instanceof java.sql.Timestamp || value instanceof java.sql.Time || value instanceof java.sql.Date)
                            value = null;
                        if (value == null || value instanceof Array) out.setObject(1, r.getString(1), Types.OTHER);
                        else if (value instanceof Long && ty.equals("oid")) out.setLong(1, (Long) value);
                        else out.setObject(1, value);
                        out.setNull(2, Types.OTHER);
                        ResultSet o = out.executeQuery();
                        o.next();
                        equal(ty.equals("char(5)") ? text.stripTrailing() : text, o.getString(1), ty);
                        equal(null, o.getObject(2), ty);
                    }
                }
            }
        });
        check("batch", c -> {
            try (Statement s = c.createStatement()) {
                s.execute("DROP TABLE IF EXISTS java_t");
                s.execute("CREATE TABLE java_t (id int PRIMARY KEY, name text, n numeric)");
            }
            try (PreparedStatement p = c.prepareStatement("INSERT INTO java_t VALUES (?, ?, ?)")) {
                for (int i = 0; i < 1000; i++) {
                    p.setInt(1, i);
                    p.setString(2, i % 2 == 1 ? null : "n" + i);
                    p.setBigDecimal(3, new java.math.BigDecimal(i));
                    p.addBatch();
                }
                equal(1000, p.executeBatch().length, "batch");
            }
            equal("1000 500 499500", one(c, "SELECT count(*) || ' ' || count(name) || ' ' || sum(n) FROM java_t"), "sums");
            try (PreparedStatement p = c.prepareStatement("INSERT INTO java_t VALUES (-5) RETURNING id", Statement.RETURN_GENERATED_KEYS)) {
                p.execute();
            }
        });
        check("copy", c -> {
            var copy = c.unwrap(PGConnection.class).getCopyAPI();
            equal(2L, copy.copyIn("COPY java_t FROM STDIN", new StringReader("5000\ta\\tb\t1\n5001\t\\N\t2\n")), "copy in");
            var out = new ByteArrayOutputStream();
            copy.copyOut("COPY (SELECT * FROM java_t WHERE id >= 5000 ORDER BY id) TO STDOUT", out);
            equal("5000\ta\\tb\t1\n5001\t\\N\t2\n", out.toString(StandardCharsets.UTF_8), "copy out");
        });
        check("errors", c -> {
            var e = (org.postgresql.util.PSQLException) fails(c, "23505", "INSERT INTO java_t VALUES (1)");
            equal("java_t_pkey", e.getServerErrorMessage().getConstraint(), "constraint");
            fails(c, "22012", "SELECT 1 / 0");
            fails(c, "42P01", "SELECT * FROM nowhere");
            fails(c, "42601", "SELEC 1");
            fails(c, "23502", "INSERT INTO java_t VALUES (NULL)");
            c.setAutoCommit(false);
            try (Statement s = c.createStatement()) {
                s.execute("INSERT INTO java_t VALUES (-1)");
                Savepoint savepoint = c.setSavepoint();
                fails(c, "22012", "SELECT 1 / 0");
                fails(c, "25P02", "SELECT 1");
                c.rollback(savepoint);
                c.commit();
            }
            c.setAutoCommit(true);
            equal("1", one(c, "SELECT count(*) FROM java_t WHERE id = -1"), "committed");
        });
        check("prepared", c -> {
            try (PreparedStatement p = c.prepareStatement("SELECT n::int + ? FROM java_t WHERE id = ?")) {
                for (int i = 0; i < 20; i++) {
                    p.setInt(1, i);
                    p.setInt(2, 7);
                    ResultSet r = p.executeQuery();
                    r.next();
                    equal(7 + i, r.getInt(1), "prepared");
                }
            }
            c.setAutoCommit(false);
            try (PreparedStatement p = c.prepareStatement("SELECT id FROM java_t WHERE id BETWEEN 0 AND 999 ORDER BY id")) {
                p.setFetchSize(100);
                ResultSet r = p.executeQuery();
                int n = 0;
                while (r.next()) equal(n++, r.getInt(1), "portion");
                equal(1000, n, "portions");
            }
            c.commit();
        });
        check("metadata", c -> {
            ResultSet r = c.getMetaData().getTables(null, "public", "java_t", new String[] {"TABLE"});
            equal(true, r.next(), "getTables");
            r = c.getMetaData().getPrimaryKeys(null, "public", "java_t");
            equal(true, r.next(), "getPrimaryKeys");
            equal("id", r.getString("COLUMN_NAME"), "getPrimaryKeys");
            r = c.getMetaData().getColumns(null, "public", "java_t", null);
            int n = 0;
            while (r.next()) n++;
            equal(3, n, "getColumns");
        });
        check("cancel", c -> {
            try (Statement s = c.createStatement()) {
                new java.util.Timer(true).schedule(new TimerTask() {
                    public void run() { try { s.cancel(); } catch (SQLException e) { } }
                }, 300);
                s.executeQuery("SELECT count(*) FROM generate_series(1, 100000000) a, generate_series(1, 1000) b");
                throw new AssertionError("not cancelled");
            } catch (SQLException e) {
                equal("57014", e.getSQLState(), "cancel");
            }
            equal("1", one(c, "SELECT 1"), "after cancel");
        });
        System.exit(failed ? 1 : 0);
    }
}
