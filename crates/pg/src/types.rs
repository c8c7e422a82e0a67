//! Types as PostgreSQL names them, and the Arrow type that carries each in a plan.
//!
//! [`PgType`] is what SQL resolves against. [`SqlType`] adds the modifier (`varchar(10)`, `numeric(8,2)`) and the Arrow type
//! of one particular expression: a `numeric` whose scale is the same for all rows travels as `Decimal128(p, s)`, any other as
//! the sortable bytes of [`crate::values::numeric`]. Arrays of all dimensions and bounds travel in one form, [`array_arrow`].

use arrow::datatypes::{DataType, Field, IntervalUnit, TimeUnit};
use std::fmt;
use std::sync::{Arc, LazyLock};

/// A named composite type, or the shape of an anonymous row.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct RecordType {
    pub fields: Vec<(String, SqlType)>,
}

/// A type of PostgreSQL, without modifier.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum PgType {
    Bool,
    Int2,
    Int4,
    Int8,
    Float4,
    Float8,
    Numeric,
    Text,
    Varchar,
    /// `char(n)`: kept without its padding, which output and `octet_length` put back. Without a length (`bpchar`) it is kept as it is.
    Bpchar,
    Name,
    /// The one-byte `"char"`.
    Char,
    Bytea,
    Date,
    Time,
    Timetz,
    Timestamp,
    Timestamptz,
    Interval,
    Uuid,
    Json,
    Jsonb,
    Jsonpath,
    Oid,
    Xid,
    Regclass,
    Regtype,
    Regproc,
    Regprocedure,
    Regnamespace,
    Regrole,
    Regconfig,
    Regoper,
    Regoperator,
    Regcollation,
    /// `bit(n)`: as the text of its digits.
    Bit,
    /// `bit varying(n)`: likewise.
    Varbit,
    Int2Vector,
    OidVector,
    Tsvector,
    Tsquery,
    /// Who may do what, as one role has granted it to another. Carried as the text that it is written as.
    Aclitem,
    /// An expression in the catalogs: shown as SQL, never read.
    PgNodeTree,
    Array(Box<PgType>),
    Record(Option<Arc<RecordType>>),
    Map(Box<PgType>, Box<PgType>),
    Void,
    /// An untyped literal or parameter before its type is known.
    Unknown,
    // Pseudo types: only in signatures.
    Any,
    AnyElement,
    AnyArray,
    AnyNonArray,
    AnyCompatible,
    AnyCompatibleArray,
    Cstring,
    Internal,
}

/// A type with its modifier and its Arrow form: what an expression or a column has.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct SqlType {
    pub ty: PgType,
    /// PostgreSQL's `atttypmod`: −1 where there is none.
    pub typmod: i32,
    /// How values travel in record batches.
    pub arrow: DataType,
}

/// What the catalogs say of a type that is built in.
#[derive(Clone, Copy, Debug)]
pub struct TypeInfo {
    pub oid: u32,
    /// 0 where there is none.
    pub array_oid: u32,
    /// `typname`: `int4`.
    pub name: &'static str,
    /// As `format_type` prints it: `integer`.
    pub sql_name: &'static str,
    /// `typcategory`.
    pub category: char,
    pub preferred: bool,
    /// `typlen`: −1 for varlena.
    pub len: i16,
}

macro_rules! type_table {
    ($($variant:ident, $oid:literal, $array:literal, $name:literal, $sql:literal, $cat:literal, $pref:literal, $len:literal;)*) => {
        /// Every type that stands by itself (no arrays, records, maps), in the order of OIDs.
        pub const BASE_TYPES: &[(PgType, TypeInfo)] = &[
            $((PgType::$variant, TypeInfo { oid: $oid, array_oid: $array, name: $name, sql_name: $sql, category: $cat, preferred: $pref, len: $len }),)*
        ];
        impl PgType {
            fn base_info(&self) -> Option<TypeInfo> {
                match self {
                    $(PgType::$variant => Some(TypeInfo { oid: $oid, array_oid: $array, name: $name, sql_name: $sql, category: $cat, preferred: $pref, len: $len }),)*
                    _ => None,
                }
            }
        }
    };
}

