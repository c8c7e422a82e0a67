//! Whether values are among those of a list that is the same for all rows: `IN`, `= ANY`, `<> ALL`.
//!
//! What is looked for is a tuple of one or more values, and so are the members of the list. A tuple is among them if all of its parts
//! equal those of a member; else that is NULL if they might, a part being NULL on either side; else it is not. Members are in hash tables
//! by which of their parts are known, since a tuple is compared by the parts that both know. Values hash by the bytes that they sort by,
//! which are the same exactly where they are equal.

use crate::args::Arg;
use crate::error::PgResult;
use crate::memory::{SMALL_BYTES, process, value_bytes};
use crate::types::{PgType, SqlType};
use crate::values::{KeyWriter, key_writer};
use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{
    ArrowPrimitiveType, DataType, Date32Type, Int16Type, Int32Type, Int64Type, Time64MicrosecondType, TimeUnit, TimestampMicrosecondType,
    UInt32Type,
};
use hashbrown::HashSet;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// Members below which comparing with each of them is as fast.
pub const FEW: usize = 8;
/// What a member takes in a table, beside what its own bytes do.
const MEMBER_BYTES: usize = 32;

/// One part of all members: elements of an array.
#[derive(Clone, Debug)]
pub struct Part {
    pub ty: SqlType,
    pub values: ArrayRef,
    pub range: Range<usize>,
}

impl Part {
    fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.values, &other.values) && self.range == other.range
    }
}

/// Whether equality of two types is that of the bytes that [`Members`] hashes.
#[must_use]
pub fn hashes_alike(left: &SqlType, right: &SqlType) -> bool {
    let integer = |ty: &SqlType| matches!(ty.ty, PgType::Int2 | PgType::Int4 | PgType::Int8);
    (integer(left) && integer(right)) || (left.ty == right.ty && left.arrow == right.arrow)
}

/// The members that were asked for last, for the batches that follow.
#[derive(Debug, Default)]
pub struct LastMembers(Mutex<Option<Arc<Members>>>);

impl LastMembers {
    /// The members with these parts, all of one length; made if the last ones were others.
    ///
    /// # Errors
    /// 53200 for want of memory; 42883 for types without an order.
    pub fn of(&self, parts: Vec<Part>) -> PgResult<Arc<Members>> {
        // Held while they are made: others that want them would make the same.
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(members) = &*last
            && members.parts.len() == parts.len()
            && members.parts.iter().zip(&parts).all(|(known, part)| known.is_same(part))
        {
            return Ok(Arc::clone(members));
        }
        let members = Arc::new(Members::new(parts)?);
        *last = Some(Arc::clone(&members));
        Ok(members)
    }
}

/// See the module.
#[derive(Debug)]
pub struct Members {
    parts: Vec<Part>,
    /// The one whose parts are all known first.
    groups: Vec<Group>,
}

/// Which parts of a tuple are known, a bit each.
type Known = u64;

/// The members of which the same parts are known.
#[derive(Debug)]
struct Group {
    known: Known,
    rows: Vec<usize>,
    /// By which of these parts members are looked for.
    tables: Mutex<Vec<(Known, Arc<Table>)>>,
}

/// The values of some parts.
#[derive(Debug)]
enum Table {
    /// Of no part: any member will do.
    All,
    Integers(HashSet<i64>),
    Bytes(HashSet<Box<[u8]>>),
}

/// A column of values to look for, or of members.
enum Column<'a> {
    Integers(Vec<i64>),
    Written(Box<dyn KeyWriter + 'a>),
}

impl<'a> Column<'a> {
    fn open(ty: &SqlType, array: &'a ArrayRef) -> PgResult<Self> {
        fn of<T: ArrowPrimitiveType<Native: Into<i64>>>(array: &dyn Array) -> Column<'static> {
            Column::Integers(array.as_primitive::<T>().values().iter().map(|value| (*value).into()).collect())
        }
        Ok(match array.data_type() {
            DataType::Int16 => of::<Int16Type>(array),
            DataType::Int32 => of::<Int32Type>(array),
            DataType::Int64 => of::<Int64Type>(array),
            DataType::UInt32 => of::<UInt32Type>(array),
            DataType::Date32 => of::<Date32Type>(array),
            DataType::Time64(TimeUnit::Microsecond) => of::<Time64MicrosecondType>(array),
            DataType::Timestamp(TimeUnit::Microsecond, _) => of::<TimestampMicrosecondType>(array),
            _ => Column::Written(key_writer(ty, array.as_ref())?),
        })
    }

    fn write(&self, row: usize, out: &mut Vec<u8>) -> PgResult<()> {
        match self {
            Column::Integers(values) => {
                out.extend(values.get(row).copied().unwrap_or(0).to_be_bytes());
                Ok(())
            }
            Column::Written(writer) => writer.write(row, out),
        }
    }
}

/// The columns of the parts that are looked for.
fn chosen<'c, 'a>(columns: &'c [Column<'a>], by: Known) -> impl Iterator<Item = (usize, &'c Column<'a>)> {
    columns.iter().enumerate().filter(move |(part, _)| by & (1 << part) != 0)
}

