//! HBase's filter language: `PrefixFilter('a') AND (ValueFilter(=, 'binary:x') OR PageFilter(2))`.
//!
//! The language is read here; [`rules`] has what each filter says of rows and cells.

mod rules;

use regex::bytes::Regex;
use rules::{Hint, Node, Step, place_of, same_column};
use std::cmp::Ordering;
use stoa_engine::raw::{Row, RowCell};

/// The filters that there are.
pub const NAMES: &[&str] = &[
    "ColumnCountGetFilter",
    "ColumnPaginationFilter",
    "ColumnPrefixFilter",
    "ColumnRangeFilter",
    "ColumnValueFilter",
    "DependentColumnFilter",
    "FamilyFilter",
    "FirstKeyOnlyFilter",
    "InclusiveStopFilter",
    "KeyOnlyFilter",
    "MultipleColumnPrefixFilter",
    "PageFilter",
    "PrefixFilter",
    "QualifierFilter",
    "RowFilter",
    "SingleColumnValueExcludeFilter",
    "SingleColumnValueFilter",
    "TimestampsFilter",
    "ValueFilter",
];

/// How two byte strings are to compare.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Op {
    Less,
    LessOrEqual,
    Equal,
    NotEqual,
    GreaterOrEqual,
    Greater,
}

impl Op {
    fn holds(self, order: Ordering) -> bool {
        match self {
            Op::Less => order.is_lt(),
            Op::LessOrEqual => order.is_le(),
            Op::Equal => order.is_eq(),
            Op::NotEqual => order.is_ne(),
            Op::GreaterOrEqual => order.is_ge(),
            Op::Greater => order.is_gt(),
        }
    }
}

#[derive(Clone, Debug)]
enum Comparator {
    Binary(Vec<u8>),
    BinaryPrefix(Vec<u8>),
    Regex(Regex),
    /// In lower case.
    Substring(String),
}

#[derive(Clone, Debug)]
struct Test {
    op: Op,
    to: Comparator,
}

impl Test {
    fn holds(&self, bytes: &[u8]) -> bool {
        let found = |yes: bool| if yes { Ordering::Equal } else { Ordering::Greater };
        self.op.holds(match &self.to {
            Comparator::Binary(to) => bytes.cmp(to.as_slice()),
            Comparator::BinaryPrefix(to) => bytes.get(..to.len()).unwrap_or(bytes).cmp(to.as_slice()),
            Comparator::Regex(to) => found(to.is_match(bytes)),
            Comparator::Substring(to) => found(String::from_utf8_lossy(bytes).to_lowercase().contains(to)),
        })
    }
}

/// A filter and what it has counted so far.
#[derive(Clone, Debug)]
pub struct Filter {
    root: Node,
    reversed: bool,
    /// Rows before this key are left out without a look (behind it, where the scan goes backwards).
    from: Option<Vec<u8>>,
    /// Families of which nothing more is looked at: the filter was done within a row, and HBase ends the scanner of a family then.
    closed: Vec<String>,
    done: bool,
}

impl Filter {
    /// # Errors
    /// What is no filter, in words.
    pub fn parse(text: &[u8]) -> Result<Self, String> {
        let mut reader = Reader { text, at: 0 };
        let root = reader.or()?;
        reader.space();
        match reader.text.get(reader.at..) {
            None | Some([]) => Ok(Self { root, reversed: false, from: None, closed: Vec::new(), done: false }),
            Some(rest) => Err(format!("Incorrect filter string: {}", String::from_utf8_lossy(rest))),
        }
    }

    /// For a scan that goes backwards, if so.
    pub fn reversed(self, reversed: bool) -> Self {
        Self { reversed, ..self }
    }

    /// This, and the first cell of each row alone: what `count` asks for. HBase counts a row only if its first cell stays.
    pub fn of_first_cells(self) -> Self {
        Self { root: Node::And(vec![self.root, Node::FirstKeyOnly { found: false }]), ..self }
    }

