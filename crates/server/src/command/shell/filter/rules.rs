//! What each filter says: of a row's key, of each cell and how far to go on from it, of the cells that are left, and of the row.
//!
//! The rules are those of HBase 2.5's `Filter` interface (`filterRowKey`, `filterCell`, `filterRowCells`, `filterRow`, `filterAllRemaining`),
//! since what filters say together depends on them: a cell that one of them goes past is not seen by the others.

use super::Test;
use std::cmp::Ordering;
use stoa_engine::raw::RowCell;

/// A family and a qualifier.
type ColumnName = (Vec<u8>, Vec<u8>);

/// Where a scan goes on behind a cell, by how far that is.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Step {
    Next,
    /// The next column.
    Column,
    /// The next row, of this family.
    Row,
    Seek(Hint),
}

/// Where it goes on instead.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Hint {
    /// Nobody says: with the next cell.
    None,
    /// With this qualifier, in the same family.
    Column(Vec<u8>),
    /// With this key, or one that begins with it.
    Row(Vec<u8>),
}

impl Step {
    /// Whether a cell that comes behind `last` is left out without a look. Scans backwards do not seek within a row.
    pub fn is_beyond(&self, last: &RowCell, cell: &RowCell, reversed: bool) -> bool {
        match self {
            Step::Next | Step::Seek(Hint::None) => false,
            Step::Column => same_column(last, cell),
            Step::Row | Step::Seek(Hint::Row(_)) => last.family == cell.family,
            Step::Seek(Hint::Column(from)) => !reversed && last.family == cell.family && cell.qualifier < *from,
        }
    }
}

/// A cell without its value, which may be large.
pub(super) fn place_of(cell: &RowCell) -> RowCell {
    let RowCell { family, qualifier, time, kind, .. } = cell;
    RowCell { family: family.clone(), qualifier: qualifier.clone(), time: *time, kind: *kind, value: Vec::new() }
}

pub(super) fn same_column(a: &RowCell, b: &RowCell) -> bool {
    a.family == b.family && a.qualifier == b.qualifier
}

/// What is said of a cell.
#[derive(Clone, Debug)]
pub(super) struct Verdict {
    pub stays: bool,
    pub step: Step,
    /// If it stays.
    pub without_value: bool,
}

impl Verdict {
    fn stays() -> Self {
        Self { stays: true, step: Step::Next, without_value: false }
    }

    fn goes(step: Step) -> Self {
        Self { stays: false, step, without_value: false }
    }

    fn stays_if(stays: bool) -> Self {
        if stays { Self::stays() } else { Self::goes(Step::Next) }
    }
}

#[derive(Clone, Debug)]
pub(super) enum Node {
    KeyOnly,
    FirstKeyOnly {
        found: bool,
    },
    /// `ahead` is how the row's key compares with the prefix.
    Prefix {
        prefix: Vec<u8>,
        ahead: Ordering,
        passed: bool,
    },
    /// Ascending and apart.
    ColumnPrefix(Vec<Vec<u8>>),
    ColumnCount {
        most: usize,
        met: usize,
    },
    ColumnPagination {
        limit: usize,
        offset: usize,
        met: usize,
    },
    Page {
        size: u64,
        rows: u64,
    },
    InclusiveStop {
        last: Vec<u8>,
        passed: bool,
    },
    Times(Vec<i64>),
    Row {
        test: Test,
        drops: bool,
    },
    Family(Test),
    Qualifier(Test),
    Value(Test),
    /// SingleColumnValueFilter, and SingleColumnValueExcludeFilter.
    Column {
        column: ColumnName,
        test: Test,
        if_missing: bool,
        latest: bool,
        excluded: bool,
        found: bool,
        fits: bool,
    },
    ColumnValue {
        column: ColumnName,
        test: Test,
        found: bool,
    },
    Dependent {
        column: ColumnName,
        dropped: bool,
        test: Option<Test>,
        times: Vec<i64>,
    },
    ColumnRange {
        from: Option<(Vec<u8>, bool)>,
        to: Option<(Vec<u8>, bool)>,
    },
    Skip {
        node: Box<Node>,
        drops: bool,
    },
    While {
        node: Box<Node>,
        passed: bool,
    },
    And(Vec<Node>),
    /// With the cell that each has seen last, and where it wanted to go on.
    Or(Vec<(Node, Option<(RowCell, Step)>)>),
}

