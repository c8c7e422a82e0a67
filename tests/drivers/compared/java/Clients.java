// pgjdbc with its metadata, Flyway, Liquibase and Hibernate.

import jakarta.persistence.*;
import java.io.StringWriter;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.*;
import java.time.*;
import java.util.*;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.MigrationInfo;
import org.hibernate.SessionFactory;
import org.hibernate.annotations.JdbcTypeCode;
import org.hibernate.cfg.Configuration;
import org.hibernate.tool.schema.Action;
import org.hibernate.type.SqlTypes;
import org.postgresql.PGConnection;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;

public class Clients {
    static final String HOST = System.getenv("PGHOST"), PORT = System.getenv("PGPORT"), DATABASE = System.getenv("PGDATABASE"), USER = System.getenv("PGUSER"), PASSWORD = System.getenv("PGPASSWORD");
    static final String ROOT = System.getenv("PGSSLROOTCERT");
    static final String URL = "jdbc:postgresql://" + HOST + ":" + PORT + "/" + DATABASE + "?sslmode=" + System.getenv("PGSSLMODE") + (ROOT == null ? "" : "&sslrootcert=" + ROOT);
    static boolean failed = false;

    interface Step { void run() throws Exception; }

    static void show(String what, Object... values) {
        List<String> texts = new ArrayList<>();
        for (Object v : values) texts.add(v instanceof byte[] b ? HexFormat.of().formatHex(b) : v instanceof Object[] a ? Arrays.deepToString(a) : String.valueOf(v));
        System.out.println(what + ": " + String.join(" | ", texts));
    }

    static void step(String name, Step f) {
        System.out.println("== " + name);
        try {
            f.run();
        } catch (Throwable e) {
            failed = true;
            StringWriter out = new StringWriter();
            e.printStackTrace(new java.io.PrintWriter(out));
            System.out.println("FAIL " + name + ": " + out);
        }
    }

    static Connection connect(String more) throws SQLException {
        Connection c = DriverManager.getConnection(URL + more, USER, PASSWORD);
        c.createStatement().execute("SET TimeZone = 'UTC'");
        return c;
    }

    static void wrong(String what, Step f) {
        try {
            f.run();
            show(what, "no error");
        } catch (Exception e) {
            Throwable cause = e;
            while (cause != null && !(cause instanceof SQLException)) cause = cause.getCause();
            if (cause instanceof PSQLException p && p.getServerErrorMessage() != null) {
                ServerErrorMessage m = p.getServerErrorMessage();
                show(what, e.getClass().getSimpleName(), m.getSQLState(), m.getMessage(), m.getDetail(), m.getPosition(), m.getTable(), m.getColumn(), m.getConstraint());
            } else if (cause instanceof SQLException s) show(what, e.getClass().getSimpleName(), s.getSQLState());
            else show(what, e.getClass().getSimpleName());
        }
    }

    static void rows(String what, ResultSet r) throws SQLException {
        ResultSetMetaData m = r.getMetaData();
        while (r.next()) {
            List<String> cells = new ArrayList<>();
            for (int i = 1; i <= m.getColumnCount(); i++) cells.add(String.valueOf(r.getObject(i)).replace(DATABASE, "DATABASE"));
            show(what, String.join(", ", cells));
        }
    }

