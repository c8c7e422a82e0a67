"""A reader of psql scripts: statements as psql parts them, its backslash commands, conditions and variables, and the data of COPY.

Variables are values of one side of a comparison: a statement is a template, and `render` writes it for a set of variables.
"""
import re

# What begins a statement or a command where the data of a COPY would stand: there is no data then.
_NO_DATA = re.compile(rb"\s*(copy|select|insert|create|drop|begin|commit|rollback|savepoint|alter|truncate|set|reset|delete|update|table|vacuum)\b|--|\\(?!N)[a-z]", re.I)
_VARIABLE = re.compile(r":(?:(\w+)|'(\w+)'|\"(\w+)\"|\{\?(\w+)\})")
_DOLLAR = re.compile(r"\$(?:[A-Za-z_\x80-\uffff][A-Za-z0-9_\x80-\uffff]*)?\$")
_WORD = re.compile(r"[A-Za-z_\x80-\uffff][\w$\x80-\uffff]*")


class Item:
    """A statement (`kind` is 'sql', and `end` what ended it: ';', 'g', 'gset', …) or a backslash command (`kind` is its name)."""

    def __init__(self, kind, parts, line, end=";", argument=""):
        self.kind, self.parts, self.line, self.end, self.argument, self.data = kind, parts, line, end, argument, None

    def render(self, variables):
        return "".join(part if isinstance(part, str) else substitute(part, variables) for part in self.parts)


def substitute(match, variables):
    plain, literal, identifier, asked = match
    name = plain or literal or identifier or asked
    if asked:
        return "TRUE" if name in variables else "FALSE"
    if name not in variables:
        return f":{plain}" if plain else f":'{literal}'" if literal else f':"{identifier}"'
    value = variables[name]
    if literal:
        return "'" + value.replace("'", "''") + "'"
    return '"' + value.replace('"', '""') + '"' if identifier else value


def arguments(text, variables):
    """The arguments of a backslash command: quotes removed, variables replaced."""
    out, current, i, started = [], "", 0, False
    while i < len(text):
        c = text[i]
        if c == "'":
            j = i + 1
            while j < len(text) and (text[j] != "'" or text[j:j + 2] == "''"):
                j += 2 if text[j:j + 2] == "''" or text[j] == "\\" else 1
            current += re.sub(r"\\(.)", r"\1", text[i + 1:j].replace("''", "'"))
            i, started = j + 1, True
        elif c.isspace():
            if started:
                out.append(current)
            current, started, i = "", False, i + 1
        elif c == ":" and (m := _VARIABLE.match(text, i)):
            current, started, i = current + substitute(m.groups(), variables), True, m.end()
        else:
            current, started, i = current + c, True, i + 1
    return out + [current] if started else out


