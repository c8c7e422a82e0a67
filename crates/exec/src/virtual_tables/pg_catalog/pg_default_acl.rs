//! `pg_default_acl`: the privileges of what is yet to be made.

use super::super::builder::{Builder, V};
use crate::environment::StatementContext;
use stoa_pg::PgResult;
use stoa_sql::catalog::acl_text::acl_texts;
use stoa_table::catalog::ObjectClass;

/// Adds the rows.
pub fn fill(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    let authority = ctx.catalog.authority();
    for defaults in authority.defaults() {
        let kind = match defaults.of.class {
            ObjectClass::Sequence => "S",
            ObjectClass::Function => "f",
            ObjectClass::Type => "T",
            ObjectClass::Schema => "n",
            ObjectClass::Table | ObjectClass::Column | ObjectClass::Database | ObjectClass::Language | ObjectClass::LargeObject => "r",
        };
        t.row(vec![
            ("oid", V::Oid(defaults.oid)),
            ("defaclrole", V::Oid(defaults.of.role)),
            ("defaclnamespace", V::Oid(defaults.of.schema)),
            ("defaclobjtype", kind.into()),
            ("defaclacl", V::Texts(acl_texts(authority, &defaults.acl))),
        ]);
    }
    Ok(())
}
