//! Roles: CREATE, ALTER and DROP, members, settings that sessions begin with.
//!
//! A role's row holds of which roles it is a member. Whoever changes a role locks it first and looks at it behind the lock; what depends
//! on two roles, that memberships go in no circle, is asked again when the transaction commits.

use super::work::Work;
use datafusion::common::ScalarValue;
use std::collections::BTreeMap;
use std::sync::Arc;
use stoa_auth::Secret;
use stoa_auth::scram::{DEFAULT_ITERATIONS, PasswordText, Verifier};
use stoa_exec::settings::{self, Context};
use stoa_pg::values::input_text;
use stoa_pg::{PgError, PgResult, PgType, SqlState, SqlType};
use stoa_sql::catalog::names::quoted_role;
use stoa_syntax::rights::{RoleOption, RoleRef, RoleStatement, RoleWord, SettingChange};
use stoa_table::catalog::role::{DATABASE_OWNER, Membership, StartSettings, StoredVerifier};
use stoa_table::catalog::store::{encode, role_key, settings_key};
use stoa_table::catalog::{Authority, Oid, RightsOf, RoleDescriptor};

/// The space of names in which transactions lock roles: no schema has this number.
const ROLES: Oid = 1260;

pub(super) fn denied(message: impl Into<String>) -> PgError {
    PgError::new(SqlState::INSUFFICIENT_PRIVILEGE, message)
}

pub(super) fn undefined_role(name: &str) -> PgError {
    PgError::new(SqlState::UNDEFINED_OBJECT, format!("role \"{name}\" does not exist"))
}

impl Work<'_> {
    /// Roles and rights as the statement has left them so far.
    pub fn authority(&self) -> Arc<Authority> {
        Arc::clone(self.catalog().authority())
    }

    /// Whether the role whose rights count is a superuser.
    pub fn is_superuser(&self) -> bool {
        self.authority().is_superuser(self.ctx.role)
    }

    /// The role that a statement names.
    pub fn role(&self, named: &RoleRef) -> PgResult<Arc<RoleDescriptor>> {
        let authority = self.authority();
        let of = |oid: Oid| authority.role(oid).cloned().ok_or_else(|| PgError::internal(format!("role {oid} is gone")));
        match named {
            RoleRef::Name(name) => authority.role_named(name).cloned().ok_or_else(|| undefined_role(name)),
            RoleRef::CurrentRole | RoleRef::CurrentUser => of(self.ctx.role),
            RoleRef::SessionUser => of(self.ctx.session.session_role()),
            RoleRef::Public => Err(undefined_role("public")),
        }
    }

    /// Locks a role for the transaction; gives it as it is behind the lock.
    pub(super) async fn locked_role(&self, named: &RoleRef) -> PgResult<RoleDescriptor> {
        let found = self.role(named)?;
        self.ctx.txn.lock_name(ROLES, &found.oid.to_string()).await?;
        self.authority().role(found.oid).map(|role| (**role).clone()).ok_or_else(|| undefined_role(&found.name))
    }

    /// Stores a role, new or changed.
    fn put_role(&self, role: RoleDescriptor) -> PgResult<()> {
        self.ctx.txn.add_catalog_mutation(&role_key(role.oid), Some(&encode(&role)?))?;
        self.ctx.txn.change_catalog(move |catalog| {
            let authority = catalog.authority_mut();
            if authority.role_named(&role.name).is_some_and(|other| other.oid != role.oid) {
                return Err(PgError::new(SqlState::DUPLICATE_OBJECT, format!("role \"{}\" already exists", role.name)));
            }
            for membership in &role.member_of {
                let Some(of) = authority.role(membership.role) else {
                    return Err(PgError::new(SqlState::UNDEFINED_OBJECT, "the role was dropped by another transaction"));
                };
                if authority.is_plain_member(membership.role, role.oid) {
                    return Err(circle(&of.name, &role.name));
                }
            }
            authority.put_role(role.clone());
            Ok(())
        })
    }

    fn put_start_settings(&self, new: StartSettings) -> PgResult<()> {
        let row = if new.values.is_empty() { None } else { Some(encode(&new)?) };
        self.ctx.txn.add_catalog_mutation(&settings_key(new.database, new.role), row.as_deref())?;
        self.ctx.txn.change_catalog(move |catalog| {
            catalog.authority_mut().put_settings(new.clone());
            Ok(())
        })
    }
}

