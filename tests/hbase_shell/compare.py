#!/usr/bin/env python3
"""HBase's own shell beside `stoa shell`: the same commands, and the same data lines.

    compare.py BINARY [--seed N] [--commands N] [--only versions|scans|tables|snapshots|errors|regions|random] [--store hbase://…]
    compare.py --jars    fetches HBase's shell, and no more

HBase's shell works on the cluster that crates/hbase-client/tests/cluster/cluster has started, in its environment; `stoa shell` on an
embedded store, or on the store given. The commands are the scripts of crates/server/tests/shell, and random ones: families with versions,
puts and deletions with times, gets and scans with columns, versions, times, filters and limits. Compared is what each command prints
behind its header, up to the number of rows, of lists and descriptions every line; and that both refuse, or neither. Needs java and mvn.
"""
import argparse, os, pathlib, random, re, shutil, subprocess, sys, tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CLUSTER = ROOT / "crates/hbase-client/tests/cluster/cluster"
SCRIPTS = ROOT / "crates/server/tests/shell"
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "stoa-hbase-shell"
MARK = "-- command %d"
# Refused here, see docs/shell.md: HBase is not asked either.
REFUSED = [
    "create_namespace 'stoa_snapshots'", "snapshot 't', 's', {TTL => 86400}", "snapshot 't', 's', {MAX_FILESIZE => 1000}", f"snapshot 't', '{'a' * 64}'",
    "create 'u', {NAME => 'f', COMPRESSION => 'GZ'}", "create 'u', {NAME => 'f', MOB_THRESHOLD => 102400}", "create 'u', {NAME => 'f', CONFIGURATION => {'a' => 'b'}}",
    "alter 't', MAX_FILESIZE => '134217728'", "alter 't', METHOD => 'table_att', READONLY => 'true'", "alter 't', CONFIGURATION => {'a' => 'b'}", "alter 't', VERSIONS => 2",
    "alter_namespace 'default', {METHOD => 'set', 'a' => 'b'}", "status 'detailed'", "status 'wrong'", "snapshot_cleanup_switch true", "snapshot_cleanup_enabled",
    # HBase's shell is Ruby.
    "(1..10).each", 'puts "#{1}"', "get 't', \"unfinished",
]
# What a flush has left of what is deleted; a server's name; what HBase's shell has of Ruby objects.
DEPENDS = ["scan 'copy', {RAW => true, VERSIONS => 10}", "list_regions 't', 'st'", "t.list_regions"]
# What HBase's shell is given instead. By a prefix it deletes no row whose key is not text: it turns keys to text and back.
REPLACED = {
    "deleteall 't', {ROWPREFIXFILTER => 'b'}": "deleteall 't', 'b1'; deleteall 't', \"b\\x002\"",
    # It asks the terminal, which is none here; what it would have done is done.
    "disable_all 'h.*|refs'\nn": "nil",
    "disable_all 'h.*|refs'\ny": "disable 'hex'; disable 'refs'",
    "drop_all 'h.*|refs'\ny": "drop 'hex'",
    "enable_all 'r.*'; list\nyes": "enable 'refs'",
    "drop_all 'r.*'\nY": "drop 'refs'",
    "delete_table_snapshots 't'\nno": "nil",
    "delete_table_snapshots 't'\ny": "delete_snapshot 'second'",
    "delete_all_snapshot 'third.*'\ny": "delete_snapshot 'third-1.0'",
    # Of a snapshot without a flush HBase leaves out what is in memory.
    "snapshot 't', 'second', {SKIP_FLUSH => true}": "snapshot 't', 'second'",
    # A split goes on by itself.
    "split 't', 'p'": "split 't', 'p'; 60.times { break if get_splits('t').size == 3; sleep 1 }",
    # It reads no units of block sizes, which its descriptions print.
    "create 't', {NAME => 'f', TTL => '2 DAYS 3 HOURS', BLOCKSIZE => '64 KB'}, SPLITS => ['g', \"m\\x00\"]": "create 't', {NAME => 'f', TTL => '2 DAYS 3 HOURS', BLOCKSIZE => '65536'}, SPLITS => ['g', \"m\\x00\"]",
    "alter 't', {NAME => 'f', TTL => '30 DAYS'}, {NAME => 'g', VERSIONS => 3, TTL => '1 HOUR', BLOCKSIZE => '131072 B (128KB)'}, {NAME => 'h'}": "alter 't', {NAME => 'f', TTL => '30 DAYS'}, {NAME => 'g', VERSIONS => 3, TTL => '1 HOUR', BLOCKSIZE => '131072'}, {NAME => 'h'}",
    "delete_all_snapshot '.*'\ny": "list_snapshots.each { |s| delete_snapshot s }",
}