    static void types() throws Exception {
        for (String more : new String[] {"", "&prepareThreshold=1", "&prepareThreshold=-1", "&preferQueryMode=simple", "&binaryTransfer=false"}) {
            try (Connection c = connect(more)) {
                Object[][] values = {
                    {"bool", true}, {"int2", 7}, {"int4", Integer.MIN_VALUE}, {"int8", Long.MAX_VALUE}, {"float4", 1.5f}, {"float8", 0.1}, {"numeric", new BigDecimal("12345678901234567890.1200")}, {"text", "größe 'x' \"y\" \\ ?"}, {"varchar(9)", "abc"}, {"char(5)", "ab"},
                    {"bytea", new byte[] {0, -1, 16}}, {"date", LocalDate.of(2024, 2, 29)}, {"time", LocalTime.of(23, 59, 59, 999000)}, {"timestamp", LocalDateTime.of(2024, 2, 29, 1, 2, 3, 4000)}, {"timestamptz", OffsetDateTime.of(1999, 12, 31, 23, 59, 59, 0, ZoneOffset.ofHours(5))},
                    {"uuid", UUID.fromString("6ecd8c99-4036-403d-bf84-cf8400f67836")}, {"int4[]", c.createArrayOf("int4", new Integer[] {1, null, 3})}, {"text[]", c.createArrayOf("text", new String[] {"a", "b\"c,d", null})}, {"int8[]", c.createArrayOf("int8", new Long[][] {{1L, 2L}, {3L, 4L}})},
                    {"numeric[]", c.createArrayOf("numeric", new BigDecimal[] {new BigDecimal("1.10")})}, {"timestamptz[]", c.createArrayOf("timestamptz", new Object[] {"2024-01-01 00:00:00+00"})}, {"uuid[]", c.createArrayOf("uuid", new UUID[] {new UUID(0, 1)})},
                };
                for (Object[] v : values) {
                    PreparedStatement s = c.prepareStatement("SELECT ?::" + v[0] + " AS v, (?::" + v[0] + ")::text AS t, NULL::" + v[0] + " AS n");
                    for (int again = 0; again < 3; again++) {
                        s.setObject(1, v[1]);
                        s.setObject(2, v[1]);
                        ResultSet r = s.executeQuery();
                        r.next();
                        ResultSetMetaData m = r.getMetaData();
                        Object got = r.getObject(1);
                        if (again != 1) show(v[0] + more, got instanceof java.sql.Array a ? a.getArray() : got, r.getString(2), r.getObject(3), m.getColumnTypeName(1), m.getColumnType(1), m.getPrecision(1), m.getScale(1), m.getColumnDisplaySize(1), m.getColumnClassName(1));
                    }
                }
                for (String ty : new String[] {"json", "jsonb", "interval", "name", "oid"}) {
                    PreparedStatement s = c.prepareStatement("SELECT CAST(? AS text)::" + ty);
                    for (int again = 0; again < 7; again++) {
                        s.setString(1, ty.startsWith("json") ? "{\"a\": [1]}" : ty.equals("interval") ? "1 year 2 mons 3 days 04:05:06.7" : "5");
                        ResultSet r = s.executeQuery();
                        r.next();
                        if (again == 6) show(ty, r.getObject(1), r.getMetaData().getColumnTypeName(1));
                    }
                }
            }
        }
    }

