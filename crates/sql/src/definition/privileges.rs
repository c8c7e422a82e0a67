//! What functions tell of privileges: `has_table_privilege` and its kin, `pg_has_role`, `acldefault`, `makeaclitem`, `aclexplode`.

use super::functions::{Answer, Args, Objects, null, text, truth};
use crate::catalog::acl_text::{acl_texts, item_text, read_item};
use crate::catalog::names::{class_name, parse_name};
use crate::privileges::{function_rights, is_column, may_execute, may_schema, relation_class};
use crate::system_relations;
use arrow::array::StringViewArray;
use std::sync::Arc;
use stoa_pg::registry::{Func, Registry};
use stoa_pg::values::acl::READ_ITEM;
use stoa_pg::values::array::array_of_elements;
use stoa_pg::{PgError, PgResult, PgType, SqlState, SqlType};
use stoa_table::catalog::{AclItem, CatalogSnapshot, ColumnId, ObjectClass, Oid, Privileges, Relation, RightsOf, acl};

/// The name by which `aclexplode` asks for an item: its grantor, its grantee, and by turns each privilege and whether it may be granted on.
pub const PARTS_OF_ITEM: &str = "parts of an aclitem";

/// A privilege, and whether with the right to grant it. `None`: one that is known, and that nobody has.
type Wanted = Vec<Option<(Privileges, bool)>>;

/// Answers one call; `None` for functions that are not about privileges.
///
/// # Errors
/// What the function raises.
pub(super) fn call(o: &Objects<'_>, function: &str, args: &Args<'_>) -> Answer {
    match function {
        "acldefault" => default_list(o, args),
        "makeaclitem" => make_item(o, args),
        PARTS_OF_ITEM => parts(o, args),
        READ_ITEM => {
            let authority = o.catalog.authority();
            text(item_text(authority, &read_item(authority, &args.text(0).unwrap_or_default())?))
        }
        "pg_has_role" => has_role(o, args),
        "has_column_privilege" => has_column_privilege(o, args),
        name if name.starts_with("has_") => has_privilege(o, function, args),
        _ => Ok(None),
    }
}

fn undefined(message: String) -> PgError {
    PgError::new(SqlState::UNDEFINED_OBJECT, message)
}

/// The role that a function asks about: its first argument, if it has one for it, else the current role. 0 is everybody.
fn role_asked(o: &Objects<'_>, args: &Args<'_>, at: usize) -> PgResult<Oid> {
    if at == 0 {
        return Ok(o.role);
    }
    match args.text(0) {
        Some(name) if name == "public" => Ok(acl::PUBLIC_GRANTEE),
        Some(name) => o.role_oid(&name).ok_or_else(|| undefined(format!("role \"{name}\" does not exist"))),
        None => Ok(args.oid(0).unwrap_or(acl::PUBLIC_GRANTEE)),
    }
}

/// The privileges that a text lists; one of them is enough.
fn wanted(args: &Args<'_>, known: &[(&str, Option<Privileges>)]) -> PgResult<Wanted> {
    let mut out = Wanted::new();
    for kind in args.text(args.len().saturating_sub(1)).unwrap_or_default().split(',') {
        let kind = kind.trim();
        let lower = kind.to_lowercase();
        let (base, option) = match lower.strip_suffix(" with grant option").or_else(|| lower.strip_suffix(" with admin option")) {
            Some(base) => (base, true),
            None => (lower.as_str(), false),
        };
        let Some((_, privilege)) = known.iter().find(|(name, _)| *name == base) else {
            return Err(PgError::new(SqlState::INVALID_PARAMETER_VALUE, format!("unrecognized privilege type: \"{kind}\"")));
        };
        out.push(privilege.map(|privilege| (privilege, option)));
    }
    Ok(out)
}

