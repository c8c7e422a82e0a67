// What Java's tools ask of a database that is there. Argument: pgjdbc, flyway, liquibase or hibernate.

import jakarta.persistence.*;
import java.nio.file.*;
import java.sql.*;
import java.util.*;
import org.flywaydb.core.Flyway;
import org.hibernate.cfg.Configuration;

public class Jdbc {
    static final String USER = System.getenv("PGUSER"), PASSWORD = System.getenv("PGPASSWORD");
    static final String URL = "jdbc:postgresql://" + System.getenv("PGHOST") + ":" + System.getenv("PGPORT") + "/" + System.getenv("PGDATABASE") + "?sslmode=disable";

    @Entity(name = "Customer") @Table(name = "customer", schema = "app")
    public static class Customer {
        @Id @GeneratedValue(strategy = GenerationType.IDENTITY) public Integer id;
        @Column(nullable = false, columnDefinition = "text") public String name;
        @Column(length = 100, unique = true) public String email;
    }

    @Entity(name = "Orders") @Table(name = "orders", schema = "app")
    public static class Orders {
        @Id @GeneratedValue(strategy = GenerationType.SEQUENCE, generator = "g") @SequenceGenerator(name = "g", schema = "app", sequenceName = "orders_id_seq", allocationSize = 1) public Long id;
        @ManyToOne @JoinColumn(name = "customer_id", nullable = false) public Customer customer;
    }

    static void drain(ResultSet r) throws SQLException {
        while (r.next()) for (int i = 1; i <= r.getMetaData().getColumnCount(); i++) r.getObject(i);
        r.close();
    }

    static void pgjdbc() throws Exception {
        Connection c = DriverManager.getConnection(URL, USER, PASSWORD);
        DatabaseMetaData m = c.getMetaData();
        drain(m.getSchemas());
        drain(m.getSchemas(null, "app"));
        drain(m.getCatalogs());
        drain(m.getTableTypes());
        drain(m.getTypeInfo());
        drain(m.getTables(null, null, "%", null));
        drain(m.getTables(null, "app", "%", new String[] {"TABLE", "VIEW", "MATERIALIZED VIEW", "SEQUENCE", "INDEX", "PARTITIONED TABLE", "FOREIGN TABLE", "TYPE"}));
        drain(m.getColumns(null, "app", "%", "%"));
        drain(m.getColumns(null, null, "customer", null));
        drain(m.getColumnPrivileges(null, "app", "customer", "%"));
        drain(m.getTablePrivileges(null, "app", "%"));
        drain(m.getBestRowIdentifier(null, "app", "customer", DatabaseMetaData.bestRowSession, true));
        drain(m.getVersionColumns(null, "app", "customer"));
        drain(m.getPrimaryKeys(null, "app", "order_line"));
        drain(m.getImportedKeys(null, "app", "orders"));
        drain(m.getExportedKeys(null, "app", "customer"));
        drain(m.getCrossReference(null, "app", "customer", null, "app", "orders"));
        drain(m.getIndexInfo(null, "app", "customer", false, true));
        drain(m.getIndexInfo(null, "app", "order_line", true, false));
        drain(m.getUDTs(null, "app", "%", null));
        drain(m.getProcedures(null, "app", "%"));
        drain(m.getProcedureColumns(null, "app", "%", "%"));
        drain(m.getFunctions(null, "app", "%"));
        drain(m.getFunctionColumns(null, "app", "%", "%"));
        drain(m.getClientInfoProperties());
        m.getSQLKeywords();
        m.getNumericFunctions();
        m.getDefaultTransactionIsolation();
        c.getTransactionIsolation();
        c.getSchema();
        c.setSchema("app");
        ResultSet r = c.createStatement().executeQuery("SELECT * FROM app.customer");
        ResultSetMetaData of = r.getMetaData();
        for (int i = 1; i <= of.getColumnCount(); i++) {
            of.isAutoIncrement(i);
            of.isNullable(i);
            of.getColumnTypeName(i);
            of.getTableName(i);
            of.getColumnClassName(i);
        }
        drain(r);
        c.createArrayOf("int4", new Integer[] {1});
        PreparedStatement p = c.prepareStatement("SELECT a FROM (VALUES ($$x$$::text)) v(a) WHERE a = ANY(?)");
        p.setArray(1, c.createArrayOf("text", new String[] {"x"}));
        drain(p.executeQuery());
        m.getMaxColumnNameLength();
        m.getMaxTableNameLength();
        m.getMaxIndexLength();
        m.getMaxColumnsInIndex();
        m.getStringFunctions();
        m.supportsTransactionIsolationLevel(Connection.TRANSACTION_SERIALIZABLE);
        for (String table : new String[] {"keyless", "Mixed Case", "open_orders", "totals"}) {
            drain(m.getColumns(null, "app", table, "%"));
            drain(m.getPrimaryKeys(null, "app", table));
            drain(m.getIndexInfo(null, "app", table, false, false));
        }
        drain(m.getImportedKeys(null, "app", "order_line"));
        drain(m.getExportedKeys(null, "app", "orders"));
        drain(m.getTables(null, "app", "c%", new String[] {"TABLE", "SYSTEM TABLE", "TEMPORARY TABLE", "FOREIGN TABLE"}));
        drain(m.getFunctions(null, "pg_catalog", "lower"));
        drain(m.getFunctionColumns(null, "pg_catalog", "split_part", null));
        drain(m.getProcedures(null, "pg_catalog", "abs"));
        drain(m.getColumnPrivileges(null, "app", "orders", null));
        r = c.createStatement().executeQuery("SELECT c, tags FROM app.customer c");
        of = r.getMetaData();
        for (int i = 1; i <= of.getColumnCount(); i++) of.getColumnTypeName(i);
        drain(r);
        p = c.prepareStatement("SELECT name FROM app.customer WHERE id = ? AND tags = ?");
        ParameterMetaData given = p.getParameterMetaData();
        for (int i = 1; i <= given.getParameterCount(); i++) given.getParameterTypeName(i);
    }

