//! GRANT and REVOKE of privileges, and ALTER DEFAULT PRIVILEGES.

use super::owner::{class_of, described};
use super::role::denied;
use super::work::{Work, undefined_schema};
use std::sync::Arc;
use stoa_pg::registry::{Func, Registry};
use stoa_pg::types::type_by_name;
use stoa_pg::{PgError, PgResult, SqlState};
use stoa_sql::bind::{fold, name_parts, type_name};
use stoa_sql::privileges::{denied as denied_on, function_key, function_rights};
use stoa_sql::system_relations;
use stoa_syntax::ast::{Ident, ObjectName};
use stoa_syntax::rights::{DefaultPrivilegesStatement, FunctionRef, GrantStatement, GrantTarget, Many, PrivilegeItem, RoleRef};
use stoa_table::catalog::authority::{DefaultPrivileges, DefaultsFor};
use stoa_table::catalog::{Acl, Authority, CatalogSnapshot, ColumnId, ObjectClass, Oid, Privileges, Relation, RightsOf, acl};

/// The oids of languages as `pg_language` has them.
const LANGUAGES: [(&str, Oid); 3] = [("internal", 12), ("c", 13), ("sql", 14)];

/// What is to be granted or revoked, and by whom and from whom.
struct Wish {
    grant: bool,
    option: bool,
    cascade: bool,
    /// [`acl::PUBLIC_GRANTEE`] or roles.
    grantees: Vec<Oid>,
    all: bool,
    privileges: Privileges,
    /// Of columns: each with its privileges; `None` for ALL.
    columns: Vec<(Option<Privileges>, Vec<Ident>)>,
}

fn invalid(message: String) -> PgError {
    PgError::new(SqlState::INVALID_GRANT_OPERATION, message)
}

/// Executes GRANT or REVOKE of privileges; gives its command tag.
pub(super) async fn execute(work: Work<'_>, statement: &GrantStatement) -> PgResult<String> {
    if let Some(role) = &statement.granted_by
        && work.role(role)?.oid != work.ctx.role
    {
        return Err(PgError::unsupported("grantor must be current user"));
    }
    if let GrantTarget::LargeObjects(objects) = &statement.target {
        return on_large_objects(work, statement, objects).await;
    }
    let targets = targets(&work, &statement.target)?;
    let grantees = grantees(&work, &statement.grantees)?;
    let (class, kind) = class_of_target(&statement.target)?;
    let wish =
        Wish { cascade: statement.cascade, ..wish(statement.grant, statement.option, grantees, &statement.privileges, class, kind)? };
    if wish.grant && wish.option && wish.grantees.contains(&acl::PUBLIC_GRANTEE) {
        return Err(invalid("grant options can only be granted to roles".into()));
    }
    for of in targets {
        // Two who grant on one object take turns.
        work.ctx.txn.lock_name(RIGHTS, &format!("{of:?}")).await?;
        apply(&work, of, class, &wish)?;
    }
    Ok(if statement.grant { "GRANT" } else { "REVOKE" }.to_owned())
}

/// The space of names in which transactions lock rights: no schema has this number.
const RIGHTS: Oid = 1214;

/// Executes a statement on large objects, whose rights stand with themselves.
async fn on_large_objects(work: Work<'_>, statement: &GrantStatement, objects: &[String]) -> PgResult<String> {
    let grantees = grantees(&work, &statement.grantees)?;
    let class = ObjectClass::LargeObject;
    let wish = Wish {
        cascade: statement.cascade,
        ..wish(statement.grant, statement.option, grantees, &statement.privileges, class, "large object")?
    };
    if wish.grant && wish.option && wish.grantees.contains(&acl::PUBLIC_GRANTEE) {
        return Err(invalid("grant options can only be granted to roles".into()));
    }
    for named in objects {
        let (oid, mut object) = super::large_object::locked(&work, named).await?;
        let authority = work.authority();
        let (list, owner) = (object.rights.effective(class), object.rights.owner);
        let wanted = if wish.all { class.all() } else { wish.privileges };
        let (grantor, available) = best_grantor(&authority, work.ctx.role, wanted, &list, owner);
        let has = |other: Oid| authority.has_rights_of(work.ctx.role, other);
        let (some, options) = acl::granted(&list, owner, work.ctx.role, class.all(), class.all(), &has);
        let name = format!("large object {oid}");
        let any = !some.is_empty() || !options.is_empty();
        let given = restricted(&work, &wish, wanted, available, &format!("\"{name}\""), any, denied_on("large object", &name))?;
        object.rights.acl = Some(changed(list, owner, grantor, &wish, given)?);
        work.ctx.txn.put_large_object(oid, &object).await?;
    }
    Ok(if statement.grant { "GRANT" } else { "REVOKE" }.to_owned())
}

