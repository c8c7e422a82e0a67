//! Evaluation of jsonpath over jsonb, lax and strict.
//!
//! A fault that SQL/JSON defines is [`Fault::Item`]: a predicate turns it into "unknown", `silent` into no result. Anything else
//! (a missing variable) is [`Fault::Fatal`] and always reaches the user.

use super::datetime::Datetime;
use super::syntax::{Arithmetic, Comparison, Expr, Method, Path, Step};
use crate::context::EvalContext;
use crate::error::{PgError, PgResult};
use crate::sqlstate::SqlState;
use crate::values::json::binary::{Builder, Node};
use crate::values::json::number;
use crate::values::json::text::{JsonKind, Sink};
use crate::values::numeric::Numeric;
use std::cmp::Ordering;
use std::sync::Arc;
use stoa_text::regexp::{Interrupt, Searcher};

const NUMBER_NOT_FOUND: SqlState = SqlState(*b"2203B");

/// One value in a sequence.
#[derive(Clone, Debug)]
pub enum Item<'a> {
    /// Inside the document, the variables or the path.
    Node(Node<'a>),
    /// A number that was computed.
    Number(String),
    /// An object that was made by `.keyvalue()`.
    Document(Arc<[u8]>),
    Datetime(Datetime),
}

impl<'a> Item<'a> {
    /// The value as a node; dates as strings.
    pub fn with_node<T>(&self, f: impl FnOnce(Node) -> T) -> T {
        match self {
            Item::Node(node) => f(*node),
            Item::Number(digits) => f(Node::Number(digits)),
            Item::Document(bytes) => f(Node::root(bytes)),
            Item::Datetime(value) => f(Node::String(&value.to_text())),
        }
    }

    fn kind(&self) -> JsonKind {
        match self {
            Item::Node(node) => node.kind(),
            Item::Number(_) => JsonKind::Number,
            Item::Datetime(_) => JsonKind::String,
            Item::Document(bytes) => Node::root(bytes).kind(),
        }
    }

    fn is_array(&self) -> bool {
        self.kind() == JsonKind::Array
    }

    fn digits(&self) -> Option<&str> {
        match self {
            Item::Node(Node::Number(digits)) => Some(digits),
            Item::Number(digits) => Some(digits),
            _ => None,
        }
    }

    fn string(&self) -> Option<&str> {
        match self {
            Item::Node(Node::String(value)) => Some(value),
            _ => None,
        }
    }

    /// A part of this item: borrowed where the item is.
    fn part(&self, find: impl for<'n> FnOnce(Node<'n>) -> Option<Node<'n>>) -> Option<Item<'a>> {
        match self {
            Item::Node(node) => find(*node).map(Item::Node),
            Item::Document(bytes) => find(Node::root(bytes)).map(|node| Item::Document(node.document().into())),
            _ => None,
        }
    }

    /// Elements of an array, or values of an object.
    fn children(&self) -> Vec<Item<'a>> {
        fn of(node: Node) -> Vec<Node> {
            match node {
                Node::Array(array) => array.iter().collect(),
                Node::Object(object) => object.iter().map(|(_, value)| value).collect(),
                _ => Vec::new(),
            }
        }
        match self {
            Item::Node(node) => of(*node).into_iter().map(Item::Node).collect(),
            Item::Document(bytes) => of(Node::root(bytes)).into_iter().map(|n| Item::Document(n.document().into())).collect(),
            _ => Vec::new(),
        }
    }
}

/// Why evaluation stopped.
#[derive(Debug)]
pub enum Fault {
    Item(PgError),
    Fatal(PgError),
}

impl Fault {
    #[must_use]
    pub fn error(self) -> PgError {
        match self {
            Fault::Item(error) | Fault::Fatal(error) => error,
        }
    }
}

type Outcome<T = ()> = Result<T, Fault>;

fn fault(code: SqlState, message: impl Into<String>) -> Fault {
    Fault::Item(PgError::new(code, message))
}

/// What a predicate says; `None` is unknown.
type Truth = Option<bool>;

