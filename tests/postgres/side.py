"""One side of a comparison with PostgreSQL's own tests: a connection that runs a statement as psql does, with a limit of time."""
import collections
import re
import select
import time

import psycopg
from psycopg import pq

F = pq.DiagnosticField
Answer = collections.namedtuple("Answer", "code header rows tag message")
OK = (pq.ExecStatus.COMMAND_OK, pq.ExecStatus.TUPLES_OK, pq.ExecStatus.EMPTY_QUERY, pq.ExecStatus.SINGLE_TUPLE)
# OIDs from here on are given by a server and differ between servers.
FIRST_NORMAL_OID = 16384


def text(value):
    return None if value is None else value.decode(errors="replace")


class Side:
    def __init__(self, dsn, start=()):
        self.dsn, self.start, self.variables = dsn, start, {}
        self.open()

    def open(self):
        until = time.monotonic() + 60
        while True:
            try:
                self.conn = psycopg.connect(self.dsn, autocommit=True, connect_timeout=10)
                break
            except psycopg.OperationalError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.2)
        self.pg = self.conn.pgconn
        self.pg.notice_handler = None
        for statement in self.start:
            self.run(statement)

    def close(self):
        self.conn.close()

    @property
    def status(self):
        return self.pg.transaction_status

    def run(self, sql, data=None, seconds=120):
        """The answer, of several statements in one message all that they gave; `data` goes to a COPY FROM STDIN. The code is LOST
        where the connection went away, TIME where the statement had to be cancelled."""
        try:
            self.pg.send_query(sql.encode("utf-8", "surrogateescape"))
            return self._answers(data, time.monotonic() + seconds)
        except (psycopg.Error, ConnectionError) as lost:
            return Answer("LOST", [], [], "", str(lost))

    def _wait(self, until):
        """False once the time is over."""
        self.pg.flush()
        while self.pg.is_busy():
            if not select.select([self.pg.socket], [], [], max(0, until - time.monotonic()))[0]:
                return False
            self.pg.consume_input()
        return True

    def _answers(self, data, until):
        answers, cancelled = [], False
        while True:
            if not self._wait(until):
                if cancelled:
                    raise ConnectionError("a statement does not let itself be cancelled")
                self.pg.get_cancel().cancel()
                cancelled, until = True, time.monotonic() + 20
                continue
            result = self.pg.get_result()
            if result is None:
                break
            if result.status == pq.ExecStatus.COPY_IN:
                if data is not None:
                    self.pg.put_copy_data(data)
                self.pg.put_copy_end()
            elif result.status == pq.ExecStatus.COPY_OUT:
                rows = []
                while (got := self.pg.get_copy_data(0))[0] > 0:
                    rows.append((text(bytes(got[1])),))
                answers.append(Answer("00000", [], rows, "", ""))
            elif result.status in OK:
                header = [(text(result.fname(i)), min(result.ftype(i), FIRST_NORMAL_OID), result.fmod(i)) for i in range(result.nfields)]
                rows = [tuple(text(result.get_value(r, c)) for c in range(result.nfields)) for r in range(result.ntuples)]
                answers.append(Answer("00000", header, rows, text(result.command_status) or "", ""))
            else:
                code = text(result.error_field(F.SQLSTATE))
                message = text(result.error_field(F.MESSAGE_PRIMARY) or result.error_message) or ""
                if code is None or code in ("57P01", "57P02"):
                    raise ConnectionError(message)
                answers.append(Answer("TIME" if cancelled else code, [], [], "", message))
        if self.pg.status != pq.ConnStatus.OK:
            raise ConnectionError("the connection is closed")
        if not answers:
            return Answer("00000", [], [], "", "")
        bad = next((a for a in answers if a.code != "00000"), None)
        return Answer(bad.code if bad else "00000", sum((a.header for a in answers), []), sum((a.rows for a in answers), []),
                      ";".join(a.tag for a in answers if a.tag), bad.message if bad else "")


def ordered(sql):
    """Whether the outermost query has an ORDER BY."""
    bare = re.sub(r"'(?:[^']|'')*'|\"[^\"]*\"|\$\$.*?\$\$|--[^\n]*|/\*.*?\*/", " ", sql, flags=re.S)
    depth, outer = 0, []
    for c in bare:
        depth += (c == "(") - (c == ")")
        if depth == 0:
            outer.append(c)
    return bool(re.search(r"\border\s+by\b", "".join(outer), re.I))
