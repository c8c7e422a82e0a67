//! What functions tell of objects: definitions, comments, visibility, names; [`super::privileges`] of who may do what.
//!
//! Called for one row each, through [`stoa_pg::context::System`].

use super::updatable::Names;
use super::written_time::as_written;
use super::{Constraint, Definitions, constraint, describe};
use crate::catalog::deparse::quote_name;
use crate::catalog::names::{
    PRIMARY_INDEX_BIT, RULE_BIT, class_name, class_named, is_visible, of_row_type, parse_name, primary_index, qualified, role_name,
    row_array_oid, row_type_oid, shown_relation,
};
use crate::privileges::check_name;
use arrow::array::{ArrayRef, StringViewArray, StructArray};
use arrow::datatypes::DataType;
use datafusion_common::ScalarValue;
use std::sync::Arc;
use stoa_pg::registry::{Func, FuncKind, Registry, Volatility};
use stoa_pg::types::format_type;
use stoa_pg::values::object::{ROW_TYPE, ROW_TYPE_NAME};
use stoa_pg::{EvalContext, PgError, PgResult, PgType, SqlState, SqlType};
use stoa_pg::{collation, type_functions};
use stoa_table::TableId;
use stoa_table::catalog::policy::hides_rows;
use stoa_table::catalog::{CatalogSnapshot, ColumnId, GIN_METHOD, Oid, Relation};

const BTREE_AM: Oid = 403;
const HASH_AM: Oid = 405;
const PG_CLASS: Oid = 1259;
const PG_CONSTRAINT: Oid = 2606;
const PG_NAMESPACE: Oid = 2615;
const PG_PROC: Oid = 1255;
const PG_TYPE: Oid = 1247;

/// The objects that a session sees, and who it is.
pub struct Objects<'a> {
    pub catalog: &'a CatalogSnapshot,
    /// Schemas for unqualified names, in order.
    pub path: &'a [Oid],
    /// The session's schema of temporary objects.
    pub temporary: Option<Oid>,
    /// The role whose rights count.
    pub role: Oid,
    /// What definitions are printed with: the session's settings, and names as a path finds them.
    pub eval: &'a dyn Fn(&[Oid]) -> EvalContext,
}

/// A function's value; `None` from a group of functions that does not have it.
pub type Answer = PgResult<Option<ScalarValue>>;

impl Objects<'_> {
    /// The OID of a relation named as SQL names it.
    ///
    /// # Errors
    /// 42602 for what is no name, 0A000 for one of another database.
    pub fn relation_oid(&self, name: &str) -> PgResult<Option<u32>> {
        let found = class_named(self.catalog, self.path, self.temporary, name)?;
        check_name(self.catalog, self.role, name)?;
        Ok(found)
    }

    /// The OID of the type of a relation's rows, or of arrays of them, by its name.
    fn row_type(&self, name: &str) -> PgResult<Option<Oid>> {
        let (name, is_array) = name.trim().strip_suffix("[]").map_or((name, false), |element| (element, true));
        let Some(oid) = self.relation_oid(name)? else { return Ok(None) };
        let ty = if is_array { row_array_oid(oid) } else { row_type_oid(oid) };
        Ok(of_row_type(self.catalog, ty).map(|_| ty))
    }

    pub(super) fn schema_oid(&self, name: &str) -> Option<u32> {
        self.catalog.schema_by_name(name).map(|s| s.oid)
    }

    pub(super) fn role_oid(&self, name: &str) -> Option<Oid> {
        self.catalog.authority().role_named(name).map(|role| role.oid)
    }

    /// Runs with what definitions are printed against.
    fn with_definitions<T>(&self, run: impl FnOnce(&Definitions<'_>) -> PgResult<T>) -> PgResult<T> {
        let eval = (self.eval)(self.path);
        run(&Definitions { catalog: self.catalog, path: self.path, eval: &eval })
    }

    /// What can be written of views, by the names that the session sees.
    fn written<'s>(&'s self, eval: &'s EvalContext) -> Names<'s> {
        Names { catalog: self.catalog, path: self.path, temporary: self.temporary, eval }
    }

    /// Answers one call; `None` for a function that is not about objects.
    ///
    /// # Errors
    /// What the function raises.
    pub fn call(&self, function: &str, args: &[ScalarValue], result: &SqlType) -> Answer {
        let groups = [visibility, comments, definitions, names, properties];
        for group in groups {
            if let Some(value) = group(self, function, &Args(args), result)? {
                return Ok(Some(value));
            }
        }
        super::privileges::call(self, function, &Args(args))
    }
}