fn circle(role: &str, member: &str) -> PgError {
    PgError::new(SqlState::INVALID_GRANT_OPERATION, format!("role \"{role}\" is a member of role \"{member}\""))
}

/// Executes a statement about roles; gives its command tag.
pub(super) async fn execute(work: Work<'_>, statement: &RoleStatement) -> PgResult<String> {
    let tag = match statement {
        RoleStatement::Create { name, word, options } => {
            create(work, name, *word, options).await?;
            "CREATE ROLE"
        }
        RoleStatement::Alter { role, options } => {
            alter(work, role, options).await?;
            "ALTER ROLE"
        }
        RoleStatement::AlterSettings { role, database, change } => {
            alter_settings(work, role.as_ref(), database.as_deref(), change).await?;
            "ALTER ROLE"
        }
        RoleStatement::Rename { role, new } => {
            rename(work, role, new).await?;
            "ALTER ROLE"
        }
        RoleStatement::Drop { names, if_exists } => {
            drop_roles(work, names, *if_exists).await?;
            "DROP ROLE"
        }
        RoleStatement::Grant { roles, to, admin, granted_by, alter_group } => {
            let grantor = grantor(&work, granted_by.as_ref())?;
            for role in roles {
                let role = work.role(&RoleRef::Name(role.clone()))?;
                for member in to {
                    let member = work.locked_role(member).await?;
                    add_member(&work, &role, member, grantor, *admin)?;
                }
            }
            if *alter_group { "ALTER ROLE" } else { "GRANT ROLE" }
        }
        // As in PostgreSQL 15, whoever has granted it, it is revoked.
        RoleStatement::Revoke { roles, from, admin_only, granted_by: _, alter_group } => {
            for role in roles {
                let role = work.role(&RoleRef::Name(role.clone()))?;
                for member in from {
                    let member = work.locked_role(member).await?;
                    remove_member(&work, &role, member, *admin_only)?;
                }
            }
            if *alter_group { "ALTER ROLE" } else { "REVOKE ROLE" }
        }
        RoleStatement::ReassignOwned { from, to } => {
            super::owner::reassign(work, from, to).await?;
            "REASSIGN OWNED"
        }
        RoleStatement::Comment { role, text } => {
            let role = work.locked_role(role).await?;
            if role.superuser && !work.is_superuser() {
                return Err(denied("must be superuser"));
            }
            if !has_create_role(&work) {
                return Err(denied("must have CREATEROLE privilege"));
            }
            work.put_role(RoleDescriptor { comment: text.clone().filter(|text| !text.is_empty()), ..role })?;
            "COMMENT"
        }
        RoleStatement::DropOwned { by, cascade } => {
            super::owner::drop_owned(work, by, *cascade).await?;
            "DROP OWNED"
        }
    };
    Ok(tag.to_owned())
}

/// 42939 for names that only the system gives.
fn check_role_name(name: &str) -> PgResult<()> {
    check_reserved(name, "Role names starting with \"pg_\" are reserved.")
}

fn check_reserved(name: &str, why: &str) -> PgResult<()> {
    if name.starts_with("pg_") {
        return Err(PgError::new(SqlState::RESERVED_NAME, format!("role name \"{name}\" is reserved")).detail(why));
    }
    Ok(())
}

/// 42601 for an option that is said twice.
fn check_twice(options: &[RoleOption]) -> PgResult<()> {
    let twice = options.iter().enumerate().any(|(at, option)| {
        let same = |other: &RoleOption| std::mem::discriminant(other) == std::mem::discriminant(option);
        !matches!(option, RoleOption::Sysid) && options.iter().take(at).any(same)
    });
    if twice { Err(PgError::new(SqlState::SYNTAX_ERROR, "conflicting or redundant options")) } else { Ok(()) }
}

fn has_create_role(work: &Work<'_>) -> bool {
    let authority = work.authority();
    authority.role(work.ctx.role).is_some_and(|role| role.superuser || role.create_role)
}