/// The names of a class's privileges.
fn names_of(class: ObjectClass) -> Vec<(&'static str, Option<Privileges>)> {
    use Privileges as P;
    match class {
        ObjectClass::Table => vec![
            ("select", Some(P::SELECT)),
            ("insert", Some(P::INSERT)),
            ("update", Some(P::UPDATE)),
            ("delete", Some(P::DELETE)),
            ("truncate", Some(P::TRUNCATE)),
            ("references", Some(P::REFERENCES)),
            ("trigger", Some(P::TRIGGER)),
            // PostgreSQL had it once.
            ("rule", None),
        ],
        ObjectClass::Column => {
            vec![("select", Some(P::SELECT)), ("insert", Some(P::INSERT)), ("update", Some(P::UPDATE)), ("references", Some(P::REFERENCES))]
        }
        ObjectClass::Sequence => vec![("usage", Some(P::USAGE)), ("select", Some(P::SELECT)), ("update", Some(P::UPDATE))],
        ObjectClass::Database => vec![
            ("create", Some(P::CREATE)),
            ("connect", Some(P::CONNECT)),
            ("temporary", Some(P::TEMPORARY)),
            ("temp", Some(P::TEMPORARY)),
        ],
        ObjectClass::Function => vec![("execute", Some(P::EXECUTE))],
        ObjectClass::Schema => vec![("create", Some(P::CREATE)), ("usage", Some(P::USAGE))],
        ObjectClass::Language | ObjectClass::Type => vec![("usage", Some(P::USAGE))],
        ObjectClass::LargeObject => vec![("select", Some(P::SELECT)), ("update", Some(P::UPDATE))],
    }
}

/// Whether a role has one of the wanted privileges on an object.
fn has(o: &Objects<'_>, role: Oid, class: ObjectClass, of: RightsOf, wanted: &Wanted) -> bool {
    let authority = o.catalog.authority();
    wanted.iter().flatten().any(|(one, option)| {
        let (options, none) = (if *option { *one } else { Privileges::NONE }, Privileges::NONE);
        let (privileges, options) = authority.privileges(role, class, of, if *option { none } else { *one }, options);
        if *option { options.has(*one) } else { privileges.has(*one) }
    })
}

