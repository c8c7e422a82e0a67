//! The statements that make a database's objects again, for `stoa dump`: in an order in which psql can run them.
//!
//! Names are always qualified, so that no search path matters. Rows go between [`DumpScript::before`] and [`DumpScript::after`]:
//! indexes, foreign keys and materialized views are faster made of rows that are there, and need not be told of their order.

use super::{Constraint, Definitions};
use crate::catalog::deparse::{quote_name, quote_text};
use crate::catalog::names::qualified;
use crate::fulltext::settings::words_by;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use stoa_pg::{EvalContext, PgError, PgResult, SqlState, SqlType};
use stoa_table::access::explain;
use stoa_table::catalog::store::built_in_schemas;
use stoa_table::catalog::{
    CELLS, CatalogSnapshot, ColumnDescriptor, ColumnId, ConstraintName, FIRST_USER_OID, FamilyDescriptor, KeyPart, Mapping, Oid,
    PG_CATALOG_OID, PUBLIC_OID, Relation, ReplicaIdentity, SchemaDescriptor, SequenceDescriptor, TableDescriptor, ViewDescriptor,
};
use stoa_table::raw::{SNAPSHOTS, snapshot_of};
use stoa_table::row::KeyCodec;
use stoa_table::row::split_points::{Alphabet, in_buckets, uniform};
use stoa_table::row::table::plain_columns;
use stoa_table::{BloomFilter, Compression, FamilyOptions, Layout};

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct DumpScript {
    /// Schemas, sequences, tables.
    pub before: Vec<String>,
    pub tables: Vec<DumpTable>,
    /// Values of sequences, indexes, constraints, views and contents of materialized ones, comments, owners, privileges.
    pub after: Vec<String>,
}

/// The rows of one table.
#[derive(Clone, Debug)]
pub struct DumpTable {
    /// `COPY name (columns)`, without TO or FROM.
    pub copy: String,
}

/// The script of everything that is not temporary, as a transaction sees it.
///
/// # Errors
/// XX000 for a stored text that cannot be read; what reading sequences raises.
pub async fn dump_script(catalog: &CatalogSnapshot, eval: &EvalContext) -> PgResult<DumpScript> {
    let writer = Writer { catalog, definitions: Definitions { catalog, path: &NO_PATH, eval }, schemas: schemas(catalog) };
    writer.script().await
}

/// The statements that make a table or a view again: with families, salt, split points and indexes, the sequences and the maps of its
/// columns, row security and comments; without owners and privileges. `None` for what is neither.
///
/// # Errors
/// XX000 for a stored text that cannot be read.
pub fn relation_definition(catalog: &CatalogSnapshot, eval: &EvalContext, relation: &Relation) -> PgResult<Option<String>> {
    let writer = Writer { catalog, definitions: Definitions { catalog, path: &NO_PATH, eval }, schemas: Vec::new() };
    let mut out = Vec::new();
    match relation {
        Relation::Table(table) => writer.table_alone(table, &mut out)?,
        Relation::View(view) => {
            out.push(writer.view(view, false)?);
            writer.contents(view, &mut out)?;
            writer.comments(&[], &[view], &[], &mut out)?;
        }
        _ => return Ok(None),
    }
    Ok(Some(out.join("\n")))
}

/// Where names are looked up that are to be qualified.
pub const NO_PATH: [Oid; 1] = [PG_CATALOG_OID];

/// Schemas of users, `public` included, by name.
fn schemas(catalog: &CatalogSnapshot) -> Vec<Arc<SchemaDescriptor>> {
    let mut out: Vec<_> =
        catalog.schemas().filter(|s| s.temporary.is_none() && (s.oid >= FIRST_USER_OID || s.oid == PUBLIC_OID)).cloned().collect();
    out.sort_by(|a, b| a.name.cmp(&b.name));
    out
}

struct Writer<'a> {
    catalog: &'a CatalogSnapshot,
    definitions: Definitions<'a>,
    schemas: Vec<Arc<SchemaDescriptor>>,
}

