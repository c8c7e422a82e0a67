//! Which access paths a statement allows and asks for: settings `stoa.enable_*`, `stoa.force_index`, and hints.
//!
//! A hint goes before the settings, and both go before cost.

/// What a hint says about one scan.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Hint {
    /// `INDEX(t i …)`, `USE_INDEX(t USING i)`: one of these.
    Index(Vec<String>),
    /// `NO_INDEX(t i …)`: none of these; without names: none at all.
    NoIndex(Vec<String>),
    /// `FULL(t)`: all rows of the table.
    Full,
}

/// See the module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Preferences {
    /// Filters on the primary key become key ranges.
    pub key_ranges: bool,
    /// Indexes that have all columns wanted may be read alone.
    pub covered_scan: bool,
    /// Indexes may lead to rows.
    pub index_lookup: bool,
    /// Reading all rows of a table costs what it costs, rather than being the last resort.
    pub full_scan: bool,
    /// An index is used wherever one can serve.
    pub force_index: bool,
    /// Joins may read their inner side by the keys of the outer one.
    pub lookup_join: bool,
    /// Values of a key's leading columns may be found by seeking.
    pub skip_scan: bool,
    /// The row keys of several indexes may be united.
    pub index_union: bool,
    /// The row keys of several indexes may be intersected.
    pub index_intersection: bool,
    /// A key or an index may be read because of its order.
    pub index_order: bool,
    /// min and max may be read from the ends of a key or an index.
    pub index_ends: bool,
    /// An index that is narrower than its table may be read from one end to the other instead of it.
    pub narrow_scan: bool,
    /// Rows of raw tables may be left out by the bytes of their cells.
    pub cell_tests: bool,
    /// Bytes from which a scan takes columns that earlier ones have left, and leaves its own; `None`: never.
    pub column_cache: Option<u64>,
    pub hints: Vec<Hint>,
    /// The snapshot that is read: indexes that were made later are not complete for it.
    pub snapshot: Option<u64>,
    /// It is one of the past, of which indexes know nothing once their entries have changed: they are used where hints name them.
    pub past: bool,
}

impl Default for Preferences {
    fn default() -> Self {
        Self {
            key_ranges: true,
            covered_scan: true,
            index_lookup: true,
            full_scan: true,
            force_index: false,
            lookup_join: true,
            skip_scan: true,
            index_union: true,
            index_intersection: true,
            index_order: true,
            index_ends: true,
            narrow_scan: true,
            cell_tests: true,
            column_cache: Some(512 << 10),
            hints: Vec::new(),
            snapshot: None,
            past: false,
        }
    }
}

impl Preferences {
    /// What settings say, given by their names, with the hints of one scan.
    #[must_use]
    pub fn new<'a>(setting: impl Fn(&str) -> Option<&'a str>, hints: &[Hint]) -> Self {
        let on = |name: &str| setting(name) != Some("off");
        Self {
            key_ranges: on("stoa.enable_key_ranges"),
            covered_scan: on("stoa.enable_covered_scan") && on("enable_indexonlyscan"),
            index_lookup: on("stoa.enable_index_lookup") && on("enable_indexscan"),
            full_scan: on("stoa.enable_full_scan") && on("enable_seqscan"),
            force_index: setting("stoa.force_index") == Some("on"),
            lookup_join: on("stoa.enable_lookupjoin"),
            skip_scan: on("stoa.enable_skipscan"),
            index_union: on("stoa.enable_index_union") && on("enable_bitmapscan"),
            index_intersection: on("stoa.enable_index_intersection") && on("enable_bitmapscan"),
            index_order: on("stoa.enable_index_order"),
            index_ends: on("stoa.enable_index_ends"),
            narrow_scan: on("stoa.enable_narrow_scan"),
            cell_tests: on("stoa.enable_cell_tests"),
            column_cache: on("stoa.enable_column_cache")
                .then(|| setting("stoa.min_column_cache_scan_size").and_then(|kilobytes| kilobytes.parse::<u64>().ok()))
                .flatten()
                .map(|kilobytes| kilobytes << 10),
            hints: hints.to_vec(),
            snapshot: None,
            past: false,
        }
    }

    /// Whether the table must be read from its beginning to its end.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.hints.contains(&Hint::Full)
    }

    /// Whether an index was asked for by name.
    #[must_use]
    pub fn names(&self, index: &str) -> bool {
        self.hints.iter().any(|h| matches!(h, Hint::Index(names) if names.iter().any(|n| n == index)))
    }

    /// Whether any index was asked for by name.
    #[must_use]
    pub fn names_any(&self) -> bool {
        self.hints.iter().any(|h| matches!(h, Hint::Index(_)))
    }

    /// Whether an index must not be used.
    #[must_use]
    pub fn excludes(&self, index: &str) -> bool {
        self.is_full()
            || self.hints.iter().any(|h| matches!(h, Hint::NoIndex(names) if names.is_empty() || names.iter().any(|n| n == index)))
    }
}
