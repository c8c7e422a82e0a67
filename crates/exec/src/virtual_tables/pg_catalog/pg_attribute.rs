//! `pg_attribute`: the columns of everything in `pg_class`.

use super::super::builder::{Builder, V};
use super::super::objects::{
    ShownIndex, catalog_collation, collation, column_collation, indexed, indexes, part_collation, storage_options, tables_among,
};
use crate::environment::StatementContext;
use stoa_pg::collation::named;
use stoa_pg::types::PgType;
use stoa_pg::{PgResult, SqlType, type_functions};
use stoa_sql::bind::collation::of_descriptor;
use stoa_sql::bind::targets::column_name;
use stoa_sql::catalog::acl_text::acl_texts;
use stoa_sql::catalog::opclass;
use stoa_sql::system_relations as definitions;
use stoa_table::catalog::descriptor::GIN_METHOD;
use stoa_table::catalog::{ColumnId, IndexDescriptor, IndexKey, Relation, RightsOf, TableDescriptor};

/// Adds the rows.
pub fn fill(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    for definition in definitions::all().filter(|definition| t.wants_oid("attrelid", definition.oid)).collect::<Vec<_>>() {
        for (i, ((name, ty), not_null)) in definition.columns.iter().zip(&definition.not_null).enumerate() {
            // Texts of catalogs have the order of bytes.
            let collation = if definition.kind == "r" { catalog_collation(&ty.ty) } else { collation(&ty.ty) };
            // Those of views are as a query has them.
            let dims = V::Int(i64::from(definition.kind == "r" && ty.ty.is_array()));
            let more = vec![("attnotnull", (*not_null).into()), ("attcollation", collation), ("attndims", dims)];
            attribute_row(t, definition.oid, name, i as i64 + 1, ty, more);
        }
    }
    for table in tables_among(ctx, t.oids("attrelid")) {
        if !t.wants_oid("attrelid", table.oid) {
            continue;
        }
        for c in table.columns.iter().filter(|c| !c.hidden) {
            if c.dropped {
                // How values lie in old rows stays, of which type they were does not.
                let more = vec![
                    ("attisdropped", true.into()),
                    ("atttypid", V::Oid(0)),
                    ("attstattarget", V::Int(0)),
                    ("attndims", V::Int(i64::from(c.dimensions()))),
                    ("attcollation", column_collation(c)),
                ];
                attribute_row(t, table.oid, &format!("........pg.dropped.{}........", c.id.0), i64::from(c.id.0), &c.ty, more);
                continue;
            }
            // Where an index says it, it is the index's.
            let words = if stoa_sql::fulltext::settings::words_by(&table, c.id).is_none() { storage_options(&c.words) } else { V::Null };
            let identity = match &c.identity {
                Some(i) if i.always => "a",
                Some(_) => "d",
                None => "",
            };
            attribute_row(
                t,
                table.oid,
                &c.name,
                i64::from(c.id.0),
                &c.ty,
                vec![
                    ("attnotnull", c.not_null.into()),
                    ("atthasdef", (c.default.is_some() || c.generated.is_some()).into()),
                    ("attidentity", identity.into()),
                    ("attgenerated", if c.generated.is_some() { "s" } else { "" }.into()),
                    ("attoptions", words),
                    ("attndims", V::Int(i64::from(c.dimensions()))),
                    ("attcollation", column_collation(c)),
                    ("attacl", column_acl(ctx, table.oid, c.id)),
                ],
            );
        }
    }
    for owner in indexed(ctx) {
        for shown in indexes(&owner.table).into_iter().filter(|shown| t.wants_oid("attrelid", shown.oid)).collect::<Vec<_>>() {
            for (i, column) in index_columns(&owner.table, &shown).into_iter().enumerate() {
                let more = vec![("attcollation", V::Oid(column.collation)), ("attndims", V::Int(i64::from(column.dims)))];
                let kept = shown.index.and_then(|index| kept_by_gin(index, i));
                attribute_row(t, shown.oid, &column.name, i as i64 + 1, &kept.unwrap_or(column.ty), more);
            }
        }
    }
    for relation in ctx.catalog.relations() {
        if !t.wants_oid("attrelid", relation.oid()) {
            continue;
        }
        match &**relation {
            Relation::Table(_) => {}
            Relation::View(v) => {
                for (i, c) in v.columns.iter().enumerate() {
                    let id = ColumnId(u32::try_from(i).unwrap_or(u32::MAX).saturating_add(1));
                    let said = c.collation.as_ref().and_then(|name| named(name));
                    let collation = said.map_or_else(|| collation(&c.ty.ty), |said| V::Oid(said.oid));
                    let more = vec![("attacl", column_acl(ctx, v.oid, id)), ("attcollation", collation)];
                    attribute_row(t, v.oid, &c.name, i as i64 + 1, &c.ty, more);
                }
            }
            Relation::Sequence(s) => {
                for (i, (name, ty)) in
                    [("last_value", PgType::Int8), ("log_cnt", PgType::Int8), ("is_called", PgType::Bool)].into_iter().enumerate()
                {
                    attribute_row(t, s.oid, name, i as i64 + 1, &SqlType::new(ty), vec![("attnotnull", true.into())]);
                }
            }
        }
    }
    Ok(())
}

