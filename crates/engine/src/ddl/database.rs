//! Databases: CREATE, ALTER and DROP DATABASE.
//!
//! A database is a row that all databases share, and rows of a catalog of its own. Whoever drops or renames one keeps others from
//! connecting to it, looks whether anybody is connected, and lets them in again when the transaction is over.

use super::role::{denied, undefined_role};
use super::work::Work;
use futures::future::BoxFuture;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stoa_exec::environment::Instance;
use stoa_pg::{PgError, PgResult, SqlState};
use stoa_sql::privileges::{check_disturb, not_owner, undefined_database};
use stoa_syntax::database::{DatabaseOption, DatabaseStatement, OptionValue};
use stoa_syntax::rights::RoleRef;
use stoa_table::catalog::store::{built_in_schemas, database_key, encode, keys_of_database, rights_key, schema_key, settings_key};
use stoa_table::catalog::{DatabaseDescriptor, FIRST_DATABASE, Oid, Rights, RightsOf};

/// The space of names in which transactions lock databases: no schema has this number.
const DATABASES: Oid = 1262;
/// How long sessions that are ending are waited for, as in PostgreSQL; tests have less time.
const PATIENCE: Duration = if cfg!(test) { Duration::from_millis(500) } else { Duration::from_secs(5) };

fn invalid(message: impl Into<String>) -> PgError {
    PgError::new(SqlState::INVALID_PARAMETER_VALUE, message)
}

impl Work<'_> {
    /// The database that a statement names.
    ///
    /// # Errors
    /// 3D000.
    pub(super) fn database(&self, name: &str) -> PgResult<Arc<DatabaseDescriptor>> {
        self.authority().database_to_connect_to(name).cloned().ok_or_else(|| undefined_database(name))
    }

    /// The database that the session is connected to, as rights are about it.
    pub(super) fn this_database(&self) -> RightsOf {
        RightsOf::Database(self.ctx.database.oid)
    }

    /// The database of this very name, behind a lock, which the role whose rights count must own.
    async fn own_database(&self, name: &str) -> PgResult<DatabaseDescriptor> {
        self.ctx.txn.lock_name(DATABASES, name).await?;
        let found = self.authority().database_named(name).cloned().ok_or_else(|| undefined_database(name))?;
        if !self.authority().owns(self.ctx.role, RightsOf::Database(found.oid)) {
            return Err(not_owner("database", name));
        }
        Ok((*found).clone())
    }

    /// Stores a database, new or changed.
    fn put_database(&self, database: DatabaseDescriptor) -> PgResult<()> {
        self.ctx.txn.add_catalog_mutation(&database_key(database.oid), Some(&encode(&database)?))?;
        let new = self.authority().database(database.oid).is_none();
        self.ctx.txn.change_catalog(move |catalog| {
            let authority = catalog.authority_mut();
            if authority.database_named(&database.name).is_some_and(|other| other.oid != database.oid) {
                return Err(duplicate(&database.name));
            }
            if !new && authority.database(database.oid).is_none() {
                return Err(undefined_database(&database.name));
            }
            authority.put_database(database.clone());
            Ok(())
        })
    }

    fn may_create_databases(&self) -> bool {
        self.authority().role(self.ctx.role).is_some_and(|role| role.superuser || role.create_db)
    }
}

fn duplicate(name: &str) -> PgError {
    PgError::new(SqlState::DUPLICATE_DATABASE, format!("database \"{name}\" already exists"))
}

/// Executes a statement about databases; gives its command tag.
pub(super) async fn execute(work: Work<'_>, statement: &DatabaseStatement) -> PgResult<String> {
    let tag = match statement {
        DatabaseStatement::Create { name, options } => {
            create(work, name, options).await?;
            "CREATE DATABASE"
        }
        DatabaseStatement::Alter { name, options } => {
            alter(work, name, options).await?;
            "ALTER DATABASE"
        }
        DatabaseStatement::Rename { name, new } => {
            rename(work, name, new).await?;
            "ALTER DATABASE"
        }
        DatabaseStatement::Owner { name, owner } => {
            let database = work.database(name)?;
            let of = RightsOf::Database(database.oid);
            if !work.may_create_databases() {
                super::owner::check_owns(&work, of)?;
                return Err(denied("permission denied to change owner of database"));
            }
            super::owner::change(work, of, owner)?;
            "ALTER DATABASE"
        }
        DatabaseStatement::Settings { name, change } => {
            let database = work.database(name)?;
            if !work.authority().owns(work.ctx.role, RightsOf::Database(database.oid)) {
                return Err(not_owner("database", name));
            }
            super::role::change_settings(work, database.oid, 0, change).await?;
            "ALTER DATABASE"
        }
        DatabaseStatement::Tablespace { name, tablespace } => {
            work.own_database(name).await?;
            check_tablespace(tablespace)?;
            "ALTER DATABASE"
        }
        DatabaseStatement::RefreshCollationVersion { name } => {
            work.own_database(name).await?;
            work.notice(SqlState::SUCCESSFUL_COMPLETION, "version has not changed");
            "ALTER DATABASE"
        }
        DatabaseStatement::Drop { name, if_exists, force } => {
            drop_database(work, name, *if_exists, *force).await?;
            "DROP DATABASE"
        }
        DatabaseStatement::Comment { name, text } => {
            match work.authority().database_named(name) {
                Some(_) => {
                    let database = work.own_database(name).await?;
                    work.put_database(DatabaseDescriptor { comment: text.clone().filter(|text| !text.is_empty()), ..database })?;
                }
                // As in PostgreSQL, so that dumps are restored under another name.
                None => work.ctx.session.warning(SqlState::INVALID_CATALOG_NAME, format!("database \"{name}\" does not exist")),
            }
            "COMMENT"
        }
    };
    Ok(tag.to_owned())
}

