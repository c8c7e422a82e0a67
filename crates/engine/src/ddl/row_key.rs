//! The parts of PRIMARY KEY: columns, what is made of them, and salt.
//!
//! ```text
//! part    column | HASH(column [, bytes]) | MD5(column [, bytes]) | REVERSE(column)          made of a column, which rows are found by
//!         UNSIGNED(column, bytes) | SIGNED(column, bytes) | DIGITS(column, digits)            a column as other programs lay it out
//!         FIXED(column, bytes) | DELIMITED(column, 'c') | REST(column [, bytes])
//!         MAX - column                                                                        column DESC
//!         SALT(buckets [, column, …])                                                         first of all
//! ```
//!
//! Invariant: a key tells rows apart by the columns that it names.

use super::builder::TableBuilder;
use stoa_pg::{PgError, PgResult, PgType, SqlState, SqlType};
use stoa_sql::bind::fold;
use stoa_sql::catalog::deparse::quote_name;
use stoa_syntax::ast;
use stoa_syntax::ddl::{Constraint, ConstraintKind, KeyColumns};
use stoa_table::catalog::{ColumnDescriptor, ColumnId, KeyForm, KeyPart, Salt};
use stoa_table::row::key_form::{self, WIDEST};

/// The parts of a row key; a SALT among them is the table's.
///
/// # Errors
/// 42601 and 22023 as [`read`]; 42703 and 42701 for columns that are not there, or twice; 42P16 for parts that make no key.
pub(super) fn parts(builder: &mut TableBuilder<'_>, key: &KeyColumns, on: Option<ColumnId>) -> PgResult<Vec<KeyPart>> {
    if key.using_index.is_some() || on.is_some() {
        let columns = builder.key_columns(key, on, "primary key")?;
        return Ok(columns.into_iter().map(|(column, descending, _)| KeyPart { column, descending, form: KeyForm::Value }).collect());
    }
    let invalid = |message: String| PgError::new(SqlState::INVALID_TABLE_DEFINITION, message);
    let mut parts: Vec<KeyPart> = Vec::with_capacity(key.columns.len());
    let mut salt = None;
    for (at, element) in key.columns.iter().enumerate() {
        let position = || builder.work.position(&element.expr);
        let (name, form, from_max) = match read(&element.expr).map_err(|e| e.at(position()))? {
            Element::Part { column, form, from_max } => (column, form, from_max),
            Element::Salt { buckets, columns } if at == 0 => {
                salt = Some((buckets, columns));
                continue;
            }
            Element::Salt { .. } => return Err(invalid("SALT is the first part of a key".into()).at(position())),
        };
        let column = builder.table.column_by_name(&name).ok_or_else(|| {
            PgError::new(SqlState::UNDEFINED_COLUMN, format!("column \"{name}\" named in key does not exist")).at(position())
        })?;
        if parts.iter().any(|p| p.column == column.id && (p.form == form || (p.form.gives_back() && form.gives_back()))) {
            let message = format!("column \"{name}\" appears twice in primary key constraint");
            return Err(PgError::new(SqlState::DUPLICATE_COLUMN, message).at(position()));
        }
        if matches!(form, KeyForm::Rest(_)) && (at + 1 < key.columns.len() || element.descending) {
            return Err(invalid("REST is the last part of a key, and ascending".into()).at(position()));
        }
        key_form::kind(form, &column.ty).map_err(|e| e.at(position()))?;
        parts.push(KeyPart { column: column.id, descending: element.descending != from_max, form });
    }
    for part in parts.iter().filter(|p| !p.form.tells_apart()) {
        if !parts.iter().any(|p| p.column == part.column && p.form.tells_apart()) {
            let name = builder.column_name(part.column);
            return Err(invalid(format!("{} does not tell rows apart", part.form.written(&name)))
                .hint(format!("Put \"{name}\" behind it; a filter on \"{name}\" finds the row by both.")));
        }
    }
    if parts.is_empty() {
        return Err(invalid("a primary key has at least one column".into()));
    }
    if let Some((buckets, names)) = salt {
        let own: Vec<ColumnId> = parts.iter().map(|p| p.column).collect();
        let mut columns = builder.columns_named(&names, "named in SALT")?;
        if columns.iter().any(|c| !own.contains(c)) {
            return Err(invalid("SALT takes columns of the primary key".into()));
        }
        if columns.is_empty() {
            own.iter().for_each(|id| {
                if !columns.contains(id) {
                    columns.push(*id)
                }
            });
        }
        builder.table.salt = Some(Salt { buckets, columns });
        builder.table.split_points = Vec::new();
        builder.salted_by_key = true;
    }
    Ok(parts)
}

/// A part as written.
enum Element {
    Part { column: String, form: KeyForm, from_max: bool },
    Salt { buckets: u16, columns: Vec<String> },
}