/// One evaluation of a path on a document.
pub struct Evaluation<'a> {
    path: &'a Path,
    root: Node<'a>,
    variables: Node<'a>,
    /// The session's environment, where comparisons may use its zone.
    session: Option<&'a EvalContext>,
    /// Set below `.**`, where strict mode does not insist on structure.
    forgiving: std::cell::Cell<bool>,
    /// Set where faults raise no error: what `.**` finds below an item comes after a fault in the item itself.
    silent: std::cell::Cell<bool>,
}

/// What `@` and `last` mean at a place.
#[derive(Clone, Copy)]
struct Scope<'s, 'a> {
    current: &'s Item<'a>,
    array_len: Option<usize>,
}

impl<'a> Evaluation<'a> {
    /// # Errors
    /// 22023 if `variables` is not an object.
    pub fn new(path: &'a Path, root: Node<'a>, variables: Node<'a>, session: Option<&'a EvalContext>) -> PgResult<Self> {
        if !matches!(variables, Node::Object(_)) {
            return Err(PgError::new(SqlState::INVALID_PARAMETER_VALUE, "\"vars\" argument is not an object")
                .detail("Jsonpath parameters should be encoded as key-value pairs of \"vars\" object."));
        }
        Ok(Self { path, root, variables, session, forgiving: std::cell::Cell::new(false), silent: std::cell::Cell::new(false) })
    }

    /// Whether faults end the evaluation without an error.
    #[must_use]
    pub fn silent(self, silent: bool) -> Self {
        self.silent.set(silent);
        self
    }

