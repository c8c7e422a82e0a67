//! `pg_operator`: the operators.

use super::super::builder::{Builder, V};
use crate::environment::StatementContext;
use stoa_pg::PgResult;
use stoa_pg::registry::{Oper, Registry};
use stoa_pg::types::PgType;
use stoa_sql::catalog::names::OWNER;
use stoa_table::catalog::PG_CATALOG_OID;

/// The operator of a name on these types, if there is one; 0 else.
fn oid_of(name: &str, left: Option<&PgType>, right: &PgType) -> u32 {
    Registry::get().operators(name).iter().find(|o| o.left.as_ref() == left && o.right == *right).map_or(0, |o| o.oid)
}

/// The operator that says the same with its sides changed.
fn commutator(o: &Oper) -> u32 {
    let name = match o.name {
        "<" => ">",
        "<=" => ">=",
        ">" => "<",
        ">=" => "<=",
        "=" | "<>" => o.name,
        _ => return 0,
    };
    o.left.as_ref().map_or(0, |left| oid_of(name, Some(&o.right), left))
}

/// The operator that says the opposite.
fn negator(o: &Oper) -> u32 {
    let opposites = [("=", "<>"), ("<", ">="), (">", "<="), ("~~", "!~~"), ("~~*", "!~~*"), ("~", "!~"), ("~*", "!~*")];
    let opposite = opposites.iter().find_map(|(one, other)| match o.name {
        name if name == *one => Some(*other),
        name if name == *other => Some(*one),
        _ => None,
    });
    let is_truth = o.ret == PgType::Bool && o.left.is_some();
    opposite.filter(|_| is_truth).map_or(0, |name| oid_of(name, o.left.as_ref(), &o.right))
}

/// Adds the rows.
pub fn fill(_: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    for o in Registry::get().all_operators() {
        t.row(vec![
            ("oid", V::Oid(o.oid)),
            ("oprname", o.name.into()),
            ("oprnamespace", V::Oid(PG_CATALOG_OID)),
            ("oprowner", V::Oid(OWNER)),
            ("oprkind", if o.left.is_some() { "b" } else { "l" }.into()),
            ("oprcanmerge", false.into()),
            ("oprcanhash", false.into()),
            ("oprleft", V::Oid(o.left.as_ref().map_or(0, PgType::oid))),
            ("oprright", V::Oid(o.right.oid())),
            ("oprresult", V::Oid(o.ret.oid())),
            ("oprcom", V::Oid(commutator(o))),
            ("oprnegate", V::Oid(negator(o))),
            ("oprcode", V::Oid(0)),
            ("oprrest", V::Oid(0)),
            ("oprjoin", V::Oid(0)),
        ]);
    }
    Ok(())
}