fn grantees(work: &Work<'_>, named: &[RoleRef]) -> PgResult<Vec<Oid>> {
    named.iter().map(|role| if *role == RoleRef::Public { Ok(acl::PUBLIC_GRANTEE) } else { work.role(role).map(|r| r.oid) }).collect()
}

/// The class of a statement's privileges, and its name in errors.
fn class_of_target(target: &GrantTarget) -> PgResult<(ObjectClass, &'static str)> {
    Ok(match target {
        GrantTarget::Tables(_) | GrantTarget::AllIn(Many::Tables, _) => (ObjectClass::Table, "relation"),
        GrantTarget::Sequences(_) | GrantTarget::AllIn(Many::Sequences, _) => (ObjectClass::Sequence, "sequence"),
        GrantTarget::Functions(_) | GrantTarget::AllIn(Many::Functions, _) => (ObjectClass::Function, "function"),
        GrantTarget::AllIn(Many::Types | Many::Schemas, _) => return Err(PgError::internal("all of a kind that has no schema")),
        GrantTarget::Databases(_) => (ObjectClass::Database, "database"),
        GrantTarget::Schemas(_) => (ObjectClass::Schema, "schema"),
        GrantTarget::Languages(_) => (ObjectClass::Language, "language"),
        GrantTarget::Types(_) => (ObjectClass::Type, "type"),
        GrantTarget::LargeObjects(_) => (ObjectClass::LargeObject, "large object"),
        GrantTarget::Other(words) => {
            return Err(PgError::unsupported(format!("GRANT and REVOKE on {words} are not supported")).hint(
                "There are privileges on tables, columns, sequences, schemas, databases, functions, types, languages and large objects.",
            ));
        }
    })
}

fn wish(grant: bool, option: bool, grantees: Vec<Oid>, items: &[PrivilegeItem], class: ObjectClass, kind: &str) -> PgResult<Wish> {
    let mut out = Wish { grant, option, cascade: false, grantees, all: false, privileges: Privileges::NONE, columns: Vec::new() };
    for item in items {
        let one = match &item.name {
            None => None,
            Some(name) => Some(
                Privileges::named(name)
                    .ok_or_else(|| PgError::new(SqlState::SYNTAX_ERROR, format!("unrecognized privilege type \"{name}\"")))?,
            ),
        };
        if !item.columns.is_empty() {
            if class != ObjectClass::Table {
                return Err(invalid("column privileges are only valid for relations".into()));
            }
            if let Some(one) = one.filter(|one| !ObjectClass::Column.all().has(*one)) {
                return Err(invalid(format!("invalid privilege type {} for column", privilege_name(one))));
            }
            out.columns.push((one, item.columns.clone()));
            continue;
        }
        match one {
            None => {
                out.all = true;
                out.privileges = class.all();
            }
            Some(one) => {
                // Tables may turn out to be sequences.
                let known = if class == ObjectClass::Table { class.all().or(ObjectClass::Sequence.all()) } else { class.all() };
                if !known.has(one) {
                    return Err(invalid(format!("invalid privilege type {} for {kind}", privilege_name(one))));
                }
                out.privileges = out.privileges.or(one);
            }
        }
    }
    Ok(out)
}

fn privilege_name(one: Privileges) -> &'static str {
    one.each().next().map_or("", |(_, _, name)| name)
}

// Objects.

