//! Functions in FROM that PostgreSQL's views of the system are made of: here they stand for the views.

use super::from::Bound;
use super::scope::Lockable;
use super::{Binder, name_parts};
use stoa_pg::PgResult;
use stoa_syntax::ast::{self, TableFactor};

impl Binder<'_> {
    /// An item of FROM.
    pub(super) fn bind_factor(&mut self, factor: &TableFactor) -> PgResult<Bound> {
        let (first_item, before) = (self.scope().items.len(), self.last_scan());
        let bound = match relation_behind(factor) {
            Some((name, alias)) => self.bind_table(&name, Some(&alias), None),
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

/// The functions that PostgreSQL's views of the system are made of: here they are the views.
const BEHIND_VIEWS: &[(&str, &str)] = &[
    ("pg_show_all_settings", "pg_settings"),
    ("pg_available_extensions", "pg_available_extensions"),
    ("pg_available_extension_versions", "pg_available_extension_versions"),
    ("pg_cursor", "pg_cursors"),
    ("pg_prepared_statement", "pg_prepared_statements"),
    ("pg_lock_status", "pg_locks"),
    ("pg_timezone_names", "pg_timezone_names"),
    ("pg_timezone_abbrevs", "pg_timezone_abbrevs"),
    ("pg_hba_file_rules", "pg_hba_file_rules"),
    ("pg_ident_file_mappings", "pg_ident_file_mappings"),
];

/// The relation that a call without arguments in FROM stands for, and what it is called.
fn relation_behind(factor: &TableFactor) -> Option<(ast::ObjectName, ast::TableAlias)> {
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
    let (function, view) = BEHIND_VIEWS.iter().find(|(known, _)| known == function)?;
    let alias = alias.clone().unwrap_or_else(|| ast::TableAlias {
        explicit: false,
        name: ast::Ident::new(*function),
        columns: Vec::new(),
        at: None,
    });
    Some((ast::ObjectName::from(vec![ast::Ident::new("pg_catalog"), ast::Ident::new(*view)]), alias))
}