/// Puts what the options say into a role. Members are for the caller.
fn apply(work: &Work<'_>, role: &mut RoleDescriptor, options: &[RoleOption]) -> PgResult<()> {
    for option in options {
        match option {
            RoleOption::Superuser(on) => role.superuser = *on,
            RoleOption::Inherit(on) => role.inherit = *on,
            RoleOption::CreateRole(on) => role.create_role = *on,
            RoleOption::CreateDb(on) => role.create_db = *on,
            RoleOption::Login(on) => role.can_login = *on,
            RoleOption::Replication(on) => role.replication = *on,
            RoleOption::BypassRls(on) => role.bypass_rls = *on,
            RoleOption::ConnectionLimit(limit) => {
                let limit = i32::try_from(*limit).ok().filter(|limit| *limit >= -1);
                role.connection_limit = limit.ok_or_else(|| {
                    PgError::new(SqlState::INVALID_PARAMETER_VALUE, format!("invalid connection limit: {}", option_limit(option)))
                })?;
            }
            RoleOption::Password(password) => role.verifier = password.as_ref().map_or(Ok(None), |text| verifier(work, &text.0))?,
            RoleOption::ValidUntil(text) => {
                let value = input_text(&work.ctx.eval, &SqlType::new(PgType::Timestamptz), text)?;
                role.valid_until = match value {
                    ScalarValue::TimestampMicrosecond(until, _) => until,
                    other => return Err(PgError::internal(format!("a time that is {other}"))),
                };
            }
            RoleOption::Sysid => work.notice(SqlState::SUCCESSFUL_COMPLETION, "SYSID can no longer be specified"),
            RoleOption::InRole(_) | RoleOption::Members(_) | RoleOption::Admins(_) => {}
        }
    }
    Ok(())
}

fn option_limit(option: &RoleOption) -> i64 {
    if let RoleOption::ConnectionLimit(limit) = option { *limit } else { 0 }
}

/// What is stored of a password.
fn verifier(work: &Work<'_>, text: &str) -> PgResult<Option<StoredVerifier>> {
    if text.is_empty() {
        return verifier_of_nothing(work);
    }
    let made = match PasswordText::of(text) {
        PasswordText::Md5 => {
            return Err(PgError::unsupported("md5 passwords are not supported")
                .detail("Stoa proves passwords by SCRAM-SHA-256 alone.")
                .hint("Give the password itself, or its SCRAM-SHA-256 verifier."));
        }
        PasswordText::Scram(verifier) if verifier.is_of(&Secret::from("")) => return verifier_of_nothing(work),
        PasswordText::Scram(verifier) => verifier,
        PasswordText::Plain => {
            let made = Verifier::make(&Secret::from(text), DEFAULT_ITERATIONS);
            made.map_err(|refusal| PgError::internal(refusal.message))?
        }
    };
    Ok(Some(StoredVerifier::new(made.to_text())))
}

fn verifier_of_nothing(work: &Work<'_>) -> PgResult<Option<StoredVerifier>> {
    work.notice(SqlState::SUCCESSFUL_COMPLETION, "empty string is not a valid password, clearing password");
    Ok(None)
}

async fn create(work: Work<'_>, name: &RoleRef, word: RoleWord, options: &[RoleOption]) -> PgResult<()> {
    check_twice(options)?;
    let RoleRef::Name(name) = name else { return Err(PgError::internal("a role without a name")) };
    let superuser = work.is_superuser();
    let asks = |wanted: &RoleOption| options.contains(wanted);
    if !superuser && asks(&RoleOption::Superuser(true)) {
        return Err(denied("must be superuser to create superusers"));
    }
    if !superuser && asks(&RoleOption::Replication(true)) {
        return Err(denied("must be superuser to create replication users"));
    }
    if !superuser && asks(&RoleOption::BypassRls(true)) {
        return Err(denied("must be superuser to create bypassrls users"));
    }
    if !has_create_role(&work) {
        return Err(denied("permission denied to create role"));
    }
    check_role_name(name)?;
    work.ctx.txn.lock_name(ROLES, name).await?;
    let authority = work.authority();
    if authority.role_named(name).is_some() {
        return Err(PgError::new(SqlState::DUPLICATE_OBJECT, format!("role \"{name}\" already exists")));
    }
    if authority.has_built_in_roles_only() {
        tracing::info!("the first role is made: names that are no roles are no longer taken for the first superuser");
    }
    let mut role = RoleDescriptor { can_login: word == RoleWord::User, ..RoleDescriptor::new(work.next_oid().await?, name) };
    apply(&work, &mut role, options)?;
    work.put_role(role.clone())?;
    let me = work.ctx.role;
    for option in options {
        if let RoleOption::InRole(roles) = option {
            for of in roles {
                let of = work.role(of)?;
                let member = work.locked_role(&RoleRef::Name(name.clone())).await?;
                add_member(&work, &of, member, me, false)?;
            }
        }
    }
    for option in options {
        let (RoleOption::Members(members) | RoleOption::Admins(members)) = option else { continue };
        for member in members {
            let member = work.locked_role(member).await?;
            add_member(&work, &role, member, me, matches!(option, RoleOption::Admins(_)))?;
        }
    }
    Ok(())
}