    static void metadata() throws Exception {
        try (Connection c = connect("")) {
            Statement s = c.createStatement();
            s.execute("DROP SCHEMA IF EXISTS jm CASCADE; CREATE SCHEMA jm; CREATE TABLE jm.a (id serial PRIMARY KEY, name varchar(30) NOT NULL DEFAULT 'x', n numeric(8,2), at timestamptz, b bytea, u uuid UNIQUE, j jsonb, arr int[], g int GENERATED ALWAYS AS (1 + 2) STORED);"
                + "CREATE TABLE jm.b (a_id int REFERENCES jm.a ON DELETE CASCADE, k text, o bigint GENERATED ALWAYS AS IDENTITY, PRIMARY KEY (a_id, k)); CREATE INDEX b_k ON jm.b (k DESC); CREATE INDEX a_l ON jm.a (lower(name)) WHERE n > 0; CREATE VIEW jm.v AS SELECT id, name FROM jm.a; COMMENT ON TABLE jm.a IS 'first'; COMMENT ON COLUMN jm.a.n IS 'amount'; CREATE SEQUENCE jm.s; CREATE MATERIALIZED VIEW jm.m AS SELECT 1 AS one");
            DatabaseMetaData m = c.getMetaData();
            show("product", m.getDatabaseProductName(), m.getDatabaseMajorVersion(), m.getIdentifierQuoteString(), m.getMaxColumnNameLength(), m.getDefaultTransactionIsolation(), m.supportsSavepoints());
            rows("schemas", m.getSchemas(null, "jm"));
            rows("tables", m.getTables(null, "jm", "%", null));
            rows("views", m.getTables(null, "jm", "%", new String[] {"VIEW", "MATERIALIZED VIEW", "SEQUENCE"}));
            rows("columns", m.getColumns(null, "jm", "%", "%"));
            for (String t : new String[] {"a", "b"}) {
                rows("keys", m.getPrimaryKeys(null, "jm", t));
                rows("imported", m.getImportedKeys(null, "jm", t));
                rows("exported", m.getExportedKeys(null, "jm", t));
                ResultSet r = m.getIndexInfo(null, "jm", t, false, false);
                while (r.next()) show("index", r.getString("INDEX_NAME"), r.getBoolean("NON_UNIQUE"), r.getInt("ORDINAL_POSITION"), r.getString("COLUMN_NAME"), r.getString("ASC_OR_DESC"), r.getString("FILTER_CONDITION"));
                rows("best", m.getBestRowIdentifier(null, "jm", t, DatabaseMetaData.bestRowSession, true));
            }
            rows("table types", m.getTableTypes());
            ResultSet r = m.getTypeInfo();
            Set<String> known = new TreeSet<>();
            while (r.next()) if (List.of("int4", "text", "jsonb", "numeric", "timestamptz", "bytea", "uuid").contains(r.getString(1))) known.add(r.getString(1) + " " + r.getInt(2));
            show("types", known);
            ResultSet of = s.executeQuery("SELECT id, name, n, 1 + 1 AS two, at FROM jm.a");
            ResultSetMetaData d = of.getMetaData();
            for (int i = 1; i <= d.getColumnCount(); i++) show("column", d.getColumnLabel(i), d.getTableName(i), d.getSchemaName(i), d.isAutoIncrement(i), d.isNullable(i), d.getPrecision(i), d.getScale(i), ((org.postgresql.PGResultSetMetaData) d).getBaseColumnName(i));
            ParameterMetaData p = c.prepareStatement("INSERT INTO jm.a (name, n, at, arr) VALUES (?, ?, ?, ?)").getParameterMetaData();
            for (int i = 1; i <= p.getParameterCount(); i++) show("parameter", p.getParameterTypeName(i), p.getParameterType(i), p.getParameterClassName(i));
        }
    }