/// Arguments by position.
#[derive(Debug)]
pub struct Args<'a>(pub &'a [ScalarValue]);

impl Args<'_> {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    #[must_use]
    /// A text, or NULL.
    ///
    /// # Errors
    /// None.
    pub fn text(&self, at: usize) -> Option<String> {
        self.0.get(at)?.try_as_str().flatten().map(str::to_owned)
    }

    #[must_use]
    pub fn int(&self, at: usize) -> Option<i64> {
        match self.0.get(at)? {
            ScalarValue::Int16(v) => v.map(i64::from),
            ScalarValue::Int32(v) => v.map(i64::from),
            ScalarValue::Int64(v) => *v,
            ScalarValue::UInt32(v) => v.map(i64::from),
            _ => None,
        }
    }

    #[must_use]
    pub fn oid(&self, at: usize) -> Option<Oid> {
        self.int(at).and_then(|v| u32::try_from(v).ok())
    }

    #[must_use]
    pub fn bool(&self, at: usize) -> Option<bool> {
        match self.0.get(at)? {
            ScalarValue::Boolean(v) => *v,
            _ => None,
        }
    }
}

/// A text, or NULL.
///
/// # Errors
/// None.
pub fn text(value: impl Into<Option<String>>) -> Answer {
    Ok(Some(ScalarValue::Utf8View(value.into())))
}

/// A truth, or NULL.
///
/// # Errors
/// None.
pub fn truth(value: impl Into<Option<bool>>) -> Answer {
    Ok(Some(ScalarValue::Boolean(value.into())))
}

/// A `bigint`, or NULL.
///
/// # Errors
/// None.
pub fn big(value: impl Into<Option<i64>>) -> Answer {
    Ok(Some(ScalarValue::Int64(value.into())))
}

/// An OID, or NULL.
///
/// # Errors
/// None.
pub fn oid_value(value: Option<Oid>) -> Answer {
    Ok(Some(ScalarValue::UInt32(value)))
}

