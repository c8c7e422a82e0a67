"""Django: inspectdb, the migrations of its own apps, and what its introspection tells of tables."""
import io
import os

import django
from django.conf import settings
from django.core.management import call_command
from django.db import connection

settings.configure(
    SECRET_KEY="x", USE_TZ=True, DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    INSTALLED_APPS=["django.contrib.admin", "django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions", "django.contrib.messages", "django.contrib.postgres"],
    DATABASES={"default": {"ENGINE": "django.db.backends.postgresql", "NAME": os.environ["PGDATABASE"], "USER": os.environ["PGUSER"], "PASSWORD": os.environ["PGPASSWORD"],
                           "HOST": os.environ["PGHOST"], "PORT": os.environ["PGPORT"], "OPTIONS": {"options": "-c search_path=app,public"}}})
django.setup()
call_command("inspectdb", "--include-views", "--include-partitions", stdout=io.StringIO())
call_command("migrate", stdout=io.StringIO())
with connection.cursor() as cursor:
    about = connection.introspection
    for table in ("customer", "orders", "order_line", "Mixed Case", "keyless", "totals"):
        about.get_sequences(cursor, table)
        about.get_relations(cursor, table)
        about.get_constraints(cursor, table)
        about.get_primary_key_columns(cursor, table)
call_command("sqlsequencereset", "auth", stdout=io.StringIO())
call_command("migrate", "auth", "zero", stdout=io.StringIO())
