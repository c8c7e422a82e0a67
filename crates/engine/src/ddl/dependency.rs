//! What depends on what, and what goes when something is dropped.
//!
//! Invariant: nothing is dropped that something else still names, unless that goes too (CASCADE).

use super::work::Work;
use std::collections::{BTreeMap, BTreeSet};
use stoa_pg::{PgError, PgResult, SqlState};
use stoa_sql::catalog::deparse::quote_name;
use stoa_table::catalog::{CatalogSnapshot, ColumnId, Oid, Relation, TableDescriptor};

/// Something that is dropped.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Object {
    Schema(Oid),
    Relation(Oid),
    Column(Oid, ColumnId),
    /// A constraint of a table, by its OID.
    Constraint(Oid, Oid),
    Index(Oid, Oid),
    Default(Oid, ColumnId),
    /// A policy of a table, by its OID.
    Policy(Oid, Oid),
}

/// Decides what is dropped along.
pub(crate) struct Dropping<'a> {
    work: Work<'a>,
    catalog: std::sync::Arc<CatalogSnapshot>,
    named: Vec<Object>,
    /// In the order in which they were found.
    order: Vec<Object>,
    seen: BTreeSet<Object>,
    /// Things that go without a word: parts of what was named.
    internal: BTreeSet<Object>,
    /// What depends on what, in words, for those that were not named.
    reported: Vec<(Object, Object)>,
    /// Whether tables that go cannot come back.
    for_good: bool,
}

/// Whether there still is something that a statement named.
fn exists(catalog: &CatalogSnapshot, object: &Object) -> bool {
    match object {
        Object::Schema(oid) => catalog.schema(*oid).is_some(),
        Object::Relation(oid) => catalog.relation(*oid).is_some(),
        Object::Column(table, column) | Object::Default(table, column) => {
            catalog.table(*table).is_some_and(|t| t.column(*column).is_some())
        }
        Object::Constraint(table, constraint) => catalog.table(*table).is_some_and(|t| constraint_name(t, *constraint).is_some()),
        Object::Index(_, index) => catalog.index(*index).is_some(),
        Object::Policy(table, policy) => catalog.table(*table).is_some_and(|t| policy_name(t, *policy).is_some()),
    }
}

impl<'a> Dropping<'a> {
    pub fn new(work: Work<'a>) -> Self {
        Self {
            work,
            catalog: work.catalog(),
            named: Vec::new(),
            order: Vec::new(),
            seen: BTreeSet::new(),
            internal: BTreeSet::new(),
            reported: Vec::new(),
            for_good: false,
        }
    }

    /// Tables that go cannot come back.
    pub fn for_good(work: Work<'a>) -> Self {
        Self { for_good: true, ..Self::new(work) }
    }

    /// Something that the statement names.
    pub fn name(&mut self, object: Object) {
        if self.seen.insert(object.clone()) {
            self.order.push(object.clone());
            self.named.push(object.clone());
        }
        self.internal.insert(object);
    }

    /// Follows the dependencies of everything named, and locks what goes and what changes: as it is behind the locks, whatever was
    /// committed while they were waited for.
    ///
    /// # Errors
    /// 55P03, 40P01; 55006; 42P01 and 42704 for what another session has dropped meanwhile.
    pub async fn settle(&mut self) -> PgResult<()> {
        loop {
            self.follow();
            let mut tables: BTreeSet<Oid> = BTreeSet::new();
            for object in &self.order {
                match object {
                    Object::Relation(oid) => {
                        if let Some(relation) = self.catalog.relation(*oid) {
                            self.work.lock(relation, stoa_table::txn::TableLockMode::AccessExclusive).await?;
                            if let Relation::Table(table) = &**relation {
                                self.work.check_unused(table, "DROP TABLE")?;
                            }
                        }
                    }
                    Object::Schema(_) => {}
                    Object::Column(table, _)
                    | Object::Constraint(table, _)
                    | Object::Index(table, _)
                    | Object::Default(table, _)
                    | Object::Policy(table, _) => {
                        tables.insert(*table);
                    }
                }
            }
            for table in tables.iter().filter_map(|oid| self.catalog.table(*oid)) {
                self.work.lock_table(table).await?;
            }
            self.work.refresh().await?;
            let now = self.work.catalog();
            if std::sync::Arc::ptr_eq(&now, &self.catalog) {
                return Ok(());
            }
            let mut again = Self { for_good: self.for_good, ..Self::new(self.work) };
            for object in std::mem::take(&mut self.named) {
                if !exists(&now, &object) {
                    let code = if matches!(object, Object::Relation(_)) { SqlState::UNDEFINED_TABLE } else { SqlState::UNDEFINED_OBJECT };
                    let words = self.describe(&object);
                    let (kind, name) = match words.strip_prefix("materialized view ") {
                        Some(name) => ("materialized view", name),
                        None => words.split_once(' ').unwrap_or(("object", &words)),
                    };
                    return Err(PgError::new(code, format!("{kind} \"{name}\" does not exist")));
                }
                again.name(object);
            }
            *self = again;
        }
    }

