"""pg_dump, pg_restore and pg_dumpall: what is dumped is what PostgreSQL would dump, and the other server has the same when it is restored there.

OTHER_… is where the other server is; without one the same server takes what was dumped.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from common import DATABASE, PORT, end, failed, show, step

HERE = pathlib.Path(__file__).resolve().parent
OTHER = {name.removeprefix("OTHER_"): value for name, value in os.environ.items() if name.startswith("OTHER_PG")} or {}
# Roles are of all databases, and each server takes those of the other.
ROLES = {word: f"dp_{word.lower()}_{PORT}" for word in ("OWNER", "READER", "WRITER", "GROUP")}
INTO = f"dump_of_{PORT}"


def run(*command, env=None, text=None, fails=False):
    done = subprocess.run(command, capture_output=True, text=True, input=text, env={**os.environ, **(env or {})}, timeout=300)
    if (done.returncode != 0) != fails:
        raise RuntimeError(f"{' '.join(command)}: {done.returncode} {done.stderr[-3000:]}")
    return done.stdout


def sql(text, env=None, database=None):
    return run("psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-d", database or DATABASE, env=env, text=text)


def plain(text):
    """Without what says by whom and when; roles by their words."""
    for word, name in ROLES.items():
        text = text.replace(name, word.lower())
    lines = [line for line in text.splitlines() if line and not re.match(r"--|\\(un)?restrict", line)]
    return [re.sub(r"'(SCRAM-SHA-256\$\d+):[^']*'", r"'\1'", line) for line in lines]


def dumped(*options, env=None, database=None):
    return run("pg_dump", *options, database or DATABASE, env=env)


def fresh(env):
    sql(f'DROP DATABASE IF EXISTS {INTO} WITH (FORCE);', env, "postgres")
    sql(f"CREATE DATABASE {INTO} TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C.UTF-8'", env, "postgres")


def same(what, found, wanted):
    if found == wanted:
        show(what, "the same")
        return
    failed.append(what)
    more, less = [line for line in found if line not in wanted], [line for line in wanted if line not in found]
    print(f"FAIL {what}: more {more[:20]}, less {less[:20]}, {len(found)} and {len(wanted)} lines")


@step
def the_shop():
    for word, name in ROLES.items():
        for env in (None, OTHER):
            sql(f"DROP ROLE IF EXISTS {name}", env, "postgres")
        login = "NOLOGIN CREATEROLE" if word == "GROUP" else f"LOGIN PASSWORD 'of {word}' CONNECTION LIMIT 5 VALID UNTIL '2031-01-01 00:00:00+00'"
        sql(f"CREATE ROLE {name} {login}")
    sql(f"GRANT {ROLES['GROUP']} TO {ROLES['READER']}, {ROLES['WRITER']}; GRANT {ROLES['GROUP']} TO {ROLES['OWNER']} WITH ADMIN OPTION; ALTER ROLE {ROLES['READER']} SET statement_timeout = '5s'; COMMENT ON ROLE {ROLES['GROUP']} IS 'all of them'")
    text = (HERE / "shop.sql").read_text()
    for word, name in ROLES.items():
        text = re.sub(rf"(?<=[ ,]){word}(?=[ ,;\n])(?! TO| BY)", name, text) if word in ("OWNER", "GROUP") else re.sub(rf"\b{word}\b", name, text)
    sql(text)


@step
def what_is_dumped():
    for line in plain(dumped()):
        show("dump", line)
    for options in (["--inserts", "--rows-per-insert=50", "-a", "-t", "language"], ["--column-inserts", "-a", "-t", "staff.person"], ["-s", "-O", "-x", "-n", "staff"], ["-s", "-c", "--if-exists", "-t", "film"], ["-s", "--section=post-data"],
                    ["-a", "--disable-triggers", "-t", "language"], ["-s", "-T", "film", "-N", "reports", "--no-comments"], ["-C", "-s", "-t", "language"], ["--exclude-table-data=film", "-t", "film", "--load-via-partition-root"]):
        lines = plain(dumped(*options))
        show(f"pg_dump {' '.join(options)}", lines)


@step
def the_roles():
    # Of each server there are others besides.
    ours = lambda text: [line for line in plain(text) if re.search(r"\b(owner|reader|writer|group)\b", line)]
    options = ["pg_dumpall", "--roles-only", "-l", "postgres"]
    for line in ours(run(*options)):
        show("roles", line)
    if OTHER:
        text = "\n".join(line for line in run(*options).splitlines() if f"_{PORT}" in line)
        sql(text, OTHER, "postgres")
        theirs = {**OTHER, "PGUSER": ROLES["READER"], "PGPASSWORD": "of READER"}
        show("logs in there", sql("SHOW statement_timeout", theirs, "postgres").strip())
        same("roles there", ours(run(*options, env=OTHER)), ours(run(*options)))


@step
def restored_as_text():
    fresh(OTHER)
    sql(dumped(), OTHER, INTO)
    same("dump of it", plain(dumped(env=OTHER, database=INTO)), plain(dumped()))
    show("rows", sql("SELECT (SELECT count(*) FROM film), (SELECT sum(pay) FROM staff.person), (SELECT last_value FROM numbers), (SELECT sum(total) FROM reports.totals), (SELECT count(*) FROM films)", OTHER, INTO).split())
    reader = {**OTHER, "PGUSER": ROLES["READER"], "PGPASSWORD": "of READER"}
    if OTHER:
        show("as the reader", sql("SELECT count(name) FROM staff.person; SELECT count(*) FROM films", reader, INTO).split())
        run("psql", "-XqAt", "-d", INTO, "-c", "DELETE FROM staff.person", env=reader, fails=True)
    show("goes on", sql("INSERT INTO staff.person (name) VALUES ('next') RETURNING id; INSERT INTO film (title, language_id) VALUES ('next', 1) RETURNING film_id", OTHER, INTO).split())


@step
def restored_from_archives():
    with tempfile.TemporaryDirectory() as work:
        for form, how in (("c", ["-j", "3"]), ("d", ["-j", "3"]), ("t", [])):
            path = f"{work}/of_{form}"
            run("pg_dump", f"-F{form}", "-f", path, DATABASE)
            fresh(OTHER)
            run("pg_restore", "--exit-on-error", *how, "-d", INTO, path, env=OTHER)
            same(f"from form {form}", plain(dumped(env=OTHER, database=INTO)), plain(dumped()))
        run("pg_restore", "--exit-on-error", "--clean", "--if-exists", "-d", INTO, f"{work}/of_c", env=OTHER)
        # Default privileges of the first time are still there when tables are made anew.
        same("once more", [line for line in plain(dumped(env=OTHER, database=INTO)) if not line.startswith("GRANT")], [line for line in plain(dumped()) if not line.startswith("GRANT")])
        show("list", sorted(re.sub(r"^\d+; \d+ \d+ ", "", line) for line in plain(run("pg_restore", "-l", f"{work}/of_c")) if not line.startswith(";")))
        fresh(OTHER)
        run("pg_restore", "--exit-on-error", "-1", "-O", "-x", "-s", "-d", INTO, f"{work}/of_c", env=OTHER)
        for table in ("language", "film"):
            run("pg_restore", "--exit-on-error", "-a", "-t", table, "-d", INTO, f"{work}/of_c", env=OTHER)
        show("two tables", sql("SELECT count(*) FROM film", OTHER, INTO).split())


@step
def django_s_tables():
    """What its migrations made."""
    try:
        import django  # noqa: F401
    except ImportError:
        return
    setup = """