    static void statements() throws Exception {
        try (Connection c = connect("&reWriteBatchedInserts=true")) {
            Statement s = c.createStatement();
            s.execute("DROP TABLE IF EXISTS js; CREATE TABLE js (id int PRIMARY KEY, name text, n numeric)");
            PreparedStatement p = c.prepareStatement("INSERT INTO js VALUES (?, ?, ?)");
            for (int i = 0; i < 1000; i++) {
                p.setInt(1, i);
                p.setString(2, i % 3 == 0 ? null : "n" + i);
                p.setBigDecimal(3, BigDecimal.valueOf(i, 2));
                p.addBatch();
            }
            show("batch", p.executeBatch().length);
            p.setInt(1, 2000); p.setNull(2, Types.VARCHAR); p.setNull(3, Types.NUMERIC); p.addBatch();
            p.setInt(1, 1); p.addBatch();
            wrong("a wrong one", () -> { try { p.executeBatch(); } catch (BatchUpdateException e) { throw e.getNextException(); } });
            rows("sums", s.executeQuery("SELECT count(*), count(name), sum(n) FROM js"));
            PreparedStatement keys = c.prepareStatement("INSERT INTO jm.a (name) VALUES (?)", Statement.RETURN_GENERATED_KEYS);
            keys.setString(1, "k");
            keys.executeUpdate();
            ResultSet k = keys.getGeneratedKeys();
            k.next();
            show("key", k.getInt("id"));
            c.setAutoCommit(false);
            s.setFetchSize(100);
            ResultSet r = s.executeQuery("SELECT g, 'row ' || g FROM generate_series(1, 20000) g");
            long n = 0;
            while (r.next()) n += r.getInt(1) + r.getString(2).length();
            show("portions", n);
            Savepoint point = c.setSavepoint("p");
            wrong("twice", () -> c.createStatement().execute("INSERT INTO js VALUES (1)"));
            wrong("aborted", () -> c.createStatement().execute("SELECT 1"));
            c.rollback(point);
            c.releaseSavepoint(point);
            c.commit();
            ResultSet u = c.createStatement(ResultSet.TYPE_SCROLL_INSENSITIVE, ResultSet.CONCUR_UPDATABLE).executeQuery("SELECT id, name, n FROM js WHERE id < 3 ORDER BY id");
            u.absolute(2);
            u.updateString("name", "changed");
            u.updateRow();
            u.moveToInsertRow();
            u.updateInt(1, 5000);
            u.insertRow();
            u.last();
            u.deleteRow();
            c.commit();
            rows("updated", s.executeQuery("SELECT * FROM js WHERE id < 3 OR id = 5000 ORDER BY id"));
            for (int level : new int[] {Connection.TRANSACTION_READ_COMMITTED, Connection.TRANSACTION_REPEATABLE_READ, Connection.TRANSACTION_SERIALIZABLE}) {
                c.commit();
                c.setTransactionIsolation(level);
                rows("level", s.executeQuery("SHOW transaction_isolation"));
            }
            c.commit();
            c.setReadOnly(true);
            wrong("read only", () -> c.createStatement().execute("DELETE FROM js"));
            c.rollback();
        }
        try (Connection c = connect("&prepareThreshold=1"); Statement s = c.createStatement()) {
            s.execute("DROP TABLE IF EXISTS jd; CREATE TABLE jd (a int, b text); INSERT INTO jd VALUES (1, 'x')");
            PreparedStatement p = c.prepareStatement("SELECT * FROM jd WHERE a = ?");
            p.setInt(1, 1);
            for (int i = 0; i < 4; i++) p.executeQuery().close();
            for (String ddl : new String[] {"CREATE INDEX ON jd (a)", "ALTER TABLE jd ADD c int DEFAULT 5", "ALTER TABLE jd DROP c", "ALTER TABLE jd ALTER a TYPE bigint", "DROP TABLE jd"}) {
                s.execute(ddl);
                show("after", ddl);
                wrong("prepared", () -> rows("rows", p.executeQuery()));
            }
            c.setAutoCommit(true);
            var copy = c.unwrap(PGConnection.class).getCopyAPI();
            show("copied", copy.copyIn("COPY js FROM STDIN WITH (FORMAT csv)", new java.io.StringReader("7000,\"x, y\",1\n7001,,\n")));
            StringWriter out = new StringWriter();
            copy.copyOut("COPY (SELECT * FROM js WHERE id >= 7000 ORDER BY id) TO STDOUT", out);
            show("out", out.toString());
            PreparedStatement slow = c.prepareStatement("SELECT pg_sleep(60)");
            slow.setQueryTimeout(1);
            wrong("timeout", slow::execute);
            s.execute("LISTEN jl");
            try (Connection other = connect("")) { other.createStatement().execute("NOTIFY jl, 'word'"); }
            for (var n : c.unwrap(PGConnection.class).getNotifications(20000)) show("notified", n.getName(), n.getParameter());
        }
    }

    static void flyway() throws Exception {
        Path work = Files.createTempDirectory("flyway");
        Files.writeString(work.resolve("V1__first.sql"), "CREATE TABLE fw (id bigserial PRIMARY KEY, name varchar(20) NOT NULL);\nCREATE INDEX fw_name ON fw (name);\nINSERT INTO fw (name) VALUES ('a;b'), ('c');\n");
        Files.writeString(work.resolve("V2__second.sql"), "ALTER TABLE fw ADD COLUMN at timestamptz DEFAULT now();\nCREATE VIEW fv AS SELECT id, name FROM fw;\nCOMMENT ON TABLE fw IS 'of Flyway';\n");
        Files.writeString(work.resolve("R__again.sql"), "CREATE OR REPLACE VIEW fv AS SELECT id, name, at FROM fw;\n");
        Files.writeString(work.resolve("V3__alone.sql"), "CREATE INDEX fw_at ON fw (at);\n");
        Flyway flyway = Flyway.configure().dataSource(URL, USER, PASSWORD).locations("filesystem:" + work).schemas("flyway").cleanDisabled(false).load();
        var done = flyway.migrate();
        show("migrated", done.migrationsExecuted, done.success, done.targetSchemaVersion);
        flyway.validate();
        show("again", flyway.migrate().migrationsExecuted);
        Files.writeString(work.resolve("V4__wrong.sql"), "CREATE TABLE fx (a int);\nINSERT INTO nowhere VALUES (1);\n");
        Flyway again = Flyway.configure().configuration(flyway.getConfiguration()).load();
        wrong("wrong", again::migrate);
        Files.writeString(work.resolve("V4__wrong.sql"), "CREATE TABLE fx (a int);\n");
        Files.writeString(work.resolve("R__again.sql"), "CREATE OR REPLACE VIEW fv AS SELECT id, name, at, 1 AS one FROM fw;\n");
        show("mended", again.migrate().migrationsExecuted);
        for (MigrationInfo i : again.info().all()) show("info", i.getVersion(), i.getDescription(), i.getType(), i.getState());
        try (Connection c = connect("")) {
            rows("history", c.createStatement().executeQuery("SELECT installed_rank, version, description, type, script, success FROM flyway.flyway_schema_history ORDER BY 1"));
            rows("view", c.createStatement().executeQuery("SELECT id, name, one FROM flyway.fv ORDER BY id"));
        }
        show("cleaned", again.clean().schemasCleaned, again.info().all().length);
    }

