//! What a statement does with each relation, noted while names are resolved: what it must be allowed to do.
//!
//! A column counts as read where the statement names it, as in PostgreSQL, whatever the plan reads. Relations that a view reads are read
//! in the name of the view's owner, unless it is a `security_invoker` view.

use super::Binder;
use crate::catalog::names::is_security_invoker;
use crate::privileges::is_restricted;
use crate::typed::tree::{Access, FuncRef};
use std::sync::Arc;
use stoa_pg::registry::Func;
use stoa_table::catalog::{ColumnId, Oid, Privileges, Relation};

/// A view through which rows of a table are written: on the way down from the statement to the table.
#[derive(Clone, Debug)]
pub(super) struct WriteLevel {
    pub relation: Oid,
    /// In whose name it is written.
    pub within: Option<Oid>,
    /// Columns of the table, each with the column of this relation that it is.
    pub columns: Vec<(ColumnId, ColumnId)>,
    /// Columns of this relation that the view above names.
    pub named: Vec<ColumnId>,
}

/// What stands for `tableoid` and its like, which have no privileges of their own: those of the whole relation are asked for.
pub(super) const SYSTEM_COLUMN: ColumnId = ColumnId(0);

/// The notes of one statement.
#[derive(Debug, Default)]
pub(super) struct Accesses {
    list: Vec<Access>,
    /// By writes through views: the levels, the view that the statement names first.
    levels: Vec<Vec<WriteLevel>>,
    /// Schemas that the statement names.
    schemas: Vec<Oid>,
    /// Functions that not everybody may call.
    functions: Vec<FuncRef>,
}

impl Accesses {
    pub(super) fn of(&mut self, within: Option<Oid>, relation: Oid) -> &mut Access {
        let known = self.list.iter().position(|a| a.relation == relation && a.within == within);
        let at = known.unwrap_or_else(|| {
            self.list.push(Access { relation, within, ..Access::default() });
            self.list.len() - 1
        });
        // It was found or pushed just now.
        &mut self.list[at]
    }

    /// Adds the notes of a part, but for what it does with one relation, if that is said.
    pub(super) fn add(&mut self, part: Self, but: Option<(Option<Oid>, Oid)>) {
        for access in part.list.into_iter().filter(|access| Some((access.within, access.relation)) != but) {
            let own = self.of(access.within, access.relation);
            own.privileges = own.privileges.or(access.privileges);
            access.selected.iter().for_each(|column| add(&mut own.selected, *column));
            access.inserted.iter().for_each(|column| add(&mut own.inserted, *column));
            access.updated.iter().for_each(|column| add(&mut own.updated, *column));
        }
        self.levels.extend(part.levels);
        part.schemas.into_iter().for_each(|schema| self.note_schema(schema));
        self.functions.extend(part.functions);
    }

    pub(super) fn note_schema(&mut self, schema: Oid) {
        if !self.schemas.contains(&schema) {
            self.schemas.push(schema);
        }
    }

    /// All of them, those of tables under views that are written among them, the functions, and the schemas.
    pub(super) fn finish(mut self) -> (Vec<Access>, Vec<FuncRef>, Vec<Oid>) {
        for levels in std::mem::take(&mut self.levels) {
            let Some(top) = levels.first() else { continue };
            let above = self.of(top.within, top.relation).clone();
            let reads = above.privileges.has(Privileges::SELECT);
            for level in levels.iter().skip(1) {
                let access = self.of(level.within, level.relation);
                access.privileges = access.privileges.or(above.privileges);
                if reads {
                    level.named.iter().for_each(|column| add(&mut access.selected, *column));
                }
            }
        }
        (self.list, self.functions, self.schemas)
    }
}

fn add(columns: &mut Vec<ColumnId>, column: ColumnId) {
    if !columns.contains(&column) {
        columns.push(column);
    }
}

impl Binder<'_> {
    /// In whose name relations are used here: that of the owner of the view that is being expanded, if it is not its reader's.
    pub(super) fn within(&self) -> Option<Oid> {
        if let Some((views, within)) = self.policy_frames.last()
            && *views == self.views.len()
        {
            return *within;
        }
        let view = *self.views.last()?;
        match self.ctx.catalog.relation(view).map(|r| &**r) {
            Some(Relation::View(found)) if is_security_invoker(found) => None,
            _ => Some(view),
        }
    }

    /// Whether what is being bound is kept in the catalog: a view, a policy. Its names were looked up by who made it.
    pub(super) fn in_definition(&self) -> bool {
        !self.views.is_empty() || !self.policy_frames.is_empty()
    }

    /// The relation that privileges are about, and the column: of the rows of a materialized view, the view's.
    fn as_seen(&self, relation: Oid) -> Oid {
        self.ctx.catalog.view_of_rows(relation).map_or(relation, |view| view.oid)
    }

    /// Something is done with a relation, and with no column of it in particular.
    pub(super) fn note_access(&mut self, relation: Oid, what: Privileges) {
        let (within, relation) = (self.within(), self.as_seen(relation));
        let access = self.accesses.of(within, relation);
        access.privileges = access.privileges.or(what);
    }

    /// A relation stands in FROM.
    pub(super) fn note_reading(&mut self, relation: Oid) {
        self.note_use(relation, None);
        self.note_access(relation, Privileges::SELECT);
    }

    /// A column is read.
    pub(super) fn note_read(&mut self, relation: Oid, column: ColumnId) {
        let (within, relation) = (self.within(), self.as_seen(relation));
        let access = self.accesses.of(within, relation);
        access.privileges = access.privileges.or(Privileges::SELECT);
        add(&mut access.selected, column);
    }

    /// Columns of a target are written, by INSERT or by UPDATE; the target's levels are those of the views through which.
    pub(super) fn note_writes(&mut self, levels: &[WriteLevel], what: Privileges, columns: &[ColumnId]) {
        for level in levels {
            let access = self.accesses.of(level.within, level.relation);
            access.privileges = access.privileges.or(what);
            for column in columns {
                let Some((_, own)) = level.columns.iter().find(|(of_table, _)| of_table == column) else { continue };
                if what.has(Privileges::INSERT) {
                    add(&mut access.inserted, *own);
                }
                if what.has(Privileges::UPDATE) {
                    add(&mut access.updated, *own);
                }
            }
        }
    }

    /// A function is called.
    pub(super) fn note_call(&mut self, func: &Arc<Func>) {
        if is_restricted(self.ctx.catalog.authority(), func) {
            self.accesses.functions.push(FuncRef(Arc::clone(func)));
        }
    }

    /// A statement writes through views.
    pub(super) fn note_levels(&mut self, levels: &[WriteLevel]) {
        if levels.len() > 1 {
            self.accesses.levels.push(levels.to_vec());
        }
    }

    /// Rows of scans are locked, and so are those of views that have these names.
    pub(super) fn note_locks(&mut self, scans: &[(u32, Oid)], views: &[Oid]) {
        for (scan, table) in scans {
            let within = self.scans_within.get(scan).copied().flatten();
            let access = self.accesses.of(within, *table);
            access.privileges = access.privileges.or(Privileges::UPDATE);
        }
        for view in views {
            self.note_access(*view, Privileges::UPDATE);
        }
    }
}
