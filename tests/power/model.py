"""What a power loss may leave of a directory, from the journal of what was done below it (shim.c).

A disk promises little. Here it keeps
- what a file held when a sync of it began that has ended since: bytes and length;
- the names that a directory had when a sync of it began that has ended since. A sync of a file does not keep its name.

Of all else it keeps what it likes. Bytes that were written since go or stay by sectors of 512 bytes or pages of 4 KiB, each as it was
after any of the writes to it; the length is any that the file had since; what was never written between is zeros. A name that was made,
moved or removed since goes or stays, but for one name the changes stay in their order, and one move is one change. In one case the order of
two names counts as well: RocksDB moves CURRENT into its place without a sync of the directory since it made the manifest that CURRENT
names. It relies on file systems that keep changes of names in the order in which they were made, as those with a journal do.
"""
import os, pathlib, struct

KNOWN_FILE, KNOWN_DIRECTORY, CREATE, MAKE_DIRECTORY, LINK, UNLINK, RENAME, EXCHANGE, WRITE, RESIZE, SYNC_BEGIN, SYNC_END, SYNC_ALL = range(1, 14)
HEAD = struct.Struct("<BBHHHQQQQ")


class File:
    def __init__(self, data=b"", path=None):
        self.path, self.data = path, data      # what is kept; read when it is needed
        self.pending = []                      # ("w", offset, bytes) or ("r", length), since

    def kept(self):
        if self.path is not None:
            self.data, self.path = self.path.read_bytes(), None
        return self.data

    def sync(self, upto):
        if upto:
            data = bytearray(self.kept())
            for change in self.pending[:upto]:
                apply(data, change)
            self.data = bytes(data)
            del self.pending[:upto]


def apply(data, change):
    if change[0] == "r":
        if change[1] <= len(data):
            del data[change[1]:]
        else:
            data.extend(bytes(change[1] - len(data)))
    else:
        _, offset, new = change
        if offset > len(data):
            data.extend(bytes(offset - len(data)))
        data[offset:offset + len(new)] = new


class Directory:
    def __init__(self):
        self.names = {}                        # what is kept: name → inode
        self.pending = []                      # [(name, inode or None), …] of one change, since

    def now(self):
        names = dict(self.names)
        for change in self.pending:
            settle(names, change.names_in(self))
        return names


class Change:
    """Of names, in one directory or two."""

    def __init__(self, *names):
        self.names, self.done = names, False   # (directory, name, inode or None)

    def names_in(self, directory):
        return [(name, inode) for d, name, inode in self.names if d is directory]


def settle(names, changes):
    for name, inode in changes:
        if inode is None:
            names.pop(name, None)
        else:
            names[name] = inode


