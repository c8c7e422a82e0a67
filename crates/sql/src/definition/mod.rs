//! The commands that would make an object again: `pg_get_constraintdef`, `pg_get_indexdef`, `pg_get_expr`, `pg_get_viewdef`.
//!
//! Reading order: this file → [`view_text`], [`view_shown`], [`view_relations`] (the text of a view) → [`written_time`] → [`updatable`] → [`script`], [`script_rights`]
//! (all of a database) → [`functions`] (what functions tell of objects) → [`privileges`] (and of who may do what with them).

pub mod functions;
pub mod policy;
pub mod privileges;
pub mod script;
pub mod script_rights;
pub mod updatable;
pub mod view_relations;
pub mod view_shown;
pub mod view_text;
pub mod written_time;

use crate::bind::collation::{of_descriptor, of_expr};
use crate::bind::scope::Clause;
use crate::bind::{BindContext, bind_stored_expr};
use crate::catalog::deparse::{Deparser, quote_name};
use crate::catalog::names::{class_name, primary_index, qualified, shown_relation};
use crate::typed::tree::{ColId, Expr, ExprKind};
use stoa_pg::collation::named;
use stoa_pg::{EvalContext, PgResult};
use stoa_syntax::ast;
use stoa_table::catalog::{
    CatalogSnapshot, ColumnId, ConstraintName, FULLTEXT_METHOD, ForeignKeyAction, IndexDescriptor, IndexKey, Oid, PUBLIC_OID, Relation,
    TableDescriptor,
};

/// Parameters of this beginning are about the table that PostgreSQL keeps long values in.
pub const TOAST: &str = "toast.";

/// Whether `pg_class.reloptions` of the table or index has a parameter.
#[must_use]
pub fn is_shown(parameter: &str) -> bool {
    !parameter.starts_with(TOAST)
}

/// What definitions are printed against.
pub struct Definitions<'a> {
    pub catalog: &'a CatalogSnapshot,
    pub path: &'a [Oid],
    pub eval: &'a EvalContext,
}

fn column_name(table: &TableDescriptor, id: ColumnId) -> String {
    table.column(id).map_or_else(|| "?".into(), |c| quote_name(&c.name))
}

fn column_list(table: &TableDescriptor, ids: &[ColumnId]) -> String {
    ids.iter().map(|id| column_name(table, *id)).collect::<Vec<_>>().join(", ")
}

