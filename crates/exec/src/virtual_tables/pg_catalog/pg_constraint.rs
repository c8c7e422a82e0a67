//! `pg_constraint`: keys, unique and foreign keys, CHECKs.

use super::super::builder::{Builder, V};
use super::super::objects::{foreign_keys, primary_index_oid, referenced_index, tables_among};
use crate::environment::StatementContext;
use stoa_pg::registry::Registry;
use stoa_pg::{PgResult, PgType};
use stoa_table::catalog::{ColumnId, ForeignKeyAction, ForeignKeyDescriptor, IndexKey, TableDescriptor};

/// Adds the rows.
pub fn fill(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    let action = |a: ForeignKeyAction| {
        V::from(match a {
            ForeignKeyAction::NoAction => "a",
            ForeignKeyAction::Restrict => "r",
            ForeignKeyAction::Cascade => "c",
            ForeignKeyAction::SetNull => "n",
            ForeignKeyAction::SetDefault => "d",
        })
    };
    for table in tables_among(ctx, t.oids("conrelid")) {
        let mut row = |name: &stoa_table::catalog::ConstraintName, kind: &str, more: Vec<(&'static str, V)>| {
            let mut cells = vec![
                ("oid", V::Oid(name.oid)),
                ("conname", name.name.as_str().into()),
                ("connamespace", V::Oid(table.schema)),
                ("contype", kind.into()),
                ("condeferrable", name.deferrable.into()),
                ("condeferred", name.initially_deferred.into()),
                ("conrelid", V::Oid(table.oid)),
                ("contypid", V::Oid(0)),
                ("conparentid", V::Oid(0)),
                ("conislocal", true.into()),
                ("coninhcount", V::Int(0)),
            ];
            let given: Vec<&str> = more.iter().map(|(n, _)| *n).collect();
            for (column, value) in [
                ("convalidated", true.into()),
                ("conindid", V::Oid(0)),
                ("confrelid", V::Oid(0)),
                ("confupdtype", " ".into()),
                ("confdeltype", " ".into()),
                ("confmatchtype", " ".into()),
                ("connoinherit", true.into()),
            ] {
                if !given.contains(&column) {
                    cells.push((column, value));
                }
            }
            cells.extend(more);
            t.row(cells);
        };
        if let Some(primary) = &table.primary_key {
            let keys = table.key_columns().map(|p| p.column.0 as i16).collect();
            row(primary, "p", vec![("conkey", V::Ints(keys)), ("conindid", V::Oid(primary_index_oid(&table).unwrap_or(0)))]);
        }
        for index in &table.indexes {
            if let Some(name) = &index.constraint {
                let keys =
                    index.parts.iter().filter_map(|p| if let IndexKey::Column(c) = &p.key { Some(c.0 as i16) } else { None }).collect();
                let kind = if index.primary { "p" } else { "u" };
                row(name, kind, vec![("conkey", V::Ints(keys)), ("conindid", V::Oid(index.oid))]);
            }
        }
        for check in &table.checks {
            let keys = check.columns.iter().map(|c| c.0 as i16).collect();
            row(
                &check.name,
                "c",
                vec![
                    ("conkey", V::Ints(keys)),
                    ("conbin", check.expr.as_str().into()),
                    ("convalidated", check.validated.into()),
                    ("connoinherit", check.no_inherit.into()),
                ],
            );
        }
        for key in foreign_keys(&table) {
            let referenced = ctx.catalog.table(key.referenced_table);
            let index = referenced.map_or(0, |r| referenced_index(r, &key.referenced_columns));
            let equal = referenced.map(|referenced| comparisons(&table, referenced, key));
            let operators = |of: fn(&[u32; 3]) -> u32| equal.as_ref().map_or(V::Null, |equal| V::Oids(equal.iter().map(of).collect()));
            let set: Vec<i16> = key.on_delete_columns.iter().map(|c| c.0 as i16).collect();
            row(
                &key.name,
                "f",
                vec![
                    ("confdelsetcols", if set.is_empty() { V::Null } else { V::Ints(set) }),
                    ("conkey", V::Ints(key.columns.iter().map(|c| c.0 as i16).collect())),
                    ("confkey", V::Ints(key.referenced_columns.iter().map(|c| c.0 as i16).collect())),
                    ("confrelid", V::Oid(key.referenced_table)),
                    ("confupdtype", action(key.on_update)),
                    ("confdeltype", action(key.on_delete)),
                    ("confmatchtype", if key.match_full { "f" } else { "s" }.into()),
                    ("convalidated", referenced.is_some_and(|r| key.is_valid(r)).into()),
                    ("conindid", V::Oid(index)),
                    ("conpfeqop", operators(|[both, ..]| *both)),
                    ("conppeqop", operators(|[_, of_key, _]| *of_key)),
                    ("conffeqop", operators(|[.., own]| *own)),
                ],
            );
        }
    }
    Ok(())
}

/// The operators that a foreign key compares each of its columns with: a referenced value with a referring one, two referenced, and two
/// referring ones.
fn comparisons(table: &TableDescriptor, referenced: &TableDescriptor, key: &ForeignKeyDescriptor) -> Vec<[u32; 3]> {
    let compared = |table: &TableDescriptor, id: ColumnId| {
        let ty = table.column(id).map_or(PgType::Unknown, |column| column.ty.ty.clone());
        // It is compared as a text.
        if ty == PgType::Varchar { PgType::Text } else { ty }
    };
    let equal = |left: &PgType, right: &PgType| {
        let operators = Registry::get().operators("=");
        operators.iter().find(|o| o.left.as_ref() == Some(left) && o.right == *right).map(|o| o.oid)
    };
    let operators = |(own, other): (&ColumnId, &ColumnId)| {
        let (own, other) = (compared(table, *own), compared(referenced, *other));
        let of_key = equal(&other, &other).unwrap_or(0);
        // Where nothing compares the two types, the referring value is cast.
        match equal(&other, &own) {
            Some(both) => [both, of_key, equal(&own, &own).unwrap_or(0)],
            None => [of_key; 3],
        }
    };
    key.columns.iter().zip(&key.referenced_columns).map(operators).collect()
}
