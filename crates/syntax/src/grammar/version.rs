//! The time as of which a table in FROM is read, and spans of time.

use super::{Parse, Parser};
use crate::ast::{self, Expr};
use crate::marks;

impl Parser<'_> {
    /// `AS OF SYSTEM TIME x`, also as `FOR SYSTEM_TIME AS OF x`; `FOR SYSTEM_TIME FROM a TO b`, `BETWEEN a AND b` and `ALL` as
    /// [`marks`].
    pub(super) fn version(&mut self) -> Parse<Option<ast::TableVersion>> {
        if self.keywords(&["as", "of", "system", "time"]) || self.keywords(&["for", "system_time", "as", "of"]) {
            return Ok(Some(ast::TableVersion::ForSystemTimeAsOf(self.b_expr()?)));
        }
        let (name, between) = if self.keywords(&["for", "system_time", "from"]) {
            (marks::PERIOD_FROM, Some("to"))
        } else if self.keywords(&["for", "system_time", "between"]) {
            (marks::PERIOD_BETWEEN, Some("and"))
        } else if self.keywords(&["for", "system_time", "all"]) {
            (marks::PERIOD_ALL, None)
        } else {
            return Ok(None);
        };
        let mut times = Vec::new();
        if let Some(between) = between {
            times.push(self.b_expr()?);
            self.expect(between)?;
            times.push(self.b_expr()?);
        }
        Ok(Some(ast::TableVersion::Function(Expr::Function(marks::call(name, times)))))
    }

    /// 0A000: `AS OF SYSTEM TIME` where the modes of a transaction stand.
    pub(crate) fn refuse_time(&mut self) -> Parse<()> {
        if !self.keywords(&["as", "of", "system", "time"]) {
            return Ok(());
        }
        Err(self
            .unsupported("transactions as of a time are not supported")
            .with_hint("Behind the name of each table, FROM t AS OF SYSTEM TIME …, the time is one of the past."))
    }
}
