//! WITH: its items, and recursion.

use super::query::Branch;
use super::select::Tail;
use super::{Binder, CteColumn, CteEntry, fold};
use crate::typed::sorted::{of_key, sorted_input};
use crate::typed::tree::{Bound, BoundBody, ColId, Cte, CteBody, CteId, Expr, Output, Query, Rel, SetOp, SortKey};
use crate::typed::walk;
use std::collections::HashMap;
use std::sync::Arc;
use stoa_pg::types::RecordType;
use stoa_pg::{PgError, PgResult, PgType, SqlState, SqlType};
use stoa_syntax::ast::{self, SetExpr};

impl Binder<'_> {
    /// Binds the CTEs of a WITH clause and brings them into scope.
    pub fn bind_with(&mut self, with: &ast::With, top: bool) -> PgResult<()> {
        let mut names = Vec::new();
        let before = self.later_ctes.len();
        let order = order_of_items(with)?;
        for (at, cte) in order.iter().copied().enumerate() {
            self.later_ctes.truncate(before);
            self.later_ctes.extend(order.iter().skip(at + 1).map(|c| fold(&c.alias.name)));
            let name = fold(&cte.alias.name);
            if names.contains(&name) {
                return Err(PgError::new(SqlState::DUPLICATE_ALIAS, format!("WITH query name \"{name}\" specified more than once"))
                    .at(self.pos_span(cte.alias.name.span)));
            }
            names.push(name.clone());
            let mutation = match &*cte.query.body {
                SetExpr::Insert(s) | SetExpr::Update(s) | SetExpr::Delete(s) | SetExpr::Merge(s) => Some(s),
                _ => None,
            };
            if let Some(statement) = mutation {
                if matches!(statement, ast::Statement::Merge(_)) {
                    return Err(PgError::unsupported("MERGE not supported in WITH query").at(self.pos_span(cte.alias.name.span)));
                }
                if with.recursive && mentions(&cte.query, &name) {
                    let message = format!("recursive query \"{name}\" must not contain data-modifying statements");
                    return Err(PgError::new(SqlState::INVALID_RECURSION, message).at(self.pos_span(cte.alias.name.span)));
                }
                if !top {
                    return Err(PgError::unsupported("WITH clause containing a data-modifying statement must be at the top level"));
                }
                let (scopes, depth) = (std::mem::take(&mut self.scopes), self.cte_scope.len());
                let own = cte.query.with.as_ref().map_or(Ok(()), |with| self.bind_with(with, false));
                let mutation = own.and_then(|()| self.bind_mutation(statement, false));
                self.cte_scope.truncate(depth);
                self.scopes = scopes;
                let mutation = mutation?;
                let id = self.new_cte();
                let outputs: Vec<Output> = mutation.returning.iter().flatten().map(|(o, _)| o.clone()).collect();
                let readable = mutation.returning.is_some();
                let columns = outputs.iter().map(|o| (o.col, o.ty.clone())).collect();
                let visible = self.cte_names(&cte.alias, &outputs)?;
                self.ctes.push(Cte { id, name: name.clone(), body: CteBody::Mutation(Box::new(mutation)), columns });
                self.cte_scope.push(CteEntry { name, id, columns: visible, readable });
                continue;
            }
            if let Some((rewritten, outside)) = self.without_search(cte, with.recursive)? {
                if let Err(mut error) = self.bind_recursive(&rewritten, name.clone()) {
                    // What is wrong without the clauses is raised as it would be.
                    self.bind_recursive(&super::search::without_clauses(cte), name)?;
                    error.fields_mut().position = None;
                    return Err(error);
                }
                // Outside, the hidden columns have their names; what is behind them is not shown.
                if let Some(entry) = self.cte_scope.last_mut() {
                    let plain = entry.columns.iter().take_while(|c| !c.name.starts_with(super::search::HIDDEN)).count();
                    entry.columns.truncate(plain + outside.len());
                    for (shown, outside) in entry.columns.iter_mut().skip(plain).zip(outside) {
                        shown.name = outside;
                    }
                }
                continue;
            }
            if with.recursive && mentions(&cte.query, &name) {
                self.bind_recursive(cte, name)?;
                continue;
            }
            let query = self.bind_query(&cte.query)?;
            let visible = self.cte_names(&cte.alias, &query.outputs)?;
            let id = self.new_cte();
            let columns = query.outputs.iter().map(|o| (o.col, o.ty.clone())).collect();
            if matches!(cte.materialized, Some(ast::CteAsMaterialized::Materialized)) {
                self.materialized.push(id);
            }
            if matches!(cte.materialized, Some(ast::CteAsMaterialized::NotMaterialized)) {
                self.not_materialized.push(id);
            }
            self.ctes.push(Cte { id, name: name.clone(), body: CteBody::Query(Box::new(query.rel)), columns });
            self.cte_scope.push(CteEntry { name, id, columns: visible, readable: true });
        }
        self.later_ctes.truncate(before);
        Ok(())
    }

    fn cte_names(&self, alias: &ast::TableAlias, outputs: &[Output]) -> PgResult<Vec<CteColumn>> {
        if alias.columns.len() > outputs.len() {
            return Err(PgError::new(
                SqlState::INVALID_COLUMN_REFERENCE,
                format!(
                    "WITH query \"{}\" has {} columns available but {} columns specified",
                    fold(&alias.name),
                    outputs.len(),
                    alias.columns.len()
                ),
            ));
        }
        Ok(outputs
            .iter()
            .enumerate()
            .map(|(i, o)| CteColumn {
                name: alias.columns.get(i).map_or_else(|| o.name.clone(), |c| fold(&c.name)),
                ty: o.ty.clone(),
                origin: o.origin,
            })
            .collect())
    }

    /// The columns that a CTE's body gives.
    pub fn cte_columns(&self, id: CteId) -> Vec<ColId> {
        self.recursing
            .iter()
            .find(|(r, _)| *r == id)
            .map(|(_, c)| c.clone())
            .or_else(|| self.ctes.iter().find(|c| c.id == id).map(|c| c.columns.iter().map(|(c, _)| *c).collect()))
            .unwrap_or_default()
    }

    /// `WITH RECURSIVE name AS (base UNION [ALL] step)`.
    pub(super) fn bind_recursive(&mut self, cte: &ast::Cte, name: String) -> PgResult<()> {
        let mut query = &cte.query;
        // In parentheses it is the same query.
        while let SetExpr::Query(inner) = &*query.body
            && query.with.is_none()
            && query.locks.is_empty()
        {
            no_order_or_limit(query)?;
            query = inner;
        }
        let invalid = |message: String| PgError::new(SqlState::INVALID_RECURSION, message);
        let SetExpr::SetOperation { op: ast::SetOperator::Union, set_quantifier, left, right } = &*query.body else {
            return Err(no_recursive_form(&name));
        };
        no_order_or_limit(query)?;
        if mentions_of(&**left, &name) > 0 {
            return Err(invalid(format!("recursive reference to query \"{name}\" must not appear within its non-recursive term")));
        }
        if !query.locks.is_empty() {
            return Err(PgError::unsupported("FOR UPDATE/SHARE in a recursive query is not implemented"));
        }
        let all = matches!(set_quantifier, ast::SetQuantifier::All);
        let depth = self.cte_scope.len();
        if let Some(with) = &query.with {
            if with.cte_tables.iter().any(|inner| mentions(&inner.query, &name)) {
                return Err(invalid(format!("recursive reference to query \"{name}\" must not appear within a subquery")));
            }
            self.bind_with(with, false)?;
        }
        let Branch { query: base, literals: base_literals, .. } = self.bind_branch(left, &Tail::default())?;
        let visible = self.cte_names(&cte.alias, &base.outputs)?;
        let id = self.new_cte();
        // The recursion's columns have the widest form, so that both terms fit.
        let columns: Vec<(ColId, SqlType)> = base.outputs.iter().map(|o| (self.new_col(), widest(&o.ty))).collect();
        let columns: Vec<(ColId, SqlType)> = columns
            .into_iter()
            .map(|(c, mut t)| {
                if t.ty == PgType::Unknown {
                    t = SqlType::new(PgType::Text);
                }
                (c, t)
            })
            .collect();
        let named = visible.into_iter().zip(&columns);
        let visible: Vec<CteColumn> = named.map(|(c, (_, ty))| CteColumn { name: c.name, ty: ty.clone(), origin: None }).collect();
        self.cte_scope.push(CteEntry { name: name.clone(), id, columns: visible.clone(), readable: true });
        self.recursing.push((id, columns.iter().map(|(c, _)| *c).collect()));
        let first_of_step = self.ctes.len();
        let step = self.bind_branch(right, &Tail::default());
        self.recursing.pop();
        self.cte_scope.truncate(depth);
        let Branch { query: mut step, literals: step_literals, .. } = step.map_err(|e| match mentions_of(&**right, &name) {
            // What is ambiguous, with two working tables in sight, is the second of them.
            0 | 1 => e,
            _ => invalid(format!("recursive reference to query \"{name}\" must not appear more than once")),
        })?;
        if step.outputs.len() != columns.len() {
            return Err(self.other_width("UNION", right));
        }
        check_recursion(&step.rel, id, &name)?;
        self.inline_ctes_of_rounds(&mut step.rel, id, first_of_step);
        // A literal without a type is text within the recursion, and must be readable as what the other term gives before that is reported.
        for (i, (literal, o)) in base_literals.into_iter().zip(&step.outputs).enumerate() {
            if let Some(literal) = literal
                && o.ty.ty != PgType::Text
            {
                let literal = Expr::new(literal.kind, SqlType::new(PgType::Unknown));
                self.coerce(literal, &SqlType::new(o.ty.ty.clone()), stoa_pg::registry::CastContext::Implicit)?;
                return Err(other_type(&name, i, &PgType::Text, &o.ty.ty).at(self.written(left, i)));
            }
        }
        for (i, (first, o)) in base.outputs.iter().zip(&step.outputs).enumerate() {
            let literal = step_literals.get(i).is_some_and(Option::is_some);
            self.same_modifier(&name, i, first, (!literal).then_some(o)).map_err(|e| e.at(self.written(left, i)))?;
        }
        let form = |b: &mut Self, query: Query, literals: Vec<Option<Expr>>| -> PgResult<(Rel, Vec<ColId>)> {
            let mut exprs = Vec::with_capacity(columns.len());
            for (i, (o, (_, ty))) in query.outputs.iter().zip(&columns).enumerate() {
                let literal = literals.get(i).cloned().flatten().filter(|_| ty.ty != PgType::Text);
                let e = match literal {
                    Some(literal) => Expr::new(literal.kind, SqlType::new(PgType::Unknown)),
                    None => Expr::column(o.col, o.ty.clone()),
                };
                // Rows, and arrays of them, are of one type whatever their fields' forms are.
                if e.ty.ty != PgType::Unknown && o.ty.ty != ty.ty && o.ty.ty.to_string() != ty.ty.to_string() {
                    let common = b.common_type([&Expr::column(o.col, ty.clone()), &e], "UNION")?;
                    if common != ty.ty {
                        return Err(other_type(&name, i, &ty.ty, &common).at(b.written(left, i)));
                    }
                }
                let e = b.coerce(e, &SqlType::new(ty.ty.clone()), stoa_pg::registry::CastContext::Implicit)?;
                exprs.push((b.new_col(), b.in_form(e, ty)?));
            }
            let ids = exprs.iter().map(|(c, _)| *c).collect();
            Ok((Rel::Project { input: Box::new(query.rel), exprs }, ids))
        };
        let (base, base_columns) = form(self, base, Vec::new())?;
        let (step, step_columns) = form(self, step, step_literals)?;
        let rel = Rel::Recursive {
            cte: id,
            columns: columns.clone(),
            base: Box::new(base),
            base_columns,
            step: Box::new(step),
            step_columns,
            all,
        };
        // References from outside read the result under another id than the working table.
        let outer = self.new_cte();
        self.ctes.push(Cte { id: outer, name: name.clone(), body: CteBody::Query(Box::new(rel)), columns });
        self.cte_scope.push(CteEntry { name, id: outer, columns: visible, readable: true });
        Ok(())
    }
}