/// Reads a part of PRIMARY KEY.
///
/// # Errors
/// 42601 for what is no part of a key; 22023 for a width that no part has.
fn read(expr: &ast::Expr) -> PgResult<Element> {
    let part = |column: String, form: KeyForm| Ok(Element::Part { column, form, from_max: false });
    match expr {
        ast::Expr::Identifier(name) => part(fold(name), KeyForm::Value),
        ast::Expr::BinaryOp { left, op: ast::BinaryOperator::Minus, right } => match (&**left, &**right) {
            (ast::Expr::Identifier(max), ast::Expr::Identifier(name)) if fold(max) == "max" => {
                Ok(Element::Part { column: fold(name), form: KeyForm::Value, from_max: true })
            }
            _ => Err(not_a_part(expr)),
        },
        ast::Expr::Function(function) => {
            let name = function.name.0.last().and_then(|part| part.as_ident()).map(fold).unwrap_or_default();
            let args = arguments(function).ok_or_else(|| not_a_part(expr))?;
            if name == "salt" {
                return salt(expr, &args);
            }
            let (Some(ast::Expr::Identifier(column)), more) = (args.first().copied(), args.get(1).copied()) else {
                return Err(not_a_part(expr));
            };
            if args.len() > 2 {
                return Err(not_a_part(expr));
            }
            let width = |unless: Option<u32>, most: u32| -> PgResult<u32> {
                match (more, unless) {
                    (None, Some(width)) => Ok(width),
                    (None, None) => Err(PgError::new(SqlState::SYNTAX_ERROR, format!("{} needs a width", name.to_uppercase()))),
                    (Some(given), _) => number(given).filter(|n| (1..=most).contains(n)).ok_or_else(|| {
                        let message = format!("the width of {} must be between 1 and {most}", name.to_uppercase());
                        PgError::new(SqlState::INVALID_PARAMETER_VALUE, message)
                    }),
                }
            };
            let byte = |unless: Option<u32>, most: u8| width(unless, u32::from(most)).map(|n| u8::try_from(n).unwrap_or(most));
            let form = match name.as_str() {
                "hash" => KeyForm::Hash(byte(Some(2), 8)?),
                "md5" => KeyForm::Md5(byte(Some(16), 16)?),
                "reverse" if more.is_none() => KeyForm::Reversed,
                "unsigned" => KeyForm::Unsigned(byte(None, 8)?),
                "signed" => KeyForm::Signed(byte(None, 8)?),
                // More digits than that are not in 64 bits.
                "digits" => KeyForm::Digits(byte(None, 18)?),
                "fixed" => KeyForm::Fixed(width(None, WIDEST)?),
                // As long as a whole key may be.
                "rest" => KeyForm::Rest(width(Some(WIDEST), 32_767)?),
                "delimited" => KeyForm::Delimited(delimiter(more)?),
                _ => return Err(not_a_part(expr)),
            };
            part(fold(column), form)
        }
        _ => Err(not_a_part(expr)),
    }
}

fn not_a_part(expr: &ast::Expr) -> PgError {
    PgError::new(SqlState::SYNTAX_ERROR, format!("{expr} is no part of a primary key")).hint(
        "A part is a column, HASH(column, bytes), MD5(column, bytes), REVERSE(column), MAX - column, SALT(buckets), or a layout: UNSIGNED, SIGNED, \
         DIGITS, FIXED, DELIMITED, REST. Others are generated columns.",
    )
}

fn arguments(function: &ast::Function) -> Option<Vec<&ast::Expr>> {
    let ast::FunctionArguments::List(list) = &function.args else { return None };
    let plain = |arg| match arg {
        &ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(ref expr)) => Some(expr),
        _ => None,
    };
    list.args.iter().map(plain).collect()
}

fn number(expr: &ast::Expr) -> Option<u32> {
    match expr {
        ast::Expr::Value(value) => match &value.value {
            ast::Value::Number(digits, _) => digits.to_string().parse().ok(),
            _ => None,
        },
        _ => None,
    }
}

fn delimiter(expr: Option<&ast::Expr>) -> PgResult<u8> {
    let text = match expr {
        Some(ast::Expr::Value(value)) => match &value.value {
            ast::Value::SingleQuotedString(text) => text.as_bytes(),
            _ => &[],
        },
        _ => &[],
    };
    match text {
        [byte @ 0x01..=0x7f] => Ok(*byte),
        // No text has it, and no character says it.
        br"\x00" => Ok(0),
        _ => Err(PgError::new(SqlState::INVALID_PARAMETER_VALUE, "DELIMITED takes one character, which is ASCII")),
    }
}

