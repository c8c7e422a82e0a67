//! `collations`, `collation_character_set_applicability` and `character_sets`: everything is UTF-8.

use super::super::builder::{Builder, V};
use crate::environment::StatementContext;
use stoa_pg::PgResult;
use stoa_pg::collation::{COLLATIONS, DEFAULT, by_oid};

/// The name of the one character set.
const ENCODING: &str = "UTF8";

/// The cells that tell the collation of a column; none where it is the database's.
pub fn collation_cells(ctx: &StatementContext, collation: &V) -> Vec<(&'static str, V)> {
    let known = if let V::Oid(oid) = collation { by_oid(*oid).filter(|known| known.oid != DEFAULT) } else { None };
    known.map_or_else(Vec::new, |known| {
        vec![
            ("collation_catalog", ctx.catalog.database_name().into()),
            ("collation_schema", "pg_catalog".into()),
            ("collation_name", known.name.into()),
        ]
    })
}

/// Adds the rows of `collations`.
pub fn collations(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    for collation in COLLATIONS {
        t.row(vec![
            ("collation_catalog", ctx.catalog.database_name().into()),
            ("collation_schema", "pg_catalog".into()),
            ("collation_name", collation.name.into()),
            ("pad_attribute", "NO PAD".into()),
        ]);
    }
    Ok(())
}

/// Adds the rows of `collation_character_set_applicability`.
pub fn applicability(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    for collation in COLLATIONS {
        t.row(vec![
            ("collation_catalog", ctx.catalog.database_name().into()),
            ("collation_schema", "pg_catalog".into()),
            ("collation_name", collation.name.into()),
            ("character_set_name", ENCODING.into()),
        ]);
    }
    Ok(())
}

/// Adds the row of `character_sets`. No collation is of both of the database's locales, C and C.UTF-8.
pub fn character_sets(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    t.row(vec![
        ("character_set_name", ENCODING.into()),
        ("character_repertoire", "UCS".into()),
        ("form_of_use", ENCODING.into()),
        ("default_collate_catalog", ctx.catalog.database_name().into()),
    ]);
    Ok(())
}
