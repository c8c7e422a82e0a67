//! ALTER of tables and what is like them.

use super::hyperdrive::of_four_bytes;
use crate::ast::Ident;
use crate::ddl::{AlterAction, Column, Constraint, ConstraintKind, Ddl, Family, ObjectKind, ReplicaIdentity};
use crate::error::SyntaxError;
use crate::grammar::{Parse, Parser};
use sqlparser::tokenizer::Token;

impl Parser<'_> {
    pub(super) fn alter(&mut self) -> Parse<Ddl> {
        if let Some(word) = self.role_word() {
            return self.alter_role(word);
        }
        if self.keyword("default") {
            return self.alter_default();
        }
        if self.keyword("database") {
            return self.alter_database();
        }
        if self.keyword("policy") {
            return self.alter_policy();
        }
        if self.keywords(&["large", "object"]) {
            let oid = self.large_object()?;
            self.expect("owner")?;
            self.expect("to")?;
            return Ok(Ddl::AlterLargeObject { oid, owner: self.role_ref()? });
        }
        let Some(kind) = self.kind_of_object() else { return self.unsupported_object("ALTER") };
        let if_exists = self.if_exists()?;
        self.keyword("only");
        let name = self.object_name()?;
        self.token(&Token::Mul);
        if kind == ObjectKind::Sequence && !["rename", "set", "owner"].iter().any(|w| self.peek_keyword(0, w)) {
            let options = self.sequence_options()?;
            if options.is_empty() {
                return Err(self.unexpected());
            }
            return Ok(Ddl::AlterSequence { name, if_exists, options });
        }
        if kind == ObjectKind::Table
            && self.peek_keyword(0, "add")
            && self.peek_keyword(1, "columns")
            && self.peek(2) == Some(&Token::LParen)
        {
            self.at += 3;
            let columns = self.list(Self::column)?;
            self.expect_token(&Token::RParen)?;
            let added = |column: Column| {
                let column = Column { data_type: of_four_bytes(column.data_type), ..column };
                AlterAction::AddColumn { column, if_not_exists: false }
            };
            let actions = columns.into_iter().map(added).collect();
            return Ok(Ddl::Alter { kind, name, if_exists, actions });
        }
        let mut actions = vec![self.action(kind)?];
        // RENAME and SET SCHEMA are statements of their own.
        let alone = |action: &AlterAction| {
            matches!(
                action,
                AlterAction::Rename(_)
                    | AlterAction::RenameColumn { .. }
                    | AlterAction::RenameConstraint { .. }
                    | AlterAction::SetSchema(_)
            )
        };
        while !actions.iter().any(alone) && self.token(&Token::Comma) {
            if self.peek_keyword(0, "rename") {
                return Err(self.unexpected());
            }
            if self.peek_keyword(0, "set") && self.peek_keyword(1, "schema") {
                self.at += 1;
                return Err(self.unexpected());
            }
            actions.push(self.action(kind)?);
        }
        Ok(Ddl::Alter { kind, name, if_exists, actions })
    }

    fn action(&mut self, kind: ObjectKind) -> Parse<AlterAction> {
        if kind != ObjectKind::Schema && self.keywords(&["replica", "identity"]) {
            return self.replica_identity();
        }
        if kind != ObjectKind::Table {
            return self.alter_action(kind);
        }
        if let Some(change) = self.row_security() {
            return Ok(change);
        }
        if self.keyword("split") {
            return Ok(AlterAction::Split(self.split()?));
        }
        if self.keyword("unsplit") {
            if self.keyword("all") {
                return Ok(AlterAction::Unsplit(None));
            }
            self.expect("at")?;
            return Ok(AlterAction::Unsplit(Some(self.split_rows()?)));
        }
        if self.keywords(&["restore", "to"]) {
            return Ok(AlterAction::RestoreTo(self.expr()?));
        }
        if self.keywords(&["restore", "from"]) {
            return Ok(AlterAction::RestoreFrom(self.object_name()?));
        }
        if self.keywords(&["ttl", "expires", "at"]) {
            return Ok(AlterAction::Expires(Some(self.expr()?)));
        }
        if self.keywords(&["timestamp", "from"]) {
            return Ok(AlterAction::TimestampFrom(Some(self.ident()?)));
        }
        if self.keywords(&["no", "timestamp"]) {
            return Ok(AlterAction::TimestampFrom(None));
        }
        if self.keywords(&["no", "ttl"]) {
            return Ok(AlterAction::Expires(None));
        }
        if self.keywords(&["no", "salt"]) {
            return Ok(AlterAction::Salt(None));
        }
        if self.keyword("salt") {
            self.expect_token(&Token::LParen)?;
            let buckets = u32::try_from(self.signed_integer()?).map_err(|_| self.unexpected())?;
            let columns = if self.token(&Token::Comma) { self.idents()? } else { Vec::new() };
            self.expect_token(&Token::RParen)?;
            return Ok(AlterAction::Salt(Some((buckets, columns))));
        }
        self.alter_action(kind)
    }

    fn alter_action(&mut self, kind: ObjectKind) -> Parse<AlterAction> {
        if self.keyword("rename") {
            if self.keyword("to") {
                return Ok(AlterAction::Rename(self.ident()?));
            }
            if self.keyword("constraint") {
                let old = self.ident()?;
                self.expect("to")?;
                return Ok(AlterAction::RenameConstraint { old, new: self.ident()? });
            }
            self.keyword("column");
            let old = self.ident()?;
            self.expect("to")?;
            return Ok(AlterAction::RenameColumn { old, new: self.ident()? });
        }
        if self.keyword("owner") {
            self.expect("to")?;
            return Ok(AlterAction::OwnerTo(self.role_ref()?));
        }
        if self.keyword("set") {
            if self.keyword("schema") {
                return Ok(AlterAction::SetSchema(self.ident()?));
            }
            if self.peek(0) == Some(&Token::LParen) {
                return Ok(AlterAction::SetOptions(self.options_in_parens()?));
            }
            if !self.peek_any(0, &["logged", "unlogged", "without", "tablespace", "access"]) {
                return Err(self.unexpected());
            }
            return Ok(AlterAction::Unsupported(format!("SET {}", self.rest_of_action())));
        }
        if self.keyword("reset") {
            return Ok(AlterAction::ResetOptions(self.options_in_parens()?));
        }
        if kind == ObjectKind::Index && self.peek_any(0, &["alter", "attach", "depends", "no"]) {
            return Ok(AlterAction::Unsupported(self.rest_of_action()));
        }
        if matches!(kind, ObjectKind::Index | ObjectKind::Sequence | ObjectKind::Schema) {
            return Err(self.unexpected());
        }
        if self.keyword("add") {
            let is_constraint = ["constraint", "primary", "foreign", "check", "exclude"].iter().any(|w| self.peek_keyword(0, w))
                || (self.peek_keyword(0, "unique")
                    && (self.peek(1) == Some(&Token::LParen) || self.peek_keyword(1, "nulls") || self.peek_keyword(1, "using")));
            if is_constraint {
                return Ok(AlterAction::AddConstraint(self.table_constraint()?));
            }
            if self.family_follows() {
                self.at += 1;
                let if_not_exists = self.if_not_exists()?;
                let name = self.ident()?;
                let columns = self.family_columns()?;
                return Ok(AlterAction::AddFamily { family: Family { name, columns, options: self.with_options()? }, if_not_exists });
            }
            return self.added_column();
        }
        if self.keyword("drop") {
            if self.keyword("constraint") {
                let if_exists = self.if_exists()?;
                let name = self.ident()?;
                return Ok(AlterAction::DropConstraint { name, if_exists, cascade: self.cascade() });
            }
            // A column `family` is dropped by its name alone, a family by two words.
            if self.peek_keyword(0, "family") && matches!(self.peek(1), Some(Token::Word(_))) && !self.peek_any(1, &["cascade", "restrict"])
            {
                self.at += 1;
                let if_exists = self.if_exists()?;
                let name = self.ident()?;
                self.cascade();
                return Ok(AlterAction::DropFamily { name, if_exists });
            }
            self.keyword("column");
            let if_exists = self.if_exists()?;
            let name = self.ident()?;
            return Ok(AlterAction::DropColumn { name, if_exists, cascade: self.cascade() });
        }
        if self.keywords(&["validate", "constraint"]) {
            return Ok(AlterAction::ValidateConstraint { name: self.ident()? });
        }
        if self.keyword("alter") {
            if self.keyword("constraint") {
                let name = self.ident()?;
                let mut holder = Constraint {
                    name: None,
                    kind: ConstraintKind::Null,
                    deferrable: None,
                    initially_deferred: None,
                    not_valid: false,
                    no_inherit: false,
                    position: 0,
                };
                while self.constraint_attribute(&mut holder)? {}
                if holder.not_valid {
                    return Err(SyntaxError::new(b"0A000", "FOREIGN KEY constraints cannot be marked NOT VALID", None));
                }
                if holder.initially_deferred == Some(true) && holder.deferrable == Some(false) {
                    return Err(SyntaxError::new(b"42601", "constraint declared INITIALLY DEFERRED must be DEFERRABLE", None));
                }
                return Ok(AlterAction::AlterConstraint {
                    name,
                    deferrable: holder.deferrable,
                    initially_deferred: holder.initially_deferred,
                });
            }
            if self.peek_keyword(0, "family") && matches!(self.peek(1), Some(Token::Word(_))) && self.peek_keyword(2, "with") {
                self.at += 1;
                let name = self.ident()?;
                return Ok(AlterAction::AlterFamily { name, options: self.with_options()? });
            }
            self.keyword("column");
            let column = self.ident()?;
            return self.alter_column(column);
        }
        // Rules, triggers, partitions, inheritance.
        if self.peek_any(0, &["enable", "disable", "attach", "detach", "inherit", "no", "force", "cluster", "of", "not"]) {
            return Ok(AlterAction::Unsupported(self.rest_of_action()));
        }
        Err(self.unexpected())
    }

    fn replica_identity(&mut self) -> Parse<AlterAction> {
        Ok(AlterAction::ReplicaIdentity(if self.keyword("default") {
            ReplicaIdentity::Default
        } else if self.keyword("nothing") {
            ReplicaIdentity::Nothing
        } else if self.keyword("full") {
            ReplicaIdentity::Full
        } else if self.keyword("using") {
            self.expect("index")?;
            ReplicaIdentity::Index(self.ident()?)
        } else {
            return Err(self.unexpected());
        }))
    }

    /// Behind ADD: a column.
    fn added_column(&mut self) -> Parse<AlterAction> {
        if self.peek_keyword(0, "partition") && self.peek(1) == Some(&Token::LParen) {
            return Err(self
                .unsupported("ADD PARTITION is not supported")
                .with_hint("A partition is there as soon as it has rows: INSERT INTO … PARTITION (…)."));
        }
        self.keyword("column");
        let if_not_exists = self.if_not_exists()?;
        let column = self.column()?;
        if !if_not_exists && self.keywords(&["from", "dynamic"]) {
            return Ok(AlterAction::PromoteColumn(column));
        }
        Ok(AlterAction::AddColumn { column, if_not_exists })
    }

    /// The first words of what is left of an action: in capitals, but for the last, which may be a name.
    fn rest_of_action(&mut self) -> String {
        let mut words: Vec<String> = (0..4)
            .map_while(|i| match self.peek(i) {
                Some(Token::Word(w)) => Some(w.value.clone()),
                _ => None,
            })
            .collect();
        let last = words.len().saturating_sub(1);
        words.iter_mut().take(last).for_each(|w| *w = w.to_uppercase());
        if let [one] = words.as_mut_slice() {
            *one = one.to_uppercase();
        }
        self.at = self.skip_to_element_end();
        words.join(" ")
    }

    fn alter_column(&mut self, column: Ident) -> Parse<AlterAction> {
        if self.keywords(&["drop", "default"]) {
            return Ok(AlterAction::DropDefault { column });
        }
        if self.keywords(&["drop", "not", "null"]) {
            return Ok(AlterAction::DropNotNull { column });
        }
        if self.keywords(&["drop", "identity"]) {
            return Ok(AlterAction::DropIdentity { column, if_exists: self.if_exists()? });
        }
        if self.keywords(&["drop", "expression"]) {
            return Ok(AlterAction::DropExpression { column, if_exists: self.if_exists()? });
        }
        if self.keywords(&["set", "default"]) {
            return Ok(AlterAction::SetDefault { column, value: self.expression()? });
        }
        if self.keywords(&["set", "not", "null"]) {
            return Ok(AlterAction::SetNotNull { column });
        }
        if self.keywords(&["set", "data", "type"]) || self.keyword("type") {
            let data_type = self.data_type()?;
            let collation = if self.keyword("collate") { Some(self.object_name()?) } else { None };
            let using = if self.keyword("using") { Some(self.expression()?) } else { None };
            return Ok(AlterAction::SetType { column, data_type, collation, using });
        }
        if self.keyword("add") {
            return match self.column_constraint()? {
                Some(ConstraintKind::Identity { always, options }) => Ok(AlterAction::AddIdentity { column, always, options }),
                _ => Err(self.unexpected()),
            };
        }
        let mut always = None;
        let mut options = Vec::new();
        loop {
            if self.keywords(&["set", "generated", "always"]) {
                always = Some(true);
            } else if self.keywords(&["set", "generated", "by", "default"]) {
                always = Some(false);
            } else if self.peek_keyword(0, "restart") {
                options.extend(self.sequence_options()?);
            } else if self.peek_keyword(0, "set")
                && ["increment", "start", "minvalue", "maxvalue", "no", "cache", "cycle"].iter().any(|w| self.peek_keyword(1, w))
            {
                self.at += 1;
                options.extend(self.sequence_options()?);
            } else {
                break;
            }
        }
        if always.is_some() || !options.is_empty() {
            return Ok(AlterAction::AlterIdentity { column, always, options });
        }
        if self.peek_keyword(0, "set") || self.peek_keyword(0, "reset") {
            let set = self.peek_keyword(0, "set");
            self.at += 1;
            if self.peek(0) == Some(&Token::LParen) {
                return Ok(AlterAction::ColumnOptions { column, options: self.options_in_parens()?, set });
            }
            let what = match self.peek(0) {
                Some(Token::Word(w)) => w.value.to_uppercase(),
                _ => "options".into(),
            };
            self.at = self.skip_to_element_end();
            return Ok(AlterAction::ColumnStorage { column, what });
        }
        Err(self.unexpected())
    }
}
