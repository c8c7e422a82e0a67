"""Anomalies in recorded histories of transactions, after Adya (Weak Consistency, 1999) and Adya, Liskov, O'Neil (2000).

A history is a list of transactions; each has a status and operations in order:

    ("append", key, value)            the value was put at the end of the key's list
    ("r", key, [values])              the whole list was read
    ("w", key, value)                 a register was set to a value that nobody else writes
    ("rr", key, value or None)        a register was read

Values are written once a key, so a read tells which version it saw. Lists tell the order of versions; registers tell it only where a
transaction read a version before it wrote the next (which is what lost updates are found by).

Status: "ok" (acknowledged), "fail" (certainly rolled back), "info" (unknown: the connection was lost). An unknown transaction counts
as committed exactly if one of its writes was seen by one that is committed, or is there at the end.

Dependencies between committed transactions: ww (installs the next version), wr (reads what was installed), rw (anti-dependency: reads
a version that the other replaces). In histories with real time (`start`, `end` of acknowledged transactions, as clients saw them) rt:
ended before the other began. Anomalies:

    G0              a cycle of ww
    G1a, G1b, G1c   reads of aborted and of intermediate values; a cycle of ww and wr
    G-single        a cycle with exactly one rw (read skew, lost updates among them)
    G-nonadjacent   a cycle with several rw, no two of them next to each other: what snapshot isolation excludes (long fork)
    G2-item         any other cycle with rw (write skew)
    lost-update     two transactions that read one version of a key and both wrote the key
    incompatible    two reads of a list of which neither begins with the other: versions have no one order
    duplicate       a value twice in a list
    internal        a transaction does not see its own writes, or sees a key change in between (from REPEATABLE READ on)
    lost-write      an acknowledged write that nobody can see at the end
    torn            of a committed transaction some writes are there at the end and some are not
    …-realtime      the cycle needs an rt edge

`FORBIDDEN` says which of them a level excludes.
"""
import collections

READ_COMMITTED = {"G0", "G1a", "G1b", "G1c", "incompatible", "duplicate", "lost-write", "torn", "G0-realtime", "G1c-realtime"}
REPEATABLE_READ = READ_COMMITTED | {"G-single", "G-nonadjacent", "lost-update", "internal", "G-single-realtime"}
# Stoa and PostgreSQL promise serializability, not that of real time, of SERIALIZABLE; what snapshots give of it they give here too.
SERIALIZABLE = REPEATABLE_READ | {"G2-item"}
FORBIDDEN = {"read committed": READ_COMMITTED, "repeatable read": REPEATABLE_READ, "serializable": SERIALIZABLE}


class Txn:
    __slots__ = ("id", "status", "ops", "start", "end", "process")

    def __init__(self, id, status, ops, start=None, end=None, process=None):
        self.id, self.status, self.ops, self.start, self.end, self.process = id, status, ops, start, end, process