def jars():
    """Fetches HBase's shell and the Ruby that it runs on; whether they are there."""
    if not (CACHE / "complete").exists():
        shutil.rmtree(CACHE, ignore_errors=True)
        CACHE.mkdir(parents=True)
        fetched = subprocess.run(["mvn", "-q", "-B", "-f", HERE / "pom.xml", "dependency:copy-dependencies", f"-DoutputDirectory={CACHE}"])
        if fetched.returncode:
            return False
        shutil.unpack_archive(next(CACHE.glob("hbase-shell-*.jar")), CACHE / "shell", "zip")
        # The classes of this command are not in 2.5.
        loader = CACHE / "shell" / "shell.rb"
        loader.write_text(re.sub(r"^ *trace\n", "", loader.read_text(), flags=re.M))
        (CACHE / "complete").touch()
    return True


def shell_of_hbase():
    """The command line of HBase's shell on the cluster."""
    assert jars(), "no jars of HBase's shell"
    unpacked = CACHE / "shell"
    classes = subprocess.run([CLUSTER, "classpath"], check=True, capture_output=True, text=True).stdout.strip()
    opens = ["java.lang", "java.lang.reflect", "java.io", "sun.nio.ch", "java.nio", "java.util", "java.util.concurrent", "jdk.internal.ref", "sun.security.action"]
    jruby = next(CACHE.glob("jruby-complete-*.jar"))
    return ["java", *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in opens), "-Xss4m", "-cp", f"{unpacked}:{jruby}:{classes}",
            "org.jruby.Main", "-X+O", "uri:classloader:/jar-bootstrap.rb"]


def run(command, text):
    done = subprocess.run(command, input=text, capture_output=True, text=True, errors="replace", env={**os.environ, "TZ": "UTC"}, timeout=900)
    return done.stdout + done.stderr


def pieces(text, count):
    """What each of the commands printed, by the marks between them."""
    parts = re.split(r"^.*-- command (\d+)$", text, flags=re.M)
    found = {int(number): body for number, body in zip(parts[1::2], parts[2::2])}
    return [found.get(n, "") for n in range(count)]


def data(text):
    """The lines between a header and the number of rows, and whether there was an error."""
    out, inside = [], False
    for line in text.splitlines():
        line = re.sub(r"^hbase\S*:\d+:\d+[>*'\"] ", "", line.rstrip())
        if line.startswith(("ROW  ", "ROW ", "COLUMN  ", "COLUMN ")) and line.endswith("CELL"):
            inside = True
        elif m := re.match(r"(\d+) row\(s\)", line):
            inside = False
            out.append(m.group(0))
        elif m := re.match(r"COUNTER VALUE = .*|CURRENT VALUE = .*|No counter found.*", line):
            out.append(m.group(0))
        elif inside and line.strip() and not line.startswith("ERROR"):
            line = re.sub(r"timestamp=20[0-9T:.-]+", "timestamp=NOW", line)
            out.append(re.sub(r"\s+", " ", line.strip()))
        if re.match(r"ERROR: |NoMethodError|NameError|SyntaxError", line):
            inside = False
            out = ["ERROR"]
    return out


# Commands of which every line is data, but those that say how the work went on.
LISTS = re.compile(r"(describe|desc|list\w*|get_splits|exists|is_\w+|show_filters|\w+_all|locate_region|alter_status)\b")
PROGRESS = re.compile(r"Took |puts '--|exists 'mark|=> |Created table|Updating all regions|\d+/\d+ regions updated|Done\.|Quota is disabled|Enter |hbase:\d+|$")


