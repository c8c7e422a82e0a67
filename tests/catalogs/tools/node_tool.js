// What node's tools ask of a database that is there. Argument: the tool.
const env = process.env;
const PG = { host: env.PGHOST, port: Number(env.PGPORT), user: env.PGUSER, password: env.PGPASSWORD, database: env.PGDATABASE };
const tools = {
    async typeorm() { // connects, loads the tables of entities, and writes what would make them equal
        require("reflect-metadata");
        const { DataSource, EntitySchema } = require("typeorm");
        const customer = new EntitySchema({
            name: "Customer", tableName: "customer", schema: "app",
            columns: { id: { type: Number, primary: true, generated: true }, name: { type: "text" }, email: { type: "varchar", length: 100, nullable: true }, balance: { type: "numeric", precision: 10, scale: 2 } },
        });
        const orders = new EntitySchema({
            name: "Order", tableName: "orders", schema: "app",
            columns: { id: { type: "bigint", primary: true, generated: "identity" }, placed: { type: "date" } },
            relations: { customer: { type: "many-to-one", target: "Customer", joinColumn: { name: "customer_id" } } },
        });
        const open = new EntitySchema({ name: "Open", tableName: "open_orders", schema: "app", type: "view", expression: "SELECT 1 AS id", columns: { id: { type: Number } } });
        const source = new DataSource({ type: "postgres", ...PG, username: PG.user, entities: [customer, orders, open] });
        await source.initialize();
        await source.driver.createSchemaBuilder().log();
        const runner = source.createQueryRunner();
        await runner.getTables();
        await runner.getViews();
        await runner.getDatabases();
        await runner.getSchemas();
        await runner.hasTable("app.customer");
        await runner.hasColumn("app.customer", "name");
        await runner.getCurrentSchema();
        await source.destroy();
    },
    async sequelize() {
        const { Sequelize } = require("sequelize");
        const sequelize = new Sequelize(PG.database, PG.user, PG.password, { host: PG.host, port: PG.port, dialect: "postgres", logging: false });
        const about = sequelize.getQueryInterface();
        await sequelize.authenticate();
        await about.showAllSchemas();
        await about.showAllTables();
        for (const tableName of ["customer", "orders", "order_line"]) {
            const table = { tableName, schema: "app" };
            await about.describeTable(table);
            await about.showIndex(table);
            await about.showConstraint(table);
            await about.getForeignKeyReferencesForTable(table);
            await about.tableExists(table);
        }
        await about.databaseVersion();
        await sequelize.close();
    },
    async knex() {
        const knex = require("knex")({ client: "pg", connection: PG, searchPath: ["app"] });
        await knex.schema.hasTable("customer");
        await knex.schema.hasColumn("customer", "name");
        await knex("customer").columnInfo();
        await knex.migrate.currentVersion();
        await knex.destroy();
    },
    async kysely() {
        const { Kysely, PostgresDialect } = require("kysely");
        const db = new Kysely({ dialect: new PostgresDialect({ pool: new (require("pg").Pool)(PG) }) });
        await db.introspection.getSchemas();
        await db.introspection.getTables({ withInternalKyselyTables: true });
        await db.destroy();
    },
    async "pg-structure"() {
        const made = await require("pg-structure").default(PG, { includeSchemas: ["app"] });
        made.schemas.length;
    },
    async "extract-pg-schema"() {
        const { extractSchemas } = require("extract-pg-schema");
        await extractSchemas(PG, { schemas: ["app"] });
    },
    async postgraphile() {
        const { createPostGraphileSchema } = require("postgraphile");
        const pool = new (require("pg").Pool)(PG);
        await createPostGraphileSchema(pool, ["app"]);
        await pool.end();
    },
};
tools[process.argv[2]]().then(() => process.exit(0), (e) => { console.error(e); process.exit(1); });