impl Writer<'_> {
    async fn script(&self) -> PgResult<DumpScript> {
        let mut relations: Vec<Arc<Relation>> =
            self.catalog.relations().filter(|r| self.schemas.iter().any(|s| s.oid == r.schema())).cloned().collect();
        // A snapshot without its cells would be one of an empty table.
        let of_snapshots = self.schemas.iter().find(|s| s.name == SNAPSHOTS).map(|s| s.oid);
        let is_snapshot = |table: &TableDescriptor| of_snapshots == Some(table.schema) && snapshot_of(table).is_some();
        relations.retain(|r| !matches!(&**r, Relation::Table(table) if is_snapshot(table)));
        relations.sort_by_key(|r| r.oid());
        let (mut tables, mut views, mut sequences) = (Vec::new(), Vec::new(), Vec::new());
        let mut hidden = HashSet::new();
        for relation in &relations {
            match &**relation {
                Relation::Table(table) if !table.temporary => tables.push(table),
                Relation::Sequence(sequence) if !sequence.temporary => sequences.push(sequence),
                Relation::View(view) => {
                    // The table that holds a materialized view's rows is made with it.
                    hidden.extend(view.materialized);
                    views.push(view);
                }
                _ => {}
            }
        }
        // And the tables of entries with their columns.
        let entries: Vec<&TableDescriptor> = tables.iter().copied().filter(|t| t.entries_of.is_some()).collect();
        tables.retain(|t| !hidden.contains(&t.oid) && t.entries_of.is_none());
        let identities: HashSet<Oid> =
            tables.iter().flat_map(|t| t.live_columns()).filter_map(|c| Some(c.identity.as_ref()?.sequence)).collect();

        let mut out = DumpScript::default();
        // An empty database has the schema public, also where it was made anew here.
        for schema in self.schemas.iter().filter(|s| !built_in_schemas().iter().any(|given| given.name == s.name)) {
            out.before.push(format!("CREATE SCHEMA {};", quote_name(&schema.name)));
        }
        for sequence in sequences.iter().filter(|s| !identities.contains(&s.oid)) {
            out.before.push(self.sequence(sequence)?);
        }
        for table in &tables {
            out.before.push(self.table(table)?);
            let columns: Vec<String> = table.visible_columns().filter(|c| c.generated.is_none()).map(|c| quote_name(&c.name)).collect();
            // Rows without a single column to write would be lines that say nothing.
            if table.location().is_some() {
                // Its cells are not this database's.
            } else if table.is_raw() {
                let name = self.name(table.oid)?;
                out.before.push(format!("-- The cells of {name} are not in this script: stoa backup copies them."));
            } else if !columns.is_empty() {
                out.tables.push(DumpTable { copy: format!("COPY {} ({})", self.name(table.oid)?, columns.join(", ")) });
            }
        }
        for sequence in sequences.iter().filter(|s| !identities.contains(&s.oid)) {
            out.before.extend(self.owned(sequence)?);
        }
        // By name: what comes with a column gets its OID when that is made, so that OIDs differ in what is restored.
        sequences.sort_by_key(|s| (self.name(s.oid).ok(), s.oid));
        for sequence in &sequences {
            let numbers = self.catalog.numbers().ok_or_else(|| PgError::internal("a catalog without sequences"))?;
            let state = numbers.state(sequence).await?;
            let name = quote_text(&self.name(sequence.oid)?);
            out.after.push(format!("SELECT pg_catalog.setval({name}, {}, {});", state.last_value, state.is_called));
        }
        for table in tables.iter().chain(&entries) {
            self.constraints_and_indexes(table, &mut out.after)?;
        }
        for table in &tables {
            for key in &table.foreign_keys {
                out.after.push(self.add_constraint(table, &key.name, &Constraint::ForeignKey(key))?);
            }
        }
        // Behind indexes: score() needs one, and GROUP BY of a key the constraint.
        let (views, circles) = self.ordered(&views);
        for view in &views {
            if circles.contains(&view.oid) {
                out.after.push(self.stand_in(view)?);
            }
        }
        for view in &views {
            out.after.push(self.view(view, circles.contains(&view.oid))?);
        }
        for view in &views {
            self.contents(view, &mut out.after)?;
        }
        for table in &tables {
            out.after.extend(self.definitions.row_security(table, &self.name(table.oid)?)?);
        }
        self.comments(&tables, &views, &sequences, &mut out.after)?;
        out.after.extend(super::script_rights::statements(self.catalog));
        Ok(out)
    }

    /// See [`relation_definition`].
    fn table_alone(&self, table: &TableDescriptor, out: &mut Vec<String>) -> PgResult<()> {
        let owned =
            |relation: &'_ &Arc<Relation>| matches!(&***relation, Relation::Sequence(s) if s.owned_by.is_some_and(|(t, _)| t == table.oid));
        let mut sequences: Vec<&SequenceDescriptor> = self
            .catalog
            .relations()
            .filter(owned)
            .filter_map(|relation| if let Relation::Sequence(sequence) = &**relation { Some(sequence) } else { None })
            .collect();
        sequences.sort_by_key(|s| s.oid);
        let identities: HashSet<Oid> = table.live_columns().filter_map(|c| Some(c.identity.as_ref()?.sequence)).collect();
        for sequence in sequences.iter().filter(|s| !identities.contains(&s.oid)) {
            out.push(self.sequence(sequence)?);
        }
        out.push(self.table(table)?);
        for sequence in sequences.iter().filter(|s| !identities.contains(&s.oid)) {
            out.extend(self.owned(sequence)?);
        }
        self.constraints_and_indexes(table, out)?;
        for entries in table.map_columns().filter_map(|column| self.catalog.table(column.entries?)) {
            self.constraints_and_indexes(entries, out)?;
        }
        for key in &table.foreign_keys {
            out.push(self.add_constraint(table, &key.name, &Constraint::ForeignKey(key))?);
        }
        out.extend(self.definitions.row_security(table, &self.name(table.oid)?)?);
        self.comments(&[table], &[], &sequences, out)
    }

    fn sequence(&self, sequence: &SequenceDescriptor) -> PgResult<String> {
        let name = self.name(sequence.oid)?;
        Ok(format!("CREATE SEQUENCE {name} AS {}{};", type_name(&sequence.ty), sequence_options(sequence)))
    }

    /// Gives a sequence to the column that owns it.
    fn owned(&self, sequence: &SequenceDescriptor) -> PgResult<Option<String>> {
        let Some((table, column)) = sequence.owned_by else { return Ok(None) };
        let Some(column) = self.catalog.table(table).and_then(|t| t.column(column)) else { return Ok(None) };
        let (name, table) = (self.name(sequence.oid)?, self.name(table)?);
        Ok(Some(format!("ALTER SEQUENCE {name} OWNED BY {table}.{};", quote_name(&column.name))))
    }

    /// What a materialized view has.
    fn contents(&self, view: &ViewDescriptor, out: &mut Vec<String>) -> PgResult<()> {
        let Some(rows) = view.materialized else { return Ok(()) };
        if !view.unpopulated {
            out.push(format!("REFRESH MATERIALIZED VIEW {};", self.name(view.oid)?));
        }
        self.catalog.table(rows).map_or(Ok(()), |rows| self.constraints_and_indexes(rows, out))
    }

    fn name(&self, oid: Oid) -> PgResult<String> {
        qualified(self.catalog, oid)
            .ok_or_else(|| PgError::new(SqlState::UNDEFINED_TABLE, format!("relation with OID {oid} does not exist")))
    }

    fn table(&self, table: &TableDescriptor) -> PgResult<String> {
        if table.is_raw() && table.mapping.is_none() {
            return self.raw_table(table);
        }
        if let Some(mapping) = &table.mapping {
            return self.foreign_table(table, mapping);
        }
        let mut lines = Vec::new();
        for column in table.visible_columns() {
            lines.push(self.column(table, column)?);
        }
        if let Some(key) = &table.primary_key {
            let parts = key_parts(table);
            let primary = self.definitions.constraint(table, &Constraint::PrimaryKey(key), false);
            // What follows the columns: deferral.
            let rest = primary.rsplit_once(')').map_or("", |(_, rest)| rest);
            lines.push(format!("CONSTRAINT {} PRIMARY KEY ({}){rest}", quote_name(&key.name), parts.join(", ")));
        }
        for check in table.checks.iter().filter(|c| c.validated) {
            let check_text = self.definitions.constraint(table, &Constraint::Check(check), false);
            lines.push(format!("CONSTRAINT {} {check_text}", quote_name(&check.name.name)));
        }
        let mut options: Vec<String> = table.options.iter().map(|(name, value)| format!("{name} = {}", quote_text(value))).collect();
        options.extend(table.dynamic_column().map(|column| format!("dynamic_columns = {}", quote_text(&column.name))));
        let (families, layout) = families_and_options(table);
        lines.extend(families);
        options.extend(layout);
        let mut out = format!("CREATE TABLE {} (\n    {}\n)", self.name(table.oid)?, lines.join(",\n    "));
        if lines.is_empty() {
            out = format!("CREATE TABLE {} ()", self.name(table.oid)?);
        }
        if !options.is_empty() {
            out.push_str(&format!(" WITH ({})", options.join(", ")));
        }
        out.push_str(&self.definitions.rules_of_time(table, false));
        out.push_str(&split(table)?);
        out.push(';');
        Ok(out)
    }

    fn foreign_table(&self, table: &TableDescriptor, mapping: &Mapping) -> PgResult<String> {
        let raw = self.catalog.table(mapping.table).ok_or_else(|| PgError::internal("a foreign table of a raw one that is gone"))?;
        let mut lines = Vec::new();
        for column in table.visible_columns() {
            let mut line = format!("{} {}", quote_name(&column.name), type_name(&column.ty));
            if let Some(mapped) = mapping.columns.iter().find(|m| m.column == column.id) {
                let family = raw.families.iter().find(|f| f.id.0 == mapped.family).map_or("", |f| f.name.as_str());
                let place = format!("{family}:{}", to_binary(&mapped.qualifier));
                line.push_str(&format!(" OPTIONS (\"column\" {}, format '{}')", quote_text(&place), mapped.encoding.name()));
            }
            if let Some(default) = &column.default {
                line.push_str(&format!(" DEFAULT {}", self.definitions.expr(Some(table), default, false)));
            }
            lines.push(line);
        }
        let parts = key_parts(table);
        let schema = self.catalog.schema(raw.schema).map_or("", |s| if s.oid == PUBLIC_OID { "default" } else { s.name.as_str() });
        Ok(format!(
            "CREATE FOREIGN TABLE {} (\n    {}\n) OPTIONS (\"table\" {}, key_format {});",
            self.name(table.oid)?,
            lines.join(",\n    "),
            quote_text(&format!("{schema}:{}", raw.name)),
            quote_text(&parts.join(", ")),
        ))
    }

    fn raw_table(&self, table: &TableDescriptor) -> PgResult<String> {
        let families: Vec<String> = table.families.iter().filter(|f| f.id != CELLS).map(|f| family(table, f)).collect();
        let name = self.name(table.oid)?;
        let mut out = match table.location() {
            Some(location) => format!("CREATE TABLE {name} () WITH (raw, location = {});", quote_text(location)),
            None => format!("CREATE TABLE {name} (\n    {}\n) WITH (raw){};", families.join(",\n    "), split(table)?),
        };
        if !table.is_enabled() {
            out.push_str(&format!("\nALTER TABLE {name} SET (enabled = false);"));
        }
        Ok(out)
    }

    fn column(&self, table: &TableDescriptor, column: &ColumnDescriptor) -> PgResult<String> {
        let mut out = format!("{} {}", quote_name(&column.name), type_name(&column.ty));
        if let Some(collation) = &column.collation {
            out.push_str(&format!(" COLLATE pg_catalog.{}", quote_name(collation)));
        }
        if let Some(qualifier) = column.qualifier.as_ref().filter(|qualifier| **qualifier != column.name)
            && plain_columns(table)?.iter().any(|(_, columns)| columns.contains(&column.id))
        {
            out.push_str(&format!(" OPTIONS (qualifier {})", quote_text(qualifier)));
        }
        if let Some(default) = &column.default {
            out.push_str(&format!(" DEFAULT {}", self.definitions.expr(Some(table), default, false)));
        }
        if let Some(generated) = &column.generated {
            out.push_str(&format!(" GENERATED ALWAYS AS ({}) STORED", self.definitions.expr(Some(table), generated, false)));
        }
        if let Some(identity) = &column.identity {
            out.push_str(if identity.always { " GENERATED ALWAYS AS IDENTITY" } else { " GENERATED BY DEFAULT AS IDENTITY" });
            if let Some(Relation::Sequence(sequence)) = self.catalog.relation(identity.sequence).map(|r| &**r) {
                let name = self.name(sequence.oid)?;
                out.push_str(&format!(" (SEQUENCE NAME {name}{})", sequence_options(sequence)));
            }
        } else if column.not_null && !table.is_key(column.id) {
            out.push_str(" NOT NULL");
        }
        Ok(out)
    }

    /// A view with the columns of one that is made of itself, for those that read it until it is made.
    fn stand_in(&self, view: &ViewDescriptor) -> PgResult<String> {
        let columns: Vec<String> =
            view.columns.iter().map(|column| format!("NULL::{} AS {}", type_name(&column.ty), quote_name(&column.name))).collect();
        Ok(format!("CREATE VIEW {} AS\nSELECT {};", self.name(view.oid)?, columns.join(", ")))
    }

    /// `again`: its stand-in is there.
    fn view(&self, view: &ViewDescriptor, again: bool) -> PgResult<String> {
        let query = self.definitions.view(view.oid, false)?.unwrap_or_default();
        let query = query.trim_end().trim_end_matches(';');
        let columns: Vec<String> = view.columns.iter().map(|c| quote_name(&c.name)).collect();
        let (kind, end) = match (&view.materialized, &view.check_option) {
            (Some(_), _) => ("MATERIALIZED VIEW", " WITH NO DATA".to_owned()),
            (None, Some(option)) => ("VIEW", format!(" WITH {} CHECK OPTION", option.to_uppercase())),
            (None, None) if again => ("OR REPLACE VIEW", String::new()),
            (None, None) => ("VIEW", String::new()),
        };
        let name = self.name(view.oid)?;
        let options: Vec<String> =
            view.options.iter().filter(|(name, _)| name != "check_option").map(|(name, value)| format!("{name}={value}")).collect();
        let with = if options.is_empty() { String::new() } else { format!(" WITH ({})", options.join(", ")) };
        let mut out = format!("CREATE {kind} {name} ({}){with} AS\n{query}{end};", columns.join(", "));
        for column in &view.columns {
            if let Some(default) = &column.default {
                let default = self.definitions.expr(None, default, false);
                out.push_str(&format!("\nALTER VIEW {name} ALTER COLUMN {} SET DEFAULT {default};", quote_name(&column.name)));
            }
        }
        Ok(out)
    }

    /// Views behind those that they read, but for those that are made of themselves, which come second: all others may read them.
    fn ordered<'v>(&self, views: &[&'v ViewDescriptor]) -> (Vec<&'v ViewDescriptor>, HashSet<Oid>) {
        type Views<'v> = HashMap<Oid, &'v ViewDescriptor>;
        fn visit<'v>(view: &'v ViewDescriptor, all: &Views<'v>, seen: &mut HashSet<Oid>, out: &mut Vec<&'v ViewDescriptor>) {
            for other in view.depends_on.iter().filter_map(|used| all.get(&used.relation)) {
                if seen.insert(other.oid) {
                    visit(other, all, seen, out);
                }
            }
            out.push(view);
        }
        let all: Views<'v> = views.iter().flat_map(|v| [Some(v.oid), v.materialized].into_iter().flatten().map(|oid| (oid, *v))).collect();
        // A materialized view has rows of its own, and cannot be replaced; but then there is a plain one in the circle.
        let made_of_itself = |view: &ViewDescriptor| {
            let mut seen = HashSet::new();
            visit(view, &all, &mut seen, &mut Vec::new());
            view.materialized.is_none() && seen.contains(&view.oid)
        };
        let circles: HashSet<Oid> = views.iter().filter(|view| made_of_itself(view)).map(|view| view.oid).collect();
        let (mut seen, mut out) = (circles.clone(), Vec::new());
        for view in views {
            if seen.insert(view.oid) {
                visit(view, &all, &mut seen, &mut out);
            }
        }
        out.extend(views.iter().filter(|view| circles.contains(&view.oid)));
        (out, circles)
    }

    fn constraints_and_indexes(&self, table: &TableDescriptor, out: &mut Vec<String>) -> PgResult<()> {
        for check in table.checks.iter().filter(|c| !c.validated) {
            out.push(self.add_constraint(table, &check.name, &Constraint::Check(check))?);
        }
        for index in &table.indexes {
            match &index.constraint {
                Some(name) => out.push(self.add_constraint(table, name, &Constraint::Unique(name, index))?),
                None => out.push(format!("{};", self.definitions.index(table, Some(index), false))),
            }
        }
        for column in table.visible_columns().filter(|c| !c.words.is_empty() && words_by(table, c.id).is_none()) {
            let options: Vec<String> = column.words.iter().map(|(name, value)| format!("{name} = {}", quote_text(value))).collect();
            let (name, column) = (self.name(table.oid)?, quote_name(&column.name));
            out.push(format!("ALTER TABLE {name} ALTER COLUMN {column} SET ({});", options.join(", ")));
        }
        out.extend(self.replica_identity(table)?);
        Ok(())
    }

    fn replica_identity(&self, table: &TableDescriptor) -> PgResult<Option<String>> {
        let what = match table.replica_identity {
            ReplicaIdentity::Default => return Ok(None),
            ReplicaIdentity::Nothing => "NOTHING".to_owned(),
            ReplicaIdentity::Full => "FULL".to_owned(),
            ReplicaIdentity::Index(oid) => {
                let key = table.primary_key.as_ref().filter(|key| key.oid == oid).map(|key| &key.name);
                match key.or_else(|| table.indexes.iter().find(|index| index.oid == oid).map(|index| &index.name)) {
                    Some(name) => format!("USING INDEX {}", quote_name(name)),
                    // An index that was dropped leaves nothing.
                    None => "NOTHING".to_owned(),
                }
            }
        };
        let view = self.catalog.view_of_rows(table.oid);
        let (kind, name) = view.map_or(("TABLE", table.oid), |view| ("MATERIALIZED VIEW", view.oid));
        Ok(Some(format!("ALTER {kind} {} REPLICA IDENTITY {what};", self.name(name)?)))
    }

    fn add_constraint(&self, table: &TableDescriptor, name: &ConstraintName, constraint: &Constraint<'_>) -> PgResult<String> {
        let definition = self.definitions.constraint(table, constraint, false);
        Ok(format!("ALTER TABLE {} ADD CONSTRAINT {} {definition};", self.name(table.oid)?, quote_name(&name.name)))
    }

    fn comments(
        &self,
        tables: &[&TableDescriptor],
        views: &[&ViewDescriptor],
        sequences: &[&SequenceDescriptor],
        out: &mut Vec<String>,
    ) -> PgResult<()> {
        for schema in &self.schemas {
            let given = built_in_schemas().into_iter().find(|s| s.name == schema.name).and_then(|s| s.comment);
            match &schema.comment {
                same if *same == given => continue,
                None => out.push(format!("COMMENT ON SCHEMA {} IS NULL;", quote_name(&schema.name))),
                Some(text) => out.push(format!("COMMENT ON SCHEMA {} IS {};", quote_name(&schema.name), quote_text(text))),
            }
        }
        let mut comment = |on: String, text: &Option<String>| {
            if let Some(text) = text {
                out.push(format!("COMMENT ON {on} IS {};", quote_text(text)));
            }
        };
        for table in tables {
            let name = self.name(table.oid)?;
            comment(format!("TABLE {name}"), &table.comment);
            for column in table.visible_columns() {
                comment(format!("COLUMN {name}.{}", quote_name(&column.name)), &column.comment);
            }
            if let Some(key) = &table.primary_key {
                let index_name = self.name(key.oid | crate::catalog::names::PRIMARY_INDEX_BIT)?;
                comment(format!("INDEX {index_name}"), &key.index_comment);
            }
            let constraints = table.primary_key.iter().chain(table.checks.iter().map(|c| &c.name));
            let constraints = constraints.chain(table.foreign_keys.iter().map(|f| &f.name));
            for constraint in constraints.chain(table.indexes.iter().filter_map(|i| i.constraint.as_ref())) {
                comment(format!("CONSTRAINT {} ON {name}", quote_name(&constraint.name)), &constraint.comment);
            }
            for index in &table.indexes {
                let index_name = self.name(index.oid)?;
                comment(format!("INDEX {index_name}"), &index.comment);
            }
        }
        for view in views {
            let name = self.name(view.oid)?;
            let kind = if view.materialized.is_some() { "MATERIALIZED VIEW" } else { "VIEW" };
            comment(format!("{kind} {name}"), &view.comment);
            for column in &view.columns {
                comment(format!("COLUMN {name}.{}", quote_name(&column.name)), &column.comment);
            }
            let rows = view.materialized.and_then(|oid| self.catalog.table(oid));
            for index in rows.iter().flat_map(|t| &t.indexes) {
                let index_name = self.name(index.oid)?;
                comment(format!("INDEX {index_name}"), &index.comment);
            }
        }
        for sequence in sequences {
            comment(format!("SEQUENCE {}", self.name(sequence.oid)?), &sequence.comment);
        }
        Ok(())
    }
}