type_table! {
    Bool, 16, 1000, "bool", "boolean", 'B', true, 1;
    Bytea, 17, 1001, "bytea", "bytea", 'U', false, -1;
    Char, 18, 1002, "char", "\"char\"", 'Z', false, 1;
    Name, 19, 1003, "name", "name", 'S', false, 64;
    Int8, 20, 1016, "int8", "bigint", 'N', false, 8;
    Int2, 21, 1005, "int2", "smallint", 'N', false, 2;
    Int2Vector, 22, 1006, "int2vector", "int2vector", 'A', false, -1;
    Int4, 23, 1007, "int4", "integer", 'N', false, 4;
    Regproc, 24, 1008, "regproc", "regproc", 'N', false, 4;
    Text, 25, 1009, "text", "text", 'S', true, -1;
    Oid, 26, 1028, "oid", "oid", 'N', true, 4;
    Xid, 28, 1011, "xid", "xid", 'U', false, 4;
    OidVector, 30, 1013, "oidvector", "oidvector", 'A', false, -1;
    Json, 114, 199, "json", "json", 'U', false, -1;
    PgNodeTree, 194, 0, "pg_node_tree", "pg_node_tree", 'Z', false, -1;
    Float4, 700, 1021, "float4", "real", 'N', false, 4;
    Float8, 701, 1022, "float8", "double precision", 'N', true, 8;
    Unknown, 705, 0, "unknown", "unknown", 'X', false, -2;
    Aclitem, 1033, 1034, "aclitem", "aclitem", 'U', false, 12;
    Bpchar, 1042, 1014, "bpchar", "character", 'S', false, -1;
    Varchar, 1043, 1015, "varchar", "character varying", 'S', false, -1;
    Date, 1082, 1182, "date", "date", 'D', false, 4;
    Time, 1083, 1183, "time", "time without time zone", 'D', false, 8;
    Timestamp, 1114, 1115, "timestamp", "timestamp without time zone", 'D', false, 8;
    Timestamptz, 1184, 1185, "timestamptz", "timestamp with time zone", 'D', true, 8;
    Interval, 1186, 1187, "interval", "interval", 'T', true, 16;
    Timetz, 1266, 1270, "timetz", "time with time zone", 'D', false, 12;
    Bit, 1560, 1561, "bit", "bit", 'V', false, -1;
    Varbit, 1562, 1563, "varbit", "bit varying", 'V', true, -1;
    Numeric, 1700, 1231, "numeric", "numeric", 'N', false, -1;
    Regprocedure, 2202, 2207, "regprocedure", "regprocedure", 'N', false, 4;
    Regoper, 2203, 2208, "regoper", "regoper", 'N', false, 4;
    Regoperator, 2204, 2209, "regoperator", "regoperator", 'N', false, 4;
    Regclass, 2205, 2210, "regclass", "regclass", 'N', false, 4;
    Regtype, 2206, 2211, "regtype", "regtype", 'N', false, 4;
    Cstring, 2275, 1263, "cstring", "cstring", 'P', false, -2;
    Any, 2276, 0, "any", "\"any\"", 'P', false, 4;
    AnyArray, 2277, 0, "anyarray", "anyarray", 'P', false, -1;
    Void, 2278, 0, "void", "void", 'P', false, 4;
    Internal, 2281, 0, "internal", "internal", 'P', false, 8;
    AnyElement, 2283, 0, "anyelement", "anyelement", 'P', false, 4;
    AnyNonArray, 2776, 0, "anynonarray", "anynonarray", 'P', false, 4;
    Uuid, 2950, 2951, "uuid", "uuid", 'U', false, 16;
    Tsvector, 3614, 3643, "tsvector", "tsvector", 'U', false, -1;
    Tsquery, 3615, 3645, "tsquery", "tsquery", 'U', false, -1;
    Regconfig, 3734, 3735, "regconfig", "regconfig", 'N', false, 4;
    Jsonb, 3802, 3807, "jsonb", "jsonb", 'U', false, -1;
    Jsonpath, 4072, 4073, "jsonpath", "jsonpath", 'U', false, -1;
    Regnamespace, 4089, 4090, "regnamespace", "regnamespace", 'N', false, 4;
    Regrole, 4096, 4097, "regrole", "regrole", 'N', false, 4;
    Regcollation, 4191, 4192, "regcollation", "regcollation", 'N', false, 4;
    AnyCompatible, 5077, 0, "anycompatible", "anycompatible", 'P', false, 4;
    AnyCompatibleArray, 5078, 0, "anycompatiblearray", "anycompatiblearray", 'P', false, -1;
}

