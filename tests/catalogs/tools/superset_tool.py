"""Apache Superset over psycopg2: what it asks when a database is added, its schemas and tables are looked at, a dataset is made of each, a chart and
SQL Lab ask for rows. Its own database is a file of SQLite."""
import os
import tempfile

work = tempfile.mkdtemp()
with open(f"{work}/superset_config.py", "w") as config:
    config.write(f"SECRET_KEY = 'of a capture'\nSQLALCHEMY_DATABASE_URI = 'sqlite:///{work}/own.db'\nRATELIMIT_ENABLED = False\n"
                 "FILTER_STATE_CACHE_CONFIG = EXPLORE_FORM_DATA_CACHE_CONFIG = CACHE_CONFIG = DATA_CACHE_CONFIG = {'CACHE_TYPE': 'SimpleCache'}\n")
os.environ["SUPERSET_CONFIG_PATH"] = f"{work}/superset_config.py"

from superset.app import create_app  # noqa: E402

app = create_app()
with app.app_context():
    from flask_appbuilder import Model  # noqa: E402
    from superset import db  # noqa: E402
    from superset.connectors.sqla.models import SqlaTable  # noqa: E402
    from superset.models.core import Database  # noqa: E402
    from superset.sql.parse import Table  # noqa: E402

    Model.metadata.create_all(db.engine)
    uri = "postgresql+psycopg2://{PGUSER}:{PGPASSWORD}@{PGHOST}:{PGPORT}/{PGDATABASE}".format(**os.environ)
    database = Database(database_name="shop", sqlalchemy_uri=uri, expose_in_sqllab=True, allow_ctas=True)
    database.set_sqlalchemy_uri(uri)
    db.session.add(database)
    db.session.commit()

    def tried(what, *args, **named):
        try:
            return what(*args, **named)
        except Exception as error:  # noqa: BLE001
            print(getattr(what, "__name__", what), repr(error)[:300])

    spec = database.db_engine_spec
    with database.get_sqla_engine() as engine:
        tried(engine.dialect.do_ping, engine.raw_connection())
    tried(database.get_all_catalog_names)
    tried(database.get_default_schema, None)
    schemas = tried(database.get_all_schema_names, catalog=None) or []
    for schema in sorted(schemas):
        for kind in ("table", "view", "materialized_view"):
            tried(getattr(database, f"get_all_{kind}_names_in_schema"), catalog=None, schema=schema)
    for name in ("customer", "orders", "order_line", "keyless", "Mixed Case", "open_orders", "totals"):
        table = Table(name, "app")
        for what in (database.has_table, database.get_columns, database.get_pk_constraint, database.get_foreign_keys, database.get_indexes, database.get_table_comment,
                     database.get_metrics, database.select_star):
            tried(what, table)
        tried(lambda: spec.get_extra_table_metadata(database, table))
        dataset = SqlaTable(table_name=name, schema="app", database=database)
        db.session.add(dataset)
        tried(dataset.fetch_metadata)
    tried(database.get_df, "SELECT c.name, count(*) AS n FROM app.customer c JOIN app.orders o ON o.customer_id = c.id GROUP BY 1 ORDER BY 2 DESC LIMIT 1000", schema="app")
    tried(spec.get_function_names, database)
    with database.get_raw_connection() as connection:
        cursor = connection.cursor()
        tried(spec.estimate_statement_cost, database, "SELECT * FROM app.customer", cursor)
        tried(spec.get_cancel_query_id, cursor, None)