    /// Whether no row that comes can stay.
    pub fn is_done(&self) -> bool {
        self.done
    }

    /// What a filter leaves of a row: at most so many versions of a column.
    pub fn apply(&mut self, row: Row, versions: u32) -> Option<Row> {
        let left = self.left(row, versions);
        self.root.reset();
        self.done |= self.root.is_done();
        left
    }

    fn left(&mut self, mut row: Row, versions: u32) -> Option<Row> {
        let skipped = |from: &Vec<u8>| match self.reversed {
            false => row.key < *from,
            true => row.key > *from && !row.key.starts_with(from),
        };
        if self.from.as_ref().is_some_and(skipped) {
            return None;
        }
        self.from = None;
        row.cells.retain(|cell| !self.closed.contains(&cell.family));
        if row.cells.is_empty() || self.root.drops_key(&row.key, self.reversed) {
            return None;
        }
        let mut cells: Vec<RowCell> = Vec::new();
        let mut behind: Option<(RowCell, Step)> = None;
        let mut of_column = 0;
        for mut cell in row.cells {
            if let Some((last, step)) = &behind {
                if step.is_beyond(last, &cell, self.reversed) {
                    continue;
                }
                if self.root.is_done() {
                    for family in [&last.family, &cell.family] {
                        if !self.closed.contains(family) {
                            self.closed.push(family.clone());
                        }
                    }
                    continue;
                }
            }
            let mut verdict = self.root.cell(&cell, self.reversed);
            if verdict.stays {
                let same = cells.last().is_some_and(|last| same_column(last, &cell));
                of_column = if same { of_column + 1 } else { 1 };
                if of_column > versions {
                    verdict.stays = false;
                    verdict.step = verdict.step.max(Step::Column);
                }
            }
            match &verdict.step {
                Step::Seek(Hint::Row(key)) => self.from = Some(key.clone()),
                // Behind a column without a qualifier HBase's scanner comes to its next version.
                Step::Column if cell.qualifier.is_empty() => verdict.step = Step::Next,
                _ => {}
            }
            behind = Some((place_of(&cell), verdict.step));
            if verdict.stays {
                if verdict.without_value {
                    cell.value.clear();
                }
                cells.push(cell);
            }
        }
        if let Some((last, _)) = behind.filter(|_| self.root.is_done()) {
            self.closed.push(last.family);
        }
        self.root.drop_cells(&mut cells);
        if cells.is_empty() || self.root.drops_row() {
            return None;
        }
        Some(Row { key: row.key, cells })
    }
}