/// Definitions.
fn definitions(o: &Objects<'_>, function: &str, args: &Args<'_>, result: &SqlType) -> Answer {
    let catalog = o.catalog;
    match function {
        "pg_get_expr" => {
            let Some(source) = args.text(0) else { return text(None) };
            let table = args.oid(1).and_then(|oid| catalog.table(oid));
            let pretty = args.bool(2).unwrap_or(false);
            o.with_definitions(|d| text(as_written(d.expr(table, &source, pretty), &source, pretty)))
        }
        "pg_get_ruledef" => {
            // The only rules are those that make relations views.
            let Some(view) = args.oid(0).filter(|oid| oid & RULE_BIT != 0).map(|oid| oid & !RULE_BIT) else { return text(None) };
            let pretty = args.bool(1).unwrap_or(false);
            let name = if pretty { shown_relation(catalog, o.path, view) } else { qualified(catalog, view) };
            let rule = |query| Some(format!("CREATE RULE \"_RETURN\" AS\n    ON SELECT TO {} DO INSTEAD {query}", name?));
            o.with_definitions(|d| text(d.view(view, pretty)?.and_then(rule)))
        }
        "pg_get_constraintdef" => {
            let Some((table, constraint)) = args.oid(0).and_then(|oid| constraint(catalog, oid)) else { return text(None) };
            o.with_definitions(|d| text(d.constraint(table, &constraint, args.bool(1).unwrap_or(false))))
        }
        "pg_get_indexdef" => index_definition(o, args),
        "stoa_get_tabledef" => {
            let Some(relation) = args.oid(0).and_then(|oid| catalog.relation(oid)) else { return text(None) };
            text(super::script::relation_definition(catalog, &(o.eval)(&super::script::NO_PATH), relation)?)
        }
        "pg_get_viewdef" => {
            let oid = match args.text(0) {
                Some(name) => {
                    let found = o.relation_oid(&name)?;
                    Some(found.ok_or_else(|| PgError::new(SqlState::UNDEFINED_TABLE, format!("relation \"{name}\" does not exist")))?)
                }
                None => args.oid(0),
            };
            let Some(oid) = oid else { return text(None) };
            // With a width for lines, it is as pretty.
            let pretty = args.bool(1).unwrap_or(args.int(1).is_some());
            o.with_definitions(|d| text(d.view(oid, pretty)?))
        }
        "pg_get_triggerdef"
        | "pg_get_partkeydef"
        | "pg_get_partition_constraintdef"
        | "pg_get_statisticsobjdef"
        | "pg_get_statisticsobjdef_columns"
        | "pg_get_function_sqlbody"
        | "pg_get_function_arg_default" => text(None),
        "pg_get_functiondef" => match args.oid(0) {
            Some(oid) => text(function_definition(oid)?),
            None => text(None),
        },
        "pg_get_statisticsobjdef_expressions" => null(result),
        "pg_get_function_arguments" | "pg_get_function_identity_arguments" => {
            text(args.oid(0).and_then(function_by_oid).map(|f| arguments(f, function == "pg_get_function_arguments")))
        }
        "pg_get_function_result" => text(args.oid(0).and_then(function_by_oid).map(|f| {
            let set = if f.returns_set { "SETOF " } else { "" };
            format!("{set}{}", format_type(&f.ret, -1))
        })),
        "pg_get_serial_sequence" => serial_sequence(o, args),
        "pg_get_userbyid" => {
            let Some(oid) = args.oid(0) else { return text(None) };
            text(role_name(catalog, oid))
        }
        "pg_get_replica_identity_index" => {
            let table = args.oid(0).and_then(|oid| catalog.table(oid));
            oid_value(table.and_then(|t| {
                let key = t.primary_key.as_ref().filter(|key| t.replica_identity.is_default() || t.is_replica_identity(key.oid));
                let index = t.indexes.iter().map(|index| index.oid).find(|oid| t.is_replica_identity(*oid));
                key.map(|key| key.oid | PRIMARY_INDEX_BIT).or(index)
            }))
        }
        "pg_describe_object" => {
            let (Some(class), Some(object)) = (args.oid(0), args.oid(1)) else { return text(None) };
            let column = args.int(2).and_then(|c| i32::try_from(c).ok()).unwrap_or(0);
            text(match class {
                PG_CLASS => describe(catalog, o.path, object, column),
                PG_NAMESPACE => catalog.schema(object).map(|s| format!("schema {}", quote_name(&s.name))),
                PG_CONSTRAINT => constraint(catalog, object).map(|(table, c)| {
                    let on = shown_relation(catalog, o.path, table.oid).unwrap_or_default();
                    format!("constraint {} on table {on}", quote_name(constraint_name(&c)))
                }),
                PG_TYPE => PgType::from_oid(object).map(|ty| format!("type {}", format_type(&ty, -1))),
                _ => None,
            })
        }
        "pg_identify_object" => {
            let (Some(class), Some(object)) = (args.oid(0), args.oid(1)) else { return null(result) };
            let fields = identity(o, class, object, args.int(2).unwrap_or(0)).unwrap_or_default();
            let DataType::Struct(names) = &result.arrow else { return null(result) };
            let columns = fields.map(|field| Arc::new(StringViewArray::from(vec![field])) as ArrayRef).to_vec();
            let row = StructArray::try_new(names.clone(), columns, None).map_err(|e| PgError::internal(e.to_string()))?;
            Ok(Some(ScalarValue::Struct(Arc::new(row))))
        }
        _ => Ok(None),
    }
}

