//! `pg_index`: the indexes, primary keys among them.

use super::super::builder::{Builder, V};
use super::super::objects::{FULLTEXT_CLASS, Indexed, ShownIndex, indexed, indexes, part_collation};
use crate::environment::StatementContext;
use stoa_pg::PgResult;
use stoa_sql::bind::collation::of_descriptor;
use stoa_sql::catalog::names::PRIMARY_INDEX_BIT;
use stoa_sql::catalog::opclass;
use stoa_table::catalog::{ColumnId, GIN_METHOD, IndexKey, IndexPart, TableDescriptor};

/// Adds the rows.
pub fn fill(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    for owner in indexed(ctx) {
        if !t.wants_oid("indrelid", owner.oid) {
            continue;
        }
        for shown in indexes(&owner.table) {
            if !t.wants_oid("indexrelid", shown.oid) {
                continue;
            }
            index_row(&owner, &shown, t);
        }
    }
    Ok(())
}

/// The operator classes of an index's keys; 0 for a type that PostgreSQL has no order of.
fn classes(table: &TableDescriptor, shown: &ShownIndex<'_>) -> Vec<u32> {
    let own = |ty: &stoa_pg::PgType| opclass::own(ty).map_or(0, |class| class.oid);
    match shown.index {
        Some(index) if index.method == GIN_METHOD => {
            let class = |part: &IndexPart| opclass::of_gin(part.class.as_deref(), &part.ty.ty).map_or(0, |class| class.oid);
            index.parts.iter().map(class).collect()
        }
        Some(index) if index.is_fulltext() => vec![FULLTEXT_CLASS; index.parts.len()],
        Some(index) => index
            .parts
            .iter()
            .map(|part| part.class.as_deref().and_then(opclass::named).map_or_else(|| own(&part.ty.ty), |class| class.oid))
            .collect(),
        None => table.key_columns().map(|part| table.column(part.column).map_or(0, |column| own(&column.ty.ty))).collect(),
    }
}

/// The collations of an index's keys; 0 for what has none.
fn collations(table: &TableDescriptor, shown: &ShownIndex<'_>) -> Vec<u32> {
    match shown.index {
        Some(index) => index.parts.iter().map(|part| part_collation(table, part)).collect(),
        None => table.key_columns().map(|part| table.column(part.column).map_or(0, of_descriptor)).collect(),
    }
}

fn index_row(owner: &Indexed, shown: &ShownIndex<'_>, t: &mut Builder<'_>) {
    let table = &owner.table;
    let number = |id: ColumnId| owner.number(id);
    let (keys, options, count, all, immediate, exprs, predicate, nulls): (Vec<i16>, Vec<i16>, usize, usize, bool, V, V, bool) = match shown
        .index
    {
        None => (
            table.key_columns().map(|p| number(p.column)).collect(),
            table.key_columns().map(|p| if p.descending { 3 } else { 0 }).collect(),
            table.key_columns().count(),
            table.key_columns().count(),
            table.primary_key.as_ref().is_none_or(|p| !p.deferrable),
            V::Null,
            V::Null,
            false,
        ),
        Some(index) => {
            let mut keys: Vec<i16> = index.parts.iter().map(|p| if let IndexKey::Column(c) = &p.key { number(*c) } else { 0 }).collect();
            keys.extend(index.include.iter().map(|c| number(*c)));
            let texts: Vec<String> =
                index.parts.iter().filter_map(|p| if let IndexKey::Expr(sql) = &p.key { Some(sql.clone()) } else { None }).collect();
            (
                keys,
                index.parts.iter().map(|p| i16::from(p.descending) | (i16::from(p.nulls_first) << 1)).collect(),
                index.parts.len(),
                index.parts.len() + index.include.len(),
                index.constraint.as_ref().is_none_or(|c| !c.deferrable),
                if texts.is_empty() { V::Null } else { V::Text(texts.join(", ")) },
                index.predicate.clone().into(),
                index.nulls_not_distinct,
            )
        }
    };
    let valid = shown.index.is_none_or(|i| i.state == stoa_table::catalog::IndexState::Readable);
    t.row(vec![
        ("indexrelid", V::Oid(shown.oid)),
        ("indrelid", V::Oid(owner.oid)),
        ("indnatts", V::Int(all as i64)),
        ("indnkeyatts", V::Int(count as i64)),
        ("indisunique", shown.unique.into()),
        ("indnullsnotdistinct", nulls.into()),
        ("indisprimary", shown.primary.into()),
        ("indisexclusion", false.into()),
        ("indimmediate", immediate.into()),
        ("indisclustered", false.into()),
        ("indisvalid", valid.into()),
        ("indcheckxmin", false.into()),
        ("indisready", shown.index.is_none_or(|i| i.state >= stoa_table::catalog::IndexState::WriteOnly).into()),
        ("indislive", true.into()),
        ("indisreplident", table.is_replica_identity(shown.oid & !PRIMARY_INDEX_BIT).into()),
        ("indkey", V::Ints(keys)),
        ("indcollation", V::Oids(collations(table, shown))),
        ("indclass", V::Oids(classes(table, shown))),
        ("indoption", V::Ints(options)),
        ("indexprs", exprs),
        ("indpred", predicate),
    ]);
}