class Disk:
    """The directory as the journal tells it. `forgets(name)`: whether a sync of a file of this name is a lie."""

    def __init__(self, base, journal, forgets=lambda name: False):
        self.nodes, self.root, self.operations = {}, None, 0
        self.called = {}                       # inode → a name that it had, for messages and lies
        begun, paths = {}, {}
        data = memoryview(pathlib.Path(journal).read_bytes())
        at = 0
        while at + HEAD.size <= len(data):
            kind, _, la, lb, _, file, second, offset, length = HEAD.unpack_from(data, at)
            at += HEAD.size
            if at + la + lb + length > len(data):
                break
            a, b = bytes(data[at:at + la]).decode(), bytes(data[at + la:at + la + lb]).decode()
            at += la + lb
            payload = bytes(data[at:at + length]) if kind == WRITE else None
            at += length
            if kind in (KNOWN_FILE, KNOWN_DIRECTORY):
                path = pathlib.Path(base) if self.root is None else paths[file] / a
                node = Directory() if kind == KNOWN_DIRECTORY else File(path=path)
                self.nodes[second] = node
                paths[second] = path
                if self.root is None:
                    self.root = node
                else:
                    self.nodes[file].names[a] = second
                    self.called[second] = a
                continue
            self.operations += 1
            node = self.nodes.get(file)
            if kind in (CREATE, MAKE_DIRECTORY, LINK):
                if kind != LINK:
                    self.nodes[second] = File() if kind == CREATE else Directory()
                self.called[second] = a
                self.change((node, a, second))
            elif kind == UNLINK:
                self.change((node, a, None))
            elif kind == RENAME:
                to = self.nodes[second]
                inode = node.now()[a]
                self.called[inode] = b
                self.change((node, a, None), (to, b, inode))
            elif kind == EXCHANGE:
                to = self.nodes[second]
                self.change((node, a, to.now()[b]), (to, b, node.now()[a]))
            elif kind == WRITE:
                node.pending.append(("w", offset, payload))
            elif kind == RESIZE:
                node.pending.append(("r", offset))
            elif kind == SYNC_BEGIN:
                begun[file, second] = list(node.pending)
            elif kind == SYNC_END:
                before = begun.pop((file, second))
                if isinstance(node, Directory):
                    for change in before:
                        self.keep(change)
                elif not forgets(self.called.get(file, "")):
                    # Another sync of the same file may have ended meanwhile.
                    waiting = {id(change) for change in node.pending}
                    node.sync(sum(id(change) in waiting for change in before))
            elif kind == SYNC_ALL:
                for node in self.nodes.values():
                    if isinstance(node, Directory):
                        for change in list(node.pending):
                            self.keep(change)
                    else:
                        node.sync(len(node.pending))

    def change(self, *names):
        change = Change(*names)
        for directory in {id(d): d for d, _, _ in names}.values():
            directory.pending.append(change)

    @staticmethod
    def keep(change):
        """One move is kept in both directories as soon as it is in one."""
        if change.done:
            return
        change.done = True
        for directory in {id(d): d for d, _, _ in change.names}.values():
            # Earlier changes of the same names went before.
            touched = {name for name, _ in change.names_in(directory)}
            for earlier in list(directory.pending):
                if earlier is change:
                    break
                if touched & {name for name, _ in earlier.names_in(directory)}:
                    Disk.keep(earlier)
            settle(directory.names, change.names_in(directory))
            directory.pending.remove(change)

    def lose(self, rng, target):
        """Writes one of the possible states into a directory that does not exist; returns what was at stake: bytes, names."""
        mode = rng.choice(["none", "all", "names", "bytes", "any", "any", "any", "any"])
        bytes_, names = 0, 0
        keeps_names = {"none": 0.0, "all": 1.0, "names": 1.0}.get(mode, rng.choice([0.1, 0.5, 0.9]))
        for directory in [n for n in self.nodes.values() if isinstance(n, Directory)]:
            lost = set()
            prefix = rng.random() < 0.3        # of a journal: what comes later goes
            for change in list(directory.pending):
                if change.done:
                    continue
                names += 1
                touched = {(id(d), name) for d, name, _ in change.names}
                manifest_lost = "CURRENT" in {name for _, name, _ in change.names} and any(
                    d == id(directory) and name.startswith("MANIFEST-") for d, name in lost)
                if manifest_lost or touched & lost or (prefix and lost) or rng.random() >= keeps_names:
                    lost |= touched
                else:
                    self.keep(change)
        written = {}

        def write(node, path):
            nonlocal bytes_
            path.mkdir()
            for name, inode in node.names.items():
                below = self.nodes[inode]
                if isinstance(below, Directory):
                    write(below, path / name)
                elif inode in written:
                    os.link(written[inode], path / name)
                else:
                    bytes_ += sum(len(c[2]) for c in below.pending if c[0] == "w")
                    (path / name).write_bytes(survivor(below, rng, {"none": "none", "all": "all", "bytes": "all", "names": "none"}.get(mode)))
                    written[inode] = path / name

        write(self.root, pathlib.Path(target))
        return bytes_, names


def survivor(file, rng, mode):
    """What is left of a file's bytes."""
    kept = file.kept()
    if not file.pending:
        return kept
    mode = mode or rng.choice(["none", "all", "prefix", "sectors", "sectors", "sectors"])
    if mode == "none":
        return kept
    if mode in ("all", "prefix"):
        data = bytearray(kept)
        for change in file.pending[:rng.randint(0, len(file.pending)) if mode == "prefix" else None]:
            apply(data, change)
        return bytes(data)
    # The length after each change, and the longest extent.
    lengths, length = [len(kept)], len(kept)
    for change in file.pending:
        length = change[1] if change[0] == "r" else max(length, change[1] + len(change[2]))
        lengths.append(length)
    unit = rng.choice([512, 4096])
    likely = rng.choice([0.1, 0.5, 0.9])
    data = bytearray(kept)
    data.extend(bytes(max(lengths) - len(data)))
    upto = {}                                  # sector → how many changes it has seen
    for number, change in enumerate(file.pending):
        if change[0] == "r":
            continue
        _, offset, new = change
        end = offset + len(new)
        for sector in range(offset // unit, (end - 1) // unit + 1):
            if sector not in upto:
                upto[sector] = len(file.pending) if rng.random() < likely else rng.choice([0, 0, rng.randint(0, len(file.pending))])
            if number < upto[sector]:
                low, high = max(offset, sector * unit), min(end, (sector + 1) * unit)
                data[low:high] = new[low - offset:high - offset]
    length = rng.choice([lengths[-1], lengths[-1], rng.choice(lengths)])
    return bytes(data[:length])
