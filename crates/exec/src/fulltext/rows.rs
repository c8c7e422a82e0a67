//! The texts of rows, and their lexemes and items: what an index has of them.

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, StringViewArray};
use std::sync::Arc;
use stoa_fulltext::{FieldText, Words};
use stoa_pg::items::Class;
use stoa_pg::{EvalContext, PgError, PgResult, PgType, SqlType};
use stoa_sql::bind::function::same_expr;
use stoa_sql::bind::{BindContext, bind_table_expr};
use stoa_sql::typed::evaluator::TableEvaluator;
use stoa_sql::typed::guard::only_where;
use stoa_sql::typed::tree::{ColId, Expr, ExprKind};
use stoa_sql::typed::walk;
use stoa_table::catalog::{CatalogSnapshot, ColumnId, IndexDescriptor, IndexKey, IndexPart, TableDescriptor};
use stoa_table::row::{ColumnSource, KeyList, RowCodec, ScanDecoder};
use stoa_text::textsearch::vector::Vector;

/// Where a part of the index comes from.
#[derive(Clone, Copy, Debug)]
enum Source {
    /// A column read.
    Column(usize),
    /// An expression.
    Computed(usize),
}

/// What words a part has.
#[derive(Clone, PartialEq, Debug)]
enum Kind {
    /// Those that its text is cut into.
    Text,
    /// Those of a `tsvector`.
    Lexemes,
    Items(Class),
}

/// How the texts of an index are read from rows of its table. Stays right while the table's rows stay where they are: columns are
/// known by id.
pub struct RowTexts {
    source: ColumnSource,
    read: Vec<ColumnId>,
    parts: Vec<Source>,
    evaluator: Option<TableEvaluator>,
    /// The last expression says whether the index has the row.
    predicate: bool,
    /// By part.
    kinds: Vec<Kind>,
    /// By part: what stands for it in a statement, over columns whose ids are those in the table.
    exprs: Vec<Expr>,
    /// Columns of the predicate and of the parts that are expressions.
    computed_of: Vec<ColumnId>,
}

impl std::fmt::Debug for RowTexts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RowTexts").field("read", &self.read).finish_non_exhaustive()
    }
}

/// What some rows have in one part.
#[derive(Debug)]
enum PartTexts {
    Texts(StringViewArray),
    /// Words that come cut; none of NULL.
    Words(Vec<Option<Words>>),
}

/// The texts of some rows, with their keys.
#[derive(Debug)]
pub struct Texts {
    pub keys: KeyList,
    parts: Vec<PartTexts>,
    included: Option<BooleanArray>,
}

impl Texts {
    /// The texts of a row, part by part; false if the index does not have the row.
    pub fn row<'a>(&'a self, row: usize, out: &mut Vec<FieldText<'a>>) -> bool {
        out.clear();
        if let Some(included) = &self.included
            && (included.is_null(row) || !included.value(row))
        {
            return false;
        }
        out.extend(self.parts.iter().map(|part| match part {
            PartTexts::Texts(texts) if texts.is_null(row) => FieldText::Nothing,
            PartTexts::Texts(texts) => FieldText::Text(texts.value(row)),
            PartTexts::Words(words) => words.get(row).and_then(Option::as_ref).map_or(FieldText::Nothing, FieldText::Words),
        }));
        true
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }
}