// Options.

/// What the options of CREATE or ALTER DATABASE say.
#[derive(Default)]
struct Wishes {
    owner: Option<String>,
    connection_limit: Option<i32>,
    allow_connections: Option<bool>,
    is_template: Option<bool>,
    /// Nothing else may stand beside it in ALTER DATABASE.
    tablespace: bool,
}

fn text(option: &DatabaseOption) -> Option<String> {
    match &option.value {
        OptionValue::Default => None,
        OptionValue::Integer(value) => Some(value.to_string()),
        OptionValue::Text(text) => Some(text.clone()),
    }
}

/// 42601 for what is no truth value.
fn boolean(option: &DatabaseOption) -> PgResult<Option<bool>> {
    Ok(match &option.value {
        OptionValue::Default => None,
        OptionValue::Integer(0) => Some(false),
        OptionValue::Integer(1) => Some(true),
        OptionValue::Text(text) if ["true", "on"].iter().any(|t| text.eq_ignore_ascii_case(t)) => Some(true),
        OptionValue::Text(text) if ["false", "off"].iter().any(|t| text.eq_ignore_ascii_case(t)) => Some(false),
        _ => return Err(PgError::new(SqlState::SYNTAX_ERROR, format!("{} requires a Boolean value", option.name))),
    })
}

/// 42601 for an option that there is not, or that is said twice.
fn wishes(work: &Work<'_>, options: &[DatabaseOption], create: bool) -> PgResult<Wishes> {
    const OF_CREATE: [&str; 13] = [
        "owner",
        "template",
        "encoding",
        "locale",
        "lc_collate",
        "lc_ctype",
        "icu_locale",
        "locale_provider",
        "collation_version",
        "oid",
        "strategy",
        "location",
        "tablespace",
    ];
    let mut out = Wishes::default();
    for (at, option) in options.iter().enumerate() {
        let name = option.name.as_str();
        let known =
            matches!(name, "connection_limit" | "allow_connections" | "is_template" | "tablespace") || create && OF_CREATE.contains(&name);
        if !known {
            return Err(PgError::new(SqlState::SYNTAX_ERROR, format!("option \"{name}\" not recognized")));
        }
        if options.iter().take(at).any(|other| other.name == name) {
            return Err(PgError::new(SqlState::SYNTAX_ERROR, "conflicting or redundant options"));
        }
        match name {
            "connection_limit" => {
                out.connection_limit = match &option.value {
                    OptionValue::Default => None,
                    OptionValue::Integer(limit) if *limit >= -1 => i32::try_from(*limit).ok(),
                    OptionValue::Integer(limit) => return Err(invalid(format!("invalid connection limit: {limit}"))),
                    OptionValue::Text(_) => {
                        return Err(PgError::new(SqlState::SYNTAX_ERROR, "connection_limit requires an integer value"));
                    }
                }
            }
            "allow_connections" => out.allow_connections = boolean(option)?,
            "is_template" => out.is_template = boolean(option)?,
            "owner" => out.owner = text(option),
            _ => {
                out.tablespace |= name == "tablespace";
                if let Some(value) = text(option) {
                    check_fixed(work, name, &value)?;
                }
            }
        }
    }
    Ok(out)
}

