"""Django: migrations of its own apps and of ours, forwards and back, the ORM's queries, and the admin as a browser uses it.

Its driver is psycopg 3.
"""
import datetime
import decimal
import io
import os
import sys
import tempfile
import uuid

import django
from django.conf import settings
from django.core.management import call_command

from common import DATABASE, HOST, PASSWORD, PORT, USER, end, failed, show, step

work = tempfile.TemporaryDirectory()
sys.path.insert(0, work.name)
options = {"sslmode": os.environ["PGSSLMODE"]} | ({"sslrootcert": os.environ["PGSSLROOTCERT"]} if os.environ.get("PGSSLROOTCERT") else {})
settings.configure(
    SECRET_KEY="x", USE_TZ=True, TIME_ZONE="UTC", ROOT_URLCONF="shop_urls", DEFAULT_AUTO_FIELD="django.db.models.BigAutoField", STATIC_URL="/static/", ALLOWED_HOSTS=["*"],
    PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"], MESSAGE_STORAGE="django.contrib.messages.storage.session.SessionStorage",
    INSTALLED_APPS=["django.contrib.admin", "django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions", "django.contrib.messages", "django.contrib.sites",
                    "django.contrib.flatpages", "django.contrib.redirects", "django.contrib.postgres", "shop"],
    MIDDLEWARE=["django.contrib.sessions.middleware.SessionMiddleware", "django.contrib.auth.middleware.AuthenticationMiddleware", "django.contrib.messages.middleware.MessageMiddleware"],
    TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True,
                "OPTIONS": {"context_processors": ["django.template.context_processors.request", "django.contrib.auth.context_processors.auth", "django.contrib.messages.context_processors.messages"]}}],
    CACHES={"default": {"BACKEND": "django.core.cache.backends.db.DatabaseCache", "LOCATION": "cached"}}, SITE_ID=1,
    DATABASES={"default": {"ENGINE": "django.db.backends.postgresql", "NAME": DATABASE, "USER": USER, "PASSWORD": PASSWORD, "HOST": HOST, "PORT": PORT, "OPTIONS": options, "TEST": {"NAME": "clients_django"}}})

MODELS = '''
import uuid
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import BTreeIndex
from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Lower, Upper

class Author(models.Model):
    name = models.CharField(max_length=80, unique=True)
    mail = models.EmailField(blank=True, db_index=True)
    born = models.DateField(null=True)
    friends = models.ManyToManyField("self", blank=True)
    class Meta:
        ordering = ["name"]
    def __str__(self):
        return self.name

class Tag(models.Model):
    word = models.SlugField(primary_key=True)

class Book(models.Model):
    class Kind(models.IntegerChoices):
        NOVEL = 1
        GUIDE = 2
    code = models.UUIDField(default=uuid.uuid4, editable=False, unique=True)
    title = models.CharField(max_length=200, db_comment="as on the cover")
    author = models.ForeignKey(Author, models.CASCADE, related_name="books")
    editor = models.ForeignKey(Author, models.SET_NULL, null=True, blank=True, related_name="edited")
    kind = models.SmallIntegerField(choices=Kind.choices, default=Kind.NOVEL)
    price = models.DecimalField(max_digits=10, decimal_places=2, validators=[MinValueValidator(0)])
    pages = models.PositiveIntegerField(null=True, blank=True)
    published = models.DateTimeField(null=True, blank=True)
    length = models.DurationField(null=True, blank=True)
    extra = models.JSONField(default=dict, blank=True)
    words = ArrayField(models.CharField(max_length=20), default=list, blank=True)
    cover = models.BinaryField(null=True)
    score = models.FloatField(db_default=0.5)
    shown = models.BooleanField(default=True)
    at = models.TimeField(null=True, blank=True)
    ip = models.TextField(blank=True)
    tags = models.ManyToManyField(Tag, blank=True, through="Tagged")
    gross = models.GeneratedField(expression=F("price") * 2, output_field=models.DecimalField(max_digits=12, decimal_places=2), db_persist=True)
    class Meta:
        db_table_comment = "books that are sold"
        indexes = [models.Index(fields=["title", "-published"], name="book_title"), models.Index(Lower("title").desc(), "kind", name="book_lower"),
                   models.Index(fields=["price"], name="book_shown", condition=Q(shown=True)), models.Index(fields=["kind"], include=["title"], name="book_covering"),
                   BTreeIndex(fields=["pages"], name="book_tree"), models.Index(fields=["title"], name="book_ops", opclasses=["varchar_pattern_ops"])]
        constraints = [models.CheckConstraint(condition=Q(price__gte=0) & Q(price__lt=100000), name="price_ok"), models.UniqueConstraint(fields=["author", "title"], name="one_title"),
                       models.UniqueConstraint(Upper("title"), "kind", name="upper_title"), models.UniqueConstraint(fields=["at"], name="one_at", condition=Q(shown=True)),
                       models.UniqueConstraint(fields=["editor", "pages"], name="late", deferrable=models.Deferrable.DEFERRED)]

class Tagged(models.Model):
    book = models.ForeignKey(Book, models.CASCADE)
    tag = models.ForeignKey(Tag, models.PROTECT)
    at = models.DateTimeField(auto_now_add=True)
    class Meta:
        unique_together = [("book", "tag")]
'''
ADMIN = '''
from django.contrib import admin
from shop.models import Author, Book, Tag, Tagged
class Inline(admin.TabularInline):
    model = Tagged
@admin.register(Book)
class BookAdmin(admin.ModelAdmin):
    list_display = ["title", "author", "price", "published"]
    list_filter = ["kind", "published", "author", "shown"]
    search_fields = ["title", "author__name"]
    date_hierarchy = "published"
    list_select_related = ["author"]
    inlines = [Inline]
    list_per_page = 20
admin.site.register(Author)
admin.site.register(Tag)
'''
os.mkdir(f"{work.name}/shop")
for name, text in [("__init__", ""), ("models", MODELS), ("admin", ADMIN)]:
    open(f"{work.name}/shop/{name}.py", "w").write(text)
