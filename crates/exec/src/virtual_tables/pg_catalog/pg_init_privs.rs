//! `pg_init_privs`: the privileges that objects of the system have from the start, so that dumps tell only what was changed of them.

use super::super::builder::{Builder, V};
use super::super::objects::{PG_CLASS, PG_NAMESPACE, PG_PROC};
use crate::environment::StatementContext;
use stoa_pg::PgResult;
use stoa_pg::registry::Registry;
use stoa_sql::catalog::acl_text::acl_texts;
use stoa_sql::privileges::{function_rights, is_restricted};
use stoa_sql::system_relations as definitions;
use stoa_table::catalog::{Acl, Authority, PG_CATALOG_OID, PUBLIC_OID, RightsOf};

/// Adds the rows.
pub fn fill(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    let start = Authority::default();
    let mut row = |class: u32, oid: u32, acl: Option<Acl>| {
        let Some(acl) = acl else { return };
        t.row(vec![
            ("objoid", V::Oid(oid)),
            ("classoid", V::Oid(class)),
            ("objsubid", V::Int(0)),
            ("privtype", "i".into()),
            ("initprivs", V::Texts(acl_texts(ctx.catalog.authority(), &acl))),
        ]);
    };
    for definition in definitions::all() {
        row(PG_CLASS, definition.oid, start.rights(RightsOf::Relation(definition.oid)).acl.clone());
    }
    for schema in [PG_CATALOG_OID, PUBLIC_OID] {
        row(PG_NAMESPACE, schema, start.rights(RightsOf::Schema(schema)).acl.clone());
    }
    for function in Registry::get().all_functions().filter(|function| is_restricted(&start, function)) {
        row(PG_PROC, function.oid, function_rights(&start, function).acl);
    }
    Ok(())
}