    /// The sequence that the path yields.
    pub fn query(&self) -> Outcome<Vec<Item<'a>>> {
        let mut out = Vec::new();
        self.query_into(&mut out)?;
        Ok(out)
    }

    /// The items up to the first fault, and the fault.
    pub fn query_so_far(&self) -> (Vec<Item<'a>>, Option<Fault>) {
        let mut out = Vec::new();
        let fault = self.query_into(&mut out).err();
        (out, fault)
    }

    fn query_into(&self, out: &mut Vec<Item<'a>>) -> Outcome {
        let root = Item::Node(self.root);
        self.expr(&self.path.expr, Scope { current: &root, array_len: None }, out)
    }

    /// Whether the path yields anything; in lax mode what comes after the first item does not matter.
    pub fn exists(&self) -> Outcome<bool> {
        let mut out = Vec::new();
        let root = Item::Node(self.root);
        match self.any(&self.path.expr, Scope { current: &root, array_len: None }, &mut out) {
            Err(_) if !self.path.strict && !out.is_empty() => Ok(true),
            Err(other) => Err(other),
            Ok(()) => Ok(!out.is_empty()),
        }
    }

    /// An expression of which it matters alone whether it yields anything: what has no sign does not count then, in lax mode.
    fn any<'s>(&self, expr: &'a Expr, scope: Scope<'s, 'a>, out: &mut Vec<Item<'a>>) -> Outcome {
        match expr {
            Expr::Sign { of, .. } if self.lax() => {
                out.extend(self.unwrapped(of, scope)?.into_iter().find(|item| item.digits().is_some()));
                Ok(())
            }
            other => self.expr(other, scope, out),
        }
    }

    fn lax(&self) -> bool {
        !self.path.strict
    }

    fn structural(&self, code: SqlState, message: impl Into<String>) -> Outcome {
        if self.lax() || self.forgiving.get() { Ok(()) } else { Err(fault(code, message)) }
    }

    fn expr<'s>(&self, expr: &'a Expr, scope: Scope<'s, 'a>, out: &mut Vec<Item<'a>>) -> Outcome {
        match expr {
            Expr::Access { base, steps } => {
                let mut bases = Vec::new();
                self.expr(base, scope, &mut bases)?;
                for item in &bases {
                    self.steps(item, steps, self.lax(), scope, out)?;
                }
                return Ok(());
            }
            Expr::Root => out.push(Item::Node(self.root)),
            Expr::Current => out.push(scope.current.clone()),
            Expr::Last => {
                let len = scope
                    .array_len
                    .ok_or_else(|| Fault::Fatal(PgError::internal("evaluating jsonpath LAST outside of array subscript")))?;
                out.push(Item::Number((len as i64 - 1).to_string()));
            }
            Expr::Null => out.push(Item::Node(Node::Null)),
            Expr::Bool(value) => out.push(Item::Node(Node::Bool(*value))),
            Expr::Number(digits) => out.push(Item::Node(Node::Number(digits))),
            Expr::String(value) => out.push(Item::Node(Node::String(value))),
            Expr::Variable(name) => {
                let value = match self.variables {
                    Node::Object(object) => object.get(name),
                    _ => None,
                };
                out.push(Item::Node(value.ok_or_else(|| {
                    Fault::Fatal(PgError::new(SqlState::UNDEFINED_OBJECT, format!("could not find jsonpath variable \"{name}\"")))
                })?));
            }
            Expr::Binary(op, a, b) => {
                let a = self.operand(a, scope, "left", *op)?;
                let b = self.operand(b, scope, "right", *op)?;
                out.push(Item::Number(arithmetic(*op, &a, &b)?));
            }
            Expr::Sign { negative, of } => {
                for item in self.unwrapped(of, scope)? {
                    let sign = if *negative { "-" } else { "+" };
                    let digits = item.digits().ok_or_else(|| {
                        fault(NUMBER_NOT_FOUND, format!("operand of unary jsonpath operator {sign} is not a numeric value"))
                    })?;
                    out.push(Item::Number(if *negative { compute(|| Ok(Numeric::parse(digits)?.neg()))? } else { digits.to_owned() }));
                }
            }
            predicate => out.push(Item::Node(match self.predicate(predicate, scope)? {
                Some(value) => Node::Bool(value),
                None => Node::Null,
            })),
        }
        Ok(())
    }

    /// The sequence of an expression with arrays replaced by their elements, in lax mode.
    fn unwrapped<'s>(&self, expr: &'a Expr, scope: Scope<'s, 'a>) -> Outcome<Vec<Item<'a>>> {
        let mut items = Vec::new();
        self.expr(expr, scope, &mut items)?;
        if self.lax() && items.iter().any(Item::is_array) {
            items = items.into_iter().flat_map(|item| if item.is_array() { item.children() } else { vec![item] }).collect();
        }
        Ok(items)
    }

    fn operand<'s>(&self, expr: &'a Expr, scope: Scope<'s, 'a>, side: &str, op: Arithmetic) -> Outcome<String> {
        let items = self.unwrapped(expr, scope)?;
        match items.as_slice() {
            [item] if item.digits().is_some() => Ok(item.digits().unwrap_or("0").to_owned()),
            _ => Err(fault(
                SqlState::SINGLETON_SQL_JSON_ITEM_REQUIRED,
                format!("{side} operand of jsonpath operator {} is not a single numeric value", op.sign()),
            )),
        }
    }

    /// Applies accessors to an item. `unwrap`: an array may stand for its elements.
    fn steps<'s>(&self, item: &Item<'a>, steps: &'a [Step], unwrap: bool, scope: Scope<'s, 'a>, out: &mut Vec<Item<'a>>) -> Outcome {
        let Some((step, rest)) = steps.split_first() else {
            out.push(item.clone());
            return Ok(());
        };
        let next = |item: &Item<'a>, out: &mut Vec<Item<'a>>| self.steps(item, rest, self.lax(), scope, out);
        let elements = |out: &mut Vec<Item<'a>>| -> Outcome {
            item.children().iter().try_for_each(|element| self.steps(element, steps, false, scope, out))
        };
        match step {
            Step::Key(key) => match item.kind() {
                JsonKind::Object => {
                    let found = item.part(|node| match node {
                        Node::Object(object) => object.get(key),
                        _ => None,
                    });
                    match found {
                        Some(value) => next(&value, out),
                        None => self.structural(SqlState::SQL_JSON_MEMBER_NOT_FOUND, format!("JSON object does not contain key \"{key}\"")),
                    }
                }
                JsonKind::Array if unwrap => elements(out),
                _ => self.structural(SqlState::SQL_JSON_MEMBER_NOT_FOUND, "jsonpath member accessor can only be applied to an object"),
            },
            Step::AnyKey => match item.kind() {
                JsonKind::Object => item.children().iter().try_for_each(|value| next(value, out)),
                JsonKind::Array if unwrap => elements(out),
                _ => self
                    .structural(SqlState::SQL_JSON_OBJECT_NOT_FOUND, "jsonpath wildcard member accessor can only be applied to an object"),
            },
            Step::AnyElement => {
                if item.is_array() {
                    item.children().iter().try_for_each(|value| next(value, out))
                } else if self.lax() {
                    next(item, out)
                } else {
                    self.structural(SqlState::SQL_JSON_ARRAY_NOT_FOUND, "jsonpath wildcard array accessor can only be applied to an array")
                }
            }
            Step::Index(list) => self.index(item, list, scope, &next, out),
            Step::AnyDepth { from, to } => {
                let (from, to) = (from.unwrap_or(u32::MAX), to.unwrap_or(u32::MAX));
                let outer = self.forgiving.replace(true);
                let result = (|| {
                    if from == 0 {
                        match next(item, out) {
                            Err(Fault::Item(_)) if self.silent.get() && matches!(item.kind(), JsonKind::Array | JsonKind::Object) => {}
                            other => other?,
                        }
                    }
                    self.any_depth(item, 1, from, to, &next, out)
                })();
                self.forgiving.set(outer);
                result
            }
            Step::Filter(predicate) => {
                if unwrap && item.is_array() {
                    return elements(out);
                }
                let truth = self.predicate(predicate, Scope { current: item, ..scope })?;
                if truth == Some(true) { next(item, out) } else { Ok(()) }
            }
            Step::Method(method) => self.method(item, *method, unwrap, &next, &elements, out),
            Step::Datetime(template) => {
                if unwrap && item.is_array() {
                    return elements(out);
                }
                let text = item.string().ok_or_else(|| {
                    fault(
                        SqlState::INVALID_ARGUMENT_FOR_SQL_JSON_DATETIME_FUNCTION,
                        "jsonpath item method .datetime() can only be applied to a string",
                    )
                })?;
                if let Some(template) = template {
                    let value = Datetime::by_template(text, template).map_err(Fault::Item)?;
                    return next(&Item::Datetime(value), out);
                }
                let value = Datetime::parse(text).ok_or_else(|| {
                    Fault::Item(
                        PgError::new(
                            SqlState::INVALID_ARGUMENT_FOR_SQL_JSON_DATETIME_FUNCTION,
                            format!("datetime format is not recognized: \"{text}\""),
                        )
                        .hint("Use a datetime template argument to specify the input data format."),
                    )
                })?;
                next(&Item::Datetime(value), out)
            }
        }
    }

    fn index<'s>(
        &self,
        item: &Item<'a>,
        list: &'a [(Expr, Option<Expr>)],
        scope: Scope<'s, 'a>,
        next: &dyn Fn(&Item<'a>, &mut Vec<Item<'a>>) -> Outcome,
        out: &mut Vec<Item<'a>>,
    ) -> Outcome {
        let elements = if item.is_array() {
            item.children()
        } else if self.lax() {
            vec![item.clone()]
        } else {
            return self.structural(SqlState::SQL_JSON_ARRAY_NOT_FOUND, "jsonpath array accessor can only be applied to an array");
        };
        let len = elements.len() as i64;
        let inner = Scope { array_len: Some(elements.len()), ..scope };
        for (from, to) in list {
            let from = self.subscript(from, inner)?;
            let to = match to {
                Some(to) => self.subscript(to, inner)?,
                None => from,
            };
            if from < 0 || from > to || to >= len {
                self.structural(SqlState::INVALID_SQL_JSON_SUBSCRIPT, "jsonpath array subscript is out of bounds")?;
            }
            for at in from.max(0)..=to.min(len - 1) {
                if let Some(element) = usize::try_from(at).ok().and_then(|at| elements.get(at)) {
                    next(element, out)?;
                }
            }
        }
        Ok(())
    }

    fn subscript<'s>(&self, expr: &'a Expr, scope: Scope<'s, 'a>) -> Outcome<i64> {
        let mut items = Vec::new();
        self.expr(expr, scope, &mut items)?;
        let digits = match items.as_slice() {
            [item] => item.digits(),
            _ => None,
        }
        .ok_or_else(|| fault(SqlState::INVALID_SQL_JSON_SUBSCRIPT, "jsonpath array subscript is not a single numeric value"))?;
        let whole = digits.split_once('.').map_or(digits, |(whole, _)| whole);
        whole
            .parse::<i32>()
            .map(i64::from)
            .map_err(|_| fault(SqlState::INVALID_SQL_JSON_SUBSCRIPT, "jsonpath array subscript is out of integer range"))
    }

    fn any_depth(
        &self,
        item: &Item<'a>,
        level: u32,
        from: u32,
        to: u32,
        next: &dyn Fn(&Item<'a>, &mut Vec<Item<'a>>) -> Outcome,
        out: &mut Vec<Item<'a>>,
    ) -> Outcome {
        if level > to {
            return Ok(());
        }
        for child in item.children() {
            let container = matches!(child.kind(), JsonKind::Array | JsonKind::Object);
            if level >= from || (from == u32::MAX && to == u32::MAX && !container) {
                next(&child, out)?;
            }
            if level < to && container {
                self.any_depth(&child, level + 1, from, to, next, out)?;
            }
        }
        Ok(())
    }

    fn method(
        &self,
        item: &Item<'a>,
        method: Method,
        unwrap: bool,
        next: &dyn Fn(&Item<'a>, &mut Vec<Item<'a>>) -> Outcome,
        elements: &dyn Fn(&mut Vec<Item<'a>>) -> Outcome,
        out: &mut Vec<Item<'a>>,
    ) -> Outcome {
        let name = method.name();
        match method {
            Method::Type => {
                let name = match item {
                    Item::Datetime(value) => value.kind.name(),
                    other => other.kind().name(),
                };
                return next(&Item::Node(Node::String(name)), out);
            }
            Method::Size => {
                let len = match item.is_array() {
                    true => item.with_node(|node| if let Node::Array(array) = node { array.len() } else { 1 }),
                    false => {
                        if !self.lax() {
                            return self.structural(
                                SqlState::SQL_JSON_ARRAY_NOT_FOUND,
                                "jsonpath item method .size() can only be applied to an array",
                            );
                        }
                        1
                    }
                };
                return next(&Item::Number(len.to_string()), out);
            }
            _ => {}
        }
        if unwrap && item.is_array() {
            return elements(out);
        }
        match method {
            Method::Type | Method::Size => Ok(()),
            Method::Ceiling | Method::Floor | Method::Abs => {
                let digits = item.digits().ok_or_else(|| {
                    fault(
                        SqlState::NON_NUMERIC_SQL_JSON_ITEM,
                        format!("jsonpath item method .{name}() can only be applied to a numeric value"),
                    )
                })?;
                let value = compute(|| {
                    let value = Numeric::parse(digits)?;
                    Ok(match method {
                        Method::Ceiling => value.ceil(),
                        Method::Floor => value.floor(),
                        _ => value.abs(),
                    })
                })?;
                next(&Item::Number(value), out)
            }
            Method::Double => {
                if let Some(digits) = item.digits() {
                    if digits.parse::<f64>().is_ok_and(f64::is_finite) {
                        return next(item, out);
                    }
                    return Err(fault(
                        SqlState::NON_NUMERIC_SQL_JSON_ITEM,
                        "numeric argument of jsonpath item method .double() is out of range for type double precision",
                    ));
                }
                let Some(text) = item.string() else {
                    return Err(fault(
                        SqlState::NON_NUMERIC_SQL_JSON_ITEM,
                        "jsonpath item method .double() can only be applied to a string or numeric value",
                    ));
                };
                let value = text.trim().parse::<f64>().ok().filter(|value| value.is_finite()).ok_or_else(|| {
                    fault(
                        SqlState::NON_NUMERIC_SQL_JSON_ITEM,
                        "string argument of jsonpath item method .double() is not a valid representation of a double precision number",
                    )
                })?;
                next(&Item::Number(compute(|| Ok(Numeric::from_f64(value)))?), out)
            }
            Method::KeyValue => {
                if item.kind() != JsonKind::Object {
                    return Err(fault(
                        SqlState::SQL_JSON_OBJECT_NOT_FOUND,
                        "jsonpath item method .keyvalue() can only be applied to an object",
                    ));
                }
                let id = self.identity(item);
                let pairs = item.with_node(|node| {
                    let Node::Object(object) = node else { return Ok(Vec::new()) };
                    object.iter().map(|(key, value)| pair(key, &value, &id)).collect::<PgResult<Vec<_>>>()
                });
                for document in pairs.map_err(Fault::Fatal)? {
                    next(&Item::Document(document.into()), out)?;
                }
                Ok(())
            }
        }
    }

    /// A number that tells an object from the others of the document: where it stands.
    fn identity(&self, item: &Item<'a>) -> String {
        match (item, self.root) {
            (Item::Node(Node::Object(object)), root) => object.offset_in(&root).unwrap_or(0).to_string(),
            _ => "0".to_owned(),
        }
    }

    fn predicate<'s>(&self, expr: &'a Expr, scope: Scope<'s, 'a>) -> Outcome<Truth> {
        Ok(match expr {
            Expr::And(a, b) => match self.predicate(a, scope)? {
                Some(false) => Some(false),
                left => match self.predicate(b, scope)? {
                    Some(true) => left,
                    right => right,
                },
            },
            Expr::Or(a, b) => match self.predicate(a, scope)? {
                Some(true) => Some(true),
                left => match self.predicate(b, scope)? {
                    Some(false) => left,
                    right => right,
                },
            },
            Expr::Not(of) => self.predicate(of, scope)?.map(|value| !value),
            Expr::IsUnknown(of) => Some(self.predicate(of, scope)?.is_none()),
            Expr::Exists(of) => {
                let mut items = Vec::new();
                match self.any(of, scope, &mut items) {
                    Ok(()) => Some(!items.is_empty()),
                    Err(_) if self.lax() && !items.is_empty() => Some(true),
                    Err(Fault::Item(_)) => None,
                    Err(fatal) => return Err(fatal),
                }
            }
            Expr::Compare(op, a, b) => {
                let (Some(a), Some(b)) = (self.known(a, scope)?, self.known(b, scope)?) else { return Ok(None) };
                self.any_pair(&a, &b, |a, b| self.compare(*op, a, b))?
            }
            Expr::StartsWith(of, initial) => {
                let (Some(of), Some(initial)) = (self.known(of, scope)?, self.known(initial, scope)?) else { return Ok(None) };
                self.any_pair(&of, &initial, |value, initial| {
                    Ok(match (value.string(), initial.string()) {
                        (Some(value), Some(initial)) => Some(value.starts_with(initial)),
                        _ => None,
                    })
                })?
            }
            Expr::LikeRegex { of, regex, .. } => {
                let Some(of) = self.known(of, scope)? else { return Ok(None) };
                self.any_pair(&of, &[Item::Node(Node::Null)], |value, _| {
                    value
                        .string()
                        .map(|v| Searcher::new(self.session.map(|s| s as &dyn Interrupt), Arc::clone(regex)).is_match(v))
                        .transpose()
                        .map_err(Fault::Fatal)
                })?
            }
            // The parser lets nothing else stand here.
            _ => None,
        })
    }

    /// The operand of a predicate; `None` if it cannot be computed.
    fn known<'s>(&self, expr: &'a Expr, scope: Scope<'s, 'a>) -> Outcome<Option<Vec<Item<'a>>>> {
        let outer = self.silent.replace(true);
        let items = self.unwrapped(expr, scope);
        self.silent.set(outer);
        match items {
            Ok(items) => Ok(Some(items)),
            Err(Fault::Item(_)) => Ok(None),
            Err(fatal) => Err(fatal),
        }
    }

    /// Whether a test holds for any pair; strict mode wants all of them known.
    fn any_pair(&self, a: &[Item<'a>], b: &[Item<'a>], test: impl Fn(&Item<'a>, &Item<'a>) -> Outcome<Truth>) -> Outcome<Truth> {
        let (mut unknown, mut found) = (false, false);
        for left in a {
            for right in b {
                match test(left, right)? {
                    None if !self.lax() => return Ok(None),
                    None => unknown = true,
                    Some(true) if self.lax() => return Ok(Some(true)),
                    Some(true) => found = true,
                    Some(false) => {}
                }
            }
        }
        Ok(match (found, unknown) {
            (true, _) => Some(true),
            (_, true) => None,
            _ => Some(false),
        })
    }

    fn compare(&self, op: Comparison, a: &Item<'a>, b: &Item<'a>) -> Outcome<Truth> {
        if let (Item::Datetime(a), Item::Datetime(b)) = (a, b) {
            let order = a.compare(*b, self.session).map_err(Fault::Fatal)?;
            return Ok(order.map(|order| holds(op, order)));
        }
        if matches!(a, Item::Datetime(_)) != matches!(b, Item::Datetime(_)) && a.kind() == b.kind() {
            return Ok(None);
        }
        let (ka, kb) = (a.kind(), b.kind());
        if ka != kb {
            // null differs from everything; other kinds cannot be compared.
            let null = ka == JsonKind::Null || kb == JsonKind::Null;
            return Ok(null.then_some(op == Comparison::NotEqual));
        }
        let order = match ka {
            JsonKind::Null => Ordering::Equal,
            JsonKind::Bool => match (a, b) {
                (Item::Node(Node::Bool(a)), Item::Node(Node::Bool(b))) => a.cmp(b),
                _ => return Ok(None),
            },
            JsonKind::Number => number::compare(a.digits().unwrap_or("0"), b.digits().unwrap_or("0")),
            JsonKind::String => a.string().cmp(&b.string()),
            JsonKind::Array | JsonKind::Object => return Ok(None),
        };
        Ok(Some(holds(op, order)))
    }
}