open(f"{work.name}/shop_urls.py", "w").write("from django.contrib import admin\nfrom django.urls import path\nurlpatterns = [path('admin/', admin.site.urls)]\n")
django.setup()

from django.contrib.auth.models import Permission, User  # noqa: E402
from django.contrib.contenttypes.models import ContentType  # noqa: E402
from django.contrib.postgres.aggregates import ArrayAgg, BoolOr, JSONBAgg, StringAgg  # noqa: E402
from django.core.cache import cache  # noqa: E402
from django.db import DatabaseError, IntegrityError, connection, models, transaction  # noqa: E402
from django.db.models import (Avg, Case, Count, Exists, F, FilteredRelation, Max, Min, OuterRef, Prefetch, Q, StdDev, Subquery, Sum, Value, When, Window)  # noqa: E402
from django.db.models import functions as fn  # noqa: E402
from django.test import Client  # noqa: E402
from django.test.utils import CaptureQueriesContext, setup_test_environment  # noqa: E402

from shop.models import Author, Book, Tag, Tagged  # noqa: E402

setup_test_environment()


def commanded(*arguments, **more):
    out = io.StringIO()
    call_command(*arguments, stdout=out, stderr=out, no_color=True, **more)
    return out.getvalue().replace(work.name, "WORK")


def clean():
    with connection.cursor() as k:
        k.execute("SELECT format('%I.%I', schemaname, tablename) FROM pg_tables WHERE schemaname = 'public'")
        for (table,) in k.fetchall():
            k.execute(f"DROP TABLE IF EXISTS {table} CASCADE")


@step
def migrations():
    clean()
    print(commanded("makemigrations", "shop", "--name", "first"))
    print(commanded("sqlmigrate", "shop", "0001"))
    print(commanded("migrate"))
    print(commanded("migrate"))
    print(commanded("makemigrations", "--check", "--dry-run"))
    print(commanded("createcachetable"))
    print(commanded("check", "--database", "default"))
    print(commanded("showmigrations"))


