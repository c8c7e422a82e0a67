//! Filters and comparators. Each is sent as the name of its class with its own message in bytes.

use super::rpc::BytesBytesPair;
use bytes::Bytes;

#[derive(Clone, PartialEq, prost::Message)]
pub struct Filter {
    #[prost(string, required, tag = "1")]
    pub name: String,
    #[prost(bytes = "bytes", optional, tag = "2")]
    pub serialized_filter: Option<Bytes>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Comparator {
    #[prost(string, required, tag = "1")]
    pub name: String,
    #[prost(bytes = "bytes", optional, tag = "2")]
    pub serialized_comparator: Option<Bytes>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct ByteArrayComparable {
    #[prost(bytes = "bytes", optional, tag = "1")]
    pub value: Option<Bytes>,
}

/// BinaryComparator, BinaryPrefixComparator and LongComparator alike.
#[derive(Clone, PartialEq, prost::Message)]
pub struct BinaryComparator {
    #[prost(message, required, tag = "1")]
    pub comparable: ByteArrayComparable,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct RegexStringComparator {
    #[prost(string, required, tag = "1")]
    pub pattern: String,
    #[prost(int32, required, tag = "2")]
    pub pattern_flags: i32,
    #[prost(string, required, tag = "3")]
    pub charset: String,
    #[prost(string, optional, tag = "4")]
    pub engine: Option<String>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct SubstringComparator {
    #[prost(string, required, tag = "1")]
    pub substr: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct ColumnCountGetFilter {
    #[prost(int32, required, tag = "1")]
    pub limit: i32,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct ColumnPaginationFilter {
    #[prost(int32, required, tag = "1")]
    pub limit: i32,
    #[prost(int32, optional, tag = "2")]
    pub offset: Option<i32>,
    #[prost(bytes = "bytes", optional, tag = "3")]
    pub column_offset: Option<Bytes>,
}

/// ColumnPrefixFilter and, with the tag alike, PrefixFilter.
#[derive(Clone, PartialEq, prost::Message)]
pub struct PrefixFilter {
    #[prost(bytes = "bytes", required, tag = "1")]
    pub prefix: Bytes,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct ColumnRangeFilter {
    #[prost(bytes = "bytes", optional, tag = "1")]
    pub min_column: Option<Bytes>,
    #[prost(bool, optional, tag = "2")]
    pub min_column_inclusive: Option<bool>,
    #[prost(bytes = "bytes", optional, tag = "3")]
    pub max_column: Option<Bytes>,
    #[prost(bool, optional, tag = "4")]
    pub max_column_inclusive: Option<bool>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct CompareFilter {
    #[prost(int32, required, tag = "1")]
    pub compare_op: i32,
    #[prost(message, optional, tag = "2")]
    pub comparator: Option<Comparator>,
}

/// RowFilter, FamilyFilter, QualifierFilter and ValueFilter alike.
#[derive(Clone, PartialEq, prost::Message)]
pub struct ComparingFilter {
    #[prost(message, required, tag = "1")]
    pub compare_filter: CompareFilter,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct FilterList {
    /// 1: all must pass; 2: one must.
    #[prost(int32, required, tag = "1")]
    pub operator: i32,
    #[prost(message, repeated, tag = "2")]
    pub filters: Vec<Filter>,
}

/// FilterWrapper, SkipFilter and WhileMatchFilter alike.
#[derive(Clone, PartialEq, prost::Message)]
pub struct FilterAround {
    #[prost(message, required, tag = "1")]
    pub filter: Filter,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct FuzzyRowFilter {
    #[prost(message, repeated, tag = "1")]
    pub fuzzy_keys_data: Vec<BytesBytesPair>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct InclusiveStopFilter {
    #[prost(bytes = "bytes", optional, tag = "1")]
    pub stop_row_key: Option<Bytes>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct KeyOnlyFilter {
    #[prost(bool, required, tag = "1")]
    pub len_as_val: bool,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct MultipleColumnPrefixFilter {
    #[prost(bytes = "bytes", repeated, tag = "1")]
    pub sorted_prefixes: Vec<Bytes>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct PageFilter {
    #[prost(int64, required, tag = "1")]
    pub page_size: i64,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct RandomRowFilter {
    #[prost(float, required, tag = "1")]
    pub chance: f32,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct SingleColumnValueFilter {
    #[prost(bytes = "bytes", optional, tag = "1")]
    pub column_family: Option<Bytes>,
    #[prost(bytes = "bytes", optional, tag = "2")]
    pub column_qualifier: Option<Bytes>,
    #[prost(int32, required, tag = "3")]
    pub compare_op: i32,
    #[prost(message, required, tag = "4")]
    pub comparator: Comparator,
    #[prost(bool, optional, tag = "5")]
    pub filter_if_missing: Option<bool>,
    #[prost(bool, optional, tag = "6")]
    pub latest_version_only: Option<bool>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct SingleColumnValueExcludeFilter {
    #[prost(message, required, tag = "1")]
    pub single_column_value_filter: SingleColumnValueFilter,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct ColumnValueFilter {
    #[prost(bytes = "bytes", required, tag = "1")]
    pub family: Bytes,
    #[prost(bytes = "bytes", required, tag = "2")]
    pub qualifier: Bytes,
    #[prost(int32, required, tag = "3")]
    pub compare_op: i32,
    #[prost(message, required, tag = "4")]
    pub comparator: Comparator,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct TimestampsFilter {
    #[prost(int64, repeated, packed = "true", tag = "1")]
    pub timestamps: Vec<i64>,
    #[prost(bool, optional, tag = "2")]
    pub can_hint: Option<bool>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct RowRange {
    #[prost(bytes = "bytes", optional, tag = "1")]
    pub start_row: Option<Bytes>,
    #[prost(bool, optional, tag = "2")]
    pub start_row_inclusive: Option<bool>,
    #[prost(bytes = "bytes", optional, tag = "3")]
    pub stop_row: Option<Bytes>,
    #[prost(bool, optional, tag = "4")]
    pub stop_row_inclusive: Option<bool>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct MultiRowRangeFilter {
    #[prost(message, repeated, tag = "1")]
    pub row_range_list: Vec<RowRange>,
}