fn salt(expr: &ast::Expr, args: &[&ast::Expr]) -> PgResult<Element> {
    let (first, rest) = args.split_first().ok_or_else(|| not_a_part(expr))?;
    let buckets = number(first).and_then(|n| u16::try_from(n).ok()).filter(|n| (2..=256).contains(n));
    let buckets = buckets.ok_or_else(|| PgError::new(SqlState::INVALID_PARAMETER_VALUE, "SALT takes 2 to 256 buckets"))?;
    let name = |expr: &&ast::Expr| match expr {
        ast::Expr::Identifier(name) => Some(fold(name)),
        _ => None,
    };
    let columns = rest.iter().map(name).collect::<Option<Vec<_>>>().ok_or_else(|| not_a_part(expr))?;
    Ok(Element::Salt { buckets, columns })
}

/// 42704 for types without an order, as PostgreSQL says it of index columns.
pub(crate) fn check_key_type(column: Option<&ColumnDescriptor>) -> PgResult<()> {
    match column {
        Some(column) => check_order(&column.ty),
        None => Ok(()),
    }
}

/// 42704 for types without an order.
pub(crate) fn check_order(ty: &SqlType) -> PgResult<()> {
    if matches!(ty.ty, PgType::Json | PgType::Jsonpath | PgType::Map(..)) {
        return Err(PgError::new(
            SqlState::UNDEFINED_OBJECT,
            format!("data type {} has no default operator class for access method \"btree\"", ty.ty),
        )
        .hint("You must specify an operator class for the index or define a default operator class for the data type."));
    }
    Ok(())
}

/// The type of a column that is written with this one: a struct is an object.
///
/// # Errors
/// 42704.
pub(super) fn type_of_column(data_type: &ast::DataType) -> PgResult<SqlType> {
    stoa_sql::bind::type_name::sql_type(if matches!(data_type, ast::DataType::Struct(..)) { &ast::DataType::JSONB } else { data_type })
}

/// What a type asks of the values of a column beside what the type that they are kept in does.
///
/// # Errors
/// As [`struct_fields`].
pub(super) fn check_of_type(column: &str, data_type: &ast::DataType) -> PgResult<Option<(Constraint, ast::Expr)>> {
    match data_type {
        ast::DataType::Struct(fields, _) => struct_fields(column, fields).map(Some),
        // A smallint of one byte.
        ast::DataType::TinyInt(_) => check_of(&format!("{} BETWEEN -128 AND 127", quote_name(column))).map(Some),
        _ => Ok(None),
    }
}

/// The check of a STRUCT, which is a jsonb: an object of its fields and no others, each with a value that its type takes, or none.
///
/// # Errors
/// 42704 for types that there are not; 42701 for a field that comes twice.
fn struct_fields(column: &str, fields: &[ast::StructField]) -> PgResult<(Constraint, ast::Expr)> {
    let text_of = |text: &str| format!("'{}'", text.replace('\'', "''"));
    let (own, mut names) = (quote_name(column), Vec::with_capacity(fields.len()));
    let mut parts = vec![format!("jsonb_typeof({own}) = 'object'")];
    for field in fields {
        let name = field.field_name.as_ref().map(stoa_sql::bind::fold).unwrap_or_default();
        let key = text_of(&name);
        if names.contains(&key) {
            return Err(PgError::new(
                SqlState::DUPLICATE_COLUMN,
                format!("field \"{name}\" of column \"{column}\" specified more than once"),
            ));
        }
        let kinds = match &field.field_type {
            ast::DataType::Struct(..) | ast::DataType::Map(..) => Some("'object', 'null'"),
            ast::DataType::Array(_) => Some("'array', 'null'"),
            other => match stoa_sql::bind::type_name::sql_type(other)?.ty {
                PgType::Text | PgType::Varchar | PgType::Bpchar => Some("'string', 'null'"),
                PgType::Json | PgType::Jsonb => None,
                _ => {
                    // A value that the type does not take is an error of the cast.
                    parts.push(format!("(({own} ->> {key})::{other} IS NULL) = (({own} ->> {key}) IS NULL)"));
                    None
                }
            },
        };
        parts.extend(kinds.map(|kinds| format!("coalesce(jsonb_typeof({own} -> {key}) IN ({kinds}), true)")));
        names.push(key);
    }
    parts.push(format!("{own} - ARRAY[{}]::text[] = '{{}}'", names.join(", ")));
    check_of(&parts.join(" AND "))
}

/// A check as a constraint, and its condition.
fn check_of(text: &str) -> PgResult<(Constraint, ast::Expr)> {
    let expr = stoa_syntax::parse_expression(text).map_err(stoa_sql::bind::syntax_error)?;
    let constraint = Constraint {
        name: None,
        kind: ConstraintKind::Check(expr.clone()),
        deferrable: None,
        initially_deferred: None,
        not_valid: false,
        no_inherit: false,
        position: 0,
    };
    Ok((constraint, expr))
}