/// The parts of a row key as they are written.
pub(super) fn key_parts(table: &TableDescriptor) -> Vec<String> {
    let direction = |p: &KeyPart| if p.descending { " DESC" } else { "" };
    table.key.iter().map(|p| format!("{}{}", p.form.written(&column_name(table, p.column)), direction(p))).collect()
}

/// FAMILY clauses, where it takes some to say how rows lie, and the options of WITH that are about that.
fn families_and_options(table: &TableDescriptor) -> (Vec<String>, Vec<String>) {
    let (mut lines, mut options) = (Vec::new(), Vec::new());
    match table.families.as_slice() {
        [only] if only.name == "f" => options.extend(family_options(only)),
        families => lines.extend(families.iter().map(|f| family(table, f))),
    }
    if let Some(salt) = &table.salt {
        options.push(format!("salt_buckets = {}", salt.buckets));
        let whole = salt.columns.len() == table.key_columns().count();
        if !whole {
            let names: Vec<&str> = salt.columns.iter().filter_map(|id| table.column(*id)).map(|c| c.name.as_str()).collect();
            options.push(format!("salt_columns = {}", quote_text(&names.join(","))));
        }
    }
    (lines, options)
}

/// How a table's rows lie, behind the parts of its key: options, split points, families. Nothing where all of it is usual.
///
/// # Errors
/// XX000 for split points that are none.
pub(super) fn layout(table: &TableDescriptor) -> PgResult<String> {
    let (families, options) = families_and_options(table);
    let mut out = String::new();
    if !options.is_empty() {
        out.push_str(&format!(" WITH ({})", options.join(", ")));
    }
    out.push_str(&split(table)?);
    families.iter().for_each(|family| out.push_str(&format!(", {family}")));
    Ok(out)
}

