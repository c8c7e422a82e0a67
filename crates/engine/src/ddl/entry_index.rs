//! Indexes of one entry of the maps of a table: `CREATE INDEX ON t ((m['k']))` is an index of the table of entries.
//!
//! The entry becomes its value, and the index has the entries of its key alone. An undeclared column, which is named with its type, is read as
//! statements read it.

use super::work::Work;
use std::ops::ControlFlow;
use stoa_pg::{PgError, PgResult, SqlState};
use stoa_sql::bind::fold;
use stoa_sql::catalog::deparse::quote_name;
use stoa_syntax::ast::{self, AccessExpr, Expr, Ident, ObjectName, ObjectNamePart, Subscript, VisitMut, VisitorMut};
use stoa_syntax::ddl::{CreateIndex, IndexElement};
use stoa_table::catalog::{Relation, TableDescriptor};

/// An entry that an index names: the column of maps, and the key.
type Entry = (String, Expr);

/// CREATE INDEX, of rows or of an entry.
pub(crate) async fn create(work: Work<'_>, create: &CreateIndex) -> PgResult<String> {
    let of = match work.find(&create.table)?.as_deref() {
        Some(Relation::Table(table)) => of_entry(work, table, create)?,
        _ => None,
    };
    super::index::create(work, of.as_ref().unwrap_or(create)).await
}

/// The index of the table of entries that an index of one entry is; `None` for an index of rows.
///
/// # Errors
/// 0A000 for an index that has more than one entry, or also what is no part of it.
fn of_entry(work: Work<'_>, table: &TableDescriptor, create: &CreateIndex) -> PgResult<Option<CreateIndex>> {
    if table.map_columns().next().is_none() {
        return Ok(None);
    }
    let mut of = create.clone();
    let mut names = Names { table, entries: Vec::new(), others: Vec::new() };
    for element in &mut of.elements {
        if let Some(entry) = undeclared(table, element)? {
            names.entries.push(entry);
            continue;
        }
        let _ = VisitMut::visit(&mut element.expr, &mut names);
        while let Expr::Nested(inner) = &element.expr
            && matches!(**inner, Expr::Identifier(_) | Expr::Nested(_))
        {
            element.expr = Expr::clone(inner);
        }
    }
    if let Some(predicate) = &mut of.predicate {
        let _ = VisitMut::visit(predicate, &mut names);
    }
    let Names { mut entries, others, .. } = names;
    let Some((column, key)) = entries.pop() else { return Ok(None) };
    let Some(entries_table) = table.column_by_name(&column).and_then(|c| c.entries).and_then(|oid| work.catalog().table(oid).cloned())
    else {
        return Err(PgError::internal("a column of maps without a table of entries"));
    };
    let refused = |message: String| {
        Err(PgError::unsupported(message)
            .hint(format!("Index them by themselves, or make an index of {}.", quote_name(&entries_table.name))))
    };
    if entries.iter().any(|(other, at)| *other != column || *at != key) {
        return refused("indexes of more than one entry of maps are not supported".into());
    }
    if let Some(other) = others.into_iter().chain(create.include.iter().map(fold)).next() {
        return refused(format!("indexes of an entry of a map and of column \"{other}\" are not supported"));
    }
    let schema = work.catalog().schema(entries_table.schema).map(|schema| schema.name.clone());
    let part = |name: String| ObjectNamePart::Identifier(Ident::with_quote('"', name));
    of.table = ObjectName(schema.into_iter().chain([entries_table.name.clone()]).map(part).collect());
    let own = Expr::BinaryOp { left: Box::new(name("key")), op: ast::BinaryOperator::Eq, right: Box::new(key) };
    of.predicate = Some(match of.predicate {
        Some(more) => Expr::BinaryOp { left: Box::new(own), op: ast::BinaryOperator::And, right: Box::new(Expr::Nested(Box::new(more))) },
        None => own,
    });
    Ok(Some(of))
}

fn name(column: &str) -> Expr {
    Expr::Identifier(Ident::with_quote('"', column))
}

/// The undeclared column that an element names with its type, which stands where operator classes do; the element then is the value.
///
/// # Errors
/// 42704 for what is no type.
fn undeclared(table: &TableDescriptor, element: &mut IndexElement) -> PgResult<Option<Entry>> {
    let (Some(maps), Expr::Identifier(ident), Some(ty)) = (table.dynamic_column(), &element.expr, &element.operator_class) else {
        return Ok(None);
    };
    let column = fold(ident);
    if table.column_by_name(&column).is_some() {
        return Ok(None);
    }
    let value = match fold_name(ty).as_str() {
        "jsonb" => "\"value\"".to_owned(),
        _ => format!("(\"value\" #>> '{{}}')::{ty}"),
    };
    let unknown = |_| PgError::new(SqlState::UNDEFINED_OBJECT, format!("type \"{ty}\" does not exist"));
    element.expr = stoa_syntax::parse_expression(&value).map_err(unknown)?;
    element.operator_class = None;
    let key = Expr::Value(ast::Value::SingleQuotedString(column).into());
    Ok(Some((maps.name.clone(), key)))
}

fn fold_name(name: &ObjectName) -> String {
    name.0.last().and_then(ObjectNamePart::as_ident).map(fold).unwrap_or_default()
}

/// Puts the value in the place of entries, and notes what else is named.
struct Names<'t> {
    table: &'t TableDescriptor,
    entries: Vec<Entry>,
    /// Columns that no entry has.
    others: Vec<String>,
}

impl Names<'_> {
    /// `m['k']` of a column of maps and a constant.
    fn entry(&self, e: &Expr) -> Option<Entry> {
        let Expr::CompoundFieldAccess { root, access_chain } = e else { return None };
        let (Expr::Identifier(column), [AccessExpr::Subscript(Subscript::Index { index: key })]) = (&**root, access_chain.as_slice())
        else {
            return None;
        };
        let column = fold(column);
        let is_map = self.table.map_columns().any(|map| map.name == column);
        let constant = matches!(key, Expr::Value(_) | Expr::Cast { .. } | Expr::UnaryOp { .. } | Expr::TypedString { .. });
        (is_map && constant).then(|| (column, key.clone()))
    }
}

impl VisitorMut for Names<'_> {
    type Break = ();

    fn pre_visit_expr(&mut self, e: &mut Expr) -> ControlFlow<()> {
        if let Some(entry) = self.entry(e) {
            self.entries.push(entry);
            *e = name("value");
        } else if let Expr::Identifier(ident) = e {
            let column = fold(ident);
            let of_key = self.table.column_by_name(&column).is_some_and(|c| self.table.is_key(c.id));
            self.others.extend((!of_key).then_some(column));
        }
        ControlFlow::Continue(())
    }
}