/// The kind of an object, its schema, its name if that alone names it, and what names it anywhere.
fn identity(o: &Objects<'_>, class: Oid, object: Oid, column: i64) -> Option<[Option<String>; 4]> {
    let catalog = o.catalog;
    let of_schema = |schema: Oid| catalog.schema(schema).map(|s| quote_name(&s.name));
    match class {
        PG_CLASS => {
            let name = class_name(catalog, object)?;
            let described = describe(catalog, o.path, object, 0)?;
            let kind = described.strip_suffix(&shown_relation(catalog, o.path, object)?)?.trim().to_owned();
            let (schema, whole) = (of_schema(name.schema), qualified(catalog, object)?);
            if column == 0 {
                return Some([Some(kind), schema, Some(quote_name(&name.name)), Some(whole)]);
            }
            let id = ColumnId(u32::try_from(column).ok()?);
            let column = super::column_name(catalog.table(object)?, id);
            Some([Some(format!("{kind} column")), schema, Some(quote_name(&name.name)), Some(format!("{whole}.{column}"))])
        }
        PG_NAMESPACE => {
            let name = of_schema(object);
            Some([Some("schema".into()), None, name.clone(), name])
        }
        PG_CONSTRAINT => {
            let (table, found) = constraint(catalog, object)?;
            let on = format!("{} on {}", quote_name(constraint_name(&found)), qualified(catalog, table.oid)?);
            Some([Some("table constraint".into()), of_schema(table.schema), None, Some(on)])
        }
        PG_TYPE => {
            let ty = PgType::from_oid(object)?;
            Some([Some("type".into()), Some("pg_catalog".into()), Some(ty.name()), Some(qualified_type(&ty))])
        }
        PG_PROC => {
            let func = function_by_oid(object)?;
            let kind = if matches!(func.kind, FuncKind::Aggregate(_) | FuncKind::NativeAggregate(_)) { "aggregate" } else { "function" };
            let types: Vec<String> = func.declared_args().map(|ty| qualified_type(&ty)).collect();
            let whole = format!("pg_catalog.{}({})", quote_name(func.name), types.join(","));
            Some([Some(kind.into()), Some("pg_catalog".into()), None, Some(whole)])
        }
        _ => None,
    }
}

/// Comments.
fn comments(o: &Objects<'_>, function: &str, args: &Args<'_>, _: &SqlType) -> Answer {
    let catalog = o.catalog;
    match function {
        "obj_description" => {
            let Some(oid) = args.oid(0) else { return text(None) };
            let class = args.text(1);
            text(comment(catalog, oid, class.as_deref()))
        }
        "col_description" => {
            let (Some(oid), Some(column)) = (args.oid(0), args.int(1)) else { return text(None) };
            text(column_comment(catalog, oid, column))
        }
        "shobj_description" | "pg_tablespace_location" => text(match function {
            "pg_tablespace_location" => Some(String::new()),
            _ if args.text(1).as_deref() == Some("pg_authid") => {
                args.oid(0).and_then(|oid| catalog.authority().role(oid)).and_then(|role| role.comment.clone())
            }
            _ if args.text(1).as_deref() == Some("pg_database") => {
                args.oid(0).and_then(|oid| catalog.authority().database(oid)).and_then(|database| database.comment.clone())
            }
            _ => None,
        }),
        _ => Ok(None),
    }
}

/// Places, privileges by default, properties.
fn properties(o: &Objects<'_>, function: &str, args: &Args<'_>, result: &SqlType) -> Answer {
    let catalog = o.catalog;
    match function {
        // Rows have no place in a file, which those who find one take for granted.
        "pg_relation_filenode" | "pg_filenode_relation" => oid_value(None),
        "pg_relation_filepath" => text(args.oid(0).and_then(|oid| storage(catalog, oid).first().map(|t| format!("table/{}", t.0)))),
        "pg_relation_is_publishable" => truth(false),
        "pg_relation_is_updatable" => {
            let Some(oid) = args.oid(0) else { return null(result) };
            o.with_definitions(|d| Ok(Some(ScalarValue::Int32(Some(o.written(d.eval).events(oid))))))
        }
        "pg_column_is_updatable" => {
            let (Some(oid), Some(number)) = (args.oid(0), args.int(1)) else { return truth(None) };
            o.with_definitions(|d| truth(o.written(d.eval).column(oid, number)))
        }
        "pg_index_column_has_property" | "pg_index_has_property" | "pg_indexam_has_property" => index_property(catalog, function, args),
        "pg_collation_actual_version" => text(None),
        "row_security_active" => {
            let oid = match args.text(0) {
                Some(name) => match o.relation_oid(&name)? {
                    None => return Err(PgError::new(SqlState::UNDEFINED_TABLE, format!("relation \"{name}\" does not exist"))),
                    found => found,
                },
                None => args.oid(0),
            };
            let Some(oid) = oid else { return null(result) };
            truth(catalog.table(oid).is_some_and(|table| hides_rows(catalog, o.role, table)))
        }
        _ => Ok(None),
    }
}