import os, django
from django.conf import settings
from django.core.management import call_command
p = os.environ
o = {"sslmode": p["PGSSLMODE"]} | ({"sslrootcert": p["PGSSLROOTCERT"]} if p.get("PGSSLROOTCERT") else {})
settings.configure(USE_TZ=True, SITE_ID=1, DEFAULT_AUTO_FIELD="django.db.models.BigAutoField", INSTALLED_APPS=["django.contrib." + a for a in ("admin", "auth", "contenttypes", "sessions", "messages", "sites", "flatpages", "redirects")],
    DATABASES={"default": {"ENGINE": "django.db.backends.postgresql", "NAME": p["PGDATABASE"], "USER": p["PGUSER"], "PASSWORD": p["PGPASSWORD"], "HOST": p["PGHOST"], "PORT": p["PGPORT"], "OPTIONS": o}})
django.setup()
call_command("migrate", verbosity=0)
"""
    sql("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    run(sys.executable, "-c", setup)
    found = plain(dumped("-n", "public"))
    for line in found:
        show("dump", re.sub(r"20\d\d-\d\d-\d\d \d\d:\d\d:\d\d\.\d+", "WHEN", line))
    fresh(OTHER)
    sql("DROP SCHEMA public", OTHER, INTO)
    sql(dumped("-n", "public"), OTHER, INTO)
    same("Django's", plain(dumped("-n", "public", env=OTHER, database=INTO)), found)


@step
def all_goes():
    sql(f"DROP DATABASE {INTO} WITH (FORCE)", OTHER, "postgres")
    if OTHER:
        for role in ROLES.values():
            sql(f"DROP ROLE {role}", OTHER, "postgres")
    for role in ROLES.values():
        sql(f"DROP OWNED BY {role} CASCADE; DROP ROLE {role}")


end()