/// 42804 for a column whose first term does not have the type of both.
fn other_type(name: &str, i: usize, given: &dyn std::fmt::Display, common: &PgType) -> PgError {
    let message = format!("recursive query \"{name}\" column {} has type {given} in non-recursive term but type {common} overall", i + 1);
    PgError::new(SqlState::DATATYPE_MISMATCH, message).hint("Cast the output of the non-recursive term to the correct type.")
}

/// 0A000 for a recursion that is ordered or limited as a whole.
fn no_order_or_limit(query: &ast::Query) -> PgResult<()> {
    if query.order_by.is_some() {
        return Err(PgError::unsupported("ORDER BY in a recursive query is not implemented"));
    }
    if query.limit_clause.is_some() || query.fetch.is_some() {
        return Err(PgError::unsupported("LIMIT in a recursive query is not implemented"));
    }
    Ok(())
}

/// The form that holds every value of a type, and of the fields of rows.
fn widest(ty: &SqlType) -> SqlType {
    match &ty.ty {
        PgType::Record(Some(record)) => {
            let fields = record.fields.iter().map(|(name, field)| (name.clone(), widest(field))).collect();
            SqlType::new(PgType::Record(Some(Arc::new(RecordType { fields }))))
        }
        PgType::Array(element) if matches!(**element, PgType::Record(_)) => {
            SqlType::new(widest(&SqlType::new(PgType::clone(element))).ty.array_of())
        }
        _ => ty.widened(),
    }
}