def check(history, final, limit=20, realtime=True):
    """{anomaly: [descriptions]}; `final`: {key: list or register value} read when all was over."""
    found = collections.defaultdict(list)

    def report(name, text):
        if len(found[name]) < limit:
            found[name].append(text)
        elif len(found[name]) == limit:
            found[name].append("…")

    writer, intermediate = {}, {}
    for t in history:
        last = {}
        for op in t.ops:
            if op[0] in ("append", "w"):
                writer[(op[1], op[2])] = t
                if op[0] == "w":
                    if op[1] in last:
                        intermediate[(op[1], last[op[1]])] = t
                    last[op[1]] = op[2]
    # Unknown transactions that left a trace are committed.
    seen = set()
    for key, value in final.items():
        for v in value if isinstance(value, list) else [value]:
            seen.add((key, v))
    committed = {t.id for t in history if t.status == "ok"}
    frontier = [t for t in history if t.status == "ok"]
    info = {t.id: t for t in history if t.status == "info"}
    for kv in seen:
        t = writer.get(kv)
        if t is not None and t.id in info and t.id not in committed:
            committed.add(t.id)
            frontier.append(t)
    while frontier:
        t = frontier.pop()
        for op in t.ops:
            values = op[2] if op[0] == "r" else [op[2]] if op[0] == "rr" and op[2] is not None else []
            for v in values:
                w = writer.get((op[1], v))
                if w is not None and w.id in info and w.id not in committed:
                    committed.add(w.id)
                    frontier.append(w)
    live = [t for t in history if t.id in committed]

    # Version orders of lists: the longest read, which all others must be beginnings of.
    order = {key: list(value) for key, value in final.items() if isinstance(value, list)}
    reads = collections.defaultdict(list)
    for t in live:
        own = collections.defaultdict(list)
        known = {}
        for op in t.ops:
            if op[0] == "append":
                own[op[1]].append(op[2])
            elif op[0] == "r":
                key, values = op[1], op[2]
                mine = own[key]
                if mine and values[-len(mine):] != mine:
                    report("internal", f"T{t.id} does not see its own writes of {key}: {values} after {mine}")
                outer = values[:len(values) - len(mine)] if mine and values[-len(mine):] == mine else values
                if key in known and known[key] != outer:
                    report("internal", f"T{t.id} saw {key} change from {known[key][-3:]} to {outer[-3:]}")
                known.setdefault(key, outer)
                reads[key].append((t, outer))
            elif op[0] == "w":
                own[op[1]] = [op[2]]
            elif op[0] == "rr":
                if own[op[1]]:
                    if op[2] != own[op[1]][-1]:
                        report("internal", f"T{t.id} does not see its own write of {op[1]}")
                elif op[1] in known and known[op[1]] != op[2]:
                    report("internal", f"T{t.id} saw {op[1]} change")
                else:
                    known[op[1]] = op[2]
    for key, list_ in reads.items():
        longest = order.setdefault(key, [])
        for t, values in list_:
            if len(values) > len(longest):
                longest, order[key] = values, values
        for t, values in list_:
            if longest[:len(values)] != values:
                report("incompatible", f"{key}: T{t.id} read {values[-5:]} where {longest[max(0, len(values) - 5):len(values)]} was")
    for key, values in order.items():
        if len(set(values)) != len(values):
            report("duplicate", f"{key}: {values[-10:]}")
    position = {key: {v: i for i, v in enumerate(values)} for key, values in order.items()}

    # Aborted and intermediate reads.
    for t in live:
        for op in t.ops:
            values = op[2] if op[0] == "r" else [op[2]] if op[0] == "rr" and op[2] is not None else []
            for v in values:
                w = writer.get((op[1], v))
                if w is None:
                    report("G1a", f"T{t.id} read {op[1]}={v}, which nobody wrote")
                elif w.status == "fail":
                    report("G1a", f"T{t.id} read {op[1]}={v} of T{w.id}, which was rolled back")
            if op[0] == "rr" and (op[1], op[2]) in intermediate and intermediate[(op[1], op[2])] is not t:
                report("G1b", f"T{t.id} read {op[1]}={op[2]}, which its writer overwrote")
            if op[0] == "r" and values:
                w = writer.get((op[1], values[-1]))
                if w is not None and w is not t:
                    mine = [o[2] for o in w.ops if o[0] == "append" and o[1] == op[1]]
                    if mine and values[-1] != mine[-1] and mine[-1] in position.get(op[1], {}):
                        report("G1b", f"T{t.id} read {op[1]} up to {values[-1]} of T{w.id}, which went on to {mine[-1]}")

    # Writes that are not there.
    for t in live:
        there, missing = [], []
        for op in t.ops:
            if op[0] == "append":
                (there if op[2] in position.get(op[1], {}) else missing).append((op[1], op[2]))
        if missing and t.status == "ok":
            report("lost-write", f"T{t.id}: {missing}")
        if missing and there:
            report("torn", f"T{t.id}: {there} are there, {missing} are not")

    # Dependencies.
    edges = collections.defaultdict(lambda: collections.defaultdict(set))

    def edge(a, b, kind, why):
        if a is not b and a.id in committed and b.id in committed:
            edges[a.id][b.id].add((kind, why))

    for key, values in order.items():
        for one, two in zip(values, values[1:]):
            a, b = writer.get((key, one)), writer.get((key, two))
            if a and b:
                edge(a, b, "ww", key)
    replaced = collections.defaultdict(list)
    for t in live:
        first, wrote = {}, set()
        for op in t.ops:
            if op[0] == "append":
                wrote.add(op[1])
            elif op[0] == "r":
                key, values = op[1], op[2]
                mine = sum(1 for o in t.ops if o[0] == "append" and o[1] == key and o[2] in values)
                outer = values[:len(values) - mine] if mine else values
                if outer and writer.get((key, outer[-1])):
                    edge(writer[(key, outer[-1])], t, "wr", key)
                whole = order.get(key, [])
                at = len(outer)
                while at < len(whole) and writer.get((key, whole[at])) is t:
                    at += 1
                if at < len(whole) and writer.get((key, whole[at])):
                    edge(t, writer[(key, whole[at])], "rw", key)
                if key not in first:
                    first[key] = tuple(outer)
            elif op[0] == "rr":
                key, value = op[1], op[2]
                if value is not None and (key, value) in writer and writer[(key, value)] is not t:
                    edge(writer[(key, value)], t, "wr", key)
                if key not in wrote and key not in first:
                    first[key] = value
            elif op[0] == "w":
                if op[1] not in wrote and op[1] in first:
                    replaced[(op[1], first[op[1]])].append((t, op[2]))
                wrote.add(op[1])
        for key in first:
            if isinstance(first[key], tuple) and any(o[0] == "append" and o[1] == key for o in t.ops):
                replaced[(key, first[key])].append((t, None))
    for (key, version), writers in replaced.items():
        # Lists cannot lose an append, but two may have been computed from one version all the same.
        distinct = {t.id for t, _ in writers}
        if len(distinct) > 1:
            report("lost-update", f"{key}: {sorted(distinct)} read {str(version)[-30:]} and wrote")
        for t, value in writers:
            if value is None:
                continue
            a = writer.get((key, version)) if version is not None else None
            if a:
                edge(a, t, "ww", key)
            for other in live:
                if other is not t and any(o[0] == "rr" and o[1] == key and o[2] == version for o in other.ops):
                    edge(other, t, "rw", key)

    kinds = {a: {b: {k for k, _ in why} for b, why in out.items()} for a, out in edges.items()}
    classify(kinds, report, "")
    if realtime:
        timed = [t for t in live if t.start is not None and t.end is not None and t.status == "ok"]
        add_realtime(kinds, timed)
        classify(kinds, report, "-realtime")
    return dict(found)