fn holds(op: Comparison, order: Ordering) -> bool {
    match op {
        Comparison::Equal => order == Ordering::Equal,
        Comparison::NotEqual => order != Ordering::Equal,
        Comparison::Less => order == Ordering::Less,
        Comparison::LessOrEqual => order != Ordering::Greater,
        Comparison::Greater => order == Ordering::Greater,
        Comparison::GreaterOrEqual => order != Ordering::Less,
    }
}

fn pair(key: &str, value: &Node, id: &str) -> PgResult<Vec<u8>> {
    let mut out = Builder::new();
    out.begin_object()?;
    out.key("id")?;
    out.canonical_number(id);
    out.key("key")?;
    out.string(key)?;
    out.key("value")?;
    out.node(value);
    out.end_object()?;
    out.finish()
}

/// A number's text; errors of arithmetic are faults of the item.
fn compute(f: impl FnOnce() -> PgResult<Numeric>) -> Outcome<String> {
    let value = f().map_err(Fault::Item)?;
    let mut out = Vec::new();
    value.write_text(&mut out);
    String::from_utf8(out).map_err(|_| Fault::Fatal(PgError::internal("a number that is not UTF-8")))
}

fn arithmetic(op: Arithmetic, a: &str, b: &str) -> Outcome<String> {
    compute(|| {
        let (a, b) = (Numeric::parse(a)?, Numeric::parse(b)?);
        match op {
            Arithmetic::Add => a.add(&b),
            Arithmetic::Sub => a.sub(&b),
            Arithmetic::Mul => a.mul(&b),
            Arithmetic::Div => a.div(&b),
            Arithmetic::Mod => a.rem(&b),
        }
    })
}
