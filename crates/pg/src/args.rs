//! Arguments of kernels: columns that may be constant, read as Rust values; and adapters that turn a function over values into
//! a kernel over columns.
//!
//! A [`Kind`] marker says how one SQL type is read from and written to Arrow: `strict2::<Text, Int4, Text>(|call, s, n| …)` is
//! the kernel of a function that is NULL when an argument is. Constants are not expanded: their column has one row.

use crate::context::EvalContext;
use crate::error::{PgError, PgResult};
use crate::memory::{append_bytes, append_text};
use crate::types::SqlType;
use arrow::array::{
    Array, ArrayRef, AsArray, BinaryViewArray, BinaryViewBuilder, BooleanArray, FixedSizeBinaryArray, FixedSizeBinaryBuilder,
    PrimitiveArray, StringViewArray, StringViewBuilder,
};
use arrow::datatypes::{
    Date32Type, Float32Type, Float64Type, Int16Type, Int32Type, Int64Type, Time64MicrosecondType, TimestampMicrosecondType, UInt32Type,
};
use std::sync::Arc;

/// One call of a kernel on one batch.
#[derive(Debug)]
pub struct Call<'a> {
    pub ctx: &'a EvalContext,
    /// Rows of the result; 1 when all arguments are constants.
    pub rows: usize,
    pub arg_types: &'a [SqlType],
    pub ret: &'a SqlType,
    /// Casts: whether written as one (`::`), rather than implied by an assignment.
    pub explicit: bool,
}

/// An argument: a column, or one row that stands for all.
#[derive(Clone, Debug)]
pub struct Arg {
    pub array: ArrayRef,
    pub constant: bool,
}

impl Arg {
    /// The row of the array that holds the value for row `row` of the batch.
    #[inline]
    #[must_use]
    pub fn at(&self, row: usize) -> usize {
        if self.constant { 0 } else { row }
    }

    #[inline]
    #[must_use]
    pub fn is_null(&self, row: usize) -> bool {
        self.array.is_null(self.at(row))
    }
}

/// What a scalar function or a cast does to columns.
pub type Kernel = Arc<dyn Fn(&Call, &[Arg]) -> PgResult<ArrayRef> + Send + Sync>;

/// How values of one SQL type are read from and written to Arrow.
pub trait Kind: 'static {
    type In<'a>;
    type Out;
    type Column: 'static;
    type Builder;
    /// The array as its concrete type; an error (XX000) when it is another.
    fn open(array: &ArrayRef) -> PgResult<&Self::Column>;
    fn get<'a>(column: &'a Self::Column, row: usize) -> PgResult<Self::In<'a>>;
    fn builder(rows: usize) -> Self::Builder;
    fn push(builder: &mut Self::Builder, value: Option<Self::Out>) -> PgResult<()>;
    fn finish(builder: Self::Builder, ret: &SqlType) -> PgResult<ArrayRef>;
}

fn wrong(array: &ArrayRef, wanted: &str) -> PgError {
    PgError::internal(format!("a kernel was given {} where it takes {wanted}", array.data_type()))
}

