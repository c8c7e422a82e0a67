//! Bodies of arrays, structs and maps: made of [`sequence`](super::sequence)s.
//!
//! ```text
//! array    dimensions u8 | dimensions × (length u32, lower bound i32) | sequence of the elements, row by row
//! struct   count u16 | count × tag u8 | null bitmap ⌈count/8⌉ | count × end u32 | data
//! map      length of the keys' sequence u32 | sequence of the keys, none NULL | sequence of the values
//! ```
//!
//! An empty array has 0 dimensions; else the product of the lengths is the count of the sequence. The fields of a struct
//! are in the order of its type; a field added later is absent, as a column is. Keys and values of a map are equally many;
//! the encoder keeps the order that it is given.
//!
//! Invariant: constructors of readers check all tables. Where next: [`crate::packed_row`].

use super::TypeTag;
use super::sequence::{SequenceBuilder, SequenceReader, unused_bits_set};
use crate::error::{DecodeError, EncodeError};

/// The most dimensions an array can have, as in PostgreSQL.
pub const MAX_DIMENSIONS: usize = 6;

/// One dimension of an array.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Dimension {
    pub len: u32,
    /// The subscript of the first element: 1 unless said otherwise.
    pub lower_bound: i32,
}

impl Dimension {
    /// A dimension whose subscripts begin with 1.
    #[must_use]
    pub fn new(len: u32) -> Self {
        Self { len, lower_bound: 1 }
    }
}

/// Appends the body of an array.
///
/// # Errors
/// The dimensions are too many, one is empty, or they do not multiply to the number of elements; or as [`SequenceBuilder::finish`].
pub fn encode_array(out: &mut Vec<u8>, dimensions: &[Dimension], elements: &SequenceBuilder) -> Result<(), EncodeError> {
    if dimensions.len() > MAX_DIMENSIONS {
        return Err(EncodeError::TooLarge { what: "array dimensions" });
    }
    match element_count(dimensions.iter()) {
        Some(expected) if expected == elements.len() => {}
        Some(expected) => return Err(EncodeError::WrongCount { expected, found: elements.len() }),
        None => return Err(EncodeError::WrongKind { what: "array dimensions" }),
    }
    out.push(dimensions.len() as u8);
    for dimension in dimensions {
        out.extend_from_slice(&dimension.len.to_le_bytes());
        out.extend_from_slice(&dimension.lower_bound.to_le_bytes());
    }
    elements.finish(out)
}

/// An array, where it lies.
#[derive(Clone, Copy, Debug)]
pub struct ArrayReader<'a> {
    dimensions: &'a [[u8; 8]],
    elements: SequenceReader<'a>,
}

impl<'a> ArrayReader<'a> {
    /// Reads the tables of a body.
    ///
    /// # Errors
    /// They do not fit the bytes or each other.
    pub fn new(body: &'a [u8]) -> Result<Self, DecodeError> {
        let truncated = DecodeError::Truncated { what: "array" };
        let (count, rest) = body.split_first().ok_or(truncated)?;
        if usize::from(*count) > MAX_DIMENSIONS {
            return Err(DecodeError::Malformed { what: "array" });
        }
        let (dimensions, rest) = rest.split_at_checked(usize::from(*count) * 8).ok_or(truncated)?;
        let array = Self { dimensions: dimensions.as_chunks::<8>().0, elements: SequenceReader::new(rest)? };
        if element_count(array.dimensions()) != Some(array.elements.len()) {
            return Err(DecodeError::Malformed { what: "array" });
        }
        Ok(array)
    }

    /// From the outermost in; none for an empty array.
    pub fn dimensions(&self) -> impl ExactSizeIterator<Item = Dimension> + use<'a> {
        self.dimensions.iter().map(|[a, b, c, d, e, f, g, h]| Dimension {
            len: u32::from_le_bytes([*a, *b, *c, *d]),
            lower_bound: i32::from_le_bytes([*e, *f, *g, *h]),
        })
    }

    /// The elements, the last dimension running fastest.
    #[must_use]
    pub fn elements(&self) -> SequenceReader<'a> {
        self.elements
    }
}

/// The product of the lengths, 0 for no dimension; `None` if a length is 0: an empty array has no dimensions.
fn element_count(mut dimensions: impl ExactSizeIterator<Item = impl std::borrow::Borrow<Dimension>>) -> Option<usize> {
    if dimensions.len() == 0 {
        return Some(0);
    }
    dimensions.try_fold(1usize, |product, dimension| match dimension.borrow().len {
        0 => None,
        len => product.checked_mul(len as usize),
    })
}

/// Collects the fields of a struct; reused from one to the next.
#[derive(Debug, Default)]
pub struct StructBuilder {
    tags: Vec<u8>,
    nulls: Vec<u8>,
    ends: Vec<u8>,
    data: Vec<u8>,
    error: Option<EncodeError>,
}

impl StructBuilder {
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Begins another struct; the buffers stay.
    pub fn start(&mut self) {
        self.tags.clear();
        self.nulls.clear();
        self.ends.clear();
        self.data.clear();
        self.error = None;
    }

    /// Adds a field: a body, or NULL. A body of the wrong width is reported by [`StructBuilder::finish`].
    pub fn push(&mut self, tag: TypeTag, body: Option<&[u8]>) {
        let index = self.tags.len();
        self.tags.push(tag as u8);
        if index.is_multiple_of(8) {
            self.nulls.push(0);
        }
        match (body, self.nulls.last_mut()) {
            (Some(body), _) => {
                if !tag.accepts(body.len()) {
                    self.error = Some(EncodeError::WrongWidth { expected: tag.width().unwrap_or(0), found: body.len() });
                }
                self.data.extend_from_slice(body);
            }
            (None, Some(byte)) => *byte |= 1 << (index % 8),
            (None, None) => {}
        }
        match u32::try_from(self.data.len()) {
            Ok(end) => self.ends.extend_from_slice(&end.to_le_bytes()),
            Err(_) => self.error = Some(EncodeError::TooLarge { what: "struct" }),
        }
    }