/// The modifier of a `character` of any length that is kept without the blanks at its end: how those with and without a length compare,
/// and how columns without a length were kept once. No type that is written has it.
pub const TRIMMED: i32 = 4;

/// Types of the keys of maps, in the order of their OIDs.
pub const MAP_KEYS: [PgType; 9] = [
    PgType::Text,
    PgType::Int2,
    PgType::Int4,
    PgType::Int8,
    PgType::Uuid,
    PgType::Date,
    PgType::Timestamp,
    PgType::Timestamptz,
    PgType::Bytea,
];
/// Types of the values of maps, in the order of their OIDs.
pub const MAP_VALUES: [PgType; 19] = [
    PgType::Text,
    PgType::Int2,
    PgType::Int4,
    PgType::Int8,
    PgType::Uuid,
    PgType::Date,
    PgType::Timestamp,
    PgType::Timestamptz,
    PgType::Bytea,
    PgType::Bool,
    PgType::Float4,
    PgType::Float8,
    PgType::Numeric,
    PgType::Varchar,
    PgType::Time,
    PgType::Timetz,
    PgType::Interval,
    PgType::Json,
    PgType::Jsonb,
];
/// The OID of the first type of maps; each type of keys has as many as follow it at this distance.
const FIRST_MAP_OID: u32 = 14_000;
const MAP_OIDS_A_KEY: u32 = 64;

/// All types of maps.
pub fn map_types() -> impl Iterator<Item = PgType> {
    MAP_KEYS.iter().flat_map(|key| MAP_VALUES.iter().map(|value| PgType::Map(Box::new(key.clone()), Box::new(value.clone()))))
}

fn map_oid(key: &PgType, value: &PgType) -> Option<u32> {
    let (key, value) = (MAP_KEYS.iter().position(|ty| ty == key)?, MAP_VALUES.iter().position(|ty| ty == value)?);
    Some(FIRST_MAP_OID + key as u32 * MAP_OIDS_A_KEY + value as u32)
}

fn map_of_oid(oid: u32) -> Option<PgType> {
    let at = oid.checked_sub(FIRST_MAP_OID)?;
    let (key, value) = (MAP_KEYS.get((at / MAP_OIDS_A_KEY) as usize)?, MAP_VALUES.get((at % MAP_OIDS_A_KEY) as usize)?);
    Some(PgType::Map(Box::new(key.clone()), Box::new(value.clone())))
}

/// OID of the anonymous record type.
pub const RECORD_OID: u32 = 2249;
/// OID of `record[]`.
pub const RECORD_ARRAY_OID: u32 = 2287;

impl PgType {
    /// An array of this type; an array of arrays is the same type as the array, as in PostgreSQL.
    #[must_use]
    pub fn array_of(self) -> PgType {
        match self {
            PgType::Array(_) => self,
            other => PgType::Array(Box::new(other)),
        }
    }

