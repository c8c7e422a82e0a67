//! The blocks that DO runs, in PL/pgSQL: statements one after the other, `PERFORM`, `IF`, `RAISE`, blocks within blocks.
//!
//! What needs a variable, a loop or a handler of errors is refused (0A000). The text of every statement is read before any of them
//! runs; errors have no position, for it would be one in the block's own text.

use crate::script::{Piece, parse_script};
use crate::{SyntaxError, char_offset, lexer};
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// Blocks within blocks, as many as anybody writes.
const DEEPEST: usize = 50;

/// A statement of a block.
#[derive(Clone, Debug)]
pub enum Step {
    /// Gives no rows.
    Sql(Piece),
    /// A query whose rows nobody wants.
    Perform(Piece),
    /// The first branch whose query gives true, else the last steps.
    If {
        branches: Vec<(Piece, Vec<Step>)>,
        otherwise: Vec<Step>,
    },
    Raise {
        level: Level,
        message: String,
    },
    Block(Vec<Step>),
}

/// What a message of RAISE is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Level {
    Debug,
    Log,
    Info,
    Notice,
    Warning,
    Exception,
}

/// Reads a block: `BEGIN … END`.
///
/// # Errors
/// 42601; 0A000 for what is not done.
pub fn parse_block(code: &str) -> Result<Vec<Step>, SyntaxError> {
    let read = || {
        let tokens = lexer::tokens(code)?;
        let mut reader = Reader { code, tokens: &tokens, at: 0, depth: 0 };
        if reader.peek("declare") {
            return Err(unsupported("variables of blocks"));
        }
        reader.expect("begin")?;
        let steps = reader.block()?;
        reader.token(&Token::SemiColon);
        if reader.at < tokens.len() { Err(reader.unexpected()) } else { Ok(steps) }
    };
    read().map_err(|error: SyntaxError| SyntaxError { position: None, ..error })
}

fn unsupported(what: &str) -> SyntaxError {
    SyntaxError::new(b"0A000", format!("{what} are not supported"), None)
        .with_hint("DO runs statements of SQL, PERFORM, IF, RAISE with a text, and blocks of these.")
}

struct Reader<'a> {
    code: &'a str,
    tokens: &'a [TokenWithSpan],
    at: usize,
    depth: usize,
}

impl Reader<'_> {
    /// The steps behind BEGIN, with the END.
    fn block(&mut self) -> Result<Vec<Step>, SyntaxError> {
        let steps = self.steps()?;
        if self.peek("exception") {
            return Err(unsupported("handlers of errors in blocks"));
        }
        self.expect("end")?;
        Ok(steps)
    }

    /// Steps up to a word that ends them.
    fn steps(&mut self) -> Result<Vec<Step>, SyntaxError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(SyntaxError::too_deep());
        }
        let mut out = Vec::new();
        while self.at < self.tokens.len() && !["end", "elsif", "elseif", "else", "exception"].iter().any(|word| self.peek(word)) {
            out.extend(self.step()?);
        }
        self.depth -= 1;
        Ok(out)
    }

    fn step(&mut self) -> Result<Option<Step>, SyntaxError> {
        for (words, what) in [
            (&["declare"][..], "variables of blocks"),
            (&["for", "foreach", "while", "loop", "exit", "continue"][..], "loops in blocks"),
            (&["execute"][..], "statements made of text in blocks"),
            (&["open", "fetch", "move", "close"][..], "cursors in blocks"),
            (&["return", "get", "assert", "case"][..], "RETURN, GET DIAGNOSTICS, ASSERT and CASE in blocks"),
            (&["commit", "rollback"][..], "COMMIT and ROLLBACK in blocks"),
        ] {
            if words.iter().any(|word| self.peek(word)) {
                return Err(unsupported(what));
            }
        }
        if self.word("begin") {
            let steps = self.block()?;
            self.semicolon()?;
            return Ok(Some(Step::Block(steps)));
        }
        if self.word("if") {
            return self.branches().map(Some);
        }
        if self.word("null") {
            return self.semicolon().map(|()| None);
        }
        if self.word("raise") {
            return self.raise().map(Some);
        }
        if let [name, equals, ..] = self.tokens.get(self.at..).unwrap_or_default()
            && matches!((&name.token, &equals.token), (Token::Word(_), Token::Assignment | Token::Eq))
        {
            return Err(unsupported("variables of blocks"));
        }
        let performs = self.word("perform");
        let text = self.until(None)?;
        self.semicolon()?;
        if performs {
            return Ok(Some(Step::Perform(query(&text)?)));
        }
        Ok(Some(Step::Sql(statement(&text)?)))
    }

    /// IF, behind the word.
    fn branches(&mut self) -> Result<Step, SyntaxError> {
        let mut branches = Vec::new();
        loop {
            let condition = query(&self.until(Some("then"))?)?;
            self.expect("then")?;
            branches.push((condition, self.steps()?));
            if !self.word("elsif") && !self.word("elseif") {
                break;
            }
        }
        let otherwise = if self.word("else") { self.steps()? } else { Vec::new() };
        self.expect("end")?;
        self.expect("if")?;
        self.semicolon()?;
        Ok(Step::If { branches, otherwise })
    }

    /// RAISE, behind the word.
    fn raise(&mut self) -> Result<Step, SyntaxError> {
        let levels = [
            ("debug", Level::Debug),
            ("log", Level::Log),
            ("info", Level::Info),
            ("notice", Level::Notice),
            ("warning", Level::Warning),
            ("exception", Level::Exception),
        ];
        let level = levels.into_iter().find(|(word, _)| self.word(word)).map_or(Level::Exception, |(_, level)| level);
        let Some(Token::SingleQuotedString(format)) = self.tokens.get(self.at).map(|t| &t.token) else {
            return Err(unsupported("messages of RAISE other than a text"));
        };
        self.at += 1;
        if !matches!(self.tokens.get(self.at).map(|t| &t.token), Some(Token::SemiColon)) {
            return Err(unsupported("values and options of RAISE"));
        }
        self.semicolon()?;
        let message = format.replace("%%", "\0");
        if message.contains('%') {
            return Err(SyntaxError::new(b"42601", "too few parameters specified for RAISE", None));
        }
        Ok(Step::Raise { level, message: message.replace('\0', "%") })
    }

    /// The text up to a word, or to the semicolon, outside of parentheses.
    fn until(&mut self, end: Option<&str>) -> Result<String, SyntaxError> {
        let (from, mut depth) = (self.at, 0_usize);
        while let Some(token) = self.tokens.get(self.at) {
            match token.token {
                Token::LParen | Token::LBracket => depth += 1,
                Token::RParen | Token::RBracket => depth = depth.saturating_sub(1),
                Token::SemiColon if depth == 0 => break,
                _ if depth == 0 && end.is_some_and(|word| self.peek(word)) => break,
                _ => {}
            }
            self.at += 1;
        }
        let tokens = self.tokens.get(from..self.at).unwrap_or_default();
        let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else { return Err(self.unexpected()) };
        let start = char_offset(self.code, first.span.start);
        Ok(self.code.chars().skip(start).take(char_offset(self.code, last.span.end) - start).collect())
    }

    fn peek(&self, word: &str) -> bool {
        matches!(self.tokens.get(self.at).map(|t| &t.token),
            Some(Token::Word(w)) if w.quote_style.is_none() && w.value.eq_ignore_ascii_case(word))
    }

    fn word(&mut self, word: &str) -> bool {
        let found = self.peek(word);
        self.at += usize::from(found);
        found
    }

    fn token(&mut self, token: &Token) -> bool {
        let found = self.tokens.get(self.at).is_some_and(|t| t.token == *token);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, word: &str) -> Result<(), SyntaxError> {
        if self.word(word) { Ok(()) } else { Err(self.unexpected()) }
    }

    fn semicolon(&mut self) -> Result<(), SyntaxError> {
        if self.token(&Token::SemiColon) { Ok(()) } else { Err(self.unexpected()) }
    }

    fn unexpected(&self) -> SyntaxError {
        match self.tokens.get(self.at) {
            Some(token) => SyntaxError::near(self.code, token),
            None => SyntaxError::new(b"42601", "syntax error at end of input", None),
        }
    }
}