    /// Follows the dependencies of everything named.
    pub fn follow(&mut self) {
        let mut at = 0;
        while let Some(object) = self.order.get(at).cloned() {
            at += 1;
            self.dependents(&object);
        }
        // Who was named is not reported, in whatever order.
        let named = self.internal.clone();
        self.reported.retain(|(dependent, _)| !named.contains(dependent));
    }

    fn depends(&mut self, dependent: Object, on: &Object) {
        if self.seen.insert(dependent.clone()) {
            self.order.push(dependent.clone());
            self.reported.push((dependent, on.clone()));
        }
    }

    fn part(&mut self, part: Object) {
        self.internal.insert(part.clone());
        if self.seen.insert(part.clone()) {
            self.order.push(part);
        }
    }

    /// What a table's columns own, or one of them: sequences, and entries of maps.
    fn parts_of(&mut self, catalog: &CatalogSnapshot, table: Oid, column: Option<ColumnId>) {
        owned(catalog, table, column).into_iter().for_each(|sequence| self.part(Object::Relation(sequence)));
        super::map::entries_of(catalog, table, column).into_iter().for_each(|entries| self.part(Object::Relation(entries)));
    }

    fn dependents(&mut self, object: &Object) {
        let catalog = std::sync::Arc::clone(&self.catalog);
        match object {
            Object::Schema(schema) => {
                for relation in sorted(&catalog).into_iter().filter(|r| r.schema() == *schema) {
                    if is_hidden(relation.name()) || goes_with_a_column(&catalog, &relation) {
                        continue;
                    }
                    self.depends(Object::Relation(relation.oid()), object);
                }
            }
            Object::Relation(oid) => {
                match catalog.relation(*oid).map(|r| (**r).clone()) {
                    Some(Relation::Table(table)) => {
                        self.parts_of(&catalog, table.oid, None);
                        self.references(&catalog, &table, None, object);
                    }
                    Some(Relation::View(view)) => {
                        if let Some(storage) = view.materialized {
                            self.part(Object::Relation(storage));
                        }
                    }
                    Some(Relation::Sequence(sequence)) => {
                        let marks = default_marks(&catalog, &sequence);
                        for relation in sorted(&catalog) {
                            if let Relation::View(view) = &*relation
                                && !self.seen.contains(&Object::Relation(view.oid))
                            {
                                for (at, column) in (1..).zip(&view.columns) {
                                    if column.default.as_ref().is_some_and(|d| marks.iter().any(|m| d.contains(m))) {
                                        self.depends(Object::Default(view.oid, ColumnId(at)), object);
                                    }
                                }
                            }
                            let Relation::Table(table) = &*relation else { continue };
                            for column in table.live_columns() {
                                let uses = column.default.as_ref().is_some_and(|d| marks.iter().any(|m| d.contains(m)));
                                if uses
                                    && !self.seen.contains(&Object::Relation(table.oid))
                                    && !self.seen.contains(&Object::Column(table.oid, column.id))
                                {
                                    self.depends(Object::Default(table.oid, column.id), object);
                                }
                            }
                        }
                    }
                    None => {}
                }
                self.views(&catalog, *oid, None, object);
            }
            Object::Column(table_oid, column) => {
                let Some(table) = catalog.table(*table_oid).cloned() else { return };
                self.parts_of(&catalog, table.oid, Some(*column));
                // References are to the columns themselves, and to their index.
                for relation in sorted(&catalog) {
                    let Relation::Table(other) = &*relation else { continue };
                    for key in other.foreign_keys.iter().filter(|k| k.referenced_table == table.oid) {
                        let own = other.oid == table.oid && key.columns.contains(column);
                        if key.referenced_columns.contains(column) && !own && !self.seen.contains(&Object::Relation(other.oid)) {
                            self.depends(Object::Constraint(other.oid, key.name.oid), object);
                        }
                    }
                }
                for index in &table.indexes {
                    if index_uses(self.work, &table, index, *column) {
                        match &index.constraint {
                            Some(constraint) => {
                                let constraint = Object::Constraint(table.oid, constraint.oid);
                                self.part(constraint);
                            }
                            None => self.part(Object::Index(table.oid, index.oid)),
                        }
                    }
                }
                if table.primary_key.is_some()
                    && table.is_key(*column)
                    && let Some(key) = &table.primary_key
                {
                    self.part(Object::Constraint(table.oid, key.oid));
                }
                for check in &table.checks {
                    if check.columns.contains(column) {
                        if check.columns.len() == 1 {
                            self.part(Object::Constraint(table.oid, check.name.oid));
                        } else {
                            // PostgreSQL drops the checks of a table that use a dropped column without CASCADE.
                            self.part(Object::Constraint(table.oid, check.name.oid));
                        }
                    }
                }
                for key in &table.foreign_keys {
                    if key.columns.contains(column) {
                        self.part(Object::Constraint(table.oid, key.name.oid));
                    }
                }
                for other in table.live_columns().filter(|c| c.id != *column) {
                    if let Some(text) = &other.generated
                        && self.work.read_stored(&table, text).is_ok_and(|e| super::builder::columns_of(&e).contains(column))
                    {
                        self.depends(Object::Column(table.oid, other.id), object);
                    }
                }
                self.views(&catalog, table.oid, Some(*column), object);
            }
            Object::Constraint(table_oid, constraint) => {
                let Some(table) = catalog.table(*table_oid).cloned() else { return };
                let columns = key_columns(&table, *constraint);
                if let Some(columns) = columns {
                    self.references(&catalog, &table, Some(&columns), object);
                }
            }
            Object::Index(table_oid, index) => {
                let Some(table) = catalog.table(*table_oid).cloned() else { return };
                if let Some(columns) = key_columns(&table, *index) {
                    self.references(&catalog, &table, Some(&columns), object);
                }
            }
            Object::Default(..) | Object::Policy(..) => {}
        }
    }

