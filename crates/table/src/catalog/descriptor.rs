//! Descriptors: plain data about catalog objects, stored as rows of the catalog's own table.
//!
//! Columns are known by [`ColumnId`], which never changes and is never reused; it is also PostgreSQL's `attnum`. Expressions
//! (defaults, checks, predicates) are SQL text and are bound again when needed.

use super::mapping::{CELLS, LOCATION, Mapping};
use super::policy::RowSecurity;
use super::replica::ReplicaIdentity;
use serde::{Deserialize, Serialize};
use stoa_encoding::keyside::raw::delimited_in_order;
use stoa_pg::items::Class;
use stoa_pg::{PgType, SqlType};
use stoa_store::{FamilyId, FamilyOptions, Layout, TableId, Timestamp};

/// The OID of a catalog object, unique over all kinds; user objects start at [`FIRST_USER_OID`].
pub type Oid = u32;

/// OIDs below are for built-in objects.
pub const FIRST_USER_OID: Oid = 16_384;
pub const PG_CATALOG_OID: Oid = 11;
pub const PUBLIC_OID: Oid = 2_200;
pub const INFORMATION_SCHEMA_OID: Oid = 13_000;
/// Tables that hold the rows of materialized views have names that begin so.
pub const STORAGE_PREFIX: &str = "stoa_materialized_";
/// The method of full text indexes.
pub const FULLTEXT_METHOD: &str = "fulltext";
/// The method of full text indexes of lexemes and of items.
pub const GIN_METHOD: &str = "gin";

/// A column's number for its whole life: from 1, never reused.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct ColumnId(pub u32);

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SchemaDescriptor {
    pub oid: Oid,
    pub name: String,
    pub comment: Option<String>,
    /// The session that a temporary schema belongs to.
    pub temporary: Option<u32>,
}

/// Anything that lives in a schema and can stand in FROM (or is a sequence).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Relation {
    Table(TableDescriptor),
    View(ViewDescriptor),
    Sequence(SequenceDescriptor),
}

impl Relation {
    #[must_use]
    pub fn oid(&self) -> Oid {
        match self {
            Relation::Table(t) => t.oid,
            Relation::View(v) => v.oid,
            Relation::Sequence(s) => s.oid,
        }
    }

    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Relation::Table(t) => &t.name,
            Relation::View(v) => &v.name,
            Relation::Sequence(s) => &s.name,
        }
    }

    #[must_use]
    pub fn schema(&self) -> Oid {
        match self {
            Relation::Table(t) => t.schema,
            Relation::View(v) => v.schema,
            Relation::Sequence(s) => s.schema,
        }
    }
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TableDescriptor {
    pub oid: Oid,
    pub schema: Oid,
    pub name: String,
    /// Where the rows are; TRUNCATE and rewrites give a new one.
    #[serde(with = "serde_table_id")]
    pub storage: TableId,
    /// In the order of ids, dropped ones included.
    pub columns: Vec<ColumnDescriptor>,
    /// The row key's parts in order. Without PRIMARY KEY: one part, the hidden column [`TableDescriptor::row_id`].
    pub key: Vec<KeyPart>,
    /// The PRIMARY KEY constraint, if one was declared.
    pub primary_key: Option<ConstraintName>,
    /// The hidden column that holds the row id of tables without PRIMARY KEY.
    pub row_id: Option<ColumnId>,
    pub families: Vec<FamilyDescriptor>,
    pub salt: Option<Salt>,
    pub split_points: Vec<Vec<u8>>,
    pub checks: Vec<CheckDescriptor>,
    pub foreign_keys: Vec<ForeignKeyDescriptor>,
    pub indexes: Vec<IndexDescriptor>,
    pub comment: Option<String>,
    /// What `WITH (…)` said and [`FamilyDescriptor`] does not hold, as written.
    pub options: Vec<(String, String)>,
    pub temporary: bool,
    /// For temporary tables: ON COMMIT DELETE ROWS / DROP.
    pub on_commit: OnCommit,
    pub next_column_id: u32,
    /// From when timestamps count in keys and cells of the table and of its indexes.
    #[serde(default)]
    pub epoch: Epoch,
    /// Who sees and writes which rows.
    #[serde(default, skip_serializing_if = "RowSecurity::is_default")]
    pub row_security: RowSecurity,
    /// Of a foreign table: the cells of another that its columns are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mapping: Option<Mapping>,
    /// When a row ends by itself (`TTL EXPIRES AT`): the SQL text of a timestamptz over its columns. A row that has ended stays in the store
    /// until somebody removes it; no statement sees it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<String>,
    /// The column whose values tell which of two rows with one key is newer (`TIMESTAMP FROM`): UPSERT replaces no row by an older one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<ColumnId>,
    /// Of a table of entries: the column of maps that they are of. Its columns are the key of that column's table, `key` and `value`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entries_of: Option<(Oid, ColumnId)>,
    /// The column of maps whose entries are the columns that statements name and the table does not declare.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dynamic: Option<ColumnId>,
    #[serde(default, skip_serializing_if = "ReplicaIdentity::is_default")]
    pub replica_identity: ReplicaIdentity,
}

