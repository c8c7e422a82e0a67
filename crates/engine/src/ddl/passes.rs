//! The order in which the actions of one ALTER TABLE take place.
//!
//! Invariant: what an action needs of another is there, in whatever order they are written, as in PostgreSQL; [`super::alter`] does them.

use stoa_sql::bind::fold;
use stoa_syntax::ast::{self, Ident};
use stoa_syntax::ddl::{AlterAction, Column, Constraint, ConstraintKind, IndexElement};
use stoa_table::catalog::TableDescriptor;

/// When an action of ALTER TABLE takes place, in whatever order they are written: those of one pass in their order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Pass {
    Drop,
    Type,
    AddFamily,
    AddColumn,
    ColumnAttributes,
    IndexConstraint,
    OtherConstraint,
    Rest,
}

pub(super) fn pass(action: &AlterAction) -> Pass {
    match action {
        AlterAction::DropColumn { .. }
        | AlterAction::DropConstraint { .. }
        | AlterAction::DropDefault { .. }
        | AlterAction::DropNotNull { .. }
        | AlterAction::DropIdentity { .. }
        | AlterAction::DropExpression { .. } => Pass::Drop,
        AlterAction::SetType { .. } => Pass::Type,
        AlterAction::AddFamily { .. } => Pass::AddFamily,
        AlterAction::AddColumn { .. } | AlterAction::PromoteColumn(_) => Pass::AddColumn,
        AlterAction::SetNotNull { .. } => Pass::ColumnAttributes,
        AlterAction::AddConstraint(constraint) => match constraint.kind {
            ConstraintKind::PrimaryKey(_) | ConstraintKind::Unique(_) | ConstraintKind::Exclude => Pass::IndexConstraint,
            _ => Pass::OtherConstraint,
        },
        AlterAction::SetDefault { .. } | AlterAction::AddIdentity { .. } => Pass::OtherConstraint,
        _ => Pass::Rest,
    }
}

/// The actions on a table in the order in which they take place. What the constraint of a new column says may be about other new columns,
/// so that it becomes an action of its own; not that of a column which is there already.
pub(super) fn in_passes(table: &TableDescriptor, actions: &[AlterAction]) -> Vec<AlterAction> {
    let mut out = Vec::with_capacity(actions.len());
    let mut added: Vec<String> = Vec::new();
    for action in actions {
        match action {
            AlterAction::AddColumn { column, if_not_exists }
                if actions.len() > 1 && !(*if_not_exists && is_there(table, &added, &fold(&column.name))) =>
            {
                added.push(fold(&column.name));
                let (later, own) = column.constraints.iter().cloned().partition(|c| {
                    matches!(
                        c.kind,
                        ConstraintKind::Check(_)
                            | ConstraintKind::PrimaryKey(_)
                            | ConstraintKind::Unique(_)
                            | ConstraintKind::ForeignKey { .. }
                    )
                });
                let later: Vec<Constraint> = later;
                out.push(AlterAction::AddColumn { column: Column { constraints: own, ..column.clone() }, if_not_exists: *if_not_exists });
                out.extend(later.into_iter().map(|c| AlterAction::AddConstraint(of_table(c, &column.name))));
            }
            other => out.push(other.clone()),
        }
    }
    out.sort_by_key(pass);
    out
}

/// Whether the table has a column of that name, or an action before adds it.
fn is_there(table: &TableDescriptor, added: &[String], name: &str) -> bool {
    table.column_by_name(name).is_some() || added.iter().any(|other| other == name)
}

/// The constraint of a column as one of its table.
fn of_table(mut constraint: Constraint, column: &Ident) -> Constraint {
    match &mut constraint.kind {
        ConstraintKind::PrimaryKey(key) | ConstraintKind::Unique(key) => {
            key.columns = vec![IndexElement {
                expr: ast::Expr::Identifier(column.clone()),
                descending: false,
                nulls_first: None,
                operator_class: None,
                segment: false,
            }];
        }
        ConstraintKind::ForeignKey { columns, .. } => *columns = vec![column.clone()],
        _ => {}
    }
    constraint
}
