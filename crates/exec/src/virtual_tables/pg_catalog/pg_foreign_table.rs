//! `pg_foreign_table`, and the one server of foreign tables with its wrapper, as long as there are such tables: raw tables of this database.

use super::super::builder::{Builder, V};
use super::super::objects::tables_among;
use crate::environment::StatementContext;
use stoa_pg::PgResult;
use stoa_sql::catalog::deparse::quote_name;
use stoa_sql::catalog::names::OWNER;
use stoa_table::catalog::PUBLIC_OID;
use stoa_table::raw::DEFAULT_NAMESPACE;

const WRAPPER: u32 = 13_988;
const SERVER: u32 = 13_989;
const NAME: &str = "raw";

/// Adds the rows of `pg_foreign_table`.
pub fn fill(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    for table in tables_among(ctx, t.oids("ftrelid")) {
        let Some(raw) = table.mapping.as_ref().and_then(|mapping| ctx.catalog.table(mapping.table)) else { continue };
        let schema = ctx.catalog.schema(raw.schema);
        let namespace = schema.map_or("", |s| if s.oid == PUBLIC_OID { DEFAULT_NAMESPACE } else { s.name.as_str() });
        let part = |part: &stoa_table::catalog::KeyPart| {
            let name = table.column(part.column).map(|c| quote_name(&c.name)).unwrap_or_default();
            format!("{}{}", part.form.written(&name), if part.descending { " DESC" } else { "" })
        };
        let key: Vec<String> = table.key.iter().map(part).collect();
        t.row(vec![
            ("ftrelid", V::Oid(table.oid)),
            ("ftserver", V::Oid(SERVER)),
            ("ftoptions", V::Texts(vec![format!("table={namespace}:{}", raw.name), format!("key_format={}", key.join(", "))])),
        ]);
    }
    Ok(())
}

fn are_there(ctx: &StatementContext) -> bool {
    ctx.catalog.shared_tables().any(|table| table.mapping.is_some())
}

/// Adds the row of `pg_foreign_server`.
pub fn servers(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    if are_there(ctx) {
        t.row(vec![("oid", V::Oid(SERVER)), ("srvname", NAME.into()), ("srvowner", V::Oid(OWNER)), ("srvfdw", V::Oid(WRAPPER))]);
    }
    Ok(())
}

/// Adds the row of `pg_foreign_data_wrapper`.
pub fn wrappers(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    if are_there(ctx) {
        t.row(vec![
            ("oid", V::Oid(WRAPPER)),
            ("fdwname", NAME.into()),
            ("fdwowner", V::Oid(OWNER)),
            ("fdwhandler", V::Oid(0)),
            ("fdwvalidator", V::Oid(0)),
        ]);
    }
    Ok(())
}