fn targets(work: &Work<'_>, target: &GrantTarget) -> PgResult<Vec<RightsOf>> {
    let catalog = work.catalog();
    let schema = |name: &Ident| {
        let name = fold(name);
        catalog.schema_by_name(&name).map(|s| s.oid).ok_or_else(|| undefined_schema(&name))
    };
    match target {
        GrantTarget::Tables(names) => names.iter().map(|name| relation(work, name, false)).collect(),
        GrantTarget::Sequences(names) => names.iter().map(|name| relation(work, name, true)).collect(),
        GrantTarget::Functions(functions) => functions.iter().map(|f| function(f).map(|f| RightsOf::Function(function_key(&f)))).collect(),
        GrantTarget::Databases(names) => {
            names.iter().map(|name| work.database(&fold(name)).map(|database| RightsOf::Database(database.oid))).collect()
        }
        GrantTarget::Schemas(names) => names.iter().map(|name| schema(name).map(RightsOf::Schema)).collect(),
        GrantTarget::Languages(names) => names
            .iter()
            .map(|name| {
                let name = fold(name);
                let found = LANGUAGES.into_iter().find(|(known, _)| *known == name);
                let (known, oid) =
                    found.ok_or_else(|| PgError::new(SqlState::UNDEFINED_OBJECT, format!("language \"{name}\" does not exist")))?;
                if known != "sql" {
                    return Err(PgError::new(SqlState::WRONG_OBJECT_TYPE, format!("language \"{name}\" is not trusted")).detail(
                        "GRANT and REVOKE are not allowed on untrusted languages, because only superusers can use untrusted languages.",
                    ));
                }
                Ok(RightsOf::Language(oid))
            })
            .collect(),
        GrantTarget::Types(names) => names
            .iter()
            .map(|name| {
                let parts = name_parts(name)?;
                let ty = parts.last().and_then(|name| type_by_name(name));
                let missing = || PgError::new(SqlState::UNDEFINED_OBJECT, format!("type \"{}\" does not exist", parts.join(".")));
                Ok(RightsOf::Type(ty.ok_or_else(missing)?.oid()))
            })
            .collect(),
        GrantTarget::AllIn(many, schemas) => {
            let schemas = schemas.iter().map(schema).collect::<PgResult<Vec<_>>>()?;
            let mut out: Vec<RightsOf> = match many {
                Many::Functions if schemas.contains(&stoa_table::catalog::PG_CATALOG_OID) => {
                    Registry::get().all_functions().map(|f| RightsOf::Function(function_key(f))).collect()
                }
                Many::Functions => Vec::new(),
                many => {
                    let wanted = |relation: &&Arc<Relation>| {
                        schemas.contains(&relation.schema())
                            && matches!(&***relation, Relation::Sequence(_)) == (*many == Many::Sequences)
                            && catalog.view_of_rows(relation.oid()).is_none()
                    };
                    catalog.relations().filter(wanted).map(|relation| RightsOf::Relation(relation.oid())).collect()
                }
            };
            out.sort_unstable();
            out.dedup();
            Ok(out)
        }
        GrantTarget::LargeObjects(_) | GrantTarget::Other(_) => Ok(Vec::new()),
    }
}

fn relation(work: &Work<'_>, name: &ObjectName, sequence: bool) -> PgResult<RightsOf> {
    if let Some(found) = work.find(name)? {
        if sequence && !matches!(&*found, Relation::Sequence(_)) {
            return Err(PgError::new(SqlState::WRONG_OBJECT_TYPE, format!("\"{}\" is not a sequence", found.name())));
        }
        return Ok(RightsOf::Relation(found.oid()));
    }
    if work.find_index(name)?.is_some() {
        return Err(PgError::new(SqlState::WRONG_OBJECT_TYPE, format!("\"{}\" is an index", work.split(name)?.1)));
    }
    // What the system has may be granted on too.
    let (schema, last) = work.split(name)?;
    let oid = system_relations::oid(schema.as_deref().unwrap_or("pg_catalog"), &last);
    if oid != 0 {
        return Ok(RightsOf::Relation(oid));
    }
    // The place of a name is not reported here.
    let mut error = work.missing(name);
    error.fields_mut().position = None;
    Err(error)
}

fn function(named: &FunctionRef) -> PgResult<Arc<Func>> {
    let parts = name_parts(&named.name)?;
    let name = parts.last().cloned().unwrap_or_default();
    let all = Registry::get().functions(&name);
    let undefined = |shown: String| PgError::new(SqlState::UNDEFINED_FUNCTION, shown);
    let Some(arguments) = &named.arguments else {
        return match all {
            [one] => Ok(Arc::clone(one)),
            [] => Err(undefined(format!("could not find a function named \"{name}\""))),
            _ => Err(PgError::new(SqlState::AMBIGUOUS_FUNCTION, format!("function name \"{name}\" is not unique"))
                .hint("Specify the argument list to select the function unambiguously.")),
        };
    };
    let types = arguments.iter().map(|ty| type_name::sql_type(ty).map(|ty| ty.ty)).collect::<PgResult<Vec<_>>>()?;
    let found = all.iter().find(|f| f.declared_args().eq(types.iter().cloned()));
    found.cloned().ok_or_else(|| {
        let types: Vec<String> = types.iter().map(ToString::to_string).collect();
        undefined(format!("function {name}({}) does not exist", types.join(", ")))
    })
}

