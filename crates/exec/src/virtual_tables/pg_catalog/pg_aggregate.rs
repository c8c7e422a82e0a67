//! `pg_aggregate`: the aggregates. How they work inside, PostgreSQL tells by functions that Stoa does not have.

use super::super::builder::{Builder, V};
use crate::environment::StatementContext;
use stoa_pg::PgResult;
use stoa_pg::functions::aggregate::{OrderedSet, ordered_set};
use stoa_pg::registry::{FuncKind, Registry};

/// Adds the rows.
pub fn fill(_: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    for f in Registry::get().all_functions() {
        if !matches!(f.kind, FuncKind::Aggregate(_) | FuncKind::NativeAggregate(_)) || !t.wants_oid("aggfnoid", f.oid) {
            continue;
        }
        let (kind, direct) = match ordered_set(f.name) {
            Some(OrderedSet::Mode) => ("o", 0),
            Some(of) => (if of.is_hypothetical() { "h" } else { "o" }, 1),
            None => ("n", 0),
        };
        let mut cells = vec![("aggfnoid", V::Oid(f.oid)), ("aggkind", kind.into()), ("aggnumdirectargs", V::Int(direct))];
        let none = [
            "aggtransfn",
            "aggfinalfn",
            "aggcombinefn",
            "aggserialfn",
            "aggdeserialfn",
            "aggmtransfn",
            "aggminvtransfn",
            "aggmfinalfn",
            "aggsortop",
            "aggtranstype",
            "aggmtranstype",
        ];
        cells.extend(none.map(|column| (column, V::Oid(0))));
        cells.extend(["aggtransspace", "aggmtransspace"].map(|column| (column, V::Int(0))));
        cells.extend(["aggfinalextra", "aggmfinalextra"].map(|column| (column, false.into())));
        cells.extend(["aggfinalmodify", "aggmfinalmodify"].map(|column| (column, "r".into())));
        t.row(cells);
    }
    Ok(())
}