fn is_of(cell: &RowCell, column: &ColumnName) -> bool {
    cell.family.as_bytes() == column.0.as_slice() && cell.qualifier == column.1
}

impl Node {
    /// Forgets the row.
    pub fn reset(&mut self) {
        match self {
            Node::FirstKeyOnly { found } | Node::ColumnValue { found, .. } => *found = false,
            // No key has been compared.
            Node::Prefix { ahead, .. } if ahead.is_eq() => *ahead = Ordering::Greater,
            Node::ColumnCount { met, .. } | Node::ColumnPagination { met, .. } => *met = 0,
            Node::Row { drops, .. } => *drops = false,
            Node::Column { found, fits, .. } => (*found, *fits) = (false, false),
            Node::Dependent { times, .. } => times.clear(),
            Node::Skip { node, drops } => {
                node.reset();
                *drops = false;
            }
            Node::While { node, .. } => node.reset(),
            Node::And(nodes) => nodes.iter_mut().for_each(Node::reset),
            Node::Or(nodes) => nodes.iter_mut().for_each(|(node, seen)| {
                node.reset();
                *seen = None;
            }),
            _ => {}
        }
    }

    /// Whether nothing behind this cell or row can stay.
    pub fn is_done(&self) -> bool {
        match self {
            Node::Prefix { passed, .. } | Node::InclusiveStop { passed, .. } => *passed,
            Node::ColumnCount { most, met } => met > most,
            Node::Page { size, rows } => rows >= size,
            Node::While { node, passed } => *passed || node.is_done(),
            Node::And(nodes) => nodes.iter().any(Node::is_done),
            Node::Or(nodes) => nodes.iter().all(|(node, _)| node.is_done()),
            _ => false,
        }
    }

    /// Whether a row goes by its key.
    pub fn drops_key(&mut self, key: &[u8], reversed: bool) -> bool {
        match self {
            Node::Prefix { prefix, ahead, passed } => {
                if !*passed {
                    *ahead = key.get(..prefix.len()).unwrap_or(key).cmp(prefix.as_slice());
                    *ahead = if reversed { ahead.reverse() } else { *ahead };
                    *passed = ahead.is_gt();
                }
                *passed
            }
            Node::InclusiveStop { last, passed } => {
                *passed |= if reversed { key < last.as_slice() } else { key > last.as_slice() };
                *passed
            }
            Node::Row { test, drops } => {
                *drops |= !test.holds(key);
                *drops
            }
            // HBase does not tell them which way a scan goes, and SKIP asks nothing of keys.
            Node::Skip { .. } => false,
            Node::While { node, passed } => {
                *passed = *passed || node.is_done() || node.drops_key(key, false);
                *passed
            }
            Node::And(nodes) => {
                let mut drops = false;
                for node in nodes {
                    if node.is_done() {
                        return true;
                    }
                    // All of them have to see the key.
                    drops |= node.drops_key(key, reversed);
                }
                drops
            }
            Node::Or(nodes) => {
                let mut drops = true;
                for (node, _) in nodes {
                    drops &= node.is_done() || node.drops_key(key, reversed);
                }
                drops
            }
            _ => self.is_done(),
        }
    }

