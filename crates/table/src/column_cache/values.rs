//! The values of a segment's column in few bytes: numbers as their distances from the least, as narrow as these are, texts without
//! their views, or as numbers into the few that differ. They are read as they were.

use arrow::array::{
    Array, ArrayRef, ArrowPrimitiveType, AsArray, BinaryArray, BinaryViewArray, GenericByteArray, GenericByteBuilder, GenericByteViewArray,
    PrimitiveArray, StringArray, StringViewArray, UInt8Array, make_view,
};
use arrow::buffer::{Buffer, NullBuffer, ScalarBuffer};
use arrow::datatypes::{ByteArrayType, ByteViewType, DataType, Date32Type, Decimal128Type, Int32Type, Int64Type};
use hashbrown::HashMap;
use std::sync::Arc;

/// See the module. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) enum Values {
    Plain(ArrayRef),
    /// Decimals without their scale, integers and dates, of this type.
    Numbers(Numbers, DataType),
    Texts(StringArray),
    Bytes(BinaryArray),
    /// By row the place of its text.
    FewTexts(UInt8Array, StringViewArray),
}

/// Whole numbers, by row as the distance from one that is none of them larger than.
#[derive(Clone, Debug)]
pub(super) struct Numbers {
    least: i64,
    distances: Distances,
    nulls: Option<NullBuffer>,
}

#[derive(Clone, Debug)]
enum Distances {
    One(Arc<[u8]>),
    Two(Arc<[u16]>),
    Four(Arc<[u32]>),
    Eight(Arc<[u64]>),
}

/// Texts that differ, up to which they are numbered.
const MAX_FEW: usize = 256;
/// Rows after which a column is given up whose texts differ more than `MAX_FEW_SAMPLED`.
const SAMPLED: usize = 512;
const MAX_FEW_SAMPLED: usize = 128;

impl Values {
    /// The values of an array.
    pub fn new(array: &ArrayRef) -> Self {
        let ty = array.data_type();
        let numbers = match ty {
            DataType::Decimal128(..) => Numbers::new(array.as_primitive::<Decimal128Type>(), |n| n as i64, i128::from),
            DataType::Int64 => Numbers::new(array.as_primitive::<Int64Type>(), |n| n, |n| n),
            DataType::Int32 => Numbers::new(array.as_primitive::<Int32Type>(), i64::from, |n| n as i32),
            DataType::Date32 => Numbers::new(array.as_primitive::<Date32Type>(), i64::from, |n| n as i32),
            _ => None,
        };
        // It costs time to read them: as long as they take half of the bytes.
        let compact = match ty {
            DataType::Utf8View => few(array.as_string_view()).or_else(|| offsets(array.as_string_view()).map(Values::Texts)),
            DataType::BinaryView => offsets(array.as_binary_view()).map(Values::Bytes),
            ty => numbers
                .filter(|numbers| numbers.distances.width() * 2 <= ty.primitive_width().unwrap_or(0))
                .map(|numbers| Values::Numbers(numbers, ty.clone())),
        };
        compact.unwrap_or_else(|| Values::Plain(Arc::clone(array)))
    }

    /// The array.
    pub fn array(&self) -> ArrayRef {
        match self {
            Values::Plain(array) => Arc::clone(array),
            Values::Numbers(numbers, ty) => match ty {
                DataType::Int32 => Arc::new(numbers.array::<Int32Type>(|n| n as i32)),
                DataType::Date32 => Arc::new(numbers.array::<Date32Type>(|n| n as i32)),
                DataType::Int64 => Arc::new(numbers.array::<Int64Type>(|n| n)),
                decimal => Arc::new(numbers.array::<Decimal128Type>(i128::from).with_data_type(decimal.clone())),
            },
            Values::Texts(texts) => Arc::new(StringViewArray::from(texts)),
            Values::Bytes(bytes) => Arc::new(BinaryViewArray::from(bytes)),
            Values::FewTexts(places, texts) => Arc::new(numbered(places, texts)),
        }
    }

    /// Bytes in memory.
    pub fn bytes(&self) -> usize {
        match self {
            Values::Plain(array) => array.get_array_memory_size(),
            Values::Numbers(numbers, _) => numbers.bytes(),
            Values::Texts(array) => array.get_array_memory_size(),
            Values::Bytes(array) => array.get_array_memory_size(),
            Values::FewTexts(places, texts) => places.get_array_memory_size() + texts.get_array_memory_size(),
        }
    }
}