    /// The element type of an array, or of the vector types of the catalogs.
    #[must_use]
    pub fn element(&self) -> Option<PgType> {
        match self {
            PgType::Array(inner) => Some((**inner).clone()),
            PgType::Int2Vector => Some(PgType::Int2),
            PgType::OidVector => Some(PgType::Oid),
            _ => None,
        }
    }

    #[must_use]
    pub fn is_array(&self) -> bool {
        matches!(self, PgType::Array(_) | PgType::Int2Vector | PgType::OidVector)
    }

    /// The OID that clients see.
    #[must_use]
    pub fn oid(&self) -> u32 {
        match self {
            PgType::Array(inner) => match &**inner {
                PgType::Record(_) => RECORD_ARRAY_OID,
                // What has no array type of its own goes as text[].
                inner => inner.base_info().map_or(1009, |i| i.array_oid),
            },
            PgType::Record(_) => RECORD_OID,
            PgType::Map(key, value) => map_oid(key, value).unwrap_or(705),
            other => other.base_info().map_or(705, |i| i.oid),
        }
    }

    /// The type with this OID, if it is one of ours.
    #[must_use]
    pub fn from_oid(oid: u32) -> Option<PgType> {
        match oid {
            RECORD_OID => return Some(PgType::Record(None)),
            RECORD_ARRAY_OID => return Some(PgType::Record(None).array_of()),
            0 => return None,
            FIRST_MAP_OID.. => {
                if let Some(map) = map_of_oid(oid) {
                    return Some(map);
                }
            }
            _ => {}
        }
        BASE_TYPES.iter().find_map(|(ty, info)| {
            if info.oid == oid {
                Some(ty.clone())
            } else if info.array_oid == oid {
                Some(ty.clone().array_of())
            } else {
                None
            }
        })
    }