/// What was said of who may do what with a column; NULL for what was not.
fn column_acl(ctx: &StatementContext, relation: u32, column: ColumnId) -> V {
    let authority = ctx.catalog.authority();
    let rights = authority.rights(RightsOf::Relation(relation));
    let acl = rights.column(column);
    if acl.is_empty() { V::Null } else { V::Texts(acl_texts(authority, acl)) }
}

fn attribute_row(t: &mut Builder<'_>, relation: u32, name: &str, number: i64, ty: &SqlType, more: Vec<(&'static str, V)>) {
    let forms = type_functions::of_type(ty.ty.oid());
    let mut cells = vec![
        ("attrelid", V::Oid(relation)),
        ("attname", name.into()),
        ("attlen", V::Int(i64::from(ty.ty.len()))),
        ("attnum", V::Int(number)),
        ("attcacheoff", V::Int(-1)),
        ("atttypmod", V::Int(i64::from(ty.typmod))),
        ("attbyval", ((1..=8).contains(&ty.ty.len())).into()),
        ("attalign", forms.map_or("i", |f| f.align).into()),
        ("attstorage", forms.map_or("x", |f| f.storage).into()),
        ("attcompression", "".into()),
        ("attislocal", true.into()),
        ("attinhcount", V::Int(0)),
        ("atthasmissing", false.into()),
    ];
    let given: Vec<&str> = more.iter().map(|(n, _)| *n).collect();
    for (column, value) in [
        ("atttypid", V::Oid(ty.ty.oid())),
        ("attstattarget", V::Int(-1)),
        ("attndims", V::Int(0)),
        ("attcollation", collation(&ty.ty)),
        ("attnotnull", false.into()),
        ("atthasdef", false.into()),
        ("attidentity", "".into()),
        ("attgenerated", "".into()),
        ("attisdropped", false.into()),
    ] {
        if !given.contains(&column) {
            cells.push((column, value));
        }
    }
    cells.extend(more);
    t.row(cells);
}

/// The type of what a gin index keeps of its column at a place; none for other indexes.
fn kept_by_gin(index: &IndexDescriptor, at: usize) -> Option<SqlType> {
    let part = index.parts.get(at).filter(|_| index.method == GIN_METHOD)?;
    let kept = opclass::keeps(opclass::of_gin(part.class.as_deref(), &part.ty.ty)?);
    Some(SqlType::new(if kept == PgType::AnyElement { part.ty.ty.element()? } else { kept }))
}

/// A column of an index.
struct IndexColumn {
    name: String,
    ty: SqlType,
    collation: u32,
    dims: u16,
}

/// The columns of an index as PostgreSQL names them, with those that it only includes: expressions are called as those of a query, and a
/// column that stands there twice is `a`, `a1`.
fn index_columns(table: &TableDescriptor, shown: &ShownIndex<'_>) -> Vec<IndexColumn> {
    let column = |id: ColumnId, collation: Option<u32>| {
        let c = table.column(id)?;
        let collation = collation.unwrap_or_else(|| of_descriptor(c));
        Some(IndexColumn { name: c.name.clone(), ty: c.ty.clone(), collation, dims: c.dimensions() })
    };
    let Some(index) = shown.index else { return table.key_columns().filter_map(|p| column(p.column, None)).collect() };
    let mut out: Vec<IndexColumn> = Vec::new();
    for part in &index.parts {
        let collation = part_collation(table, part);
        let mut next = match &part.key {
            IndexKey::Column(id) => match column(*id, Some(collation)) {
                Some(column) => column,
                None => continue,
            },
            IndexKey::Expr(sql) => {
                let name = stoa_syntax::parse_expression(sql).ok().and_then(|expr| column_name(&expr));
                IndexColumn { name: name.unwrap_or_else(|| "expr".to_owned()), ty: part.ty.clone(), collation, dims: 0 }
            }
        };
        let first = next.name.clone();
        let mut n = 0;
        while out.iter().any(|taken| taken.name == next.name) {
            n += 1;
            next.name = format!("{first}{n}");
        }
        out.push(next);
    }
    // Nothing is in the order of what is only included.
    out.extend(index.include.iter().filter_map(|id| column(*id, Some(0))));
    out
}
