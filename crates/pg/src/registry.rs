//! The one table of signatures: functions, operators, casts.
//!
//! Binding resolves names against it by PostgreSQL's rules (in the engine's binder); `pg_proc`, `pg_operator`, `pg_cast`, `\df` and
//! the reference in `docs/` are printed from it. A family registers itself in its own file: `pub fn register(r: &mut Registry)`.
//!
//! Numerics: kernels take and give the sortable bytes of [`crate::values::numeric`]; the binder converts 128-bit decimals before
//! the call. Only [`NativeOp`]s and native aggregates see decimals.

use crate::args::{Arg, Call, Kernel};
use crate::context::EvalContext;
use crate::error::PgResult;
use crate::types::{PgType, SqlType};
use arrow::array::ArrayRef;
use datafusion_expr::AggregateUDF;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, LazyLock};

/// PostgreSQL's `provolatile`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Volatility {
    Immutable,
    Stable,
    Volatile,
}

/// Builds DataFusion's form of an aggregate for argument types; the flag says DISTINCT (the caller removes duplicates itself
/// unless the aggregate is native).
pub type AggregateBuilder = Arc<dyn Fn(&AggregateCall) -> PgResult<Arc<AggregateUDF>> + Send + Sync>;

/// One use of an aggregate in a statement.
#[derive(Clone, Debug)]
pub struct AggregateCall {
    pub ctx: EvalContext,
    pub arg_types: Vec<SqlType>,
    pub ret: SqlType,
    /// For ordered-set aggregates: types, descending and nulls-first flags of WITHIN GROUP's columns, which follow the direct
    /// arguments in `arg_types`.
    pub within_group: Vec<(SqlType, bool, bool)>,
}

/// Rows from a set-returning function for one row of arguments.
pub trait RowSource: Send {
    /// Up to `limit` more rows as one array a column, all of one length; `None` at the end.
    fn next_chunk(&mut self, limit: usize) -> PgResult<Option<Vec<ArrayRef>>>;
}

/// Opens a set-returning function on row `row` of the arguments; `call.ret` is the type of the row it returns (a record when it
/// has several columns).
pub type SetKernel = Arc<dyn Fn(&Call, &[Arg], usize) -> PgResult<Box<dyn RowSource>> + Send + Sync>;

/// Aggregates that DataFusion computes as PostgreSQL defines them once arguments are cast to the declared types.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NativeAggregate {
    Count,
    /// sum over bigint-or-narrower integers into bigint, floats, 128-bit decimals.
    Sum,
    Min,
    Max,
    BoolAnd,
    BoolOr,
    BitAnd,
    BitOr,
    BitXor,
    ArrayAgg,
    /// `avg` as sum / count, divided by PostgreSQL's rule for the scale.
    Avg,
}

/// Window functions that DataFusion computes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NativeWindow {
    RowNumber,
    Rank,
    DenseRank,
    PercentRank,
    CumeDist,
    Ntile,
    Lag,
    Lead,
    FirstValue,
    LastValue,
    NthValue,
}

/// How a function is computed.
#[derive(Clone)]
pub enum FuncKind {
    Scalar(Kernel),
    /// Only the engine can answer: [`crate::context::System::call`] for each row.
    System,
    Aggregate(AggregateBuilder),
    NativeAggregate(NativeAggregate),
    Window(NativeWindow),
    /// Column names and types of the result; one unnamed column takes the function's name.
    Set {
        columns: Vec<(&'static str, PgType)>,
        open: SetKernel,
    },
}

/// One signature of a function.
#[derive(Clone)]
pub struct Func {
    pub oid: u32,
    pub name: &'static str,
    pub args: Vec<PgType>,
    /// Names for `name => value` notation; empty when there are none.
    pub arg_names: &'static [&'static str],
    /// How many trailing arguments may be left out, with their default values as SQL text.
    pub defaults: &'static [&'static str],
    /// The last argument repeats.
    pub variadic: bool,
    pub ret: PgType,
    pub returns_set: bool,
    pub strict: bool,
    pub volatility: Volatility,
    pub kind: FuncKind,
    pub doc: &'static str,
}

impl Func {
    /// The types of the arguments as catalogs tell them: that of a repeated one is the array of its type, but for `"any"`.
    pub fn declared_args(&self) -> impl Iterator<Item = PgType> + '_ {
        let last = self.args.len().saturating_sub(1);
        self.args.iter().enumerate().map(
            move |(i, ty)| {
                if self.variadic && i == last && *ty != PgType::Any { ty.clone().array_of() } else { ty.clone() }
            },
        )
    }
}

impl fmt::Debug for Func {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({:?}) -> {:?}", self.name, self.args, self.ret)
    }
}

/// Operators that DataFusion or Arrow evaluates as PostgreSQL does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NativeOp {
    Eq,
    NotEq,
    Lt,
    LtEq,
    Gt,
    GtEq,
    BitAnd,
    BitOr,
    BitXor,
}