    /// `typname`: `int4`, `_int4`.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            PgType::Array(inner) => format!("_{}", inner.name()),
            PgType::Record(_) => "record".into(),
            PgType::Map(key, value) => format!("map({},{})", key.name(), value.name()),
            other => other.base_info().map_or_else(String::new, |i| i.name.into()),
        }
    }

    /// `typcategory`.
    #[must_use]
    pub fn category(&self) -> char {
        match self {
            // An array of records is a pseudo-type, as records are.
            PgType::Array(element) if matches!(**element, PgType::Record(_)) => 'P',
            PgType::Array(_) => 'A',
            PgType::Record(_) => 'P',
            PgType::Map(..) => 'U',
            other => other.base_info().map_or('U', |i| i.category),
        }
    }

    /// Whether the type is the preferred one of its category.
    #[must_use]
    pub fn is_preferred(&self) -> bool {
        self.base_info().is_some_and(|i| i.preferred)
    }

    /// `typlen`.
    #[must_use]
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> i16 {
        self.base_info().map_or(-1, |i| i.len)
    }

    #[must_use]
    pub fn is_pseudo(&self) -> bool {
        matches!(
            self,
            PgType::Any
                | PgType::AnyElement
                | PgType::AnyArray
                | PgType::AnyNonArray
                | PgType::AnyCompatible
                | PgType::AnyCompatibleArray
                | PgType::Cstring
                | PgType::Internal
                | PgType::Void
        )
    }

    /// Types whose values are text in a plan: text, varchar, char(n), name, "char".
    #[must_use]
    pub fn is_string(&self) -> bool {
        matches!(self, PgType::Text | PgType::Varchar | PgType::Bpchar | PgType::Name | PgType::Char)
    }

    /// Types that travel as an unsigned 32-bit OID.
    #[must_use]
    pub fn is_oid_like(&self) -> bool {
        matches!(
            self,
            PgType::Oid
                | PgType::Xid
                | PgType::Regclass
                | PgType::Regtype
                | PgType::Regproc
                | PgType::Regprocedure
                | PgType::Regnamespace
                | PgType::Regrole
                | PgType::Regconfig
                | PgType::Regoper
                | PgType::Regoperator
                | PgType::Regcollation
        )
    }

    /// Whether equality and order of values are those of the Arrow values, form and modifier aside.
    #[must_use]
    fn has_native_order(&self) -> bool {
        let other = matches!(self, PgType::Numeric | PgType::Interval | PgType::Jsonb | PgType::Timetz | PgType::Float4 | PgType::Float8)
            || matches!(self, PgType::Array(_) | PgType::Record(_) | PgType::Map(..) | PgType::Int2Vector | PgType::OidVector)
            || matches!(self, PgType::Json | PgType::Jsonpath | PgType::Tsquery | PgType::Tsvector);
        !other
    }

    /// The Arrow type without knowledge of a modifier.
    #[must_use]
    pub fn arrow(&self) -> DataType {
        match self {
            PgType::Bool => DataType::Boolean,
            PgType::Int2 => DataType::Int16,
            PgType::Int4 => DataType::Int32,
            PgType::Int8 => DataType::Int64,
            PgType::Float4 => DataType::Float32,
            PgType::Float8 => DataType::Float64,
            PgType::Numeric | PgType::Bytea | PgType::Jsonb => DataType::BinaryView,
            PgType::Date => DataType::Date32,
            PgType::Time => DataType::Time64(TimeUnit::Microsecond),
            PgType::Timetz => DataType::FixedSizeBinary(12),
            PgType::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, None),
            PgType::Timestamptz => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
            PgType::Interval => DataType::Interval(IntervalUnit::MonthDayNano),
            PgType::Uuid => DataType::FixedSizeBinary(16),
            ty if ty.is_oid_like() => DataType::UInt32,
            PgType::Int2Vector => array_arrow(DataType::Int16),
            PgType::OidVector => array_arrow(DataType::UInt32),
            PgType::Array(inner) => array_arrow(inner.arrow()),
            PgType::Record(Some(record)) => {
                DataType::Struct(record.fields.iter().map(|(name, ty)| Field::new(name, ty.arrow.clone(), true)).collect::<Vec<_>>().into())
            }
            PgType::Map(key, value) => DataType::Map(
                Arc::new(Field::new(
                    "entries",
                    DataType::Struct(vec![Field::new("key", key.arrow(), false), Field::new("value", value.arrow(), true)].into()),
                    false,
                )),
                true,
            ),
            _ => DataType::Utf8View,
        }
    }
}

/// The Arrow type of changes of maps of this type: entries that are put, and keys that are removed. No map has such values.
#[must_use]
pub fn map_change_arrow(map: &PgType) -> Option<DataType> {
    let PgType::Map(key, value) = map else { return None };
    let entry = DataType::Struct(vec![Field::new("value", value.arrow(), true), Field::new("removed", DataType::Boolean, false)].into());
    let fields = vec![Field::new("key", key.arrow(), false), Field::new("value", entry, false)];
    Some(DataType::Map(Arc::new(Field::new("entries", DataType::Struct(fields.into()), false)), true))
}

/// A list of this type, with the field name that all our lists have.
#[must_use]
pub fn list_of(item: DataType) -> DataType {
    DataType::List(Arc::new(Field::new("item", item, true)))
}

/// The Arrow type of arrays with such elements: the elements of a value, the last dimension running fastest, and its bounds, for each
/// dimension a length and a lower bound. An array of one dimension from 1, and the empty one, has no bounds written.
#[must_use]
pub fn array_arrow(item: DataType) -> DataType {
    static BOUNDS: LazyLock<Arc<Field>> = LazyLock::new(|| Arc::new(Field::new("bounds", list_of(DataType::Int32), true)));
    DataType::Struct([Arc::new(Field::new("elements", list_of(item), true)), Arc::clone(&BOUNDS)].into_iter().collect())
}

