"""pgAdmin's server, asked as its page asks it: the tree of a database with the properties, SQL, statistics and dependencies of each object."""
import builtins
import json
import os
import sys
import tempfile

import importlib.util

work = tempfile.mkdtemp()
os.environ["HOME"] = work
builtins.SERVER_MODE = False
os.environ["PGADMIN_SETUP_EMAIL"], os.environ["PGADMIN_SETUP_PASSWORD"] = "a@example.org", "of_captures"
root = importlib.util.find_spec("pgadmin4").submodule_search_locations[0]
sys.path.insert(0, root)
os.chdir(root)
import config  # noqa: E402

config.WTF_CSRF_ENABLED = False
config.MASTER_PASSWORD_REQUIRED = False
config.UPGRADE_CHECK_ENABLED = False
config.CONSOLE_LOG_LEVEL = 50
from pgadmin import create_app  # noqa: E402

app = create_app()
app.PGADMIN_INT_KEY = ""
app.PGADMIN_RUNTIME = False
app.run_before_app_start()
app.config["WTF_CSRF_ENABLED"] = False
client = app.test_client()
HOST, PORT, USER, PASSWORD, DATABASE = (os.environ[name] for name in ("PGHOST", "PGPORT", "PGUSER", "PGPASSWORD", "PGDATABASE"))
failed = []


def get(url):
    """The JSON at a URL; None if it is not there, or says an error."""
    try:
        answer = client.get(url)
    except Exception as e:  # noqa: BLE001: the application is one in tests, which raises
        failed.append((url, repr(e)))
        return None
    if answer.status_code >= 400:
        failed.append((url, answer.status_code, answer.get_data(as_text=True)[:200]))
        return None
    try:
        return json.loads(answer.get_data(as_text=True))
    except ValueError:
        return None


client.get("/browser/")
made = client.post("/browser/server/obj/1/", data=json.dumps({
    "gid": 1, "name": "captured", "host": HOST, "port": int(PORT), "db": DATABASE, "username": USER, "password": PASSWORD, "save_password": 0, "connect_now": True,
    "connection_params": [{"name": "sslmode", "keyword": "sslmode", "value": "prefer"}], "tags": []}), content_type="application/json")
sid = json.loads(made.get_data(as_text=True))["node"]["_id"]
print(client.post(f"/browser/server/connect/1/{sid}", data={"password": PASSWORD}).status_code)

UNDER = {
    "database": ["cast", "event_trigger", "extension", "foreign_data_wrapper", "language", "publication", "subscription", "schema", "catalog"],
    "schema": ["aggregate", "collation", "domain", "foreign_table", "fts_configuration", "fts_dictionary", "fts_parser", "fts_template", "function", "procedure",
               "trigger_function", "mview", "view", "operator", "sequence", "table", "type"],
    "table": ["column", "index", "primary_key", "unique_constraint", "foreign_key", "check_constraint", "exclusion_constraint", "row_security_policy", "rule", "trigger", "partition"],
    "view": ["column", "rule", "trigger"],
    "mview": ["column", "index"],
}
ONLY = {"schema": ["app"], "catalog": [], "database": [DATABASE], "role": ["cat_reader"], "table": ["customer", "orders"], "sequence": ["ticket"], "index": ["customer_active", "customer_doc"],
        "column": ["name", "customer_id"]}


def walk(node, path):
    get(f"/browser/{node}/obj/{path}/")
    answer = get(f"/browser/{node}/nodes/{path}/")
    items = (answer or {}).get("data") or []
    for item in items:
        name = item.get("label", "").split("(")[0]
        if node in ONLY and name not in ONLY[node] or node in ("cast", "language", "collation") and item != items[0]:
            continue
        at = f"{path}/{item['_id']}"
        if node == "database":
            client.post(f"/browser/database/connect/{at}")
        for what in ("obj", "sql", "stats", "dependency", "dependent"):
            get(f"/browser/{node}/{what}/{at}")
        get(f"/browser/{node}/children/{at}")
        for under in UNDER.get(node, []):
            walk(under, at)


for node in ("database", "tablespace", "role"):
    walk(node, f"1/{sid}")
for did in {part["_id"] for part in (get(f"/browser/database/nodes/1/{sid}/") or {}).get("data", []) if part["label"] == DATABASE}:
    for dashboard in ("dashboard_stats", "activity", "locks", "prepared", "config", "log"):
        get(f"/dashboard/{dashboard}/{sid}/{did}")
    get(f"/dashboard/dashboard_stats/{sid}/{did}?chart_names=session_stats,tps_stats,ti_stats,to_stats,bio_stats")
    get(f"/browser/database/get_encodings/1/{sid}/")
    get(f"/browser/database/get_ctypes/1/{sid}/")
for one in failed:
    print(one, file=sys.stderr)
os._exit(0)