    /// Foreign keys that refer to a table, or to one of its keys.
    fn references(&mut self, catalog: &CatalogSnapshot, table: &TableDescriptor, key: Option<&[ColumnId]>, object: &Object) {
        for relation in sorted(catalog) {
            let Relation::Table(other) = &*relation else { continue };
            if other.oid == table.oid && key.is_none() {
                continue;
            }
            for foreign in &other.foreign_keys {
                if foreign.referenced_table != table.oid {
                    continue;
                }
                if let Some(key) = key {
                    let same = key.len() == foreign.referenced_columns.len() && foreign.referenced_columns.iter().all(|c| key.contains(c));
                    if !same {
                        continue;
                    }
                    // Another key may serve the reference as well.
                    let mut without = table.clone();
                    if let Object::Constraint(_, oid) | Object::Index(_, oid) = object {
                        without.indexes.retain(|i| i.oid != *oid && i.constraint.as_ref().is_none_or(|c| c.oid != *oid));
                        if without.primary_key.as_ref().is_some_and(|k| k.oid == *oid) {
                            without.primary_key = None;
                        }
                    }
                    if super::foreign_key::unique_over(&without, &foreign.referenced_columns).is_some() {
                        continue;
                    }
                }
                if self.seen.contains(&Object::Relation(other.oid)) {
                    continue;
                }
                self.depends(Object::Constraint(other.oid, foreign.name.oid), object);
            }
        }
    }

    /// Views of a relation, and foreign tables of its cells.
    fn views(&mut self, catalog: &CatalogSnapshot, relation: Oid, column: Option<ColumnId>, object: &Object) {
        for mapped in super::raw::mapped_by(catalog, relation) {
            self.depends(Object::Relation(mapped.oid()), object);
        }
        for other in sorted(catalog) {
            let Relation::View(view) = &*other else { continue };
            let uses = view.depends_on.iter().any(|d| d.relation == relation && column.is_none_or(|c| d.columns.contains(&c)));
            if uses {
                self.depends(Object::Relation(view.oid), object);
            }
        }
        // A table's policies go with it.
        for other in sorted(catalog) {
            let Relation::Table(table) = &*other else { continue };
            if self.seen.contains(&Object::Relation(table.oid)) {
                continue;
            }
            for policy in &table.row_security.policies {
                let mut depends_on = policy.conditions().flat_map(|condition| &condition.depends_on);
                if depends_on.any(|d| d.relation == relation && column.is_none_or(|c| d.columns.contains(&c))) {
                    self.depends(Object::Policy(table.oid, policy.oid), object);
                }
            }
        }
    }

