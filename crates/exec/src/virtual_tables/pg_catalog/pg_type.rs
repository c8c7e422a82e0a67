//! `pg_type`: the types of values, and those of relations' rows.

use super::super::builder::{Builder, V};
use super::super::objects::collation;
use crate::environment::StatementContext;
use stoa_pg::PgResult;
use stoa_pg::type_functions::{self, TypeForms};
use stoa_pg::types::{BASE_TYPES, PgType, map_types};
use stoa_sql::catalog::names::{OWNER, row_array_oid, row_type_oid};
use stoa_table::catalog::{PG_CATALOG_OID, Relation, RightsOf};

/// Adds the rows.
pub fn fill(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    let row = |t: &mut Builder<'_>, ty: &PgType, oid: u32, name: &str, element: u32, array: u32| {
        let is_array = element != 0 && name.starts_with('_');
        // Types of Stoa's own have no functions that PostgreSQL knows.
        let forms = type_functions::of_type(oid);
        let function = |of: fn(&TypeForms) -> u32| V::Oid(forms.map_or(0, of));
        t.row(vec![
            ("oid", V::Oid(oid)),
            ("typname", name.into()),
            ("typnamespace", V::Oid(PG_CATALOG_OID)),
            ("typowner", V::Oid(OWNER)),
            ("typlen", V::Int(if is_array { -1 } else { i64::from(ty.len()) })),
            ("typbyval", (!is_array && (1..=8).contains(&ty.len())).into()),
            (
                "typtype",
                if !is_array && (ty.is_pseudo() || matches!(ty, PgType::Record(_) | PgType::Unknown)) || oid == 2287 { "p" } else { "b" }
                    .into(),
            ),
            ("typcategory", if is_array { if oid == 2287 { "P" } else { "A" }.into() } else { V::Text(ty.category().to_string()) }),
            ("typispreferred", (!is_array && ty.is_preferred()).into()),
            ("typisdefined", true.into()),
            ("typdelim", ",".into()),
            ("typrelid", V::Oid(0)),
            ("typsubscript", function(|f| f.subscript)),
            ("typelem", V::Oid(element)),
            ("typarray", V::Oid(array)),
            ("typinput", function(|f| f.input)),
            ("typoutput", function(|f| f.output)),
            ("typreceive", function(|f| f.receive)),
            ("typsend", function(|f| f.send)),
            ("typmodin", function(|f| f.modifier_in)),
            ("typmodout", function(|f| f.modifier_out)),
            ("typanalyze", function(|f| f.analyze)),
            ("typalign", forms.map_or("i", |f| f.align).into()),
            ("typstorage", forms.map_or("x", |f| f.storage).into()),
            ("typnotnull", false.into()),
            ("typbasetype", V::Oid(0)),
            ("typtypmod", V::Int(-1)),
            ("typndims", V::Int(0)),
            ("typcollation", collation(ty)),
        ]);
    };
    for (ty, info) in BASE_TYPES {
        let element = match ty {
            PgType::Int2Vector => PgType::Int2.oid(),
            PgType::OidVector => PgType::Oid.oid(),
            PgType::Name => PgType::Char.oid(),
            _ => 0,
        };
        row(t, ty, info.oid, info.name, element, info.array_oid);
        if info.array_oid != 0 {
            row(t, ty, info.array_oid, &format!("_{}", info.name), info.oid, 0);
        }
    }
    for map in map_types() {
        row(t, &map, map.oid(), &map.name(), 0, 0);
    }
    row(t, &PgType::Record(None), 2249, "record", 0, 2287);
    row(t, &PgType::Record(None), 2287, "_record", 2249, 0);
    row_types(ctx, t);
    Ok(())
}

/// The types of relations' rows, and of arrays of them, which clients find in the catalogs although statements do not know them.
fn row_types(ctx: &StatementContext, t: &mut Builder<'_>) {
    let forms = |oid: u32| type_functions::of_type(oid);
    for relation in ctx.catalog.relations() {
        if matches!(&**relation, Relation::Sequence(_)) || ctx.catalog.view_of_rows(relation.oid()).is_some() {
            continue;
        }
        let owner = ctx.catalog.authority().rights(RightsOf::Relation(relation.oid())).owner;
        let (oid, array) = (row_type_oid(relation.oid()), row_array_oid(relation.oid()));
        for is_array in [false, true] {
            if !t.wants_oid("oid", if is_array { array } else { oid }) {
                continue;
            }
            // Read and written as any record, or any array of records, is.
            let forms = forms(if is_array { 2287 } else { 2249 });
            let function = |of: fn(&TypeForms) -> u32| V::Oid(forms.map_or(0, of));
            t.row(vec![
                ("oid", V::Oid(if is_array { array } else { oid })),
                ("typname", if is_array { format!("_{}", relation.name()) } else { relation.name().to_owned() }.into()),
                ("typnamespace", V::Oid(relation.schema())),
                ("typowner", V::Oid(owner)),
                ("typlen", V::Int(-1)),
                ("typbyval", false.into()),
                ("typtype", if is_array { "b" } else { "c" }.into()),
                ("typcategory", if is_array { "A" } else { "C" }.into()),
                ("typispreferred", false.into()),
                ("typisdefined", true.into()),
                ("typdelim", ",".into()),
                ("typrelid", V::Oid(if is_array { 0 } else { relation.oid() })),
                ("typsubscript", function(|f| f.subscript)),
                ("typelem", V::Oid(if is_array { oid } else { 0 })),
                ("typarray", V::Oid(if is_array { 0 } else { array })),
                ("typinput", function(|f| f.input)),
                ("typoutput", function(|f| f.output)),
                ("typreceive", function(|f| f.receive)),
                ("typsend", function(|f| f.send)),
                ("typmodin", V::Oid(0)),
                ("typmodout", V::Oid(0)),
                ("typanalyze", function(|f| f.analyze)),
                ("typalign", "d".into()),
                ("typstorage", "x".into()),
                ("typnotnull", false.into()),
                ("typbasetype", V::Oid(0)),
                ("typtypmod", V::Int(-1)),
                ("typndims", V::Int(0)),
                ("typcollation", V::Oid(0)),
            ]);
        }
    }
}
