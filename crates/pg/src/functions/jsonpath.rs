//! The functions and operators that evaluate jsonpath.
//!
//! [`syntax`] is the tree, [`parse`] reads it, [`eval`] evaluates it. A path that is the same in consecutive rows is parsed once.

mod datetime;
mod eval;
pub(crate) mod parse;
pub(crate) mod syntax;

use crate::args::{Arg, Bool, Bytes, Call, Kernel, Kind, Reader, Text, arg};
use crate::error::{PgError, PgResult};
use crate::functions::json::rows::Rows;
use crate::registry::{Func, Registry, SetKernel};
use crate::sqlstate::SqlState;
use crate::types::PgType;
use crate::values::json::binary::{Builder, Node, VERSION};
use crate::values::json::text::Sink;
use arrow::array::Array;
use eval::{Evaluation, Fault, Item};
use std::sync::Arc;
use syntax::Path;

/// The canonical text of a path.
///
/// # Errors
/// 42601 and 22P02, as the input of `jsonpath` raises them.
pub fn canonical(text: &str) -> PgResult<String> {
    Ok(parse::parse(text)?.to_string())
}

/// A document `{}`: the variables where none are given.
const NO_VARIABLES: &[u8] = &[VERSION, 6, 0];

/// The arguments `(target, path [, vars, silent])`.
struct Inputs<'a> {
    target: Reader<'a, Bytes>,
    path: Reader<'a, Text>,
    variables: Option<Reader<'a, Bytes>>,
    silent: Option<Reader<'a, Bool>>,
    /// Operators are silent and have no variables.
    operator: bool,
    zoned: bool,
    parsed: Option<(String, Path)>,
}

impl<'a> Inputs<'a> {
    fn new(args: &'a [Arg], operator: bool, zoned: bool) -> PgResult<Self> {
        Ok(Self {
            target: Reader::new(arg(args, 0)?)?,
            path: Reader::new(arg(args, 1)?)?,
            variables: args.get(2).map(Reader::new).transpose()?,
            silent: args.get(3).map(Reader::new).transpose()?,
            operator,
            zoned,
            parsed: None,
        })
    }

    /// Whether faults are silenced; `None` if that argument is NULL.
    fn is_silent(&self, row: usize) -> PgResult<Option<bool>> {
        match &self.silent {
            Some(reader) => reader.get(row),
            None => Ok(Some(self.operator)),
        }
    }

    /// The items of a row; where faults are silenced, those before the first.
    fn items<T>(&mut self, call: &Call, row: usize, f: impl FnOnce(Vec<Item>) -> Result<Option<T>, Fault>) -> PgResult<Option<T>> {
        let silent = self.is_silent(row)?.unwrap_or(false);
        self.row(call, row, |evaluation| {
            let (items, fault) = evaluation.query_so_far();
            match fault {
                Some(fault) if !(silent && matches!(fault, Fault::Item(_))) => Err(fault),
                _ => f(items),
            }
        })
    }

    /// Evaluates for a row; `None` when an argument is NULL or a fault was silenced.
    fn row<T>(&mut self, call: &Call, row: usize, f: impl FnOnce(&Evaluation) -> Result<Option<T>, Fault>) -> PgResult<Option<T>> {
        let (Some(target), Some(text)) = (self.target.get(row)?, self.path.get(row)?) else { return Ok(None) };
        let variables = match &self.variables {
            Some(reader) => match reader.get(row)? {
                Some(value) => value,
                None => return Ok(None),
            },
            None => NO_VARIABLES,
        };
        let Some(silent) = self.is_silent(row)? else { return Ok(None) };
        if self.parsed.as_ref().is_none_or(|(known, _)| known != text) {
            self.parsed = Some((text.to_owned(), parse::parse(text)?));
        }
        let Some((_, path)) = &self.parsed else { return Ok(None) };
        let session = self.zoned.then_some(call.ctx);
        let evaluation = Evaluation::new(path, Node::root(target), Node::root(variables), session)?.silent(silent);
        match f(&evaluation) {
            Ok(value) => Ok(value),
            Err(Fault::Item(_)) if silent => Ok(None),
            Err(fault) => Err(fault.error()),
        }
    }
}

fn exists(operator: bool, zoned: bool) -> Kernel {
    Arc::new(move |call, args| {
        let mut inputs = Inputs::new(args, operator, zoned)?;
        let mut out = Bool::builder(call.rows);
        for row in 0..call.rows {
            out.push(inputs.row(call, row, |evaluation| evaluation.exists().map(Some))?);
        }
        Bool::finish(out, call.ret)
    })
}

