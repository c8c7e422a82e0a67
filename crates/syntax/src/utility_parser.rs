//! The grammar of [`Utility`] statements, by recursive descent over sqlparser's tokens.
//!
//! A statement whose first words are not those of a utility statement is left alone, to be read by sqlparser. Nested queries and
//! expressions are read by sqlparser from the tokens that remain.

use crate::grammar::{Parse, Parser};
use crate::utility::{
    Copy, CopySource, CopyTarget, Declare, DiscardTarget, Explain, FetchDirection, Isolation, MaintenanceTarget, NamedOption, OptionValue,
    TableLockMode, TransactionModes, Utility,
};
use crate::{Body, ast, char_offset};
use sqlparser::tokenizer::Token;

mod ddl;
mod settings;

impl Parser<'_> {
    /// The statement, or `None` if it is not a utility statement.
    pub(crate) fn utility(&mut self) -> Parse<Option<Utility>> {
        let out = self.dispatch()?;
        if out.is_some() && self.at < self.tokens.len() {
            return Err(self.unexpected());
        }
        Ok(out)
    }

    fn dispatch(&mut self) -> Parse<Option<Utility>> {
        Ok(Some(if self.keyword("begin") {
            self.transaction_word();
            Utility::Begin(self.transaction_modes(false)?)
        } else if self.keywords(&["start", "transaction"]) {
            Utility::Begin(self.transaction_modes(false)?)
        } else if self.keyword("commit") || self.keyword("end") {
            self.commit()?
        } else if self.keyword("rollback") || self.keyword("abort") {
            self.rollback()?
        } else if self.keyword("savepoint") {
            Utility::Savepoint(self.col_id()?)
        } else if self.keyword("release") {
            self.keyword("savepoint");
            Utility::Release(self.col_id()?)
        } else if self.keywords(&["prepare", "transaction"]) {
            Utility::PrepareTransaction(self.string()?)
        } else if self.keyword("prepare") {
            self.prepare()?
        } else if self.keyword("execute") {
            let (name, args) = self.execute()?;
            Utility::Execute { name, args }
        } else if self.keyword("deallocate") {
            self.keyword("prepare");
            Utility::Deallocate(if self.keyword("all") { None } else { Some(self.col_id()?) })
        } else if self.keyword("set") {
            return self.set();
        } else if self.keyword("reset") {
            self.reset()?
        } else if self.keyword("show") {
            Utility::Show(if self.keyword("all") { None } else { Some(self.setting_name()?) })
        } else if self.keyword("discard") {
            Utility::Discard(if self.keyword("all") {
                DiscardTarget::All
            } else if self.keyword("plans") {
                DiscardTarget::Plans
            } else if self.keyword("sequences") {
                DiscardTarget::Sequences
            } else if self.keyword("temp") || self.keyword("temporary") {
                DiscardTarget::Temp
            } else {
                return Err(self.unexpected());
            })
        } else if self.keyword("declare") {
            self.declare()?
        } else if self.keyword("fetch") {
            self.fetch(false)?
        } else if self.keyword("move") {
            self.fetch(true)?
        } else if self.keyword("close") {
            Utility::Close(if self.keyword("all") { None } else { Some(self.col_id()?) })
        } else if self.keyword("copy") {
            self.copy()?
        } else if self.keyword("explain") {
            self.explain()?
        } else if self.keyword("listen") {
            Utility::Listen(self.col_id()?)
        } else if self.keyword("notify") {
            let channel = self.col_id()?;
            let payload = if self.token(&Token::Comma) { self.string()? } else { String::new() };
            Utility::Notify { channel, payload }
        } else if self.keyword("unlisten") {
            Utility::Unlisten(if self.token(&Token::Mul) { None } else { Some(self.col_id()?) })
        } else if self.keyword("lock") {
            self.lock()?
        } else if self.keyword("vacuum") {
            self.vacuum()?
        } else if self.keyword("analyze") || self.keyword("analyse") {
            self.analyze()?
        } else if self.keywords(&["check", "index"]) {
            self.check(false)?
        } else if self.keywords(&["check", "table"]) {
            self.check(true)?
        } else if self.keyword("checkpoint") {
            Utility::Checkpoint
        } else if self.keyword("do") {
            self.do_block()?
        } else if self.keyword("call") {
            Utility::Call(Box::new(self.expression()?))
        } else {
            return Ok(self.ddl()?.map(|ddl| Utility::Ddl(Box::new(ddl))));
        }))
    }

    // Transactions.

    fn transaction_word(&mut self) {
        let _ = self.keyword("transaction") || self.keyword("work");
    }

    /// With `required`, at least one mode must stand there.
    fn transaction_modes(&mut self, required: bool) -> Parse<TransactionModes> {
        let mut modes = TransactionModes::default();
        let mut first = required;
        loop {
            if self.keywords(&["isolation", "level"]) {
                modes.isolation = Some(self.isolation()?);
            } else if self.keywords(&["read", "only"]) {
                modes.read_only = Some(true);
            } else if self.keywords(&["read", "write"]) {
                modes.read_only = Some(false);
            } else if self.keywords(&["not", "deferrable"]) {
                modes.deferrable = Some(false);
            } else if self.keyword("deferrable") {
                modes.deferrable = Some(true);
            } else {
                self.refuse_time()?;
                return if first { Err(self.unexpected()) } else { Ok(modes) };
            }
            // Commas between modes may be left out.
            first = self.token(&Token::Comma);
        }
    }

    fn isolation(&mut self) -> Parse<Isolation> {
        if self.keyword("serializable") {
            Ok(Isolation::Serializable)
        } else if self.keywords(&["repeatable", "read"]) {
            Ok(Isolation::RepeatableRead)
        } else if self.keywords(&["read", "committed"]) {
            Ok(Isolation::ReadCommitted)
        } else if self.keywords(&["read", "uncommitted"]) {
            Ok(Isolation::ReadUncommitted)
        } else {
            Err(self.unexpected())
        }
    }

    fn commit(&mut self) -> Parse<Utility> {
        if self.keyword("prepared") {
            return Ok(Utility::FinishPrepared { gid: self.string()?, commit: true });
        }
        self.transaction_word();
        Ok(Utility::Commit { chain: self.chain()? })
    }

    fn rollback(&mut self) -> Parse<Utility> {
        if self.keyword("prepared") {
            return Ok(Utility::FinishPrepared { gid: self.string()?, commit: false });
        }
        self.transaction_word();
        if self.keyword("to") {
            self.keyword("savepoint");
            return Ok(Utility::RollbackTo(self.col_id()?));
        }
        Ok(Utility::Rollback { chain: self.chain()? })
    }

    fn chain(&mut self) -> Parse<bool> {
        if !self.keyword("and") {
            return Ok(false);
        }
        let chain = !self.keyword("no");
        self.expect("chain")?;
        Ok(chain)
    }

    // Prepared statements and cursors.

    /// What follows EXECUTE: the name of a prepared statement and its arguments.
    fn execute(&mut self) -> Parse<(String, Vec<ast::Expr>)> {
        let name = self.col_id()?;
        let args = if self.token(&Token::LParen) { self.expressions()? } else { Vec::new() };
        Ok((name, args))
    }

    fn prepare(&mut self) -> Parse<Utility> {
        let name = self.col_id()?;
        let mut types = Vec::new();
        if self.token(&Token::LParen) {
            types = self.list(Self::data_type)?;
            self.expect_token(&Token::RParen)?;
        }
        self.expect("as")?;
        self.expect_start(&["select", "values", "table", "with", "insert", "update", "delete", "merge", "upsert"])?;
        let text = self.rest_text();
        Ok(Utility::Prepare { name, types, statement: Box::new(self.rest()?), text })
    }

    fn declare(&mut self) -> Parse<Utility> {
        let name = self.col_id()?;
        let (mut binary, mut scroll, mut insensitive) = (false, None, false);
        loop {
            if self.keyword("binary") {
                binary = true;
            } else if self.keyword("insensitive") {
                insensitive = true;
            } else if self.keywords(&["no", "scroll"]) {
                scroll = Some(false);
            } else if self.keyword("scroll") {
                scroll = Some(true);
            } else if !self.keyword("asensitive") {
                break;
            }
        }
        self.expect("cursor")?;
        let hold = if self.keywords(&["with", "hold"]) {
            true
        } else {
            self.keywords(&["without", "hold"]);
            false
        };
        self.expect("for")?;
        self.expect_start(&["select", "values", "table", "with"])?;
        let query_text = self.rest_text();
        Ok(Utility::Declare(Declare { name, binary, insensitive, scroll, hold, query: Box::new(self.rest()?), query_text }))
    }

    fn fetch(&mut self, move_only: bool) -> Parse<Utility> {
        const ALL: i64 = i64::MAX;
        let direction = if self.keyword("next") {
            FetchDirection::Forward(1)
        } else if self.keyword("prior") {
            FetchDirection::Backward(1)
        } else if self.keyword("first") {
            FetchDirection::Absolute(1)
        } else if self.keyword("last") {
            FetchDirection::Absolute(-1)
        } else if self.keyword("absolute") {
            FetchDirection::Absolute(self.signed_integer()?)
        } else if self.keyword("relative") {
            FetchDirection::Relative(self.signed_integer()?)
        } else if self.keyword("all") {
            FetchDirection::Forward(ALL)
        } else if self.keyword("forward") {
            FetchDirection::Forward(if self.keyword("all") { ALL } else { self.optional_integer()?.unwrap_or(1) })
        } else if self.keyword("backward") {
            FetchDirection::Backward(if self.keyword("all") { ALL } else { self.optional_integer()?.unwrap_or(1) })
        } else {
            FetchDirection::Forward(self.optional_integer()?.unwrap_or(1))
        };
        let _ = self.keyword("from") || self.keyword("in");
        Ok(Utility::Fetch { name: self.col_id()?, direction, move_only })
    }

    // Settings.

    fn copy(&mut self) -> Parse<Utility> {
        let mut options = Vec::new();
        if self.peek_keyword(0, "binary")
            && !matches!(self.peek(1), Some(Token::LParen | Token::Period))
            && !self.peek_keyword(1, "from")
            && !self.peek_keyword(1, "to")
        {
            options.push(NamedOption { name: "format".into(), value: Some(OptionValue::Word("binary".into())), position: self.position() });
            self.at += 1;
        }
        let source = if self.token(&Token::LParen) {
            self.expect_start(&["select", "values", "table", "with", "insert", "update", "delete"])?;
            let statement = self.preparable()?;
            self.expect_token(&Token::RParen)?;
            CopySource::Query(Box::new(statement))
        } else {
            let name = self.object_name()?;
            let mut columns = Vec::new();
            if self.peek(0) == Some(&Token::LParen) {
                columns = self.copied_columns()?;
            }
            CopySource::Table { name, columns }
        };
        let from = match &source {
            CopySource::Query(_) => {
                self.expect("to")?;
                false
            }
            CopySource::Table { .. } if self.keyword("from") => true,
            CopySource::Table { .. } => {
                self.expect("to")?;
                false
            }
        };
        // PostgreSQL takes STDIN and STDOUT for either direction.
        let target = if self.keyword("stdin") || self.keyword("stdout") {
            CopyTarget::Client
        } else if self.keyword("program") {
            CopyTarget::Program(self.string()?)
        } else {
            CopyTarget::File(self.string()?)
        };
        self.old_delimiters(&mut options)?;
        self.keyword("with");
        if self.token(&Token::LParen) {
            options.extend(self.parenthesized_options()?);
        } else {
            self.old_copy_options(&mut options)?;
        }
        let filter = if self.keyword("where") { Some(Box::new(self.expression()?)) } else { None };
        Ok(Utility::Copy(Copy { source, from, target, options, filter }))
    }

    /// `[USING] DELIMITERS 'x'`, of PostgreSQL 7.2.
    fn old_delimiters(&mut self, options: &mut Vec<NamedOption>) -> Parse<()> {
        let position = self.position();
        if self.keywords(&["using", "delimiters"]) || self.keyword("delimiters") {
            options.push(NamedOption { name: "delimiter".into(), value: Some(OptionValue::Text(self.string()?)), position });
        }
        Ok(())
    }

    /// The options without parentheses, of PostgreSQL before 9.0: psql's `\copy` is often written so.
    fn old_copy_options(&mut self, options: &mut Vec<NamedOption>) -> Parse<()> {
        loop {
            let position = self.position();
            let mut add = |name: &str, value: Option<OptionValue>| options.push(NamedOption { name: name.into(), value, position });
            if self.keyword("binary") {
                add("format", Some(OptionValue::Word("binary".into())));
            } else if self.keyword("csv") {
                add("format", Some(OptionValue::Word("csv".into())));
            } else if self.keyword("header") {
                add("header", Some(OptionValue::Word("true".into())));
            } else if self.keyword("freeze") {
                add("freeze", Some(OptionValue::Word("true".into())));
            } else if self.keyword("delimiter") {
                self.keyword("as");
                add("delimiter", Some(OptionValue::Text(self.string()?)));
            } else if self.keyword("null") {
                self.keyword("as");
                add("null", Some(OptionValue::Text(self.string()?)));
            } else if self.keyword("quote") {
                self.keyword("as");
                add("quote", Some(OptionValue::Text(self.string()?)));
            } else if self.keyword("escape") {
                self.keyword("as");
                add("escape", Some(OptionValue::Text(self.string()?)));
            } else if self.keyword("encoding") {
                add("encoding", Some(OptionValue::Text(self.string()?)));
            } else if self.keywords(&["force", "quote"]) {
                let value = if self.token(&Token::Mul) { OptionValue::Star } else { OptionValue::List(self.names()?) };
                add("force_quote", Some(value));
            } else if self.keywords(&["force", "not", "null"]) {
                let names = self.names()?;
                add("force_not_null", Some(OptionValue::List(names)));
            } else if self.keywords(&["force", "null"]) {
                let names = self.names()?;
                add("force_null", Some(OptionValue::List(names)));
            } else {
                return Ok(());
            }
        }
    }

    /// Behind the opening parenthesis: `name [value], …)`.
    fn parenthesized_options(&mut self) -> Parse<Vec<NamedOption>> {
        let mut out = Vec::new();
        loop {
            let position = self.position();
            let name = self.name()?;
            let negative = self.token(&Token::Minus);
            let value = match self.peek(0).cloned() {
                Some(Token::Comma | Token::RParen) => None,
                Some(Token::Number(number, _)) => {
                    self.at += 1;
                    Some(OptionValue::Number(if negative { format!("-{number}") } else { number }))
                }
                Some(Token::Mul) => {
                    self.at += 1;
                    Some(OptionValue::Star)
                }
                Some(Token::LParen) => {
                    self.at += 1;
                    let names = self.names()?;
                    self.expect_token(&Token::RParen)?;
                    Some(OptionValue::List(names))
                }
                Some(Token::Word(_)) => Some(OptionValue::Word(self.name()?)),
                _ => Some(OptionValue::Text(self.string()?)),
            };
            out.push(NamedOption { name, value, position });
            if !self.token(&Token::Comma) {
                self.expect_token(&Token::RParen)?;
                return Ok(out);
            }
        }
    }

    // The rest.

    fn explain(&mut self) -> Parse<Utility> {
        let mut options = Vec::new();
        // `EXPLAIN (SELECT 1)` is a query in parentheses.
        let query = ["select", "with", "values", "table"].iter().any(|w| self.peek_keyword(1, w));
        if matches!(self.peek(0), Some(Token::LParen)) && !query && !matches!(self.peek(1), Some(Token::LParen)) {
            self.at += 1;
            options = self.parenthesized_options()?;
        } else {
            for name in ["analyze", "verbose"] {
                let position = self.position();
                if self.keyword(name) || (name == "analyze" && self.keyword("analyse")) {
                    options.push(NamedOption { name: name.into(), value: None, position });
                }
            }
        }
        if self.at == self.tokens.len() {
            return Err(self.unexpected());
        }
        let makes_table = (0..4).find(|n| !self.peek_any(*n, &["create", "local", "global", "temp", "temporary", "unlogged"]));
        let body = if self.peek_any(0, &["declare", "execute"])
            || makes_table.is_some_and(|n| n > 0 && self.peek_any(n, &["table", "materialized"]))
        {
            match self.utility()? {
                Some(utility) => Body::Utility(Box::new(utility)),
                None => return Err(self.unexpected()),
            }
        } else if self.peek_any(0, &["create", "refresh"]) {
            return Err(self.unsupported("EXPLAIN of this statement is not supported"));
        } else {
            Body::Sql(Box::new(self.whole_statement()?))
        };
        Ok(Utility::Explain(Explain { options, body: Box::new(body) }))
    }

    fn lock(&mut self) -> Parse<Utility> {
        self.keyword("table");
        self.keyword("only");
        let tables = self.object_names()?;
        self.token(&Token::Mul);
        let mut mode = TableLockMode::AccessExclusive;
        if self.keyword("in") {
            mode = if self.keywords(&["access", "share"]) {
                TableLockMode::AccessShare
            } else if self.keywords(&["row", "share"]) {
                TableLockMode::RowShare
            } else if self.keywords(&["row", "exclusive"]) {
                TableLockMode::RowExclusive
            } else if self.keywords(&["share", "update", "exclusive"]) {
                TableLockMode::ShareUpdateExclusive
            } else if self.keywords(&["share", "row", "exclusive"]) {
                TableLockMode::ShareRowExclusive
            } else if self.keyword("share") {
                TableLockMode::Share
            } else if self.keyword("exclusive") {
                TableLockMode::Exclusive
            } else if self.keywords(&["access", "exclusive"]) {
                TableLockMode::AccessExclusive
            } else {
                return Err(self.unexpected());
            };
            self.expect("mode")?;
        }
        Ok(Utility::Lock { tables, mode, nowait: self.keyword("nowait") })
    }

    fn vacuum(&mut self) -> Parse<Utility> {
        let mut options = Vec::new();
        if self.token(&Token::LParen) {
            options = self.parenthesized_options()?;
        } else {
            for name in ["full", "freeze", "verbose", "analyze"] {
                let position = self.position();
                if self.keyword(name) {
                    options.push(NamedOption { name: name.into(), value: None, position });
                }
            }
        }
        Ok(Utility::Vacuum { options, targets: self.maintenance_targets()? })
    }

    fn analyze(&mut self) -> Parse<Utility> {
        let mut options = Vec::new();
        let position = self.position();
        if self.token(&Token::LParen) {
            options = self.parenthesized_options()?;
        } else if self.keyword("verbose") {
            options.push(NamedOption { name: "verbose".into(), value: None, position });
        }
        Ok(Utility::Analyze { options, targets: self.maintenance_targets()? })
    }

    fn maintenance_targets(&mut self) -> Parse<Vec<MaintenanceTarget>> {
        let mut out = Vec::new();
        while self.at < self.tokens.len() {
            let table = self.object_name()?;
            let mut columns = Vec::new();
            if self.token(&Token::LParen) {
                columns = self.idents()?;
                self.expect_token(&Token::RParen)?;
            }
            out.push(MaintenanceTarget { table, columns });
            if self.at < self.tokens.len() {
                self.expect_token(&Token::Comma)?;
                if self.at == self.tokens.len() {
                    return Err(self.unexpected());
                }
            }
        }
        Ok(out)
    }

    fn do_block(&mut self) -> Parse<Utility> {
        let (mut language, mut code) = (None, None);
        while self.at < self.tokens.len() {
            if self.keyword("language") {
                language = Some(if matches!(self.peek(0), Some(Token::Word(_))) { self.name()? } else { self.string()? });
            } else {
                code = Some(self.string()?);
            }
        }
        match code {
            Some(code) => Ok(Utility::Do { language, code }),
            None => Err(self.unexpected()),
        }
    }

    // Tokens.

    /// One of these words comes next, or an opening parenthesis: a query.
    fn expect_start(&self, words: &[&str]) -> Parse<()> {
        if words.iter().any(|w| self.peek_keyword(0, w)) || matches!(self.peek(0), Some(Token::LParen)) {
            return Ok(());
        }
        Err(self.unexpected())
    }

    /// A name that is no reserved word.
    fn col_id(&mut self) -> Parse<String> {
        if self.is_column_id(0) { self.name() } else { Err(self.unexpected()) }
    }

    fn name(&mut self) -> Parse<String> {
        let Some(Token::Word(word)) = self.peek(0) else { return Err(self.unexpected()) };
        let name = if word.quote_style.is_some() { word.value.clone() } else { word.value.to_lowercase() };
        if name.is_empty() {
            let message = "zero-length delimited identifier at or near \"\"\"\"".into();
            return Err(crate::SyntaxError { message, ..self.unexpected() });
        }
        self.at += 1;
        Ok(name)
    }

    fn names(&mut self) -> Parse<Vec<String>> {
        let mut out = vec![self.name()?];
        while self.token(&Token::Comma) {
            out.push(self.name()?);
        }
        Ok(out)
    }

    fn string(&mut self) -> Parse<String> {
        let text = match self.peek(0) {
            Some(
                Token::SingleQuotedString(text)
                | Token::EscapedStringLiteral(text)
                | Token::UnicodeStringLiteral(text)
                | Token::NationalStringLiteral(text),
            ) => text.clone(),
            Some(Token::DollarQuotedString(text)) => text.value.clone(),
            _ => return Err(self.unexpected()),
        };
        self.at += 1;
        Ok(text)
    }

    fn optional_integer(&mut self) -> Parse<Option<i64>> {
        match self.peek(0) {
            Some(Token::Number(..) | Token::Minus | Token::Plus) => self.signed_integer().map(Some),
            _ => Ok(None),
        }
    }

    fn signed_integer(&mut self) -> Parse<i64> {
        let negative = self.token(&Token::Minus);
        if !negative {
            self.token(&Token::Plus);
        }
        let value = match self.peek(0) {
            Some(Token::Number(number, _)) => number.parse::<i32>().ok(),
            _ => None,
        };
        let Some(value) = value else { return Err(self.unexpected()) };
        self.at += 1;
        Ok(i64::from(value) * if negative { -1 } else { 1 })
    }

    /// Behind an opening parenthesis: expressions up to the closing one.
    fn expressions(&mut self) -> Parse<Vec<ast::Expr>> {
        let out = self.exprs()?;
        self.expect_token(&Token::RParen)?;
        Ok(out)
    }

    fn expression(&mut self) -> Parse<ast::Expr> {
        self.expr()
    }

    /// Everything that remains, as one statement.
    fn rest(&mut self) -> Parse<ast::Statement> {
        self.whole_statement()
    }

    fn rest_text(&self) -> String {
        match (self.tokens.get(self.at), self.tokens.last()) {
            (Some(first), Some(last)) => {
                let start = char_offset(self.sql, first.span.start);
                let end = char_offset(self.sql, last.span.end);
                self.sql.chars().skip(start).take(end.saturating_sub(start)).collect()
            }
            _ => String::new(),
        }
    }

    /// Where the next token starts, in characters from 1.
    fn position(&self) -> usize {
        self.tokens.get(self.at).map_or(0, |t| char_offset(self.sql, t.span.start) + 1)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    fn utility(sql: &str) -> Utility {
        match crate::parse_script(sql).unwrap_or_else(|e| panic!("{sql}: {e}")).remove(0).body {
            Body::Utility(utility) => *utility,
            Body::Sql(statement) => panic!("{sql} was read as {statement}"),
        }
    }

    #[test]
    fn forms_of_each_statement() {
        for (sql, shown) in [
            (
                "BEGIN WORK ISOLATION LEVEL SERIALIZABLE, READ ONLY DEFERRABLE",
                "Begin(TransactionModes { isolation: Some(Serializable), read_only: Some(true), deferrable: Some(true) })",
            ),
            ("end transaction and no chain", "Commit { chain: false }"),
            ("ABORT AND CHAIN", "Rollback { chain: true }"),
            ("ROLLBACK WORK TO SAVEPOINT \"A b\"", "RollbackTo(\"A b\")"),
            ("RELEASE Sp", "Release(\"sp\")"),
            (
                "SET LOCAL search_path TO \"A\", b, 'c'",
                "Set { name: \"search_path\", value: Values([SetItem { text: \"A\", quoted: true }, SetItem { text: \"b\", quoted: false }, SetItem { text: \"c\", quoted: true }]), local: true }",
            ),
            (
                "SET SESSION work_mem = -1",
                "Set { name: \"work_mem\", value: Values([SetItem { text: \"-1\", quoted: false }]), local: false }",
            ),
            ("SET TIME ZONE -3.5", "Set { name: \"timezone\", value: Values([SetItem { text: \"-3.5\", quoted: false }]), local: false }"),
            (
                "SET TIME ZONE INTERVAL '-08:00' HOUR TO MINUTE",
                "Set { name: \"timezone\", value: Interval { text: \"-08:00\", fields: \"hour to minute\" }, local: false }",
            ),
            ("SET a.b TO DEFAULT", "Set { name: \"a.b\", value: Default, local: false }"),
            (
                "SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE",
                "SetTransaction { modes: TransactionModes { isolation: None, read_only: Some(false), deferrable: None }, snapshot: None, characteristics: true }",
            ),
            ("SET SESSION AUTHORIZATION DEFAULT", "SetSessionAuthorization { user: None, local: false }"),
            ("SET ROLE none", "SetRole { role: None, local: false }"),
            ("SHOW TRANSACTION ISOLATION LEVEL", "Show(Some(\"transaction_isolation\"))"),
            ("RESET ALL", "Reset(None)"),
            ("FETCH BACKWARD ALL IN c", "Fetch { name: \"c\", direction: Backward(9223372036854775807), move_only: false }"),
            ("FETCH c", "Fetch { name: \"c\", direction: Forward(1), move_only: false }"),
            ("FETCH -2 c", "Fetch { name: \"c\", direction: Forward(-2), move_only: false }"),
            ("MOVE RELATIVE -3 FROM c", "Fetch { name: \"c\", direction: Relative(-3), move_only: true }"),
            ("DEALLOCATE PREPARE ALL", "Deallocate(None)"),
            ("NOTIFY ch, 'hi'", "Notify { channel: \"ch\", payload: \"hi\" }"),
            ("UNLISTEN *", "Unlisten(None)"),
            ("DO LANGUAGE plpgsql $$BEGIN END$$", "Do { language: Some(\"plpgsql\"), code: \"BEGIN END\" }"),
        ] {
            assert_eq!(format!("{:?}", utility(sql)), shown, "{sql}");
        }
    }

    #[test]
    fn copy_options_old_and_new() {
        let names = |sql: &str| match utility(sql) {
            Utility::Copy(copy) => copy.options.iter().map(|o| format!("{}={:?}", o.name, o.value)).collect::<Vec<_>>().join(" "),
            other => panic!("{other:?}"),
        };
        assert_eq!(
            names("COPY s.t (a, \"B\") FROM STDIN WITH (FORMAT csv, HEADER match, FORCE_NULL (a, b), FORCE_QUOTE *, DELIMITER '|')"),
            "format=Some(Word(\"csv\")) header=Some(Word(\"match\")) force_null=Some(List([\"a\", \"b\"])) force_quote=Some(Star) delimiter=Some(Text(\"|\"))"
        );
        assert_eq!(
            names("COPY t FROM STDIN DELIMITER AS ',' NULL '' CSV HEADER FORCE NOT NULL a, b"),
            "delimiter=Some(Text(\",\")) null=Some(Text(\"\")) format=Some(Word(\"csv\")) header=Some(Word(\"true\")) force_not_null=Some(List([\"a\", \"b\"]))"
        );
        assert!(matches!(utility("COPY (SELECT (1), 2) TO STDOUT"), Utility::Copy(Copy { source: CopySource::Query(_), from: false, .. })));
        assert!(matches!(utility("COPY t FROM STDIN WHERE a > 1"), Utility::Copy(Copy { filter: Some(_), from: true, .. })));
    }

    #[test]
    fn nested_statements() {
        match utility("PREPARE p (int, numeric(8,2)[], timestamp with time zone) AS SELECT $1, $2") {
            Utility::Prepare { name, types, text, .. } => {
                assert_eq!((name.as_str(), types.len(), text.as_str()), ("p", 3, "SELECT $1, $2"))
            }
            other => panic!("{other:?}"),
        }
        match utility("EXECUTE p (1 + 1, upper('x'))") {
            Utility::Execute { args, .. } => assert_eq!(args.len(), 2),
            other => panic!("{other:?}"),
        }
        match utility("EXPLAIN (ANALYZE, FORMAT json, COSTS off) SELECT 1") {
            Utility::Explain(explain) => assert_eq!(explain.options.len(), 3),
            other => panic!("{other:?}"),
        }
        match utility("EXPLAIN ANALYZE VERBOSE EXECUTE p (1)") {
            Utility::Explain(explain) => assert!(matches!(*explain.body, Body::Utility(_))),
            other => panic!("{other:?}"),
        }
        match utility("DECLARE c BINARY NO SCROLL CURSOR WITH HOLD FOR SELECT 1") {
            Utility::Declare(d) => assert_eq!((d.binary, d.scroll, d.hold, d.query_text.as_str()), (true, Some(false), true, "SELECT 1")),
            other => panic!("{other:?}"),
        }
        match utility("LOCK TABLE a, s.b IN SHARE ROW EXCLUSIVE MODE NOWAIT") {
            Utility::Lock { tables, mode, nowait } => {
                assert_eq!((tables.len(), mode, nowait), (2, TableLockMode::ShareRowExclusive, true));
            }
            other => panic!("{other:?}"),
        }
    }
}
