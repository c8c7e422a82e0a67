//! Values: aclitem and pg_node_tree. Both travel as text; what an item says is asked of the engine, which knows the roles.

use super::{ValueBuilder, ValueWriter, open};
use crate::args::{Kind, Text};
use crate::context::EvalContext;
use crate::error::{PgError, PgResult};
use crate::sqlstate::SqlState;
use crate::types::{PgType, SqlType};
use arrow::array::{Array, ArrayRef, StringViewArray};
use datafusion_common::ScalarValue;
use std::sync::Arc;

/// The name by which the text of an item is asked for: its roles must exist, and it is given as it is written.
pub const READ_ITEM: &str = "text of an aclitem";

/// Writes a column of a type of this file.
pub fn writer<'a>(ty: &SqlType, array: &'a dyn Array) -> PgResult<Box<dyn ValueWriter + 'a>> {
    Ok(Box::new(Writer { column: open::<StringViewArray>(array, ty)?, sent: ty.ty == PgType::PgNodeTree }))
}

/// Builds a column of items.
pub fn builder() -> Box<dyn ValueBuilder> {
    Box::new(Builder { out: Text::builder(0), len: 0 })
}

struct Writer<'a> {
    column: &'a StringViewArray,
    /// Whether there is a binary form: that of text.
    sent: bool,
}

impl ValueWriter for Writer<'_> {
    fn text(&self, row: usize, out: &mut Vec<u8>) -> PgResult<()> {
        out.extend_from_slice(self.column.value(row).as_bytes());
        Ok(())
    }

    fn binary(&self, row: usize, out: &mut Vec<u8>) -> PgResult<()> {
        if self.sent { self.text(row, out) } else { Err(no_binary("output")) }
    }
}

fn no_binary(direction: &str) -> PgError {
    PgError::new(SqlState::UNDEFINED_FUNCTION, format!("no binary {direction} function available for type aclitem"))
}

struct Builder {
    out: <Text as Kind>::Builder,
    len: usize,
}

impl ValueBuilder for Builder {
    fn text(&mut self, ctx: &EvalContext, value: &str) -> PgResult<()> {
        let asked = [ScalarValue::Utf8View(Some(value.to_owned()))];
        match ctx.system.call(READ_ITEM, &asked, &SqlType::new(PgType::Aclitem))? {
            ScalarValue::Utf8View(Some(text)) => self.out.append_value(text),
            other => return Err(PgError::internal(format!("an aclitem that is {other}"))),
        }
        self.len += 1;
        Ok(())
    }

    fn binary(&mut self, _: &EvalContext, _: &[u8]) -> PgResult<()> {
        Err(no_binary("input"))
    }

    fn null(&mut self) {
        self.out.append_null();
        self.len += 1;
    }

    fn len(&self) -> usize {
        self.len
    }

    fn finish(&mut self) -> PgResult<ArrayRef> {
        self.len = 0;
        Ok(Arc::new(self.out.finish()))
    }
}