    /// What is said of the next cell of a row that stays by its key.
    pub fn cell(&mut self, cell: &RowCell, reversed: bool) -> Verdict {
        match self {
            Node::KeyOnly => Verdict { without_value: true, ..Verdict::stays() },
            Node::FirstKeyOnly { found } => {
                let again = std::mem::replace(found, true);
                if again { Verdict::goes(Step::Row) } else { Verdict::stays() }
            }
            Node::Prefix { prefix, ahead, .. } => match ahead {
                Ordering::Less => Verdict::goes(Step::Seek(Hint::Row(prefix.clone()))),
                Ordering::Equal => Verdict::stays(),
                Ordering::Greater => Verdict::goes(Step::Row),
            },
            Node::ColumnPrefix(prefixes) => of_prefixes(prefixes, &cell.qualifier),
            Node::ColumnCount { most, met } => {
                *met += 1;
                Verdict { stays: met <= most, step: Step::Column, without_value: false }
            }
            Node::ColumnPagination { limit, offset, met } => {
                if *met >= offset.saturating_add(*limit) {
                    return Verdict::goes(Step::Row);
                }
                *met += 1;
                Verdict { stays: met > offset, step: Step::Column, without_value: false }
            }
            Node::InclusiveStop { passed: drops, .. } | Node::Row { drops, .. } if *drops => Verdict::goes(Step::Row),
            Node::Page { .. } | Node::InclusiveStop { .. } | Node::Row { .. } => Verdict::stays(),
            Node::Times(times) => match times.contains(&cell.time) {
                true => Verdict::stays(),
                false if times.iter().all(|time| cell.time < *time) => Verdict::goes(Step::Column),
                false => Verdict::goes(Step::Next),
            },
            Node::Family(test) => match test.holds(cell.family.as_bytes()) {
                true => Verdict::stays(),
                false => Verdict::goes(Step::Row),
            },
            Node::Qualifier(test) => Verdict::stays_if(test.holds(&cell.qualifier)),
            Node::Value(test) => Verdict::stays_if(test.holds(&cell.value)),
            Node::Column { column, test, latest, found, fits, .. } => {
                if *fits || (!*found && !is_of(cell, column)) {
                    return Verdict::stays();
                }
                if *latest && *found {
                    return Verdict::goes(Step::Row);
                }
                if !is_of(cell, column) {
                    return Verdict::stays();
                }
                *found = true;
                *fits = test.holds(&cell.value);
                if !*fits && *latest { Verdict::goes(Step::Row) } else { Verdict::stays() }
            }
            Node::ColumnValue { column, test, found } => match is_of(cell, column) {
                true => {
                    *found = true;
                    Verdict::stays_if(test.holds(&cell.value))
                }
                false => Verdict::goes(if *found { Step::Row } else { Step::Column }),
            },
            Node::Dependent { column, dropped, test, times } => {
                if !is_of(cell, column) {
                    return Verdict::stays();
                }
                if test.as_ref().is_some_and(|test| !test.holds(&cell.value)) {
                    return Verdict::goes(Step::Next);
                }
                times.push(cell.time);
                Verdict::stays_if(!*dropped)
            }
            Node::ColumnRange { from, to } => of_range(from.as_ref(), to.as_ref(), &cell.qualifier),
            Node::Skip { node, drops } => {
                let verdict = node.cell(cell, false);
                *drops |= !verdict.stays || verdict.step != Step::Next;
                without_hint(verdict)
            }
            Node::While { node, passed } => {
                let verdict = node.cell(cell, false);
                *passed |= !verdict.stays || verdict.step != Step::Next;
                without_hint(verdict)
            }
            Node::And(nodes) => all_of(nodes, cell, reversed),
            Node::Or(nodes) => any_of(nodes, cell, reversed),
        }
    }

    /// Takes cells of a row that is through.
    pub fn drop_cells(&self, cells: &mut Vec<RowCell>) {
        match self {
            Node::Column { column, excluded: true, .. } => cells.retain(|cell| !is_of(cell, column)),
            Node::Dependent { times, .. } => cells.retain(|cell| times.contains(&cell.time)),
            Node::And(nodes) => nodes.iter().for_each(|node| node.drop_cells(cells)),
            Node::Or(nodes) => nodes.iter().for_each(|(node, _)| node.drop_cells(cells)),
            _ => {}
        }
    }