/// The elements' type, if this is the Arrow type of arrays. No other value is a struct of lists.
#[must_use]
pub fn array_item(arrow: &DataType) -> Option<&DataType> {
    let DataType::Struct(fields) = arrow else { return None };
    match fields.first()?.data_type() {
        DataType::List(item) => Some(item.data_type()),
        _ => None,
    }
}

impl SqlType {
    /// The type of arrays with elements of this type; of an array, its own.
    #[must_use]
    pub fn array_of(&self) -> Self {
        let arrow = if matches!(self.ty, PgType::Array(_)) { self.arrow.clone() } else { array_arrow(self.arrow.clone()) };
        Self { ty: self.ty.clone().array_of(), typmod: self.typmod, arrow }
    }

    /// The type of an array's elements, in the form in which the array holds them.
    #[must_use]
    pub fn element(&self) -> Option<Self> {
        Some(Self { ty: self.ty.element()?, typmod: self.typmod, arrow: array_item(&self.arrow)?.clone() })
    }

    /// The type without modifier, in its widest Arrow form.
    #[must_use]
    pub fn new(ty: PgType) -> Self {
        let arrow = ty.arrow();
        Self { ty, typmod: -1, arrow }
    }

    /// The type with a modifier: `numeric(p, s)` with p ≤ 38 becomes a 128-bit decimal.
    #[must_use]
    pub fn with_typmod(ty: PgType, typmod: i32) -> Self {
        let arrow = match numeric_typmod(&ty, typmod) {
            Some((p, s)) if p <= 38 && s >= 0 && i32::from(p) >= s => DataType::Decimal128(p as u8, s as i8),
            _ => match &ty {
                PgType::Array(inner) => array_arrow(SqlType::with_typmod((**inner).clone(), typmod).arrow),
                _ => ty.arrow(),
            },
        };
        Self { ty, typmod, arrow }
    }

    /// A numeric of fixed scale that has no modifier in SQL: a literal, a sum, a product.
    #[must_use]
    pub fn decimal(precision: u8, scale: i8) -> Self {
        Self { ty: PgType::Numeric, typmod: -1, arrow: DataType::Decimal128(precision, scale) }
    }

    /// The same SQL type in its widest Arrow form: numerics as sortable bytes.
    #[must_use]
    pub fn widened(&self) -> Self {
        let arrow = match &self.arrow {
            DataType::Decimal128(..) => DataType::BinaryView,
            DataType::Struct(_) => match self.element() {
                Some(element) => array_arrow(element.widened().arrow),
                None => self.arrow.clone(),
            },
            other => other.clone(),
        };
        Self { ty: self.ty.clone(), typmod: self.typmod, arrow }
    }

    /// Whether equality and order of values are those of the Arrow values. Where not, plans sort, group, join and remove
    /// duplicates by [`crate::values::sort_key`].
    #[must_use]
    pub fn has_native_order(&self) -> bool {
        (self.ty.has_native_order() && !self.keeps_blanks()) || self.decimal_parts().is_some()
    }

    /// Whether values have the blanks at their end that are shown and not compared: `character` without a length.
    #[must_use]
    pub fn keeps_blanks(&self) -> bool {
        self.ty == PgType::Bpchar && self.typmod < 0
    }

    /// Precision and scale when values travel as 128-bit decimals.
    #[must_use]
    pub fn decimal_parts(&self) -> Option<(u8, i8)> {
        match (&self.ty, &self.arrow) {
            (PgType::Numeric, DataType::Decimal128(p, s)) => Some((*p, *s)),
            _ => None,
        }
    }

    /// As `format_type(oid, typmod)` prints it: `character varying(50)`, `numeric(10,2)`, `integer[]`.
    #[must_use]
    pub fn display_name(&self) -> String {
        format_type(&self.ty, self.typmod)
    }
}

impl From<PgType> for SqlType {
    fn from(ty: PgType) -> Self {
        SqlType::new(ty)
    }
}

impl fmt::Display for PgType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&format_type(self, -1))
    }
}

