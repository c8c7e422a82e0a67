//! `pg_proc`: the functions, aggregates and window functions, with those that read and write types.

use super::super::builder::{Builder, V};
use crate::environment::StatementContext;
use stoa_pg::registry::{Func, FuncKind, Registry, Volatility};
use stoa_pg::types::PgType;
use stoa_pg::{PgResult, type_functions};
use stoa_sql::catalog::acl_text::acl_texts;
use stoa_sql::catalog::names::OWNER;
use stoa_sql::privileges::{function_rights, is_restricted};
use stoa_table::catalog::{INFORMATION_SCHEMA_OID, PG_CATALOG_OID};

/// Who may call a function, where that is not everybody or was said; NULL elsewhere.
fn function_acl(ctx: &StatementContext, f: &Func) -> V {
    let authority = ctx.catalog.authority();
    if !is_restricted(authority, f) {
        return V::Null;
    }
    function_rights(authority, f).acl.map_or(V::Null, |acl| V::Texts(acl_texts(authority, &acl)))
}

/// Adds the rows.
pub fn fill(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    for f in Registry::get().all_functions() {
        if !t.wants_oid("oid", f.oid) || !t.wants("proname", f.name) {
            continue;
        }
        let kind = match f.kind {
            FuncKind::Aggregate(_) | FuncKind::NativeAggregate(_) => "a",
            FuncKind::Window(_) => "w",
            _ => "f",
        };
        let volatility = match f.volatility {
            Volatility::Immutable => "i",
            Volatility::Stable => "s",
            Volatility::Volatile => "v",
        };
        t.row(vec![
            ("oid", V::Oid(f.oid)),
            ("proname", f.name.into()),
            // What information_schema is made with is called by its schema.
            ("pronamespace", V::Oid(if f.name.starts_with("_pg_") { INFORMATION_SCHEMA_OID } else { PG_CATALOG_OID })),
            ("proowner", V::Oid(OWNER)),
            ("prolang", V::Oid(12)),
            ("procost", V::Float(1.0)),
            ("prorows", V::Float(if f.returns_set { 1000.0 } else { 0.0 })),
            ("provariadic", V::Oid(if f.variadic { f.args.last().map_or(0, PgType::oid) } else { 0 })),
            ("prosupport", V::Oid(0)),
            ("prokind", kind.into()),
            ("prosecdef", false.into()),
            ("proleakproof", false.into()),
            ("proisstrict", f.strict.into()),
            ("proretset", f.returns_set.into()),
            ("provolatile", volatility.into()),
            ("proparallel", "s".into()),
            ("pronargs", V::Int(f.args.len() as i64)),
            ("pronargdefaults", V::Int(f.defaults.len() as i64)),
            ("prorettype", V::Oid(f.ret.oid())),
            ("proargtypes", V::Oids(f.declared_args().map(|ty| ty.oid()).collect())),
            ("proargnames", if f.arg_names.is_empty() { V::Null } else { V::Texts(f.arg_names.iter().map(|n| (*n).to_owned()).collect()) }),
            ("prosrc", f.name.into()),
            ("proacl", function_acl(ctx, f)),
        ]);
    }
    for f in type_functions::all() {
        if !t.wants_oid("oid", f.oid) || !t.wants("proname", f.name) {
            continue;
        }
        t.row(vec![
            ("oid", V::Oid(f.oid)),
            ("proname", f.name.into()),
            ("pronamespace", V::Oid(PG_CATALOG_OID)),
            ("proowner", V::Oid(OWNER)),
            ("prolang", V::Oid(12)),
            ("procost", V::Float(1.0)),
            ("prorows", V::Float(0.0)),
            ("provariadic", V::Oid(0)),
            ("prosupport", V::Oid(0)),
            ("prokind", "f".into()),
            ("prosecdef", false.into()),
            ("proleakproof", false.into()),
            ("proisstrict", f.strict.into()),
            ("proretset", false.into()),
            ("provolatile", f.volatility.into()),
            ("proparallel", "s".into()),
            ("pronargs", V::Int(f.args.len() as i64)),
            ("pronargdefaults", V::Int(0)),
            ("prorettype", V::Oid(f.ret)),
            ("proargtypes", V::Oids(f.args.clone())),
            ("prosrc", f.name.into()),
        ]);
    }
    Ok(())
}