impl RowTexts {
    /// # Errors
    /// An expression of the index cannot be bound.
    pub fn new(catalog: &CatalogSnapshot, table: &TableDescriptor, index: &IndexDescriptor) -> PgResult<Self> {
        let eval = EvalContext::default();
        let path: Vec<_> = catalog.schemas().map(|s| s.oid).collect();
        let bind = BindContext { catalog, search_path: &path, eval: &eval, param_types: &[], text: "" };
        let mut exprs: Vec<Expr> = Vec::new();
        let mut read: Vec<ColumnId> = Vec::new();
        let mut position = |id: ColumnId| match read.iter().position(|r| *r == id) {
            Some(at) => at,
            None => {
                read.push(id);
                read.len() - 1
            }
        };
        let kinds: Vec<Kind> = index.parts.iter().map(kind_of).collect();
        let mut parts = Vec::with_capacity(index.parts.len());
        let mut stand = Vec::with_capacity(index.parts.len());
        for (part, kind) in index.parts.iter().zip(&kinds) {
            match &part.key {
                IndexKey::Column(id) => {
                    parts.push(Source::Column(position(*id)));
                    stand.push(Expr::column(ColId(id.0), part.ty.clone()));
                }
                IndexKey::Expr(sql) => {
                    let mut expr = bind_table_expr(&bind, table, sql)?;
                    stand.push(expr.clone());
                    if !matches!(kind, Kind::Items(_)) && expr.ty.arrow != SqlType::new(PgType::Text).arrow {
                        expr = Expr::new(ExprKind::Cast { arg: Box::new(expr), explicit: true }, SqlType::new(PgType::Text));
                    }
                    parts.push(Source::Computed(exprs.len()));
                    exprs.push(expr);
                }
            }
        }
        if let Some(sql) = &index.predicate {
            let predicate = bind_table_expr(&bind, table, sql)?;
            only_where(&eval, Some(&predicate), &mut exprs);
            exprs.push(predicate);
        }
        let mut used: Vec<ColId> = Vec::new();
        exprs.iter().for_each(|e| walk::columns_of(e, &mut used));
        let computed_of: Vec<ColumnId> = used.iter().map(|id| ColumnId(id.0)).collect();
        let evaluator = if exprs.is_empty() {
            None
        } else {
            for id in &computed_of {
                position(*id);
            }
            let mut columns = Vec::with_capacity(read.len());
            for id in &read {
                let column = table.column(*id).ok_or_else(|| PgError::internal("an index over a column that does not exist"))?;
                columns.push((ColId(id.0), column.ty.arrow.clone()));
            }
            Some(TableEvaluator::new(&eval, &[], &columns, &exprs)?)
        };
        let source = ColumnSource::Table(Arc::new(RowCodec::new(table)?));
        Ok(Self { source, read, parts, evaluator, predicate: index.predicate.is_some(), kinds, exprs: stand, computed_of })
    }

    /// The part that holds a document, a `tsvector`, over columns whose ids are those in the table.
    #[must_use]
    pub fn part_of(&self, document: &Expr) -> Option<usize> {
        self.exprs.iter().zip(&self.kinds).position(|(own, kind)| *kind == Kind::Lexemes && own == document)
    }

    /// The part that holds the items of a value, over columns whose ids are those in the table, and which items those are.
    #[must_use]
    pub fn items_of(&self, value: &Expr) -> Option<(usize, &Class)> {
        self.exprs.iter().zip(&self.kinds).enumerate().find_map(|(part, (own, kind))| match kind {
            Kind::Items(class) if same_expr(own, value) => Some((part, class)),
            _ => None,
        })
    }

    /// Whether a part is the text that an expression gives, over columns whose ids are those in the table.
    #[must_use]
    pub fn is_part(&self, part: usize, text: &Expr) -> bool {
        self.kinds.get(part) == Some(&Kind::Text) && self.exprs.get(part).is_some_and(|own| same_expr(own, text))
    }

    /// By part: whether its words may end by their age while the row stays, which files do not follow. `None`: so may what an expression
    /// gives, or whether the index has the row, and files may lack what they should have.
    #[must_use]
    pub fn ending(&self, table: &TableDescriptor) -> Option<Vec<bool>> {
        if self.computed_of.iter().any(|id| table.ends_apart(*id)) {
            return None;
        }
        let ends = |part: &Source| match part {
            Source::Column(at) => self.read.get(*at).is_some_and(|id| table.ends_apart(*id)),
            Source::Computed(_) => false,
        };
        Some(self.parts.iter().map(ends).collect())
    }