async fn alter(work: Work<'_>, named: &RoleRef, options: &[RoleOption]) -> PgResult<()> {
    check_twice(options)?;
    if let RoleRef::Name(name) = named {
        check_reserved(name, "Cannot alter reserved roles.")?;
    }
    let mut role = work.locked_role(named).await?;
    let superuser = work.is_superuser();
    let any = |test: fn(&RoleOption) -> bool| options.iter().any(test);
    if !superuser {
        if role.superuser || any(|o| matches!(o, RoleOption::Superuser(_))) {
            return Err(denied("must be superuser to alter superuser roles or change superuser attribute"));
        }
        if role.replication || any(|o| matches!(o, RoleOption::Replication(_))) {
            return Err(denied("must be superuser to alter replication roles or change replication attribute"));
        }
        if any(|o| matches!(o, RoleOption::BypassRls(_))) {
            return Err(denied("must be superuser to change bypassrls attribute"));
        }
        // One's own password is one's own.
        let only_password = options.iter().all(|o| matches!(o, RoleOption::Password(_)));
        if !(has_create_role(&work) || role.oid == work.ctx.role && only_password) {
            return Err(denied("permission denied"));
        }
    }
    apply(&work, &mut role, options)?;
    work.put_role(role.clone())?;
    for option in options {
        if let RoleOption::Members(members) = option {
            for member in members {
                let member = work.locked_role(member).await?;
                add_member(&work, &role, member, work.ctx.role, false)?;
            }
        }
    }
    Ok(())
}

async fn rename(work: Work<'_>, named: &RoleRef, new: &str) -> PgResult<()> {
    let role = work.locked_role(named).await?;
    check_role_name(&role.name)?;
    check_role_name(new)?;
    if role.oid == work.ctx.session.session_role() {
        return Err(PgError::unsupported("session user cannot be renamed"));
    }
    if role.oid == work.ctx.role {
        return Err(PgError::unsupported("current user cannot be renamed"));
    }
    work.ctx.txn.lock_name(ROLES, new).await?;
    if work.authority().role_named(new).is_some() {
        return Err(PgError::new(SqlState::DUPLICATE_OBJECT, format!("role \"{new}\" already exists")));
    }
    if role.superuser && !work.is_superuser() {
        return Err(denied("must be superuser to rename superusers"));
    }
    if !has_create_role(&work) {
        return Err(denied("permission denied to rename role"));
    }
    work.put_role(RoleDescriptor { name: new.to_owned(), ..role })
}

async fn drop_roles(work: Work<'_>, names: &[RoleRef], if_exists: bool) -> PgResult<()> {
    if !has_create_role(&work) {
        return Err(denied("permission denied to drop role"));
    }
    let mut dropped = Vec::new();
    for named in names {
        let RoleRef::Name(name) = named else {
            return Err(PgError::new(SqlState::INVALID_PARAMETER_VALUE, "cannot use special role specifier in DROP ROLE"));
        };
        if work.authority().role_named(name).is_none() {
            if !if_exists {
                return Err(undefined_role(name));
            }
            work.notice(SqlState::SUCCESSFUL_COMPLETION, format!("role \"{name}\" does not exist, skipping"));
            continue;
        }
        let role = work.locked_role(named).await?;
        if role.oid == work.ctx.role {
            return Err(PgError::new(SqlState::OBJECT_IN_USE, "current user cannot be dropped"));
        }
        if role.oid == work.ctx.session.session_role() {
            return Err(PgError::new(SqlState::OBJECT_IN_USE, "session user cannot be dropped"));
        }
        if role.superuser && !work.is_superuser() {
            return Err(denied("must be superuser to drop superusers"));
        }
        if role.is_predefined() || role.oid == stoa_table::catalog::role::FIRST_SUPERUSER {
            return Err(PgError::new(
                SqlState::DEPENDENT_OBJECTS_STILL_EXIST,
                format!("cannot drop role {} because it is required by the database system", quoted_role(name)),
            ));
        }
        dropped.push(role);
    }
    for role in dropped {
        drop_role(&work, &role).await?;
    }
    Ok(())
}