impl Binder<'_> {
    /// That a column of a recursion has the modifier of its first term in the other, too; `None` is a literal.
    fn same_modifier(&self, name: &str, i: usize, first: &Output, other: Option<&Output>) -> PgResult<()> {
        if first.ty.typmod < 0 || other.is_some_and(|o| first.ty.ty == o.ty.ty && first.ty.typmod == o.ty.typmod) {
            return Ok(());
        }
        let given = stoa_pg::types::format_type(&first.ty.ty, first.ty.typmod);
        let terms: Vec<Expr> = [Some(first), other].into_iter().flatten().map(|o| Expr::column(o.col, o.ty.clone())).collect();
        let common = self.common_type(terms.iter(), "UNION")?;
        Err(other_type(name, i, &given, &common))
    }

    /// Puts CTEs of a recursion's step that read the working table into the place where they are read: each round has its own.
    fn inline_ctes_of_rounds(&mut self, step: &mut Rel, working: CteId, first: usize) {
        let mut of_rounds: Vec<(Cte, Rel)> = Vec::new();
        for mut cte in self.ctes.split_off(first) {
            let CteBody::Query(body) = &mut cte.body else {
                self.ctes.push(cte);
                continue;
            };
            for (other, rel) in &of_rounds {
                replace_cte(body, other, rel, &mut self.next_col);
            }
            let mut read = HashMap::new();
            walk::count_ctes(body, &mut read);
            if read.contains_key(&working) {
                let body = Rel::clone(body);
                of_rounds.push((cte, body));
            } else {
                self.ctes.push(cte);
            }
        }
        for (cte, body) in &of_rounds {
            replace_cte(step, cte, body, &mut self.next_col);
        }
        // The last id that was given.
        self.next_col += 1;
    }
}

