//! Undeclared columns: names with types that a statement gives to entries of a map of its table.
//!
//! A table `WITH (dynamic_columns)` has a column `map(text, jsonb)` whose entries are its undeclared columns, by their names. A statement
//! says of which type one is: `FROM t (colour text)`, `INSERT INTO t (id, colour text)`, `UPDATE t (colour text) SET …`. What is assigned
//! is of that type, and lies there as `to_jsonb` makes it; what is read is of that type again. NULL is no entry. All else is that of maps.
//!
//! Invariant: a name that the table declares with the same type is that column, so that statements stay as they are when an undeclared
//! column is promoted.

use super::alias::LATER;
use super::assign::Place;
use super::from::names_of;
use super::scope::{FromItem, Scope, ScopeColumn, StarColumn};
use super::updatable::Target;
use super::{Binder, fold};
use crate::typed::tree::Expr;
use std::borrow::Cow;
use stoa_pg::registry::CastContext;
use stoa_pg::types::MAP_VALUES;
use stoa_pg::{PgError, PgResult, PgType, SqlState, SqlType};
use stoa_syntax::ast::{self, DataType, Expr as E, Ident};
use stoa_syntax::marks;
use stoa_table::catalog::{ColumnDescriptor, TableDescriptor};

/// A column that a statement names with a type.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Undeclared {
    pub name: String,
    pub ty: SqlType,
}

/// The columns of an alias that have types: others are new names of the table's.
fn typed(alias: &ast::TableAlias) -> impl Iterator<Item = (&Ident, &DataType)> {
    alias.columns.iter().filter_map(|c| Some((&c.name, c.data_type.as_ref()?)))
}

/// 42601: columns with types behind what is no table.
pub(super) fn refuse_typed(alias: Option<&ast::TableAlias>) -> PgResult<()> {
    match alias.is_some_and(|alias| typed(alias).next().is_some()) {
        true => Err(PgError::new(
            SqlState::SYNTAX_ERROR,
            "a column definition list is only allowed for functions returning \"record\" and for tables with undeclared columns",
        )),
        false => Ok(()),
    }
}

/// 0A000: a view of undeclared columns is written to.
pub(super) fn refuse_written(alias: Option<&ast::TableAlias>, verb: &str, view: &str) -> PgResult<()> {
    match alias.is_some_and(|alias| typed(alias).next().is_some()) {
        true => Err(PgError::unsupported(format!("cannot {verb} view \"{view}\""))
            .detail("It shows undeclared columns, which are entries of a map and are written behind the row.")
            .hint("Change the table, whose name takes the columns with their types: UPDATE t (c int) SET c = ….")),
        false => Ok(()),
    }
}

/// What a view names with a type has its name there, also when the table has declared it after the view was made.
fn named_again(columns: &mut [ScopeColumn], alias: Option<&ast::TableAlias>) {
    for (name, _) in alias.into_iter().flat_map(typed) {
        let name = fold(name);
        if let Some(column) = columns.iter_mut().find(|c| c.name.strip_prefix(LATER) == Some(name.as_str())) {
            column.name = name;
        }
    }
}