    /// A sink for rows of the table.
    ///
    /// # Errors
    /// A column is not stored.
    pub fn decoder(&self, rows: usize) -> PgResult<ScanDecoder> {
        ScanDecoder::new(&self.source, &self.read, rows)?.collect_row_keys(&self.source)
    }

    /// A sink for rows that are read by key: however many are asked for at a time.
    ///
    /// # Errors
    /// A column is not stored.
    pub fn lookup(&self) -> PgResult<ScanDecoder> {
        const ROOM: usize = 64;
        let mut decoder = self.decoder(ROOM)?;
        decoder.set_max_rows(usize::MAX);
        Ok(decoder)
    }

    /// The texts of what a decoder has collected; it is empty afterwards.
    ///
    /// # Errors
    /// What a row or an expression raises.
    pub fn take(&self, decoder: &mut ScanDecoder) -> PgResult<Texts> {
        if let Some(error) = decoder.take_error() {
            return Err(error);
        }
        let columns = decoder.finish()?;
        let keys = decoder.take_keys();
        let computed = match &self.evaluator {
            Some(evaluator) => evaluator.evaluate(columns.clone(), keys.len())?,
            None => Vec::new(),
        };
        let missing = || PgError::internal("a part of a full text index is missing");
        let text = |array: &ArrayRef| -> PgResult<StringViewArray> {
            array.as_string_view_opt().cloned().ok_or_else(|| PgError::internal("a part of a full text index is no text"))
        };
        let mut parts = Vec::with_capacity(self.parts.len());
        for (part, kind) in self.parts.iter().zip(&self.kinds) {
            let values = match part {
                Source::Column(at) => columns.get(*at),
                Source::Computed(at) => computed.get(*at),
            };
            let values = values.ok_or_else(missing)?;
            parts.push(match kind {
                Kind::Text => PartTexts::Texts(text(values)?),
                Kind::Lexemes => PartTexts::Words(text(values)?.iter().map(|v| v.map(words_of).transpose()).collect::<PgResult<_>>()?),
                Kind::Items(class) => PartTexts::Words(
                    class.items(values.as_ref())?.into_iter().map(|items| items.map(|items| words_of_items(&items))).collect(),
                ),
            });
        }
        let included = match (self.predicate, computed.last()) {
            (true, Some(last)) => last.as_boolean_opt().cloned(),
            _ => None,
        };
        Ok(Texts { keys, parts, included })
    }
}

/// What words a part of an index has.
fn kind_of(part: &IndexPart) -> Kind {
    match part.class_of_items() {
        Some(class) => Kind::Items(class),
        None if part.ty.ty == PgType::Tsvector => Kind::Lexemes,
        None => Kind::Text,
    }
}

/// Items as words, which stand nowhere.
fn words_of_items(items: &[String]) -> Words {
    let mut out = Words::default();
    items.iter().for_each(|item| out.push(item, 0, 0, 0));
    out
}

/// The lexemes of a document in the order of their positions. Those without a position are in no phrase: they stand far apart.
fn words_of(vector: &str) -> PgResult<Words> {
    const NOWHERE: u32 = 1 << 20;
    const APART: u32 = 1 << 15;
    let mut out = Words::default();
    let vector = Vector::stored(vector)?;
    let mut all: Vec<(u32, &str)> = Vec::new();
    let mut loose = 0;
    for (lexeme, positions) in &vector.lexemes {
        all.extend(positions.iter().map(|p| (u32::from(p.at), lexeme.as_str())));
        if positions.is_empty() {
            all.push((NOWHERE + loose * APART, lexeme));
            loose += 1;
        }
    }
    all.sort_unstable();
    for (position, lexeme) in all {
        out.push(lexeme, position, 0, 0);
    }
    Ok(out)
}