    /// Whether an object goes.
    pub fn contains(&self, object: &Object) -> bool {
        self.seen.contains(object)
    }

    /// 2BP01 if something that was not named would go and CASCADE was not said; otherwise the notices. `single` is the object named,
    /// in words, when there is one.
    pub fn check(&self, cascade: bool, single: Option<String>) -> PgResult<()> {
        for object in &self.order {
            if let Object::Column(table, column) = object
                && !self.contains(&Object::Relation(*table))
                && let Some(table) = self.catalog.table(*table)
            {
                super::expiry::refuse_change(self.work, table, *column, "drop")?;
            }
        }
        if self.reported.is_empty() {
            return Ok(());
        }
        if cascade {
            if let [(dependent, _)] = self.reported.as_slice() {
                self.work.notice(SqlState::SUCCESSFUL_COMPLETION, format!("drop cascades to {}", self.describe(dependent)));
            } else {
                let lines: Vec<String> = self.reported.iter().map(|(d, _)| format!("drop cascades to {}", self.describe(d))).collect();
                let error =
                    PgError::new(SqlState::SUCCESSFUL_COMPLETION, format!("drop cascades to {} other objects", self.reported.len()))
                        .detail(lines.join("\n"));
                self.work.ctx.session.notice("NOTICE", error);
            }
            return Ok(());
        }
        let lines: Vec<String> =
            self.reported.iter().map(|(d, on)| format!("{} depends on {}", self.describe(d), self.described_below(on))).collect();
        let message = match single {
            Some(what) => format!("cannot drop {what} because other objects depend on it"),
            None => "cannot drop desired object(s) because other objects depend on them".to_owned(),
        };
        Err(PgError::new(SqlState::DEPENDENT_OBJECTS_STILL_EXIST, message)
            .detail(lines.join("\n"))
            .hint("Use DROP ... CASCADE to drop the dependent objects too."))
    }

    /// An object in PostgreSQL's words.
    pub fn describe(&self, object: &Object) -> String {
        let catalog = &self.catalog;
        let relation = |oid: &Oid| self.relation_name(*oid);
        match object {
            Object::Schema(oid) => format!("schema {}", catalog.schema(*oid).map_or_else(String::new, |s| quote_name(&s.name))),
            Object::Relation(oid) => {
                let kind = match catalog.relation(*oid).map(|r| (**r).clone()) {
                    Some(Relation::View(v)) if v.materialized.is_some() => "materialized view",
                    Some(Relation::View(_)) => "view",
                    Some(Relation::Sequence(_)) => "sequence",
                    _ => "table",
                };
                format!("{kind} {}", relation(oid))
            }
            Object::Column(table, column) => {
                let name = catalog.table(*table).and_then(|t| t.column(*column)).map_or_else(String::new, |c| quote_name(&c.name));
                format!("column {name} of table {}", relation(table))
            }
            Object::Default(oid, column) if catalog.table(*oid).is_none() => {
                let name = match catalog.relation(*oid).map(|r| &**r) {
                    Some(Relation::View(view)) => view.columns.get(column.0.saturating_sub(1) as usize).map(|c| quote_name(&c.name)),
                    _ => None,
                };
                format!("default value for column {} of view {}", name.unwrap_or_default(), relation(oid))
            }
            Object::Default(table, column) => {
                let name = catalog.table(*table).and_then(|t| t.column(*column)).map_or_else(String::new, |c| quote_name(&c.name));
                format!("default value for column {name} of table {}", relation(table))
            }
            Object::Constraint(table, constraint) => {
                let name = catalog.table(*table).and_then(|t| constraint_name(t, *constraint)).unwrap_or_default();
                format!("constraint {name} on table {}", relation(table))
            }
            Object::Index(_, index) => {
                let name = catalog.index(*index).map_or_else(String::new, |(_, i)| quote_name(&i.name));
                format!("index {name}")
            }
            Object::Policy(table, policy) => {
                let name = catalog.table(*table).and_then(|t| policy_name(t, *policy)).unwrap_or_default();
                format!("policy {} on table {}", quote_name(&name), relation(table))
            }
        }
    }

