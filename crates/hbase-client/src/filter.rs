//! Filters: what servers leave out before they answer, and the comparators of those that compare.
//!
//! A filter works on what a scan or a get selects, cell by cell or row by row, in each region by itself. Those that are worth their work at
//! a server: [`Filter::multi_row_range`] (many ranges in one scan), [`Filter::first_key_only`] with [`Filter::key_only`] (whether rows are
//! there, how many), [`Filter::column_prefix`], [`Filter::column_range`] and [`Filter::column_pagination`] (wide rows),
//! [`Filter::single_column_value`]. A range of keys is better than [`Filter::prefix`] or a row filter.

use crate::messages::filter as message;
use crate::messages::rpc::BytesBytesPair;
use bytes::Bytes;
use prost::Message;

/// How a comparison goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compare {
    Less,
    LessOrEqual,
    Equal,
    NotEqual,
    GreaterOrEqual,
    Greater,
}

impl Compare {
    pub(crate) fn code(self) -> i32 {
        match self {
            Compare::Less => 0,
            Compare::LessOrEqual => 1,
            Compare::Equal => 2,
            Compare::NotEqual => 3,
            Compare::GreaterOrEqual => 4,
            Compare::Greater => 5,
        }
    }

    /// The same comparison with its sides exchanged.
    pub(crate) fn turned(self) -> Compare {
        match self {
            Compare::Less => Compare::Greater,
            Compare::LessOrEqual => Compare::GreaterOrEqual,
            Compare::Equal => Compare::Equal,
            Compare::NotEqual => Compare::NotEqual,
            Compare::GreaterOrEqual => Compare::LessOrEqual,
            Compare::Greater => Compare::Less,
        }
    }
}

/// What a value is compared with.
#[derive(Debug, Clone)]
pub struct Comparator {
    class: &'static str,
    body: Bytes,
}

const PACKAGE: &str = "org.apache.hadoop.hbase.filter";

fn body(message: &impl Message) -> Bytes {
    message.encode_to_vec().into()
}

impl Comparator {
    fn comparable(class: &'static str, value: Bytes) -> Comparator {
        let comparable = message::ByteArrayComparable { value: Some(value) };
        Comparator { class, body: body(&message::BinaryComparator { comparable }) }
    }

    /// With these bytes, as bytes sort.
    #[must_use]
    pub fn binary(value: impl Into<Bytes>) -> Comparator {
        Comparator::comparable("BinaryComparator", value.into())
    }

    /// Its first bytes with these.
    #[must_use]
    pub fn prefix(value: impl Into<Bytes>) -> Comparator {
        Comparator::comparable("BinaryPrefixComparator", value.into())
    }

    /// As eight bytes of a signed number, big-endian.
    #[must_use]
    pub fn long(value: i64) -> Comparator {
        Comparator::comparable("LongComparator", Bytes::copy_from_slice(&value.to_be_bytes()))
    }

    /// Whether it is empty: for [`Compare::Equal`] and [`Compare::NotEqual`].
    #[must_use]
    pub fn null() -> Comparator {
        Comparator { class: "NullComparator", body: Bytes::new() }
    }

    /// Whether it holds this text, without regard to upper and lower case: for equal and not equal.
    #[must_use]
    pub fn substring(text: &str) -> Comparator {
        Comparator { class: "SubstringComparator", body: body(&message::SubstringComparator { substr: text.to_lowercase() }) }
    }

    /// Whether Java's regular expression is found in it: for equal and not equal.
    #[must_use]
    pub fn regex(pattern: &str) -> Comparator {
        let comparator = message::RegexStringComparator {
            pattern: pattern.to_owned(),
            // DOTALL, as the Java client sets it.
            pattern_flags: 32,
            charset: "UTF-8".to_owned(),
            engine: Some("JAVA".to_owned()),
        };
        Comparator { class: "RegexStringComparator", body: body(&comparator) }
    }

    pub(crate) fn to_message(&self) -> message::Comparator {
        message::Comparator { name: format!("{PACKAGE}.{}", self.class), serialized_comparator: Some(self.body.clone()) }
    }
}

/// A range of row keys for [`Filter::multi_row_range`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowRange {
    pub start: Bytes,
    pub include_start: bool,
    /// Empty: to the end of the table.
    pub stop: Bytes,
    pub include_stop: bool,
}

impl RowRange {
    /// From one key to before another.
    #[must_use]
    pub fn new(start: impl Into<Bytes>, stop: impl Into<Bytes>) -> RowRange {
        RowRange { start: start.into(), include_start: true, stop: stop.into(), include_stop: false }
    }

    /// One key.
    #[must_use]
    pub fn key(key: impl Into<Bytes>) -> RowRange {
        let key = key.into();
        RowRange { start: key.clone(), include_start: true, stop: key, include_stop: true }
    }
}