fn matches(operator: bool, zoned: bool) -> Kernel {
    Arc::new(move |call, args| {
        let mut inputs = Inputs::new(args, operator, zoned)?;
        let mut out = Bool::builder(call.rows);
        for row in 0..call.rows {
            out.push(inputs.row(call, row, |evaluation| match evaluation.query()?.as_slice() {
                [Item::Node(Node::Bool(value))] => Ok(Some(*value)),
                [Item::Node(Node::Null)] => Ok(None),
                _ => Err(Fault::Item(PgError::new(SqlState::SINGLETON_SQL_JSON_ITEM_REQUIRED, "single boolean result is expected"))),
            })?);
        }
        Bool::finish(out, call.ret)
    })
}

/// The kernel of `@?`.
pub fn exists_operator() -> Kernel {
    exists(true, false)
}

/// The kernel of `@@`.
pub fn match_operator() -> Kernel {
    matches(true, false)
}

fn query_array(zoned: bool) -> Kernel {
    Arc::new(move |call, args| {
        let mut inputs = Inputs::new(args, false, zoned)?;
        let mut out = Bytes::builder(call.rows);
        for row in 0..call.rows {
            let items = inputs.items(call, row, |items| {
                let mut builder = Builder::new();
                builder.begin_array().map_err(Fault::Fatal)?;
                for item in items {
                    item.with_node(|node| builder.node(&node));
                }
                builder.end_array().and_then(|()| builder.finish()).map(Some).map_err(Fault::Fatal)
            })?;
            out.append_option(items);
        }
        Bytes::finish(out, call.ret)
    })
}

fn query_first(zoned: bool) -> Kernel {
    Arc::new(move |call, args| {
        let mut inputs = Inputs::new(args, false, zoned)?;
        let mut out = Bytes::builder(call.rows);
        for row in 0..call.rows {
            out.append_option(inputs.items(call, row, |items| Ok(items.first().map(|item| item.with_node(|node| node.document()))))?);
        }
        Bytes::finish(out, call.ret)
    })
}

fn query(zoned: bool) -> SetKernel {
    Arc::new(move |call, args, row| {
        let mut inputs = Inputs::new(args, false, zoned)?;
        let mut out = Bytes::builder(0);
        inputs.items(call, row, |items| {
            for item in items {
                out.append_value(item.with_node(|node| node.document()));
            }
            Ok(Some(()))
        })?;
        Rows::of(vec![Arc::new(out.finish()) as Arc<dyn Array>])
    })
}