fn has_privilege(o: &Objects<'_>, function: &str, args: &Args<'_>) -> Answer {
    let at = args.len().saturating_sub(2);
    let role = role_asked(o, args, at)?;
    let name = args.text(at);
    match function {
        "has_table_privilege" | "has_any_column_privilege" | "has_sequence_privilege" => {
            let Some(oid) = relation(o, args, at)? else { return truth(None) };
            let class = relation_class(o.catalog, oid);
            let is_sequence = matches!(o.catalog.relation(oid).map(|r| &**r), Some(Relation::Sequence(_)));
            if function == "has_sequence_privilege" && !is_sequence {
                let name = name.or_else(|| class_name(o.catalog, oid).map(|c| c.name)).unwrap_or_default();
                return Err(PgError::new(SqlState::WRONG_OBJECT_TYPE, format!("\"{name}\" is not a sequence")));
            }
            let known = match function {
                "has_table_privilege" => ObjectClass::Table,
                "has_sequence_privilege" => ObjectClass::Sequence,
                _ => ObjectClass::Column,
            };
            let wanted = wanted(args, &names_of(known))?;
            let whole = has(o, role, class, RightsOf::Relation(oid), &wanted);
            truth(whole || (known == ObjectClass::Column && has_any_column(o, role, oid, &wanted)))
        }
        "has_schema_privilege" => {
            let oid = match name {
                Some(name) => o
                    .schema_oid(&name)
                    .ok_or_else(|| PgError::new(SqlState::INVALID_SCHEMA_NAME, format!("schema \"{name}\" does not exist")))?,
                None => match args.oid(at).filter(|oid| o.catalog.schema(*oid).is_some()) {
                    Some(oid) => oid,
                    None => return truth(None),
                },
            };
            let wanted = wanted(args, &names_of(ObjectClass::Schema))?;
            let own = o.temporary == Some(oid) && role == o.role && may_schema(o.catalog, role, oid, Privileges::USAGE);
            truth(own || has(o, role, ObjectClass::Schema, RightsOf::Schema(oid), &wanted))
        }
        "has_database_privilege" => {
            let authority = o.catalog.authority();
            let database = match name {
                Some(name) => match authority.database_to_connect_to(&name) {
                    Some(database) => database.oid,
                    None => return Err(crate::privileges::undefined_database(&name)),
                },
                None => match args.oid(at).filter(|oid| authority.database(*oid).is_some()) {
                    Some(oid) => oid,
                    None => return truth(None),
                },
            };
            truth(has(o, role, ObjectClass::Database, RightsOf::Database(database), &wanted(args, &names_of(ObjectClass::Database))?))
        }
        "has_function_privilege" => has_function(o, role, args, at),
        "has_type_privilege" => {
            let oid = match name {
                Some(name) => stoa_pg::values::parse_type_name(&name)?.ty.oid(),
                None => args.oid(at).unwrap_or(0),
            };
            truth(has(o, role, ObjectClass::Type, RightsOf::Type(oid), &wanted(args, &names_of(ObjectClass::Type))?))
        }
        "has_language_privilege" => {
            let known = [("internal", 12), ("c", 13), ("sql", 14)];
            let oid = match name {
                Some(name) => known.iter().find(|(known, _)| *known == name).map(|(_, oid)| *oid),
                None => args.oid(at).filter(|oid| known.iter().any(|(_, known)| known == oid)),
            };
            let wanted = wanted(args, &names_of(ObjectClass::Language))?;
            match (oid, args.text(at)) {
                (Some(oid), _) => truth(has(o, role, ObjectClass::Language, RightsOf::Language(oid), &wanted)),
                (None, Some(name)) => Err(undefined(format!("language \"{name}\" does not exist"))),
                (None, None) => truth(None),
            }
        }
        "has_tablespace_privilege" => {
            wanted(args, &[("create", Some(Privileges::CREATE))])?;
            if let Some(name) = name.filter(|name| !matches!(name.as_str(), "pg_default" | "pg_global")) {
                return Err(undefined(format!("tablespace \"{name}\" does not exist")));
            }
            truth(o.catalog.authority().is_superuser(role))
        }
        "has_parameter_privilege" => {
            wanted(args, &[("set", Some(Privileges::USAGE)), ("alter system", Some(Privileges::USAGE))])?;
            truth(o.catalog.authority().is_superuser(role))
        }
        // There are none.
        other => {
            let kind = if other == "has_server_privilege" { "server" } else { "foreign-data wrapper" };
            wanted(args, &[("usage", Some(Privileges::USAGE))])?;
            name.map_or_else(|| truth(None), |name| Err(undefined(format!("{kind} \"{name}\" does not exist"))))
        }
    }
}

/// The relation that an argument names, or whose OID it is; `None` for an OID that none has.
fn relation(o: &Objects<'_>, args: &Args<'_>, at: usize) -> PgResult<Option<Oid>> {
    match args.text(at) {
        Some(name) => {
            let found = o.relation_oid(&name)?;
            let missing = || PgError::new(SqlState::UNDEFINED_TABLE, format!("relation \"{name}\" does not exist"));
            found.ok_or_else(missing).map(Some)
        }
        None => Ok(args.oid(at).filter(|oid| class_name(o.catalog, *oid).is_some())),
    }
}

fn column_has(o: &Objects<'_>, role: Oid, relation: Oid, column: ColumnId, wanted: &Wanted) -> bool {
    let authority = o.catalog.authority();
    wanted.iter().flatten().any(|(one, option)| {
        let options = if *option { *one } else { Privileges::NONE };
        let (privileges, options) = authority.column_privileges(role, relation, column, *one, options);
        if *option { options.has(*one) } else { privileges.has(*one) }
    })
}

fn has_any_column(o: &Objects<'_>, role: Oid, relation: Oid, wanted: &Wanted) -> bool {
    let rights = o.catalog.authority().rights(RightsOf::Relation(relation));
    let there = |column: ColumnId| is_column(o.catalog, relation, column);
    rights.columns.iter().any(|(column, _)| there(*column) && column_has(o, role, relation, *column, wanted))
}