    static void liquibase() throws Exception {
        Path work = Files.createTempDirectory("liquibase");
        Files.writeString(work.resolve("log.yaml"), """
            databaseChangeLog:
            - changeSet: {id: 1, author: a, changes: [{createTable: {tableName: lq, remarks: "it's", columns: [{column: {name: id, type: int, autoIncrement: true, constraints: {primaryKey: true}}}, {column: {name: name, type: varchar(40), constraints: {nullable: false, unique: true}}}, {column: {name: at, type: timestamp with time zone, defaultValueComputed: now()}}, {column: {name: n, type: "decimal(10,2)", defaultValueNumeric: 1.5}}]}}, {createIndex: {indexName: lq_at, tableName: lq, columns: [{column: {name: at, descending: true}}]}}]}
            - changeSet: {id: 2, author: a, changes: [{createTable: {tableName: lr, columns: [{column: {name: lq_id, type: int, constraints: {nullable: false, foreignKeyName: lr_lq, references: lq(id)}}}, {column: {name: doc, type: jsonb}}]}}, {addPrimaryKey: {tableName: lr, columnNames: lq_id, constraintName: lr_pk}}, {createView: {viewName: lv, selectQuery: "SELECT id, name FROM lq"}}, {createSequence: {sequenceName: ls, startValue: 5}}]}
            - changeSet: {id: 3, author: a, changes: [{insert: {tableName: lq, columns: [{column: {name: name, value: x}}]}}, {addColumn: {tableName: lq, columns: [{column: {name: flag, type: boolean, defaultValueBoolean: true}}]}}, {renameColumn: {tableName: lr, oldColumnName: doc, newColumnName: document, columnDataType: jsonb}}, {modifyDataType: {tableName: lq, columnName: n, newDataType: "decimal(12,3)"}}, {addNotNullConstraint: {tableName: lq, columnName: flag, defaultNullValue: "false"}}]}
            """);
        try (Connection c = connect("")) {
            var database = liquibase.database.DatabaseFactory.getInstance().findCorrectDatabaseImplementation(new liquibase.database.jvm.JdbcConnection(c));
            var changes = new liquibase.Liquibase("log.yaml", new liquibase.resource.DirectoryResourceAccessor(work), database);
            changes.update(new liquibase.Contexts());
            changes.update(new liquibase.Contexts());
            show("left", changes.listUnrunChangeSets(new liquibase.Contexts(), new liquibase.LabelExpression()).size());
            var snapshot = liquibase.snapshot.SnapshotGeneratorFactory.getInstance().createSnapshot(database.getDefaultSchema(), database, new liquibase.snapshot.SnapshotControl(database));
            for (var t : snapshot.get(liquibase.structure.core.Table.class).stream().sorted(Comparator.comparing(liquibase.structure.core.Table::getName)).toList())
                if (t.getName().startsWith("l")) show("table", t.getName(), t.getRemarks(), t.getColumns().stream().map(x -> x.getName() + " " + x.getType() + " " + x.isNullable() + " " + x.getDefaultValue()).toList(), t.getPrimaryKey(), t.getOutgoingForeignKeys(), t.getIndexes().stream().map(Object::toString).sorted().toList(), t.getUniqueConstraints());
            c.commit();
            rows("log", c.createStatement().executeQuery("SELECT id, author, orderexecuted, exectype FROM databasechangelog ORDER BY orderexecuted"));
            rows("rows", c.createStatement().executeQuery("SELECT id, name, n, flag FROM lq"));
            changes.dropAll();
            rows("rest", c.getMetaData().getTables(null, "public", "l%", null));
        }
    }