/// Registers the entries of this file.
pub fn register(r: &mut Registry) {
    use PgType::{Jsonb, Jsonpath};
    let args = [Jsonb, Jsonpath, Jsonb, PgType::Bool];
    let mut add = |func: Func, zoned: bool| {
        let func = func.named(&["target", "path", "vars", "silent"]).defaults(&["'{}'::jsonb", "false"]);
        r.add(if zoned { func.stable() } else { func });
    };
    for zoned in [false, true] {
        let name = |plain: &'static str, tz: &'static str| if zoned { tz } else { plain };
        add(
            Func::scalar(
                name("jsonb_path_exists", "jsonb_path_exists_tz"),
                &args,
                PgType::Bool,
                exists(false, zoned),
                "Checks whether the JSON path returns any item for the specified JSON value.",
            ),
            zoned,
        );
        add(
            Func::scalar(
                name("jsonb_path_match", "jsonb_path_match_tz"),
                &args,
                PgType::Bool,
                matches(false, zoned),
                "Returns the result of a JSON path predicate check for the specified JSON value.",
            ),
            zoned,
        );
        add(
            Func::scalar(
                name("jsonb_path_query_array", "jsonb_path_query_array_tz"),
                &args,
                Jsonb,
                query_array(zoned),
                "Returns all JSON items returned by the JSON path for the specified JSON value, as a JSON array.",
            ),
            zoned,
        );
        add(
            Func::scalar(
                name("jsonb_path_query_first", "jsonb_path_query_first_tz"),
                &args,
                Jsonb,
                query_first(zoned),
                "Returns the first JSON item returned by the JSON path for the specified JSON value.",
            ),
            zoned,
        );
        let name = name("jsonb_path_query", "jsonb_path_query_tz");
        let mut func = Func::set(
            name,
            &args,
            vec![("", Jsonb)],
            Jsonb,
            query(zoned),
            "Returns all JSON items returned by the JSON path for the specified JSON value.",
        );
        func.strict = true;
        add(func, zoned);
    }
    for (name, kernel) in [("jsonb_path_exists_opr", exists(true, false)), ("jsonb_path_match_opr", matches(true, false))] {
        r.scalar(name, &[Jsonb, Jsonpath], PgType::Bool, kernel, "Implementation of an operator over jsonpath.");
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;
    use crate::values::json::from_text;

    /// Items joined by blanks, or the error.
    fn run(doc: &str, path: &str, vars: &str, zoned: bool) -> String {
        let (doc, vars) = (from_text(doc).unwrap(), from_text(vars).unwrap());
        let path = parse::parse(path).unwrap();
        let session = crate::EvalContext::default();
        let result = Evaluation::new(&path, Node::root(&doc), Node::root(&vars), zoned.then_some(&session)).map_err(Fault::Fatal);
        match result.and_then(|evaluation| evaluation.query()) {
            Ok(items) => items.iter().map(|item| item.with_node(|node| node.to_text())).collect::<Vec<_>>().join(" "),
            Err(fault) => fault.error().code().as_str().to_owned(),
        }
    }

    /// A fault in an item does not keep `.**` from what is below it, where faults raise no error.
    #[test]
    fn any_depth_goes_on_silently() {
        let (doc, vars) = (from_text("[1, [2, [3]], 1]").unwrap(), from_text("{}").unwrap());
        for (path, wanted) in [("$.**.floor()", "1 1 2"), ("strict $.**.abs()", "1"), ("$.**[1].floor()", "2 3")] {
            let path = parse::parse(path).unwrap();
            let evaluation = Evaluation::new(&path, Node::root(&doc), Node::root(&vars), None).unwrap().silent(true);
            let (items, fault) = evaluation.query_so_far();
            assert_eq!(items.iter().map(|item| item.with_node(|node| node.to_text())).collect::<Vec<_>>().join(" "), wanted);
            assert!(!matches!(fault, Some(Fault::Fatal(_))));
        }
    }

    /// Results are PostgreSQL 15's.
    #[test]
    fn queries() {
        for (doc, path, wanted) in [
            ("{\"a\":1}", "strict $.b", "2203A"),
            ("[1]", "strict $.b", "2203A"),
            ("1", "strict $.*", "2203C"),
            ("1", "strict $[*]", "22039"),
            ("1", "strict $[0]", "22039"),
            ("[1]", "strict $[1]", "22033"),
            ("[1]", "$[\"a\"]", "22033"),
            ("[1]", "$[10000000000]", "22033"),
            ("[1,2,3]", "$[1.7]", "2"),
            ("1", "strict $.size()", "22039"),
            ("\"a\"", "$.abs()", "22036"),
            ("\"a\"", "$.double()", "22036"),
            ("\"nan\"", "$.double()", "22036"),
            ("\"1.50\"", "$.double()", "1.5"),
            ("1.50", "$.double()", "1.50"),
            ("\"1e400\"", "$.double()", "22036"),
            ("1", "$.keyvalue()", "2203C"),
            (
                "{\"a\":1,\"b\":[{\"c\":1}]}",
                "$.keyvalue()",
                "{\"id\": 0, \"key\": \"a\", \"value\": 1} {\"id\": 0, \"key\": \"b\", \"value\": [{\"c\": 1}]}",
            ),
            ("{\"a\":{\"c\":[7]}}", "$.keyvalue().value.c[0]", "7"),
            ("[1,2]", "$ + 1", "22038"),
            ("[\"x\"]", "1 + $", "22038"),
            ("[\"x\"]", "-$", "2203B"),
            ("[1,2]", "-$[*]", "-1 -2"),
            ("1", "$ / 0", "22012"),
            ("7", "$ / 3", "2.3333333333333333"),
            ("7.50", "$ % 2", "1.50"),
            ("1", "$x", "42704"),
            ("[1,null,\"a\",true,{}]", "$[*].type()", "\"number\" \"null\" \"string\" \"boolean\" \"object\""),
            ("{\"a\":[1,{\"b\":2}]}", "$.**", "{\"a\": [1, {\"b\": 2}]} [1, {\"b\": 2}] 1 {\"b\": 2} 2"),
            ("{\"a\":[1,{\"b\":2}]}", "strict $.**.b", "2"),
            ("{\"a\":[1,{\"b\":2}]}", "$.**{1 to 2}", "[1, {\"b\": 2}] 1 {\"b\": 2}"),
            ("{\"a\":[1,{\"b\":2}]}", "$.**{last}", "1 2"),
            ("{\"a\":\"x\"}", "$.a > 1", "null"),
            ("{\"a\":null}", "$.a == 1", "false"),
            ("{\"a\":null}", "$.a != 1", "true"),
            ("[[1,2],[3]]", "$[*] ? (@ > 1)", "2 3"),
            ("[1,2,3]", "$[last]", "3"),
            ("[1,2,3]", "$[last - 1 to last]", "2 3"),
            ("[1,2,3]", "$[5 to 7]", ""),
            ("\"abc\"", "$ starts with \"ab\"", "true"),
            ("1", "$ starts with \"ab\"", "null"),
            ("\"abc\"", "$ like_regex \"B\" flag \"i\"", "true"),
            ("\"a\\b\"", "$ like_regex \"^a\\\\b$\"", "true"),
            ("\"a b\"", "$ like_regex \"a\\\\b\"", "false"),
            ("\"a b\"", "$ like_regex \"\\\\ma\\\\M\"", "true"),
            ("\"a\\nb\"", "$ like_regex \"a.b\"", "false"),
            ("\"a\\nb\"", "$ like_regex \"a.b\" flag \"s\"", "true"),
            ("\"a\\nb\"", "$ like_regex \"^b\"", "false"),
            ("\"a\\nb\"", "$ like_regex \"^b\" flag \"m\"", "true"),
            ("\"a.B\"", "$ like_regex \".b\" flag \"qi\"", "true"),
            ("\"aab\"", "$ like_regex \"^(a)\\\\1b\"", "true"),
            ("[{\"a\":1},{\"b\":2}]", "$.a", "1"),
            ("[{\"a\":1},{\"b\":2}]", "strict $[*].a", "2203A"),
            ("[{\"a\":1},{\"b\":2}]", "exists($[*].a)", "true"),
            ("1.7", "$.ceiling()", "2"),
            ("-1.7", "$.floor()", "-2"),
            ("[1,2]", "strict $.abs()", "22036"),
            ("2", "$ ? (@ > 1 && @ < 3)", "2"),
            ("{}", "$.a.b", ""),
            ("\"2020-1-2\"", "$.datetime()", "\"2020-01-02\""),
            ("\"10:11\"", "$.datetime()", "22031"),
            ("\"2020-01-02\"", "$.datetime() < \"2020-01-02 00:00:01\".datetime()", "true"),
            ("\"2020-01-02\"", "$.datetime() < \"2020-01-02 00:00:01+01\".datetime()", "0A000"),
            ("\"2020-01-02\"", "$.datetime() < \"10:00:00\".datetime()", "null"),
            ("\"10-2020-02\"", "$.datetime(\"DD-YYYY-MM\")", "\"2020-02-10\""),
            ("\"10-2020-02 x\"", "$.datetime(\"DD-YYYY-MM\")", "22007"),
            ("\"12:34 +05\"", "$.datetime(\"HH24:MI TZH\")", "\"12:34:00+05:00\""),
            ("\"10-03-2017 12:34 +05:20\"", "$.datetime(\"dd-mm-yyyy HH24:MI TZH:TZM\")", "\"2017-03-10T12:34:00+05:20\""),
            ("\"10-03-2017 12:34\"", "$.datetime(\"dd-mm-yyyy HH24:MI TZH\")", "22007"),
            ("\"10-03-2017\"", "$.datetime(\"dd/mm/yyyy\")", "22007"),
            ("\"aa\"", "$.datetime(\"\")", "22007"),
        ] {
            assert_eq!(run(doc, path, "{}", false), wanted, "{doc} {path}");
        }
        assert_eq!(run("\"2020-01-02\"", "$.datetime() < \"2020-01-02 00:00:01+01\".datetime()", "{}", true), "false");
        assert_eq!(run("1", "$ ? (@ == $y)", "{\"y\":1}", false), "1");
        assert_eq!(run("1", "$", "[]", false), "22023");
    }

    #[test]
    fn exists_stops_at_the_first_in_lax_mode() {
        let vars = from_text("{}").unwrap();
        for (doc, wanted) in [("[1,\"a\"]", true), ("[\"a\",1]", false)] {
            let doc = from_text(doc).unwrap();
            let path = parse::parse("lax $[*].double()").unwrap();
            let evaluation = Evaluation::new(&path, Node::root(&doc), Node::root(&vars), None).unwrap();
            assert_eq!(evaluation.exists().is_ok_and(|found| found), wanted);
        }
    }
}