/// What stands behind SELECT in PL/pgSQL's expressions.
fn query(text: &str) -> Result<Piece, SyntaxError> {
    statement(&format!("SELECT {text}"))
}

fn statement(text: &str) -> Result<Piece, SyntaxError> {
    parse_script(text)?.pop().ok_or_else(|| SyntaxError::new(b"42601", "syntax error at end of input", None))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    #[test]
    fn blocks_are_read() {
        let steps = parse_block(
            "begin if not exists (select case when true then 1 end) then create table t (a int); elsif 1 = 2 then null; else raise notice '100%%'; end if;
             perform f(1); begin insert into t values (1); end; update t set a = 1; end",
        );
        let steps = steps.unwrap();
        let [Step::If { branches, otherwise }, Step::Perform(called), Step::Block(inner), Step::Sql(update)] = steps.as_slice() else {
            panic!("{steps:?}")
        };
        assert_eq!((branches.len(), branches[0].1.len(), branches[1].1.len(), inner.len()), (2, 1, 0, 1));
        assert!(matches!(&otherwise[..], [Step::Raise { level: Level::Notice, message }] if message == "100%"));
        assert_eq!((called.text.as_str(), update.text.as_str()), ("SELECT f(1)", "update t set a = 1"));
    }

    #[test]
    fn what_is_not_done_is_refused() {
        for (code, wanted) in [
            ("DECLARE x int; BEGIN END", "0A000"),
            ("BEGIN x := 1; END", "0A000"),
            ("BEGIN FOR i IN 1..3 LOOP NULL; END LOOP; END", "0A000"),
            ("BEGIN EXECUTE 'SELECT 1'; END", "0A000"),
            ("BEGIN NULL; EXCEPTION WHEN others THEN NULL; END", "0A000"),
            ("BEGIN COMMIT; END", "0A000"),
            ("BEGIN RAISE NOTICE 'a %', 1; END", "0A000"),
            ("BEGIN RAISE NOTICE 'a %'; END", "42601"),
            ("BEGIN IF THEN NULL; END IF; END", "42601"),
            ("BEGIN IF true THEN NULL; END; END", "42601"),
            ("BEGIN SELEC 1; END", "42601"),
            ("BEGIN NULL END", "42601"),
            ("BEGIN NULL;", "42601"),
            ("NULL;", "42601"),
            ("BEGIN END; SELECT 1", "42601"),
        ] {
            let error = parse_block(code).unwrap_err();
            assert_eq!((std::str::from_utf8(&error.code).unwrap(), error.position), (wanted, None), "{code}: {error}");
        }
        let deep = format!("{}{}", "BEGIN ".repeat(5000), "END; ".repeat(5000));
        assert_eq!(parse_block(&deep).unwrap_err().code, *b"54001");
        assert!(parse_block("BEGIN UPDATE t SET a = 1; UPDATE t SET b = 2 WHERE c = 3; END").is_ok());
    }
}