def add_realtime(kinds, timed):
    """rt edges, thinned: those that follow from others by way of a third are left out."""
    by_end = sorted(timed, key=lambda t: t.end)
    frontier = []
    ends = 0
    for t in sorted(timed, key=lambda t: t.start):
        while ends < len(by_end) and by_end[ends].end < t.start:
            done = by_end[ends]
            frontier = [f for f in frontier if not f.end < done.start] + [done]
            ends += 1
        for f in frontier:
            kinds.setdefault(f.id, {}).setdefault(t.id, set()).add("rt")


def components(graph):
    """Strongly connected components of more than one node (Tarjan, without recursion)."""
    index, low, on, stack, out, counter = {}, {}, set(), [], [], 0
    for root in list(graph):
        if root in index:
            continue
        work = [(root, iter(graph.get(root, ())))]
        index[root] = low[root] = counter
        counter += 1
        stack.append(root)
        on.add(root)
        while work:
            node, it = work[-1]
            for nxt in it:
                if nxt not in index:
                    index[nxt] = low[nxt] = counter
                    counter += 1
                    stack.append(nxt)
                    on.add(nxt)
                    work.append((nxt, iter(graph.get(nxt, ()))))
                    break
                if nxt in on:
                    low[node] = min(low[node], index[nxt])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    component = []
                    while True:
                        n = stack.pop()
                        on.discard(n)
                        component.append(n)
                        if n == node:
                            break
                    if len(component) > 1:
                        out.append(component)
    return out


def path(graph, start, goal, allowed):
    """A shortest path from start to goal along allowed kinds, as nodes; None if there is none."""
    previous, queue = {start: None}, collections.deque([start])
    while queue:
        node = queue.popleft()
        for nxt, kinds in graph.get(node, {}).items():
            if kinds & allowed and nxt not in previous:
                previous[nxt] = node
                if nxt == goal:
                    out = [nxt]
                    while previous[out[-1]] is not None:
                        out.append(previous[out[-1]])
                    return out[::-1]
                queue.append(nxt)
    return None