/// A constraint of a table.
pub enum Constraint<'t> {
    PrimaryKey(&'t ConstraintName),
    Unique(&'t ConstraintName, &'t IndexDescriptor),
    Check(&'t stoa_table::catalog::CheckDescriptor),
    ForeignKey(&'t stoa_table::catalog::ForeignKeyDescriptor),
}

/// The constraint with an OID, and its table.
#[must_use]
pub fn constraint(catalog: &CatalogSnapshot, oid: Oid) -> Option<(&TableDescriptor, Constraint<'_>)> {
    if let Some(table) = catalog.table_of_key(oid)
        && let Some(key) = &table.primary_key
    {
        return Some((table, Constraint::PrimaryKey(key)));
    }
    catalog.relations().find_map(|relation| {
        let Relation::Table(table) = &**relation else { return None };
        if let Some(check) = table.checks.iter().find(|c| c.name.oid == oid) {
            return Some((table, Constraint::Check(check)));
        }
        if let Some(key) = table.foreign_keys.iter().find(|f| f.name.oid == oid) {
            return Some((table, Constraint::ForeignKey(key)));
        }
        let index = table.indexes.iter().find(|i| i.constraint.as_ref().is_some_and(|c| c.oid == oid))?;
        Some((table, Constraint::Unique(index.constraint.as_ref()?, index)))
    })
}

impl Definitions<'_> {
    /// A stored expression as it is shown now: names of relations as the path finds them, times as the session's settings print them.
    #[must_use]
    pub fn expr(&self, table: Option<&TableDescriptor>, text: &str, pretty: bool) -> String {
        let changes = ["'::regclass", "'::timestamp", "'::date", "'::interval"];
        if !pretty && !changes.iter().any(|ty| text.contains(ty)) {
            return text.to_owned();
        }
        self.print(table, text, pretty).unwrap_or_else(|_| text.to_owned())
    }

    fn print(&self, table: Option<&TableDescriptor>, text: &str, pretty: bool) -> PgResult<String> {
        let column = |id: ColId| table.map_or_else(|| "?".into(), |t| column_name(t, ColumnId(id.0)));
        let deparser = Deparser { eval: self.eval, column: &column, pretty, oids: false };
        // Those of an index are a list.
        if let Ok(ast::Expr::Tuple(list)) = stoa_syntax::parse_expression(&format!("({text})")) {
            let shown = list.iter().map(|syntax| deparser.expr(&self.bind_syntax(table, text, syntax)?));
            return Ok(shown.collect::<PgResult<Vec<_>>>()?.join(", "));
        }
        deparser.expr(&self.bind(table, text)?)
    }

    fn bind(&self, table: Option<&TableDescriptor>, text: &str) -> PgResult<Expr> {
        let syntax = stoa_syntax::parse_expression(text).map_err(crate::bind::syntax_error)?;
        self.bind_syntax(table, text, &syntax)
    }

    fn bind_syntax(&self, table: Option<&TableDescriptor>, text: &str, syntax: &ast::Expr) -> PgResult<Expr> {
        let context = BindContext { catalog: self.catalog, search_path: self.path, eval: self.eval, param_types: &[], text };
        bind_stored_expr(&context, table, Clause::Check, syntax, None)
    }

    /// What statements name when they mean a table: the materialized view whose rows it holds, or itself.
    fn named(&self, table: &TableDescriptor) -> Oid {
        self.catalog.view_of_rows(table.oid).map_or(table.oid, |view| view.oid)
    }

    fn relation(&self, oid: Oid) -> String {
        shown_relation(self.catalog, self.path, oid).unwrap_or_else(|| oid.to_string())
    }

    /// `pg_get_constraintdef`.
    #[must_use]
    pub fn constraint(&self, table: &TableDescriptor, constraint: &Constraint<'_>, pretty: bool) -> String {
        let deferral = |name: &ConstraintName| {
            let mut out = String::new();
            if name.deferrable {
                out.push_str(" DEFERRABLE");
            }
            if name.initially_deferred {
                out.push_str(" INITIALLY DEFERRED");
            }
            out
        };
        match constraint {
            Constraint::PrimaryKey(name) => {
                let key: Vec<ColumnId> = table.key_columns().map(|p| p.column).collect();
                format!("PRIMARY KEY ({}){}", column_list(table, &key), deferral(name))
            }
            Constraint::Unique(name, index) => {
                let key: Vec<ColumnId> = index
                    .parts
                    .iter()
                    .filter_map(|p| match p.key {
                        IndexKey::Column(id) => Some(id),
                        IndexKey::Expr(_) => None,
                    })
                    .collect();
                let mut out = String::from(if index.primary { "PRIMARY KEY " } else { "UNIQUE " });
                if index.nulls_not_distinct {
                    out.push_str("NULLS NOT DISTINCT ");
                }
                out.push_str(&format!("({})", column_list(table, &key)));
                if !index.include.is_empty() {
                    out.push_str(&format!(" INCLUDE ({})", column_list(table, &index.include)));
                }
                out + &deferral(name)
            }
            Constraint::Check(check) => {
                let inherit = if check.no_inherit { " NO INHERIT" } else { "" };
                let valid = if check.validated { "" } else { " NOT VALID" };
                format!("CHECK ({}){inherit}{valid}", self.expr(Some(table), &check.expr, pretty))
            }
            Constraint::ForeignKey(key) => {
                let target = self.catalog.table(key.referenced_table);
                let referenced = target.map_or_else(String::new, |t| column_list(t, &key.referenced_columns));
                let mut out = format!(
                    "FOREIGN KEY ({}) REFERENCES {}({referenced})",
                    column_list(table, &key.columns),
                    self.relation(key.referenced_table)
                );
                if key.match_full {
                    out.push_str(" MATCH FULL");
                }
                for (event, action) in [("UPDATE", key.on_update), ("DELETE", key.on_delete)] {
                    let word = match action {
                        ForeignKeyAction::NoAction => continue,
                        ForeignKeyAction::Restrict => "RESTRICT",
                        ForeignKeyAction::Cascade => "CASCADE",
                        ForeignKeyAction::SetNull => "SET NULL",
                        ForeignKeyAction::SetDefault => "SET DEFAULT",
                    };
                    out.push_str(&format!(" ON {event} {word}"));
                    if event == "DELETE" && !key.on_delete_columns.is_empty() {
                        out.push_str(&format!(" ({})", column_list(table, &key.on_delete_columns)));
                    }
                }
                out.push_str(&deferral(&key.name));
                if !target.is_some_and(|target| key.is_valid(target)) {
                    out.push_str(" NOT VALID");
                }
                out
            }
        }
    }

    /// `pg_get_indexdef`: of a secondary index, or (without one) of the primary key. `pretty` leaves out what the path tells, and adds to
    /// the primary key how the table's rows lie: it is what `\d` shows, and no definition that programs run.
    #[must_use]
    pub fn index(&self, table: &TableDescriptor, index: Option<&IndexDescriptor>, pretty: bool) -> String {
        let name = match index {
            Some(index) => index.name.clone(),
            None => table.primary_key.as_ref().map_or_else(String::new, |k| k.name.clone()),
        };
        let unique = if index.is_none_or(|i| i.unique) { "UNIQUE " } else { "" };
        let named = self.named(table);
        let relation =
            if pretty { self.relation(named) } else { qualified(self.catalog, named).unwrap_or_else(|| quote_name(&table.name)) };
        let count = index.map_or_else(|| table.key_columns().count(), |i| i.parts.len());
        let parts: Vec<String> = match index {
            None if pretty => script::key_parts(table),
            _ => (0..count).filter_map(|n| self.index_column(table, index, n, true, pretty)).collect(),
        };
        let method = index.map_or("btree", |i| i.method.as_str());
        let mut out = format!("CREATE {unique}INDEX {} ON {relation} USING {method} ({})", quote_name(&name), parts.join(", "));
        if let Some(index) = index {
            if !index.include.is_empty() {
                out.push_str(&format!(" INCLUDE ({})", column_list(table, &index.include)));
            }
            if index.nulls_not_distinct {
                out.push_str(" NULLS NOT DISTINCT");
            }
            let salt = index.salt_buckets.map(|n| ("salt_buckets".to_owned(), n.to_string()));
            // Full text has options of its own, which are texts.
            let word = |value: &str| index.method != FULLTEXT_METHOD && quote_name(value) == value;
            let shown = |(name, value): &(String, String)| match word(value) {
                true => format!("{name}={value}"),
                false => format!("{name}='{value}'"),
            };
            let options: Vec<String> = index.options.iter().chain(&salt).map(shown).collect();
            if !options.is_empty() {
                out.push_str(&format!(" WITH ({})", options.join(", ")));
            }
            if let Some(predicate) = &index.predicate {
                out.push_str(&format!(" WHERE {}", self.expr(Some(table), predicate, pretty)));
            }
        } else if pretty {
            out.push_str(&script::layout(table).unwrap_or_default());
            out.push_str(&self.rules_of_time(table, pretty));
        }
        out
    }

    /// Which rows are newer, and when they end.
    fn rules_of_time(&self, table: &TableDescriptor, pretty: bool) -> String {
        let mut out = String::new();
        if let Some(id) = table.timestamp {
            out.push_str(&format!(" TIMESTAMP FROM {}", column_name(table, id)));
        }
        if let Some(text) = &table.expires {
            out.push_str(&format!(" TTL EXPIRES AT {}", self.expr(Some(table), text, pretty)));
        }
        out
    }

    /// The `n`-th column of an index, from 0; with its order if asked for. Included columns follow the key.
    #[must_use]
    pub fn index_column(
        &self,
        table: &TableDescriptor,
        index: Option<&IndexDescriptor>,
        n: usize,
        order: bool,
        pretty: bool,
    ) -> Option<String> {
        let Some(index) = index else {
            let part = table.key_columns().nth(n)?;
            let direction = if part.descending && order { " DESC" } else { "" };
            return Some(format!("{}{direction}", column_name(table, part.column)));
        };
        let Some(part) = index.parts.get(n) else {
            return index.include.get(n - index.parts.len()).map(|id| column_name(table, *id));
        };
        let mut own = 0;
        let mut out = match &part.key {
            IndexKey::Column(id) => {
                own = table.column(*id).map_or(0, of_descriptor);
                column_name(table, *id)
            }
            IndexKey::Expr(text) => {
                if part.collation.is_some() {
                    own = self.bind(Some(table), text).map_or(0, |bound| of_expr(table, &bound));
                }
                let shown = self.expr(Some(table), text, pretty);
                let call = stoa_syntax::parse_expression(text).is_ok_and(|e| matches!(e, ast::Expr::Function(_)))
                    || self.bind(Some(table), text).is_ok_and(|e| matches!(e.kind, ExprKind::Func { .. }));
                if call && !shown.starts_with('(') { shown } else { format!("({shown})") }
            }
        };
        if order {
            if let Some(said) = part.collation.as_ref().filter(|said| named(said).is_some_and(|named| named.oid != own)) {
                out.push_str(&format!(" COLLATE {}", quote_name(said)));
            }
            if let Some(class) = &part.class {
                out.push(' ');
                out.push_str(class);
            }
            match (part.descending, part.nulls_first) {
                (false, false) => {}
                (false, true) => out.push_str(" NULLS FIRST"),
                (true, true) => out.push_str(" DESC"),
                (true, false) => out.push_str(" DESC NULLS LAST"),
            }
        }
        Some(out)
    }

    /// `pg_get_viewdef`; `None` if the OID is no view's. `pretty` leaves out parentheses.
    ///
    /// # Errors
    /// XX000 if the stored text cannot be read.
    pub fn view(&self, oid: Oid, pretty: bool) -> PgResult<Option<String>> {
        match self.catalog.relation(oid).map(|r| &**r) {
            Some(Relation::View(view)) => view_shown::definition(self.catalog, self.path, view, pretty).map(Some),
            _ => Ok(None),
        }
    }
}

/// `pg_indexes.indexdef`: of an index, or (without one) of the table's primary key.
#[must_use]
pub fn index_definition(catalog: &CatalogSnapshot, table: &TableDescriptor, index: Option<&IndexDescriptor>) -> String {
    let eval = EvalContext::default();
    Definitions { catalog, path: &[PUBLIC_OID], eval: &eval }.index(table, index, false)
}

/// What PostgreSQL calls an object: `pg_describe_object` for relations and their columns.
#[must_use]
pub fn describe(catalog: &CatalogSnapshot, path: &[Oid], oid: Oid, column: i32) -> Option<String> {
    let shown = shown_relation(catalog, path, oid)?;
    let kind = match catalog.relation(oid).map(|r| &**r) {
        Some(Relation::Table(_)) => "table",
        Some(Relation::View(v)) if v.materialized.is_some() => "materialized view",
        Some(Relation::View(_)) => "view",
        Some(Relation::Sequence(_)) => "sequence",
        None if catalog.index(oid).is_some() || primary_index(catalog, oid).is_some() => "index",
        None => {
            class_name(catalog, oid)?;
            "table"
        }
    };
    if column > 0
        && let Some(table) = catalog.table(oid)
    {
        let id = ColumnId(u32::try_from(column).ok()?);
        return Some(format!("column {} of {kind} {shown}", column_name(table, id)));
    }
    Some(format!("{kind} {shown}"))
}
