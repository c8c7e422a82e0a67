"""The differences between Stoa and PostgreSQL that are decided, as docs/postgresql.md lists them: how a comparison knows each."""
import math
import pathlib
import re
import types

DOCUMENT = pathlib.Path(__file__).resolve().parent.parent.parent / "docs/postgresql.md"


def _nothing(answer):
    return answer[0] == "00000" and all(v is None for row in answer[2] for v in row)


def _is_row(ours, theirs):
    """Whether OIDs are those of a whole row, or of an array of them: PostgreSQL's is the table's own."""
    return ours in (2249, 2287) and theirs >= 16384


# What depends on which of the rows that tie comes first, and what depends on the order at all.
BY_TIES = {"row_number", "ntile", "lag", "lead", "first_value", "last_value", "nth_value"}


def _windowed(sql):
    """The functions of windows in a statement: all of them may depend on the order."""
    return set(re.findall(r"(\w+)\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\) (?:FILTER \([^)]*\) )?OVER", sql))


def _without(answer, names):
    """The rows without the columns of these names, sorted; equal to nothing if no column has such a name."""
    kept = [i for i, column in enumerate(answer[1]) if column[0] not in names]
    return sorted(repr([row[i] for i in kept]) for row in answer[2]) if len(kept) < len(answer[1]) else object()


def _letters(answer):
    return sorted("".join(str(value) for row in answer[2] for value in row))


def _without_zeros(answer):
    """The rows, numbers without the zeros at their end."""
    return [[re.sub(r"\.0+$|(\.\d*[1-9])0+$", r"\1", value) if isinstance(value, str) else value for value in row] for row in answer[2]]


def _nearly(ours, theirs):
    """Whether two rows are the same but for the last digits of floating point numbers."""
    def near(a, b):
        try:
            return a == b or math.isclose(float(a), float(b), rel_tol=1e-13)
        except (TypeError, ValueError):
            return False
    return len(ours) == len(theirs) and all(map(near, ours, theirs))


def _sets_of_equals(sql):
    """Whether grouping sets have two columns that a condition below makes equal, and something above them groups or sorts again."""
    sets = re.search(r"GROUP BY (?:ROLLUP|CUBE|GROUPING SETS) ?(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))", sql)
    if not sets or not re.search(r"\) \w+ .*(GROUP|ORDER) BY|OVER|DISTINCT|UNION|INTERSECT|EXCEPT", sql[sets.end():] + sql[:sets.start()].partition("(")[0]):
        return False
    grouped = set(re.findall(r"\w+", sets[1]))
    return any(a != b and {a, b} <= grouped for a, b in re.findall(r"\b(\w+) = (\w+)\b", sql[:sets.start()]))


def _same_rows(d):
    return sorted(map(repr, d.ours[2])) == sorted(map(repr, d.theirs[2]))


def evaluated(answer):
    """Whether an answer is an error in a value, which depends on what is evaluated, and not one in the statement."""
    return answer[0][:2] in ("22", "21", "54") or answer[0] == "42804" and "must be a row type" in answer[3] or answer[0] == "42601" and "decimal points" in answer[3] \
        or answer[0] == "0A000" and answer[3].startswith("could not determine row type")


def _but_modifiers(answer):
    return [column[:2] for column in answer[1]], sorted(map(repr, answer[2]))


