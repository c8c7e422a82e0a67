//! What SQL does with maps. Their types have no names that signatures could tell, so that the binder chooses among these kernels.
//!
//! A change of a map that is stored by its entries travels as such ([`crate::types::map_change_arrow`]): what is put and what is removed,
//! without the entries that are there. The kernels that change maps change those changes likewise.

use super::array::{ArrayArg, arg_type, lines};
use crate::args::{Arg, Call, Kernel, arg};
use crate::error::{PgError, PgResult};
use crate::registry::{RowSource, SetKernel};
use crate::sqlstate::SqlState;
use crate::types::{PgType, SqlType};
use crate::values::map::{arrange, column, entries};
use crate::values::{KeyWriter, key_writer};
use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Int64Array, MapArray, NullBufferBuilder, StructArray, UInt32Array, new_null_array,
};
use arrow::compute::{interleave, take};
use arrow::datatypes::DataType;
use std::collections::BTreeMap;
use std::sync::Arc;

fn parts_of(ty: &PgType) -> PgResult<(SqlType, SqlType)> {
    match ty {
        PgType::Map(key, value) => Ok((SqlType::new((**key).clone()), SqlType::new((**value).clone()))),
        _ => Err(PgError::internal(format!("a map of type {ty}"))),
    }
}

/// An argument that is a map.
struct MapArg<'a> {
    map: &'a MapArray,
    key: SqlType,
    value: SqlType,
    arg: &'a Arg,
}

impl<'a> MapArg<'a> {
    fn open(call: &Call, args: &'a [Arg], index: usize) -> PgResult<Self> {
        let arg = arg(args, index)?;
        let map = arg.array.as_map_opt().ok_or_else(|| PgError::internal("a kernel was given no map"))?;
        let (key, value) = parts_of(&arg_type(call, index)?.ty)?;
        Ok(Self { map, key, value, arg })
    }

    /// The positions of a row's entries; `None` for NULL.
    fn get(&self, row: usize) -> Option<std::ops::Range<usize>> {
        (!self.arg.is_null(row)).then(|| entries(self.map, self.arg.at(row)))
    }
}

/// The position of the entry with a key in each row; `None` where there is none.
fn positions(call: &Call, args: &[Arg]) -> PgResult<Vec<Option<u32>>> {
    let map = MapArg::open(call, args, 0)?;
    let wanted = arg(args, 1)?;
    let keys = key_writer(&map.key, map.map.keys().as_ref())?;
    let sought = key_writer(&map.key, wanted.array.as_ref())?;
    let (mut key, mut own) = (Vec::new(), Vec::new());
    let mut out = Vec::with_capacity(call.rows);
    for row in 0..call.rows {
        let Some(range) = map.get(row).filter(|_| !wanted.is_null(row)) else {
            out.push(None);
            continue;
        };
        key.clear();
        sought.write(wanted.at(row), &mut key)?;
        let mut found = None;
        for at in range {
            own.clear();
            keys.write(at, &mut own)?;
            if own == key {
                found = Some(at as u32);
            }
        }
        out.push(found);
    }
    Ok(out)
}

/// `m[k]`: the value of an entry; NULL where there is none.
#[must_use]
pub fn get_kernel() -> Kernel {
    Arc::new(|call, args| {
        let map = MapArg::open(call, args, 0)?;
        Ok(take(map.map.values(), &UInt32Array::from(positions(call, args)?), None)?)
    })
}

/// Whether there is an entry with a key; NULL where the map or the key is.
#[must_use]
pub fn contains_kernel() -> Kernel {
    Arc::new(|call, args| {
        let (map, key) = (arg(args, 0)?, arg(args, 1)?);
        let found = positions(call, args)?.into_iter().enumerate();
        let known = found.map(|(row, at)| (!map.is_null(row) && !key.is_null(row)).then_some(at.is_some()));
        Ok(Arc::new(known.collect::<BooleanArray>()))
    })
}