    /// Whether a row goes that has cells left.
    pub fn drops_row(&mut self) -> bool {
        match self {
            Node::Prefix { ahead, .. } => ahead.is_ne(),
            Node::Page { size, rows } => {
                *rows += 1;
                rows > size
            }
            Node::Row { drops, .. } | Node::Skip { drops, .. } => *drops,
            Node::Column { if_missing, found, fits, .. } => match *found {
                true => !*fits,
                false => *if_missing,
            },
            Node::While { node, passed } => {
                let drops = node.drops_row();
                *passed |= drops;
                drops
            }
            Node::And(nodes) => nodes.iter_mut().any(Node::drops_row),
            Node::Or(nodes) => nodes.iter_mut().all(|(node, _)| node.drops_row()),
            _ => false,
        }
    }
}

/// SKIP and WHILE pass no hints on.
fn without_hint(verdict: Verdict) -> Verdict {
    match verdict.step {
        Step::Seek(_) => Verdict { step: Step::Seek(Hint::None), ..verdict },
        _ => verdict,
    }
}

fn of_prefixes(prefixes: &[Vec<u8>], qualifier: &[u8]) -> Verdict {
    // The last one that is not behind the qualifier decides.
    let behind = prefixes.partition_point(|prefix| prefix.as_slice() <= qualifier);
    if behind > 0 && prefixes.get(behind - 1).is_some_and(|prefix| qualifier.starts_with(prefix)) {
        return Verdict::stays();
    }
    Verdict::goes(prefixes.get(behind).map_or(Step::Row, |prefix| Step::Seek(Hint::Column(prefix.clone()))))
}

fn of_range(from: Option<&(Vec<u8>, bool)>, to: Option<&(Vec<u8>, bool)>, qualifier: &[u8]) -> Verdict {
    if let Some((from, inclusive)) = from {
        match qualifier.cmp(from.as_slice()) {
            Ordering::Less => return Verdict::goes(Step::Seek(Hint::Column(from.clone()))),
            Ordering::Equal if !*inclusive => return Verdict::goes(Step::Column),
            _ => {}
        }
    }
    match to {
        Some((to, inclusive)) if qualifier > to.as_slice() || (!*inclusive && qualifier == to.as_slice()) => Verdict::goes(Step::Row),
        _ => Verdict::stays(),
    }
}

/// The farthest step of all of them up to the first by which the cell goes: those behind it do not see it.
fn all_of(nodes: &mut [Node], cell: &RowCell, reversed: bool) -> Verdict {
    let mut all = Verdict::stays();
    for node in nodes {
        if node.is_done() {
            return Verdict::goes(Step::Row);
        }
        let one = node.cell(cell, reversed);
        all = Verdict { stays: one.stays, step: all.step.max(one.step), without_value: all.without_value || one.without_value };
        if !all.stays {
            break;
        }
    }
    all
}

/// The shortest step of those that are not done; a cell stays if one says so.
fn any_of(nodes: &mut [(Node, Option<(RowCell, Step)>)], cell: &RowCell, reversed: bool) -> Verdict {
    let mut any: Option<Verdict> = None;
    for (node, seen) in nodes {
        if node.is_done() {
            continue;
        }
        // What it wanted to go past it does not see; backwards HBase compares hints the other way round.
        let unseen = seen.as_ref().filter(|(last, step)| match step {
            Step::Seek(Hint::Column(from)) if reversed => (&last.family, from) <= (&cell.family, &cell.qualifier),
            step => step.is_beyond(last, cell, false),
        });
        let one = match unseen {
            Some((_, step)) => Verdict::goes(step.clone()),
            None => node.cell(cell, reversed),
        };
        *seen = (one.step != Step::Next).then(|| (place_of(cell), one.step.clone()));
        any = Some(match any {
            None => Verdict { without_value: one.stays && one.without_value, ..one },
            Some(any) => Verdict {
                stays: any.stays || one.stays,
                step: match (any.step, one.step) {
                    (Step::Seek(a), Step::Seek(b)) => Step::Seek(a.min(b)),
                    // How far a hint goes nobody knows.
                    (Step::Seek(_), _) | (_, Step::Seek(_)) => Step::Next,
                    (a, b) => a.min(b),
                },
                without_value: any.without_value || (one.stays && one.without_value),
            },
        });
    }
    any.unwrap_or_else(|| Verdict::goes(Step::Next))
}
