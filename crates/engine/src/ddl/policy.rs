//! Policies of tables: CREATE, ALTER and DROP POLICY, and row-level security in ALTER TABLE.

use super::dependency::{Dropping, Object};
use super::work::{Work, undefined_relation};
use stoa_pg::{PgError, PgResult, SqlState};
use stoa_sql::definition::policy::kept;
use stoa_syntax::ast::{Expr, ObjectName, TableAliasColumnDef};
use stoa_syntax::policy::{PolicyStatement, PolicyWord, RowSecurityChange};
use stoa_syntax::rights::RoleRef;
use stoa_table::catalog::acl::PUBLIC_GRANTEE;
use stoa_table::catalog::{CatalogSnapshot, Oid, PolicyCommand, PolicyCondition, PolicyDescriptor, Relation, TableDescriptor};
use stoa_table::txn::TableLockMode;

pub(super) async fn execute(work: Work<'_>, statement: &PolicyStatement) -> PgResult<String> {
    match statement {
        PolicyStatement::Create { name, table, undeclared, restrictive, command, roles, using, check } => {
            create(work, (table, undeclared), (name, *restrictive, *command), roles, using.as_ref(), check.as_ref()).await?;
            Ok("CREATE POLICY".into())
        }
        PolicyStatement::Alter { name, table, undeclared, roles, using, check } => {
            alter(work, name, (table, undeclared), roles.as_deref(), using.as_ref(), check.as_ref()).await?;
            Ok("ALTER POLICY".into())
        }
        PolicyStatement::Rename { name, table, new } => {
            rename(work, (name, table), new).await?;
            Ok("ALTER POLICY".into())
        }
        PolicyStatement::Drop { name, table, if_exists } => {
            drop_policy(work, (name, table), *if_exists).await?;
            Ok("DROP POLICY".into())
        }
    }
}

fn syntax(message: &str) -> PgError {
    PgError::new(SqlState::SYNTAX_ERROR, message)
}

fn missing(name: &str, table: &str) -> PgError {
    PgError::new(SqlState::UNDEFINED_OBJECT, format!("policy \"{name}\" for table \"{table}\" does not exist"))
}

fn taken(name: &str, table: &str) -> PgError {
    PgError::new(SqlState::DUPLICATE_OBJECT, format!("policy \"{name}\" for table \"{table}\" already exists"))
}

/// The table, as it is behind the strongest lock.
async fn locked(work: Work<'_>, name: &ObjectName) -> PgResult<TableDescriptor> {
    let found = work.table(name)?;
    work.lock_table(&found).await?;
    work.check_unused(&found, "ALTER TABLE")?;
    work.refresh().await?;
    work.catalog().table(found.oid).cloned().ok_or_else(|| undefined_relation(&found.name))
}

/// Roles by their OIDs, each once.
fn roles_of(work: Work<'_>, roles: &[RoleRef]) -> PgResult<Vec<Oid>> {
    if roles.contains(&RoleRef::Public) {
        if roles.len() > 1 {
            let error = PgError::new(SqlState::INVALID_PARAMETER_VALUE, "ignoring specified roles other than PUBLIC")
                .hint("All roles are members of the PUBLIC role.");
            work.ctx.session.notice("WARNING", error);
        }
        return Ok(vec![PUBLIC_GRANTEE]);
    }
    let mut out = Vec::with_capacity(roles.len());
    for role in roles {
        let oid = work.role(role)?.oid;
        if !out.contains(&oid) {
            out.push(oid);
        }
    }
    Ok(out)
}

/// A condition as it is kept. What it reads stays as it is until the transaction ends.
async fn condition(
    work: Work<'_>,
    table: &TableDescriptor,
    named: (&ObjectName, &[TableAliasColumnDef]),
    expr: Option<&Expr>,
) -> PgResult<Option<PolicyCondition>> {
    let Some(expr) = expr else { return Ok(None) };
    loop {
        let (catalog, path) = (work.catalog(), work.path());
        let out = kept(&work.bind_context(&catalog, &path), table, named, expr)?;
        for used in out.depends_on.iter().filter(|used| used.relation != table.oid) {
            if let Some(relation) = catalog.relation(used.relation) {
                work.lock(relation, TableLockMode::AccessShare).await?;
            }
        }
        work.refresh().await?;
        if std::sync::Arc::ptr_eq(&work.catalog(), &catalog) {
            return Ok(Some(out));
        }
    }
}

async fn create(
    work: Work<'_>,
    named: (&ObjectName, &[TableAliasColumnDef]),
    (name, restrictive, word): (&str, bool, PolicyWord),
    roles: &[RoleRef],
    using: Option<&Expr>,
    check: Option<&Expr>,
) -> PgResult<()> {
    let command = match word {
        PolicyWord::All => PolicyCommand::All,
        PolicyWord::Select => PolicyCommand::Select,
        PolicyWord::Insert => PolicyCommand::Insert,
        PolicyWord::Update => PolicyCommand::Update,
        PolicyWord::Delete => PolicyCommand::Delete,
    };
    if matches!(command, PolicyCommand::Select | PolicyCommand::Delete) && check.is_some() {
        return Err(syntax("WITH CHECK cannot be applied to SELECT or DELETE"));
    }
    if command == PolicyCommand::Insert && using.is_some() {
        return Err(syntax("only WITH CHECK expression allowed for INSERT"));
    }
    let roles = roles_of(work, roles)?;
    let table = locked(work, named.0).await?;
    let using = condition(work, &table, named, using).await?;
    let check = condition(work, &table, named, check).await?;
    let mut table = work.catalog().table(table.oid).cloned().ok_or_else(|| undefined_relation(&table.name))?;
    if table.row_security.policy(name).is_some() {
        return Err(taken(name, &table.name));
    }
    let oid = work.next_oid().await?;
    let policy = PolicyDescriptor { oid, name: name.to_owned(), restrictive, command, roles, using, check, comment: None };
    table.row_security.policies.push(policy);
    put(work, table)
}