/// A filter of a scan or a get.
#[derive(Debug, Clone)]
pub struct Filter {
    class: &'static str,
    body: Bytes,
}

impl Filter {
    fn new(class: &'static str, message: &impl Message) -> Filter {
        Filter { class, body: body(message) }
    }

    pub(crate) fn to_message(&self) -> message::Filter {
        message::Filter { name: format!("{PACKAGE}.{}", self.class), serialized_filter: Some(self.body.clone()) }
    }

    fn comparing(class: &'static str, compare: Compare, comparator: &Comparator) -> Filter {
        let compare_filter = message::CompareFilter { compare_op: compare.code(), comparator: Some(comparator.to_message()) };
        Filter::new(class, &message::ComparingFilter { compare_filter })
    }

    /// What all of these let through, in the order given.
    #[must_use]
    pub fn all_of(filters: impl IntoIterator<Item = Filter>) -> Filter {
        let filters = filters.into_iter().map(|filter| filter.to_message()).collect();
        Filter::new("FilterList", &message::FilterList { operator: 1, filters })
    }

    /// What one of these lets through.
    #[must_use]
    pub fn any_of(filters: impl IntoIterator<Item = Filter>) -> Filter {
        let filters = filters.into_iter().map(|filter| filter.to_message()).collect();
        Filter::new("FilterList", &message::FilterList { operator: 2, filters })
    }

    /// Rows of these ranges: the servers jump from one to the next. The ranges are sorted here; those that overlap are put together by
    /// the servers. The scan's own range must hold them.
    #[must_use]
    pub fn multi_row_range(ranges: impl IntoIterator<Item = RowRange>) -> Filter {
        let mut ranges: Vec<RowRange> = ranges.into_iter().collect();
        ranges.sort_by(|a, b| a.start.cmp(&b.start).then(b.include_start.cmp(&a.include_start)));
        let row_range_list = ranges.into_iter().map(|range| message::RowRange {
            start_row: Some(range.start),
            start_row_inclusive: Some(range.include_start),
            stop_row: Some(range.stop),
            stop_row_inclusive: Some(range.include_stop),
        });
        Filter::new("MultiRowRangeFilter", &message::MultiRowRangeFilter { row_range_list: row_range_list.collect() })
    }

    /// The first cell of each row.
    #[must_use]
    pub fn first_key_only() -> Filter {
        Filter { class: "FirstKeyOnlyFilter", body: Bytes::new() }
    }

    /// Cells without their values.
    #[must_use]
    pub fn key_only() -> Filter {
        Filter::new("KeyOnlyFilter", &message::KeyOnlyFilter { len_as_val: false })
    }

    /// The first `rows` rows of *each region*: with a limit of the scan only.
    #[must_use]
    pub fn page(rows: i64) -> Filter {
        Filter::new("PageFilter", &message::PageFilter { page_size: rows })
    }

    /// Columns whose qualifiers begin so.
    #[must_use]
    pub fn column_prefix(prefix: impl Into<Bytes>) -> Filter {
        Filter::new("ColumnPrefixFilter", &message::PrefixFilter { prefix: prefix.into() })
    }

    /// Columns whose qualifiers begin with one of these.
    #[must_use]
    pub fn column_prefixes(prefixes: impl IntoIterator<Item = Bytes>) -> Filter {
        let mut sorted_prefixes: Vec<Bytes> = prefixes.into_iter().collect();
        sorted_prefixes.sort();
        sorted_prefixes.dedup();
        Filter::new("MultipleColumnPrefixFilter", &message::MultipleColumnPrefixFilter { sorted_prefixes })
    }

    /// Columns from one qualifier to before another; `None` for no bound.
    #[must_use]
    pub fn column_range(from: Option<Bytes>, to: Option<Bytes>) -> Filter {
        let filter = message::ColumnRangeFilter {
            min_column: from,
            min_column_inclusive: Some(true),
            max_column: to,
            max_column_inclusive: Some(false),
        };
        Filter::new("ColumnRangeFilter", &filter)
    }

    /// `limit` columns of each row behind the first `offset`.
    #[must_use]
    pub fn column_pagination(limit: i32, offset: i32) -> Filter {
        Filter::new("ColumnPaginationFilter", &message::ColumnPaginationFilter { limit, offset: Some(offset), column_offset: None })
    }

    /// `limit` columns of each row from this qualifier on.
    #[must_use]
    pub fn column_pagination_from(limit: i32, qualifier: impl Into<Bytes>) -> Filter {
        let filter = message::ColumnPaginationFilter { limit, offset: None, column_offset: Some(qualifier.into()) };
        Filter::new("ColumnPaginationFilter", &filter)
    }

    /// The first `limit` columns of a row: for gets.
    #[must_use]
    pub fn column_count(limit: i32) -> Filter {
        Filter::new("ColumnCountGetFilter", &message::ColumnCountGetFilter { limit })
    }

