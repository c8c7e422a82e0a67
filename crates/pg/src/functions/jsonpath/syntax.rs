//! jsonpath as a tree: its parts, and its canonical text.
//!
//! [`Path`]'s `Display` is what `jsonpath` prints in PostgreSQL, and reads back as the same tree.

use crate::values::json::text::write_string;
use std::fmt;
use std::sync::Arc;
use stoa_text::regexp::Regexp;

/// A whole path.
#[derive(Debug)]
pub struct Path {
    pub strict: bool,
    pub expr: Expr,
}

/// Binary arithmetic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arithmetic {
    Add,
    Sub,
    Mul,
    Div,
    Mod,
}

impl Arithmetic {
    #[must_use]
    pub fn sign(self) -> &'static str {
        match self {
            Arithmetic::Add => "+",
            Arithmetic::Sub => "-",
            Arithmetic::Mul => "*",
            Arithmetic::Div => "/",
            Arithmetic::Mod => "%",
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Comparison {
    #[must_use]
    pub fn sign(self) -> &'static str {
        match self {
            Comparison::Equal => "==",
            Comparison::NotEqual => "!=",
            Comparison::Less => "<",
            Comparison::LessOrEqual => "<=",
            Comparison::Greater => ">",
            Comparison::GreaterOrEqual => ">=",
        }
    }
}

/// Item methods without arguments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Method {
    Type,
    Size,
    Double,
    Ceiling,
    Floor,
    Abs,
    KeyValue,
}

impl Method {
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Method::Type => "type",
            Method::Size => "size",
            Method::Double => "double",
            Method::Ceiling => "ceiling",
            Method::Floor => "floor",
            Method::Abs => "abs",
            Method::KeyValue => "keyvalue",
        }
    }
}

/// One accessor.
#[derive(Debug)]
pub enum Step {
    Key(String),
    /// `.*`
    AnyKey,
    /// `[*]`
    AnyElement,
    /// `[1, 2 to last]`
    Index(Vec<(Expr, Option<Expr>)>),
    /// `.**{from to to}`; `None` is `last`.
    AnyDepth {
        from: Option<u32>,
        to: Option<u32>,
    },
    Filter(Expr),
    Method(Method),
    Datetime(Option<String>),
}

/// An expression or a predicate.
#[derive(Debug)]
pub enum Expr {
    Root,
    Current,
    Last,
    Null,
    Bool(bool),
    /// Canonical decimal text.
    Number(String),
    String(String),
    Variable(String),
    Access {
        base: Box<Expr>,
        steps: Vec<Step>,
    },
    Binary(Arithmetic, Box<Expr>, Box<Expr>),
    /// Unary plus or minus.
    Sign {
        negative: bool,
        of: Box<Expr>,
    },
    And(Box<Expr>, Box<Expr>),
    Or(Box<Expr>, Box<Expr>),
    Not(Box<Expr>),
    IsUnknown(Box<Expr>),
    Compare(Comparison, Box<Expr>, Box<Expr>),
    Exists(Box<Expr>),
    StartsWith(Box<Expr>, Box<Expr>),
    LikeRegex {
        of: Box<Expr>,
        pattern: String,
        flags: String,
        regex: Arc<Regexp>,
    },
}

impl Expr {
    /// Whether it stands where a predicate is asked for.
    #[must_use]
    pub fn is_predicate(&self) -> bool {
        matches!(
            self,
            Expr::And(..)
                | Expr::Or(..)
                | Expr::Not(_)
                | Expr::IsUnknown(_)
                | Expr::Compare(..)
                | Expr::Exists(_)
                | Expr::StartsWith(..)
                | Expr::LikeRegex { .. }
        )
    }

    fn priority(&self) -> u8 {
        match self {
            Expr::Or(..) => 0,
            Expr::And(..) => 1,
            Expr::Compare(..) | Expr::StartsWith(..) => 2,
            Expr::Binary(Arithmetic::Add | Arithmetic::Sub, ..) => 3,
            Expr::Binary(..) => 4,
            Expr::Sign { .. } => 5,
            _ => 6,
        }
    }