fn column_name(table: &TableDescriptor, id: ColumnId) -> String {
    table.column(id).map_or_else(|| "?".into(), |c| quote_name(&c.name))
}

/// A type as a column is declared.
fn type_name(ty: &SqlType) -> String {
    crate::catalog::deparse::type_name(ty)
}

fn sequence_options(sequence: &SequenceDescriptor) -> String {
    format!(
        " INCREMENT BY {} MINVALUE {} MAXVALUE {} START WITH {} CACHE {}{}",
        sequence.increment,
        sequence.min,
        sequence.max,
        sequence.start,
        sequence.cache,
        if sequence.cycle { " CYCLE" } else { "" }
    )
}

/// Bytes of a qualifier, as options have them.
fn to_binary(bytes: &[u8]) -> String {
    bytes
        .iter()
        .map(|b| if (b' '..=b'~').contains(b) && *b != b'\\' { char::from(*b).to_string() } else { format!("\\x{b:02X}") })
        .collect()
}

fn family(table: &TableDescriptor, family: &FamilyDescriptor) -> String {
    let columns: Vec<String> =
        family.columns.iter().filter(|id| table.column(**id).is_some_and(|c| !c.dropped)).map(|id| column_name(table, *id)).collect();
    let options = family_options(family);
    let with = if options.is_empty() { String::new() } else { format!(" WITH ({})", options.join(", ")) };
    format!("FAMILY {} ({}){with}", quote_name(&family.name), columns.join(", "))
}