    /// What something else depends on: of a key it is the index.
    fn described_below(&self, object: &Object) -> String {
        if let Object::Constraint(table, oid) = object
            && let Some(table) = self.catalog.table(*table)
            && (table.primary_key.as_ref().is_some_and(|k| k.oid == *oid)
                || table.indexes.iter().any(|i| i.constraint.as_ref().is_some_and(|c| c.oid == *oid)))
        {
            return format!("index {}", quote_name(&constraint_name(table, *oid).unwrap_or_default()));
        }
        self.describe(object)
    }

    /// Qualified where the search path does not find it.
    fn relation_name(&self, oid: Oid) -> String {
        stoa_sql::catalog::names::shown_relation(&self.catalog, &self.work.path(), oid).unwrap_or_default()
    }

    /// Carries it out. What others might change meanwhile is locked: see [`Dropping::settle`].
    pub async fn execute(&self) -> PgResult<()> {
        let work = self.work;
        let gone = self.order.iter().filter_map(|object| match object {
            Object::Relation(oid) => self.catalog.table(*oid),
            _ => None,
        });
        let kept = if self.for_good { BTreeSet::new() } else { super::undrop::keep(work, &self.catalog, gone)? };
        // Relations first: parts of tables that go are not changed any more.
        let mut changed: BTreeMap<Oid, TableDescriptor> = BTreeMap::new();
        for object in &self.order {
            match object {
                Object::Relation(oid) => {
                    if let Some(relation) = self.catalog.relation(*oid) {
                        if !kept.contains(oid) {
                            work.drop_storage_of(relation)?;
                        }
                        work.remove(*oid)?;
                    }
                }
                Object::Schema(_) => {}
                Object::Default(oid, column) if self.catalog.table(*oid).is_none() => {
                    if let Some(Relation::View(mut view)) = work.catalog().relation(*oid).map(|r| (**r).clone())
                        && let Some(column) = view.columns.get_mut(column.0.saturating_sub(1) as usize)
                    {
                        column.default = None;
                        work.put(Relation::View(view))?;
                    }
                }
                Object::Column(table, _)
                | Object::Constraint(table, _)
                | Object::Index(table, _)
                | Object::Default(table, _)
                | Object::Policy(table, _) => {
                    if !self.contains(&Object::Relation(*table))
                        && let Some(descriptor) = work.catalog().table(*table).cloned()
                    {
                        changed.entry(*table).or_insert(descriptor);
                    }
                }
            }
        }
        for (oid, old) in changed {
            let mut table = old.clone();
            let mut unkeyed = false;
            for object in &self.order {
                match object {
                    Object::Column(t, column) if *t == oid => remove_column(&mut table, *column),
                    Object::Policy(t, policy) if *t == oid => table.row_security.policies.retain(|p| p.oid != *policy),
                    Object::Default(t, column) if *t == oid => {
                        if let Some(column) = table.columns.iter_mut().find(|c| c.id == *column) {
                            column.default = None;
                        }
                    }
                    Object::Constraint(t, constraint) if *t == oid => {
                        unkeyed |= table.primary_key.as_ref().is_some_and(|k| k.oid == *constraint);
                        for index in table.indexes.iter().filter(|i| i.constraint.as_ref().is_some_and(|c| c.oid == *constraint)) {
                            work.drop_storage(index.storage);
                        }
                        remove_constraint(&mut table, *constraint);
                    }
                    Object::Index(t, index) if *t == oid => {
                        for index in table.indexes.iter().filter(|i| i.oid == *index) {
                            work.drop_storage(index.storage);
                        }
                        table.indexes.retain(|i| i.oid != *index);
                    }
                    _ => {}
                }
            }
            if unkeyed {
                table = super::alter::without_key(work, &old, table).await?;
            }
            work.put(Relation::Table(table))?;
        }
        for object in &self.order {
            if let Object::Schema(oid) = object {
                work.remove_schema(*oid)?;
            }
        }
        Ok(())
    }
}

/// Relations in the order of their OIDs.
fn sorted(catalog: &CatalogSnapshot) -> Vec<std::sync::Arc<Relation>> {
    let mut out: Vec<_> = catalog.relations().cloned().collect();
    out.sort_by_key(|r| r.oid());
    out
}

/// Whether a relation goes with a column of its schema that owns it.
fn goes_with_a_column(catalog: &CatalogSnapshot, relation: &Relation) -> bool {
    let owner = match relation {
        Relation::Table(table) => table.entries_of,
        Relation::Sequence(sequence) => sequence.owned_by,
        Relation::View(_) => None,
    };
    owner.is_some_and(|(table, _)| catalog.relation(table).is_some_and(|table| table.schema() == relation.schema()))
}

