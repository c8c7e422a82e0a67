//! Columns of texts and of byte strings under construction, as Arrow's views.
//!
//! That texts are UTF-8 is seen when the column is finished, for all of them together: text of ASCII alone is distinguished from other text
//! by whole blocks.

use super::builder::malformed;
use arrow::array::{BinaryViewArray, NullBufferBuilder, StringViewArray, make_view};
use arrow::buffer::{Buffer, NullBuffer, ScalarBuffer};
use stoa_pg::PgResult;

/// Values up to this length are in their view.
const IN_VIEW: usize = 12;
/// What the first and the largest block of longer values take, unless one value needs more.
const FIRST_BLOCK: usize = 8 << 10;
const LARGEST_BLOCK: usize = 2 << 20;
/// As many rows as a read by key has at most.
const FEW_ROWS: usize = 2048;

/// A column of byte strings that grows by values.
#[derive(Debug)]
pub struct ViewBuilder {
    views: Vec<u128>,
    /// Long values, one after another; full ones are in `full`.
    block: Vec<u8>,
    full: Vec<Buffer>,
    nulls: NullBufferBuilder,
    next_block: usize,
}

impl ViewBuilder {
    pub fn with_capacity(rows: usize) -> Self {
        // One row's block is as large as its value.
        let next_block = if rows > 1 { FIRST_BLOCK } else { 0 };
        let nulls = NullBufferBuilder::new(rows);
        Self { views: Vec::with_capacity(rows), block: Vec::new(), full: Vec::new(), nulls, next_block }
    }

    #[inline]
    pub fn push_null(&mut self) {
        self.views.push(0);
        self.nulls.append_null();
    }

    /// Adds a value.
    ///
    /// # Errors
    /// XX001 for more than 4 GiB, which no stored value has.
    #[inline]
    pub fn push(&mut self, value: &[u8]) -> PgResult<()> {
        let view = if value.len() <= IN_VIEW { make_view(value, 0, 0) } else { self.push_long(value)? };
        self.views.push(view);
        self.nulls.append_non_null();
        Ok(())
    }

    #[inline]
    fn push_long(&mut self, value: &[u8]) -> PgResult<u128> {
        if self.block.capacity() - self.block.len() < value.len() {
            self.start_block(value.len());
        }
        let too_long = |_| malformed("value");
        let at = u32::try_from(self.block.len()).map_err(too_long)?;
        u32::try_from(value.len()).map_err(too_long)?;
        let block = u32::try_from(self.full.len()).map_err(too_long)?;
        self.block.extend_from_slice(value);
        Ok(make_view(value, block, at))
    }

    #[cold]
    fn start_block(&mut self, needed: usize) {
        let block = std::mem::replace(&mut self.block, Vec::with_capacity(self.next_block.max(needed)));
        if !block.is_empty() {
            self.full.push(block.into());
        }
        self.next_block = (self.next_block * 2).clamp(FIRST_BLOCK, LARGEST_BLOCK);
    }

    /// The column so far as byte strings; the builder is empty afterwards.
    pub fn finish_bytes(&mut self) -> BinaryViewArray {
        let (views, blocks, nulls) = self.take();
        // SAFETY: `push` made each view over the bytes that it put into a block, or over no block.
        unsafe { BinaryViewArray::new_unchecked(views, blocks, nulls) }
    }

    /// The column so far as texts; the builder is empty afterwards.
    ///
    /// # Errors
    /// XX001: one of them is not UTF-8.
    pub fn finish_text(&mut self) -> PgResult<StringViewArray> {
        let ascii = self.is_ascii();
        let bytes = self.finish_bytes();
        if !ascii && bytes.iter().flatten().any(|value| std::str::from_utf8(value).is_err()) {
            return Err(malformed("text"));
        }
        // SAFETY: each value is UTF-8: all bytes are ASCII, or it was looked at just now.
        Ok(unsafe { bytes.to_string_view_unchecked() })
    }

