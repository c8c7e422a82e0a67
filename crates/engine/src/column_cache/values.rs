//! The values of a segment's column in few bytes: numbers as narrow as they all fit, texts without their views, or as numbers into the
//! few that differ. They are read as they were.

use arrow::array::{
    Array, ArrayRef, ArrowPrimitiveType, AsArray, BinaryArray, BinaryViewArray, Decimal128Array, GenericByteArray, GenericByteBuilder,
    GenericByteViewArray, Int32Array, Int64Array, PrimitiveArray, StringArray, StringViewArray, UInt8Array, make_view,
};
use arrow::buffer::{Buffer, ScalarBuffer};
use arrow::datatypes::{ArrowNativeType, ByteArrayType, ByteViewType, DataType, Decimal128Type, Int32Type, Int64Type};
use hashbrown::HashMap;
use std::sync::Arc;

/// See the module. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) enum Values {
    Plain(ArrayRef),
    /// Decimals of this type, without their scale.
    Decimals32(Int32Array, DataType),
    Decimals64(Int64Array, DataType),
    /// 64 bit integers.
    Integers32(Int32Array),
    Texts(StringArray),
    Bytes(BinaryArray),
    /// By row the place of its text.
    FewTexts(UInt8Array, StringViewArray),
}

/// Texts that differ, up to which they are numbered.
const MAX_FEW: usize = 256;
/// Rows after which a column is given up whose texts differ more than `MAX_FEW_SAMPLED`.
const SAMPLED: usize = 512;
const MAX_FEW_SAMPLED: usize = 128;

impl Values {
    /// The values of an array.
    pub fn new(array: &ArrayRef) -> Self {
        let compact = match array.data_type() {
            DataType::Decimal128(..) => decimals(array.as_primitive()),
            DataType::Int64 => narrow::<Int64Type, Int32Type>(array.as_primitive(), |v| i32::try_from(v).ok()).map(Values::Integers32),
            DataType::Utf8View => few(array.as_string_view()).or_else(|| offsets(array.as_string_view()).map(Values::Texts)),
            DataType::BinaryView => offsets(array.as_binary_view()).map(Values::Bytes),
            _ => None,
        };
        compact.unwrap_or_else(|| Values::Plain(Arc::clone(array)))
    }

    /// The array.
    pub fn array(&self) -> ArrayRef {
        match self {
            Values::Plain(array) => Arc::clone(array),
            Values::Decimals32(narrow, ty) => Arc::new(wide::<_, Decimal128Type>(narrow, i128::from).with_data_type(ty.clone())),
            Values::Decimals64(narrow, ty) => Arc::new(wide::<_, Decimal128Type>(narrow, i128::from).with_data_type(ty.clone())),
            Values::Integers32(narrow) => Arc::new(wide::<_, Int64Type>(narrow, i64::from)),
            Values::Texts(texts) => Arc::new(StringViewArray::from(texts)),
            Values::Bytes(bytes) => Arc::new(BinaryViewArray::from(bytes)),
            Values::FewTexts(places, texts) => Arc::new(numbered(places, texts)),
        }
    }

    /// Bytes in memory.
    pub fn bytes(&self) -> usize {
        match self {
            Values::Plain(array) => array.get_array_memory_size(),
            Values::Decimals32(array, _) | Values::Integers32(array) => array.get_array_memory_size(),
            Values::Decimals64(array, _) => array.get_array_memory_size(),
            Values::Texts(array) => array.get_array_memory_size(),
            Values::Bytes(array) => array.get_array_memory_size(),
            Values::FewTexts(places, texts) => places.get_array_memory_size() + texts.get_array_memory_size(),
        }
    }
}

/// The same numbers in another width, if they all fit.
fn narrow<W: ArrowPrimitiveType, N: ArrowPrimitiveType>(
    wide: &PrimitiveArray<W>,
    fit: impl Fn(W::Native) -> Option<N::Native>,
) -> Option<PrimitiveArray<N>> {
    let mut values = Vec::with_capacity(wide.len());
    for (at, value) in wide.values().iter().enumerate() {
        // What is under a NULL may be anything.
        values.push(if wide.is_null(at) { N::Native::usize_as(0) } else { fit(*value)? });
    }
    Some(PrimitiveArray::new(values.into(), wide.nulls().cloned()))
}

fn wide<N: ArrowPrimitiveType, W: ArrowPrimitiveType>(
    narrow: &PrimitiveArray<N>,
    widen: impl Fn(N::Native) -> W::Native,
) -> PrimitiveArray<W> {
    let values: Vec<W::Native> = narrow.values().iter().map(|value| widen(*value)).collect();
    PrimitiveArray::new(values.into(), narrow.nulls().cloned())
}

fn decimals(array: &Decimal128Array) -> Option<Values> {
    let ty = array.data_type().clone();
    if let Some(narrow) = narrow::<Decimal128Type, Int32Type>(array, |v| i32::try_from(v).ok()) {
        return Some(Values::Decimals32(narrow, ty));
    }
    narrow::<Decimal128Type, Int64Type>(array, |v| i64::try_from(v).ok()).map(|narrow| Values::Decimals64(narrow, ty))
}