impl Binder<'_> {
    /// A table as an item of FROM, with the columns that its alias names with types.
    ///
    /// # Errors
    /// As [`Binder::split_alias`].
    pub(super) fn item_of_table(
        &mut self,
        table: &TableDescriptor,
        mut visible: Vec<ScopeColumn>,
        given: Option<&ast::TableAlias>,
    ) -> PgResult<FromItem> {
        let (alias, undeclared) = self.split_alias(table, given)?;
        let alias = alias.as_deref();
        let fields = names_of(&visible, alias);
        self.hide_later(&mut visible, alias);
        let mut item = self.aliased(visible, alias, table.name.clone())?;
        let undeclared = self.undeclared_columns(table, &item.columns, &undeclared)?;
        item.columns.extend(undeclared);
        named_again(&mut item.columns, given);
        item.fields = fields;
        Ok(item)
    }

    /// An alias without its undeclared columns, and these.
    ///
    /// # Errors
    /// See `undeclared`.
    pub(super) fn split_alias<'a>(
        &mut self,
        table: &TableDescriptor,
        alias: Option<&'a ast::TableAlias>,
    ) -> PgResult<(Option<Cow<'a, ast::TableAlias>>, Vec<Undeclared>)> {
        let Some(alias) = alias else { return Ok((None, Vec::new())) };
        if typed(alias).next().is_none() {
            return Ok((Some(Cow::Borrowed(alias)), Vec::new()));
        }
        let columns: Vec<(Ident, DataType)> = typed(alias).map(|(name, ty)| (name.clone(), ty.clone())).collect();
        let mut plain = alias.clone();
        plain.columns.retain(|c| c.data_type.is_none());
        Ok((Some(Cow::Owned(plain)), self.undeclared(table, &columns)?))
    }

    /// The undeclared ones of the target of a statement, by what stands behind its name.
    ///
    /// # Errors
    /// As [`Binder::split_alias`]; 42601 for views.
    pub(super) fn undeclared_of_target(&mut self, target: &Target, alias: Option<&ast::TableAlias>) -> PgResult<()> {
        self.undeclared = match &target.view {
            Some(_) => {
                refuse_typed(alias)?;
                Vec::new()
            }
            None => self.split_alias(&target.table, alias)?.1,
        };
        Ok(())
    }

    /// The undeclared ones among the columns of an INSERT.
    ///
    /// # Errors
    /// As `undeclared`; 42601 for views.
    pub(super) fn undeclared_of_list(&mut self, target: &Target, columns: &[&ast::ObjectName]) -> PgResult<()> {
        let mut named = Vec::new();
        for column in columns {
            let [.., name, mark] = column.0.as_slice() else { continue };
            let (Some(name), Some(args)) = (name.as_ident(), marks::in_part(mark, marks::TYPE)) else { continue };
            let [E::Cast { data_type, .. }] = args.as_slice() else { return Err(PgError::internal("a type that is none")) };
            named.push((name.clone(), data_type.clone()));
        }
        if target.view.is_some() && !named.is_empty() {
            return Err(no_undeclared(&target.shape));
        }
        self.undeclared = self.undeclared(&target.table, &named)?;
        Ok(())
    }

    /// Those of some columns with types that a table does not declare.
    ///
    /// # Errors
    /// 42601 where the table has none, as of any type there; 42701 for a name that comes twice; 42804 for one that is declared with another type; 0A000 for types
    /// that values of maps cannot have.
    fn undeclared(&mut self, table: &TableDescriptor, columns: &[(Ident, DataType)]) -> PgResult<Vec<Undeclared>> {
        let mut out: Vec<Undeclared> = Vec::with_capacity(columns.len());
        for (ident, data_type) in columns {
            let position = self.pos_span(ident.span);
            if table.dynamic_column().is_none() {
                return Err(no_undeclared(table).at(position));
            }
            let (name, ty) = (fold(ident), self.type_of(data_type)?);
            if columns.iter().filter(|(other, _)| fold(other) == name).count() > 1 {
                return Err(PgError::new(SqlState::DUPLICATE_COLUMN, format!("column \"{name}\" specified more than once")).at(position));
            }
            if let Some(declared) = table.column_by_name(&name) {
                if declared.ty == ty {
                    continue;
                }
                let message = format!("column \"{name}\" of table \"{}\" is declared with type {}, not {ty}", table.name, declared.ty);
                return Err(PgError::new(SqlState::DATATYPE_MISMATCH, message).hint("Name it without a type.").at(position));
            }
            if !MAP_VALUES.contains(&ty.ty) && ty.ty != PgType::Bpchar {
                return Err(PgError::unsupported(format!("undeclared columns of type {ty} are not supported"))
                    .hint("A jsonb holds arrays and objects.")
                    .at(position));
            }
            out.push(Undeclared { name, ty });
        }
        Ok(out)
    }

    /// The value of an undeclared column of a row, by the map that has it.
    pub(super) fn read_undeclared(&mut self, map: Expr, column: &Undeclared) -> PgResult<Expr> {
        let name = super::literal::unknown(&column.name);
        let value = self.map_call("map_get", &[map, name])?.ok_or_else(|| PgError::internal("undeclared columns without a map"))?;
        match column.ty.ty {
            PgType::Jsonb => Ok(value),
            PgType::Json => self.coerce(value, &column.ty, CastContext::Explicit),
            _ => {
                let text = self.operator("#>>", Some(value), super::literal::unknown("{}"))?;
                self.coerce(text, &column.ty, CastContext::Explicit)
            }
        }
    }

    /// The columns of a table that a scope gets besides, made of its column of maps.
    fn undeclared_columns(
        &mut self,
        table: &TableDescriptor,
        declared: &[ScopeColumn],
        columns: &[Undeclared],
    ) -> PgResult<Vec<ScopeColumn>> {
        let Some(own) = table.dynamic_column().filter(|_| !columns.is_empty()) else { return Ok(Vec::new()) };
        let origin = Some((table.oid, own.id.0));
        let map = declared.iter().find(|c| c.origin == origin).map(|c| c.expr.clone());
        let map = map.ok_or_else(|| PgError::internal("a table without its column of maps"))?;
        let shown =
            |column: &Undeclared| Ok(ScopeColumn { name: column.name.clone(), expr: self.read_undeclared(map.clone(), column)?, origin });
        columns.iter().map(shown).collect()
    }

    /// The undeclared columns of the target, in a scope whose last item is the target or what is written to it.
    pub(super) fn show_undeclared(&mut self, scope: &mut Scope, table: &TableDescriptor) -> PgResult<()> {
        let columns = self.undeclared.clone();
        let Some(at) = scope.items.len().checked_sub(1).filter(|_| !columns.is_empty()) else { return Ok(()) };
        let Some(item) = scope.items.get_mut(at) else { return Ok(()) };
        let shown = self.undeclared_columns(table, &item.columns, &columns)?;
        let star = shown.iter().map(|c| StarColumn { name: c.name.clone(), expr: c.expr.clone(), item: Some(at), origin: c.origin });
        scope.star.extend(star);
        item.columns.extend(shown);
        Ok(())
    }

    /// Where the value of a name goes that a statement writes to: a column, a part of one, or an undeclared column.
    ///
    /// # Errors
    /// 42703.
    pub(super) fn place_of(&self, table: &TableDescriptor, name: &ast::ObjectName) -> PgResult<Place> {
        let (mut plain, subscripts) = self.subscripts_of(name)?;
        if plain.0.last().is_some_and(|part| marks::in_part(part, marks::TYPE).is_some()) {
            plain.0.pop();
        }
        if let ([only], true) = (plain.0.as_slice(), subscripts.is_empty())
            && let Some(name) = only.as_ident().map(fold)
            && let Some(undeclared) = self.undeclared.iter().find(|column| column.name == name)
        {
            let column = table.dynamic_column().ok_or_else(|| no_undeclared(table))?;
            return Ok(Place { column: column.clone(), subscripts, undeclared: Some(undeclared.clone()) });
        }
        Ok(Place { column: self.assigned_column(table, &plain)?, subscripts, undeclared: None })
    }

    /// A value as an undeclared column keeps it.
    pub(super) fn kept_undeclared(&mut self, value: Expr) -> PgResult<Expr> {
        if value.ty.ty == PgType::Jsonb { Ok(value) } else { self.call("to_jsonb", vec![value]) }
    }
}

/// Whether a column can have the undeclared columns of its table.
#[must_use]
pub fn takes_undeclared(column: &ColumnDescriptor) -> bool {
    matches!(&column.ty.ty, PgType::Map(key, value) if **key == PgType::Text && **value == PgType::Jsonb)
}

fn no_undeclared(table: &TableDescriptor) -> PgError {
    PgError::new(SqlState::SYNTAX_ERROR, format!("\"{}\" has no undeclared columns", table.name))
        .hint("A table that is made WITH (dynamic_columns), or altered by SET (dynamic_columns), has them.")
}