async fn drop_role(work: &Work<'_>, role: &RoleDescriptor) -> PgResult<()> {
    let mut uses = super::owner::uses_of(&work.catalog(), &work.path(), role.oid);
    let this = work.ctx.database.oid;
    let (large_objects, large_objects_elsewhere) = super::large_object::uses(work, role.oid).await?;
    uses.extend(large_objects);
    let catalogs = work.ctx.database.tables.services().publication().all();
    uses.extend(super::owner::uses_elsewhere(&catalogs, this, role.oid, &large_objects_elsewhere));
    if !uses.is_empty() {
        return Err(still_used(&role.name, &uses));
    }
    let authority = work.authority();
    for member in authority.roles().filter(|other| other.member_of.iter().any(|m| m.role == role.oid)) {
        let mut member = (**member).clone();
        member.member_of.retain(|m| m.role != role.oid);
        work.put_role(member)?;
    }
    for settings in authority.settings().filter(|s| s.role == role.oid) {
        work.put_start_settings(StartSettings { values: Vec::new(), ..(**settings).clone() })?;
    }
    work.ctx.txn.add_catalog_mutation(&role_key(role.oid), None)?;
    let (oid, name, path) = (role.oid, role.name.clone(), work.path());
    work.ctx.txn.change_catalog(move |catalog| {
        // What others have given it meanwhile.
        let uses = super::owner::uses_of(catalog, &path, oid);
        if !uses.is_empty() {
            return Err(still_used(&name, &uses));
        }
        if catalog.authority().roles().any(|other| other.member_of.iter().any(|m| m.role == oid)) {
            return Err(still_used(&name, &["a member was added by another transaction".to_owned()]));
        }
        catalog.authority_mut().remove_role(oid);
        Ok(())
    })?;
    let name = role.name.clone();
    work.ctx.txn.check_catalogs(move |catalogs| {
        let uses = super::owner::uses_elsewhere(catalogs, this, oid, &BTreeMap::new());
        if uses.is_empty() { Ok(()) } else { Err(still_used(&name, &uses)) }
    });
    Ok(())
}

fn still_used(name: &str, uses: &[String]) -> PgError {
    /// As many as PostgreSQL tells clients.
    const MOST: usize = 100;
    let mut detail = uses.iter().take(MOST).cloned().collect::<Vec<_>>().join("\n");
    if uses.len() > MOST {
        detail.push_str(&format!("\nand {} other objects (see server log for list)", uses.len() - MOST));
    }
    PgError::new(SqlState::DEPENDENT_OBJECTS_STILL_EXIST, format!("role \"{name}\" cannot be dropped because some objects depend on it"))
        .detail(detail)
}

// Members.

/// The role in whose name memberships are given.
fn grantor(work: &Work<'_>, granted_by: Option<&RoleRef>) -> PgResult<Oid> {
    let Some(named) = granted_by else { return Ok(work.ctx.role) };
    let role = work.role(named)?;
    if role.oid != work.ctx.role && !work.is_superuser() {
        return Err(denied("must be superuser to set grantor"));
    }
    Ok(role.oid)
}

/// Whether the role whose rights count may change who is a member of another.
fn check_admin(work: &Work<'_>, role: &RoleDescriptor) -> PgResult<()> {
    if role.superuser {
        return if work.is_superuser() { Ok(()) } else { Err(denied("must be superuser to alter superusers")) };
    }
    if has_create_role(work) || work.authority().is_admin(work.ctx.role, role.oid) {
        return Ok(());
    }
    Err(denied(format!("must have admin option on role \"{}\"", role.name)))
}