/// Options of which there is one value here: others are refused.
fn check_fixed(work: &Work<'_>, name: &str, value: &str) -> PgResult<()> {
    let unsupported = |what: String, hint: &str| Err(PgError::unsupported(what).hint(hint));
    match name {
        "template" if matches!(value, "template0" | "template1") => Ok(()),
        "template" if work.authority().database_named(value).is_none() => {
            Err(PgError::new(SqlState::INVALID_CATALOG_NAME, format!("template database \"{value}\" does not exist")))
        }
        "template" => unsupported(
            format!("copying database \"{value}\" is not supported"),
            "A new database is empty. stoa dump writes what is in one; stoa sql makes it again in another.",
        ),
        "encoding" => match value.to_ascii_lowercase().replace(['-', '_', ' '], "").as_str() {
            "utf8" | "unicode" | "6" => Ok(()),
            _ => unsupported(format!("encoding \"{value}\" is not supported"), "Databases are in UTF8."),
        },
        "locale" | "lc_collate" | "lc_ctype" => {
            if ["C", "POSIX", "C.UTF-8", "C.utf8"].contains(&value) {
                return Ok(());
            }
            let hint = "Text is compared by its characters' numbers: the locale C.";
            Err(PgError::unsupported(format!("locale \"{value}\" is not supported")).hint(hint))
        }
        "locale_provider" if value.eq_ignore_ascii_case("libc") => Ok(()),
        "locale_provider" if value.eq_ignore_ascii_case("icu") => unsupported("locale provider icu is not supported".into(), "Use libc."),
        "locale_provider" => Err(PgError::new(SqlState::INVALID_OBJECT_DEFINITION, format!("unrecognized locale provider: {value}"))),
        "strategy" if ["wal_log", "file_copy"].iter().any(|s| value.eq_ignore_ascii_case(s)) => Ok(()),
        "strategy" => {
            Err(invalid(format!("invalid create database strategy \"{value}\""))
                .hint("Valid strategies are \"wal_log\", and \"file_copy\"."))
        }
        "location" => {
            work.ctx.session.warning(SqlState::FEATURE_NOT_SUPPORTED, "LOCATION is not supported anymore");
            Ok(())
        }
        "tablespace" => check_tablespace(value),
        _ => Err(PgError::unsupported(format!("option {} of CREATE DATABASE is not supported", name.to_uppercase()))),
    }
}

fn check_tablespace(name: &str) -> PgResult<()> {
    match name {
        "pg_default" => Ok(()),
        "pg_global" => Err(invalid("pg_global cannot be used as default tablespace")),
        _ => Err(PgError::new(SqlState::UNDEFINED_OBJECT, format!("tablespace \"{name}\" does not exist"))),
    }
}

// Making and changing.

async fn create(work: Work<'_>, name: &str, options: &[DatabaseOption]) -> PgResult<()> {
    let wishes = wishes(&work, options, true)?;
    let owner = match &wishes.owner {
        Some(name) => work.role(&RoleRef::Name(name.clone())).map_err(|_| undefined_role(name))?.oid,
        None => work.ctx.role,
    };
    if !work.may_create_databases() {
        return Err(denied("permission denied to create database"));
    }
    let authority = work.authority();
    if !authority.is_member(work.ctx.role, owner) {
        let name = authority.role(owner).map_or_else(String::new, |role| role.name.clone());
        return Err(denied(format!("must be member of role \"{name}\"")));
    }
    work.ctx.txn.lock_name(DATABASES, name).await?;
    if work.authority().database_named(name).is_some() {
        return Err(duplicate(name));
    }
    let oid = work.next_oid().await?;
    for schema in built_in_schemas() {
        work.ctx.txn.add_catalog_mutation_in(oid, &schema_key(schema.oid), Some(&encode(&schema)?))?;
    }
    work.put_database(DatabaseDescriptor {
        connection_limit: wishes.connection_limit.unwrap_or(-1),
        allow_connections: wishes.allow_connections.unwrap_or(true),
        is_template: wishes.is_template.unwrap_or(false),
        ..DatabaseDescriptor::new(oid, name)
    })?;
    // Said even of the first superuser: versions that know of one database alone refuse this row, rather than take the tables of others
    // for left over.
    work.ctx.put_rights(RightsOf::Database(oid), Rights::of(owner))
}

async fn alter(work: Work<'_>, name: &str, options: &[DatabaseOption]) -> PgResult<()> {
    let wishes = wishes(&work, options, false)?;
    if wishes.tablespace && options.len() > 1 {
        return Err(PgError::unsupported("option \"tablespace\" cannot be specified with other options"));
    }
    let mut database = work.own_database(name).await?;
    if wishes.allow_connections == Some(false) && database.oid == work.ctx.database.oid {
        return Err(invalid("cannot disallow connections for current database"));
    }
    database.connection_limit = wishes.connection_limit.unwrap_or(database.connection_limit);
    database.allow_connections = wishes.allow_connections.unwrap_or(database.allow_connections);
    database.is_template = wishes.is_template.unwrap_or(database.is_template);
    work.put_database(database)
}