# (reason, a piece of the line of docs/postgresql.md that says so, whether a difference `d` is of that kind). `d` has the statement,
# the answers (state, types, rows, message), and whether each failed.
EXPLAINED = [
    ("time zones in odd POSIX forms", "of POSIX forms", lambda d: d.ours[0] == "22023" and re.match(r'time zone ".*\d', d.ours[3]) and d.theirs[0] in ("00000", "0A000", "22007", "22008")),
    ("the last digit", "the last digit of `width_bucket`", lambda d: "width_bucket" in d.sql and (d.ours[:2] == d.theirs[:2] or d.theirs[0] == "22003" and "2147483647" in d.sql)),
    ("the order in which floating point numbers are added", "are added in another order", lambda d: not d.failed and d.ours[1] == d.theirs[1]
     and any(column[1] in (700, 701) for column in d.ours[1]) and re.search(r"\b(sum|avg|stddev\w*|var\w*|corr|covar\w*|regr\w*)\(", d.sql, re.I)
     and len(d.ours[2]) == len(d.theirs[2]) and all(map(_nearly, d.ours[2], d.theirs[2]))),
    ("objects of the catalogs", "OIDs are Stoa's own", lambda d: not d.failed and not d.they_failed and any(t in d.sql for t in ("::regproc", "::regrole", "::regclass", " regproc", " regrole", "::oid", "lo_creat", "lo_from_bytea"))),
    ("the number of the server's transaction", "counts from the number of Stoa's own transaction", lambda d: not d.failed and not d.they_failed and d.ours[1] == d.theirs[1]
     and re.search(r"\bage\b.*\bxid\b", d.sql)),
    ("the name of the first superuser", "mean the superuser `stoa`", lambda d: d.ours[:2] == d.theirs[:2] and repr(d.ours[2]).replace("stoa", "postgres") == repr(d.theirs[2])),
    ('"char"', "the first character of a text beyond ASCII",
     lambda d: '"char"' in d.sql and (not d.sql.isascii() or d.ours[0] == "0A000") or '\'\'::"char"' in d.sql),
    ("PostgreSQL takes too long, since it materialises what stands in FROM", "their rows are made as they are read", lambda d: d.theirs[0] == "57014"),
    ("what is evaluated beside a constant NULL", "beside a constant NULL",
     # Of constants alone NULL may be what one of them is computed to.
     lambda d: not re.match("(CREATE|ALTER|DROP) ", d.sql) and ("NULL" in d.sql or " FROM " not in d.sql) and (evaluated(d.ours) and _nothing(d.theirs) or _nothing(d.ours) and evaluated(d.theirs))
     # What is around the NULL may make a value of it.
     or not d.failed and evaluated(d.theirs) and " FROM " not in d.sql and re.search(r"\w\((?:[^()]|\([^()]*\))*\bNULL::\w+(?:[^()]|\([^()]*\))*\)", d.sql)),
    ("rows of the relations of catalogs", "reported as record", lambda d: d.ours[0] == d.theirs[0] == "00000" and d.ours[2] == d.theirs[2]
     and all(ours[:2] == theirs[:2] or ours[1] == 2249 and 12000 < theirs[1] < 16384 for ours, theirs in zip(d.ours[1], d.theirs[1]))),
    ("subqueries of rows that are left out", "for rows that a condition above leaves out", lambda d: d.ours[0] == "21000" and not d.they_failed and d.sql.count("SELECT") > 3),
    ("sides of set operations that are not wanted", "where the other has no rows", lambda d: not d.failed and evaluated(d.theirs) and re.search("INTERSECT|EXCEPT", d.sql)),
    ("LATERAL sides of rows that are left out", "a LATERAL side of a join is not computed", lambda d: not d.failed and d.theirs[0] == "21000" and re.search(r"LATERAL \(SELECT .*\(SELECT .*WHERE", d.sql)),
    ("which of two errors comes first", "of two errors in one expression",
     lambda d: evaluated(d.ours) and evaluated(d.theirs) and len(re.findall(r"\w\(|::", d.sql)) > 1 or "in WITH query column list" in d.ours[3] and d.theirs[0] == "42702"
     or d.ours[0] in ("42704", "42883") and d.theirs[3].startswith("a column definition list is only allowed")),
    ("the ids of keyvalue()", "the ids that `.keyvalue()` gives", lambda d: "keyvalue" in d.sql and d.ours[:2] == d.theirs[:2]),
    ("rows of tables", "The type of a whole row", lambda d: not d.failed and not d.they_failed and _same_rows(d) and len(d.ours[1]) == len(d.theirs[1])
     and all(o == t or o[0] == t[0] and _is_row(o[1], t[1]) for o, t in zip(d.ours[1], d.theirs[1]))),
    ("columns of rows of VALUES", "of a VALUES list (42809)", lambda d: d.ours[0] in ("00000", "42883") and d.theirs[0] == "42809" and d.theirs[3] == "record type has not been registered"),
    ("columns of rows of subqueries", "where PostgreSQL no longer knows them", lambda d: not d.failed and d.theirs[0] == "42703" and d.theirs[3].endswith("in record data type")),
    ("tables as types", "A table's name is no type", lambda d: d.ours[0] == "42704" and re.match('type ".*" does not exist', d.ours[3]) and (d.theirs[0] == "42601" and d.theirs[3].startswith("type modifier is not allowed")
      or d.theirs[0] == "22P02" and d.theirs[3].startswith("malformed record literal"))
     or d.ours[0] == "0A000" and d.ours[3].startswith("input of anonymous composite") and d.theirs[0] == "22P02" and d.theirs[3].startswith("malformed record literal")
     or d.ours[0] == "42803" and d.theirs[0] == "42883" and re.match(r"could not identify an \w+ operator for type (js|ev|emp|dept|shop)$", d.theirs[3])),
    ("texts as configurations", "texts become a `regconfig` by themselves", lambda d: d.theirs[0] == "42883" and re.match(r"function (to_tsvector|\w*to_tsquery|ts_headline)\(text, ", d.theirs[3])),
    ("keys that the same statement deletes", "is free for the rows that the same statement inserts", lambda d: not d.failed and d.theirs[0] == "23505" and re.search("MERGE .*DELETE.*INSERT|WITH .*DELETE .*INSERT", d.sql)),
    ("keys of which there are two", "while another unique one has the same columns", lambda d: not d.failed and d.theirs[0] == "2BP01" and "DROP CONSTRAINT" in d.sql and re.match(r"cannot drop constraint \w+ on table \w+ because other objects", d.theirs[3])),
    ("types that Stoa adds", "`double` double precision", lambda d: d.theirs[0] == "42704" and re.match('type "(double|string|tinyint)" does not exist', d.theirs[3])),
    ("functions of modifiers", "applies a type's modifier to a value", lambda d: d.ours[0] == "42883" and re.match(r"function timestamptz\([^,]*, [^,]*\)", d.ours[3])),
    ("modifiers of what is simplified", "the modifier of what its planner leaves", lambda d: not d.failed and _but_modifiers(d.ours) == _but_modifiers(d.theirs) and d.ours[1] != d.theirs[1] and re.search(r"\bCASE\b|coalesce|::numeric\b(?!\()", d.sql, re.I)),
    ("modifiers of extremes", "to a client, where PostgreSQL reports none", lambda d: not d.failed and _but_modifiers(d.ours) == _but_modifiers(d.theirs) and d.ours[1] != d.theirs[1] and re.search(r"\b(min|max)\(", d.sql) and re.search(r"\bchar(acter)?\(", d.sql)),
    ("grouping expressions that constants decide in HAVING", "has its value if constants decide it", lambda d: not d.failed and d.ours[1] == d.theirs[1] and re.search("ROLLUP|CUBE|GROUPING SETS", d.sql) and re.search(r"HAVING.*(ROW\(|CASE |coalesce\().*NULL", d.sql)),
    ("sorts of grouping sets by what is constant", "sorts by a column that a condition sets equal to a constant",
     lambda d: re.search("ROLLUP|CUBE|GROUPING SETS", d.sql) and re.search(r"ORDER BY [^)]*$", d.sql) and d.ours[:2] == d.theirs[:2] and not d.failed
     and (_same_rows(d) or re.search("LIMIT|FETCH", d.sql))),
    ("grouping sets of columns that are equal below", "or to another that is grouped by", lambda d: not d.failed and d.ours[1] == d.theirs[1] and _sets_of_equals(d.sql)),
    ("what aggregates collect in no order", "the elements that aggregates collect", lambda d: d.ours[:2] == d.theirs[:2] and re.search(r"_agg\(|\barray *\(", d.sql, re.I) and _letters(d.ours) == _letters(d.theirs)),
    ("constants that are computed before groups are compared", "constant parts of expressions are computed first", lambda d: not d.failed and d.theirs[0] == "42803" and re.search(r"[-+*/(,] *\+ *\d", d.sql)),
    ("rows that tie in a window", "rows that tie in the ORDER BY of a window", lambda d: not d.failed and d.ours[1] == d.theirs[1] and "OVER" in d.sql
     and _without(d.ours, BY_TIES) == _without(d.theirs, BY_TIES)),
    ("windows over grouping sets by what is constant", "sorts by a column that a condition sets equal to a constant",
     lambda d: not d.failed and d.ours[1] == d.theirs[1] and re.search("ROLLUP|CUBE|GROUPING SETS", d.sql) and "OVER" in d.sql
     and _without(d.ours, _windowed(d.sql)) == _without(d.theirs, _windowed(d.sql))),
    ("MIN and MAX under WITH TIES", "under WITH TIES they are computed", lambda d: not d.failed and d.theirs[0] == "21000" and "WITH TIES" in d.sql and re.search(r"\b(min|max)\(", d.sql)),
    ("views that cannot be written", "is reported before what is wrong with the statement's columns", lambda d: d.ours[0] == "55000" and "view" in d.ours[3] and d.theirs[0][:2] == "42"),
    ("encodings", "`convert_from` and its kin know", lambda d: d.ours[0] == "0A000" and d.ours[3].startswith("conversion of encoding")),
    ("which rows a LIMIT takes of those that tie by a constant or a truth value", "cut off", lambda d: not d.failed and d.ours[1] == d.theirs[1] and len(d.ours[2]) == len(d.theirs[2])
     and re.search(r"ORDER BY ((-?[\d.]+|((date|time\w*|interval) )?'[^']*')(::\w+)?|[\w.]+::bool(ean)?) *(DESC|ASC)? *(LIMIT|FETCH)", d.sql)),
    ("functions that Stoa adds", "are Stoa's own and ask for a table", lambda d: d.failed and d.they_failed and re.search(r"\b(score|snippet|contains)\(", d.sql)),
    ("rows of tables whose columns are grouped", "may be selected; PostgreSQL says 42803", lambda d: not d.failed and d.theirs[0] == "42803" and re.match(r'column "\w+\.\*" must', d.theirs[3])),
    ("ordering operators", "any operator but `<` and `>` is 42809", lambda d: d.ours[0] == "42809" and "ordering operator" in d.ours[3] and d.theirs[0] == "42883"),
    ("arrays of rows in FROM", "`unnest` of an array of rows gives the rows", lambda d: not d.failed and "unnest(" in d.sql and "returning \"record\"" in d.theirs[3]),
    ("calls as columns", "`t.f` is a column alone", lambda d: d.ours[0] == "42703" and re.match(r"column \w+\.\w+ does not exist", d.ours[3]) and d.theirs[0] in ("00000", "42803", "42883")
     or d.ours[0] == "42809" and d.ours[3].startswith("column notation .") and not d.they_failed),
    ("rows that tie under DISTINCT ON", "kept by DISTINCT ON", lambda d: not d.failed and d.ours[1] == d.theirs[1] and "DISTINCT ON" in d.sql and len(d.ours[2]) == len(d.theirs[2])),
    ("what comparisons of rows cost", "counts as the comparisons", lambda d: evaluated(d.ours) and not d.they_failed and " AND " in d.sql
     and re.search(r"\w, [^()]*(\([^()]*\))?[^()]*\) [<>]=? \(", d.sql)),
    ("rows behind a limit", "so that one behind it may raise an error", lambda d: evaluated(d.ours) and not d.they_failed and re.search("LIMIT|FETCH", d.sql) and "OVER" in d.sql),
    ("what PostgreSQL has XX000 for", "where PostgreSQL itself says XX000", lambda d: d.theirs[0] == "XX000"),
    ("rows that hold literals without a type", "literals without a type are compared as text", lambda d: "for type unknown" in d.theirs[3]),
    ("columns with types", "in PostgreSQL they are syntax errors", lambda d: d.failed and d.theirs[0] == "42601" and re.search(r"(INSERT INTO \w+ |(FROM|JOIN) \w+ AS \w+ ?)\([^()]*\w \w", d.sql)),
    ("which of equal numbers a LIMIT takes", "cut off", lambda d: not d.failed and d.ours[:2] == d.theirs[:2] and re.search("LIMIT|FETCH", d.sql)
     and _without_zeros(d.ours) == _without_zeros(d.theirs)),
    ("errors with the columns of SEARCH and CYCLE", "of two errors in one expression", lambda d: d.ours[0] == "42703" and d.they_failed and re.search("SEARCH|CYCLE", d.sql)),
    ("which rows a LIMIT without ORDER BY takes", "where no ORDER BY asks for one", lambda d: d.ours[:2] == d.theirs[:2] and len(d.ours[2]) == len(d.theirs[2])
     and re.search("LIMIT|FETCH|OFFSET", d.sql) and not re.search("ORDER BY", d.sql)),
    ("functions in FROM that nobody reads", "of which no column is read", lambda d: not d.failed and d.theirs[0][:2] == "22" and re.search(r"(FROM|JOIN) (\w+\(|\(VALUES)", d.sql)),
    ("the edition of the time zones", "the edition of the time zone database", lambda d: "Casablanca" in d.sql or "El_Aaiun" in d.sql),
]