/// Visibility.
fn visibility(o: &Objects<'_>, function: &str, args: &Args<'_>, _: &SqlType) -> Answer {
    let catalog = o.catalog;
    match function {
        "pg_table_is_visible" => truth(args.oid(0).and_then(|oid| is_visible(catalog, o.path, oid))),
        "pg_type_is_visible" => {
            let known = |oid: &Oid| PgType::from_oid(*oid).is_some() || *oid >= stoa_table::catalog::FIRST_USER_OID;
            truth(args.oid(0).filter(known).map(|_| true))
        }
        "pg_function_is_visible" => {
            truth(args.oid(0).filter(|oid| function_by_oid(*oid).is_some() || type_functions::by_oid(*oid).is_some()).map(|_| true))
        }
        "pg_operator_is_visible" => {
            truth(args.oid(0).filter(|oid| Registry::get().all_operators().any(|oper| oper.oid == *oid)).map(|_| true))
        }
        "pg_collation_is_visible" => truth(args.oid(0).and_then(collation::by_oid).map(|_| true)),
        "pg_opclass_is_visible" | "pg_opfamily_is_visible" | "pg_ts_config_is_visible" => truth(args.oid(0).map(|_| true)),
        // There are none.
        "pg_conversion_is_visible"
        | "pg_ts_dict_is_visible"
        | "pg_ts_parser_is_visible"
        | "pg_ts_template_is_visible"
        | "pg_statistics_obj_is_visible" => truth(None),
        _ => Ok(None),
    }
}

/// Names.
fn names(o: &Objects<'_>, function: &str, args: &Args<'_>, _: &SqlType) -> Answer {
    match function {
        "to_regclass" => match args.text(0) {
            Some(name) => oid_value(o.relation_oid(&name)?),
            None => oid_value(None),
        },
        "to_regnamespace" => oid_value(match args.text(0) {
            Some(name) => o.schema_oid(&one_name(&name)?),
            None => None,
        }),
        "to_regtype" => oid_value(match args.text(0) {
            Some(name) => match found(stoa_pg::values::parse_type_name(&name), &[SqlState::UNDEFINED_OBJECT])? {
                Some(ty) => Some(ty.ty.oid()),
                None => o.row_type(&name)?,
            },
            None => None,
        }),
        ROW_TYPE => oid_value(match args.text(0) {
            Some(name) => o.row_type(&name)?,
            None => None,
        }),
        ROW_TYPE_NAME => text(args.oid(0).and_then(|ty| of_row_type(o.catalog, ty)).and_then(|(relation, is_array)| {
            let name = shown_relation(o.catalog, o.path, relation.oid())?;
            Some(if is_array { format!("{name}[]") } else { name })
        })),
        "to_regrole" => oid_value(match args.text(0) {
            Some(name) => o.role_oid(&one_name(&name)?),
            None => None,
        }),
        "to_regproc" | "to_regprocedure" | "to_regoper" | "to_regoperator" | "to_regcollation" => {
            let Some(name) = args.text(0) else { return oid_value(None) };
            let ty = match function {
                "to_regproc" => {
                    parse_name(&name)?;
                    PgType::Regproc
                }
                "to_regprocedure" => PgType::Regprocedure,
                "to_regoper" => PgType::Regoper,
                "to_regoperator" => PgType::Regoperator,
                _ => PgType::Regcollation,
            };
            // That a type does not exist is an error, that a collation does not is not.
            let none = if ty == PgType::Regcollation { SqlState::UNDEFINED_OBJECT } else { SqlState::UNDEFINED_FUNCTION };
            let missing = [none, SqlState::AMBIGUOUS_FUNCTION, SqlState::INVALID_SCHEMA_NAME];
            oid_value(found(stoa_pg::values::object::object_named(&EvalContext::default(), &ty, &name), &missing)?)
        }
        _ => Ok(None),
    }
}