/// The function that rights know by a number.
pub(super) fn function_named(key: Oid) -> Option<&'static Arc<Func>> {
    Registry::get().all_functions().find(|f| function_key(f) == key)
}

/// Its name with the types of its arguments.
pub(super) fn function_shown(key: Oid) -> Option<String> {
    let func = function_named(key)?;
    let types: Vec<String> = func.declared_args().map(|ty| ty.to_string()).collect();
    Some(format!("{}({})", func.name, types.join(",")))
}

/// The columns of a relation by their numbers.
pub(super) fn columns_of(catalog: &CatalogSnapshot, oid: Oid) -> Vec<(ColumnId, String)> {
    let numbered = |names: Vec<String>| (1_u32..).map(ColumnId).zip(names).collect();
    match catalog.relation(oid).map(|r| &**r) {
        Some(Relation::Table(table)) => table.visible_columns().map(|c| (c.id, c.name.clone())).collect(),
        Some(Relation::View(view)) => numbered(view.columns.iter().map(|c| c.name.clone()).collect()),
        Some(Relation::Sequence(_)) => numbered(["last_value", "log_cnt", "is_called"].map(str::to_owned).to_vec()),
        None => {
            let columns = system_relations::by_oid(oid).and_then(|(schema, name)| system_relations::columns(schema, name));
            numbered(columns.into_iter().flatten().map(|(name, _)| name).collect())
        }
    }
}

// Lists.

/// In whose name a role grants: the owner's, if it has the owner's rights; else that of the role among its own that may grant the most.
fn best_grantor(authority: &Authority, role: Oid, wanted: Privileges, list: &[acl::AclItem], owner: Oid) -> (Oid, Privileges) {
    if authority.has_rights_of(role, owner) {
        return (owner, wanted);
    }
    let mut best = (role, Privileges::NONE);
    for other in authority.memberships(role, true) {
        let given = list.iter().filter(|i| i.grantee == other).fold(Privileges::NONE, |all, i| all.or(i.options)).and(wanted);
        if given.has(wanted) {
            return (other, given);
        }
        if given.0.count_ones() > best.1.0.count_ones() {
            best = (other, given);
        }
    }
    best
}

/// What is granted of what was asked for. `possible`: all privileges of the class; `any`: whether the role has any right at all.
fn restricted(
    work: &Work<'_>,
    wish: &Wish,
    wanted: Privileges,
    available: Privileges,
    what: &str,
    any: bool,
    refused: PgError,
) -> PgResult<Privileges> {
    if available.is_empty() && !any {
        return Err(refused);
    }
    let given = wanted.and(available);
    let warn = |code: &[u8; 5], text: String| work.ctx.session.warning(SqlState(*code), text);
    let (none, not_all, code) = if wish.grant {
        ("no privileges were granted for", "not all privileges were granted for", b"01007")
    } else {
        ("no privileges could be revoked for", "not all privileges could be revoked for", b"01006")
    };
    if given.is_empty() {
        warn(code, format!("{none} {what}"));
    } else if !wish.all && given != wanted {
        warn(code, format!("{not_all} {what}"));
    }
    Ok(given)
}

/// A list with what the wish says of some privileges, granted in a role's name.
fn changed(mut list: Acl, owner: Oid, grantor: Oid, wish: &Wish, privileges: Privileges) -> PgResult<Acl> {
    let none = Privileges::NONE;
    for grantee in &wish.grantees {
        if wish.grant {
            let options = if wish.option { privileges } else { none };
            if !options.is_empty() && acl::makes_circle(&list, owner, *grantee, grantor, options) {
                return Err(invalid("grant options cannot be granted back to your own grantor".into()));
            }
            acl::add(&mut list, *grantee, grantor, privileges, options);
        } else {
            let taken = if wish.option { none } else { privileges };
            acl::remove(&mut list, owner, (*grantee, grantor), taken, privileges, wish.cascade).map_err(|acl::Dependent| {
                PgError::new(SqlState::DEPENDENT_OBJECTS_STILL_EXIST, "dependent privileges exist").hint("Use CASCADE to revoke them too.")
            })?;
        }
    }
    Ok(list)
}