def said(command, text):
    """What a command says, where it does not read rows."""
    if not LISTS.match(command):
        return data(text)
    out = []
    for line in text.splitlines():
        line = re.sub(r"^hbase\S*:\d+:\d+[>*'\"] ", "", line.strip())
        if re.match(r"ERROR: |NoMethodError|NameError|SyntaxError", line):
            return ["ERROR"]
        # The namespace of HBase's own tables; what every table of a later version has.
        if line == "hbase" and command == "list_namespace":
            continue
        line = line.replace(", {TABLE_ATTRIBUTES => {METADATA => {'hbase.store.file-tracker.impl' => 'DEFAULT'}}}", "")
        if line != command and not PROGRESS.match(line) and not (command == "list_namespace" and "row(s)" in line):
            out.append(re.sub(r"\s+", " ", re.sub(r"\(20\d\d-[^)]*\)", "(TIME)", line)))
    # Of regions their keys: names and servers are a store's own.
    if command.startswith("locate_region"):
        return re.findall("STARTKEY.*ENDKEY.*", "\n".join(out))
    if command.startswith("list_regions"):
        return [[part.strip() for part in line.split("|")[2:4]] for line in out if re.match(r"\S+ \| t,", line)] + out[-1:]
    return sorted(out) if command == "show_filters" else out


# What a command asks is answered with it.
ANSWER = re.compile(r"\n(y|yes|n|no)$", re.I)


def script(name):
    """The commands of a script, each with what it goes on with."""
    out = []
    for line in (SCRIPTS / f"{name}.hbase").read_text().splitlines():
        if ANSWER.match(f"\n{line}") or out and re.search(r",( *#.*)?$", out[-1]):
            out[-1] += f"\n{line}"
        elif line and not line.startswith("#"):
            out.append(line)
    return out


def both(binary, store, commands):
    """What the two shells print for each of the commands, on an empty database."""
    marked = lambda lines, put: "".join(f"{put(n)}\n{line}\n" for n, line in enumerate(lines))
    empty = "list_snapshots.each { |s| delete_snapshot s }\nlist.each { |t| (disable t if is_enabled t); drop t }\n@shell.hbase.admin.list_namespace('.*').each { |n| drop_namespace n unless ['default', 'hbase'].include?(n) } rescue nil\n"
    # HBase compacts when it likes: it is waited for.
    there = ["nil" if line in REFUSED else REPLACED.get(line) or re.sub(r"^(major_compact (.*))$", r"flush \2; \1; sleep 3; 60.times { break if @shell.hbase.admin.getCompactionState(\2) == 'NONE'; sleep 1 }", line) for line in commands]
    theirs = run(shell_of_hbase(), empty + marked(there, lambda n: f"puts '{MARK % n}'") + "exit\n")
    with tempfile.TemporaryDirectory() as directory:
        # A command between the others prints its mark.
        text = "disable_all '.*'\ny\ndrop_all '.*'\ny\n" + marked(commands, lambda n: f"exists 'mark.{n}'")
        ours = run([binary, "shell", "--data", directory, *(("--store", store) if store else ())], text)
    ours = re.sub(r"^Table mark\.(\d+) does not exist\nTook .*$", lambda m: MARK % int(m.group(1)), ours, flags=re.M)
    return pieces(theirs, len(commands)), pieces(ours, len(commands))


def compared(name, binary, store, commands, refused=False):
    """The number of commands that differ. Where `refused`, HBase may refuse one that is answered here: a filter on one of several families in a
    scan backwards, for one."""
    theirs, ours = both(binary, store, commands)
    lines = different = alone = 0
    for command, their, our in zip(commands, theirs, ours):
        if ANSWER.search(command) or command in REFUSED + DEPENDS:
            continue
        their, our = said(command, their), said(command, our)
        lines += len(their)
        if refused and their == ["ERROR"] != our:
            alone += 1
        elif their != our:
            different += 1
            if different <= 20:
                print(f"{name}: {command}\n  HBase: {their}\n  Stoa:  {our}")
    print(f"{name}: {len(commands)} commands, {lines} data lines, {alone} refused by HBase alone, {different} differ", flush=True)
    return different


KEYS = ["a", "a1", "a2", "ab", "b", "b1", "c\\x01", "\\xFFz"]
QUALIFIERS = ["", "q", "q1", "q2", "p", "\\x00n"]
VALUES = ["1", "2", "10", "abc", "ABC", "", "two words", "\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x05"]