/// NULL of a type.
///
/// # Errors
/// XX000 for a type that has none.
pub fn null(result: &SqlType) -> Answer {
    ScalarValue::try_from(&result.arrow).map(Some).map_err(|e| PgError::internal(e.to_string()))
}

/// A name of one part, as of a role or a schema.
///
/// # Errors
/// 42602 for anything else.
fn one_name(text: &str) -> PgResult<String> {
    match <[String; 1]>::try_from(parse_name(text)?) {
        Ok([name]) => Ok(name),
        Err(_) => Err(PgError::new(SqlState::INVALID_NAME, "invalid name syntax")),
    }
}

/// What was found; `None` for an error that says that there is no such thing.
fn found<T>(result: PgResult<T>, missing: &[SqlState]) -> PgResult<Option<T>> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(e) if missing.contains(&e.code()) => Ok(None),
        Err(e) => Err(e),
    }
}

fn constraint_name<'a>(constraint: &'a Constraint<'_>) -> &'a str {
    match constraint {
        Constraint::PrimaryKey(name) | Constraint::Unique(name, _) => &name.name,
        Constraint::Check(check) => &check.name.name,
        Constraint::ForeignKey(key) => &key.name.name,
    }
}

fn index_definition(o: &Objects<'_>, args: &Args<'_>) -> Answer {
    let catalog = o.catalog;
    let Some(oid) = args.oid(0) else { return text(None) };
    let (table, index) = match catalog.index(oid) {
        Some((table, index)) => (table, Some(index)),
        None => match primary_index(catalog, oid) {
            Some(table) => (table, None),
            None => return text(None),
        },
    };
    let pretty = args.bool(2).unwrap_or(false);
    let column = args.int(1).unwrap_or(0);
    o.with_definitions(|d| {
        if column == 0 {
            return text(d.index(table, index, pretty));
        }
        let n = usize::try_from(column - 1).unwrap_or(usize::MAX);
        text(d.index_column(table, index, n, false, pretty).unwrap_or_default())
    })
}

fn function_by_oid(oid: Oid) -> Option<&'static Arc<Func>> {
    Registry::get().all_functions().find(|f| f.oid == oid)
}

/// A type by its schema, unless SQL has a name of its own for it, as PostgreSQL's `format_type_be_qualified`.
fn qualified_type(ty: &PgType) -> String {
    let shown = format_type(ty, -1);
    let element = ty.element().unwrap_or_else(|| ty.clone());
    let of_sql = matches!(
        element,
        PgType::Bool
            | PgType::Int2
            | PgType::Int4
            | PgType::Int8
            | PgType::Float4
            | PgType::Float8
            | PgType::Numeric
            | PgType::Bpchar
            | PgType::Varchar
            | PgType::Bit
            | PgType::Varbit
            | PgType::Time
            | PgType::Timetz
            | PgType::Timestamp
            | PgType::Timestamptz
            | PgType::Interval
    );
    if of_sql && !matches!(ty, PgType::Int2Vector | PgType::OidVector) { shown } else { format!("pg_catalog.{shown}") }
}

/// `pg_get_functiondef`, of what the catalog says of a function: the body is its name.
///
/// # Errors
/// 42809 for an aggregate.
fn function_definition(oid: Oid) -> PgResult<Option<String>> {
    let (name, arguments, result, window, volatility, strict) = match (function_by_oid(oid), type_functions::by_oid(oid)) {
        (Some(f), _) => {
            if matches!(f.kind, FuncKind::Aggregate(_) | FuncKind::NativeAggregate(_)) {
                return Err(PgError::new(SqlState::WRONG_OBJECT_TYPE, format!("\"{}\" is an aggregate function", f.name)));
            }
            let volatility = match f.volatility {
                Volatility::Immutable => "i",
                Volatility::Stable => "s",
                Volatility::Volatile => "v",
            };
            let set = if f.returns_set { "SETOF " } else { "" };
            let result = format!("{set}{}", format_type(&f.ret, -1));
            (f.name, arguments(f, true), result, matches!(f.kind, FuncKind::Window(_)), volatility, f.strict)
        }
        (None, Some(f)) => {
            let shown = |oid: &u32| PgType::from_oid(*oid).map_or_else(|| "-".to_owned(), |ty| format_type(&ty, -1));
            let arguments: Vec<String> = f.args.iter().map(shown).collect();
            (f.name, arguments.join(", "), shown(&f.ret), false, f.volatility, f.strict)
        }
        (None, None) => return Ok(None),
    };
    let schema = if name.starts_with("_pg_") { "information_schema" } else { "pg_catalog" };
    let words = [
        (window, " WINDOW"),
        (volatility == "i", " IMMUTABLE"),
        (volatility == "s", " STABLE"),
        (true, " PARALLEL SAFE"),
        (strict, " STRICT"),
    ];
    let words: String = words.into_iter().filter(|(holds, _)| *holds).map(|(_, word)| word).collect();
    let head = format!("CREATE OR REPLACE FUNCTION {schema}.{}({arguments})\n RETURNS {result}\n LANGUAGE internal\n", quote_name(name));
    Ok(Some(format!("{head}{words}\nAS $function${name}$function$\n")))
}