fn apply(work: &Work<'_>, of: RightsOf, asked: ObjectClass, wish: &Wish) -> PgResult<()> {
    let catalog = work.catalog();
    let authority = work.authority();
    let class = class_of(&catalog, of);
    let (kind, name) = described(&catalog, of);
    let mut rights = match of {
        RightsOf::Function(key) => match function_named(key) {
            Some(func) => function_rights(&authority, func),
            None => (*authority.rights(of)).clone(),
        },
        _ => (*authority.rights(of)).clone(),
    };
    let mut wanted = wish.privileges;
    if wish.all {
        wanted = class.all();
    } else if class == ObjectClass::Sequence && asked == ObjectClass::Table {
        // As long as tables and sequences shared GRANT, scripts granted on sequences what only tables have.
        if !class.all().has(wanted) {
            let message = format!("sequence \"{name}\" only supports USAGE, SELECT, and UPDATE privileges");
            work.ctx.session.warning(SqlState(*b"01007"), message);
            wanted = wanted.and(class.all());
        }
    } else if let Some((.., word)) = wanted.without(class.all()).each().next() {
        return Err(invalid(format!("invalid privilege type {word} for {}", if class == ObjectClass::Table { "table" } else { kind })));
    }
    let list = rights.effective(class);
    let refused = || denied_on(kind, &name);
    // Of a column counts what there is for columns; the built-in roles that read or write everything count too.
    let has_any = |list: &[acl::AclItem], all: Privileges| {
        let has = |other: Oid| authority.has_rights_of(work.ctx.role, other);
        let (some, options) = acl::granted(list, rights.owner, work.ctx.role, all, all, &has);
        let (whole, _) = authority.privileges(work.ctx.role, class, of, all, Privileges::NONE);
        !whole.is_empty() || !some.is_empty() || !options.is_empty()
    };
    let mut of_columns: Vec<(ColumnId, String, Privileges)> = Vec::new();
    let mut done = false;
    if wish.all && wish.columns.is_empty() || !wish.privileges.is_empty() {
        let (grantor, available) = best_grantor(&authority, work.ctx.role, wanted, &list, rights.owner);
        let given = restricted(work, wish, wanted, available, &format!("\"{name}\""), has_any(&list, class.all()), refused())?;
        rights.acl = Some(changed(list.clone(), rights.owner, grantor, wish, given)?);
        done = true;
        // What is revoked of the whole is revoked of each column.
        if !wish.grant && class == ObjectClass::Table {
            let columns = columns_of(&catalog, relation_oid(of));
            let named = |id: ColumnId| columns.iter().find(|(known, _)| *known == id).map(|(_, name)| name.clone()).unwrap_or_default();
            of_columns.extend(rights.columns.iter().map(|(id, _)| (*id, named(*id), given.and(ObjectClass::Column.all()))));
        }
    }
    if !wish.columns.is_empty() {
        if class != ObjectClass::Table {
            return Err(PgError::new(SqlState::WRONG_OBJECT_TYPE, format!("\"{name}\" is a sequence")));
        }
        of_columns.extend(columns_of_wish(&catalog, of, &name, wish)?);
    }
    for (id, column, wanted) in of_columns {
        let own = rights.column(id).to_vec();
        let both: Acl = list.iter().chain(&own).copied().collect();
        let (grantor, available) = best_grantor(&authority, work.ctx.role, wanted, &both, rights.owner);
        let given = if done && !wish.grant {
            wanted.and(available)
        } else {
            let what = format!("column \"{column}\" of relation \"{name}\"");
            restricted(
                work,
                wish,
                wanted,
                available,
                &what,
                has_any(&both, ObjectClass::Column.all()),
                denied_on("column", &format!("\"{column}\" of relation \"{name}\"")),
            )?
        };
        let new = changed(own, rights.owner, grantor, wish, given)?;
        rights.columns.retain(|(known, _)| *known != id);
        if !new.is_empty() {
            rights.columns.push((id, new));
        }
    }
    rights.columns.sort_by_key(|(id, _)| *id);
    work.put_rights(of, rights)
}