/// The only column of those parts, if it is of integers.
fn only_integers<'c>(columns: &'c [Column<'_>], by: Known) -> Option<&'c [i64]> {
    let mut chosen = chosen(columns, by);
    match (chosen.next(), chosen.next()) {
        (Some((_, Column::Integers(values))), None) => Some(values),
        _ => None,
    }
}

impl Members {
    /// How many parts a member may have.
    pub const MOST_PARTS: usize = Known::BITS as usize;

    fn new(parts: Vec<Part>) -> PgResult<Self> {
        let members = parts.first().map_or(0, |part| part.range.len());
        let bytes = parts.iter().map(|part| value_bytes(part.values.slice(part.range.start, part.range.len()).as_ref())).sum::<usize>();
        let bytes = bytes.saturating_add(members.saturating_mul(MEMBER_BYTES));
        if bytes >= SMALL_BYTES {
            process().claim(bytes)?;
        }
        let mut groups: Vec<Group> = Vec::new();
        for member in 0..members {
            let known = (0..).zip(&parts).filter(|(_, part)| part.values.is_valid(part.range.start + member));
            let known = known.fold(0, |known, (part, _): (u32, _)| known | (1 << part));
            match groups.iter_mut().find(|group| group.known == known) {
                Some(group) => group.rows.push(member),
                None => groups.push(Group { known, rows: vec![member], tables: Mutex::default() }),
            }
        }
        groups.sort_by_key(|group| std::cmp::Reverse(group.known.count_ones()));
        Ok(Self { parts, groups })
    }

    /// For each of `rows` rows whether the tuple of `columns` is among the members; the types are those of the columns.
    ///
    /// # Errors
    /// 42883 for types without an order.
    pub fn contain(&self, types: &[SqlType], columns: &[Arg], rows: usize) -> PgResult<Vec<Option<bool>>> {
        let opened = types.iter().zip(columns).map(|(ty, arg)| Column::open(ty, &arg.array)).collect::<PgResult<Vec<_>>>()?;
        let all = (0..columns.len()).fold(0, |all: Known, part| all | (1 << part));
        let nullable = columns.iter().any(|arg| arg.array.null_count() > 0);
        // Tables by the parts that a tuple knows: rarely more than one kind.
        let mut ways: Vec<(Known, Vec<(Known, Arc<Table>)>)> = Vec::new();
        let mut scratch = Vec::new();
        let mut out = Vec::with_capacity(rows);
        for row in 0..rows {
            let mut known = all;
            if nullable {
                for (part, _) in columns.iter().enumerate().filter(|(_, arg)| arg.is_null(row)) {
                    known &= !(1 << part);
                }
            }
            let way = match ways.iter().position(|(of, _)| *of == known) {
                Some(way) => way,
                None => {
                    let tables = self.groups.iter().map(|group| Ok((group.known & known, self.table(group, group.known & known)?)));
                    ways.push((known, tables.collect::<PgResult<_>>()?));
                    ways.len() - 1
                }
            };
            let mut found = Some(false);
            for (by, table) in ways.get(way).map_or(&[][..], |(_, tables)| tables) {
                let has = match &**table {
                    Table::All => true,
                    Table::Integers(set) => {
                        let value = chosen(&opened, *by).next().map(|(part, column)| match column {
                            Column::Integers(values) => values.get(columns.get(part).map_or(row, |arg| arg.at(row))),
                            Column::Written(_) => None,
                        });
                        value.flatten().is_some_and(|value| set.contains(value))
                    }
                    Table::Bytes(set) => {
                        scratch.clear();
                        for (part, column) in chosen(&opened, *by) {
                            column.write(columns.get(part).map_or(row, |arg| arg.at(row)), &mut scratch)?;
                        }
                        set.contains(scratch.as_slice())
                    }
                };
                if has && *by == all {
                    found = Some(true);
                    break;
                }
                if has {
                    found = None;
                }
            }
            out.push(found);
        }
        Ok(out)
    }

    /// The members of a group by some of their parts.
    fn table(&self, group: &Group, by: Known) -> PgResult<Arc<Table>> {
        let mut tables = group.tables.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, table)) = tables.iter().find(|(of, _)| *of == by) {
            return Ok(Arc::clone(table));
        }
        let values: Vec<ArrayRef> = self.parts.iter().map(|part| part.values.slice(part.range.start, part.range.len())).collect();
        let table = if by == 0 {
            Table::All
        } else {
            let columns =
                self.parts.iter().zip(&values).map(|(part, values)| Column::open(&part.ty, values)).collect::<PgResult<Vec<_>>>()?;
            match only_integers(&columns, by) {
                Some(values) => Table::Integers(group.rows.iter().filter_map(|row| values.get(*row).copied()).collect()),
                None => {
                    let mut set = HashSet::with_capacity(group.rows.len());
                    let mut bytes = Vec::new();
                    for row in &group.rows {
                        bytes.clear();
                        for (_, column) in chosen(&columns, by) {
                            column.write(*row, &mut bytes)?;
                        }
                        set.insert(bytes.as_slice().into());
                    }
                    Table::Bytes(set)
                }
            }
        };
        let table = Arc::new(table);
        tables.push((by, Arc::clone(&table)));
        Ok(table)
    }
}