/// How an operator is computed.
#[derive(Clone)]
pub enum OperKind {
    Native(NativeOp),
    Kernel(Kernel),
}

/// One signature of an operator. Prefix operators have no left type.
#[derive(Clone)]
pub struct Oper {
    pub oid: u32,
    pub name: &'static str,
    pub left: Option<PgType>,
    pub right: PgType,
    pub ret: PgType,
    pub volatility: Volatility,
    pub kind: OperKind,
    /// For comparisons on types without native order: which of =, <>, <, <=, >, >= this is. Plans may then compare sort keys.
    pub comparison: Option<NativeOp>,
}

impl fmt::Debug for Oper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {} {:?} -> {:?}", self.left, self.name, self.right, self.ret)
    }
}

/// When a cast applies by itself.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum CastContext {
    Implicit,
    Assignment,
    Explicit,
}

/// How a cast is computed.
#[derive(Clone)]
pub enum CastKind {
    /// The same Arrow values (text to varchar without a length).
    Relabel,
    /// The modifier of the target is in `call.ret.typmod`; the kernel applies it.
    Kernel(Kernel),
}

/// A cast between two types. Casts to and from text through a type's text form are not listed: every type has them.
#[derive(Clone)]
pub struct Cast {
    pub from: PgType,
    pub to: PgType,
    pub context: CastContext,
    pub kind: CastKind,
}

impl fmt::Debug for Cast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} as {:?} ({:?})", self.from, self.to, self.context)
    }
}

/// All signatures.
#[derive(Debug, Default)]
pub struct Registry {
    functions: HashMap<&'static str, Vec<Arc<Func>>>,
    /// Of those whose last arguments vary in number, the forms that take them as one array.
    spread: HashMap<&'static str, Vec<Arc<Func>>>,
    operators: HashMap<&'static str, Vec<Arc<Oper>>>,
    casts: HashMap<(PgType, PgType), Arc<Cast>>,
    called: HashMap<&'static str, Vec<Called>>,
    next_oid: u32,
}

/// What a second name stands for.
#[derive(Clone, Debug)]
pub enum Called {
    Oper(Arc<Oper>),
    Func(Arc<Func>),
}

impl Called {
    /// Types of the arguments.
    #[must_use]
    pub fn args(&self) -> Vec<PgType> {
        match self {
            Called::Oper(oper) => oper.left.iter().chain([&oper.right]).cloned().collect(),
            Called::Func(func) => func.args.clone(),
        }
    }
}

/// The first OID of functions and operators of the table; PostgreSQL's own end below 10000.
const FIRST_OID: u32 = 10_000;

static REGISTRY: LazyLock<Registry> = LazyLock::new(|| {
    let mut registry = Registry { next_oid: FIRST_OID, ..Registry::default() };
    crate::casts::register(&mut registry);
    crate::operators::register(&mut registry);
    crate::functions::register(&mut registry);
    crate::operators::names::register(&mut registry);
    registry.spread = registry.spread_forms();
    registry
});