fn relation_oid(of: RightsOf) -> Oid {
    if let RightsOf::Relation(oid) = of { oid } else { 0 }
}

/// The columns that a wish names, with their privileges.
fn columns_of_wish(catalog: &CatalogSnapshot, of: RightsOf, relation: &str, wish: &Wish) -> PgResult<Vec<(ColumnId, String, Privileges)>> {
    let known = columns_of(catalog, relation_oid(of));
    let mut out: Vec<(ColumnId, String, Privileges)> = Vec::new();
    for (one, names) in &wish.columns {
        for name in names {
            let name = fold(name);
            let Some((id, _)) = known.iter().find(|(_, known)| *known == name) else {
                let message = format!("column \"{name}\" of relation \"{relation}\" does not exist");
                return Err(PgError::new(SqlState::UNDEFINED_COLUMN, message));
            };
            let privileges = one.unwrap_or_else(|| ObjectClass::Column.all());
            match out.iter_mut().find(|(other, ..)| other == id) {
                Some((.., all)) => *all = all.or(privileges),
                None => out.push((*id, name, privileges)),
            }
        }
    }
    Ok(out)
}

// Of objects that are yet to be made.

/// Executes ALTER DEFAULT PRIVILEGES.
pub(super) async fn change_defaults(work: Work<'_>, statement: &DefaultPrivilegesStatement) -> PgResult<String> {
    let grantees = grantees(&work, &statement.grantees)?;
    let (class, kind) = match statement.on {
        Many::Tables => (ObjectClass::Table, "relation"),
        Many::Sequences => (ObjectClass::Sequence, "sequence"),
        Many::Functions => (ObjectClass::Function, "function"),
        Many::Types => (ObjectClass::Type, "type"),
        Many::Schemas => (ObjectClass::Schema, "schema"),
    };
    if statement.privileges.iter().any(|item| !item.columns.is_empty()) {
        return Err(invalid("default privileges cannot be set for columns".into()));
    }
    let wish =
        Wish { cascade: statement.cascade, ..wish(statement.grant, statement.option, grantees, &statement.privileges, class, kind)? };
    if let Some((.., word)) = wish.privileges.without(class.all()).each().next() {
        return Err(invalid(format!("invalid privilege type {word} for {kind}")));
    }
    if wish.grant && wish.option && wish.grantees.contains(&acl::PUBLIC_GRANTEE) {
        return Err(invalid("grant options can only be granted to roles".into()));
    }
    if statement.on == Many::Schemas && !statement.schemas.is_empty() {
        return Err(invalid("cannot use IN SCHEMA clause when using GRANT/REVOKE ON SCHEMAS".into()));
    }
    let mut roles = Vec::new();
    for role in &statement.roles {
        let role = work.role(role)?;
        if !work.authority().is_member(work.ctx.role, role.oid) {
            return Err(denied(format!("must be member of role \"{}\"", role.name)));
        }
        roles.push(role.oid);
    }
    if roles.is_empty() {
        roles.push(work.ctx.role);
    }
    let mut schemas = Vec::new();
    for name in &statement.schemas {
        let name = fold(name);
        schemas.push(work.catalog().schema_by_name(&name).map(|s| s.oid).ok_or_else(|| undefined_schema(&name))?);
    }
    if schemas.is_empty() {
        schemas.push(0);
    }
    for role in roles {
        for schema in &schemas {
            let of = DefaultsFor { role, schema: *schema, class };
            work.ctx.txn.lock_name(RIGHTS, &format!("{of:?}")).await?;
            let known = work.authority().defaults_of(of).cloned();
            let built_in = if *schema == 0 { acl::default_acl(class, role) } else { Acl::new() };
            let before = known.as_ref().map_or_else(|| built_in.clone(), |d| d.acl.clone());
            let list = changed(before, role, role, &wish, wish.privileges)?;
            let same = list.len() == built_in.len() && list.iter().all(|i| built_in.contains(i));
            let new = if same {
                None
            } else {
                let oid = match &known {
                    Some(known) => known.oid,
                    None => work.next_oid().await?,
                };
                Some(DefaultPrivileges { oid, of, acl: list })
            };
            work.put_defaults(of, new)?;
        }
    }
    Ok("ALTER DEFAULT PRIVILEGES".to_owned())
}
