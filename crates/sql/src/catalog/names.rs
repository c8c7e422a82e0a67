//! Names of catalog objects as SQL prints and reads them.

use super::deparse::quote_name;
use stoa_pg::{PgError, PgResult, SqlState};
use stoa_table::catalog::{CatalogSnapshot, Oid, PG_CATALOG_OID, Relation, TableDescriptor, ViewDescriptor};
pub use stoa_text::names::parse_name;

/// The owner of what the system has from the start.
pub const OWNER: u32 = stoa_table::catalog::role::FIRST_SUPERUSER;

/// The index of a primary key is seen under the constraint's OID with this bit: no object has it.
pub const PRIMARY_INDEX_BIT: u32 = 0x4000_0000;

/// What the OID of the rule that makes a relation a view has and the view's has not.
pub const RULE_BIT: u32 = 0x2000_0000;

const ROW_TYPE_BIT: u32 = 0x1000_0000;
const ROW_ARRAY_BITS: u32 = 0x1800_0000;

/// The OID of the type of a relation's rows.
#[must_use]
pub fn row_type_oid(relation: Oid) -> Oid {
    relation | ROW_TYPE_BIT
}

/// The OID of arrays of a relation's rows.
#[must_use]
pub fn row_array_oid(relation: Oid) -> Oid {
    relation | ROW_ARRAY_BITS
}

/// The relation of which this is the type of rows, and whether of arrays of them.
#[must_use]
pub fn of_row_type(catalog: &CatalogSnapshot, ty: Oid) -> Option<(&Relation, bool)> {
    let is_array = ty & ROW_ARRAY_BITS == ROW_ARRAY_BITS;
    if ty & ROW_TYPE_BIT == 0 || ty & (RULE_BIT | PRIMARY_INDEX_BIT) != 0 {
        return None;
    }
    let relation = catalog.relation(ty & !ROW_ARRAY_BITS)?;
    (!matches!(&**relation, Relation::Sequence(_))).then_some((&**relation, is_array))
}

/// A role's name; PostgreSQL's words for an OID that none has.
#[must_use]
pub fn role_name(catalog: &CatalogSnapshot, oid: Oid) -> String {
    catalog.authority().role(oid).map_or_else(|| format!("unknown (OID={oid})"), |role| role.name.clone())
}

/// A role's name as SQL writes it.
#[must_use]
pub fn quoted_role(name: &str) -> String {
    quote_name(name)
}

/// Whether what a view reads is read in its reader's name, not in its owner's.
#[must_use]
pub fn is_security_invoker(view: &ViewDescriptor) -> bool {
    is_set(view, "security_invoker")
}

/// Whether what stands above a view is computed for no rows but the view's.
#[must_use]
pub fn is_security_barrier(view: &ViewDescriptor) -> bool {
    is_set(view, "security_barrier")
}

/// Whether an option of a view is true.
fn is_set(view: &ViewDescriptor, option: &str) -> bool {
    let value = view.options.iter().find(|(name, _)| name == option).map(|(_, value)| value.to_ascii_lowercase());
    value.is_some_and(|value| matches!(value.as_str(), "true" | "on" | "yes" | "1" | "t" | "y" | "tr" | "tru" | "ye"))
}

/// What an OID of `pg_class` stands for.
#[derive(Clone, PartialEq, Debug)]
pub struct ClassName {
    pub schema: Oid,
    pub name: String,
}

/// The name of anything that `pg_class` lists: relations, indexes, computed relations.
#[must_use]
pub fn class_name(catalog: &CatalogSnapshot, oid: Oid) -> Option<ClassName> {
    if let Some(relation) = catalog.relation(oid) {
        return Some(ClassName { schema: relation.schema(), name: relation.name().to_owned() });
    }
    if let Some((table, index)) = catalog.index(oid) {
        return Some(ClassName { schema: table.schema, name: index.name.clone() });
    }
    if let Some(table) = primary_index(catalog, oid)
        && let Some(key) = &table.primary_key
    {
        return Some(ClassName { schema: table.schema, name: key.name.clone() });
    }
    let (schema, name) = crate::system_relations::by_oid(oid)?;
    Some(ClassName { schema: catalog.schema_by_name(schema)?.oid, name: name.to_owned() })
}