/// From when stored timestamps count.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Epoch {
    /// 1970-01-01: tables, and statistics, of versions that knew no other.
    #[default]
    Unix,
    /// 2000-01-01.
    Postgres,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum OnCommit {
    #[default]
    PreserveRows,
    DeleteRows,
    Drop,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ColumnDescriptor {
    pub id: ColumnId,
    pub name: String,
    #[serde(with = "crate::catalog::descriptor::serde_sql_type")]
    pub ty: SqlType,
    pub not_null: bool,
    /// It was said to be NOT NULL of a table that was there: rows of the past, and those that have ended, may be NULL.
    #[serde(default)]
    pub not_null_later: bool,
    /// The undeclared column that it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub promoted: Option<Promotion>,
    /// SQL text of the DEFAULT.
    pub default: Option<String>,
    /// What rows written before the column was added have: the default's value at that time, in text form.
    pub missing: Option<String>,
    /// SQL text of GENERATED ALWAYS AS (…) STORED.
    pub generated: Option<String>,
    pub identity: Option<Identity>,
    pub comment: Option<String>,
    pub dropped: bool,
    /// Hidden columns (row ids) are not part of `*`.
    pub hidden: bool,
    /// How a MATCH cuts its texts into words, as options of a full text index: what the last such index said, or ALTER COLUMN.
    #[serde(default)]
    pub words: Vec<(String, String)>,
    /// Of a column of maps: the table whose rows its entries are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entries: Option<Oid>,
    /// The collation that COLLATE said, if another than the type's own: to be shown; the order is the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collation: Option<String>,
    /// How many `[]` the declaration says, if others than one for an array: to be shown. What a query or LIKE says of a column has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dims: Option<u16>,
    /// Of a column that is, or was, in a family with plain values: what its cells are called. It stays when the column is renamed, and when it is
    /// dropped, as long as there may be cells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub qualifier: Option<String>,
}

/// A column that was an undeclared one: before, its values were entries of a map of its table.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Promotion {
    /// The key of the entries.
    pub name: String,
    /// The column of maps.
    pub map: ColumnId,
    /// When it was committed, in microseconds since 1970. `None` in the transaction that does it, and in what that stores: the commit of a
    /// stored row without it is the one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<u64>,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Identity {
    /// GENERATED ALWAYS, rather than BY DEFAULT.
    pub always: bool,
    pub sequence: Oid,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct KeyPart {
    /// The column that the part holds, or is computed of.
    pub column: ColumnId,
    pub descending: bool,
    #[serde(default, skip_serializing_if = "KeyForm::is_value")]
    pub form: KeyForm,
}

/// How a part of a row key is made of its column.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum KeyForm {
    /// The column's value, in the encoding of its type.
    #[default]
    Value,
    /// The first bytes of a hash of the value.
    Hash(u8),
    /// The first bytes of the MD5 digest of the value's text.
    Md5(u8),
    /// The value's text from its end.
    Reversed,
    /// A number of so many bytes, big-endian.
    Unsigned(u8),
    /// A number of so many bytes, big-endian, its sign bit flipped.
    Signed(u8),
    /// So many decimal digits, zeros in front; of a date year, month and day.
    Digits(u8),
    /// A text of at most so many bytes, zeros behind; bytes of just so many.
    Fixed(u32),
    /// A text up to this delimiter; in order if digits and letters sort behind the delimiter.
    Delimited(u8),
    /// What is left of the key, at most so many bytes.
    Rest(u32),
}

