//! `pg_amop`: the operators by which btree orders the types of a family.

use super::super::builder::{Builder, V};
use super::super::objects::BTREE_AM;
use crate::environment::StatementContext;
use stoa_pg::PgResult;
use stoa_pg::registry::Registry;
use stoa_sql::catalog::opclass;

/// The OID of the first row.
const FIRST_OID: u32 = 9_300;
/// In the order of their numbers, from 1.
const STRATEGIES: [&str; 5] = ["<", "<=", "=", ">=", ">"];

/// Adds the rows.
pub fn fill(_: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    let mut rows = Vec::new();
    for (name, strategy) in STRATEGIES.into_iter().zip(1..) {
        for operator in Registry::get().operators(name) {
            let Some(left) = &operator.left else { continue };
            let family = |ty| opclass::own(ty).map(|class| class.family);
            if let Some(of) = family(left).filter(|of| family(&operator.right) == Some(*of)) {
                rows.push((of, left.oid(), operator.right.oid(), strategy, operator.oid));
            }
        }
    }
    rows.sort_unstable();
    for (oid, (family, left, right, strategy, operator)) in (FIRST_OID..).zip(rows) {
        t.row(vec![
            ("oid", V::Oid(oid)),
            ("amopfamily", V::Oid(family)),
            ("amoplefttype", V::Oid(left)),
            ("amoprighttype", V::Oid(right)),
            ("amopstrategy", V::Int(strategy)),
            ("amoppurpose", "s".into()),
            ("amopopr", V::Oid(operator)),
            ("amopmethod", V::Oid(BTREE_AM)),
            ("amopsortfamily", V::Oid(0)),
        ]);
    }
    Ok(())
}