class Commands:
    """Random commands on one table, by a seed."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.families = []
        self.compacted = False

    def one_of(self, *choices):
        return self.random.choice(choices)

    def chance(self, share):
        return self.random.random() < share

    def key(self):
        return f'"{self.random.choice(KEYS)}"'

    def column(self):
        return f'"{self.random.choice(self.families)}:{self.random.choice(QUALIFIERS)}"'

    def time(self):
        return self.random.randrange(1, 40)

    def create(self):
        self.families = self.random.sample(["f", "g", "h"], self.random.randrange(1, 4))
        options = [f"{{NAME => '{f}', VERSIONS => {self.random.choice([1, 1, 2, 3, 5])}}}" for f in self.families]
        if self.chance(0.2):
            # All of the times that are written have expired by now; so many versions stay.
            options[0] = options[0].replace("}", ", TTL => 1000000, MIN_VERSIONS => 1}").replace("VERSIONS => 1,", "VERSIONS => 2,")
        return f"create 't', {', '.join(options)}"

    def write(self):
        kind = self.random.random()
        if kind < 0.7:
            return f'put \'t\', {self.key()}, {self.column()}, "{self.random.choice(VALUES)}", {self.time()}'
        if kind < 0.82:
            return f"delete 't', {self.key()}, {self.column()}, {self.time()}"
        if kind < 0.9:
            return f"deleteall 't', {self.key()}, {self.column()}, {self.time()}"
        if kind < 0.93:
            return f"deleteall 't', {self.key()}"
        if kind < 0.97:
            return f"incr 't', {self.key()}, \"{self.random.choice(self.families)}:count\", {self.random.randrange(-3, 9)}"
        return f"append 't', {self.key()}, \"{self.random.choice(self.families)}:log\", 'x{self.time()}'"

    def comparator(self):
        value = self.one_of("1", "10", "abc", "A", "q", "q1", "a", "")
        return self.one_of(f"'binary:{value}'", f"'binaryprefix:{value}'", "'regexstring:^[a-q]'", "'substring:b'", f"'binary:{value}'")

    def operator(self):
        return self.one_of("=", "!=", "<", "<=", ">", ">=")

    def comparison(self):
        comparator = self.comparator()
        only_equal = comparator.startswith(("'regexstring", "'substring"))
        return f"{self.one_of('=', '!=') if only_equal else self.operator()}, {comparator}"

    def filter(self, depth=0):
        simple = [
            lambda: f"PrefixFilter('{self.one_of('a', 'b', 'ab')}')",
            lambda: f"ValueFilter({self.comparison()})",
            lambda: f"RowFilter({self.comparison()})",
            lambda: f"QualifierFilter({self.comparison()})",
            lambda: f"FamilyFilter({self.one_of('=', '!=', '<', '>=')}, 'binary:{self.one_of('f', 'g')}')",
            lambda: f"ColumnPrefixFilter('{self.one_of('q', 'p', 'q1')}')",
            lambda: "MultipleColumnPrefixFilter('p', 'q1')",
            lambda: f"ColumnRangeFilter('p', {self.one_of('true', 'false')}, 'q1', {self.one_of('true', 'false')})",
            lambda: f"TimestampsFilter({self.time()}, {self.time()}, {self.time()})",
            lambda: "KeyOnlyFilter()",
            lambda: "FirstKeyOnlyFilter()",
            lambda: f"ColumnCountGetFilter({self.random.randrange(1, 4)})",
            lambda: f"ColumnPaginationFilter({self.random.randrange(1, 3)}, {self.random.randrange(0, 3)})",
            lambda: f"InclusiveStopFilter('{self.one_of('a1', 'b')}')",
            lambda: f"SingleColumnValueFilter('{self.random.choice(self.families)}', 'q', {self.operator()}, 'binary:1', {self.one_of('true', 'false')}, {self.one_of('true', 'false')})",
            lambda: f"ColumnValueFilter('{self.random.choice(self.families)}', 'q', {self.comparison()})",
            lambda: f"DependentColumnFilter('{self.random.choice(self.families)}', 'q'{self.one_of('', ', true', ', false, >, ' + chr(39) + 'binary:1' + chr(39))})",
            lambda: f"SingleColumnValueExcludeFilter('{self.random.choice(self.families)}', 'q', =, 'binary:1')",
        ]
        if depth < 2 and self.chance(0.3):
            joined = self.one_of(" AND ", " OR ")
            return f"({self.filter(depth + 1)}{joined}{self.filter(depth + 1)})"
        # HBase does not read SKIP and WHILE within parentheses.
        if depth == 0 and self.chance(0.1):
            # Filters of one column make it look at their family first, and at the others when the row is through.
            return f"{self.one_of('SKIP', 'WHILE')} {self.random.choice(simple[:-4])()}"
        return self.random.choice(simple)()

    def options(self, of_scan):
        out = []
        if self.chance(0.35):
            columns = [self.one_of(self.column(), f"'{self.random.choice(self.families)}'") for _ in range(self.random.randrange(1, 3))]
            out.append(f"COLUMNS => [{', '.join(columns)}]" if of_scan or len(columns) > 1 else f"COLUMN => {columns[0]}")
            out[-1] = out[-1] if of_scan else out[-1].replace("COLUMNS", "COLUMN")
        if self.chance(0.4):
            out.append(f"VERSIONS => {self.random.randrange(1, 5)}")
        if self.chance(0.15):
            out.append(f"TIMESTAMP => {self.time()}")
        elif self.chance(0.2):
            low = self.time()
            out.append(f"TIMERANGE => [{low}, {low + self.random.randrange(1, 20)}]")
        # HBase's shell refuses versions of all columns at all times.
        if not of_scan and not any(o.startswith(("COLUMN", "TIME")) for o in out):
            out = []
        if self.chance(0.45):
            out.append(f'FILTER => "{self.filter()}"')
        return out

    def read(self):
        kind = self.random.random()
        if kind < 0.35:
            options = self.options(False)
            return f"get 't', {self.key()}" + (f", {{{', '.join(options)}}}" if options else "")
        if kind < 0.4:
            return f"get_counter 't', {self.key()}, \"{self.random.choice(self.families)}:count\""
        if kind < 0.45:
            return "count 't'" + (f', FILTER => "{self.filter()}"' if self.chance(0.4) else "")
        options, reversed_ = self.options(True), self.chance(0.2)
        if self.chance(0.3):
            options.append(f"STARTROW => {self.key()}")
        if self.chance(0.2):
            options.append(f"STOPROW => {self.key()}")
        elif not reversed_ and self.chance(0.1):
            options.append("ROWPREFIXFILTER => 'a'")
        if reversed_:
            options.append("REVERSED => true")
        if self.chance(0.2):
            options.append(f"LIMIT => {self.random.randrange(1, 4)}")
        # A compaction leaves deletions there that a scan from before might miss, such as one that has failed and was not closed.
        if self.chance(0.1) and not self.compacted:
            options = [o for o in options if not o.startswith("COLUMN")] + ["RAW => true"]
            options = options if any(o.startswith("VERSIONS") for o in options) else [*options, "VERSIONS => 10"]
        return "scan 't'" + (f", {{{', '.join(options)}}}" if options else "")

    def some(self, count):
        out = [self.create()]
        while len(out) < count:
            out += [self.write() for _ in range(self.random.randrange(1, 8))]
            if self.chance(0.03) and len(out) > count / 2:
                self.compacted = True
                out.append("major_compact 't'")
            out += [self.read() for _ in range(self.random.randrange(1, 12))]
        return out[:count]


def main():
    options = argparse.ArgumentParser()
    options.add_argument("binary", nargs="?")
    options.add_argument("--jars", action="store_true")
    options.add_argument("--store")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--commands", type=int, default=2000)
    options.add_argument("--only")
    args = options.parse_args()
    if args.jars:
        return 0 if jars() else 1
    if not args.binary:
        options.error("no binary")
    different = 0
    for name in ("versions", "scans", "tables", "snapshots", "errors", "regions"):
        if args.only in (None, name):
            different += compared(name, args.binary, args.store, script(name))
    if args.only in (None, "random"):
        for seed in range(args.seed, args.seed + -(-args.commands // 500)):
            different += compared(f"seed {seed}", args.binary, args.store, Commands(seed).some(500), refused=True)
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
