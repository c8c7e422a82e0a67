//! SET, RESET and what they name.

use crate::grammar::{Parse, Parser};
use crate::utility::{SetItem, SetValue, TransactionModes, Utility};
use sqlparser::tokenizer::Token;

impl Parser<'_> {
    pub(super) fn set(&mut self) -> Parse<Option<Utility>> {
        let start = self.at;
        if self.keywords(&["session", "characteristics", "as", "transaction"]) {
            let modes = self.transaction_modes(true)?;
            return Ok(Some(Utility::SetTransaction { modes, snapshot: None, characteristics: true }));
        }
        if self.keyword("constraints") {
            let names = if self.keyword("all") { None } else { Some(self.object_names()?) };
            let deferred = self.keyword("deferred");
            if !deferred {
                self.expect("immediate")?;
            }
            return Ok(Some(Utility::SetConstraints { names, deferred }));
        }
        let local = self.keyword("local");
        if !local
            && self.peek_keyword(0, "session")
            && !matches!(self.peek(1), Some(Token::Eq | Token::Period))
            && !self.peek_keyword(1, "to")
        {
            self.at += 1;
            // SET SESSION SESSION AUTHORIZATION and SET SESSION AUTHORIZATION are both right.
            if self.keyword("authorization") {
                return Ok(Some(Utility::SetSessionAuthorization { user: self.role_name(&["default"])?, local: false }));
            }
        }
        if self.keyword("transaction") {
            if self.keyword("snapshot") {
                let snapshot = Some(self.string()?);
                return Ok(Some(Utility::SetTransaction { modes: TransactionModes::default(), snapshot, characteristics: false }));
            }
            let modes = self.transaction_modes(true)?;
            return Ok(Some(Utility::SetTransaction { modes, snapshot: None, characteristics: false }));
        }
        if self.keywords(&["session", "authorization"]) {
            return Ok(Some(Utility::SetSessionAuthorization { user: self.role_name(&["default"])?, local }));
        }
        if self.peek_keyword(0, "role") && !matches!(self.peek(1), Some(Token::Eq)) && !self.peek_keyword(1, "to") {
            self.at += 1;
            return Ok(Some(Utility::SetRole { role: self.role_name(&["none", "default"])?, local }));
        }
        if self.keywords(&["time", "zone"]) {
            let value = self.time_zone()?;
            return Ok(Some(Utility::Set { name: "timezone".into(), value, local }));
        }
        if self.keyword("names") {
            let value = if self.keyword("default") || self.at == self.tokens.len() {
                SetValue::Default
            } else {
                SetValue::Values(vec![SetItem { text: self.string()?, quoted: true }])
            };
            return Ok(Some(Utility::Set { name: "client_encoding".into(), value, local }));
        }
        if self.peek_keyword(0, "schema") && matches!(self.peek(1), Some(Token::SingleQuotedString(_))) {
            self.at += 1;
            let value = SetValue::Values(vec![SetItem { text: self.string()?, quoted: true }]);
            return Ok(Some(Utility::Set { name: "search_path".into(), value, local }));
        }
        if self.keywords(&["xml", "option"]) {
            let item = self.set_item()?;
            return Ok(Some(Utility::Set { name: "xmloption".into(), value: SetValue::Values(vec![item]), local }));
        }
        if self.at == start && self.at == self.tokens.len() {
            return Err(self.unexpected());
        }
        let name = self.setting_name()?;
        if !self.token(&Token::Eq) {
            self.expect("to")?;
        }
        if self.keyword("default") {
            return Ok(Some(Utility::Set { name, value: SetValue::Default, local }));
        }
        let mut values = vec![self.set_item()?];
        while self.token(&Token::Comma) {
            values.push(self.set_item()?);
        }
        Ok(Some(Utility::Set { name, value: SetValue::Values(values), local }))
    }

    pub(super) fn reset(&mut self) -> Parse<Utility> {
        if self.keyword("all") {
            return Ok(Utility::Reset(None));
        }
        if self.keywords(&["session", "authorization"]) {
            return Ok(Utility::SetSessionAuthorization { user: None, local: false });
        }
        if self.peek_keyword(0, "role") && self.tokens.len() == self.at + 1 {
            self.at += 1;
            return Ok(Utility::SetRole { role: None, local: false });
        }
        Ok(Utility::Reset(Some(self.setting_name()?)))
    }

    fn time_zone(&mut self) -> Parse<SetValue> {
        if self.keyword("local") || self.keyword("default") {
            return Ok(SetValue::Default);
        }
        if self.keyword("interval") {
            let text = self.string()?;
            let mut fields = Vec::new();
            while let Some(Token::Word(word)) = self.peek(0) {
                fields.push(word.value.to_ascii_lowercase());
                self.at += 1;
            }
            return Ok(SetValue::Interval { text, fields: fields.join(" ") });
        }
        Ok(SetValue::Values(vec![self.set_item()?]))
    }

    fn set_item(&mut self) -> Parse<SetItem> {
        let negative = if self.token(&Token::Minus) {
            true
        } else {
            self.token(&Token::Plus);
            false
        };
        match self.peek(0).cloned() {
            Some(Token::Number(number, _)) => {
                self.at += 1;
                Ok(SetItem { text: if negative { format!("-{number}") } else { number }, quoted: false })
            }
            _ if negative => Err(self.unexpected()),
            Some(Token::Word(word)) => {
                self.at += 1;
                match word.quote_style {
                    Some(_) => Ok(SetItem { text: word.value, quoted: true }),
                    None => Ok(SetItem { text: word.value.to_lowercase(), quoted: false }),
                }
            }
            _ => Ok(SetItem { text: self.string()?, quoted: true }),
        }
    }

    /// `work_mem`, `my.setting`, and the names of two words that SHOW and RESET know.
    pub(super) fn setting_name(&mut self) -> Parse<String> {
        if self.keywords(&["time", "zone"]) {
            return Ok("timezone".into());
        }
        if self.keywords(&["transaction", "isolation", "level"]) {
            return Ok("transaction_isolation".into());
        }
        if self.keywords(&["session", "authorization"]) {
            return Ok("session_authorization".into());
        }
        let mut name = self.name()?;
        while self.token(&Token::Period) {
            name.push('.');
            name.push_str(&self.name()?);
        }
        Ok(name)
    }

    /// A role's name, or `None` for one of the words that mean none.
    fn role_name(&mut self, none: &[&str]) -> Parse<Option<String>> {
        if none.iter().any(|word| self.keyword(word)) {
            return Ok(None);
        }
        match self.peek(0) {
            Some(Token::Word(_)) => Ok(Some(self.name()?)),
            _ => Ok(Some(self.string()?)),
        }
    }

    // COPY.
}