impl KeyForm {
    #[must_use]
    pub fn is_value(&self) -> bool {
        *self == KeyForm::Value
    }

    /// Whether the part orders rows as its column's values do, and gives them back. The others are computed of a column: its single
    /// values can be found by them.
    #[must_use]
    pub fn holds_value(self) -> bool {
        self.gives_back() && !matches!(self, KeyForm::Delimited(by) if !delimited_in_order(by))
    }

    /// Whether the column's value can be read from the part.
    #[must_use]
    pub fn gives_back(self) -> bool {
        !matches!(self, KeyForm::Hash(_) | KeyForm::Md5(_) | KeyForm::Reversed)
    }

    /// The part of a column as PRIMARY KEY has it.
    #[must_use]
    pub fn written(self, column: &str) -> String {
        match self {
            KeyForm::Value => column.to_owned(),
            KeyForm::Hash(n) => format!("HASH({column}, {n})"),
            KeyForm::Md5(n) => format!("MD5({column}, {n})"),
            KeyForm::Reversed => format!("REVERSE({column})"),
            KeyForm::Unsigned(n) => format!("UNSIGNED({column}, {n})"),
            KeyForm::Signed(n) => format!("SIGNED({column}, {n})"),
            KeyForm::Digits(n) => format!("DIGITS({column}, {n})"),
            KeyForm::Fixed(n) => format!("FIXED({column}, {n})"),
            KeyForm::Delimited(0) => format!("DELIMITED({column}, '\\x00')"),
            KeyForm::Delimited(by) => format!("DELIMITED({column}, '{}')", char::from(by).to_string().replace('\'', "''")),
            KeyForm::Rest(n) => format!("REST({column}, {n})"),
        }
    }