impl fmt::Display for SqlType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.display_name())
    }
}

/// Precision and scale in a modifier of `numeric`.
#[must_use]
pub fn numeric_typmod(ty: &PgType, typmod: i32) -> Option<(u16, i32)> {
    if *ty != PgType::Numeric || typmod < 4 {
        return None;
    }
    let packed = typmod - 4;
    let scale = packed & 0x7ff;
    Some(((packed >> 16) as u16, (scale ^ 1024) - 1024))
}

/// The modifier of `numeric(precision, scale)`.
#[must_use]
pub fn numeric_typmod_of(precision: u16, scale: i32) -> i32 {
    ((i32::from(precision) << 16) | (scale & 0x7ff)) + 4
}

/// The number of characters in a modifier of `varchar(n)` or `char(n)`.
#[must_use]
pub fn length_typmod(typmod: i32) -> Option<usize> {
    (typmod > TRIMMED).then(|| (typmod - 4) as usize)
}

/// A type and modifier as PostgreSQL's `format_type` prints them.
#[must_use]
pub fn format_type(ty: &PgType, typmod: i32) -> String {
    match ty {
        PgType::Array(inner) => format!("{}[]", format_type(inner, typmod)),
        PgType::Record(_) => "record".into(),
        PgType::Map(key, value) => format!("map({key},{value})"),
        PgType::Bpchar if typmod <= TRIMMED => "character".into(),
        PgType::Varchar | PgType::Bpchar => {
            let base = ty.base_info().map_or("", |i| i.sql_name);
            match length_typmod(typmod) {
                Some(n) => format!("{base}({n})"),
                None => base.into(),
            }
        }
        PgType::Numeric => match numeric_typmod(ty, typmod) {
            Some((p, s)) => format!("numeric({p},{s})"),
            None => "numeric".into(),
        },
        PgType::Time if typmod >= 0 => format!("time({typmod}) without time zone"),
        PgType::Timetz if typmod >= 0 => format!("time({typmod}) with time zone"),
        PgType::Timestamp if typmod >= 0 => format!("timestamp({typmod}) without time zone"),
        PgType::Timestamptz if typmod >= 0 => format!("timestamp({typmod}) with time zone"),
        PgType::Bit | PgType::Varbit if typmod > 0 => format!("{}({typmod})", ty.base_info().map_or("", |i| i.sql_name)),
        PgType::Interval if typmod >= 0 => crate::values::interval::format_typmod(typmod),
        other => other.base_info().map_or_else(|| "???".into(), |i| i.sql_name.into()),
    }
}

/// Finds a type by a name written in SQL, already folded to lower case unless it was quoted: `int`, `int4`, `bigint`,
/// `timestamp with time zone`. Modifiers and `[]` are the caller's.
#[must_use]
pub fn type_by_name(name: &str) -> Option<PgType> {
    Some(match name {
        "boolean" => PgType::Bool,
        "smallint" | "tinyint" => PgType::Int2,
        "int" | "integer" => PgType::Int4,
        "bigint" => PgType::Int8,
        "real" => PgType::Float4,
        "float" | "double precision" | "double" => PgType::Float8,
        "decimal" | "dec" => PgType::Numeric,
        "character varying" | "char varying" => PgType::Varchar,
        "bit varying" => PgType::Varbit,
        "string" => PgType::Text,
        "binary" | "blob" => PgType::Bytea,
        "varchar2" => PgType::Varchar,
        "character" => PgType::Bpchar,
        "timestamp with time zone" => PgType::Timestamptz,
        "timestamp without time zone" => PgType::Timestamp,
        "time with time zone" => PgType::Timetz,
        "time without time zone" => PgType::Time,
        "record" => PgType::Record(None),
        other => match other.strip_prefix('_') {
            Some(element) => type_by_name(element)?.array_of(),
            None => BASE_TYPES.iter().find(|(_, info)| info.name == other)?.0.clone(),
        },
    })
}