/// The list of a function's arguments, with what is taken for those that are left out if `defaults`.
fn arguments(func: &Func, defaults: bool) -> String {
    let last = func.args.len().saturating_sub(1);
    let required = func.args.len().saturating_sub(func.defaults.len());
    let args: Vec<String> = func
        .declared_args()
        .enumerate()
        .map(|(i, ty)| {
            let variadic = if func.variadic && i == last { "VARIADIC " } else { "" };
            let name = func.arg_names.get(i).map_or_else(String::new, |n| format!("{n} "));
            let default = i.checked_sub(required).and_then(|at| func.defaults.get(at)).filter(|_| defaults);
            let default = default.map_or_else(String::new, |text| format!(" DEFAULT {text}"));
            format!("{variadic}{name}{}{default}", format_type(&ty, -1))
        })
        .collect();
    args.join(", ")
}

fn serial_sequence(o: &Objects<'_>, args: &Args<'_>) -> Answer {
    let catalog = o.catalog;
    let (Some(name), Some(column)) = (args.text(0), args.text(1)) else { return text(None) };
    let missing = || PgError::new(SqlState::UNDEFINED_TABLE, format!("relation \"{name}\" does not exist"));
    let oid = o.relation_oid(&name)?.ok_or_else(missing)?;
    let Some(table) = catalog.table(oid) else { return text(None) };
    let column = table.column_by_name(&column).ok_or_else(|| {
        PgError::new(SqlState::UNDEFINED_COLUMN, format!("column \"{column}\" of relation \"{}\" does not exist", table.name))
    })?;
    let sequence = catalog.relations().find_map(|r| match &**r {
        Relation::Sequence(s) if s.owned_by == Some((table.oid, column.id)) => Some(s.oid),
        _ => None,
    });
    text(sequence.and_then(|oid| qualified(catalog, oid)))
}

/// The comment of an object; `class` is the catalog that lists it.
fn comment(catalog: &CatalogSnapshot, oid: Oid, class: Option<&str>) -> Option<String> {
    let class = class.map(|c| c.trim_start_matches("pg_catalog."));
    let in_class = |name: &str| class.is_none_or(|c| c == name);
    if in_class("pg_class") {
        match catalog.relation(oid).map(|r| &**r) {
            Some(Relation::Table(t)) => return t.comment.clone(),
            Some(Relation::View(v)) => return v.comment.clone(),
            Some(Relation::Sequence(s)) => return s.comment.clone(),
            None => {}
        }
        if let Some((_, index)) = catalog.index(oid) {
            return index.comment.clone();
        }
        if let Some(key) = primary_index(catalog, oid).and_then(|table| table.primary_key.as_ref()) {
            return key.index_comment.clone();
        }
    }
    if in_class("pg_namespace")
        && let Some(schema) = catalog.schema(oid)
    {
        return schema.comment.clone();
    }
    if in_class("pg_constraint")
        && let Some((_, found)) = constraint(catalog, oid)
    {
        return match found {
            Constraint::PrimaryKey(name) | Constraint::Unique(name, _) => name.comment.clone(),
            Constraint::Check(check) => check.name.comment.clone(),
            Constraint::ForeignKey(key) => key.name.comment.clone(),
        };
    }
    if in_class("pg_policy") {
        let tables = catalog.relations().filter_map(|r| if let Relation::Table(table) = &**r { Some(table) } else { None });
        let policy = tables.flat_map(|table| &table.row_security.policies).find(|policy| policy.oid == oid);
        if let Some(policy) = policy {
            return policy.comment.clone();
        }
    }
    if in_class("pg_proc") {
        return function_by_oid(oid).map(|f| f.doc.to_owned());
    }
    None
}