    /// Whether different values make different parts.
    #[must_use]
    pub fn tells_apart(self) -> bool {
        !matches!(self, KeyForm::Hash(_) | KeyForm::Md5(_))
    }
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ConstraintName {
    pub oid: Oid,
    pub name: String,
    pub deferrable: bool,
    pub initially_deferred: bool,
    pub comment: Option<String>,
    /// Of a primary key: the comment of its index, which has no descriptor of its own.
    #[serde(default)]
    pub index_comment: Option<String>,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct FamilyDescriptor {
    #[serde(with = "serde_family_id")]
    pub id: FamilyId,
    pub name: String,
    /// Columns outside the key that live here.
    pub columns: Vec<ColumnId>,
    #[serde(with = "serde_family_options")]
    pub options: FamilyOptions,
    /// Whether its cells are such as other programs read: each under the qualifier of its column, as its type's [`Encoding::plain`]. The layout
    /// is cells then; NULL is no cell, so that no column of it has a [`ColumnDescriptor::missing`].
    ///
    /// [`Encoding::plain`]: super::mapping::Encoding::plain
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub plain: bool,
    /// Values have ended by an age that ends them no more, and stay so: indexes, and other families, may still have what belonged to them.
    #[serde(default)]
    pub has_ended: bool,
}

impl FamilyDescriptor {
    #[must_use]
    pub fn new(id: FamilyId, name: String, columns: Vec<ColumnId>, options: FamilyOptions) -> Self {
        Self { id, name, columns, options, plain: false, has_ended: false }
    }

    /// Whether values end by their age. Where `min_versions` keeps some, the newest one does not.
    #[must_use]
    pub fn values_end(&self) -> bool {
        self.options.ttl.is_some() && self.options.min_versions == 0
    }

    /// Whether values end, or have once, so that what belonged to them may be left.
    #[must_use]
    pub fn may_have_ended(&self) -> bool {
        self.values_end() || self.has_ended
    }

    /// Gives it other options. What has ended does not come back.
    pub fn change(&mut self, options: FamilyOptions) {
        let ended = self.values_end();
        self.options = options;
        self.has_ended |= ended && !self.values_end();
    }
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Salt {
    /// 2 to 256.
    pub buckets: u16,
    /// Key columns that the hash covers; a subset of the key.
    pub columns: Vec<ColumnId>,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct CheckDescriptor {
    pub name: ConstraintName,
    /// SQL text, as PostgreSQL prints it.
    pub expr: String,
    pub columns: Vec<ColumnId>,
    pub validated: bool,
    /// Written NO INHERIT; there is no inheritance that it could be about.
    #[serde(default)]
    pub no_inherit: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum ForeignKeyAction {
    NoAction,
    Restrict,
    Cascade,
    SetNull,
    SetDefault,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ForeignKeyDescriptor {
    pub name: ConstraintName,
    pub columns: Vec<ColumnId>,
    pub referenced_table: Oid,
    pub referenced_columns: Vec<ColumnId>,
    pub on_update: ForeignKeyAction,
    pub on_delete: ForeignKeyAction,
    /// The columns that ON DELETE SET NULL or SET DEFAULT changes; empty: all of the key.
    #[serde(default)]
    pub on_delete_columns: Vec<ColumnId>,
    /// MATCH FULL rather than MATCH SIMPLE.
    pub match_full: bool,
    pub validated: bool,
}

impl ForeignKeyDescriptor {
    /// Whether all rows are known to refer to one that is there. What they refer to may end by its age, and they stay.
    #[must_use]
    pub fn is_valid(&self, referenced: &TableDescriptor) -> bool {
        self.validated && !referenced.rows_end() && !self.referenced_columns.iter().any(|id| referenced.ends_apart(*id))
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum IndexState {
    DeleteOnly,
    WriteOnly,
    Readable,
    Dropping,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct IndexDescriptor {
    pub oid: Oid,
    pub name: String,
    /// The index table.
    #[serde(with = "serde_table_id")]
    pub storage: TableId,
    pub unique: bool,
    pub nulls_not_distinct: bool,
    pub parts: Vec<IndexPart>,
    pub include: Vec<ColumnId>,
    /// SQL text of WHERE.
    pub predicate: Option<String>,
    pub state: IndexState,
    /// The first snapshot that it is complete for.
    #[serde(default)]
    pub readable_from: u64,
    /// The index whose place it takes once it is complete.
    #[serde(default)]
    pub replaces: Option<Oid>,
    /// The UNIQUE constraint that owns the index.
    pub constraint: Option<ConstraintName>,
    /// The constraint is the PRIMARY KEY: a deferrable one is not the row's place.
    #[serde(default)]
    pub primary: bool,
    /// `btree`, `fulltext` or `gin`.
    pub method: String,
    pub options: Vec<(String, String)>,
    /// 2 to 256.
    pub salt_buckets: Option<u16>,
    pub comment: Option<String>,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct IndexPart {
    pub key: IndexKey,
    #[serde(with = "crate::catalog::descriptor::serde_sql_type")]
    pub ty: SqlType,
    /// The operator class, where it is not the type's own: of btree indexes to be shown, as the order is the same.
    #[serde(default)]
    pub class: Option<String>,
    /// The collation, if another than the column's, or than that of the expression's type: to be shown, as the order is the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collation: Option<String>,
    pub descending: bool,
    pub nulls_first: bool,
}

impl IndexPart {
    /// Whether a full text index has it as a text that is cut into words.
    #[must_use]
    pub fn is_text(&self) -> bool {
        self.ty.ty != stoa_pg::PgType::Tsvector && self.class_of_items().is_none()
    }

    /// Which items a full text index has of it, if it has those.
    #[must_use]
    pub fn class_of_items(&self) -> Option<Class> {
        Class::of(&self.ty, self.class.as_deref())
    }
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum IndexKey {
    Column(ColumnId),
    /// SQL text over the table's columns, as PostgreSQL prints it.
    Expr(String),
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ViewDescriptor {
    pub oid: Oid,
    pub schema: Oid,
    pub name: String,
    pub columns: Vec<ViewColumn>,
    /// The query with all names qualified, as `pg_get_viewdef` prints it.
    pub sql: String,
    /// Relations that the query reads.
    pub depends_on: Vec<Dependency>,
    pub comment: Option<String>,
    /// Rows are stored in this table.
    pub materialized: Option<Oid>,
    /// WITH NO DATA: it cannot be read before it is refreshed.
    #[serde(default)]
    pub unpopulated: bool,
    pub check_option: Option<String>,
    /// What WITH (…) and ALTER VIEW … SET say, as written, the check option among it.
    #[serde(default)]
    pub options: Vec<(String, String)>,
}

/// A use of a relation, and of some of its columns.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Dependency {
    pub relation: Oid,
    pub columns: Vec<ColumnId>,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ViewColumn {
    pub name: String,
    #[serde(with = "crate::catalog::descriptor::serde_sql_type")]
    pub ty: SqlType,
    pub comment: Option<String>,
    /// SQL text of the default that rows inserted through the view get, before the table's.
    #[serde(default)]
    pub default: Option<String>,
    /// The collation, if another than the type's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collation: Option<String>,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SequenceDescriptor {
    pub oid: Oid,
    pub schema: Oid,
    pub name: String,
    /// `smallint`, `integer` or `bigint`.
    #[serde(with = "crate::catalog::descriptor::serde_sql_type")]
    pub ty: SqlType,
    pub start: i64,
    pub increment: i64,
    pub min: i64,
    pub max: i64,
    pub cache: i64,
    pub cycle: bool,
    /// The column that owns it (serial, identity, OWNED BY).
    pub owned_by: Option<(Oid, ColumnId)>,
    pub comment: Option<String>,
    pub temporary: bool,
}

impl IndexDescriptor {
    /// Whether it is an index of words, or of lexemes or items: its files are not a table of the store.
    #[must_use]
    pub fn is_fulltext(&self) -> bool {
        self.method == FULLTEXT_METHOD || self.method == GIN_METHOD
    }

    /// Whether two rows may have one key for a while: entries are those of an index that is not unique.
    #[must_use]
    pub fn is_deferrable(&self) -> bool {
        self.unique && self.constraint.as_ref().is_some_and(|c| c.deferrable)
    }
}

impl ColumnDescriptor {
    /// A column of which nothing else is said.
    #[must_use]
    pub fn new(id: ColumnId, name: String, ty: SqlType) -> Self {
        Self {
            id,
            name,
            ty,
            not_null: false,
            not_null_later: false,
            promoted: None,
            default: None,
            missing: None,
            generated: None,
            identity: None,
            comment: None,
            dropped: false,
            hidden: false,
            words: Vec::new(),
            entries: None,
            collation: None,
            dims: None,
            qualifier: None,
        }
    }

    /// `attndims`: how many dimensions are declared; values have what they have.
    #[must_use]
    pub fn dimensions(&self) -> u16 {
        self.dims.unwrap_or_else(|| u16::from(matches!(self.ty.ty, PgType::Array(_))))
    }

    /// Whether values are maps, whose entries lie in a table of their own.
    #[must_use]
    pub fn is_map(&self) -> bool {
        matches!(self.ty.ty, PgType::Map(..))
    }
}

impl TableDescriptor {
    /// Whether a column was promoted by a transaction whose commit is not known.
    #[must_use]
    pub fn is_undated(&self) -> bool {
        self.columns.iter().filter_map(|column| column.promoted.as_ref()).any(|promotion| promotion.at.is_none())
    }

    /// Gives the columns that a transaction has promoted the time of its commit.
    pub fn date(&mut self, committed: Timestamp) {
        for promotion in self.columns.iter_mut().filter_map(|column| column.promoted.as_mut()) {
            promotion.at.get_or_insert(committed.micros());
        }
    }

    /// Whether rows are cells as HBase has them, of the table's own or of another's.
    #[must_use]
    pub fn is_raw(&self) -> bool {
        self.families.first().is_some_and(|f| f.id == CELLS)
    }

    /// Whether a raw table may be read and written, as HBase says it.
    #[must_use]
    pub fn is_enabled(&self) -> bool {
        !self.options.iter().any(|(name, value)| name == "enabled" && value == "false")
    }

    /// Where the cells of a raw table are that other programs own; none for those that the store has.
    #[must_use]
    pub fn location(&self) -> Option<&str> {
        self.options.iter().find(|(name, _)| name == LOCATION).map(|(_, value)| value.as_str()).filter(|_| self.is_raw())
    }

    /// Whether INSERT takes the place of a row with the same key, as UPSERT does.
    #[must_use]
    pub fn overwrites(&self) -> bool {
        self.options.iter().any(|(name, value)| name == "overwrite" && value == "true")
    }

    /// Whether rows end by their age, or have.
    #[must_use]
    pub fn rows_end(&self) -> bool {
        self.families.first().is_some_and(FamilyDescriptor::may_have_ended)
    }

    /// Whether a stored row may be NULL in a column, be it one of the past.
    #[must_use]
    pub fn stores_null(&self, column: &ColumnDescriptor) -> bool {
        (!column.not_null || column.not_null_later) && !self.is_key(column.id)
    }

    /// Whether anything ends by its age, or has.
    #[must_use]
    pub fn anything_ends(&self) -> bool {
        self.families.iter().any(FamilyDescriptor::may_have_ended)
    }

    /// Whether the value of a column may end by its age, or have, while its row stays.
    #[must_use]
    pub fn ends_apart(&self, column: ColumnId) -> bool {
        // Key columns are in no family: they are the row.
        let place = self.families.iter().enumerate().find(|(_, f)| f.columns.contains(&column) && !self.is_key(column));
        place.is_some_and(|(at, f)| f.may_have_ended() && (at > 0 || f.options.layout != Layout::Packed))
    }

    /// Whether values of a column outside of the key are plain ones.
    #[must_use]
    pub fn is_plain(&self, column: ColumnId) -> bool {
        self.families.iter().any(|family| family.plain && family.columns.contains(&column))
    }

    /// The index of a deferrable primary key.
    #[must_use]
    pub fn primary_index(&self) -> Option<&IndexDescriptor> {
        self.indexes.iter().find(|i| i.primary)
    }

    /// Whether the column is part of the primary key.
    #[must_use]
    pub fn is_primary(&self, id: ColumnId) -> bool {
        self.is_key(id) || self.primary_index().is_some_and(|i| i.parts.iter().any(|p| matches!(p.key, IndexKey::Column(c) if c == id)))
    }

    /// Columns that rows hold, hidden ones included.
    pub fn live_columns(&self) -> impl Iterator<Item = &ColumnDescriptor> {
        self.columns.iter().filter(|c| !c.dropped && !c.is_map())
    }

    /// Columns of maps, which no row holds.
    pub fn map_columns(&self) -> impl Iterator<Item = &ColumnDescriptor> {
        self.columns.iter().filter(|c| !c.dropped && c.is_map())
    }

    /// Columns that `*` stands for.
    pub fn visible_columns(&self) -> impl Iterator<Item = &ColumnDescriptor> {
        self.columns.iter().filter(|c| !c.dropped && !c.hidden)
    }

    /// The column of maps that has the undeclared columns.
    #[must_use]
    pub fn dynamic_column(&self) -> Option<&ColumnDescriptor> {
        self.dynamic.and_then(|id| self.column(id)).filter(|column| !column.dropped)
    }

    /// The column with this id; ids are positions from 1.
    #[must_use]
    pub fn column(&self, id: ColumnId) -> Option<&ColumnDescriptor> {
        self.columns.iter().find(|c| c.id == id)
    }

    #[must_use]
    pub fn column_by_name(&self, name: &str) -> Option<&ColumnDescriptor> {
        self.visible_columns().find(|c| c.name == name)
    }

    /// The columns of the row key, each with the part that gives it back, or with the first that is computed of it.
    pub fn key_columns(&self) -> impl Iterator<Item = &KeyPart> {
        let said_elsewhere = |at: usize, part: &KeyPart| {
            let mut others = self.key.iter().enumerate().filter(move |(other, _)| *other != at);
            others.any(|(other, p)| p.column == part.column && (p.form.gives_back() || (!part.form.gives_back() && other < at)))
        };
        self.key.iter().enumerate().filter(move |(at, part)| !said_elsewhere(*at, part)).map(|(_, part)| part)
    }

    /// Whether the column is part of the row key.
    #[must_use]
    pub fn is_key(&self, id: ColumnId) -> bool {
        self.key.iter().any(|p| p.column == id)
    }
}

mod serde_table_id {
    use super::TableId;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(id: &TableId, s: S) -> Result<S::Ok, S::Error> {
        id.0.serialize(s)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<TableId, D::Error> {
        u32::deserialize(d).map(TableId)
    }
}

mod serde_family_id {
    use super::FamilyId;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(id: &FamilyId, s: S) -> Result<S::Ok, S::Error> {
        id.0.serialize(s)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<FamilyId, D::Error> {
        u16::deserialize(d).map(FamilyId)
    }
}

mod serde_family_options {
    use super::FamilyOptions;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use stoa_store::{BloomFilter, Compression, Layout};

    #[derive(Serialize, Deserialize)]
    struct Stored {
        cells: bool,
        versions: u32,
        min_versions: u32,
        ttl_s: Option<u64>,
        compression: String,
        bloom_filter: String,
        block_size: u32,
        block_cache: bool,
        in_memory: bool,
        blob: bool,
    }

    pub fn serialize<S: Serializer>(o: &FamilyOptions, s: S) -> Result<S::Ok, S::Error> {
        let compression = match o.compression {
            Compression::None => "none",
            Compression::Snappy => "snappy",
            Compression::Lz4 => "lz4",
            Compression::Zstd => "zstd",
        };
        let bloom_filter = match o.bloom_filter {
            BloomFilter::None => "none",
            BloomFilter::Row => "row",
            BloomFilter::RowCol => "rowcol",
        };
        Stored {
            cells: o.layout == Layout::Cells,
            versions: o.versions,
            min_versions: o.min_versions,
            ttl_s: o.ttl.map(|t| t.as_secs()),
            compression: compression.into(),
            bloom_filter: bloom_filter.into(),
            block_size: o.block_size,
            block_cache: o.block_cache,
            in_memory: o.in_memory,
            blob: o.blob,
        }
        .serialize(s)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<FamilyOptions, D::Error> {
        let o = Stored::deserialize(d)?;
        Ok(FamilyOptions {
            layout: if o.cells { Layout::Cells } else { Layout::Packed },
            versions: o.versions,
            min_versions: o.min_versions,
            ttl: o.ttl_s.map(std::time::Duration::from_secs),
            compression: match o.compression.as_str() {
                "none" => Compression::None,
                "snappy" => Compression::Snappy,
                "zstd" => Compression::Zstd,
                _ => Compression::Lz4,
            },
            bloom_filter: match o.bloom_filter.as_str() {
                "none" => BloomFilter::None,
                "rowcol" => BloomFilter::RowCol,
                _ => BloomFilter::Row,
            },
            block_size: o.block_size,
            block_cache: o.block_cache,
            in_memory: o.in_memory,
            blob: o.blob,
        })
    }
}

/// Types are stored by OID and modifier.
///
/// Columns of `character` without a length were kept without the blanks at the end of their values once, and their keys are read so: they
/// have the modifier -1 here, those that keep their blanks [`KEEPS_BLANKS`](serde_sql_type::KEEPS_BLANKS).
pub mod serde_sql_type {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use stoa_pg::types::{PgType, SqlType, TRIMMED};

    /// The stored modifier of `character` that keeps its blanks.
    pub const KEEPS_BLANKS: i32 = -2;

    #[derive(Serialize, Deserialize)]
    struct Stored {
        oid: u32,
        typmod: i32,
    }

    pub fn serialize<S: Serializer>(ty: &SqlType, s: S) -> Result<S::Ok, S::Error> {
        let typmod = match ty.typmod {
            -1 if ty.keeps_blanks() => KEEPS_BLANKS,
            TRIMMED if ty.ty == PgType::Bpchar => -1,
            other => other,
        };
        Stored { oid: ty.ty.oid(), typmod }.serialize(s)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<SqlType, D::Error> {
        let stored = Stored::deserialize(d)?;
        let ty = PgType::from_oid(stored.oid).ok_or_else(|| serde::de::Error::custom(format!("unknown type OID {}", stored.oid)))?;
        let typmod = match stored.typmod {
            KEEPS_BLANKS => -1,
            -1 if ty == PgType::Bpchar => TRIMMED,
            other => other,
        };
        Ok(SqlType::with_typmod(ty, typmod))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::serde_sql_type;
    use serde::{Deserialize, Serialize};
    use stoa_pg::{PgType, SqlType};

    #[derive(Serialize, Deserialize)]
    struct Column {
        #[serde(with = "serde_sql_type")]
        ty: SqlType,
    }

    #[test]
    fn characters_that_were_stored_without_blanks_stay_so() {
        let text = r#"{"ty":{"oid":1042,"typmod":-1,"dims":0}}"#;
        let old: Column = serde_json::from_str(text).unwrap();
        assert!(old.ty.has_native_order() && !old.ty.keeps_blanks() && old.ty.display_name() == "character");
        assert_eq!(serde_json::to_string(&old).unwrap(), text.replace(r#","dims":0"#, ""));
        let new = serde_json::to_string(&Column { ty: SqlType::new(PgType::Bpchar) }).unwrap();
        assert!(serde_json::from_str::<Column>(&new).unwrap().ty.keeps_blanks(), "{new}");
    }
}