/// Whether two maps have the same entries, or not; NULL where one of them is.
#[must_use]
pub fn equal_kernel(equal: bool) -> Kernel {
    Arc::new(move |call, args| {
        let (left, right) = (arg(args, 0)?, arg(args, 1)?);
        let ty = arg_type(call, 0)?;
        let (of_left, of_right) = (key_writer(ty, left.array.as_ref())?, key_writer(ty, right.array.as_ref())?);
        let (mut a, mut b) = (Vec::new(), Vec::new());
        let mut out = Vec::with_capacity(call.rows);
        for row in 0..call.rows {
            if left.is_null(row) || right.is_null(row) {
                out.push(None);
                continue;
            }
            a.clear();
            b.clear();
            of_left.write(left.at(row), &mut a)?;
            of_right.write(right.at(row), &mut b)?;
            out.push(Some((a == b) == equal));
        }
        Ok(Arc::new(BooleanArray::from(out)))
    })
}

/// The number of entries.
#[must_use]
pub fn size_kernel() -> Kernel {
    Arc::new(|call, args| {
        let map = MapArg::open(call, args, 0)?;
        Ok(Arc::new((0..call.rows).map(|row| map.get(row).map(|range| range.len() as i64)).collect::<Int64Array>()))
    })
}

/// The keys as an array, or the values.
#[must_use]
pub fn parts_kernel(of_values: bool) -> Kernel {
    Arc::new(move |call, args| {
        let map = MapArg::open(call, args, 0)?;
        let (mut at, mut ends) = (Vec::new(), Vec::with_capacity(call.rows));
        for row in 0..call.rows {
            ends.push(map.get(row).map(|range| {
                at.extend(range.map(|at| at as u32));
                at.len()
            }));
        }
        let of = if of_values { map.map.values() } else { map.map.keys() };
        lines(&take(of, &UInt32Array::from(at), None)?, &ends)
    })
}

fn null_key() -> PgError {
    PgError::new(SqlState::NULL_VALUE_NOT_ALLOWED, "a key of a map cannot be null")
}

/// `map(k1, v1, k2, v2, …)`.
#[must_use]
pub fn of_pairs_kernel() -> Kernel {
    Arc::new(|call, args| {
        let (key, value) = parts_of(&call.ret.ty)?;
        let count = args.len() / 2;
        if count == 0 {
            let ends = vec![0; call.rows];
            return column(&call.ret.arrow, new_null_array(&key.arrow, 0), new_null_array(&value.arrow, 0), &ends, None);
        }
        let (mut keys, mut values) = (Vec::with_capacity(count), Vec::with_capacity(count));
        let mut places = (Vec::new(), Vec::new());
        for row in 0..call.rows {
            for (n, pair) in args.chunks_exact(2).enumerate() {
                let [key, value] = pair else { return Err(PgError::internal("a key without a value")) };
                if key.is_null(row) {
                    return Err(null_key());
                }
                places.0.push((n, key.at(row)));
                places.1.push((n, value.at(row)));
            }
        }
        for pair in args.chunks_exact(2) {
            keys.extend(pair.first().map(|a| a.array.as_ref()));
            values.extend(pair.get(1).map(|a| a.array.as_ref()));
        }
        let ends: Vec<usize> = (1..=call.rows).map(|row| row * count).collect();
        arrange(call.ret, &interleave(&keys, &places.0)?, &interleave(&values, &places.1)?, &ends, None)
    })
}

/// A map of an array of keys and one of values.
#[must_use]
pub fn of_arrays_kernel() -> Kernel {
    Arc::new(|call, args| {
        let (keys, values) = (ArrayArg::open(call, args, 0)?, ArrayArg::open(call, args, 1)?);
        let (mut at, mut ends, mut nulls) = ((Vec::new(), Vec::new()), Vec::with_capacity(call.rows), NullBufferBuilder::new(call.rows));
        for row in 0..call.rows {
            let (Some(k), Some(v)) = (keys.get(row), values.get(row)) else {
                nulls.append_null();
                ends.push(at.0.len());
                continue;
            };
            if k.end - k.start != v.end - v.start {
                return Err(PgError::new(SqlState::ARRAY_SUBSCRIPT_ERROR, "arrays of keys and of values must have equal sizes"));
            }
            if (k.start..k.end).any(|i| keys.column.leaf().is_null(i)) {
                return Err(null_key());
            }
            nulls.append_non_null();
            at.0.extend((k.start..k.end).map(|i| i as u32));
            at.1.extend((v.start..v.end).map(|i| i as u32));
            ends.push(at.0.len());
        }
        let taken = |of: &ArrayRef, at: Vec<u32>| take(of, &UInt32Array::from(at), None);
        arrange(call.ret, &taken(keys.column.leaf(), at.0)?, &taken(values.column.leaf(), at.1)?, &ends, nulls.finish())
    })
}