/// The table whose primary key is seen as this index.
#[must_use]
pub fn primary_index(catalog: &CatalogSnapshot, oid: Oid) -> Option<&TableDescriptor> {
    (oid & PRIMARY_INDEX_BIT != 0).then(|| catalog.table_of_key(oid & !PRIMARY_INDEX_BIT)).flatten()
}

/// The OID in `pg_class` of a name in a schema.
#[must_use]
pub fn class_in(catalog: &CatalogSnapshot, schema: Oid, name: &str) -> Option<Oid> {
    if let Some(relation) = catalog.relation_by_name(schema, name) {
        return Some(relation.oid());
    }
    if let Some(index) = catalog.index_by_name(schema, name) {
        return Some(index);
    }
    if let Some(key) = catalog.primary_key_named(schema, name).and_then(|t| t.primary_key.as_ref()) {
        return Some(key.oid | PRIMARY_INDEX_BIT);
    }
    let schema = catalog.schema(schema)?;
    Some(crate::system_relations::oid(&schema.name, name)).filter(|oid| *oid != 0)
}

/// The OID that a name finds along a path.
#[must_use]
pub fn class_on_path(catalog: &CatalogSnapshot, path: &[Oid], name: &str) -> Option<Oid> {
    path.iter().find_map(|schema| class_in(catalog, *schema, name))
}

/// Whether the name alone finds the object.
#[must_use]
pub fn is_visible(catalog: &CatalogSnapshot, path: &[Oid], oid: Oid) -> Option<bool> {
    let class = class_name(catalog, oid)?;
    Some(class_on_path(catalog, path, &class.name) == Some(oid))
}

/// The name as `regclass` prints it: with its schema where the path does not find it.
#[must_use]
pub fn shown_relation(catalog: &CatalogSnapshot, path: &[Oid], oid: Oid) -> Option<String> {
    let class = class_name(catalog, oid)?;
    if class_on_path(catalog, path, &class.name) == Some(oid) {
        return Some(quote_name(&class.name));
    }
    qualified(catalog, oid)
}

/// The name with its schema.
#[must_use]
pub fn qualified(catalog: &CatalogSnapshot, oid: Oid) -> Option<String> {
    let class = class_name(catalog, oid)?;
    let schema = catalog.schema(class.schema)?;
    Some(format!("{}.{}", quote_name(&schema.name), quote_name(&class.name)))
}

/// Whether a table has a constraint of this name.
pub fn has_constraint(table: &TableDescriptor, name: &str) -> bool {
    table.primary_key.as_ref().is_some_and(|k| k.name == name)
        || table.checks.iter().any(|c| c.name.name == name)
        || table.foreign_keys.iter().any(|f| f.name.name == name)
        || table.indexes.iter().any(|i| i.constraint.as_ref().is_some_and(|c| c.name == name))
}

/// The OID of a relation named in a string.
///
/// # Errors
/// 42602 for what is no name, 42601 for too many parts, 0A000 for one of another database.
pub fn class_named(catalog: &CatalogSnapshot, path: &[Oid], temporary: Option<Oid>, text: &str) -> PgResult<Option<Oid>> {
    let parts = parse_name(text)?;
    match parts.as_slice() {
        [name] => Ok(class_on_path(catalog, path, name).or_else(|| {
            // `pg_catalog` is always looked into.
            class_in(catalog, PG_CATALOG_OID, name)
        })),
        [other, _, _] if !catalog.is_this_database(other) => {
            Err(PgError::unsupported(format!("cross-database references are not implemented: \"{}\"", parts.join("."))))
        }
        [schema, name] | [_, schema, name] => {
            let schema = if schema == "pg_temp" { temporary } else { catalog.schema_by_name(schema).map(|s| s.oid) };
            Ok(schema.and_then(|schema| class_in(catalog, schema, name)))
        }
        _ => Err(PgError::new(SqlState::SYNTAX_ERROR, format!("improper relation name (too many dotted names): {}", parts.join(".")))),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    #[test]
    fn names_in_strings() {
        assert_eq!(parse_name(" Public . \"A\"\"b\" ").unwrap(), ["public", "A\"b"]);
        assert_eq!(parse_name("t").unwrap(), ["t"]);
        for bad in ["", "a.", "a b", "\"a", "a..b"] {
            assert_eq!(parse_name(bad).unwrap_err().code().as_str(), "42602", "{bad}");
        }
    }
}
