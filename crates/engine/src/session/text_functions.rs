//! Functions of full text that look into an index: suggestions, and where a score comes from.

use datafusion::common::ScalarValue;
use std::fmt::Write;
use std::sync::Arc;
use stoa_exec::environment::{SessionEnvironment, waiting};
use stoa_exec::fulltext::suggest::Words;
use stoa_exec::fulltext::{TextIndex, not_ready};
use stoa_exec::scan_table::ScanTable;
use stoa_fulltext::{Evaluator, FieldText};
use stoa_pg::{PgError, PgResult, PgType, SqlState, SqlType};
use stoa_sql::definition::functions::{Answer, Args, text};
use stoa_sql::fulltext::matching::{EXPLAINED_FUNCTION, MatchConfig, renumbered, text_error};
use stoa_sql::privileges::denied;
use stoa_table::catalog::{FULLTEXT_METHOD, IndexDescriptor, IndexKey, IndexState, TableDescriptor};
use stoa_table::row::RowCodec;

/// Answers a call of one of them.
pub(super) fn call(system: &SessionEnvironment, function: &str, args: &Args<'_>, _: &SqlType) -> Answer {
    match function {
        "stoa_suggest" => suggest(system, args),
        EXPLAINED_FUNCTION => explained(system, args),
        _ => Ok(None),
    }
}

/// `stoa_suggest(table, column, text)`: the text, words that no row has replaced by such that are like them and that rows have.
fn suggest(system: &SessionEnvironment, args: &Args<'_>) -> Answer {
    let (Some(oid), Some(column), Some(search)) = (args.oid(0), args.text(1), args.text(2)) else { return text(None) };
    let Some(table) = system.catalog.table(oid) else {
        return Err(PgError::new(SqlState::UNDEFINED_TABLE, format!("there is no table with OID {oid}")));
    };
    let Some(id) = table.visible_columns().find(|c| c.name == column).map(|c| c.id) else {
        let message = format!("column \"{column}\" of relation \"{}\" does not exist", table.name);
        return Err(PgError::new(SqlState::UNDEFINED_COLUMN, message));
    };
    // Words are of all rows: who may not see all of them gets none.
    let flag = |function: &str, args: &[ScalarValue]| {
        let value = super::object_functions::call(system, function, args, &SqlType::new(PgType::Bool))?;
        PgResult::Ok(value == ScalarValue::Boolean(Some(true)))
    };
    let (oid, name) = (ScalarValue::UInt32(Some(table.oid)), |s: &str| ScalarValue::Utf8View(Some(s.to_owned())));
    if !flag("has_column_privilege", &[oid.clone(), name(&column), name("SELECT")])? {
        return Err(denied("table", &table.name));
    }
    if flag("row_security_active", &[oid])? {
        return Err(PgError::new(SqlState::INSUFFICIENT_PRIVILEGE, format!("policies hide rows of table \"{}\"", table.name))
            .detail("Suggestions are words of all rows."));
    }
    if table.expires.is_some() {
        return Err(PgError::unsupported("suggestions from tables whose rows expire by an expression are not supported").hint(
            "The words of rows that have ended could not be distinguished from the others. Search with IN SEARCH BOX MODE, which takes typos.",
        ));
    }
    let has = |i: &&IndexDescriptor| i.is_fulltext() && i.state == IndexState::Readable && i.predicate.is_none();
    let field = |i: &IndexDescriptor| i.parts.iter().position(|p| p.is_text() && matches!(&p.key, IndexKey::Column(c) if *c == id));
    let plain = |i: &IndexDescriptor, field: usize| {
        let index = system.database.text.get(i.storage)?;
        let plain = index.definition.analyzers().ok()?.get(field)?.has_plain_words();
        plain.then_some((index, field))
    };
    let found = table.indexes.iter().filter(has).find_map(|i| plain(i, field(i)?));
    let Some((index, field)) = found else {
        return Err(PgError::unsupported(format!("suggestions need a full text index of words over column \"{column}\""))
            .hint(format!("CREATE INDEX ON {} USING {FULLTEXT_METHOD} ({column}).", table.name)));
    };
    let scanned = scanned(system, table)?;
    let words = Words { table: &scanned, feed: system.database.text.feed(), index: &index, field };
    text(waiting::answer(&system.session, words.suggest(&search))?)
}

