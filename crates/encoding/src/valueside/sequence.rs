//! A sequence: values of one type, any of them NULL, each reached without a walk over the others.
//!
//! ```text
//! count u32 | tag u8 | flags u8 | null bitmap? | values
//!
//! flags        bit 0: there is a null bitmap. All other bits are 0.
//! null bitmap  ⌈count/8⌉ bytes; bit i%8 of byte i/8 is set when value i is NULL; unused bits are 0
//! values       of a type with a width: count × width bytes, zeros where NULL
//!              of any other: count × end u32 (from the start of the data), then the data; a NULL is empty
//! ```
//!
//! Invariant: [`SequenceReader::new`] has checked that every table lies within the bytes and that the data ends where the
//! bytes do, before a count is believed. Where next: [`super::composite`].

use super::TypeTag;
use crate::error::{DecodeError, EncodeError};

const WHAT: &str = "sequence";
const HAS_NULLS: u8 = 1;
const HEADER: usize = 6;

/// Collects the values of a sequence; reused from one to the next.
#[derive(Debug)]
pub struct SequenceBuilder {
    tag: TypeTag,
    count: usize,
    has_nulls: bool,
    nulls: Vec<u8>,
    ends: Vec<u8>,
    data: Vec<u8>,
    error: Option<EncodeError>,
}

impl Default for SequenceBuilder {
    fn default() -> Self {
        Self::new(TypeTag::Null)
    }
}

impl SequenceBuilder {
    /// An empty sequence of values of one type.
    #[must_use]
    pub fn new(tag: TypeTag) -> Self {
        Self { tag, count: 0, has_nulls: false, nulls: Vec::new(), ends: Vec::new(), data: Vec::new(), error: None }
    }

    /// Begins another sequence; the buffers stay.
    pub fn start(&mut self, tag: TypeTag) {
        self.tag = tag;
        self.count = 0;
        self.has_nulls = false;
        self.nulls.clear();
        self.ends.clear();
        self.data.clear();
        self.error = None;
    }

    /// Adds a body, or NULL. A body of the wrong width is reported by [`SequenceBuilder::finish`].
    #[inline]
    pub fn push(&mut self, body: Option<&[u8]>) {
        if self.count.is_multiple_of(8) {
            self.nulls.push(0);
        }
        match body {
            Some(body) => {
                if self.tag == TypeTag::Null {
                    self.error = Some(EncodeError::WrongKind { what: "a sequence of NULLs" });
                } else if !self.tag.accepts(body.len()) {
                    self.error = Some(EncodeError::WrongWidth { expected: self.tag.width().unwrap_or(0), found: body.len() });
                }
                self.data.extend_from_slice(body);
            }
            None => {
                self.has_nulls = true;
                if let Some(byte) = self.nulls.last_mut() {
                    *byte |= 1 << (self.count % 8);
                }
                self.data.resize(self.data.len() + self.tag.width().unwrap_or(0), 0);
            }
        }
        if self.tag.width().is_none() {
            match u32::try_from(self.data.len()) {
                Ok(end) => self.ends.extend_from_slice(&end.to_le_bytes()),
                Err(_) => self.error = Some(EncodeError::TooLarge { what: WHAT }),
            }
        }
        self.count += 1;
    }

    /// How many values there are so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Whether a NULL was added.
    #[must_use]
    pub fn has_nulls(&self) -> bool {
        self.has_nulls
    }

    /// Appends the sequence.
    ///
    /// # Errors
    /// A value had the wrong width, or there is more than `u32` can count.
    pub fn finish(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        let count = u32::try_from(self.count).map_err(|_| EncodeError::TooLarge { what: WHAT })?;
        out.extend_from_slice(&count.to_le_bytes());
        out.extend_from_slice(&[self.tag as u8, u8::from(self.has_nulls)]);
        if self.has_nulls {
            out.extend_from_slice(&self.nulls);
        }
        out.extend_from_slice(&self.ends);
        out.extend_from_slice(&self.data);
        Ok(())
    }
}

/// The values of a sequence, where they lie.
#[derive(Clone, Copy, Debug)]
pub struct SequenceReader<'a> {
    tag: TypeTag,
    count: usize,
    nulls: &'a [u8],
    /// Empty for a type with a width.
    ends: &'a [[u8; 4]],
    data: &'a [u8],
}