async fn rename(work: Work<'_>, name: &str, new: &str) -> PgResult<()> {
    let database = work.own_database(name).await?;
    if !work.may_create_databases() {
        return Err(denied("permission denied to rename database"));
    }
    work.ctx.txn.lock_name(DATABASES, new).await?;
    if work.authority().database_named(new).is_some() {
        return Err(duplicate(new));
    }
    if database.oid == work.ctx.database.oid {
        return Err(PgError::unsupported("current database cannot be renamed"));
    }
    empty(work, &database, false).await?;
    work.put_database(DatabaseDescriptor { name: new.to_owned(), ..database })
}

// Dropping.

async fn drop_database(work: Work<'_>, name: &str, if_exists: bool, force: bool) -> PgResult<()> {
    work.ctx.txn.lock_name(DATABASES, name).await?;
    if if_exists && work.authority().database_named(name).is_none() {
        work.notice(SqlState::SUCCESSFUL_COMPLETION, format!("database \"{name}\" does not exist, skipping"));
        return Ok(());
    }
    let database = work.own_database(name).await?;
    if database.is_template {
        return Err(PgError::new(SqlState::WRONG_OBJECT_TYPE, "cannot drop a template database"));
    }
    if database.oid == work.ctx.database.oid {
        return Err(PgError::new(SqlState::OBJECT_IN_USE, "cannot drop the currently open database"));
    }
    if database.oid == FIRST_DATABASE {
        return Err(PgError::new(
            SqlState::DEPENDENT_OBJECTS_STILL_EXIST,
            format!("cannot drop database {name} because it is the first one"),
        )
        .hint("Drop its schemas, or rename it."));
    }
    empty(work, &database, force).await?;
    let (tables, txn) = (&work.ctx.database.tables, &work.ctx.txn);
    let catalog = tables.services().publication().of(database.oid).map(|published| published.newest());
    for relation in catalog.iter().flat_map(|catalog| catalog.relations()) {
        work.drop_storage_of(relation)?;
    }
    for dropped in catalog.iter().flat_map(|catalog| catalog.dropped().values()) {
        super::undrop::drop_storage(work, dropped)?;
    }
    let (instance, gone) = (tables.clone(), database.oid);
    txn.on_commit(move || {
        Box::pin(async move {
            // What is left goes when the server starts again.
            if let Err(error) = instance.remove_large_objects(gone).await {
                tracing::warn!(database = gone, error = error.message(), "large objects of a dropped database are kept for longer");
            }
        })
    });
    for key in keys_of_database(&**tables.store(), database.oid).await? {
        txn.add_catalog_mutation_in(FIRST_DATABASE, &key, None)?;
    }
    for settings in work.authority().settings().filter(|settings| settings.database == database.oid) {
        txn.add_catalog_mutation(&settings_key(settings.database, settings.role), None)?;
    }
    txn.add_catalog_mutation(&rights_key(RightsOf::Database(database.oid)), None)?;
    txn.add_catalog_mutation(&database_key(database.oid), None)?;
    txn.change_catalog(move |catalog| {
        catalog.authority_mut().remove_database(database.oid);
        Ok(())
    })
}

/// Lets nobody connect to a database until the transaction is over, and waits for those who are ending; with `force` all are.
///
/// # Errors
/// 55006 if somebody stays; 42501 for sessions that the role must not end.
async fn empty(work: Work<'_>, database: &DatabaseDescriptor, force: bool) -> PgResult<()> {
    let (instance, oid) = (Arc::clone(&work.ctx.database.instance), database.oid);
    if !instance.closing.lock().insert(oid) {
        return Err(in_use(&database.name));
    }
    let open_again = |instance: Arc<Instance>| {
        move || -> BoxFuture<'static, ()> {
            instance.closing.lock().remove(&oid);
            Box::pin(async {})
        }
    };
    work.ctx.txn.on_commit(open_again(Arc::clone(&instance)));
    work.ctx.txn.on_rollback(open_again(Arc::clone(&instance)));
    let began = Instant::now();
    loop {
        let sessions = instance.sessions_of(oid);
        if sessions.is_empty() {
            return Ok(());
        }
        if force {
            let authority = work.authority();
            let others = sessions.iter().filter(|session| !session.in_background);
            others.map(|session| session.login.oid).try_for_each(|other| check_disturb(&authority, work.ctx.role, other, true))?;
        }
        sessions.iter().filter(|session| force || session.in_background).for_each(|session| session.terminate());
        if began.elapsed() > PATIENCE {
            let detail = match sessions.len() {
                1 => "There is 1 other session using the database.".to_owned(),
                many => format!("There are {many} other sessions using the database."),
            };
            return Err(in_use(&database.name).detail(detail));
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
        work.ctx.session.check_interrupt()?;
    }
}

fn in_use(name: &str) -> PgError {
    PgError::new(SqlState::OBJECT_IN_USE, format!("database \"{name}\" is being accessed by other users"))
}
