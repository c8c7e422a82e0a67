//! The texts of rows: what an index has of them.

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, StringViewArray};
use std::sync::Arc;
use stoa_fulltext::{FieldText, Words};
use stoa_pg::textsearch::vector::Vector;
use stoa_pg::{EvalContext, PgError, PgResult, PgType, SqlType};
use stoa_sql::bind::function::same_expr;
use stoa_sql::bind::{BindContext, bind_table_expr};
use stoa_sql::typed::evaluator::TableEvaluator;
use stoa_sql::typed::tree::{ColId, Expr, ExprKind};
use stoa_sql::typed::walk;
use stoa_table::catalog::{CatalogSnapshot, ColumnId, IndexDescriptor, IndexKey, TableDescriptor};
use stoa_table::row::{ColumnSource, KeyList, RowCodec, ScanDecoder};

/// Where a part of the index comes from.
#[derive(Clone, Copy, Debug)]
enum Source {
    /// A column read.
    Column(usize),
    /// An expression.
    Computed(usize),
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
    /// By part: whether it is a `tsvector`, whose words come cut.
    lexemes: Vec<bool>,
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

/// The texts of some rows, with their keys.
#[derive(Debug)]
pub struct Texts {
    pub keys: KeyList,
    parts: Vec<StringViewArray>,
    /// By part: the words of each row, if they come cut.
    words: Vec<Option<Vec<Words>>>,
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
        out.extend(self.parts.iter().zip(&self.words).map(|(part, words)| match words {
            _ if part.is_null(row) => FieldText::Nothing,
            Some(words) => words.get(row).map_or(FieldText::Nothing, FieldText::Words),
            None => FieldText::Text(part.value(row)),
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
        let mut parts = Vec::with_capacity(index.parts.len());
        let mut stand = Vec::with_capacity(index.parts.len());
        for part in &index.parts {
            match &part.key {
                IndexKey::Column(id) => {
                    parts.push(Source::Column(position(*id)));
                    stand.push(Expr::column(ColId(id.0), part.ty.clone()));
                }
                IndexKey::Expr(sql) => {
                    let mut expr = bind_table_expr(&bind, table, sql)?;
                    stand.push(expr.clone());
                    if expr.ty.arrow != SqlType::new(PgType::Text).arrow {
                        expr = Expr::new(ExprKind::Cast { arg: Box::new(expr), explicit: true }, SqlType::new(PgType::Text));
                    }
                    parts.push(Source::Computed(exprs.len()));
                    exprs.push(expr);
                }
            }
        }
        if let Some(sql) = &index.predicate {
            exprs.push(bind_table_expr(&bind, table, sql)?);
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
        let lexemes = index.parts.iter().map(|p| p.ty.ty == PgType::Tsvector).collect();
        Ok(Self { source, read, parts, evaluator, predicate: index.predicate.is_some(), lexemes, exprs: stand, computed_of })
    }

    /// The part that holds a document, a `tsvector`, over columns whose ids are those in the table.
    #[must_use]
    pub fn part_of(&self, document: &Expr) -> Option<usize> {
        self.exprs.iter().zip(&self.lexemes).position(|(own, lexemes)| *lexemes && own == document)
    }

    /// Whether a part is the text that an expression gives, over columns whose ids are those in the table.
    #[must_use]
    pub fn is_part(&self, part: usize, text: &Expr) -> bool {
        self.lexemes.get(part) == Some(&false) && self.exprs.get(part).is_some_and(|own| same_expr(own, text))
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
        let text = |array: Option<&ArrayRef>| -> PgResult<StringViewArray> {
            array.and_then(|a| a.as_string_view_opt()).cloned().ok_or_else(|| PgError::internal("a part of a full text index is no text"))
        };
        let mut parts = Vec::with_capacity(self.parts.len());
        for part in &self.parts {
            parts.push(match part {
                Source::Column(at) => text(columns.get(*at))?,
                Source::Computed(at) => text(computed.get(*at))?,
            });
        }
        let mut words = Vec::with_capacity(parts.len());
        for (part, lexemes) in parts.iter().zip(&self.lexemes) {
            words.push(if *lexemes { Some(part.iter().map(words_of).collect::<PgResult<Vec<_>>>()?) } else { None });
        }
        let included = match (self.predicate, computed.last()) {
            (true, Some(last)) => last.as_boolean_opt().cloned(),
            _ => None,
        };
        Ok(Texts { keys, parts, words, included })
    }
}

/// The lexemes of a document in the order of their positions. Those without a position are in no phrase: they stand far apart.
fn words_of(vector: Option<&str>) -> PgResult<Words> {
    const NOWHERE: u32 = 1 << 20;
    const APART: u32 = 1 << 15;
    let mut out = Words::default();
    let Some(vector) = vector else { return Ok(out) };
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