/// The columns of a relation that are there, with their numbers.
fn columns_by_number(catalog: &CatalogSnapshot, oid: Oid) -> Vec<(i64, String)> {
    let counted = |names: Vec<String>| (1..).zip(names).collect();
    match catalog.relation(oid).map(|r| &**r) {
        Some(Relation::Table(table)) => table.visible_columns().map(|c| (i64::from(c.id.0), c.name.clone())).collect(),
        Some(Relation::View(view)) => counted(view.columns.iter().map(|c| c.name.clone()).collect()),
        Some(Relation::Sequence(_)) => counted(["last_value", "log_cnt", "is_called"].map(str::to_owned).to_vec()),
        None => {
            let columns = system_relations::by_oid(oid).and_then(|(schema, name)| system_relations::columns(schema, name));
            counted(columns.into_iter().flatten().map(|(name, _)| name).collect())
        }
    }
}

fn has_column_privilege(o: &Objects<'_>, args: &Args<'_>) -> Answer {
    let at = args.len().saturating_sub(3);
    let role = role_asked(o, args, at)?;
    let Some(oid) = relation(o, args, at)? else { return truth(None) };
    let columns = columns_by_number(o.catalog, oid);
    let number = match args.text(at + 1) {
        Some(column) => {
            let found = columns.iter().find(|(_, name)| *name == column);
            Some(found.map(|(number, _)| *number).ok_or_else(|| {
                let relation = class_name(o.catalog, oid).map(|c| c.name).unwrap_or_default();
                PgError::new(SqlState::UNDEFINED_COLUMN, format!("column \"{column}\" of relation \"{relation}\" does not exist"))
            })?)
        }
        None => args.int(at + 1).filter(|number| columns.iter().any(|(known, _)| known == number)),
    };
    let wanted = wanted(args, &names_of(ObjectClass::Column))?;
    let Some(number) = number.and_then(|number| u32::try_from(number).ok()) else { return truth(None) };
    let whole = has(o, role, relation_class(o.catalog, oid), RightsOf::Relation(oid), &wanted);
    truth(whole || column_has(o, role, oid, ColumnId(number), &wanted))
}

/// A function by the text `name(types)` or its OID.
fn function_asked(text: Option<String>, oid: Option<Oid>) -> PgResult<Option<Arc<Func>>> {
    let Some(text) = text else { return Ok(Registry::get().all_functions().find(|f| Some(f.oid) == oid).cloned()) };
    let missing = || PgError::new(SqlState::UNDEFINED_FUNCTION, format!("function \"{text}\" does not exist"));
    let (name, types) =
        text.split_once('(').ok_or_else(|| PgError::new(SqlState::INVALID_TEXT_REPRESENTATION, "expected a left parenthesis"))?;
    let types = types
        .trim()
        .strip_suffix(')')
        .ok_or_else(|| PgError::new(SqlState::INVALID_TEXT_REPRESENTATION, "expected a right parenthesis"))?;
    let name = parse_name(name)?.pop().unwrap_or_default();
    let mut wanted: Vec<PgType> = Vec::new();
    for ty in types.split(',').map(str::trim).filter(|ty| !ty.is_empty()) {
        wanted.push(stoa_pg::values::parse_type_name(ty)?.ty);
    }
    let found = Registry::get().functions(&name).iter().find(|f| f.declared_args().eq(wanted.iter().cloned()));
    found.cloned().ok_or_else(missing).map(Some)
}

fn has_function(o: &Objects<'_>, role: Oid, args: &Args<'_>, at: usize) -> Answer {
    let found = function_asked(args.text(at), args.oid(at))?;
    let wanted = wanted(args, &names_of(ObjectClass::Function))?;
    let Some(func) = found else { return truth(None) };
    let authority = o.catalog.authority();
    truth(wanted.iter().flatten().any(|(one, option)| {
        if !option {
            return may_execute(authority, role, &func);
        }
        let rights = function_rights(authority, &func);
        let list = rights.effective(ObjectClass::Function);
        let has = |other: Oid| authority.has_rights_of(role, other);
        authority.is_superuser(role) || acl::granted(&list, rights.owner, role, Privileges::NONE, *one, &has).1.has(*one)
    }))
}

