//! The grammar of policies, and of row-level security in ALTER TABLE.

use crate::ast::{Expr, TableAliasColumnDef};
use crate::ddl::{AlterAction, Ddl};
use crate::error::SyntaxError;
use crate::grammar::{Parse, Parser};
use crate::policy::{PolicyStatement, PolicyWord, RowSecurityChange};
use crate::rights::RoleRef;
use sqlparser::tokenizer::Token;

impl Parser<'_> {
    /// Behind CREATE POLICY.
    pub(super) fn create_policy(&mut self) -> Parse<Ddl> {
        let name = self.name()?;
        self.expect("on")?;
        let table = self.object_name()?;
        let undeclared = self.undeclared_of_policy()?;
        let restrictive = self.keyword("as") && self.restricts()?;
        let command = if self.keyword("for") { self.policy_word()? } else { PolicyWord::All };
        let roles = self.policy_roles()?.unwrap_or_else(|| vec![RoleRef::Public]);
        let (using, check) = self.policy_conditions()?;
        Ok(Ddl::Policy(PolicyStatement::Create { name, table, undeclared, restrictive, command, roles, using, check }))
    }

    fn undeclared_of_policy(&mut self) -> Parse<Vec<TableAliasColumnDef>> {
        if self.peek(0) == Some(&Token::LParen) { self.undeclared_columns() } else { Ok(Vec::new()) }
    }

    fn restricts(&mut self) -> Parse<bool> {
        let word = self.name()?;
        match word.as_str() {
            "permissive" => Ok(false),
            "restrictive" => Ok(true),
            _ => {
                self.at -= 1;
                let mut error = SyntaxError::new(b"42601", format!("unrecognized row security option \"{word}\""), None);
                error.position = self.unexpected().position;
                Err(error.with_hint("Only PERMISSIVE or RESTRICTIVE policies are supported currently."))
            }
        }
    }

    fn policy_word(&mut self) -> Parse<PolicyWord> {
        let words = [
            ("all", PolicyWord::All),
            ("select", PolicyWord::Select),
            ("insert", PolicyWord::Insert),
            ("update", PolicyWord::Update),
            ("delete", PolicyWord::Delete),
        ];
        match words.into_iter().find(|(word, _)| self.keyword(word)) {
            Some((_, word)) => Ok(word),
            None => Err(self.unexpected()),
        }
    }

    fn policy_roles(&mut self) -> Parse<Option<Vec<RoleRef>>> {
        if self.keyword("to") { self.role_refs().map(Some) } else { Ok(None) }
    }

    fn policy_conditions(&mut self) -> Parse<(Option<Expr>, Option<Expr>)> {
        let using = if self.keyword("using") { Some(self.parenthesized_expression()?) } else { None };
        let check = if self.keywords(&["with", "check"]) { Some(self.parenthesized_expression()?) } else { None };
        Ok((using, check))
    }

    /// Behind ALTER POLICY.
    pub(super) fn alter_policy(&mut self) -> Parse<Ddl> {
        // It is taken, and a table or policy that is not there is an error all the same.
        let if_exists = self.if_exists()?;
        let name = self.name()?;
        self.expect("on")?;
        let table = self.object_name()?;
        if if_exists || self.peek_keyword(0, "rename") {
            self.expect("rename")?;
            self.expect("to")?;
            return Ok(Ddl::Policy(PolicyStatement::Rename { name, table, new: self.name()? }));
        }
        let undeclared = self.undeclared_of_policy()?;
        let roles = self.policy_roles()?;
        let (using, check) = self.policy_conditions()?;
        Ok(Ddl::Policy(PolicyStatement::Alter { name, table, undeclared, roles, using, check }))
    }

    /// Behind DROP POLICY.
    pub(super) fn drop_policy(&mut self) -> Parse<Ddl> {
        let if_exists = self.if_exists()?;
        let name = self.name()?;
        self.expect("on")?;
        let table = self.object_name()?;
        self.cascade();
        Ok(Ddl::Policy(PolicyStatement::Drop { name, table, if_exists }))
    }

    /// ENABLE, DISABLE, FORCE and NO FORCE ROW LEVEL SECURITY, if it is one of them.
    pub(super) fn row_security(&mut self) -> Option<AlterAction> {
        let changes: [(&[&str], RowSecurityChange); 4] = [
            (&["enable", "row", "level", "security"], RowSecurityChange::Enable),
            (&["disable", "row", "level", "security"], RowSecurityChange::Disable),
            (&["force", "row", "level", "security"], RowSecurityChange::Force),
            (&["no", "force", "row", "level", "security"], RowSecurityChange::NoForce),
        ];
        changes.into_iter().find(|(words, _)| self.keywords(words)).map(|(_, change)| AlterAction::RowSecurity(change))
    }
}