# An error in a value that PostgreSQL was seen to raise as well, under other settings of its planner or behind ANALYZE.
BY_ANOTHER_PLAN = ("rows that another plan comes to", "which rows a condition is asked of in a join")


# What PostgreSQL 15 itself changed between minor versions: (the version, as server_version_num has it, that answers as Stoa does, a piece
# of the line of docs/postgresql.md that says so, whether a difference `d` from an older server is of that kind).
MINOR_VERSIONS = [
    (150020, "`right(text, -2147483648)`", lambda d: "right(" in d.sql and "-2147483648" in d.sql),
]


def explained(sql, ours, theirs, version):
    """The reason of a difference from a PostgreSQL of this version (server_version_num) that is decided; None for any other."""
    d = types.SimpleNamespace(sql=sql, ours=ours, theirs=theirs, failed=ours[0] != "00000", they_failed=theirs[0] != "00000")
    if older := next((line for since, line, holds in MINOR_VERSIONS if version < since and holds(d)), None):
        return f"{older} before a newer minor version"
    return next((reason for reason, _, holds in EXPLAINED if holds(d)), None)


def undocumented():
    """Reasons that docs/postgresql.md does not have."""
    document = " ".join(DOCUMENT.read_text(encoding="utf-8").split())
    return [reason for reason, line, *_ in [*EXPLAINED, *MINOR_VERSIONS, BY_ANOTHER_PLAN] if line not in document]