    fn write(&self, brackets: bool, out: &mut fmt::Formatter) -> fmt::Result {
        let inner = |of: &Expr, out: &mut fmt::Formatter| of.write(of.priority() <= self.priority(), out);
        let binary = |a: &Expr, sign: &str, b: &Expr, out: &mut fmt::Formatter| {
            inner(a, out)?;
            write!(out, " {sign} ")?;
            inner(b, out)
        };
        let bracketed = |f: &dyn Fn(&mut fmt::Formatter) -> fmt::Result, out: &mut fmt::Formatter| {
            if brackets {
                out.write_str("(")?;
            }
            f(out)?;
            if brackets {
                out.write_str(")")?;
            }
            Ok(())
        };
        match self {
            Expr::Root => out.write_str("$"),
            Expr::Current => out.write_str("@"),
            Expr::Last => out.write_str("last"),
            Expr::Null => out.write_str("null"),
            Expr::Bool(value) => write!(out, "{value}"),
            Expr::Number(digits) => out.write_str(digits),
            Expr::String(value) => out.write_str(&quoted(value)),
            Expr::Variable(name) => write!(out, "${}", quoted(name)),
            Expr::Access { base, steps } => {
                if matches!(**base, Expr::Number(_)) {
                    out.write_str("(")?;
                    base.write(false, out)?;
                    out.write_str(")")?;
                } else {
                    base.write(true, out)?;
                }
                steps.iter().try_for_each(|step| step.write(out))
            }
            Expr::Binary(op, a, b) => bracketed(&|out| binary(a, op.sign(), b, out), out),
            Expr::Compare(op, a, b) => bracketed(&|out| binary(a, op.sign(), b, out), out),
            Expr::And(a, b) => bracketed(&|out| binary(a, "&&", b, out), out),
            Expr::Or(a, b) => bracketed(&|out| binary(a, "||", b, out), out),
            Expr::StartsWith(a, b) => bracketed(&|out| binary(a, "starts with", b, out), out),
            Expr::Sign { negative, of } => bracketed(
                &|out| {
                    out.write_str(if *negative { "-" } else { "+" })?;
                    inner(of, out)
                },
                out,
            ),
            Expr::Not(of) => {
                out.write_str("!(")?;
                of.write(false, out)?;
                out.write_str(")")
            }
            Expr::IsUnknown(of) => {
                out.write_str("(")?;
                of.write(false, out)?;
                out.write_str(") is unknown")
            }
            Expr::Exists(of) => {
                out.write_str("exists (")?;
                of.write(false, out)?;
                out.write_str(")")
            }
            Expr::LikeRegex { of, pattern, flags, .. } => bracketed(
                &|out| {
                    inner(of, out)?;
                    write!(out, " like_regex {}", quoted(pattern))?;
                    if flags.is_empty() { Ok(()) } else { write!(out, " flag \"{flags}\"") }
                },
                out,
            ),
        }
    }
}

impl Step {
    fn write(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Step::Key(key) => write!(out, ".{}", quoted(key)),
            Step::AnyKey => out.write_str(".*"),
            Step::AnyElement => out.write_str("[*]"),
            Step::Index(list) => {
                out.write_str("[")?;
                for (i, (from, to)) in list.iter().enumerate() {
                    if i > 0 {
                        out.write_str(",")?;
                    }
                    from.write(false, out)?;
                    if let Some(to) = to {
                        out.write_str(" to ")?;
                        to.write(false, out)?;
                    }
                }
                out.write_str("]")
            }
            Step::AnyDepth { from: Some(0), to: None } => out.write_str(".**"),
            Step::AnyDepth { from, to } => {
                let level = |level: &Option<u32>| level.map_or_else(|| "last".to_owned(), |l| l.to_string());
                if from == to { write!(out, ".**{{{}}}", level(from)) } else { write!(out, ".**{{{} to {}}}", level(from), level(to)) }
            }
            Step::Filter(predicate) => {
                out.write_str("?(")?;
                predicate.write(false, out)?;
                out.write_str(")")
            }
            Step::Method(method) => write!(out, ".{}()", method.name()),
            Step::Datetime(None) => out.write_str(".datetime()"),
            Step::Datetime(Some(template)) => write!(out, ".datetime({})", quoted(template)),
        }
    }
}

fn quoted(value: &str) -> String {
    let mut out = Vec::new();
    write_string(value, &mut out);
    String::from_utf8(out).unwrap_or_default()
}

impl fmt::Display for Path {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.strict {
            out.write_str("strict ")?;
        }
        self.expr.write(true, out)
    }
}
