//! Large objects in definitions: their comments and owners, and what roles have of them.

use super::owner::without_role;
use super::role::denied;
use super::work::Work;
use std::collections::BTreeMap;
use stoa_pg::values::input_text;
use stoa_pg::{EvalContext, PgError, PgResult, PgType, SqlType};
use stoa_sql::privileges::not_owner;
use stoa_syntax::rights::RoleRef;
use stoa_table::catalog::{LargeObject, Oid, acl};
use stoa_table::txn::large_object::undefined_large_object;

/// The object that a statement names by its number.
///
/// # Errors
/// 22003 and 22P02 for what is no number of an object.
fn number(named: &str) -> PgResult<Oid> {
    match input_text(&EvalContext::default(), &SqlType::new(PgType::Oid), named)? {
        datafusion::common::ScalarValue::UInt32(Some(oid)) => Ok(oid),
        _ => Err(PgError::internal("a number of an object that is none")),
    }
}

/// The object that a statement names, as it is behind its lock.
///
/// # Errors
/// 42704; those of locks and of the store.
pub(super) async fn locked(work: &Work<'_>, named: &str) -> PgResult<(Oid, LargeObject)> {
    let (txn, oid) = (&work.ctx.txn, number(named)?);
    txn.lock_large_object(oid).await?;
    let found = txn.newest_view().large_object(txn.transactions().database(), oid).await?;
    Ok((oid, found.ok_or_else(|| undefined_large_object(oid))?))
}

fn check_owns(work: &Work<'_>, oid: Oid, object: &LargeObject) -> PgResult<()> {
    let owns = object.is_owned_by(&work.authority(), work.ctx.role);
    if owns { Ok(()) } else { Err(not_owner("large object", &oid.to_string())) }
}

/// COMMENT ON LARGE OBJECT.
pub(super) async fn comment(work: Work<'_>, named: &str, text: Option<String>) -> PgResult<()> {
    let (oid, object) = locked(&work, named).await?;
    check_owns(&work, oid, &object)?;
    work.ctx.txn.put_large_object(oid, &LargeObject { comment: text, ..object }).await
}

/// ALTER LARGE OBJECT … OWNER TO; gives its command tag.
pub(super) async fn change_owner(work: Work<'_>, named: &str, to: &RoleRef) -> PgResult<String> {
    let new = work.role(to)?;
    let (oid, object) = locked(&work, named).await?;
    if object.rights.owner != new.oid {
        if !work.is_superuser() {
            check_owns(&work, oid, &object)?;
            if !work.authority().is_member(work.ctx.role, new.oid) {
                return Err(denied(format!("must be member of role \"{}\"", new.name)));
            }
        }
        work.ctx.txn.put_large_object(oid, &with_owner(object, new.oid)).await?;
    }
    Ok("ALTER LARGE OBJECT".into())
}

fn with_owner(mut object: LargeObject, new: Oid) -> LargeObject {
    let old = std::mem::replace(&mut object.rights.owner, new);
    object.rights.acl = object.rights.acl.map(|list| acl::with_owner(&list, old, new));
    object
}

/// The objects of the database that a role owns, or has privileges on.
async fn of_roles(work: &Work<'_>, roles: &[Oid]) -> PgResult<Vec<(Oid, LargeObject)>> {
    let (txn, mut out) = (&work.ctx.txn, Vec::new());
    let mut take = |_, oid, object: LargeObject| {
        if roles.iter().any(|role| is_of(&object, *role)) {
            out.push((oid, object));
        }
        Ok(())
    };
    txn.newest_view().large_objects(Some(txn.transactions().database()), &mut take).await?;
    Ok(out)
}

fn is_of(object: &LargeObject, role: Oid) -> bool {
    object.rights.owner == role || object.rights.acl.iter().flatten().any(|item| item.grantee == role || item.grantor == role)
}

/// REASSIGN OWNED.
pub(super) async fn reassign(work: &Work<'_>, from: &[Oid], to: Oid) -> PgResult<()> {
    for (oid, _) in of_roles(work, from).await? {
        let (oid, object) = locked(work, &oid.to_string()).await?;
        if from.contains(&object.rights.owner) {
            work.ctx.txn.put_large_object(oid, &with_owner(object, to)).await?;
        }
    }
    Ok(())
}

/// DROP OWNED: what the roles own goes, and what they were granted.
pub(super) async fn drop_owned(work: &Work<'_>, roles: &[Oid]) -> PgResult<()> {
    for (oid, _) in of_roles(work, roles).await? {
        let (oid, mut object) = locked(work, &oid.to_string()).await?;
        if roles.contains(&object.rights.owner) {
            work.ctx.txn.remove_large_object(oid).await?;
            continue;
        }
        for role in roles {
            object.rights.acl = object.rights.acl.map(|list| without_role(&list, object.rights.owner, *role));
        }
        work.ctx.txn.put_large_object(oid, &object).await?;
    }
    Ok(())
}

/// What keeps a role from being dropped: objects of this database, named one by one, and how many there are in each of the others.
pub(super) async fn uses(work: &Work<'_>, role: Oid) -> PgResult<(Vec<String>, BTreeMap<Oid, usize>)> {
    let (own, mut here, mut elsewhere) = (work.ctx.txn.transactions().database(), Vec::new(), BTreeMap::new());
    let mut take = |database, oid, object: LargeObject| {
        if database != own {
            *elsewhere.entry(database).or_default() += usize::from(is_of(&object, role));
        } else if object.rights.owner == role {
            here.push(format!("owner of large object {oid}"));
        } else if is_of(&object, role) {
            here.push(format!("privileges for large object {oid}"));
        }
        Ok(())
    };
    work.ctx.txn.newest_view().large_objects(None, &mut take).await?;
    Ok((here, elsewhere))
}