/// Tables that hold the rows of materialized views.
pub(crate) fn is_hidden(name: &str) -> bool {
    name.starts_with(stoa_table::catalog::STORAGE_PREFIX)
}

/// The sequences that a table's columns, or one of them, own.
pub(crate) fn owned(catalog: &CatalogSnapshot, table: Oid, column: Option<ColumnId>) -> Vec<Oid> {
    sorted(catalog)
        .iter()
        .filter_map(|r| match &**r {
            Relation::Sequence(s) => s.owned_by.filter(|(t, c)| *t == table && column.is_none_or(|wanted| *c == wanted)).map(|_| s.oid),
            _ => None,
        })
        .collect()
}

fn default_marks(_: &CatalogSnapshot, sequence: &stoa_table::catalog::SequenceDescriptor) -> [String; 1] {
    [format!("'{}'::regclass", sequence.oid)]
}

fn index_uses(work: Work<'_>, table: &TableDescriptor, index: &stoa_table::catalog::IndexDescriptor, column: ColumnId) -> bool {
    let in_text = |text: &str| work.read_stored(table, text).is_ok_and(|e| super::builder::columns_of(&e).contains(&column));
    index.include.contains(&column)
        || index.predicate.as_ref().is_some_and(|p| in_text(p))
        || index.parts.iter().any(|p| match &p.key {
            stoa_table::catalog::IndexKey::Column(id) => *id == column,
            stoa_table::catalog::IndexKey::Expr(text) => in_text(text),
        })
}

/// The columns of a key that others may refer to, by the OID of its constraint or index.
fn key_columns(table: &TableDescriptor, oid: Oid) -> Option<Vec<ColumnId>> {
    if table.primary_key.as_ref().is_some_and(|k| k.oid == oid) {
        return Some(table.key_columns().map(|p| p.column).collect());
    }
    let index = table.indexes.iter().find(|i| i.oid == oid || i.constraint.as_ref().is_some_and(|c| c.oid == oid))?;
    index
        .parts
        .iter()
        .map(|p| match &p.key {
            stoa_table::catalog::IndexKey::Column(id) => Some(*id),
            stoa_table::catalog::IndexKey::Expr(_) => None,
        })
        .collect()
}

fn policy_name(table: &TableDescriptor, oid: Oid) -> Option<String> {
    table.row_security.policies.iter().find(|policy| policy.oid == oid).map(|policy| policy.name.clone())
}

/// The name of a table's constraint by OID.
pub(crate) fn constraint_name(table: &TableDescriptor, oid: Oid) -> Option<String> {
    table
        .primary_key
        .iter()
        .chain(table.checks.iter().map(|c| &c.name))
        .chain(table.foreign_keys.iter().map(|f| &f.name))
        .chain(table.indexes.iter().filter_map(|i| i.constraint.as_ref()))
        .find(|c| c.oid == oid)
        .map(|c| c.name.clone())
}

/// The OID of a table's constraint by name.
pub(crate) fn constraint_oid(table: &TableDescriptor, name: &str) -> Option<Oid> {
    table
        .primary_key
        .iter()
        .chain(table.checks.iter().map(|c| &c.name))
        .chain(table.foreign_keys.iter().map(|f| &f.name))
        .chain(table.indexes.iter().filter_map(|i| i.constraint.as_ref()))
        .find(|c| c.name == name)
        .map(|c| c.oid)
}

fn remove_constraint(table: &mut TableDescriptor, oid: Oid) {
    if table.primary_key.as_ref().is_some_and(|k| k.oid == oid) {
        table.primary_key = None;
    }
    table.checks.retain(|c| c.name.oid != oid);
    table.foreign_keys.retain(|f| f.name.oid != oid);
    table.indexes.retain(|i| i.constraint.as_ref().is_none_or(|c| c.oid != oid));
}

fn remove_column(table: &mut TableDescriptor, id: ColumnId) {
    if let Some(column) = table.columns.iter_mut().find(|c| c.id == id) {
        column.dropped = true;
        column.name = format!("........pg.dropped.{}........", id.0);
        column.default = None;
        column.missing = None;
        column.generated = None;
        column.identity = None;
        column.comment = None;
        column.not_null = false;
        column.entries = None;
    }
    for family in &mut table.families {
        family.columns.retain(|c| *c != id);
    }
}