impl Distances {
    fn len(&self) -> usize {
        match self {
            Distances::One(distances) => distances.len(),
            Distances::Two(distances) => distances.len(),
            Distances::Four(distances) => distances.len(),
            Distances::Eight(distances) => distances.len(),
        }
    }

    /// Bytes of each.
    fn width(&self) -> usize {
        match self {
            Distances::One(_) => 1,
            Distances::Two(_) => 2,
            Distances::Four(_) => 4,
            Distances::Eight(_) => 8,
        }
    }
}

impl Numbers {
    /// The values of an array, of which `low` tells the low 64 bits and `widen` makes them again; `None` if one of them has more.
    fn new<W: ArrowPrimitiveType>(
        array: &PrimitiveArray<W>,
        low: impl Fn(W::Native) -> i64,
        widen: impl Fn(i64) -> W::Native,
    ) -> Option<Self> {
        let nulls = array.nulls().filter(|nulls| nulls.null_count() > 0).cloned();
        let mut fit = true;
        let mut narrow = |value: W::Native| {
            let number = low(value);
            fit &= widen(number) == value;
            number
        };
        let numbers: Vec<i64> = match &nulls {
            None => array.values().iter().map(|value| narrow(*value)).collect(),
            // What is under a NULL may be anything: it takes the place of a value that is there.
            Some(nulls) => {
                let some = nulls.valid_indices().next().map_or(0, |row| narrow(array.value(row)));
                array.values().iter().zip(nulls).map(|(value, valid)| if valid { narrow(*value) } else { some }).collect()
            }
        };
        if !fit {
            return None;
        }
        let least = numbers.iter().copied().min().unwrap_or(0);
        let most = numbers.iter().copied().max().unwrap_or(0);
        // Their difference may have 64 bits.
        let distance = |n: &i64| n.wrapping_sub(least) as u64;
        let distances = match distance(&most) {
            0..=0xff => Distances::One(numbers.iter().map(|n| distance(n) as u8).collect()),
            0x100..=0xffff => Distances::Two(numbers.iter().map(|n| distance(n) as u16).collect()),
            0x1_0000..=0xffff_ffff => Distances::Four(numbers.iter().map(|n| distance(n) as u32).collect()),
            _ => Distances::Eight(numbers.iter().map(distance).collect()),
        };
        Some(Self { least, distances, nulls })
    }

    fn array<W: ArrowPrimitiveType>(&self, widen: impl Fn(i64) -> W::Native) -> PrimitiveArray<W> {
        fn values<D: Copy + Into<u64>, V>(distances: &[D], least: i64, widen: impl Fn(i64) -> V) -> Vec<V> {
            distances.iter().map(|distance| widen(least.wrapping_add((*distance).into() as i64))).collect()
        }
        let values = match &self.distances {
            Distances::One(distances) => values(distances, self.least, widen),
            Distances::Two(distances) => values(distances, self.least, widen),
            Distances::Four(distances) => values(distances, self.least, widen),
            Distances::Eight(distances) => values(distances, self.least, widen),
        };
        PrimitiveArray::new(values.into(), self.nulls.clone())
    }

    fn bytes(&self) -> usize {
        self.distances.len() * self.distances.width() + self.nulls.as_ref().map_or(0, |nulls| nulls.buffer().capacity())
    }
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
    let mut texts: Vec<(u128, &str)> = Vec::new();
    let mut met = Met::new();
    let mut of_rows: Vec<u8> = Vec::with_capacity(array.len());
    for (row, view) in array.views().iter().enumerate() {
        if array.is_null(row) {
            of_rows.push(0);
            continue;
        }
        if let Some(place) = met.place(*view)
            && let Some((of_place, text)) = texts.get(usize::from(place))
            && (of_place == view || (!in_view(*view) && *text == array.value(row)))
        {
            of_rows.push(place);
            continue;
        }
        let text = array.value(row);
        let place = match places.get(text) {
            Some(place) => *place,
            None => {
                let most = if row < SAMPLED { MAX_FEW_SAMPLED } else { MAX_FEW };
                if texts.len() >= most {
                    return None;
                }
                let place = u8::try_from(texts.len()).ok()?;
                places.insert(text, place);
                texts.push((*view, text));
                place
            }
        };
        met.put(*view, place);
        of_rows.push(place);
    }
    // All texts of one block, so that the views of rows can be those of their texts.
    let texts: StringArray = texts.iter().map(|(_, text)| Some(*text)).collect();
    Some(Values::FewTexts(UInt8Array::new(of_rows.into(), array.nulls().cloned()), StringViewArray::from(&texts)))
}