fn has_role(o: &Objects<'_>, args: &Args<'_>) -> Answer {
    let at = args.len().saturating_sub(2);
    let role = match (at, args.text(0)) {
        // Everybody is nobody here.
        (1, Some(name)) => o.role_oid(&name).ok_or_else(|| undefined(format!("role \"{name}\" does not exist")))?,
        _ => role_asked(o, args, at)?,
    };
    let of = match args.text(at) {
        Some(name) => o.role_oid(&name).ok_or_else(|| undefined(format!("role \"{name}\" does not exist")))?,
        None => args.oid(at).unwrap_or(0),
    };
    // The two kinds of membership are no privileges: they have the numbers of some.
    let wanted = wanted(args, &[("usage", Some(Privileges::USAGE)), ("member", Some(Privileges::CREATE))])?;
    let authority = o.catalog.authority();
    truth(wanted.iter().flatten().any(|(one, admin)| match (*one, admin) {
        (_, true) => authority.is_admin(role, of),
        (Privileges::USAGE, false) => authority.has_rights_of(role, of),
        _ => authority.is_member(role, of),
    }))
}

// Lists.

fn default_list(o: &Objects<'_>, args: &Args<'_>) -> Answer {
    let (Some(kind), Some(owner)) = (args.text(0), args.oid(1)) else { return null(&SqlType::new(PgType::Aclitem.array_of())) };
    let class = match kind.as_str() {
        "c" => ObjectClass::Column,
        "r" => ObjectClass::Table,
        "s" => ObjectClass::Sequence,
        "d" => ObjectClass::Database,
        "f" => ObjectClass::Function,
        "l" => ObjectClass::Language,
        "T" => ObjectClass::Type,
        "n" => ObjectClass::Schema,
        "L" => ObjectClass::LargeObject,
        // What there is none of.
        "t" | "F" | "S" | "p" => {
            let letters = match kind.as_str() {
                "t" => "C",
                "p" => "sA",
                _ => "U",
            };
            let item = AclItem { grantee: owner, grantor: owner, privileges: Privileges::NONE, options: Privileges::NONE };
            return texts(vec![item_text(o.catalog.authority(), &item).replace('=', &format!("={letters}"))]);
        }
        other => return Err(PgError::internal(format!("unrecognized objtype abbreviation: {other}"))),
    };
    texts(acl_texts(o.catalog.authority(), &acl::default_acl(class, owner)))
}

fn texts(items: Vec<String>) -> Answer {
    array_of_elements(Arc::new(StringViewArray::from_iter_values(items))).map(Some)
}

fn make_item(o: &Objects<'_>, args: &Args<'_>) -> Answer {
    let (Some(grantee), Some(grantor), Some(given), Some(option)) = (args.oid(0), args.oid(1), args.text(2), args.bool(3)) else {
        return text(None);
    };
    let unknown = || PgError::new(SqlState::INVALID_PARAMETER_VALUE, format!("unrecognized privilege type: \"{given}\""));
    let privileges = Privileges::named(&given).ok_or_else(unknown)?;
    let options = if option { privileges } else { Privileges::NONE };
    text(item_text(o.catalog.authority(), &AclItem { grantee, grantor, privileges, options }))
}

fn parts(o: &Objects<'_>, args: &Args<'_>) -> Answer {
    let item = read_item(o.catalog.authority(), &args.text(0).unwrap_or_default())?;
    let mut out = vec![item.grantor.to_string(), item.grantee.to_string()];
    for (one, _, name) in item.privileges.each() {
        out.extend([name.to_owned(), if item.options.has(one) { "t" } else { "f" }.to_owned()]);
    }
    texts(out)
}
