//! What every store refuses before it writes: unknown tables and families, misplaced qualifiers, oversized keys and cells.
//!
//! Kept in one place so that all stores refuse the same mutations with the same errors.

use crate::{FamilyId, FamilyOptions, FamilySchema, Layout, MutationRef, StoreError, StoreResult, TableSchema};

/// The longest row key in bytes.
pub const MAX_ROW_KEY_BYTES: usize = 64 * 1024;
/// The longest qualifier in bytes.
pub const MAX_QUALIFIER_BYTES: usize = 32 * 1024;
/// The largest cell of a family without `blob`, in bytes.
pub const MAX_CELL_BYTES: usize = 10 * 1024 * 1024;
/// The largest cell of a family with `blob`, in bytes.
pub const MAX_BLOB_BYTES: usize = 1024 * 1024 * 1024;

impl TableSchema {
    /// A family by its id.
    ///
    /// # Errors
    /// [`StoreError::Invalid`] if the table has none of this id.
    pub fn family(&self, id: FamilyId) -> StoreResult<&FamilySchema> {
        self.families.iter().find(|f| f.id == id).ok_or_else(|| StoreError::Invalid(format!("table {} has no family {}", self.id.0, id.0)))
    }

    /// Checks what a store needs to know of a table before it makes or alters it.
    ///
    /// # Errors
    /// [`StoreError::Invalid`] naming the first thing that is wrong.
    pub fn check(&self) -> StoreResult<()> {
        let invalid = |message: String| Err(StoreError::Invalid(format!("table {}: {message}", self.id.0)));
        if self.families.is_empty() {
            return invalid("a table needs a family".into());
        }
        for (i, family) in self.families.iter().enumerate() {
            if self.families[..i].iter().any(|f| f.id == family.id) {
                return invalid(format!("family {} is given twice", family.id.0));
            }
            let options = &family.options;
            if options.versions == 0 {
                return invalid("VERSIONS must be at least 1".into());
            }
            if options.min_versions > 0 && options.ttl.is_none() {
                return invalid("MIN_VERSIONS needs a TTL".into());
            }
            if options.min_versions > 0 && options.min_versions >= options.versions {
                return invalid("MIN_VERSIONS must be below VERSIONS".into());
            }
        }
        for key in &self.split_points {
            check_row_key(key)?;
        }
        Ok(())
    }
}

/// The sizes that a store takes, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    pub row_key: usize,
    pub qualifier: usize,
    /// A cell of a family without `blob`.
    pub cell: usize,
    /// A cell of a family with `blob`.
    pub blob: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { row_key: MAX_ROW_KEY_BYTES, qualifier: MAX_QUALIFIER_BYTES, cell: MAX_CELL_BYTES, blob: MAX_BLOB_BYTES }
    }
}

impl Limits {
    /// # Errors
    /// [`StoreError::TooLarge`].
    pub fn check_row_key(&self, key: &[u8]) -> StoreResult<()> {
        at_most("row key", key.len(), self.row_key)
    }

    /// Checks the place and size of one cell.
    ///
    /// # Errors
    /// [`StoreError::TooLarge`]; [`StoreError::Invalid`] for a qualifier in a packed family.
    pub fn check_cell(&self, options: &FamilyOptions, key: &[u8], qualifier: &[u8], value: &[u8]) -> StoreResult<()> {
        self.check_row_key(key)?;
        if options.layout == Layout::Packed && !qualifier.is_empty() {
            return Err(StoreError::Invalid("a packed family has no qualifiers".into()));
        }
        at_most("qualifier", qualifier.len(), self.qualifier)?;
        at_most("cell", value.len(), if options.blob { self.blob } else { self.cell })
    }

    /// Checks one mutation against its table.
    ///
    /// # Errors
    /// As [`Limits::check_cell`]; [`StoreError::Invalid`] for an unknown family.
    pub fn check_mutation(&self, schema: &TableSchema, mutation: &MutationRef<'_>) -> StoreResult<()> {
        match *mutation {
            MutationRef::Put { key, family, qualifier, value, .. } => {
                self.check_cell(&schema.family(family)?.options, key, qualifier, value)
            }
            MutationRef::DeleteCell { key, family, qualifier, .. } => self.check_cell(&schema.family(family)?.options, key, qualifier, &[]),
            MutationRef::DeleteFamily { key, family, .. } => schema.family(family).and_then(|_| self.check_row_key(key)),
            MutationRef::DeleteRow { key, .. } => self.check_row_key(key),
        }
    }
}

/// [`Limits::check_row_key`] with the widest limits.
///
/// # Errors
/// [`StoreError::TooLarge`].
pub fn check_row_key(key: &[u8]) -> StoreResult<()> {
    Limits::default().check_row_key(key)
}

/// [`Limits::check_cell`] with the widest limits.
///
/// # Errors
/// As there.
pub fn check_cell(options: &FamilyOptions, key: &[u8], qualifier: &[u8], value: &[u8]) -> StoreResult<()> {
    Limits::default().check_cell(options, key, qualifier, value)
}

/// [`Limits::check_mutation`] with the widest limits.
///
/// # Errors
/// As there.
pub fn check_mutation(schema: &TableSchema, mutation: &MutationRef<'_>) -> StoreResult<()> {
    Limits::default().check_mutation(schema, mutation)
}

fn at_most(what: &'static str, size: usize, limit: usize) -> StoreResult<()> {
    if size <= limit { Ok(()) } else { Err(StoreError::TooLarge { what, size: size as u64, limit: limit as u64 }) }
}