    @Entity(name = "Author") @Table(name = "h_author", indexes = @Index(columnList = "name desc"), uniqueConstraints = @UniqueConstraint(columnNames = {"name", "born"}))
    public static class Author {
        @Id @GeneratedValue(strategy = GenerationType.IDENTITY) public Long id;
        @Column(length = 80, nullable = false) public String name;
        public LocalDate born;
        @OneToMany(mappedBy = "author", cascade = CascadeType.ALL, orphanRemoval = true) @OrderBy("id") public List<Book> books = new ArrayList<>();
        @ElementCollection @CollectionTable(name = "h_alias") public Set<String> aliases = new TreeSet<>();
    }

    public enum Kind { NOVEL, GUIDE }

    @Entity(name = "Book") @Table(name = "h_book") @Inheritance(strategy = InheritanceType.JOINED)
    public static class Book {
        @Id @GeneratedValue(strategy = GenerationType.SEQUENCE, generator = "h") @SequenceGenerator(name = "h", sequenceName = "h_book_seq", allocationSize = 20) public Long id;
        @Version public int version;
        public String title;
        @ManyToOne(fetch = FetchType.LAZY, optional = false) public Author author;
        @Column(precision = 10, scale = 2) public BigDecimal price;
        public Instant at;
        public LocalDateTime local;
        public Duration length;
        public UUID code;
        public boolean shown;
        @Enumerated(EnumType.STRING) public Kind kind;
        @Lob public String text;
        public byte[] cover;
        @JdbcTypeCode(SqlTypes.JSON) public Map<String, String> extra;
        @JdbcTypeCode(SqlTypes.ARRAY) public List<String> words;
    }

    @Entity(name = "Guide") @Table(name = "h_guide")
    public static class Guide extends Book { public String place; public double stars; }

    static SessionFactory factory(String action) {
        Configuration configuration = new Configuration();
        for (Class<?> entity : List.of(Author.class, Book.class, Guide.class)) configuration.addAnnotatedClass(entity);
        configuration.setProperty("hibernate.connection.url", URL).setProperty("hibernate.connection.username", USER).setProperty("hibernate.connection.password", PASSWORD).setProperty("hibernate.hbm2ddl.auto", action)
            .setProperty("hibernate.jdbc.batch_size", "30").setProperty("hibernate.jdbc.time_zone", "UTC").setProperty("hibernate.hbm2ddl.halt_on_error", "true");
        return configuration.buildSessionFactory();
    }