/// 42P19 for a query that reads itself and is no UNION.
pub(super) fn no_recursive_form(name: &str) -> PgError {
    let message = format!("recursive query \"{name}\" does not have the form non-recursive-term UNION [ALL] recursive-term");
    PgError::new(SqlState::INVALID_RECURSION, message)
}

/// The working table may be read once, and not under an outer join's nullable side, by a query with aggregates or in a subquery of an
/// expression.
fn check_recursion(step: &Rel, id: CteId, name: &str) -> PgResult<()> {
    let mut counts = HashMap::new();
    walk::count_ctes(step, &mut counts);
    let all = counts.get(&id).copied().unwrap_or(0);
    let mut direct = 0;
    walk::visit_rel(step, &mut |r| {
        if matches!(r, Rel::CteScan { cte, .. } if *cte == id) {
            direct += 1;
        }
    });
    let error = |message: String| Err(PgError::new(SqlState::INVALID_RECURSION, message));
    if all > direct {
        return error(format!("recursive reference to query \"{name}\" must not appear within a subquery"));
    }
    if direct > 1 {
        return error(format!("recursive reference to query \"{name}\" must not appear more than once"));
    }
    fn reads(rel: &Rel, id: CteId) -> bool {
        let mut found = false;
        walk::visit_rel(rel, &mut |r| found |= matches!(r, Rel::CteScan { cte, .. } if *cte == id));
        found
    }
    /// Whether the query itself does, not one that stands in its FROM.
    fn reads_itself(rel: &Rel, id: CteId) -> bool {
        match rel {
            Rel::CteScan { cte, .. } => *cte == id,
            Rel::Filter { input, .. } | Rel::Barrier { input } => reads_itself(input, id),
            Rel::Join { left, right, .. } => reads_itself(left, id) || reads_itself(right, id),
            _ => false,
        }
    }
    let mut problem = None;
    walk::visit_rel(step, &mut |r| match r {
        Rel::Aggregate { input, .. } if reads_itself(input, id) => {
            problem = Some("aggregate functions are not allowed in a recursive query's recursive term".to_owned())
        }
        Rel::Join { left, right, kind, .. } => {
            use crate::typed::tree::JoinKind;
            let nullable = match kind {
                JoinKind::Left => reads(right, id),
                JoinKind::Right => reads(left, id),
                JoinKind::Full => reads(left, id) || reads(right, id),
                _ => false,
            };
            if nullable {
                problem = Some(format!("recursive reference to query \"{name}\" must not appear within an outer join"));
            }
        }
        Rel::SetOp { op: SetOp::Except, right, .. } if reads(right, id) => {
            problem = Some(format!("recursive reference to query \"{name}\" must not appear within EXCEPT"))
        }
        Rel::SetOp { op: SetOp::Intersect, .. } if reads(r, id) => {
            problem = Some(format!("recursive reference to query \"{name}\" must not appear within INTERSECT"))
        }
        _ => {}
    });
    problem.map_or(Ok(()), error)
}