impl Registry {
    /// The registry of this build.
    #[must_use]
    pub fn get() -> &'static Registry {
        &REGISTRY
    }

    /// All signatures of a function name, in the order of registration.
    #[must_use]
    pub fn functions(&self, name: &str) -> &[Arc<Func>] {
        self.functions.get(name).map_or(&[], Vec::as_slice)
    }

    /// The forms of a function that `VARIADIC array` calls, in the order of registration.
    #[must_use]
    pub fn spread_functions(&self, name: &str) -> &[Arc<Func>] {
        self.spread.get(name).map_or(&[], Vec::as_slice)
    }

    fn spread_forms(&self) -> HashMap<&'static str, Vec<Arc<Func>>> {
        let mut out: HashMap<&'static str, Vec<Arc<Func>>> = HashMap::new();
        for func in self.functions.values().flatten().filter(|f| f.variadic) {
            let FuncKind::Scalar(kernel) = &func.kind else { continue };
            let mut form = Func::clone(func);
            if let Some(last) = form.args.last_mut() {
                *last = match &*last {
                    PgType::Any | PgType::AnyElement => PgType::AnyArray,
                    PgType::AnyCompatible => PgType::AnyCompatibleArray,
                    other => other.clone().array_of(),
                };
            }
            form.variadic = false;
            // format() takes a NULL array as an empty one.
            form.kind = FuncKind::Scalar(crate::functions::subscript::spread_kernel(kernel.clone(), func.name == "format"));
            out.entry(func.name).or_default().push(Arc::new(form));
        }
        out
    }

    #[must_use]
    pub fn operators(&self, name: &str) -> &[Arc<Oper>] {
        self.operators.get(name).map_or(&[], Vec::as_slice)
    }

    #[must_use]
    pub fn cast(&self, from: &PgType, to: &PgType) -> Option<&Arc<Cast>> {
        self.casts.get(&(from.clone(), to.clone()))
    }

    pub fn all_functions(&self) -> impl Iterator<Item = &Arc<Func>> {
        self.functions.values().flatten()
    }

    pub fn all_operators(&self) -> impl Iterator<Item = &Arc<Oper>> {
        self.operators.values().flatten()
    }

    pub fn all_casts(&self) -> impl Iterator<Item = &Arc<Cast>> {
        self.casts.values()
    }

    /// What PostgreSQL calls under a name of its own: functions behind operators (`int4pl`), and second names of functions.
    #[must_use]
    pub fn called_as(&self, name: &str) -> &[Called] {
        self.called.get(name).map_or(&[], Vec::as_slice)
    }

    /// Adds a signature; `Func::oid` is given here.
    pub fn add(&mut self, mut func: Func) {
        func.oid = self.next_oid;
        self.next_oid += 1;
        self.functions.entry(func.name).or_default().push(Arc::new(func));
    }

    /// A strict immutable scalar function: the usual kind.
    pub fn scalar(&mut self, name: &'static str, args: &[PgType], ret: PgType, kernel: Kernel, doc: &'static str) {
        self.add(Func::scalar(name, args, ret, kernel, doc));
    }

    pub fn operator(&mut self, name: &'static str, left: PgType, right: PgType, ret: PgType, kind: OperKind) {
        self.push_operator(name, Some(left), right, ret, kind, Volatility::Immutable, None);
    }

    pub fn prefix_operator(&mut self, name: &'static str, right: PgType, ret: PgType, kind: OperKind) {
        self.push_operator(name, None, right, ret, kind, Volatility::Immutable, None);
    }

    /// An operator that orders or compares, so that plans may use sort keys in its place.
    pub fn comparison(&mut self, name: &'static str, left: PgType, right: PgType, kind: OperKind, meaning: NativeOp) {
        self.push_operator(name, Some(left), right, PgType::Bool, kind, Volatility::Immutable, Some(meaning));
    }

    /// An operator whose result depends on settings (timestamptz arithmetic).
    pub fn stable_operator(&mut self, name: &'static str, left: PgType, right: PgType, ret: PgType, kind: OperKind) {
        self.push_operator(name, Some(left), right, ret, kind, Volatility::Stable, None);
    }

    /// Gives a signature a second name.
    pub fn call_as(&mut self, name: &'static str, what: Called) {
        self.called.entry(name).or_default().push(what);
    }

    #[allow(clippy::too_many_arguments)] // one place that fills the struct
    fn push_operator(
        &mut self,
        name: &'static str,
        left: Option<PgType>,
        right: PgType,
        ret: PgType,
        kind: OperKind,
        volatility: Volatility,
        comparison: Option<NativeOp>,
    ) {
        let oid = self.next_oid;
        self.next_oid += 1;
        self.operators.entry(name).or_default().push(Arc::new(Oper { oid, name, left, right, ret, volatility, kind, comparison }));
    }

    pub fn add_cast(&mut self, from: PgType, to: PgType, context: CastContext, kind: CastKind) {
        self.casts.insert((from.clone(), to.clone()), Arc::new(Cast { from, to, context, kind }));
    }
}

impl Func {
    /// A strict immutable scalar function; chain the other builders to change that.
    #[must_use]
    pub fn scalar(name: &'static str, args: &[PgType], ret: PgType, kernel: Kernel, doc: &'static str) -> Func {
        Func::of_kind(name, args, ret, FuncKind::Scalar(kernel), doc)
    }

    #[must_use]
    pub fn of_kind(name: &'static str, args: &[PgType], ret: PgType, kind: FuncKind, doc: &'static str) -> Func {
        Func {
            oid: 0,
            name,
            args: args.to_vec(),
            arg_names: &[],
            defaults: &[],
            variadic: false,
            ret,
            returns_set: matches!(kind, FuncKind::Set { .. }),
            strict: matches!(kind, FuncKind::Scalar(_) | FuncKind::System),
            volatility: Volatility::Immutable,
            kind,
            doc,
        }
    }

    /// A set-returning function.
    #[must_use]
    pub fn set(
        name: &'static str,
        args: &[PgType],
        columns: Vec<(&'static str, PgType)>,
        ret: PgType,
        open: SetKernel,
        doc: &'static str,
    ) -> Func {
        Func::of_kind(name, args, ret, FuncKind::Set { columns, open }, doc)
    }

    /// Sees NULL arguments.
    #[must_use]
    pub fn lax(mut self) -> Func {
        self.strict = false;
        self
    }

    #[must_use]
    pub fn stable(mut self) -> Func {
        self.volatility = Volatility::Stable;
        self
    }

    #[must_use]
    pub fn volatile(mut self) -> Func {
        self.volatility = Volatility::Volatile;
        self
    }

    #[must_use]
    pub fn variadic(mut self) -> Func {
        self.variadic = true;
        self
    }

    #[must_use]
    pub fn named(mut self, names: &'static [&'static str]) -> Func {
        self.arg_names = names;
        self
    }

    #[must_use]
    pub fn defaults(mut self, defaults: &'static [&'static str]) -> Func {
        self.defaults = defaults;
        self
    }
}