    static void hibernate() throws Exception {
        factory("create").close();
        factory("update").close();
        factory("validate").close();
        try (SessionFactory f = factory("validate")) {
            f.inTransaction(s -> {
                for (int a = 0; a < 3; a++) {
                    Author author = new Author();
                    author.name = "Author " + a;
                    author.born = LocalDate.of(1900 + a, 1, 2);
                    author.aliases.addAll(List.of("x" + a, "y" + a));
                    for (int i = 0; i < 30; i++) {
                        Book b = i % 3 == 0 ? new Guide() : new Book();
                        if (b instanceof Guide g) { g.place = "here"; g.stars = i / 7.0; }
                        b.title = "Book " + i; b.author = author; b.price = BigDecimal.valueOf(i * 25L, 2); b.at = Instant.ofEpochSecond(1700000000L + i); b.local = LocalDateTime.of(2024, 1, 1, 2, 3, i); b.length = Duration.ofMinutes(i);
                        b.code = new UUID(a, i); b.shown = i % 2 == 0; b.kind = Kind.values()[i % 2]; b.text = "long " + "x".repeat(i); b.cover = new byte[] {(byte) i, -1}; b.extra = Map.of("n", "" + i); b.words = List.of("w", "" + i);
                        author.books.add(b);
                    }
                    s.persist(author);
                }
            });
            f.inTransaction(s -> {
                Author a = s.find(Author.class, 1L);
                show("found", a.name, a.born, a.aliases, a.books.size());
                Book b = a.books.get(3);
                show("book", b.getClass().getSimpleName(), b.title, b.price, b.at, b.local, b.length, b.code, b.shown, b.kind, b.cover, b.extra, b.words, b.version);
                b.title = "Changed";
                a.books.remove(5);
                a.aliases.add("z");
            });
            f.inTransaction(s -> {
                for (String hql : new String[] {"select b.title, b.author.name from Book b where b.price > 3 and b.author.name like 'Author%' order by b.author.id, b.id", "select a.name, count(b), sum(b.price), avg(b.price), max(b.at) from Author a left join a.books b group by a.id, a.name order by a.name",
                    "select upper(b.title), length(b.title), coalesce(b.kind, 'x'), extract(year from b.local), b.price * 2 from Book b where b.id in (select max(c.id) from Book c group by c.author)", "select g.place, g.stars from Guide g where g.shown = true order by g.id", "select title, row_number() over (partition by author order by price desc) from Book where shown order by 2, id fetch first 4 rows only",
                    "select b.title from Book b where exists (select 1 from Author a where a = b.author and size(a.aliases) > 2) order by b.id", "select cast(b.price as string), b.at + 1 day, year(b.local) from Book b where b.code is not null order by b.id limit 3", "select distinct b.kind from Book b order by b.kind"})
                    show(hql, (hql.contains("select b.title from") || hql.contains("distinct") ? s.createSelectionQuery(hql, Object.class) : s.createSelectionQuery(hql, Object[].class)).setMaxResults(6).getResultList().stream().map(r -> r instanceof Object[] x ? Arrays.toString(x) : "" + r).toList());
                show("updated", s.createMutationQuery("update Book set price = price + 1 where kind = 'NOVEL'").executeUpdate(), s.createMutationQuery("delete from Author a where a.name = 'nobody'").executeUpdate());
                show("page", s.createSelectionQuery("from Book order by id", Book.class).setFirstResult(10).setMaxResults(3).getResultList().stream().map(x -> x.title).toList());
                show("locked", s.createSelectionQuery("from Book where price > 7 order by id", Book.class).setLockMode(LockModeType.PESSIMISTIC_WRITE).setHint("jakarta.persistence.lock.timeout", -2).getResultList().size());
                try (var results = s.createSelectionQuery("from Book order by id", Book.class).setFetchSize(10).scroll(org.hibernate.ScrollMode.FORWARD_ONLY)) { int n = 0; while (results.next()) n++; show("scrolled", n); }
                show("native", s.createNativeQuery("select id, extra->>'n' from h_book order by id limit 2", Object[].class).getResultList().stream().map(Arrays::toString).toList());
            });
            wrong("twice", () -> f.inTransaction(s -> { Author a = new Author(); a.name = "Author 1"; a.born = LocalDate.of(1901, 1, 2); s.persist(a); }));
            wrong("nothing", () -> f.inTransaction(s -> s.createNativeMutationQuery("insert into h_author (name) values (null)").executeUpdate()));
            var one = f.openSession();
            var two = f.openSession();
            one.beginTransaction();
            two.beginTransaction();
            Book x = one.find(Book.class, 2L), y = two.find(Book.class, 2L);
            x.title = "one";
            y.title = "two";
            one.getTransaction().commit();
            wrong("stale", () -> two.getTransaction().commit());
            one.close();
            two.close();
        }
        try (SessionFactory f = factory("create-drop")) { Long n = f.fromSession(s -> s.createSelectionQuery("select count(*) from Book", Long.class).getSingleResult()); show("empty", n); }
    }

    public static void main(String[] arguments) {
        Logger.getLogger("").setLevel(Level.SEVERE);
        TimeZone.setDefault(TimeZone.getTimeZone("UTC"));
        step("types", Clients::types);
        step("metadata", Clients::metadata);
        step("statements", Clients::statements);
        step("Flyway", Clients::flyway);
        step("Liquibase", Clients::liquibase);
        step("Hibernate", Clients::hibernate);
        System.exit(failed ? 1 : 0);
    }
}