fn scanned(system: &SessionEnvironment, table: &TableDescriptor) -> PgResult<ScanTable> {
    let codec = Arc::new(RowCodec::new(table)?);
    Ok(ScanTable { table: Arc::new(table.clone()), codec, view: system.txn.read_view(), txn: Some(Arc::clone(&system.txn)), columns: None })
}

/// `match_explained(configuration, search string, index, places, column, …)`: what a row's score comes from, of one MATCH or of several.
fn explained(system: &SessionEnvironment, args: &Args<'_>) -> Answer {
    let (mut total, mut lines, mut at) = (None, String::new(), 0);
    while let Some(places) = args.text(at + 3) {
        let places: Vec<usize> = places.split(',').filter_map(|n| n.parse().ok()).collect();
        if let Some(score) = explained_match(system, args, at, &places, &mut lines)? {
            total = Some(total.unwrap_or(0.0) + score);
        }
        at += 4 + places.len();
    }
    text(total.map(|total: f32| format!("{total:.3}{lines}")))
}

/// What one MATCH gives, whose arguments begin at a place; `None` if the row does not fit it.
fn explained_match(system: &SessionEnvironment, args: &Args<'_>, at: usize, places: &[usize], out: &mut String) -> PgResult<Option<f32>> {
    let (Some(config), Some(search), Some(oid)) = (args.text(at), args.text(at + 1), args.text(at + 2)) else { return Ok(None) };
    let gone = || PgError::internal("the index of a MATCH is gone");
    let oid: u32 = oid.parse().map_err(|_| gone())?;
    let mut tables = system.catalog.relations().filter_map(|r| system.catalog.table(r.oid()));
    let (table, index) = tables.find_map(|t| t.indexes.iter().find(|i| i.oid == oid).map(|i| (t, i))).ok_or_else(gone)?;
    let own: Arc<TextIndex> = system.database.text.get(index.storage).ok_or_else(gone)?;
    let Some(files) = own.files() else { return Err(not_ready(&index.name, &own.condition())) };
    let config = MatchConfig::read(&config)?;
    let query = renumbered(&config.query(&search, &config.fields()?)?, &|field| places.get(field).copied().unwrap_or(usize::MAX));
    let generation = files.generation();
    let statistics = generation.statistics(&query).map_err(text_error)?;
    let columns: Vec<Option<String>> = (0..places.len()).map(|n| args.text(at + 4 + n)).collect();
    let mut texts = vec![FieldText::Nothing; files.analyzers().len()];
    for (column, place) in columns.iter().zip(places) {
        if let (Some(column), Some(text)) = (column, texts.get_mut(*place)) {
            *text = FieldText::Text(column);
        }
    }
    let mut evaluator = Evaluator::new(&query, files.analyzers(), Some(&statistics));
    let Some((score, shares)) = evaluator.explain(&query, &statistics, &texts) else { return Ok(None) };
    let names = |field: usize| match index.parts.get(field).map(|p| &p.key) {
        Some(IndexKey::Column(id)) => table.column(*id).map_or_else(String::new, |c| c.name.clone()),
        Some(IndexKey::Expr(sql)) => sql.clone(),
        None => String::new(),
    };
    for share in shares {
        let times = if share.times == 1 { "once".to_owned() } else { format!("{} times", share.times) };
        let _ = write!(out, "\n{:.3} {}: {times} in {} words", share.score, share.what.shown(&names), share.words);
        if let Some(documents) = share.documents {
            let _ = write!(out, ", in {documents} of {} rows", statistics.documents);
        }
    }
    Ok(Some(score))
}
