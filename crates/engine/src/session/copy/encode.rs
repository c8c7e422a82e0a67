//! Rows to the bytes that COPY TO sends: text, CSV and binary, one piece a row.

use super::options::{CopyOptions, Header};
use crate::session::api::{CopyFormat, OutputColumn};
use arrow::array::{Array, RecordBatch};
use memchr::{memchr, memchr3};
use std::sync::Arc;
use stoa_pg::values::{ValueWriter, writer};
use stoa_pg::{EvalContext, PgResult};

/// Writes rows in one format.
pub struct Encoder {
    options: CopyOptions,
    columns: Arc<[OutputColumn]>,
    force_quote: Vec<bool>,
    context: EvalContext,
}

/// A batch whose writers are resolved.
pub struct BatchEncoder<'a> {
    encoder: &'a Encoder,
    batch: &'a RecordBatch,
    writers: Vec<Box<dyn ValueWriter + 'a>>,
    scratch: Vec<u8>,
}

impl Encoder {
    /// # Errors
    /// 42P10 for options that name other columns.
    pub fn new(options: CopyOptions, columns: Arc<[OutputColumn]>, context: EvalContext) -> PgResult<Self> {
        let names: Vec<String> = columns.iter().map(|c| c.name.clone()).collect();
        let force_quote = options.force_quote.flags("FORCE_QUOTE", &names)?;
        Ok(Self { options, columns, force_quote, context })
    }

    /// What comes before the first row, if anything does.
    pub fn start(&self, out: &mut Vec<u8>) -> bool {
        match self.options.format {
            CopyFormat::Binary => {
                out.extend_from_slice(b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0");
                true
            }
            CopyFormat::Text | CopyFormat::Csv if self.options.header != Header::No => {
                for (number, column) in self.columns.iter().enumerate() {
                    if number > 0 {
                        out.push(self.options.delimiter);
                    }
                    self.field(column.name.as_bytes(), false, out);
                }
                out.push(b'\n');
                true
            }
            CopyFormat::Text | CopyFormat::Csv => false,
        }
    }

    /// What comes behind the last row, if anything does.
    pub fn end(&self, out: &mut Vec<u8>) -> bool {
        if self.options.format == CopyFormat::Binary {
            out.extend_from_slice(&(-1_i16).to_be_bytes());
            return true;
        }
        false
    }

    /// # Errors
    /// 0A000 for types that have no such form.
    pub fn batch<'a>(&'a self, batch: &'a RecordBatch) -> PgResult<BatchEncoder<'a>> {
        let writers = self
            .columns
            .iter()
            .zip(batch.columns())
            .map(|(column, array)| writer(&self.context, &column.ty, array.as_ref()))
            .collect::<PgResult<_>>()?;
        Ok(BatchEncoder { encoder: self, batch, writers, scratch: Vec::new() })
    }

    fn field(&self, value: &[u8], force_quote: bool, out: &mut Vec<u8>) {
        match self.options.format {
            CopyFormat::Csv => self.csv_field(value, force_quote, out),
            _ => self.text_field(value, out),
        }
    }

    fn text_field(&self, value: &[u8], out: &mut Vec<u8>) {
        let delimiter = self.options.delimiter;
        let special = |b: u8| b == b'\\' || b == delimiter || (8..=13).contains(&b);
        let mut rest = value;
        while let Some(at) = rest.iter().position(|b| special(*b)) {
            let (plain, tail) = rest.split_at(at);
            out.extend_from_slice(plain);
            if let Some((byte, tail)) = tail.split_first() {
                out.push(b'\\');
                out.push(match byte {
                    8 => b'b',
                    12 => b'f',
                    b'\n' => b'n',
                    b'\r' => b'r',
                    b'\t' => b't',
                    11 => b'v',
                    other => *other,
                });
                rest = tail;
            }
        }
        out.extend_from_slice(rest);
    }

    fn csv_field(&self, value: &[u8], force_quote: bool, out: &mut Vec<u8>) {
        let (delimiter, quote, escape) = (self.options.delimiter, self.options.quote, self.options.escape);
        let needed = force_quote
            || value == self.options.null.as_bytes()
            || memchr3(delimiter, quote, b'\n', value).is_some()
            || memchr(b'\r', value).is_some()
            || (value == b"\\." && self.columns.len() == 1);
        if !needed {
            out.extend_from_slice(value);
            return;
        }
        out.push(quote);
        for byte in value {
            if *byte == quote || *byte == escape {
                out.push(escape);
            }
            out.push(*byte);
        }
        out.push(quote);
    }
}

impl BatchEncoder<'_> {
    #[must_use]
    pub fn rows(&self) -> usize {
        self.batch.num_rows()
    }

    /// Appends one row.
    ///
    /// # Errors
    /// What the values' writers raise.
    pub fn row(&mut self, row: usize, out: &mut Vec<u8>) -> PgResult<()> {
        let encoder = self.encoder;
        let binary = encoder.options.format == CopyFormat::Binary;
        if binary {
            out.extend_from_slice(&u16::try_from(self.writers.len()).unwrap_or(u16::MAX).to_be_bytes());
        }
        for (number, (writer, array)) in self.writers.iter().zip(self.batch.columns()).enumerate() {
            let null = array.is_null(row);
            if binary {
                if null {
                    out.extend_from_slice(&(-1_i32).to_be_bytes());
                    continue;
                }
                let start = out.len();
                out.extend_from_slice(&[0; 4]);
                writer.binary(row, out)?;
                let length = u32::try_from(out.len() - start - 4).unwrap_or(u32::MAX);
                if let Some(place) = out.get_mut(start..start + 4) {
                    place.copy_from_slice(&length.to_be_bytes());
                }
                continue;
            }
            if number > 0 {
                out.push(encoder.options.delimiter);
            }
            if null {
                out.extend_from_slice(encoder.options.null.as_bytes());
                continue;
            }
            self.scratch.clear();
            writer.text(row, &mut self.scratch)?;
            encoder.field(&self.scratch, encoder.force_quote.get(number).copied().unwrap_or(false), out);
        }
        if !binary {
            out.push(b'\n');
        }
        Ok(())
    }
}