@step
def definitions():
    with connection.cursor() as k:
        for table in sorted(connection.introspection.table_names(k)):
            show("table", (table, connection.introspection.get_primary_key_columns(k, table), sorted(connection.introspection.get_relations(k, table).items()), connection.introspection.get_sequences(k, table)))
            for column in connection.introspection.get_table_description(k, table):
                show("  column", tuple(column))
            for name, constraint in sorted(connection.introspection.get_constraints(k, table).items()):
                show("  constraint", (name, constraint))
    print(commanded("inspectdb", "shop_book", "shop_tagged", "auth_user", "django_content_type"))


@step
def a_second_migration_and_back():
    changed = MODELS.replace("max_length=80", "max_length=120").replace("born = models.DateField(null=True)", "born = models.DateField(null=True)\n    rank = models.IntegerField(default=3)\n    note = models.TextField(db_default='none')") \
        .replace('pages = models.PositiveIntegerField(null=True, blank=True)', 'sheets = models.PositiveBigIntegerField(default=7, db_index=True)').replace('BTreeIndex(fields=["pages"], name="book_tree"), ', "") \
        .replace('["editor", "pages"]', '["editor", "sheets"]').replace("price__lt=100000", "price__lt=200000").replace('name="book_title"', 'name="book_titled"')
    migration = '''
from django.db import migrations, models
def fill(apps, schema_editor):
    Author = apps.get_model("shop", "Author")
    Author.objects.update(rank=models.F("rank") + 1)
class Migration(migrations.Migration):
    dependencies = [("shop", "0001_first")]
    operations = [
        migrations.AlterField("author", "name", models.CharField(max_length=120, unique=True)),
        migrations.AddField("author", "rank", models.IntegerField(default=3)),
        migrations.AddField("author", "note", models.TextField(db_default="none")),
        migrations.RunPython(fill, migrations.RunPython.noop),
        migrations.RemoveConstraint("book", "late"),
        migrations.RemoveIndex("book", "book_tree"),
        migrations.RenameField("book", "pages", "sheets"),
        migrations.AlterField("book", "sheets", models.PositiveBigIntegerField(default=7, db_index=True)),
        migrations.AddConstraint("book", models.UniqueConstraint(fields=["editor", "sheets"], name="late", deferrable=models.Deferrable.DEFERRED)),
        migrations.RemoveConstraint("book", "price_ok"),
        migrations.AddConstraint("book", models.CheckConstraint(condition=models.Q(price__gte=0) & models.Q(price__lt=200000), name="price_ok")),
        migrations.RenameIndex("book", old_name="book_title", new_name="book_titled"),
        migrations.AlterModelTable("tag", "shop_word"),
        migrations.AlterModelTable("tag", "shop_tag"),
        migrations.AlterModelTableComment("book", "other books"),
        migrations.RunSQL("CREATE VIEW shop_view AS SELECT id, title FROM shop_book", "DROP VIEW shop_view"),
        migrations.AlterField("book", "title", models.CharField(max_length=200, db_comment="as inside")),
        migrations.AlterField("book", "score", models.FloatField(null=True)),
        migrations.CreateModel("Extra", [("book", models.OneToOneField("shop.book", models.CASCADE, primary_key=True, serialize=False)), ("n", models.IntegerField(default=0))]),
    ]
'''.replace('migrations.AlterField("book", "title"', '# a view has the column\n        migrations.AlterField("book", "ip"').replace('models.CharField(max_length=200, db_comment="as inside")', 'models.TextField(blank=True, db_comment="as inside")')
    assert changed != MODELS
    Author.objects.create(name="Zed")
    open(f"{work.name}/shop/migrations/0002_second.py", "w").write(migration)
    print(commanded("sqlmigrate", "shop", "0002"))
    print(commanded("migrate"))
    with connection.cursor() as k:
        for table in ("shop_author", "shop_book", "shop_extra"):
            for column in connection.introspection.get_table_description(k, table):
                show("  column", tuple(column))
            show("constraints", sorted(connection.introspection.get_constraints(k, table)))
        k.execute("SELECT rank, note FROM shop_author")
        show("filled", k.fetchall())
    print(commanded("sqlmigrate", "shop", "0002", backwards=True))
    print(commanded("migrate", "shop", "0001"))
    with connection.cursor() as k:
        for column in connection.introspection.get_table_description(k, "shop_book"):
            show("  column", tuple(column))
        show("constraints", sorted(connection.introspection.get_constraints(k, "shop_book").items()))
    os.remove(f"{work.name}/shop/migrations/0002_second.py")
    Author.objects.all().delete()