/// Stores a table, its policies in the order of their names.
fn put(work: Work<'_>, mut table: TableDescriptor) -> PgResult<()> {
    table.row_security.policies.sort_by(|a, b| a.name.cmp(&b.name));
    work.put(Relation::Table(table))
}

async fn alter(
    work: Work<'_>,
    name: &str,
    named: (&ObjectName, &[TableAliasColumnDef]),
    roles: Option<&[RoleRef]>,
    using: Option<&Expr>,
    check: Option<&Expr>,
) -> PgResult<()> {
    let roles = roles.map(|roles| roles_of(work, roles)).transpose()?;
    let table = locked(work, named.0).await?;
    let new_using = condition(work, &table, named, using).await?;
    let new_check = condition(work, &table, named, check).await?;
    let mut table = work.catalog().table(table.oid).cloned().ok_or_else(|| undefined_relation(&table.name))?;
    let called = table.name.clone();
    let policy = table.row_security.policies.iter_mut().find(|p| p.name == name).ok_or_else(|| missing(name, &called))?;
    if matches!(policy.command, PolicyCommand::Select | PolicyCommand::Delete) && check.is_some() {
        return Err(syntax("only USING expression allowed for SELECT, DELETE"));
    }
    if policy.command == PolicyCommand::Insert && using.is_some() {
        return Err(syntax("only WITH CHECK expression allowed for INSERT"));
    }
    policy.roles = roles.unwrap_or_else(|| std::mem::take(&mut policy.roles));
    policy.using = new_using.or_else(|| policy.using.take());
    policy.check = new_check.or_else(|| policy.check.take());
    put(work, table)
}

async fn rename(work: Work<'_>, (name, named): (&str, &ObjectName), new: &str) -> PgResult<()> {
    let mut table = locked(work, named).await?;
    if table.row_security.policy(new).is_some() {
        return Err(taken(new, &table.name));
    }
    let called = table.name.clone();
    let policy = table.row_security.policies.iter_mut().find(|p| p.name == name).ok_or_else(|| missing(name, &called))?;
    policy.name = new.to_owned();
    put(work, table)
}

async fn drop_policy(work: Work<'_>, (name, named): (&str, &ObjectName), if_exists: bool) -> PgResult<()> {
    if if_exists && work.find(named)?.is_none() {
        let message = format!("relation \"{}\" does not exist, skipping", Work::shown(named));
        work.notice(SqlState::SUCCESSFUL_COMPLETION, message);
        return Ok(());
    }
    let table = locked(work, named).await?;
    let Some(policy) = table.row_security.policy(name) else {
        if if_exists {
            let message = format!("policy \"{name}\" for relation \"{}\" does not exist, skipping", table.name);
            work.notice(SqlState::SUCCESSFUL_COMPLETION, message);
            return Ok(());
        }
        return Err(missing(name, &table.name));
    };
    let mut dropping = Dropping::new(work);
    dropping.name(Object::Policy(table.oid, policy.oid));
    dropping.settle().await?;
    dropping.execute().await
}

/// ENABLE ROW LEVEL SECURITY and its kin.
pub(super) fn change(work: Work<'_>, mut table: TableDescriptor, change: RowSecurityChange) -> PgResult<()> {
    let security = &mut table.row_security;
    match change {
        RowSecurityChange::Enable => security.enabled = true,
        RowSecurityChange::Disable => security.enabled = false,
        RowSecurityChange::Force => security.forced = true,
        RowSecurityChange::NoForce => security.forced = false,
    }
    work.put(Relation::Table(table))
}

/// COMMENT ON POLICY.
pub(super) fn comment(work: Work<'_>, name: &str, mut table: TableDescriptor, text: Option<String>) -> PgResult<()> {
    let called = table.name.clone();
    let policy = table.row_security.policies.iter_mut().find(|policy| policy.name == name);
    policy.ok_or_else(|| missing(name, &called))?.comment = text;
    work.put(Relation::Table(table))
}

/// What keeps a role from being dropped: policies that are about it.
pub(super) fn uses_of(catalog: &CatalogSnapshot, role: Oid, shown: &dyn Fn(Oid) -> String) -> Vec<String> {
    let mut out = Vec::new();
    for relation in catalog.relations() {
        let Relation::Table(table) = &**relation else { continue };
        for policy in table.row_security.policies.iter().filter(|policy| policy.roles.contains(&role)) {
            out.push(format!("target of policy {} on {}", stoa_sql::catalog::deparse::quote_name(&policy.name), shown(table.oid)));
        }
    }
    out.sort();
    out
}

/// DROP OWNED: policies are no longer about a role; those that were about nobody else go.
pub(super) fn forget_role(work: Work<'_>, role: Oid) -> PgResult<()> {
    for relation in work.catalog().relations() {
        let Relation::Table(table) = &**relation else { continue };
        if table.row_security.policies.iter().any(|policy| policy.roles.contains(&role)) {
            let mut table = table.clone();
            table.row_security.policies.iter_mut().for_each(|policy| policy.roles.retain(|of| *of != role));
            table.row_security.policies.retain(|policy| !policy.roles.is_empty());
            work.put(Relation::Table(table))?;
        }
    }
    Ok(())
}