fn column_comment(catalog: &CatalogSnapshot, oid: Oid, column: i64) -> Option<String> {
    match &**catalog.relation(oid)? {
        Relation::Table(t) => t.column(ColumnId(u32::try_from(column).ok()?))?.comment.clone(),
        Relation::View(v) => v.columns.get(usize::try_from(column.checked_sub(1)?).ok()?)?.comment.clone(),
        Relation::Sequence(_) => None,
    }
}

// Storage.

/// The tables of the store that an object has, indexes included.
pub fn storage(catalog: &CatalogSnapshot, oid: Oid) -> Vec<TableId> {
    if let Some((_, index)) = catalog.index(oid) {
        return vec![index.storage];
    }
    match catalog.relation(oid).map(|r| &**r) {
        Some(Relation::View(view)) => view.materialized.map_or_else(Vec::new, |table| storage(catalog, table)),
        Some(relation) => stoa_table::catalog::store::storage_of(relation),
        None => Vec::new(),
    }
}

/// The table of the store that holds an object's own rows.
pub fn own_storage(catalog: &CatalogSnapshot, oid: Oid) -> Vec<TableId> {
    let mut all = storage(catalog, oid);
    all.truncate(1);
    all
}

fn index_property(catalog: &CatalogSnapshot, function: &str, args: &Args<'_>) -> Answer {
    let property = args.text(args.len().saturating_sub(1)).unwrap_or_default();
    if function == "pg_indexam_has_property" {
        let Some(method) = args.oid(0) else { return truth(None) };
        let (is_btree, is_hash) = (method == BTREE_AM, method == HASH_AM);
        return truth(match property.as_str() {
            "can_order" | "can_unique" | "can_include" => Some(is_btree),
            "can_multi_col" => Some(!is_hash),
            "can_exclude" => Some(false),
            _ => None,
        });
    }
    let Some(oid) = args.oid(0) else { return truth(None) };
    let (table, index) = match catalog.index(oid) {
        Some((table, index)) => (table, Some(index)),
        None => match primary_index(catalog, oid) {
            Some(table) => (table, None),
            None => return truth(None),
        },
    };
    // What finds words and items has no order of its own.
    let is_ordered = index.is_none_or(|index| index.method != GIN_METHOD && !index.is_fulltext());
    if function == "pg_index_has_property" {
        return truth(match property.as_str() {
            "clusterable" | "backward_scan" | "index_scan" => Some(is_ordered),
            "bitmap_scan" => Some(false),
            _ => None,
        });
    }
    let n = args.int(1).and_then(|n| n.checked_sub(1)).and_then(|n| usize::try_from(n).ok());
    let order = n.and_then(|n| match index {
        Some(index) => index.parts.get(n).map(|p| (p.descending, p.nulls_first)),
        None => table.key_columns().nth(n).map(|p| (p.descending, p.descending)),
    });
    if !is_ordered {
        let properties =
            ["asc", "desc", "nulls_first", "nulls_last", "orderable", "returnable", "search_nulls", "search_array", "distance_orderable"];
        return truth(order.filter(|_| properties.contains(&property.as_str())).map(|_| false));
    }
    truth(match (property.as_str(), order) {
        ("asc", Some((descending, _))) => Some(!descending),
        ("desc", Some((descending, _))) => Some(descending),
        ("nulls_first", Some((_, first))) => Some(first),
        ("nulls_last", Some((_, first))) => Some(!first),
        ("orderable" | "returnable" | "search_nulls" | "search_array", Some(_)) => Some(true),
        ("distance_orderable", Some(_)) => Some(false),
        ("returnable", None) => Some(true),
        _ => None,
    })
}