    /// Appends the body.
    ///
    /// # Errors
    /// A field had the wrong width, or there are too many or too large ones.
    pub fn finish(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        let count = u16::try_from(self.tags.len()).map_err(|_| EncodeError::TooLarge { what: "struct" })?;
        out.extend_from_slice(&count.to_le_bytes());
        for table in [&self.tags, &self.nulls, &self.ends, &self.data] {
            out.extend_from_slice(table);
        }
        Ok(())
    }
}

/// A struct, where it lies.
#[derive(Clone, Copy, Debug)]
pub struct StructReader<'a> {
    tags: &'a [u8],
    nulls: &'a [u8],
    ends: &'a [[u8; 4]],
    data: &'a [u8],
}

impl<'a> StructReader<'a> {
    /// Reads the tables of a body.
    ///
    /// # Errors
    /// They do not fit the bytes, or a tag is unknown.
    pub fn new(body: &'a [u8]) -> Result<Self, DecodeError> {
        let truncated = DecodeError::Truncated { what: "struct" };
        let malformed = DecodeError::Malformed { what: "struct" };
        let (count, rest) = body.split_first_chunk::<2>().ok_or(truncated)?;
        let count = usize::from(u16::from_le_bytes(*count));
        let (tags, rest) = rest.split_at_checked(count).ok_or(truncated)?;
        let (nulls, rest) = rest.split_at_checked(count.div_ceil(8)).ok_or(truncated)?;
        let (ends, data) = rest.split_at_checked(count * 4).ok_or(truncated)?;
        if tags.iter().any(|tag| TypeTag::from_byte(*tag).is_none()) || unused_bits_set(nulls, count) {
            return Err(malformed);
        }
        let (ends, _) = ends.as_chunks::<4>();
        let data_len = ends.last().map_or(0, |end| u32::from_le_bytes(*end) as usize);
        match data.len().cmp(&data_len) {
            std::cmp::Ordering::Less => Err(truncated),
            std::cmp::Ordering::Greater => Err(DecodeError::Trailing { what: "struct" }),
            std::cmp::Ordering::Equal => Ok(Self { tags, nulls, ends, data }),
        }
    }

    /// How many fields it was written with.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tags.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tags.is_empty()
    }

    /// The type and the body (`None`: NULL) of field i; `None` if it was written without one.
    ///
    /// # Errors
    /// Its offsets are out of order, or its body is not as wide as its type.
    #[allow(clippy::type_complexity)]
    pub fn get(&self, i: usize) -> Result<Option<(TypeTag, Option<&'a [u8]>)>, DecodeError> {
        let malformed = DecodeError::Malformed { what: "struct" };
        let Some(tag) = self.tags.get(i).and_then(|tag| TypeTag::from_byte(*tag)) else { return Ok(None) };
        if self.nulls.get(i / 8).is_some_and(|byte| byte & (1 << (i % 8)) != 0) {
            return Ok(Some((tag, None)));
        }
        let end = |i: usize| self.ends.get(i).map_or(0, |end| u32::from_le_bytes(*end) as usize);
        let body = self.data.get(if i == 0 { 0 } else { end(i - 1) }..end(i)).ok_or(malformed)?;
        if tag.accepts(body.len()) { Ok(Some((tag, Some(body)))) } else { Err(malformed) }
    }
}

/// Appends the body of a map.
///
/// # Errors
/// Keys and values are not equally many; a key is NULL; or as [`SequenceBuilder::finish`].
pub fn encode_map(out: &mut Vec<u8>, keys: &SequenceBuilder, values: &SequenceBuilder) -> Result<(), EncodeError> {
    if keys.len() != values.len() {
        return Err(EncodeError::WrongCount { expected: keys.len(), found: values.len() });
    }
    if keys.has_nulls() {
        return Err(EncodeError::WrongKind { what: "a map key" });
    }
    let length_at = out.len();
    out.extend_from_slice(&[0; 4]);
    keys.finish(out)?;
    let length = u32::try_from(out.len() - length_at - 4).map_err(|_| EncodeError::TooLarge { what: "map" })?;
    for (to, from) in out.iter_mut().skip(length_at).zip(length.to_le_bytes()) {
        *to = from;
    }
    values.finish(out)
}

/// A map, where it lies.
#[derive(Clone, Copy, Debug)]
pub struct MapReader<'a> {
    keys: SequenceReader<'a>,
    values: SequenceReader<'a>,
}

impl<'a> MapReader<'a> {
    /// Reads the tables of a body.
    ///
    /// # Errors
    /// They do not fit the bytes or each other.
    pub fn new(body: &'a [u8]) -> Result<Self, DecodeError> {
        let truncated = DecodeError::Truncated { what: "map" };
        let (length, rest) = body.split_first_chunk::<4>().ok_or(truncated)?;
        let (keys, values) = rest.split_at_checked(u32::from_le_bytes(*length) as usize).ok_or(truncated)?;
        let map = Self { keys: SequenceReader::new(keys)?, values: SequenceReader::new(values)? };
        if map.keys.len() != map.values.len() || map.keys.has_nulls() {
            return Err(DecodeError::Malformed { what: "map" });
        }
        Ok(map)
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    #[must_use]
    pub fn keys(&self) -> SequenceReader<'a> {
        self.keys
    }

    #[must_use]
    pub fn values(&self) -> SequenceReader<'a> {
        self.values
    }
}
