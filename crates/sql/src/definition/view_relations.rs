//! Relations that the text of a view names in literals, `nextval('s')` and `'t'::regclass`: kept by OID, shown by name.
//!
//! What such a literal means is decided when the view is made, as in PostgreSQL: neither the search path of who reads the view nor a new name
//! of the relation changes it.

use crate::bind::BindContext;
use crate::bind::sqlparser_span::Span;
use crate::catalog::deparse::{quote_name, quote_text};
use std::collections::HashMap;
use std::ops::ControlFlow;
use stoa_pg::PgType;
use stoa_pg::registry::Registry;
use stoa_syntax::ast::{
    self, DataType, Expr, FunctionArg, FunctionArgExpr, FunctionArguments, ObjectName, ObjectNamePart, Value, VisitMut, VisitorMut,
};
use stoa_table::catalog::{CatalogSnapshot, Oid};

/// Puts OIDs in the place of names, of those too (`meant`) of which only what stands around them says that they are names; gives the
/// relations.
pub(super) fn by_oid(context: &BindContext<'_>, meant: &HashMap<Span, Oid>, query: &mut ast::Query) -> Vec<Oid> {
    let mut by_oid = ByOid(context, Vec::new());
    let _ = VisitMut::visit(query, &mut by_oid);
    // What was written in their place has places of its own: a literal at the beginning of a text.
    let mut by_place = ByPlace { context, meant, named: by_oid.1 };
    let _ = VisitMut::visit(query, &mut by_place);
    by_place.named
}

struct ByPlace<'a> {
    context: &'a BindContext<'a>,
    meant: &'a HashMap<Span, Oid>,
    named: Vec<Oid>,
}

impl VisitorMut for ByPlace<'_> {
    type Break = ();

    fn post_visit_expr(&mut self, e: &mut Expr) -> ControlFlow<()> {
        if let Expr::Value(value) = e
            && let Some(oid) = self.meant.get(&value.span).filter(|oid| self.context.catalog.relation(**oid).is_some())
        {
            self.named.push(*oid);
            *e = regclass(&oid.to_string());
        }
        ControlFlow::Continue(())
    }
}

struct ByOid<'a>(&'a BindContext<'a>, Vec<Oid>);

impl ByOid<'_> {
    /// The literal by OID, with its type, if it names a relation.
    fn literal(&mut self, e: &Expr) -> Option<Expr> {
        let name = text(e)?;
        let oid = self.0.eval.system.relation_oid(name).ok().flatten()?;
        // Those of the system are called so for ever.
        self.0.catalog.relation(oid)?;
        self.1.push(oid);
        Some(regclass(&oid.to_string()))
    }
}

impl VisitorMut for ByOid<'_> {
    type Break = ();

    fn post_visit_expr(&mut self, e: &mut Expr) -> ControlFlow<()> {
        match e {
            Expr::Cast { expr, data_type: DataType::Regclass, .. } => {
                if let Some(new) = self.literal(expr) {
                    *e = new;
                }
            }
            Expr::TypedString(typed) if typed.data_type == DataType::Regclass => {
                if let Some(new) = self.literal(&Expr::Value(typed.value.clone())) {
                    *e = new;
                }
            }
            Expr::Function(function) => {
                let Some(ObjectNamePart::Identifier(name)) = function.name.0.last() else { return ControlFlow::Continue(()) };
                let name = crate::bind::fold(name);
                let FunctionArguments::List(list) = &mut function.args else { return ControlFlow::Continue(()) };
                let count = list.args.len();
                for (at, arg) in list.args.iter_mut().enumerate() {
                    if let FunctionArg::Unnamed(FunctionArgExpr::Expr(arg)) = arg
                        && takes_relation(&name, count, at)
                        && let Some(new) = self.literal(arg)
                    {
                        *arg = new;
                    }
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

/// Whether a literal as an argument of a function of this name is a relation.
fn takes_relation(name: &str, count: usize, at: usize) -> bool {
    let mut of_width = Registry::get().functions(name).iter().filter(|f| f.args.len() == count).peekable();
    of_width.peek().is_some() && of_width.all(|f| f.args.get(at) == Some(&PgType::Regclass))
}

/// Puts the names that relations have now in the place of OIDs: of those that the path finds, without a schema.
pub(super) fn by_name(catalog: &CatalogSnapshot, path: &[Oid], query: &mut ast::Query) {
    struct ByName<'a>(&'a CatalogSnapshot, &'a [Oid]);
    impl VisitorMut for ByName<'_> {
        type Break = ();
        fn post_visit_expr(&mut self, e: &mut Expr) -> ControlFlow<()> {
            if let Expr::Cast { expr, data_type: DataType::Regclass, .. } = e
                && let Some(oid) = text(expr).and_then(|oid| oid.parse().ok())
                && let Some(relation) = self.0.relation(oid)
            {
                let found = self.1.iter().find_map(|schema| self.0.relation_by_name(*schema, relation.name()));
                let schema = self.0.schema(relation.schema()).filter(|_| found.is_none_or(|found| found.oid() != oid));
                let name = match schema {
                    Some(schema) => format!("{}.{}", quote_name(&schema.name), quote_name(relation.name())),
                    None => quote_name(relation.name()),
                };
                *e = regclass(&name);
            }
            ControlFlow::Continue(())
        }
    }
    let _ = VisitMut::visit(query, &mut ByName(catalog, path));
}

/// The name of the type of a cast that may be the row type of a table, or an array of it.
pub(super) fn row_type(e: &mut Expr) -> Option<&mut ObjectName> {
    fn name(ty: &mut DataType) -> Option<&mut ObjectName> {
        match ty {
            DataType::Custom(name, modifiers) if modifiers.is_empty() => Some(name),
            DataType::Array(ast::ArrayElemTypeDef::SquareBracket(element, _)) => name(element),
            _ => None,
        }
    }
    match e {
        Expr::Cast { data_type, .. } => name(data_type),
        Expr::TypedString(typed) => name(&mut typed.data_type),
        _ => None,
    }
}

fn text(e: &Expr) -> Option<&str> {
    match e {
        Expr::Nested(inner) => text(inner),
        Expr::Value(value) => match &value.value {
            Value::SingleQuotedString(text) => Some(text),
            _ => None,
        },
        _ => None,
    }
}

fn regclass(text: &str) -> Expr {
    // What is read is what was written here: a literal and a type.
    stoa_syntax::parse_expression(&format!("{}::regclass", quote_text(text))).unwrap_or_else(|_| Expr::Identifier(ast::Ident::new(text)))
}