@step
def objects():
    ada, bob, eve = Author.objects.bulk_create([Author(name=n, mail=f"{n.lower()}@x.org", born=datetime.date(1900 + i, 1, 2)) for i, n in enumerate(["Ada", "Bob", "Eve"])])
    ada.friends.add(bob, eve)
    tags = Tag.objects.bulk_create([Tag(word=w) for w in ("red", "green", "blue")])
    Tag.objects.bulk_create([Tag(word="red"), Tag(word="new")], ignore_conflicts=True)
    when = datetime.datetime(2024, 2, 29, 23, 59, 59, 123456, tzinfo=datetime.timezone.utc)
    for i in range(40):
        b = Book.objects.create(code=uuid.UUID(int=i), title=f"Book {i}" if i % 3 else f"größe {i}", author=[ada, bob][i % 2], editor=eve if i % 4 == 0 else None, kind=1 + i % 2, price=decimal.Decimal(i) / 4,
                                pages=i * 10, published=when - datetime.timedelta(days=37 * i) if i % 5 else None, length=datetime.timedelta(hours=i, microseconds=5), extra={"n": i, "list": [1, {"a": None}], "s": "x\"y"},
                                words=["w", str(i)], cover=bytes([i, 0, 255]), at=datetime.time(i % 24, i) if i < 24 else None, shown=i % 7 != 0)
        if i == 3:
            show("created", (b.gross, b.score))
        if i % 10 == 0:
            b.tags.add(*tags)
    b = Book.objects.get(code=uuid.UUID(int=7))
    show("read", (b.title, b.price, b.gross, b.published, b.length, b.extra, b.words, bytes(b.cover), b.at, b.score, b.shown, b.author.name, b.editor))
    b.price = F("price") + 1
    b.save(update_fields=["price"])
    b.refresh_from_db()
    show("changed", (b.price, b.gross))
    show("updated", Book.objects.filter(kind=2).update(score=F("pages") / 3.0, extra={"k": [1]}))
    Book.objects.bulk_update([Book(id=b.id, price=decimal.Decimal("9.99"), title="Bulk")], ["price", "title"])
    show("bulk", list(Book.objects.filter(title="Bulk").values_list("price", "gross")))
    show("get_or_create", [Author.objects.get_or_create(name="Ada")[1], Author.objects.update_or_create(name="New", defaults={"mail": "n@x"}, create_defaults={"mail": "c@x"})[1]])
    Author.objects.bulk_create([Author(name="Ada", mail="up@x"), Author(name="Max", mail="m@x")], update_conflicts=True, unique_fields=["name"], update_fields=["mail"])
    show("authors", list(Author.objects.values_list("name", "mail")))