/// What differs from the defaults, as `name = 'value'`.
fn family_options(family: &FamilyDescriptor) -> Vec<String> {
    let options = &family.options;
    let default = FamilyOptions::default();
    let mut out = Vec::new();
    let mut say = |differs: bool, name: &str, value: String| {
        if differs {
            out.push(format!("{name} = {value}"));
        }
    };
    let layout = if options.layout == Layout::Cells { "cells" } else { "packed" };
    say(options.layout != default.layout && !family.plain, "layout", quote_text(layout));
    say(family.plain, "values", quote_text("plain"));
    let kept = options.retention().filter(|_| options.min_versions == 1 && options.versions == FamilyOptions::ALL_VERSIONS);
    if let Some(kept) = kept {
        say(true, "retention", kept.as_secs().to_string());
    }
    say(options.versions != default.versions && kept.is_none(), "versions", options.versions.to_string());
    // The order matters: min_versions needs the ttl.
    let ttl = options.ttl.map_or(0, |t| t.as_secs());
    say(options.ttl != default.ttl && kept.is_none(), "ttl", ttl.to_string());
    say(options.min_versions != default.min_versions && kept.is_none(), "min_versions", options.min_versions.to_string());
    let compression = match options.compression {
        Compression::None => "none",
        Compression::Snappy => "snappy",
        Compression::Lz4 => "lz4",
        Compression::Zstd => "zstd",
    };
    say(options.compression != default.compression, "compression", quote_text(compression));
    let bloom = match options.bloom_filter {
        BloomFilter::None => "none",
        BloomFilter::Row => "row",
        BloomFilter::RowCol => "rowcol",
    };
    say(options.bloom_filter != default.bloom_filter, "bloom_filter", quote_text(bloom));
    say(options.block_size != default.block_size, "block_size", options.block_size.to_string());
    say(options.block_cache != default.block_cache, "block_cache", options.block_cache.to_string());
    say(options.in_memory != default.in_memory, "in_memory", options.in_memory.to_string());
    say(options.blob != default.blob, "blob", options.blob.to_string());
    out
}

