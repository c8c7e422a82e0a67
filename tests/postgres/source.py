"""PostgreSQL's own tests, as the distribution's source package has them.

The package is fetched once with apt into the user's cache (`$XDG_CACHE_HOME/stoa/postgres-source/VERSION`), by lists and settings of
its own: what the system's apt knows is neither used nor changed. Of the package only `src/test/regress` and `src/test/isolation` are kept.
"""
import functools
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile

PACKAGE = "postgresql-15"
PARTS = ("src/test/regress/", "src/test/isolation/")
SOURCES = """Types: deb-src
URIs: http://deb.debian.org/debian-security
Suites: {release}-security
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb-src
URIs: http://deb.debian.org/debian
Suites: {release} {release}-updates
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
"""


def cache():
    return pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "stoa/postgres-source"


def _order(version):
    return [int(n) for n in re.findall(r"\d+", version)]


def _kept():
    return sorted((p for p in cache().glob("*") if (p / "complete").exists()), key=lambda p: _order(p.name))


def tests():
    """The folder that has `regress` and `isolation`; it is fetched if it is not there. Exits with a message where it cannot be had."""
    kept = _kept()
    if not kept:
        _fetch()
        kept = _kept()
    return kept[-1] / "src/test"


def _fetch():
    release = None
    if pathlib.Path("/etc/os-release").exists():
        release = dict(line.rstrip("\n").split("=", 1) for line in open("/etc/os-release", encoding="utf-8") if "=" in line).get("VERSION_CODENAME")
    if not release or subprocess.run(["sh", "-c", "command -v apt-get"], stdout=subprocess.DEVNULL).returncode:
        sys.exit("PostgreSQL's source package is fetched with Debian's apt, which is not here; "
                 f"unpack its src/test into {cache()}/15.0/ and make a file 'complete' there")
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        for folder in ("parts", "lists/partial", "cache/archives/partial", "package"):
            (work / folder).mkdir(parents=True)
        (work / "parts/source.sources").write_text(SOURCES.format(release=release))
        options = ["-q", "-o", "Dir::Etc::sourcelist=/dev/null", "-o", f"Dir::Etc::sourceparts={work}/parts", "-o", f"Dir::State::lists={work}/lists",
                   "-o", f"Dir::Cache={work}/cache", "-o", f"APT::Sandbox::User={os.environ.get('USER', 'root')}"]
        ask = functools.partial(subprocess.run, cwd=work / "package", stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        asked = ask(["apt-get", *options, "update"])
        known = ask(["apt-cache", *options, "showsrc", PACKAGE])
        versions = sorted(set(re.findall(r"^Version: (\S+)", known.stdout, re.M)), key=_order, reverse=True)
        # The newest is tried first; a mirror may no longer, or not yet, have its files.
        for version in versions:
            asked = ask(["apt-get", *options, "source", "--download-only", f"{PACKAGE}={version}"])
            archive = next(iter((work / "package").glob("*.orig.tar.*")), None)
            if asked.returncode == 0 and archive:
                return _unpack(archive, version)
        sys.exit(f"PostgreSQL's source package could not be fetched ({', '.join(versions) or 'no version is known'}):\n{asked.stdout[-2000:]}")


def _unpack(archive, version):
    folder = cache() / re.match(r"[\d.]+", version)[0]
    with tarfile.open(archive) as tar:
        for member in tar:
            inner = member.name.partition("/")[2]
            if member.isfile() and inner.startswith(PARTS):
                target = folder / inner
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(tar.extractfile(member).read())
    (folder / "complete").touch()


if __name__ == "__main__":
    print(tests())