@step
def queries():
    q = Book.objects.order_by("id")
    for name, ask in [
        ("lookups", lambda: [q.filter(**{k: v}).count() for k, v in {
            "title__iexact": "BOOK 5", "title__icontains": "OOK 1", "title__startswith": "größe", "title__iendswith": "1", "title__regex": r"^B\w+ \d$", "title__iregex": r"^b", "price__range": (1, 3), "kind__in": [1],
            "pages__gt": 100, "published__year": 2023, "published__date": datetime.date(2024, 1, 23), "published__month__gte": 6, "published__week_day": 2, "published__iso_year": 2023, "published__quarter": 4, "published__isnull": True,
            "published__hour": 23, "extra__n": 4, "extra__list__1__a": None, "extra__has_key": "list", "extra__contains": {"n": 6}, "extra__n__gt": 20, "extra__s__icontains": "X", "extra__has_any_keys": ["k", "zz"],
            "words__contains": ["4"], "words__overlap": ["5", "6"], "words__len": 2, "words__0": "w", "words__contained_by": ["w", "1", "2"], "author__name": "Ada", "author__friends__name": "Bob", "tags__word": "red",
            "length__gt": datetime.timedelta(hours=20), "at__lt": datetime.time(5), "code": uuid.UUID(int=3), "cover": b"\x05\x00\xff"}.items()]),
        ("values", lambda: list(q.values("kind").annotate(n=Count("id"), s=Sum("price"), a=Avg("price"), lo=Min("published"), hi=Max("length"), sd=StdDev("pages"), d=Count("author", distinct=True), f=Count("id", filter=Q(shown=True))).order_by("kind"))),
        ("aggregates", lambda: q.aggregate(Sum("gross"), Avg("length"), Max("at"), any=BoolOr("shown"))),
        ("arrays", lambda: list(Author.objects.annotate(t=ArrayAgg("books__title", filter=Q(books__pages__lt=60), ordering="-books__title"), s=StringAgg("books__title", ", ", ordering="books__id", filter=Q(books__pages__lt=30)),
                                                j=JSONBAgg("books__extra__n", filter=Q(books__pages=50))).values_list("name", "t", "s", "j").order_by("name"))),
        ("expressions", lambda: list(q.annotate(c=Case(When(price__gt=5, then=Value("dear")), default=Value("cheap")), l=fn.Length("title"), u=fn.Upper("title"), cc=fn.Concat("title", Value(" / "), "author__name"), co=fn.Coalesce("editor__name", Value("-")),
                                        tm=fn.TruncMonth("published"), ey=fn.ExtractIsoWeekDay("published"), r=fn.Round("price", 1), md=fn.Mod("pages", 7, output_field=models.IntegerField()), sub=fn.Substr("title", 1, 3), lp=fn.LPad("title", 9, Value("*")), g=fn.Greatest("pages", F("pages") / 2 + 60),
                                        cast=fn.Cast("price", models.IntegerField()), jn=F("extra__n"), pi=fn.StrIndex("title", Value("k")), md5=fn.MD5("title"), rep=fn.Replace("title", Value("o"), Value("0")))
                        .filter(pages__lt=100).values_list("c", "l", "u", "cc", "co", "tm", "ey", "r", "md", "sub", "lp", "g", "cast", "jn", "pi", "md5", "rep"))),
        ("windows", lambda: list(q.annotate(rn=Window(fn.RowNumber(), partition_by="kind", order_by="-price"), lag=Window(fn.Lag("price"), order_by="id"), run=Window(Sum("price"), order_by="id")).filter(rn__lte=3).values_list("id", "rn", "lag", "run"))),
        ("subqueries", lambda: list(Author.objects.annotate(last=Subquery(Book.objects.filter(author=OuterRef("pk")).order_by("-published", "id").values("title")[:1]), has=Exists(Book.objects.filter(editor=OuterRef("pk")))).values_list("name", "last", "has"))),
        ("sets", lambda: list(q.filter(kind=1).values_list("title").union(q.filter(pages__gt=300).values_list("title")).order_by("title")[:5]) + list(q.values_list("kind").difference(q.filter(kind=1).values_list("kind")))),
        ("distinct", lambda: (list(q.order_by("author_id", "-price").distinct("author_id").values_list("author__name", "price")), q.values("author").distinct().count())),
        ("dates", lambda: (list(q.dates("published", "year")), list(q.datetimes("published", "month"))[:3], q.filter(published__lt=fn.Now()).exists())),
        ("slices", lambda: (list(q.values_list("pages", flat=True)[5:9]), q.last().pages, q.reverse()[0].pages, q.first().title, q.in_bulk([q.first().pk]).keys() == {q.first().pk})),
        ("related", lambda: [(b.title, b.author.name, b.editor and b.editor.name, sorted(t.word for t in b.tags.all())) for b in q.select_related("author", "editor").prefetch_related("tags").filter(pages__lt=120)]),
        ("prefetch", lambda: [(a.name, [b.pages for b in a.some]) for a in Author.objects.prefetch_related(Prefetch("books", Book.objects.filter(pages__gte=350).order_by("id"), to_attr="some"))]),
        ("relation", lambda: list(Author.objects.annotate(r=FilteredRelation("books", condition=Q(books__kind=1))).values_list("name").annotate(Count("r")).order_by("name"))),
        ("conditions", lambda: (q.filter(Q(kind=1) ^ Q(shown=True)).count(), q.exclude(Q(tags__word="red") | ~Q(author__name="Ada")).count(), q.filter(price__lt=F("pages") / 50).count())),
        ("iterated", lambda: sum(b.pages for b in q.iterator(chunk_size=7))),
        ("raw", lambda: [b.title for b in Book.objects.raw("SELECT * FROM shop_book WHERE pages < %s ORDER BY id", [25])]),
        ("extra", lambda: list(q.extra(select={"twice": "pages * 2"}, where=["pages < %s"], params=[30]).values_list("twice"))),
    ]:
        try:
            show(name, ask())
        except DatabaseError as e:
            failed.append(name)
            print(f"FAIL {name}: {e}")
    with transaction.atomic():
        show("locked", (q.select_for_update(skip_locked=True, of=("self",)).select_related("author").filter(pages__lt=50).count(), len(q.select_for_update(nowait=True).filter(pages__lt=50)), len(q.select_for_update(no_key=True)[:2])))
    show("explained", bool(q.filter(id=1).explain()))


