//! Functions in FROM that PostgreSQL's views of the system are made of: here they stand for the views.

use super::from::Bound;
use super::scope::Lockable;
use super::{Binder, name_parts};
use crate::system_relations::{self, Definition};
use stoa_pg::PgResult;
use stoa_syntax::ast::{self, Spanned, TableFactor};

impl Binder<'_> {
    /// An item of FROM.
    pub(super) fn bind_factor(&mut self, factor: &TableFactor) -> PgResult<Bound> {
        let (first_item, before) = (self.scope().items.len(), self.last_scan());
        let bound = match relation_behind(factor) {
            Some((definition, without, alias)) => self.bind_virtual(definition, without, Some(&alias), factor.span()),
            None => self.bind_item(factor),
        }?;
        let scans = Lockable::Scans(before, self.last_scan());
        self.each_item(first_item, self.scope().items.len(), |item| {
            if let Lockable::Unknown = item.lockable {
                item.lockable = scans;
            }
        });
        Ok(bound)
    }
}

/// The functions that PostgreSQL's views of the system are made of: here they are the views, without the column that a view adds.
const BEHIND_VIEWS: &[(&str, &str, Option<&str>)] = &[
    ("pg_show_all_settings", "pg_settings", None),
    ("pg_available_extensions", "pg_available_extensions", Some("installed_version")),
    ("pg_available_extension_versions", "pg_available_extension_versions", Some("installed")),
    ("pg_cursor", "pg_cursors", None),
    ("pg_prepared_statement", "pg_prepared_statements", None),
    ("pg_lock_status", "pg_locks", None),
    ("pg_timezone_names", "pg_timezone_names", None),
    ("pg_timezone_abbrevs", "pg_timezone_abbrevs", None),
    ("pg_hba_file_rules", "pg_hba_file_rules", None),
    ("pg_ident_file_mappings", "pg_ident_file_mappings", None),
];

/// The relation that a call without arguments in FROM stands for, the column that the function does not have, and what it is called.
fn relation_behind(factor: &TableFactor) -> Option<(&'static Definition, Option<&'static str>, ast::TableAlias)> {
    let (name, alias) = match factor {
        TableFactor::Function { name, args, with_ordinality: false, alias, .. } if args.is_empty() => (name, alias),
        TableFactor::Table { name, args: Some(args), with_ordinality: false, alias, .. } if args.args.is_empty() => (name, alias),
        _ => return None,
    };
    let parts = name_parts(name).ok()?;
    let function = match parts.as_slice() {
        [function] => function,
        [schema, function] if schema == "pg_catalog" => function,
        _ => return None,
    };
    let (function, view, without) = BEHIND_VIEWS.iter().find(|(known, ..)| known == function)?;
    let alias = alias.clone().unwrap_or_else(|| ast::TableAlias {
        explicit: false,
        name: ast::Ident::new(*function),
        columns: Vec::new(),
        at: None,
    });
    Some((system_relations::find("pg_catalog", view)?, *without, alias))
}