macro_rules! primitive_kind {
    ($(#[$doc:meta])* $name:ident, $arrow:ty, $native:ty) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name;
        impl Kind for $name {
            type In<'a> = $native;
            type Out = $native;
            type Column = PrimitiveArray<$arrow>;
            type Builder = Vec<Option<$native>>;
            fn open(array: &ArrayRef) -> PgResult<&Self::Column> {
                array.as_primitive_opt::<$arrow>().ok_or_else(|| wrong(array, stringify!($name)))
            }
            #[inline]
            fn get(column: &Self::Column, row: usize) -> PgResult<$native> {
                Ok(column.value(row))
            }
            fn builder(rows: usize) -> Self::Builder {
                Vec::with_capacity(rows)
            }
            #[inline]
            fn push(builder: &mut Self::Builder, value: Option<$native>) -> PgResult<()> {
                builder.push(value);
                Ok(())
            }
            fn finish(builder: Self::Builder, ret: &SqlType) -> PgResult<ArrayRef> {
                let array = PrimitiveArray::<$arrow>::from_iter(builder);
                Ok(if array.data_type() == &ret.arrow { Arc::new(array) } else { Arc::new(array.with_data_type(ret.arrow.clone())) })
            }
        }
    };
}

primitive_kind!(Int2, Int16Type, i16);
primitive_kind!(Int4, Int32Type, i32);
primitive_kind!(Int8, Int64Type, i64);
primitive_kind!(Float4, Float32Type, f32);
primitive_kind!(Float8, Float64Type, f64);
primitive_kind!(
    /// oid and the reg… types.
    Oid, UInt32Type, u32
);
primitive_kind!(
    /// Days since 1970-01-01; `i32::MAX` and `i32::MIN` are ±infinity.
    Date, Date32Type, i32
);
primitive_kind!(
    /// Microseconds since midnight; 24:00:00 is allowed.
    Time, Time64MicrosecondType, i64
);
primitive_kind!(
    /// timestamp and timestamptz: microseconds since 2000-01-01; `i64::MAX` and `i64::MIN` are ±infinity.
    Timestamp, TimestampMicrosecondType, i64
);
#[derive(Debug)]
pub struct Bool;
impl Kind for Bool {
    type In<'a> = bool;
    type Out = bool;
    type Column = BooleanArray;
    type Builder = Vec<Option<bool>>;
    fn open(array: &ArrayRef) -> PgResult<&BooleanArray> {
        array.as_boolean_opt().ok_or_else(|| wrong(array, "bool"))
    }
    #[inline]
    fn get(column: &BooleanArray, row: usize) -> PgResult<bool> {
        Ok(column.value(row))
    }
    fn builder(rows: usize) -> Self::Builder {
        Vec::with_capacity(rows)
    }
    #[inline]
    fn push(builder: &mut Self::Builder, value: Option<bool>) -> PgResult<()> {
        builder.push(value);
        Ok(())
    }
    fn finish(builder: Self::Builder, _: &SqlType) -> PgResult<ArrayRef> {
        Ok(Arc::new(BooleanArray::from(builder)))
    }
}

/// All string types, json, jsonpath: read as `&str`, written from anything that holds a `str`.
#[derive(Debug)]
pub struct Text;
impl Kind for Text {
    type In<'a> = &'a str;
    type Out = String;
    type Column = StringViewArray;
    type Builder = StringViewBuilder;
    fn open(array: &ArrayRef) -> PgResult<&StringViewArray> {
        array.as_string_view_opt().ok_or_else(|| wrong(array, "text"))
    }
    #[inline]
    fn get(column: &StringViewArray, row: usize) -> PgResult<&str> {
        Ok(column.value(row))
    }
    fn builder(rows: usize) -> StringViewBuilder {
        StringViewBuilder::with_capacity(rows)
    }
    #[inline]
    fn push(builder: &mut StringViewBuilder, value: Option<String>) -> PgResult<()> {
        match value {
            Some(mut text) => append_text(builder, &mut text),
            None => {
                builder.append_null();
                Ok(())
            }
        }
    }
    fn finish(mut builder: StringViewBuilder, _: &SqlType) -> PgResult<ArrayRef> {
        Ok(Arc::new(builder.finish()))
    }
}

/// bytea, and the raw bytes of numeric and jsonb.
#[derive(Debug)]
pub struct Bytes;
impl Kind for Bytes {
    type In<'a> = &'a [u8];
    type Out = Vec<u8>;
    type Column = BinaryViewArray;
    type Builder = BinaryViewBuilder;
    fn open(array: &ArrayRef) -> PgResult<&BinaryViewArray> {
        array.as_binary_view_opt().ok_or_else(|| wrong(array, "bytea"))
    }
    #[inline]
    fn get(column: &BinaryViewArray, row: usize) -> PgResult<&[u8]> {
        Ok(column.value(row))
    }
    fn builder(rows: usize) -> BinaryViewBuilder {
        BinaryViewBuilder::with_capacity(rows)
    }
    #[inline]
    fn push(builder: &mut BinaryViewBuilder, value: Option<Vec<u8>>) -> PgResult<()> {
        match value {
            Some(bytes) => append_bytes(builder, bytes),
            None => {
                builder.append_null();
                Ok(())
            }
        }
    }
    fn finish(mut builder: BinaryViewBuilder, _: &SqlType) -> PgResult<ArrayRef> {
        Ok(Arc::new(builder.finish()))
    }
}

#[derive(Debug)]
pub struct Uuid;
impl Kind for Uuid {
    type In<'a> = [u8; 16];
    type Out = [u8; 16];
    type Column = FixedSizeBinaryArray;
    type Builder = FixedSizeBinaryBuilder;
    fn open(array: &ArrayRef) -> PgResult<&FixedSizeBinaryArray> {
        array.as_fixed_size_binary_opt().ok_or_else(|| wrong(array, "uuid"))
    }
    fn get(column: &FixedSizeBinaryArray, row: usize) -> PgResult<[u8; 16]> {
        <[u8; 16]>::try_from(column.value(row)).map_err(|_| PgError::internal("a uuid that has not 16 bytes"))
    }
    fn builder(rows: usize) -> FixedSizeBinaryBuilder {
        FixedSizeBinaryBuilder::with_capacity(rows, 16)
    }
    fn push(builder: &mut FixedSizeBinaryBuilder, value: Option<[u8; 16]>) -> PgResult<()> {
        match value {
            Some(value) => builder.append_value(value)?,
            None => builder.append_null(),
        }
        Ok(())
    }
    fn finish(mut builder: FixedSizeBinaryBuilder, _: &SqlType) -> PgResult<ArrayRef> {
        Ok(Arc::new(builder.finish()))
    }
}

/// A column of one kind with NULLs: what `lax` functions read.
#[derive(Debug)]
pub struct Reader<'a, K: Kind> {
    column: &'a K::Column,
    arg: &'a Arg,
}