@step
def wrong():
    a = Author.objects.get(name="Ada")
    for f in [lambda: Author.objects.create(name="Ada"), lambda: Book.objects.create(title="x", author=a, price=-1), lambda: Book.objects.create(title="Bulk", author_id=99999, price=1),
              lambda: Book.objects.create(title=None, author=a, price=1), lambda: Author.objects.create(name="x" * 99), lambda: Book.objects.create(title="BULK", author=a, price=1, kind=2), lambda: Tag.objects.get(word="red").delete(),
              lambda: Book.objects.create(title="big", author=a, price=1, pages=-3), lambda: list(Book.objects.extra(where=["1 / 0 = 1"]))]:
        try:
            with transaction.atomic():
                f()
                connection.check_constraints()
            show("no error", None)
        except (DatabaseError, models.ProtectedError) as e:
            cause = getattr(e, "__cause__", None)
            show(type(e).__name__, (getattr(cause, "sqlstate", None), cause.diag.message_primary, cause.diag.constraint_name) if cause is not None and hasattr(cause, "diag") else "")
    try:
        with transaction.atomic():
            Book.objects.create(title="late", author_id=99999, price=1)
    except IntegrityError as e:
        show("at the end", (e.__cause__.sqlstate, e.__cause__.diag.constraint_name))
    done = []
    with transaction.atomic():
        transaction.on_commit(lambda: done.append("committed"))
        try:
            with transaction.atomic():
                Author.objects.all().update(mail="gone")
                raise KeyError
        except KeyError:
            pass
        show("inside", (Author.objects.filter(mail="gone").count(), connection.in_atomic_block, done))
    show("behind", done)
    show("deleted", Author.objects.filter(name="Bob").delete())
    show("left", (Book.objects.count(), Tagged.objects.count()))