    static void flyway() throws Exception {
        Path work = Files.createTempDirectory("flyway");
        Files.writeString(work.resolve("V2__first.sql"), "CREATE TABLE app.fw (id integer PRIMARY KEY);");
        Flyway flyway = Flyway.configure().dataSource(URL, USER, PASSWORD).locations("filesystem:" + work).schemas("app", "flyway").createSchemas(true).baselineOnMigrate(true).cleanDisabled(false).load();
        flyway.info();
        flyway.migrate();
        flyway.validate();
        flyway.repair();
        Flyway.configure().dataSource(URL, USER, PASSWORD).locations("filesystem:" + work).schemas("flyway").cleanDisabled(false).load().clean();
        Flyway.configure().dataSource(URL, USER, PASSWORD).locations("filesystem:" + work).schemas("app").cleanDisabled(false).load().clean();
    }

    static void liquibase() throws Exception {
        Connection c = DriverManager.getConnection(URL, USER, PASSWORD);
        var database = liquibase.database.DatabaseFactory.getInstance().findCorrectDatabaseImplementation(new liquibase.database.jvm.JdbcConnection(c));
        database.setDefaultSchemaName("app");
        var control = new liquibase.snapshot.SnapshotControl(database);
        var snapshot = liquibase.snapshot.SnapshotGeneratorFactory.getInstance().createSnapshot(new liquibase.CatalogAndSchema(null, "app"), database, control);
        snapshot.get(liquibase.structure.core.Table.class).size();
        Path work = Files.createTempDirectory("liquibase");
        Files.writeString(work.resolve("log.yaml"), "databaseChangeLog:\n- changeSet:\n    id: 1\n    author: a\n    changes:\n    - createTable:\n        tableName: lb\n        columns:\n        - column: {name: id, type: int, autoIncrement: true, constraints: {primaryKey: true}}\n");
        var changes = new liquibase.Liquibase("log.yaml", new liquibase.resource.DirectoryResourceAccessor(work), database);
        changes.update("");
        changes.listUnrunChangeSets(null, null);
        changes.rollback(1, "");
    }

    static void hibernate() throws Exception {
        for (String action : List.of("validate", "update")) {
            Configuration configuration = new Configuration().addAnnotatedClass(Customer.class).addAnnotatedClass(Orders.class);
            configuration.setProperty("hibernate.connection.url", URL).setProperty("hibernate.connection.username", USER).setProperty("hibernate.connection.password", PASSWORD)
                .setProperty("hibernate.hbm2ddl.auto", action);
            try {
                configuration.buildSessionFactory().close();
            } catch (Exception e) {
                System.err.println(action + ": " + e);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        switch (args[0]) {
            case "pgjdbc" -> pgjdbc();
            case "flyway" -> flyway();
            case "liquibase" -> liquibase();
            default -> hibernate();
        }
        System.exit(0);
    }
}
