//! Conditions on entries of stored maps: joins with the table of entries.
//!
//! A row passes `m['k'] = v`, as any condition that is false or NULL without the entry, only if it has the entry. So the condition becomes a
//! join with the rows of the table of entries that are called so, and is asked of these: the planner goes to the rows by the entries, from the
//! entries to the rows, or through both, with the keys, indexes and statistics that there are. Other uses of the same entry above read it from the join.
//!
//! Invariant: a row has one entry of a key at most, so that the join gives each row once.

use super::expr::and;
use super::function::same_expr;
use super::inference::implies;
use super::map::{Use, use_of};
use super::outer_join::drops;
use super::{BindContext, Binder, bind_table_expr};
use crate::typed::raises::{may_raise, raises_itself};
use crate::typed::tree::{ColId, Expr, ExprKind, JoinKind, Rel};
use crate::typed::walk;
use datafusion_common::ScalarValue;
use std::collections::HashSet;
use stoa_pg::{EvalContext, PgError, PgResult, PgType, SqlType};
use stoa_table::catalog::{IndexDescriptor, IndexKey, IndexState, TableDescriptor};

/// An entry that a relation gives as a column.
struct Joined {
    /// The arguments of the call that stands for the stored column.
    map: Vec<Expr>,
    key: Expr,
    value: Expr,
}

/// An entry that a condition asks for.
struct Asked {
    map: Vec<Expr>,
    key: Expr,
    /// That it is there is all.
    is_all: bool,
}

/// Conditions that stand together over a relation.
struct Together {
    conditions: Vec<Expr>,
    given: HashSet<ColId>,
    /// Nothing is asked of the rows before.
    bare: bool,
}

impl Joined {
    fn is(&self, map: &[Expr], key: &Expr) -> bool {
        self.map == map && self.key == *key
    }

    /// An expression that has the column in the place of the entry.
    fn read_by(&self, e: &Expr) -> Expr {
        let mut e = e.clone();
        walk::rewrite(&mut e, false, &mut |part| match use_of(part) {
            Some(Use::Get(map, key)) if self.is(map, key) => Some(self.value.clone()),
            _ => None,
        });
        e
    }
}

fn conjuncts(predicate: Expr) -> Vec<Expr> {
    match predicate.kind {
        ExprKind::And(parts) => parts,
        _ => vec![predicate],
    }
}

/// Whether a condition may raise, or vary, once the entries in it are columns.
fn tells(eval: &EvalContext, condition: &Expr) -> bool {
    let mut condition = condition.clone();
    walk::rewrite(&mut condition, false, &mut |part| match use_of(part) {
        Some(Use::Get(_, key) | Use::Contains(_, key)) if is_plain_key(key) => Some(Expr::column(ColId(u32::MAX), part.ty.clone())),
        _ => None,
    });
    walk::walk_volatile(&condition) || may_raise(eval, &condition)
}

fn is_plain_key(key: &Expr) -> bool {
    !key.any(&mut |part| !matches!(part.kind, ExprKind::Const(_) | ExprKind::Param(_) | ExprKind::Column(_)))
}

fn columns(exprs: &[Expr]) -> Vec<ColId> {
    let mut out = Vec::new();
    exprs.iter().for_each(|e| walk::columns_of(e, &mut out));
    out
}

/// Where rows with some columns are first whole, below conditions, joins and projections that such a row comes through or does not. What is
/// joined there is passed on as `value`.
fn place_of<'r>(rel: &'r mut Rel, needed: &[ColId], value: &(ColId, Expr)) -> &'r mut Rel {
    let gives = |rel: &Rel| {
        let given = walk::given_columns(rel);
        needed.iter().all(|column| given.contains(column))
    };
    let passes = |exprs: &[(ColId, Expr)]| {
        let passed = |column: &ColId| exprs.iter().any(|(id, e)| id == column && matches!(e.kind, ExprKind::Column(of) if of == *id));
        needed.iter().all(passed) && !exprs.iter().any(|(_, e)| walk::varies(e))
    };
    let side = match &*rel {
        Rel::Filter { input, .. } if gives(input) => 1,
        Rel::Project { exprs, .. } if passes(exprs) => 1,
        Rel::Join { left, kind: JoinKind::Inner | JoinKind::Left | JoinKind::Semi | JoinKind::Anti, .. } if gives(left) => 1,
        Rel::Join { right, kind: JoinKind::Inner | JoinKind::Right, lateral: false, .. } if gives(right) => 2,
        _ => 0,
    };
    match (side, rel) {
        (1, Rel::Project { input: below, exprs }) => {
            exprs.push(value.clone());
            place_of(below, needed, value)
        }
        (1, Rel::Filter { input: below, .. } | Rel::Join { left: below, .. }) | (2, Rel::Join { right: below, .. }) => {
            place_of(below, needed, value)
        }
        (_, rel) => rel,
    }
}