/// Whether a query names a table without a schema.
pub(super) fn mentions(query: &ast::Query, name: &str) -> bool {
    mentions_of(query, name) > 0
}

/// How often a name is used as a table without a schema, where no inner WITH gives it another meaning.
fn mentions_of(node: &impl ast::Visit, name: &str) -> usize {
    let mut finder = Finder { name, found: 0, hidden: 0 };
    let _ = ast::Visit::visit(node, &mut finder);
    finder.found
}

/// The order in which the items of WITH RECURSIVE are bound: each behind those that it reads. Otherwise the order in which they stand.
///
/// # Errors
/// 0A000 if two of them read each other.
fn order_of_items(with: &ast::With) -> PgResult<Vec<&ast::Cte>> {
    if !with.recursive || with.cte_tables.len() < 2 {
        return Ok(with.cte_tables.iter().collect());
    }
    let mut waiting: Vec<&ast::Cte> = with.cte_tables.iter().collect();
    let mut order = Vec::with_capacity(waiting.len());
    while !waiting.is_empty() {
        let ready = waiting.iter().position(|cte| {
            let others = waiting.iter().filter(|other| !std::ptr::eq(**other, *cte));
            others.into_iter().all(|other| !mentions(&cte.query, &fold(&other.alias.name)))
        });
        match ready {
            Some(at) => order.push(waiting.remove(at)),
            None => return Err(PgError::unsupported("mutual recursion between WITH items is not implemented")),
        }
    }
    Ok(order)
}