impl<'a> SequenceReader<'a> {
    /// Reads the tables, not yet the values.
    ///
    /// # Errors
    /// The tables do not fit the bytes, or a tag or flag is unknown.
    pub fn new(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        let truncated = DecodeError::Truncated { what: WHAT };
        let malformed = DecodeError::Malformed { what: WHAT };
        let ([c0, c1, c2, c3, tag, flags], rest) = bytes.split_first_chunk::<HEADER>().ok_or(truncated)?;
        let count = u32::from_le_bytes([*c0, *c1, *c2, *c3]) as usize;
        let tag = TypeTag::from_byte(*tag).ok_or(malformed)?;
        // Values without bytes and without a bitmap would let a few bytes claim four billion values.
        if *flags & !HAS_NULLS != 0 || (tag == TypeTag::Null && count > 0 && *flags & HAS_NULLS == 0) {
            return Err(malformed);
        }
        let bitmap_len = if *flags & HAS_NULLS != 0 { count.div_ceil(8) } else { 0 };
        let (nulls, rest) = rest.split_at_checked(bitmap_len).ok_or(truncated)?;
        if unused_bits_set(nulls, count) {
            return Err(malformed);
        }
        let (ends, data, data_len) = match tag.width() {
            Some(width) => (&[][..], rest, count.checked_mul(width).ok_or(truncated)?),
            None => {
                let ends_len = count.checked_mul(4).ok_or(truncated)?;
                let (ends, data) = rest.split_at_checked(ends_len).ok_or(truncated)?;
                let (ends, _) = ends.as_chunks::<4>();
                let last = ends.last().map_or(0, |end| u32::from_le_bytes(*end) as usize);
                (ends, data, last)
            }
        };
        match data.len().cmp(&data_len) {
            std::cmp::Ordering::Less => Err(truncated),
            std::cmp::Ordering::Greater => Err(DecodeError::Trailing { what: WHAT }),
            std::cmp::Ordering::Equal => Ok(Self { tag, count, nulls, ends, data }),
        }
    }

    /// The type of every value.
    #[must_use]
    pub fn tag(&self) -> TypeTag {
        self.tag
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.count
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Whether the sequence was written with a null bitmap.
    #[must_use]
    pub fn has_null_bitmap(&self) -> bool {
        !self.nulls.is_empty()
    }

    /// Whether any value is NULL.
    #[must_use]
    pub fn has_nulls(&self) -> bool {
        self.nulls.iter().any(|byte| *byte != 0)
    }

    /// Whether value i is NULL; also when there is no value i.
    #[must_use]
    #[inline]
    pub fn is_null(&self, i: usize) -> bool {
        i >= self.count || self.nulls.get(i / 8).is_some_and(|byte| byte & (1 << (i % 8)) != 0)
    }

    /// The body of value i; `None` when it is NULL or there is none.
    ///
    /// # Errors
    /// Its offsets are out of order.
    #[inline]
    pub fn get(&self, i: usize) -> Result<Option<&'a [u8]>, DecodeError> {
        if self.is_null(i) {
            return Ok(None);
        }
        let (start, end) = match self.tag.width() {
            Some(width) => (i * width, (i + 1) * width),
            None => {
                let end = |i: usize| self.ends.get(i).map_or(0, |end| u32::from_le_bytes(*end) as usize);
                (if i == 0 { 0 } else { end(i - 1) }, end(i))
            }
        };
        self.data.get(start..end).map(Some).ok_or(DecodeError::Malformed { what: WHAT })
    }

    /// Every body in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Result<Option<&'a [u8]>, DecodeError>> + use<'a> {
        let reader = *self;
        (0..self.count).map(move |i| reader.get(i))
    }

    /// The bodies of a type with a width, one after the other, when none is NULL: for a copy in one piece.
    #[must_use]
    pub fn dense_fixed(&self) -> Option<&'a [u8]> {
        (self.tag.width().is_some() && !self.has_nulls()).then_some(self.data)
    }
}

/// Whether a bitmap over `count` values has bits beyond them.
#[inline]
pub(crate) fn unused_bits_set(bitmap: &[u8], count: usize) -> bool {
    !count.is_multiple_of(8) && bitmap.get(count / 8).is_some_and(|last| last >> (count % 8) != 0)
}