class Script:
    """Reads a file item by item; what lies in a branch of \\if that is not taken is passed over."""

    def __init__(self, raw, truth):
        """`truth` tells whether the text of a condition is true."""
        self.bytes = raw
        self.text = raw.decode("utf-8", "surrogateescape")
        self.at, self.truth, self.branches, self.escapes = 0, truth, [], False

    def active(self):
        return all(taken for taken, _ in self.branches)

    def __iter__(self):
        while (item := self._next()) is not None:
            if item.kind in ("if", "elif", "else", "endif"):
                self._branch(item)
            elif self.active():
                if item.kind == "sql" and (m := re.match(r"\s*set\s+standard_conforming_strings\s*(?:=|to)\s*'?(\w+)", item.render({}), re.I)):
                    self.escapes = m[1].lower() in ("off", "false", "0", "no")
                yield item

    def _branch(self, item):
        if item.kind == "if":
            true = self.active() and self.truth(item.argument)
            self.branches.append((true, true or not self.active()))
        elif item.kind == "endif":
            self.branches.pop()
        elif self.branches:
            _, done = self.branches.pop()
            true = not done and self.active() and (item.kind == "else" or self.truth(item.argument))
            self.branches.append((true, done or true))

    def _next(self):
        text, parts, start, depth, atomic, words, line = self.text, [], self.at, 0, 0, [], 0
        i, piece = self.at, self.at

        def close(end):
            if end > piece:
                parts.append(text[piece:end])

        while i < len(text):
            c = text[i]
            if not words and not parts and piece == i and c.isspace():
                i = piece = i + 1
                continue
            if text.startswith("--", i):
                j = text.find("\n", i)
                j = len(text) if j < 0 else j
                if not words and not parts and piece == i:
                    piece = j
                i = j
                continue
            if text.startswith("/*", i):
                level, j = 1, i + 2
                while j < len(text) and level:
                    if text.startswith("/*", j):
                        level, j = level + 1, j + 2
                    elif text.startswith("*/", j):
                        level, j = level - 1, j + 2
                    else:
                        j += 1
                if not words and not parts and piece == i:
                    piece = j
                i = j
                continue
            line = line or text.count("\n", 0, i) + 1
            if c == "'":
                escapes = self.escapes or (i > 0 and text[i - 1] in "eE" and (i < 2 or not (text[i - 2].isalnum() or text[i - 2] == "_")))
                i += 1
                while i < len(text) and text[i] != "'":
                    i += 2 if escapes and text[i] == "\\" else 1
                i += 1
                words.append("'")
            elif c == '"':
                i = text.find('"', i + 1) + 1 or len(text)
                words.append('"')
            elif c == "$" and (m := _DOLLAR.match(text, i)) and not (i > 0 and (text[i - 1].isalnum() or text[i - 1] in "_$")):
                end = text.find(m[0], m.end())
                i = len(text) if end < 0 else end + len(m[0])
                words.append("$")
            elif c == ":" and text[i:i + 2] != "::" and text[i - 1:i] != ":" and (m := _VARIABLE.match(text, i)):
                close(i)
                parts.append(m.groups())
                i = piece = m.end()
            elif c in "([":
                depth, i = depth + 1, i + 1
                words.append(c)
            elif c in ")]":
                depth, i = max(0, depth - 1), i + 1
            elif c == ";" and depth == 0 and atomic == 0:
                close(i)
                self.at = i + 1
                if not words and not parts:
                    piece = i = i + 1
                    line = 0
                    continue
                return self._statement(parts, line, ";", "")
            elif c == "\\":
                if text[i + 1:i + 2] == ";":
                    close(i)
                    parts.append(";")
                    i = piece = i + 2
                    continue
                m = re.compile(r"\\([A-Za-z!?]\w*\+?|\\|!)?([^\n]*)").match(text, i)
                name, argument = m[1] or "", m[2]
                # A second command may follow on the line.
                if (further := re.search(r"\s\\(?=[a-z\\])", argument)) and name not in ("copy", "echo", "!"):
                    argument = argument[:further.start()]
                end = m.start(2) + len(argument)
                if not words and not parts:
                    self.at = end
                    return Item(name, [], line, argument=argument.strip())
                if name in ("g", "gx", "gset", "gexec", "gdesc", "crosstabview", "watch", "sf", "sv"):
                    close(i)
                    self.at = end
                    return self._statement(parts, line, name, argument.strip())
                if name == "r":
                    self.at = end
                    return self._next()
                close(i)
                i = piece = end
            elif m := _WORD.match(text, i):
                word = m[0].lower()
                words.append(word)
                if words[:1] == ["create"] and set(words[1:4]) & {"function", "procedure"} and depth == 0:
                    if word == "atomic" and words[-2:-1] == ["begin"]:
                        atomic = 1
                    elif atomic:
                        atomic += {"case": 1, "end": -1}.get(word, 0)
                i = m.end()
            else:
                words.append(c)
                i += 1
        self.at = len(text)
        close(i)
        return self._statement(parts, line, "", "") if words and "".join(p for p in parts if isinstance(p, str)).strip() else None

    def _statement(self, parts, line, end, argument):
        item = Item("sql", parts, line, end, argument)
        if re.match(r"\s*copy\b", item.render({}), re.I) and re.search(r"\bfrom\s+stdin\b", item.render({}), re.I):
            item.data = self.copy_data()
        return item

    def copy_data(self):
        """The lines up to `\\.`, if there are such: a COPY that is wrong has none."""
        newline = self.text.find("\n", self.at)
        if newline < 0:
            return None
        at, lines = newline + 1, []
        while at < len(self.text):
            end = self.text.find("\n", at)
            end = len(self.text) if end < 0 else end
            line = self.text[at:end].encode("utf-8", "surrogateescape")
            at = end + 1
            if line == b"\\.":
                self.at = at
                return b"".join(l + b"\n" for l in lines)
            if _NO_DATA.match(line):
                return None
            lines.append(line)
        return None