impl Binder<'_> {
    /// Joins the entries that conditions of a relation ask for.
    ///
    /// # Errors
    /// As reads of maps.
    pub(super) fn join_entries(&mut self, rel: &mut Rel) -> PgResult<()> {
        self.joined_entries(rel).map(|_| ())
    }

    fn joined_entries(&mut self, rel: &mut Rel) -> PgResult<Vec<Joined>> {
        crate::typed::deeper(|| {
            let mut known = Vec::new();
            for child in walk::children_mut(rel) {
                known.extend(self.joined_entries(child)?);
            }
            for e in walk::exprs_mut(rel) {
                self.join_in_subqueries(e)?;
            }
            match rel {
                Rel::Filter { input, predicate } => {
                    let bare = matches!(**input, Rel::Scan(_));
                    let kept = self.asked_of(input, conjuncts(predicate.clone()), &mut known, bare)?;
                    if kept.is_empty() {
                        *rel = std::mem::replace(input, Rel::One);
                    } else {
                        *predicate = and(kept);
                    }
                }
                Rel::Join { left, right, kind: JoinKind::Inner, on, lateral: false } if on.is_some() => {
                    let kept = on.take().map(conjuncts).unwrap_or_default();
                    let kept = self.asked_of(left, kept, &mut known, false)?;
                    let kept = self.asked_of(right, kept, &mut known, false)?;
                    *on = (!kept.is_empty()).then(|| and(kept));
                }
                Rel::Join { .. } => {}
                _ => {
                    for joined in &known {
                        walk::exprs_mut(rel).into_iter().for_each(|e| *e = joined.read_by(e));
                    }
                }
            }
            if !known.is_empty() {
                let given = walk::given_columns(rel);
                known.retain(|joined| columns(std::slice::from_ref(&joined.value)).iter().all(|column| given.contains(column)));
            }
            Ok(known)
        })
    }

    /// Joins the entries that conditions in subqueries of an expression ask for.
    ///
    /// # Errors
    /// As reads of maps.
    pub(super) fn join_in_subqueries(&mut self, e: &mut Expr) -> PgResult<()> {
        let mut result = Ok(());
        walk::subqueries_mut(e, &mut |query| {
            if result.is_ok() {
                result = self.join_entries(&mut query.rel);
            }
        });
        result
    }

    /// Joins the entries of a relation's rows that conditions ask for; gives the conditions that are left, over the columns that it then has.
    fn asked_of(&mut self, input: &mut Rel, conditions: Vec<Expr>, known: &mut Vec<Joined>, bare: bool) -> PgResult<Vec<Expr>> {
        let together = Together { conditions, given: walk::given_columns(input), bare };
        let mut left = Vec::with_capacity(together.conditions.len());
        for condition in &together.conditions {
            let mut condition = Some(condition.clone());
            while let Some(of) = &condition
                && let Some(asked) = self.asked_by(of, &together)?
            {
                let joined = match known.iter().position(|joined| joined.is(&asked.map, &asked.key)) {
                    Some(at) => known.get(at),
                    None => {
                        let value = self.join_entry(input, &asked)?;
                        known.push(Joined { map: asked.map.clone(), key: asked.key.clone(), value });
                        known.last()
                    }
                };
                condition = joined.filter(|_| !asked.is_all).map(|joined| joined.read_by(of));
            }
            left.extend(condition);
        }
        // What may raise asks for the entry where it stands: after what else is asked of the row.
        for condition in &mut left {
            let reading = known.iter().fold(condition.clone(), |e, joined| joined.read_by(&e));
            if !tells(self.ctx.eval, &reading) {
                *condition = reading;
            }
        }
        Ok(left)
    }

    /// An entry without which a condition is not true of a row.
    fn asked_by(&mut self, condition: &Expr, together: &Together) -> PgResult<Option<Asked>> {
        if walk::walk_volatile(condition) {
            return Ok(None);
        }
        let mut uses: Vec<(Vec<Expr>, Expr, Option<SqlType>)> = Vec::new();
        condition.any(&mut |part| {
            match use_of(part) {
                Some(Use::Get(map, key)) => uses.push((map.to_vec(), key.clone(), Some(part.ty.clone()))),
                Some(Use::Contains(map, key)) if matches!(use_of(condition), Some(Use::Contains(..))) => {
                    uses.push((map.to_vec(), key.clone(), None));
                }
                _ => {}
            }
            false
        });
        for (map, key, value) in uses {
            let [Expr { kind: ExprKind::Const(ScalarValue::UInt32(Some(oid))), .. }, time, row @ ..] = map.as_slice() else { continue };
            let of_row = |column: &ColId| together.given.contains(column);
            let here = columns(row).iter().all(of_row) && columns(std::slice::from_ref(&key)).iter().all(of_row);
            // Entries as the statement leaves them are none of its snapshot; those of the past of a table are refused.
            if !here || !is_plain_key(&key) || matches!(time.ty.ty, PgType::Bool | PgType::Text) {
                continue;
            }
            let oid = *oid;
            let Some(ty) = value else { return Ok(Some(Asked { map, key, is_all: true })) };
            let value = Joined { value: Expr::column(self.new_col(), ty), map, key };
            let asked = value.read_by(condition);
            if drops(&asked, true, &HashSet::from_iter(columns(std::slice::from_ref(&value.value))))
                && self.may_be_asked_first(oid, &value, &asked, together)?
            {
                return Ok(Some(Asked { map: value.map, key: value.key, is_all: false }));
            }
        }
        Ok(None)
    }

    /// Whether a condition on an entry may be asked of entries whose rows do not pass what else is asked: it raises for none of them.
    fn may_be_asked_first(&self, entries: u32, entry: &Joined, asked: &Expr, together: &Together) -> PgResult<bool> {
        if !tells(self.ctx.eval, asked) {
            return Ok(true);
        }
        let Some(table) = self.ctx.catalog.shared_table(entries) else { return Ok(false) };
        if self.hides_rows(&table) {
            return Ok(false);
        }
        let own = columns(std::slice::from_ref(&entry.value));
        let is_own = |condition: &Expr| columns(&[entry.read_by(condition)]).iter().all(|column| own.contains(column));
        if together.bare && together.conditions.iter().all(is_own) {
            return Ok(true);
        }
        let now = entry.map.get(1).is_some_and(|time| time.ty.ty == PgType::Unknown);
        Ok(now && self.is_indexed(&table, entry, asked)?)
    }

    /// Whether what may raise in a condition on the value of an entry is kept by an index of such entries: then it raises for none.
    fn is_indexed(&self, table: &TableDescriptor, entry: &Joined, asked: &Expr) -> PgResult<bool> {
        let bound = |sql: &str| bind_table_expr(&BindContext { text: sql, param_types: &[], ..self.ctx.clone() }, table, sql);
        let columns: Vec<Expr> = table.live_columns().map(|c| Expr::column(ColId(c.id.0), c.ty.clone())).collect();
        let [.., value] = columns.as_slice() else { return Ok(false) };
        let mut kept = Vec::new();
        for index in self.indexes_of(table, &entry.key)? {
            for part in &index.parts {
                if let IndexKey::Expr(sql) = &part.key {
                    kept.push(bound(sql)?);
                }
            }
        }
        let mut asked = asked.clone();
        walk::rewrite(&mut asked, false, &mut |part| (*part == entry.value).then(|| value.clone()));
        Ok(self.is_kept(&asked, &kept))
    }

    /// The indexes of a table of entries that have all entries of a key.
    fn indexes_of<'t>(&self, table: &'t TableDescriptor, key: &Expr) -> PgResult<Vec<&'t IndexDescriptor>> {
        let bound = |sql: &str| bind_table_expr(&BindContext { text: sql, param_types: &[], ..self.ctx.clone() }, table, sql);
        let Some(own) = table.live_columns().nth(table.key.len().saturating_sub(1)) else { return Ok(Vec::new()) };
        let own = Expr::column(ColId(own.id.0), own.ty.clone());
        let named = Binder::of_row(&self.ctx, table, &table.name).operator("=", Some(own), key.clone())?;
        let mut out = Vec::new();
        for index in table.indexes.iter().filter(|index| index.state == IndexState::Readable && index.method == "btree") {
            let fits = match &index.predicate {
                Some(predicate) => implies(&named, &bound(predicate)?),
                None => true,
            };
            out.extend(fits.then_some(index));
        }
        Ok(out)
    }

    fn is_kept(&self, e: &Expr, kept: &[Expr]) -> bool {
        let eval = self.ctx.eval;
        let raises = |e: &Expr| may_raise(eval, e) || walk::walk_volatile(e);
        !raises(e)
            || kept.iter().any(|own| same_expr(own, e))
            || !raises_itself(eval, e) && !e.children().is_empty() && e.children().into_iter().all(|child| self.is_kept(child, kept))
    }

    /// Joins an entry to the rows that may have it; gives its value.
    fn join_entry(&mut self, input: &mut Rel, asked: &Asked) -> PgResult<Expr> {
        let mut needed = columns(asked.map.get(2..).unwrap_or_default());
        needed.extend(columns(std::slice::from_ref(&asked.key)));
        let entries = self.entries(&asked.map, None)?;
        let value = entries.value.clone();
        let named = self.operator("=", Some(entries.key.clone()), asked.key.clone())?;
        let ExprKind::Column(id) = value.kind else { return Err(PgError::internal("an entry whose value is no column")) };
        // Without an index, the rows lead to their entries: of a row with millions only one is read.
        let alone = !self.indexes_of(entries.table(), &asked.key)?.is_empty();
        let place = place_of(input, &needed, &(id, value.clone()));
        let rows = std::mem::replace(place, Rel::One);
        *place = self.beside(rows, entries, JoinKind::Inner, Some(named), alone);
        Ok(value)
    }
}