impl<'a, K: Kind> Reader<'a, K> {
    pub fn new(arg: &'a Arg) -> PgResult<Self> {
        Ok(Self { column: K::open(&arg.array)?, arg })
    }

    /// The value of a row of the batch, `None` for NULL.
    #[inline]
    pub fn get(&self, row: usize) -> PgResult<Option<K::In<'a>>> {
        let at = self.arg.at(row);
        if self.arg.array.is_null(at) { Ok(None) } else { K::get(self.column, at).map(Some) }
    }
}

/// The argument at `index`; XX000 when the call has fewer.
pub fn arg(args: &[Arg], index: usize) -> PgResult<&Arg> {
    args.get(index).ok_or_else(|| PgError::internal("a kernel was given too few arguments"))
}

/// The `K` value of a constant argument: `Some(None)` is a constant NULL, `None` a column.
pub fn constant<'a, K: Kind>(arg: &'a Arg) -> PgResult<Option<Option<K::In<'a>>>> {
    if arg.constant { Reader::<K>::new(arg)?.get(0).map(Some) } else { Ok(None) }
}

macro_rules! adapters {
    ($strict:ident, $strict_opt:ident, $lax:ident, $($k:ident $v:ident $i:tt),+) => {
        /// A kernel whose result is NULL if an argument is.
        pub fn $strict<$($k: Kind,)+ R: Kind>(
            f: impl for<'a> Fn(&Call, $($k::In<'a>),+) -> PgResult<R::Out> + Send + Sync + 'static,
        ) -> Kernel {
            Arc::new(move |call, args| {
                $(let $v = Reader::<$k>::new(arg(args, $i)?)?;)+
                let mut out = R::builder(call.rows);
                for row in 0..call.rows {
                    match ($($v.get(row)?,)+) {
                        ($(Some($v),)+) => R::push(&mut out, Some(f(call, $($v),+)?))?,
                        _ => R::push(&mut out, None)?,
                    }
                }
                R::finish(out, call.ret)
            })
        }

        /// A kernel whose result is NULL if an argument is, or if the function says so.
        pub fn $strict_opt<$($k: Kind,)+ R: Kind>(
            f: impl for<'a> Fn(&Call, $($k::In<'a>),+) -> PgResult<Option<R::Out>> + Send + Sync + 'static,
        ) -> Kernel {
            Arc::new(move |call, args| {
                $(let $v = Reader::<$k>::new(arg(args, $i)?)?;)+
                let mut out = R::builder(call.rows);
                for row in 0..call.rows {
                    match ($($v.get(row)?,)+) {
                        ($(Some($v),)+) => R::push(&mut out, f(call, $($v),+)?)?,
                        _ => R::push(&mut out, None)?,
                    }
                }
                R::finish(out, call.ret)
            })
        }

        /// A kernel that sees NULLs.
        pub fn $lax<$($k: Kind,)+ R: Kind>(
            f: impl for<'a> Fn(&Call, $(Option<$k::In<'a>>),+) -> PgResult<Option<R::Out>> + Send + Sync + 'static,
        ) -> Kernel {
            Arc::new(move |call, args| {
                $(let $v = Reader::<$k>::new(arg(args, $i)?)?;)+
                let mut out = R::builder(call.rows);
                for row in 0..call.rows {
                    R::push(&mut out, f(call, $($v.get(row)?),+)?)?;
                }
                R::finish(out, call.ret)
            })
        }
    };
}

adapters!(strict1, strict1_opt, lax1, A a 0);
adapters!(strict2, strict2_opt, lax2, A a 0, B b 1);
adapters!(strict3, strict3_opt, lax3, A a 0, B b 1, C c 2);
adapters!(strict4, strict4_opt, lax4, A a 0, B b 1, C c 2, D d 3);

/// A kernel without arguments, called for each row (`random()`).
pub fn each_row<R: Kind>(f: impl Fn(&Call) -> PgResult<R::Out> + Send + Sync + 'static) -> Kernel {
    Arc::new(move |call, _| {
        let mut out = R::builder(call.rows);
        for _ in 0..call.rows {
            R::push(&mut out, Some(f(call)?))?;
        }
        R::finish(out, call.ret)
    })
}