/// The same with offsets, if 32 bits do for them.
fn offsets<V: ByteViewType<Native = T::Native>, T: ByteArrayType<Offset = i32>>(
    array: &GenericByteViewArray<V>,
) -> Option<GenericByteArray<T>> {
    let bytes: u64 = array.lengths().map(u64::from).sum();
    let bytes = i32::try_from(bytes).ok().and_then(|bytes| usize::try_from(bytes).ok())?;
    let mut out = GenericByteBuilder::<T>::with_capacity(array.len(), bytes);
    array.iter().for_each(|value| out.append_option(value));
    Some(out.finish())
}

fn few(array: &StringViewArray) -> Option<Values> {
    let mut places: HashMap<&str, u8> = HashMap::new();
    let mut texts: Vec<&str> = Vec::new();
    let mut of_rows: Vec<u8> = Vec::with_capacity(array.len());
    for (row, text) in array.iter().enumerate() {
        let Some(text) = text else {
            of_rows.push(0);
            continue;
        };
        let place = match places.get(text) {
            Some(place) => *place,
            None => {
                let most = if row < SAMPLED { MAX_FEW_SAMPLED } else { MAX_FEW };
                if texts.len() >= most {
                    return None;
                }
                let place = u8::try_from(texts.len()).ok()?;
                places.insert(text, place);
                texts.push(text);
                place
            }
        };
        of_rows.push(place);
    }
    // All texts of one block, so that the views of rows can be those of their texts.
    let texts: StringArray = texts.iter().map(Some).collect();
    Some(Values::FewTexts(UInt8Array::new(of_rows.into(), array.nulls().cloned()), StringViewArray::from(&texts)))
}

fn numbered(places: &UInt8Array, texts: &StringViewArray) -> StringViewArray {
    let of_texts = texts.views();
    let empty = make_view(b"", 0, 0);
    let views: Vec<u128> = places.values().iter().map(|place| of_texts.get(usize::from(*place)).copied().unwrap_or(empty)).collect();
    let buffers: Vec<Buffer> = texts.data_buffers().to_vec();
    // SAFETY: the views are those of `texts`, over its buffers, or the view of the empty text.
    unsafe { StringViewArray::new_unchecked(ScalarBuffer::from(views), buffers, places.nulls().cloned()) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;
    use arrow::array::BooleanArray;

    fn same(array: ArrayRef) -> Values {
        let values = Values::new(&array);
        assert_eq!(&values.array(), &array);
        assert_eq!(values.array().data_type(), array.data_type());
        values
    }

    fn decimals_of(values: Vec<Option<i128>>) -> ArrayRef {
        Arc::new(Decimal128Array::from(values).with_data_type(DataType::Decimal128(15, 2)))
    }

    fn texts_of<'a>(texts: impl IntoIterator<Item = Option<&'a str>>) -> ArrayRef {
        Arc::new(texts.into_iter().collect::<StringViewArray>())
    }

    #[test]
    fn values_are_read_as_they_were() {
        assert!(matches!(same(decimals_of(vec![Some(1), None, Some(-12_345)])), Values::Decimals32(..)));
        assert!(matches!(same(decimals_of(vec![Some(i128::from(i64::MIN)), None])), Values::Decimals64(..)));
        assert!(matches!(same(decimals_of(vec![Some(i128::from(i64::MAX) + 1), Some(0)])), Values::Plain(_)));
        assert!(matches!(same(Arc::new(Int64Array::from(vec![Some(i64::from(i32::MAX)), None, Some(-5)]))), Values::Integers32(_)));
        assert!(matches!(same(Arc::new(Int64Array::from(vec![i64::from(i32::MAX) + 1]))), Values::Plain(_)));
        assert!(matches!(same(Arc::new(BooleanArray::from(vec![Some(true), None]))), Values::Plain(_)));
        let few = ["", "short", "a text that is longer than a view", "ß", "short"].map(Some);
        assert!(matches!(same(texts_of(few.into_iter().chain([None]).cycle().take(3000))), Values::FewTexts(..)));
        assert!(matches!(same(texts_of([None, None])), Values::FewTexts(..)));
        let many: Vec<String> = (0..3000).map(|n| format!("{n}{}", "x".repeat(n % 30))).collect();
        assert!(matches!(same(texts_of(many.iter().map(|text| Some(text.as_str())).chain([None]))), Values::Texts(_)));
        let bytes = BinaryViewArray::from_iter([Some(&b"\xff\0"[..]), None, Some(&[7; 40][..])]);
        assert!(matches!(same(Arc::new(bytes)), Values::Bytes(_)));
        same(texts_of([]));
    }

    #[test]
    fn a_null_has_no_say_in_the_width() {
        let nulls = arrow::buffer::NullBuffer::from(vec![false, true]);
        let array = Decimal128Array::new(vec![i128::MAX, 4].into(), Some(nulls)).with_data_type(DataType::Decimal128(38, 0));
        assert!(matches!(same(Arc::new(array)), Values::Decimals32(..)));
    }

    #[test]
    fn values_take_few_bytes() {
        let rows = 8192;
        let bytes = |array: ArrayRef| Values::new(&array).bytes() / rows;
        assert_eq!(bytes(decimals_of((0..rows).map(|n| Some(n as i128)).collect())), 4);
        assert_eq!(bytes(texts_of((0..rows).map(|n| Some(["DELIVER IN PERSON", "NONE"][n % 2])))), 1);
        let comments: Vec<String> = (0..rows).map(|n| format!("{n:027}")).collect();
        assert!(bytes(texts_of(comments.iter().map(|text| Some(text.as_str())))) < 36);
    }
}