/// A map of an array of rows of a key and a value; the empty one of NULL.
#[must_use]
pub fn of_entries_kernel() -> Kernel {
    Arc::new(|call, args| {
        let rows = ArrayArg::open(call, args, 0)?;
        let (mut at, mut ends) = (Vec::new(), Vec::with_capacity(call.rows));
        for row in 0..call.rows {
            if let Some(value) = rows.get(row) {
                at.extend((value.start..value.end).map(|i| i as u32));
            }
            ends.push(at.len());
        }
        let (key, value) = parts_of(&call.ret.ty)?;
        if at.is_empty() {
            return column(&call.ret.arrow, new_null_array(&key.arrow, 0), new_null_array(&value.arrow, 0), &ends, None);
        }
        let pairs = take(rows.column.leaf(), &UInt32Array::from(at), None)?;
        let pairs = pairs.as_struct_opt().filter(|pairs| pairs.num_columns() == 2);
        let pairs = pairs.ok_or_else(|| PgError::internal("entries that are no pairs"))?;
        arrange(call.ret, pairs.column(0), pairs.column(1), &ends, None)
    })
}

/// What is done to a map, the first argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    /// An entry with this key and value is put.
    Put,
    /// An entry with this key and value is put; of NULL none is there.
    Set,
    /// The entries of another map are put.
    Merge,
    /// The entry with a key goes.
    Remove,
    /// Those with the keys in an array go.
    RemoveAll,
}

/// Columns from which entries are gathered.
#[derive(Default)]
struct Gathered {
    keys: Vec<ArrayRef>,
    values: Vec<ArrayRef>,
    /// By key: the column and the place in it, and in its values; `None` for what is removed.
    row: BTreeMap<Vec<u8>, (usize, usize, Option<usize>)>,
    places: Vec<(usize, usize)>,
    of_values: Vec<(usize, usize)>,
    removed: Vec<bool>,
    ends: Vec<usize>,
}

/// The maps, or changes of maps, that are the first argument, changed. NULL is the empty map.
#[must_use]
pub fn change_kernel(change: Change) -> Kernel {
    Arc::new(move |call, args| {
        let (key, value) = parts_of(&call.ret.ty)?;
        let base = MapArg::open(call, args, 0)?;
        let as_change = call.ret.arrow != call.ret.ty.arrow();
        // Of a change, an entry says whether it is one or takes one away.
        let (base_values, base_removed) = match base.map.values().data_type() {
            DataType::Struct(_) => {
                let parts = base.map.values().as_struct();
                (Arc::clone(parts.column(0)), Some(parts.column(1).as_boolean().clone()))
            }
            _ => (Arc::clone(base.map.values()), None),
        };
        let nothing = new_null_array(&value.arrow, 1);
        let mut out = Gathered { keys: vec![Arc::clone(base.map.keys())], values: vec![base_values], ..Gathered::default() };
        let (merged, array) = match change {
            Change::Put | Change::Set => {
                out.keys.push(Arc::clone(&arg(args, 1)?.array));
                out.values.push(Arc::clone(&arg(args, 2)?.array));
                (None, None)
            }
            Change::Merge => {
                let merged = MapArg::open(call, args, 1)?;
                out.keys.push(Arc::clone(merged.map.keys()));
                out.values.push(Arc::clone(merged.map.values()));
                (Some(merged), None)
            }
            Change::Remove => {
                out.keys.push(Arc::clone(&arg(args, 1)?.array));
                out.values.push(Arc::clone(&nothing));
                (None, None)
            }
            Change::RemoveAll => {
                let array = ArrayArg::open(call, args, 1)?;
                out.keys.push(Arc::clone(array.column.leaf()));
                out.values.push(Arc::clone(&nothing));
                (None, Some(array))
            }
        };
        out.values.push(nothing);
        let columns = out.keys.clone();
        let orders = columns.iter().map(|keys| key_writer(&key, keys.as_ref())).collect::<PgResult<Vec<_>>>()?;
        let bytes = |column: usize, at: usize| -> PgResult<Vec<u8>> {
            let mut bytes = Vec::new();
            let order: &dyn KeyWriter = &**orders.get(column).ok_or_else(|| PgError::internal("a column of keys is missing"))?;
            order.write(at, &mut bytes)?;
            Ok(bytes)
        };
        for row in 0..call.rows {
            for at in base.get(row).unwrap_or_default() {
                let gone = base_removed.as_ref().is_some_and(|removed| removed.value(at));
                out.row.insert(bytes(0, at)?, (0, at, (!gone).then_some(at)));
            }
            match change {
                Change::Put | Change::Set => {
                    let (key, value) = (arg(args, 1)?, arg(args, 2)?);
                    if key.is_null(row) {
                        return Err(null_key());
                    }
                    let there = change == Change::Put || !value.is_null(row);
                    out.row.insert(bytes(1, key.at(row))?, (1, key.at(row), there.then(|| value.at(row))));
                }
                Change::Merge => {
                    for at in merged.as_ref().and_then(|merged| merged.get(row)).unwrap_or_default() {
                        out.row.insert(bytes(1, at)?, (1, at, Some(at)));
                    }
                }
                Change::Remove => {
                    let key = arg(args, 1)?;
                    if !key.is_null(row) {
                        out.row.insert(bytes(1, key.at(row))?, (1, key.at(row), None));
                    }
                }
                Change::RemoveAll => {
                    let range = array.as_ref().and_then(|array| array.get(row)).map_or(0..0, |value| value.start..value.end);
                    for at in range.filter(|at| columns.get(1).is_some_and(|keys| !keys.is_null(*at))) {
                        out.row.insert(bytes(1, at)?, (1, at, None));
                    }
                }
            }
            out.end_row(as_change);
        }
        out.finish(call.ret, as_change)
    })
}