/// Counts the uses of a name as a relation.
struct Finder<'n> {
    name: &'n str,
    found: usize,
    /// Within how many queries that give the name to an item of their own.
    hidden: usize,
}

impl Finder<'_> {
    /// The place of the item with this name in a query's WITH.
    fn own_item(&self, query: &ast::Query) -> Option<usize> {
        query.with.as_ref()?.cte_tables.iter().position(|cte| fold(&cte.alias.name) == self.name)
    }
}

impl ast::Visitor for Finder<'_> {
    type Break = ();

    fn pre_visit_query(&mut self, query: &ast::Query) -> std::ops::ControlFlow<()> {
        if let Some(own) = self.own_item(query) {
            if let Some(with) = query.with.as_ref().filter(|with| !with.recursive && self.hidden == 0) {
                // Up to the item itself the name means what it means outside.
                self.found += with.cte_tables.iter().take(own + 1).map(|cte| mentions_of(&cte.query, self.name)).sum::<usize>();
            }
            self.hidden += 1;
        }
        std::ops::ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, query: &ast::Query) -> std::ops::ControlFlow<()> {
        self.hidden -= usize::from(self.own_item(query).is_some());
        std::ops::ControlFlow::Continue(())
    }

    fn pre_visit_relation(&mut self, relation: &ast::ObjectName) -> std::ops::ControlFlow<()> {
        if self.hidden == 0 && super::name_parts(relation).is_ok_and(|p| p.len() == 1 && p[0] == self.name) {
            self.found += 1;
        }
        std::ops::ControlFlow::Continue(())
    }
}

/// Replaces references to CTEs that need not be computed by themselves: read once, or reading columns of a query around them.
pub fn inline_ctes(bound: &mut Bound, next_col: u32, materialized: &[CteId], not_materialized: &[CteId]) {
    let mut next = next_col + 1_000_000;
    // Those that read columns of a query around them come first, and inner ones before outer ones: a copy of the query around them
    // has columns of its own, which what is put into it later would not know.
    let mut index = 0;
    while index < bound.ctes.len() {
        let cte = bound.ctes[index].clone();
        match &cte.body {
            CteBody::Query(body) if !walk::free_columns(body).is_empty() => {
                each_rel_mut(bound, &mut |rel| replace_cte(rel, &cte, body, &mut next));
                bound.ctes.remove(index);
            }
            _ => index += 1,
        }
    }
    // Later CTEs may read earlier ones: go from the last to the first, so that counts are final.
    for index in (0..bound.ctes.len()).rev() {
        let cte = bound.ctes[index].clone();
        let CteBody::Query(body) = &cte.body else { continue };
        let mut volatile = false;
        walk::visit_all(body, &mut |r| volatile |= walk::exprs_of(r).into_iter().any(crate::typed::walk::walk_volatile));
        let mut counts = HashMap::new();
        each_rel(bound, &mut |rel| walk::count_ctes(rel, &mut counts));
        let count = counts.get(&cte.id).copied().unwrap_or(0);
        let forced = materialized.contains(&cte.id);
        let free = not_materialized.contains(&cte.id);
        if count == 0 {
            // PostgreSQL does not run what nobody reads.
            bound.ctes.remove(index);
            continue;
        }
        let inline = !forced && !volatile && (count == 1 || free);
        if !inline {
            continue;
        }
        each_rel_mut(bound, &mut |rel| replace_cte(rel, &cte, body, &mut next));
        bound.ctes.remove(index);
    }
    keep_orders(bound, &mut || {
        next += 1;
        ColId(next)
    });
}