    /// Rows whose newest value of a column compares so. A row without the column passes unless `if_missing` is false. The column must be
    /// among those that are selected.
    #[must_use]
    pub fn single_column_value(
        family: impl Into<Bytes>,
        qualifier: impl Into<Bytes>,
        compare: Compare,
        comparator: &Comparator,
        if_missing: bool,
    ) -> Filter {
        let filter = single_column_value(family.into(), qualifier.into(), compare, comparator, if_missing);
        Filter::new("SingleColumnValueFilter", &filter)
    }

    /// The same, and the column itself is left out.
    #[must_use]
    pub fn single_column_value_exclude(
        family: impl Into<Bytes>,
        qualifier: impl Into<Bytes>,
        compare: Compare,
        comparator: &Comparator,
        if_missing: bool,
    ) -> Filter {
        let single_column_value_filter = single_column_value(family.into(), qualifier.into(), compare, comparator, if_missing);
        Filter::new("SingleColumnValueExcludeFilter", &message::SingleColumnValueExcludeFilter { single_column_value_filter })
    }

    /// The cells of one column whose value compares so.
    #[must_use]
    pub fn column_value(family: impl Into<Bytes>, qualifier: impl Into<Bytes>, compare: Compare, comparator: &Comparator) -> Filter {
        let filter = message::ColumnValueFilter {
            family: family.into(),
            qualifier: qualifier.into(),
            compare_op: compare.code(),
            comparator: comparator.to_message(),
        };
        Filter::new("ColumnValueFilter", &filter)
    }

    /// Rows whose key compares so.
    #[must_use]
    pub fn row(compare: Compare, comparator: &Comparator) -> Filter {
        Filter::comparing("RowFilter", compare, comparator)
    }

    /// Cells whose family's name compares so.
    #[must_use]
    pub fn family(compare: Compare, comparator: &Comparator) -> Filter {
        Filter::comparing("FamilyFilter", compare, comparator)
    }

    /// Cells whose qualifier compares so.
    #[must_use]
    pub fn qualifier(compare: Compare, comparator: &Comparator) -> Filter {
        Filter::comparing("QualifierFilter", compare, comparator)
    }

    /// Cells whose value compares so.
    #[must_use]
    pub fn value(compare: Compare, comparator: &Comparator) -> Filter {
        Filter::comparing("ValueFilter", compare, comparator)
    }

    /// Rows whose keys begin so. A scan of a range reads less.
    #[must_use]
    pub fn prefix(prefix: impl Into<Bytes>) -> Filter {
        Filter::new("PrefixFilter", &message::PrefixFilter { prefix: prefix.into() })
    }

    /// Rows whose keys fit one of the patterns: bytes with a mask, in which 1 stands for any byte and 0 for this one.
    #[must_use]
    pub fn fuzzy_row(patterns: impl IntoIterator<Item = (Bytes, Bytes)>) -> Filter {
        let pairs = patterns.into_iter().map(|(first, second)| BytesBytesPair { first, second });
        Filter::new("FuzzyRowFilter", &message::FuzzyRowFilter { fuzzy_keys_data: pairs.collect() })
    }

    /// Rows up to this key, it included.
    #[must_use]
    pub fn inclusive_stop(key: impl Into<Bytes>) -> Filter {
        Filter::new("InclusiveStopFilter", &message::InclusiveStopFilter { stop_row_key: Some(key.into()) })
    }

    /// Cells of these times, in milliseconds.
    #[must_use]
    pub fn timestamps(times: impl IntoIterator<Item = i64>) -> Filter {
        let mut timestamps: Vec<i64> = times.into_iter().collect();
        timestamps.sort_unstable();
        Filter::new("TimestampsFilter", &message::TimestampsFilter { timestamps, can_hint: None })
    }

    /// A share of the rows, by chance.
    #[must_use]
    pub fn random_row(chance: f32) -> Filter {
        Filter::new("RandomRowFilter", &message::RandomRowFilter { chance })
    }

    /// No row of which the filter leaves a cell out.
    #[must_use]
    pub fn skip(filter: &Filter) -> Filter {
        Filter::new("SkipFilter", &message::FilterAround { filter: filter.to_message() })
    }

    /// Ends the scan of *each region* where the filter leaves something out.
    #[must_use]
    pub fn while_match(filter: &Filter) -> Filter {
        Filter::new("WhileMatchFilter", &message::FilterAround { filter: filter.to_message() })
    }
}

fn single_column_value(
    family: Bytes,
    qualifier: Bytes,
    compare: Compare,
    comparator: &Comparator,
    if_missing: bool,
) -> message::SingleColumnValueFilter {
    message::SingleColumnValueFilter {
        column_family: Some(family),
        column_qualifier: Some(qualifier),
        compare_op: compare.code(),
        comparator: comparator.to_message(),
        filter_if_missing: Some(!if_missing),
        latest_version_only: Some(true),
    }
}