@step
def the_admin():
    User.objects.create_superuser("root", "root@x.org", "secret")
    c = Client()
    def seen(response):
        return response.status_code, response.headers.get("Location"), [str(m) for m in response.context["messages"]] if response.context and "messages" in response.context else None
    show("before", seen(c.get("/admin/")))
    show("login", seen(c.post("/admin/login/?next=/admin/", {"username": "root", "password": "secret"})))
    show("index", seen(c.get("/admin/")))
    for path in ["shop/book/", "shop/book/?q=book", "shop/book/?kind__exact=1&shown__exact=1", "shop/book/?published__year=2023", "shop/book/?published__year=2023&published__month=6", "shop/book/?o=-3.1&p=1", "shop/book/?q=ada+1&all=",
                 "shop/book/?author__id__exact=1", "shop/author/", "shop/tag/", "auth/user/", "auth/user/?is_staff__exact=1", "auth/group/add/", "sites/site/", "shop/book/add/"]:
        response = c.get(f"/admin/{path}")
        found = response.context.get("cl")
        show(path, (response.status_code, found and (found.result_count, found.full_result_count, [str(getattr(o, "title", o)) for o in found.result_list][:4])))
    a = Author.objects.get(name="Ada")
    inline = {"tagged_set-TOTAL_FORMS": 1, "tagged_set-INITIAL_FORMS": 0, "tagged_set-0-tag": "blue", "tagged_set-0-id": "", "tagged_set-0-book": ""}
    form = {"title": "By form", "author": a.pk, "editor": "", "kind": 2, "price": "12.34", "pages": "", "published_0": "2024-05-06", "published_1": "07:08:09", "length": "1:02:03", "extra": '{"a": 1}', "words": "a,b", "score": "0.5", "shown": "on", "at": "", "ip": ""}
    show("added", seen(c.post("/admin/shop/book/add/", form | inline))[0])
    b = Book.objects.get(title="By form")
    show("book", (b.price, b.published, b.length, b.extra, b.words, [t.word for t in b.tags.all()]))
    show("wrong", [c.post("/admin/shop/book/add/", form | {"price": "-1"} | inline).context["adminform"].form.errors])
    t = b.tagged_set.get()
    show("changed", seen(c.post(f"/admin/shop/book/{b.pk}/change/", form | {"title": "Changed"} | inline | {"tagged_set-INITIAL_FORMS": 1, "tagged_set-0-id": t.pk, "tagged_set-0-book": b.pk, "tagged_set-0-DELETE": "on"}))[0])
    show("tags", b.tagged_set.count())
    history = c.get(f"/admin/shop/book/{b.pk}/history/")
    show("history", (history.status_code, [str(e) for e in history.context["action_list"]]))
    show("action", (c.post("/admin/shop/book/", {"action": "delete_selected", "_selected_action": [b.pk]}).status_code, c.post("/admin/shop/book/", {"action": "delete_selected", "_selected_action": [b.pk], "post": "yes"}).status_code, Book.objects.filter(pk=b.pk).count()))
    show("delete", c.post(f"/admin/shop/author/{a.pk}/delete/", {"post": "yes"}).status_code)
    show("user", (c.post("/admin/auth/user/add/", {"username": "clerk", "password1": "long-enough-9", "password2": "long-enough-9", "usable_password": "true"}).status_code, User.objects.filter(username="clerk").exists()))
    clerk = User.objects.get(username="clerk")
    clerk.user_permissions.add(Permission.objects.get(codename="view_book"))
    show("permissions", sorted(clerk.get_all_permissions()))
    show("types", ContentType.objects.get_for_model(Book).natural_key())
    cache.set("k", {"a": [1]}, 100)
    cache.set_many({"x": 1, "y": 2})
    show("cache", (cache.get("k"), cache.get_many(["x", "y", "z"]), cache.add("k", 1), cache.incr("x"), cache.delete("k"), cache.get("k")))
    show("logout", c.post("/admin/logout/").status_code)


@step
def data_out_and_in():
    with CaptureQueriesContext(connection) as captured:
        text = commanded("dumpdata", "shop", "auth.user", natural_foreign=True)
    show("dumped", (len(text) > 1000, len(captured)))
    path = f"{work.name}/data.json"
    open(path, "w").write(text)
    counts = [m.objects.count() for m in (Author, Book, Tag, Tagged, User)]
    print(commanded("flush", interactive=False))
    show("flushed", [m.objects.count() for m in (Author, Book, Tag, Tagged, User)])
    print(commanded("loaddata", path).replace(path, "PATH"))
    show("same", counts == [m.objects.count() for m in (Author, Book, Tag, Tagged, User)])
    print(commanded("sqlsequencereset", "shop"))
    with connection.cursor() as k:
        k.execute(commanded("sqlsequencereset", "shop"))
    show("next", Author.objects.create(name="after").pk > 0)
    Author.objects.filter(name="after").delete()


@step
def a_test_database():
    """What `manage.py test` does: a database of its own, made, migrated, serialised, dropped."""
    name = connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=True)
    with connection.cursor() as k:
        k.execute("SELECT current_database()")
        show("made", (name, k.fetchone()))
    show("empty", Book.objects.count())
    connection.creation.destroy_test_db(DATABASE, verbosity=0)
    show("back", Book.objects.count() > 0)


@step
def all_back():
    print(commanded("migrate", "shop", "zero"))
    for app in ("admin", "flatpages", "redirects", "sites", "sessions", "auth", "contenttypes"):
        print(commanded("migrate", app, "zero"))
    show("left", sorted(connection.introspection.table_names()))
    clean()


end()