enum Argument {
    Text(Vec<u8>),
    Number(i64),
    Bool(bool),
    Op(Op),
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn space(&mut self) {
        while self.peek().is_some_and(|b| b.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    fn symbol(&mut self, symbol: u8) -> bool {
        self.space();
        let there = self.peek() == Some(symbol);
        self.at += usize::from(there);
        there
    }

    fn expect(&mut self, symbol: u8) -> Result<(), String> {
        if self.symbol(symbol) { Ok(()) } else { Err(self.wrong()) }
    }

    fn wrong(&self) -> String {
        let rest = self.text.get(self.at..).unwrap_or_default();
        format!("Incorrect filter string near \"{}\"", String::from_utf8_lossy(rest))
    }

    fn word(&mut self) -> String {
        self.space();
        let from = self.at;
        while self.peek().is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_') {
            self.at += 1;
        }
        String::from_utf8_lossy(self.text.get(from..self.at).unwrap_or_default()).into_owned()
    }

    fn keyword(&mut self, keyword: &str) -> bool {
        let from = self.at;
        let there = self.word() == keyword;
        if !there {
            self.at = from;
        }
        there
    }

    fn or(&mut self) -> Result<Node, String> {
        let mut nodes = vec![self.and()?];
        while self.keyword("OR") {
            nodes.push(self.and()?);
        }
        Ok(if nodes.len() > 1 { Node::Or(nodes.into_iter().map(|node| (node, None)).collect()) } else { nodes.swap_remove(0) })
    }

    fn and(&mut self) -> Result<Node, String> {
        let mut nodes = vec![self.one()?];
        while self.keyword("AND") {
            nodes.push(self.one()?);
        }
        Ok(if nodes.len() > 1 { Node::And(nodes) } else { nodes.swap_remove(0) })
    }

    fn one(&mut self) -> Result<Node, String> {
        if self.keyword("SKIP") {
            return Ok(Node::Skip { node: Box::new(self.one()?), drops: false });
        }
        if self.keyword("WHILE") {
            return Ok(Node::While { node: Box::new(self.one()?), passed: false });
        }
        if self.symbol(b'(') {
            let node = self.or()?;
            self.expect(b')')?;
            return Ok(node);
        }
        let name = self.word();
        if name.is_empty() {
            return Err(self.wrong());
        }
        self.expect(b'(')?;
        let mut arguments = Vec::new();
        if !self.symbol(b')') {
            loop {
                arguments.push(self.argument()?);
                if !self.symbol(b',') {
                    break;
                }
            }
            self.expect(b')')?;
        }
        node(&name, arguments)
    }

    fn argument(&mut self) -> Result<Argument, String> {
        self.space();
        match self.peek() {
            Some(b'\'') => {
                self.at += 1;
                let mut out = Vec::new();
                loop {
                    match (self.peek(), self.text.get(self.at + 1)) {
                        (Some(b'\''), Some(b'\'')) => {
                            out.push(b'\'');
                            self.at += 2;
                        }
                        (Some(b'\''), _) => {
                            self.at += 1;
                            return Ok(Argument::Text(out));
                        }
                        (Some(byte), _) => {
                            out.push(byte);
                            self.at += 1;
                        }
                        (None, _) => return Err(self.wrong()),
                    }
                }
            }
            Some(b'<' | b'>' | b'=' | b'!') => {
                let two = self.text.get(self.at..self.at + 2).unwrap_or_default();
                let (op, length) = match (self.peek(), two) {
                    (_, b"<=") => (Op::LessOrEqual, 2),
                    (_, b">=") => (Op::GreaterOrEqual, 2),
                    (_, b"!=") => (Op::NotEqual, 2),
                    (Some(b'<'), _) => (Op::Less, 1),
                    (Some(b'>'), _) => (Op::Greater, 1),
                    (Some(b'='), _) => (Op::Equal, 1),
                    _ => return Err(self.wrong()),
                };
                self.at += length;
                Ok(Argument::Op(op))
            }
            _ => {
                let negative = self.symbol(b'-');
                let from = self.at;
                let word = self.word();
                match word.as_str() {
                    "true" => Ok(Argument::Bool(true)),
                    "false" => Ok(Argument::Bool(false)),
                    word => match word.parse::<i64>() {
                        Ok(number) => Ok(Argument::Number(if negative { -number } else { number })),
                        Err(_) => {
                            self.at = from;
                            Err(self.wrong())
                        }
                    },
                }
            }
        }
    }
}

fn comparator(text: &[u8]) -> Result<Comparator, String> {
    let colon = text.iter().position(|b| *b == b':').ok_or("Incorrect comparator: it has a type before a colon")?;
    let (kind, value) = (text.get(..colon).unwrap_or_default(), text.get(colon + 1..).unwrap_or_default());
    match kind {
        b"binary" => Ok(Comparator::Binary(value.to_vec())),
        b"binaryprefix" => Ok(Comparator::BinaryPrefix(value.to_vec())),
        b"regexstring" => {
            let pattern = String::from_utf8_lossy(value);
            Regex::new(&pattern).map(Comparator::Regex).map_err(|e| format!("Incorrect regular expression: {e}"))
        }
        b"substring" => Ok(Comparator::Substring(String::from_utf8_lossy(value).to_lowercase())),
        other => Err(format!("Incorrect comparator: {}", String::from_utf8_lossy(other))),
    }
}

fn test(op: Op, to: &[u8]) -> Result<Test, String> {
    let to = comparator(to)?;
    if matches!(to, Comparator::Regex(_) | Comparator::Substring(_)) && !matches!(op, Op::Equal | Op::NotEqual) {
        return Err("A regexstring comparator and a substring comparator can only be used with EQUAL and NOT_EQUAL".into());
    }
    Ok(Test { op, to })
}

fn node(name: &str, arguments: Vec<Argument>) -> Result<Node, String> {
    use Argument::{Bool, Number, Op as Compare, Text};
    let wrong = || format!("Incorrect arguments passed to {name}");
    let count = |n: i64| usize::try_from(n).map_err(|_| wrong());
    Ok(match (name, arguments.as_slice()) {
        ("KeyOnlyFilter", []) => Node::KeyOnly,
        ("FirstKeyOnlyFilter", []) => Node::FirstKeyOnly { found: false },
        ("PrefixFilter", [Text(prefix)]) => Node::Prefix { prefix: prefix.clone(), ahead: Ordering::Greater, passed: false },
        ("ColumnPrefixFilter", [Text(prefix)]) => Node::ColumnPrefix(vec![prefix.clone()]),
        ("MultipleColumnPrefixFilter", many @ [_, ..]) => {
            let text = |argument: &Argument| match argument {
                Text(text) => Ok(text.clone()),
                _ => Err(wrong()),
            };
            let mut prefixes = many.iter().map(text).collect::<Result<Vec<_>, _>>()?;
            prefixes.sort();
            prefixes.dedup();
            Node::ColumnPrefix(prefixes)
        }
        ("ColumnCountGetFilter", [Number(n)]) => Node::ColumnCount { most: count(*n)?, met: 0 },
        ("ColumnPaginationFilter", [Number(limit), Number(offset)]) => {
            Node::ColumnPagination { limit: count(*limit)?, offset: count(*offset)?, met: 0 }
        }
        ("PageFilter", [Number(size)]) => Node::Page { size: u64::try_from(*size).map_err(|_| wrong())?, rows: 0 },
        ("InclusiveStopFilter", [Text(last)]) => Node::InclusiveStop { last: last.clone(), passed: false },
        ("TimestampsFilter" | "TimeStampsFilter", many) => {
            let number = |argument: &Argument| match argument {
                Number(n) => Ok(*n),
                _ => Err(wrong()),
            };
            Node::Times(many.iter().map(number).collect::<Result<_, _>>()?)
        }
        ("RowFilter", [Compare(op), Text(to)]) => Node::Row { test: test(*op, to)?, drops: false },
        ("FamilyFilter", [Compare(op), Text(to)]) => Node::Family(test(*op, to)?),
        ("QualifierFilter", [Compare(op), Text(to)]) => Node::Qualifier(test(*op, to)?),
        ("ValueFilter", [Compare(op), Text(to)]) => Node::Value(test(*op, to)?),
        (
            "SingleColumnValueFilter" | "SingleColumnValueExcludeFilter",
            [Text(family), Text(qualifier), Compare(op), Text(to), rest @ ..],
        ) => {
            let (if_missing, latest) = match rest {
                [] => (false, true),
                [Bool(if_missing), Bool(latest)] => (*if_missing, *latest),
                _ => return Err(wrong()),
            };
            let excluded = name == "SingleColumnValueExcludeFilter";
            let column = (family.clone(), qualifier.clone());
            Node::Column { column, test: test(*op, to)?, if_missing, latest, excluded, found: false, fits: false }
        }
        ("ColumnValueFilter", [Text(family), Text(qualifier), Compare(op), Text(to)]) => {
            Node::ColumnValue { column: (family.clone(), qualifier.clone()), test: test(*op, to)?, found: false }
        }
        ("DependentColumnFilter", [Text(family), Text(qualifier), rest @ ..]) => {
            let (dropped, test) = match rest {
                [] => (false, None),
                [Bool(dropped)] => (*dropped, None),
                [Bool(dropped), Compare(op), Text(to)] => (*dropped, Some(test(*op, to)?)),
                _ => return Err(wrong()),
            };
            Node::Dependent { column: (family.clone(), qualifier.clone()), dropped, test, times: Vec::new() }
        }
        ("ColumnRangeFilter", [Text(from), Bool(from_inclusive), Text(to), Bool(to_inclusive)]) => {
            let bound = |text: &[u8], inclusive: bool| (!text.is_empty()).then(|| (text.to_vec(), inclusive));
            Node::ColumnRange { from: bound(from, *from_inclusive), to: bound(to, *to_inclusive) }
        }
        (known, _) if NAMES.contains(&known) => return Err(wrong()),
        _ => return Err(format!("Filter {name} does not exist")),
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;
    use stoa_engine::raw::CellKind;

    fn rows() -> Vec<Row> {
        let cell = |column: &str, time: i64, value: &str| {
            let (family, qualifier) = column.split_once(':').unwrap();
            RowCell { family: family.into(), qualifier: qualifier.into(), time, kind: CellKind::Put, value: value.into() }
        };
        let row = |key: &str, cells: Vec<RowCell>| Row { key: key.into(), cells };
        vec![
            row("a1", vec![cell("f:x", 2, "1"), cell("f:x", 1, "0"), cell("f:y", 1, "Abc"), cell("g:x", 1, "1")]),
            row("a2", vec![cell("f:y", 1, "abd")]),
            row("b1", vec![cell("f:x", 3, "2"), cell("g:z", 1, "")]),
            row("c1", vec![cell("g:yy", 1, "7")]),
        ]
    }

    /// The rows that a filter leaves: key, then columns with values.
    fn left(filter: &str) -> String {
        let mut filter = Filter::parse(filter.as_bytes()).unwrap_or_else(|e| panic!("{filter}: {e}"));
        let mut out = Vec::new();
        for row in rows() {
            if let Some(row) = filter.apply(row, u32::MAX) {
                let text =
                    |c: &RowCell| format!("{}:{}={}", c.family, String::from_utf8_lossy(&c.qualifier), String::from_utf8_lossy(&c.value));
                out.push(format!("{} {}", String::from_utf8_lossy(&row.key), row.cells.iter().map(text).collect::<Vec<_>>().join(",")));
            }
            if filter.is_done() {
                break;
            }
        }
        out.join("; ")
    }

    #[test]
    fn filters_leave_what_hbase_leaves() {
        for (filter, expected) in [
            ("PrefixFilter('a')", "a1 f:x=1,f:x=0,f:y=Abc,g:x=1; a2 f:y=abd"),
            ("RowFilter(>=, 'binary:b')", "b1 f:x=2,g:z=; c1 g:yy=7"),
            ("RowFilter(=, 'regexstring:^.2$')", "a2 f:y=abd"),
            ("RowFilter(!=, 'binaryprefix:a')", "b1 f:x=2,g:z=; c1 g:yy=7"),
            ("FamilyFilter(=, 'binary:g') AND ValueFilter(>, 'binary:')", "a1 g:x=1; c1 g:yy=7"),
            ("QualifierFilter(<, 'binary:y')", "a1 f:x=1,f:x=0,g:x=1; b1 f:x=2"),
            ("ColumnPrefixFilter('y')", "a1 f:y=Abc; a2 f:y=abd; c1 g:yy=7"),
            ("MultipleColumnPrefixFilter('yy', 'z')", "b1 g:z=; c1 g:yy=7"),
            ("ValueFilter(=, 'substring:ABC')", "a1 f:y=Abc"),
            ("KeyOnlyFilter() AND FirstKeyOnlyFilter()", "a1 f:x=; a2 f:y=; b1 f:x=; c1 g:yy="),
            ("PageFilter(2)", "a1 f:x=1,f:x=0,f:y=Abc,g:x=1; a2 f:y=abd"),
            ("PageFilter (1) AND ColumnPrefixFilter('z')", "b1 g:z="),
            ("SingleColumnValueFilter('f', 'x', =, 'binary:1')", "a1 f:x=1,f:x=0,f:y=Abc,g:x=1; a2 f:y=abd; c1 g:yy=7"),
            ("SingleColumnValueFilter('f', 'x', =, 'binary:1', true, true)", "a1 f:x=1,f:x=0,f:y=Abc,g:x=1"),
            ("SingleColumnValueFilter('f', 'x', =, 'binary:0', true, false)", "a1 f:x=1,f:x=0,f:y=Abc,g:x=1"),
            ("SingleColumnValueExcludeFilter('f', 'x', >, 'binary:1', true, true)", "b1 g:z="),
            ("ColumnCountGetFilter(1)", "a1 f:x=1"),
            ("ColumnCountGetFilter(3)", "a1 f:x=1,f:y=Abc,g:x=1; a2 f:y=abd; b1 f:x=2,g:z=; c1 g:yy=7"),
            ("ColumnValueFilter('f', 'y', >=, 'binary:abd')", "a2 f:y=abd"),
            ("DependentColumnFilter('f', 'y')", "a1 f:x=0,f:y=Abc,g:x=1; a2 f:y=abd"),
            ("DependentColumnFilter('f', 'y', true, =, 'substring:b')", "a1 f:x=0,g:x=1"),
            ("ColumnPaginationFilter(1, 1)", "a1 f:y=Abc; b1 g:z="),
            ("ColumnRangeFilter('x', false, 'yy', true)", "a1 f:y=Abc; a2 f:y=abd; c1 g:yy=7"),
            ("InclusiveStopFilter('a2')", "a1 f:x=1,f:x=0,f:y=Abc,g:x=1; a2 f:y=abd"),
            ("TimestampsFilter(2, 3)", "a1 f:x=1; b1 f:x=2"),
            ("PrefixFilter('b') OR ColumnPrefixFilter('yy')", "b1 f:x=2,g:z=; c1 g:yy=7"),
            (
                "SingleColumnValueFilter('f', 'x', >=, 'binary:2', true, true) OR QualifierFilter(=, 'substring:Z')",
                "a2 f:y=abd; b1 f:x=2,g:z=; c1 g:yy=7",
            ),
            ("(PrefixFilter('a') OR PrefixFilter('c')) AND QualifierFilter(=, 'binaryprefix:y')", "a1 f:y=Abc; a2 f:y=abd; c1 g:yy=7"),
            ("SKIP ValueFilter(!=, 'binary:0')", "a2 f:y=abd; b1 f:x=2,g:z=; c1 g:yy=7"),
            ("WHILE RowFilter(!=, 'binary:b1')", "a1 f:x=1,f:x=0,f:y=Abc,g:x=1; a2 f:y=abd"),
            ("ValueFilter(=, 'binary:it''s')", ""),
        ] {
            assert_eq!(left(filter), expected, "{filter}");
        }
    }

    #[test]
    fn what_is_no_filter_is_reported() {
        for (filter, expected) in [
            ("NoFilter()", "Filter NoFilter does not exist"),
            ("PageFilter('a')", "Incorrect arguments passed to PageFilter"),
            ("ValueFilter(<, 'substring:a')", "A regexstring comparator"),
            ("ValueFilter(=, 'abc')", "Incorrect comparator"),
            ("ValueFilter(=, 'binary:a'", "Incorrect filter string"),
            ("PageFilter(1) PageFilter(2)", "Incorrect filter string"),
            ("", "Incorrect filter string"),
        ] {
            let error = Filter::parse(filter.as_bytes()).unwrap_err();
            assert!(error.starts_with(expected), "{filter}: {error}");
        }
    }
}