fn add_member(work: &Work<'_>, role: &RoleDescriptor, mut member: RoleDescriptor, grantor: Oid, admin: bool) -> PgResult<()> {
    check_admin(work, role)?;
    if role.oid == DATABASE_OWNER {
        return Err(PgError::internal(format!("role \"{}\" cannot have explicit members", role.name)));
    }
    if member.oid == DATABASE_OWNER {
        return Err(PgError::internal(format!("role \"{}\" cannot be a member of any role", member.name)));
    }
    if role.oid == member.oid || work.authority().is_plain_member(role.oid, member.oid) {
        return Err(circle(&role.name, &member.name));
    }
    match member.member_of.iter_mut().find(|m| m.role == role.oid) {
        Some(known) if known.admin || !admin => {
            let message = format!("role \"{}\" is already a member of role \"{}\"", member.name, role.name);
            work.notice(SqlState::SUCCESSFUL_COMPLETION, message);
            return Ok(());
        }
        Some(known) => *known = Membership { role: role.oid, grantor, admin },
        None => member.member_of.push(Membership { role: role.oid, grantor, admin }),
    }
    work.put_role(member)
}

fn remove_member(work: &Work<'_>, role: &RoleDescriptor, mut member: RoleDescriptor, admin_only: bool) -> PgResult<()> {
    check_admin(work, role)?;
    let Some(at) = member.member_of.iter().position(|m| m.role == role.oid) else {
        let message = format!("role \"{}\" is not a member of role \"{}\"", member.name, role.name);
        work.ctx.session.warning(SqlState::WARNING, message);
        return Ok(());
    };
    if admin_only {
        member.member_of.iter_mut().skip(at).take(1).for_each(|m| m.admin = false);
    } else {
        member.member_of.remove(at);
    }
    work.put_role(member)
}

// Settings that sessions begin with.

async fn alter_settings(work: Work<'_>, named: Option<&RoleRef>, database: Option<&str>, change: &SettingChange) -> PgResult<()> {
    let known = database.map(|name| work.database(name)).transpose()?.map(|database| database.oid);
    let role = match named {
        Some(named) => {
            let role = work.locked_role(named).await?;
            if role.superuser && !work.is_superuser() {
                return Err(denied("must be superuser to alter superusers"));
            }
            if !has_create_role(&work) && role.oid != work.ctx.role {
                return Err(denied("permission denied"));
            }
            role.oid
        }
        None => {
            let allowed = match known {
                Some(oid) => work.authority().owns(work.ctx.role, RightsOf::Database(oid)),
                None => work.is_superuser(),
            };
            if !allowed {
                return Err(match database {
                    Some(name) => denied(format!("must be owner of database {name}")),
                    None => denied("must be superuser to alter settings globally"),
                });
            }
            0
        }
    };
    change_settings(work, known.unwrap_or(0), role, change).await
}

pub(super) async fn change_settings(work: Work<'_>, database: Oid, role: Oid, change: &SettingChange) -> PgResult<()> {
    work.ctx.txn.lock_name(ROLES, &format!("settings {database} {role}")).await?;
    let known = work.authority().settings_of(database, role).map(|s| s.values.clone()).unwrap_or_default();
    let mut values = known;
    let superuser = work.is_superuser();
    match change {
        SettingChange::Set(name, value) => {
            let text = settings::value::text_of(name, value)?;
            set_value(&mut values, name, text.as_deref(), superuser)?;
        }
        SettingChange::FromCurrent(name) => {
            let text = work.ctx.session.show(name).ok_or_else(|| settings::unrecognized(name))?;
            set_value(&mut values, name, Some(&text), superuser)?;
        }
        SettingChange::Reset(name) => set_value(&mut values, name, None, superuser)?,
        // What only superusers may set, others leave.
        SettingChange::ResetAll => {
            values.retain(|(name, _)| !superuser && settings::find(name).is_some_and(|s| s.context == Context::Superuser))
        }
    }
    work.put_start_settings(StartSettings { database, role, values })
}

/// Puts a value into a list, or takes it out.
fn set_value(values: &mut Vec<(String, String)>, name: &str, text: Option<&str>, superuser: bool) -> PgResult<()> {
    let called = settings::find(name).map_or_else(|| name.to_lowercase(), |s| s.name.to_owned());
    settings::levels::check_allowed(name, superuser)?;
    if !matches!(called.as_str(), "role" | "session_authorization") {
        settings::Settings::default().with(name, text)?;
    }
    match (values.iter().position(|(known, _)| *known == called), text) {
        (Some(at), Some(text)) => values.iter_mut().skip(at).take(1).for_each(|(_, value)| text.clone_into(value)),
        (Some(at), None) => drop(values.remove(at)),
        (None, Some(text)) => values.push((called, text.to_owned())),
        (None, None) => {}
    }
    Ok(())
}