/// Who reads a sorted CTE that is computed by itself reads its rows in their order, as if the query stood there.
fn keep_orders(bound: &mut Bound, fresh: &mut dyn FnMut() -> ColId) {
    for at in 0..bound.ctes.len() {
        let cte = &mut bound.ctes[at];
        let CteBody::Query(body) = &mut cte.body else { continue };
        let Some((rel, keys)) = sorted_input(body, fresh) else { continue };
        **body = Rel::Sort { input: Box::new(rel), keys: keys.clone() };
        cte.columns.extend(keys.iter().filter_map(|key| Some((of_key(key)?, key.expr.ty.clone()))));
        let id = cte.id;
        each_rel_mut(bound, &mut |rel| sort_scans(rel, id, &keys, fresh));
    }
}

fn sort_scans(rel: &mut Rel, id: CteId, keys: &[SortKey], fresh: &mut dyn FnMut() -> ColId) {
    if let Rel::CteScan { cte, columns } = rel
        && *cte == id
    {
        let mut own = Vec::with_capacity(keys.len());
        for key in keys {
            let Some(source) = of_key(key) else { return };
            let (column, ty) = (fresh(), key.expr.ty.clone());
            columns.push((column, source, ty.clone()));
            own.push(SortKey { expr: Expr::column(column, ty), ..key.clone() });
        }
        *rel = Rel::Sort { input: Box::new(std::mem::replace(rel, Rel::One)), keys: own };
        return;
    }
    for e in walk::exprs_mut(rel) {
        walk::subqueries_mut(e, &mut |q| sort_scans(&mut q.rel, id, keys, fresh));
    }
    for child in walk::children_mut(rel) {
        sort_scans(child, id, keys, fresh);
    }
}

fn each_rel(bound: &Bound, f: &mut dyn FnMut(&Rel)) {
    for cte in &bound.ctes {
        match &cte.body {
            CteBody::Query(rel) => f(rel),
            CteBody::Mutation(m) => mutation_rels(m, f),
        }
    }
    match &bound.body {
        BoundBody::Query(q) => f(&q.rel),
        BoundBody::Mutation(m) => mutation_rels(m, f),
    }
}

fn mutation_rels(m: &crate::typed::tree::Mutation, f: &mut dyn FnMut(&Rel)) {
    f(&m.source);
    for e in walk::mutation_exprs(m) {
        walk::visit_subqueries(e, &mut |q| f(&q.rel));
    }
}

fn each_rel_mut(bound: &mut Bound, f: &mut dyn FnMut(&mut Rel)) {
    for cte in &mut bound.ctes {
        match &mut cte.body {
            CteBody::Query(rel) => f(rel),
            CteBody::Mutation(m) => mutation_rels_mut(m, f),
        }
    }
    match &mut bound.body {
        BoundBody::Query(q) => f(&mut q.rel),
        BoundBody::Mutation(m) => mutation_rels_mut(m, f),
    }
}

fn mutation_rels_mut(m: &mut crate::typed::tree::Mutation, f: &mut dyn FnMut(&mut Rel)) {
    f(&mut m.source);
    for e in walk::mutation_exprs_mut(m) {
        walk::subqueries_mut(e, &mut |q| f(&mut q.rel));
    }
}

fn replace_cte(rel: &mut Rel, cte: &Cte, body: &Rel, next: &mut u32) {
    if let Rel::CteScan { cte: id, columns } = rel
        && *id == cte.id
    {
        let mut copy = body.clone();
        let mut map = HashMap::new();
        let mut fresh = || {
            *next += 1;
            ColId(*next)
        };
        walk::refresh(&mut copy, &mut fresh, &mut map);
        let exprs =
            columns.iter().map(|(new, source, ty)| (*new, Expr::column(map.get(source).copied().unwrap_or(*source), ty.clone()))).collect();
        *rel = Rel::Project { input: Box::new(copy), exprs };
        return;
    }
    for e in walk::exprs_mut(rel) {
        walk::subqueries_mut(e, &mut |q| replace_cte(&mut q.rel, cte, body, next));
    }
    for child in walk::children_mut(rel) {
        replace_cte(child, cte, body, next);
    }
}