def show(graph, cycle):
    parts = []
    for a, b in zip(cycle, cycle[1:]):
        parts.append(f"T{a} -{'/'.join(sorted(graph[a][b]))}-> ")
    return "".join(parts) + f"T{cycle[-1]}"


def classify(graph, report, suffix):
    extra = {"rt"} if suffix else set()

    def sub(allowed):
        return {a: {b: k & allowed for b, k in out.items() if k & allowed} for a, out in graph.items()}

    def cycles(allowed, must, name):
        g = sub(allowed)
        for component in components(g):
            inside = set(component)
            for a in component:
                for b, kinds in g.get(a, {}).items():
                    if b in inside and kinds & must:
                        back = path({n: {m: k for m, k in g.get(n, {}).items() if m in inside} for n in component}, b, a, allowed)
                        if back:
                            cycle = [a] + back
                            if suffix and not any("rt" in graph[x][y] and not (graph[x][y] - {"rt"}) & allowed for x, y in zip(cycle, cycle[1:])):
                                continue
                            report(name + suffix, show(graph, cycle))
                            break
                else:
                    continue
                break

    cycles({"ww"} | extra, {"ww"}, "G0")
    cycles({"ww", "wr"} | extra, {"wr"}, "G1c")
    # Exactly one rw: an rw edge whose way back has none.
    base = {"ww", "wr"} | extra
    plain = sub(base)
    whole = sub(base | {"rw"})
    for component in components(whole):
        inside = set(component)
        singles, others = 0, None
        limited = {n: {m: k for m, k in plain.get(n, {}).items() if m in inside} for n in component}
        for a in component:
            if singles > 20:
                break
            for b, kinds in whole.get(a, {}).items():
                if b not in inside or "rw" not in kinds:
                    continue
                back = path(limited, b, a, base)
                if back:
                    cycle = [a] + back
                    only_rt = any(not graph[x][y] - {"rt"} for x, y in zip(cycle, cycle[1:]))
                    if not suffix or only_rt:
                        report("G-single" + suffix, show(graph, cycle))
                        singles += 1
                else:
                    others = others or (a, b)
        if suffix:
            continue
        # Cycles of several rw: such that between any two of them there is another edge, or else G2-item.
        found = nonadjacent(whole, inside)
        if found:
            report("G-nonadjacent", show(graph, found))
        if others:
            a, b = others
            back = path({n: {m: k for m, k in whole.get(n, {}).items() if m in inside} for n in component}, b, a, base | {"rw"})
            if back:
                cycle = [a] + back
                adjacent = any("rw" in graph[x][y] and not graph[x][y] & base and "rw" in graph[y][z] and not graph[y][z] & base
                               for x, y, z in zip(cycle, cycle[1:], cycle[2:] + cycle[1:2]))
                if adjacent:
                    report("G2-item", show(graph, cycle))


def nonadjacent(graph, inside):
    """A cycle with at least two rw edges of which no two are neighbours: a walk over (node, whether the last edge was rw)."""
    base = {"ww", "wr"}
    for start in sorted(inside)[:200]:
        for first, kinds in graph.get(start, {}).items():
            if first not in inside or "rw" not in kinds:
                continue
            # From (first, after rw) back to start by an edge that is not rw, with one more rw on the way.
            goal = start
            previous, queue = {(first, True, 1): None}, collections.deque([(first, True, 1)])
            while queue:
                state = queue.popleft()
                node, after_rw, count = state
                for nxt, k in graph.get(node, {}).items():
                    if nxt not in inside:
                        continue
                    for is_rw in (False, True):
                        if is_rw and ("rw" not in k or after_rw):
                            continue
                        if not is_rw and not k & base:
                            continue
                        new = (nxt, is_rw, min(2, count + is_rw))
                        if nxt == goal and not is_rw and new[2] == 2:
                            out = [nxt, node]
                            s = state
                            while previous[s] is not None:
                                s = previous[s]
                                out.append(s[0])
                            out.append(start)
                            nodes = out[::-1]
                            if len(set(nodes[:-1])) == len(nodes) - 1:
                                return nodes
                        elif new not in previous and nxt != goal:
                            previous[new] = state
                            queue.append(new)
    return None