impl Gathered {
    fn end_row(&mut self, as_change: bool) {
        for (column, key, value) in std::mem::take(&mut self.row).into_values() {
            if value.is_none() && !as_change {
                continue;
            }
            self.places.push((column, key));
            // Behind the columns of values stands one NULL.
            self.of_values.push(value.map_or((self.values.len() - 1, 0), |at| (column, at)));
            self.removed.push(value.is_none());
        }
        self.ends.push(self.places.len());
    }

    fn finish(self, ret: &SqlType, as_change: bool) -> PgResult<ArrayRef> {
        let gathered = |of: &[ArrayRef], at: &[(usize, usize)]| interleave(&of.iter().map(AsRef::as_ref).collect::<Vec<_>>(), at);
        let (keys, mut values) = (gathered(&self.keys, &self.places)?, gathered(&self.values, &self.of_values)?);
        if as_change {
            let DataType::Map(field, _) = &ret.arrow else { return Err(PgError::internal("a change of a map that is none")) };
            let DataType::Struct(fields) = field.data_type() else { return Err(PgError::internal("a change without entries")) };
            let Some(DataType::Struct(parts)) = fields.get(1).map(|f| f.data_type()) else {
                return Err(PgError::internal("a change without entries"));
            };
            let removed: ArrayRef = Arc::new(BooleanArray::from(self.removed));
            values = Arc::new(StructArray::try_new(parts.clone(), vec![values, removed], None)?);
        }
        column(&ret.arrow, keys, values, &self.ends, None)
    }
}

struct EntryRows {
    keys: ArrayRef,
    values: ArrayRef,
    at: usize,
    end: usize,
}

impl RowSource for EntryRows {
    fn next_chunk(&mut self, limit: usize) -> PgResult<Option<Vec<ArrayRef>>> {
        if self.at >= self.end {
            return Ok(None);
        }
        let count = limit.max(1).min(self.end - self.at);
        let chunk = vec![self.keys.slice(self.at, count), self.values.slice(self.at, count)];
        self.at += count;
        Ok(Some(chunk))
    }
}

/// `each(m)`: a row for each entry.
#[must_use]
pub fn each_kernel() -> SetKernel {
    Arc::new(|call, args, row| {
        let map = MapArg::open(call, args, 0)?;
        let range = map.get(row).unwrap_or_default();
        debug_assert_eq!(&map.value.arrow, map.map.values().data_type());
        Ok(Box::new(EntryRows { keys: Arc::clone(map.map.keys()), values: Arc::clone(map.map.values()), at: range.start, end: range.end }))
    })
}
