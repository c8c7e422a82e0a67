//! Window functions; DataFusion computes all of them.

use crate::registry::{Func, FuncKind, NativeWindow, Registry};
use crate::types::PgType;

/// Registers the entries of this file.
pub fn register(r: &mut Registry) {
    use PgType::{AnyCompatible, AnyElement, Float8, Int4, Int8};
    let mut add = |name: &'static str, args: &[PgType], ret: PgType, window: NativeWindow, doc: &'static str| {
        r.add(Func::of_kind(name, args, ret, FuncKind::Window(window), doc));
    };
    add("row_number", &[], Int8, NativeWindow::RowNumber, "Returns the number of the current row within its partition, counting from 1.");
    add("rank", &[], Int8, NativeWindow::Rank, "Returns the rank of the current row, with gaps.");
    add("dense_rank", &[], Int8, NativeWindow::DenseRank, "Returns the rank of the current row, without gaps.");
    add("percent_rank", &[], Float8, NativeWindow::PercentRank, "Returns the relative rank of the current row.");
    add("cume_dist", &[], Float8, NativeWindow::CumeDist, "Returns the cumulative distribution.");
    add("ntile", &[Int4], Int4, NativeWindow::Ntile, "Divides the partition as equally as possible and numbers the parts.");
    for (name, window, doc) in [
        ("lag", NativeWindow::Lag, "Returns the value at the row that is a number of rows before the current one."),
        ("lead", NativeWindow::Lead, "Returns the value at the row that is a number of rows after the current one."),
    ] {
        add(name, &[AnyElement], AnyElement, window, doc);
        add(name, &[AnyElement, Int4], AnyElement, window, doc);
        add(name, &[AnyCompatible, Int4, AnyCompatible], AnyCompatible, window, doc);
    }
    add("first_value", &[AnyElement], AnyElement, NativeWindow::FirstValue, "Returns the value at the first row of the window frame.");
    add("last_value", &[AnyElement], AnyElement, NativeWindow::LastValue, "Returns the value at the last row of the window frame.");
    add("nth_value", &[AnyElement, Int4], AnyElement, NativeWindow::NthValue, "Returns the value at the n-th row of the window frame.");
}