    /// Whether no byte of any value is beyond ASCII.
    fn is_ascii(&self) -> bool {
        // Behind the length: the whole value, or its first four bytes, which are in a block as well.
        const IN_VIEW_BYTES: u128 = 0x8080_8080_8080_8080_8080_8080 << 32;
        let beyond = self.views.iter().fold(0, |beyond, view| beyond | if *view as u32 as usize <= IN_VIEW { *view } else { 0 });
        beyond & IN_VIEW_BYTES == 0 && self.block.is_ascii() && self.full.iter().all(|block| block.is_ascii())
    }

    fn take(&mut self) -> (ScalarBuffer<u128>, Vec<Buffer>, Option<NullBuffer>) {
        // Behind a full batch another one comes, and behind a short one mostly nothing.
        let more = if self.views.len() > FEW_ROWS { self.views.capacity() } else { 0 };
        let views = std::mem::replace(&mut self.views, Vec::with_capacity(more));
        let mut blocks = std::mem::take(&mut self.full);
        let block = std::mem::take(&mut self.block);
        if !block.is_empty() {
            blocks.push(block.into());
        }
        self.next_block = FIRST_BLOCK;
        (views.into(), blocks, self.nulls.finish())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;
    use arrow::array::Array;
    use stoa_pg::SqlState;

    fn built(values: &[Option<&[u8]>]) -> ViewBuilder {
        let mut builder = ViewBuilder::with_capacity(values.len());
        push_all(&mut builder, values);
        builder
    }

    fn push_all(builder: &mut ViewBuilder, values: &[Option<&[u8]>]) {
        for value in values {
            match value {
                Some(value) => builder.push(value).unwrap(),
                None => builder.push_null(),
            }
        }
    }

    #[test]
    fn values_are_read_as_they_were_put_in() {
        let long = "ein längerer Text, der in keinen View passt".to_owned();
        let huge = "x".repeat(3 << 20);
        let mut values: Vec<String> = (0..5000).map(|n| "ab".repeat(n % 40)).collect();
        values.extend(["".into(), "twelve bytes".into(), "thirteen byte".into(), "zwölf byte!".into(), long, huge, "behind".repeat(5)]);
        let texts: Vec<Option<&str>> = values.iter().map(|v| Some(v.as_str())).chain([None]).collect();
        let bytes: Vec<Option<&[u8]>> = texts.iter().map(|t| t.map(str::as_bytes)).collect();
        let mut builder = built(&bytes);
        let array = builder.finish_text().unwrap();
        assert_eq!(array.iter().collect::<Vec<_>>(), texts);
        array.to_data().validate_full().unwrap();
        // It begins again, and as bytes.
        push_all(&mut builder, &bytes);
        let array = builder.finish_bytes();
        assert_eq!(array.iter().collect::<Vec<_>>(), bytes);
        array.to_data().validate_full().unwrap();
        assert_eq!(builder.finish_bytes().len(), 0);
    }

    #[test]
    fn what_is_no_text_is_seen() {
        let cases: [&[u8]; 5] =
            [b"\xff", b"short \xc3", b"\xa4 behind", b"a long value that has \xc3( in it", b"a long value that ends \xc3"];
        for case in cases {
            // What is cut between two values is none, although their bytes together are.
            for values in [vec![Some(case)], vec![Some("täglich".as_bytes()), Some(case), Some(b"\xa4")], vec![Some(case), Some(b"x")]] {
                let error = built(&values).finish_text().unwrap_err();
                assert_eq!(error.code(), SqlState::DATA_CORRUPTED, "{case:?}");
            }
        }
        assert!(
            built(&[Some(b"a long value that is cut behind \xc3"), Some(b"\xa4 which belongs to it as it were")]).finish_text().is_err()
        );
        assert_eq!(built(&[Some("größer als ein View".as_bytes())]).finish_text().unwrap().value(0), "größer als ein View");
    }

    #[test]
    fn one_row_takes_what_it_needs() {
        let mut builder = built(&[Some(&[b'x'; 100])]);
        assert!(builder.block.capacity() < 256);
        assert_eq!(builder.finish_text().unwrap().value(0).len(), 100);
    }
}