/// Whether a view has the whole text.
fn in_view(view: u128) -> bool {
    view as u32 <= 12
}

/// Where the texts were put whose lengths and first letters were met last: most rows have one of them, which is seen without hashing.
struct Met([u16; 256]);

impl Met {
    fn new() -> Self {
        Self([0; 256])
    }

    fn slot(view: u128) -> usize {
        // Multiplicative hashing by the golden ratio (Knuth, TAOCP 6.4) of the length and the first four bytes.
        ((view as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as usize
    }

    fn place(&self, view: u128) -> Option<u8> {
        self.0.get(Self::slot(view)).and_then(|place| u8::try_from(place.checked_sub(1)?).ok())
    }

    fn put(&mut self, view: u128, place: u8) {
        if let Some(slot) = self.0.get_mut(Self::slot(view)) {
            *slot = u16::from(place) + 1;
        }
    }
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
    use arrow::array::{BooleanArray, Date32Array, Decimal128Array, Int32Array, Int64Array};

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
        let width = |values: Values| match values {
            Values::Numbers(numbers, _) => numbers.distances.width(),
            _ => 16,
        };
        let decimals = |values: [i128; 3]| width(same(decimals_of(values.into_iter().map(Some).collect())));
        let (lowest, highest) = (i128::from(i64::MIN), i128::from(i64::MAX));
        assert_eq!(decimals([-100, 0, 155]), 1);
        assert_eq!(decimals([highest, highest - 256, highest - 65_535]), 2);
        assert_eq!(decimals([lowest, lowest + 65_536, lowest + (1 << 32) - 1]), 4);
        assert_eq!(decimals([-1, 0, 1 << 32]), 8);
        assert_eq!(decimals([lowest, 0, highest]), 8);
        assert_eq!(decimals([highest + 1, 0, highest]), 16);
        assert_eq!(decimals([lowest - 1, 0, 0]), 16);
        let integers = |values: [i64; 3]| width(same(Arc::new(Int64Array::from(values.to_vec()))));
        assert_eq!(integers([i64::MIN, i64::MIN + 255, i64::MIN]), 1);
        assert_eq!(integers([-5, 5, 65_530]), 2);
        assert_eq!(integers([0, 7, (1 << 32) - 1]), 4);
        assert_eq!(integers([i64::MIN, 0, i64::MAX]), 16, "as they were");
        let small = |values: [i32; 3]| width(same(Arc::new(Int32Array::from(values.to_vec()))));
        assert_eq!(small([i32::MIN, i32::MIN + 255, i32::MIN]), 1);
        assert_eq!(small([-32_768, 0, 32_767]), 2);
        assert_eq!(small([-32_768, 0, 32_768]), 16, "as they were");
        assert_eq!(small([i32::MIN, 0, i32::MAX]), 16, "as they were");
        let dates = Date32Array::from(vec![Some(i32::MIN), None, Some(i32::MIN + 300)]);
        assert_eq!(width(same(Arc::new(dates))), 2);
        assert!(matches!(same(decimals_of(vec![Some(1), None, Some(-12_345)])), Values::Numbers(..)));
        assert!(matches!(same(decimals_of(vec![None, None])), Values::Numbers(..)));
        assert!(matches!(same(decimals_of(vec![])), Values::Numbers(..)));
        assert!(matches!(same(Arc::new(Int64Array::from(vec![Some(i64::from(i32::MAX)), None, Some(-5)]))), Values::Numbers(..)));
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
        let Values::Numbers(numbers, _) = same(Arc::new(array)) else { panic!("a decimal that fits") };
        assert!(matches!(numbers.distances, Distances::One(_)));
    }

    #[test]
    fn values_take_few_bytes() {
        let rows = 8192;
        let bytes = |array: ArrayRef| Values::new(&array).bytes() / rows;
        assert_eq!(bytes(decimals_of((0..rows).map(|n| Some(n as i128)).collect())), 2);
        assert_eq!(bytes(texts_of((0..rows).map(|n| Some(["DELIVER IN PERSON", "NONE"][n % 2])))), 1);
        let comments: Vec<String> = (0..rows).map(|n| format!("{n:027}")).collect();
        assert!(bytes(texts_of(comments.iter().map(|text| Some(text.as_str())))) < 36);
    }
}