/// ` SPLIT …`, or nothing.
fn split(table: &TableDescriptor) -> PgResult<String> {
    let points = &table.split_points;
    // The buckets' beginnings go without saying.
    if *points == in_buckets(table, Vec::new()) {
        return Ok(String::new());
    }
    let pieces = match &table.salt {
        None => points.len() + 1,
        Some(salt) => points.len().div_ceil(usize::from(salt.buckets)),
    };
    if let Ok(pieces) = u32::try_from(pieces) {
        for alphabet in [Alphabet::Bytes, Alphabet::Hex, Alphabet::Decimal] {
            if uniform(table, alphabet, pieces) == *points {
                let using = if Alphabet::of(table) == Some(alphabet) { String::new() } else { format!(" USING {}", alphabet.name()) };
                return Ok(format!(" SPLIT INTO {pieces}{using}"));
            }
        }
    }
    let codec = KeyCodec::new(table)?;
    let mut rows = Vec::new();
    for point in points {
        let key = match &table.salt {
            // The same points in each bucket: those of the first say it.
            Some(_) => match point.split_first() {
                Some((0, rest)) if !rest.is_empty() => rest,
                _ => continue,
            },
            None => point,
        };
        let values = explain::values(&codec.parts, key);
        // No literal gives the key of an interval or a document again, or the beginning of a text: its bytes do.
        let whole = explain::whole_values(&codec.parts, key);
        if !whole || values.iter().any(|v| v.starts_with("0x")) {
            let digits: String = key.iter().map(|b| format!("{b:02x}")).collect();
            rows.push(format!("X'{digits}'"));
            continue;
        }
        rows.push(if let [one] = values.as_slice() { one.clone() } else { format!("({})", values.join(", ")) });
    }
    Ok(if rows.is_empty() { String::new() } else { format!(" SPLIT AT ({})", rows.join(", ")) })
}
