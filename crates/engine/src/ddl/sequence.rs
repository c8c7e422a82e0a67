//! CREATE SEQUENCE, ALTER SEQUENCE, and the sequences that columns own.

use super::work::Work;
use std::sync::Arc;
use stoa_pg::{PgError, PgResult, PgType, SqlState, SqlType};
use stoa_sql::bind::{name_parts, type_name};
use stoa_syntax::ast::ObjectName;
use stoa_syntax::ddl::{CreateSequence, SequenceOption};
use stoa_table::catalog::SequenceState;
use stoa_table::catalog::{ColumnId, Numbers, Oid, Relation, RightsOf, SequenceDescriptor};
use stoa_table::txn::TableLockMode;

/// The numbers of a sequence.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct SequencePlan {
    pub ty: SqlType,
    pub start: i64,
    pub increment: i64,
    pub min: i64,
    pub max: i64,
    pub cache: i64,
    pub cycle: bool,
}

/// What options say beside numbers.
#[derive(Default, Debug)]
pub(crate) struct Said {
    /// `Some(None)`: OWNED BY NONE.
    pub owned_by: Option<Option<ObjectName>>,
    pub name: Option<ObjectName>,
    /// The value from which the sequence goes on.
    pub restart: Option<i64>,
}

fn bounds(ty: &PgType) -> (i64, i64) {
    match ty {
        PgType::Int2 => (i64::from(i16::MIN), i64::from(i16::MAX)),
        PgType::Int4 => (i64::from(i32::MIN), i64::from(i32::MAX)),
        _ => (i64::MIN, i64::MAX),
    }
}

impl SequencePlan {
    pub fn new(ty: &PgType) -> Self {
        Self { ty: SqlType::new(ty.clone()), start: 1, increment: 1, min: 1, max: bounds(ty).1, cache: 1, cycle: false }
    }

    fn of(sequence: &SequenceDescriptor) -> Self {
        Self {
            ty: sequence.ty.clone(),
            start: sequence.start,
            increment: sequence.increment,
            min: sequence.min,
            max: sequence.max,
            cache: sequence.cache,
            cycle: sequence.cycle,
        }
    }

    fn write(&self, sequence: &mut SequenceDescriptor) {
        sequence.ty = self.ty.clone();
        sequence.start = self.start;
        sequence.increment = self.increment;
        sequence.min = self.min;
        sequence.max = self.max;
        sequence.cache = self.cache;
        sequence.cycle = self.cycle;
    }
}

fn number(text: &str) -> PgResult<i64> {
    text.parse().map_err(|_| PgError::value_out_of_range("bigint", text))
}

fn invalid(message: String) -> PgError {
    PgError::new(SqlState::INVALID_PARAMETER_VALUE, message)
}

/// Applies options to numbers, with PostgreSQL's defaults and checks. `new`: the sequence is being made.
pub(crate) fn apply(plan: &mut SequencePlan, options: &[SequenceOption], new: bool) -> PgResult<Said> {
    let mut said = Said::default();
    let (mut min, mut max, mut start) = (None, None, None);
    let mut restart = None;
    let mut seen: Vec<std::mem::Discriminant<SequenceOption>> = Vec::new();
    let old = plan.clone();
    for option in options {
        let kind = std::mem::discriminant(option);
        if seen.contains(&kind) {
            return Err(PgError::new(SqlState::SYNTAX_ERROR, "conflicting or redundant options"));
        }
        seen.push(kind);
        match option {
            SequenceOption::As(ty) => {
                let ty = type_name::sql_type(ty)?;
                if !matches!(ty.ty, PgType::Int2 | PgType::Int4 | PgType::Int8) {
                    return Err(invalid("sequence type must be smallint, integer, or bigint".into()));
                }
                plan.ty = ty;
            }
            SequenceOption::Increment(n) => plan.increment = number(n)?,
            SequenceOption::MinValue(n) => min = Some(n.as_deref().map(number).transpose()?),
            SequenceOption::MaxValue(n) => max = Some(n.as_deref().map(number).transpose()?),
            SequenceOption::Start(n) => start = Some(number(n)?),
            SequenceOption::Restart(n) => restart = Some(n.as_deref().map(number).transpose()?),
            SequenceOption::Cache(n) => plan.cache = number(n)?,
            SequenceOption::Cycle(cycle) => plan.cycle = *cycle,
            SequenceOption::OwnedBy(owner) => said.owned_by = Some(owner.clone()),
            SequenceOption::Name(name) => said.name = Some(name.clone()),
        }
    }
    if plan.increment == 0 {
        return Err(invalid("INCREMENT must not be zero".into()));
    }
    let (lowest, highest) = bounds(&plan.ty.ty);
    let (old_lowest, old_highest) = bounds(&old.ty.ty);
    let up = plan.increment > 0;
    let retyped = plan.ty != old.ty;
    // Bounds that were those of the type go along with it.
    let default_max = if up { highest } else { -1 };
    let default_min = if up { 1 } else { lowest };
    plan.max = match max {
        Some(Some(n)) => n,
        Some(None) => default_max,
        None if retyped && !new && old.max == old_highest => highest,
        None if new => default_max,
        None => plan.max,
    };
    plan.min = match min {
        Some(Some(n)) => n,
        Some(None) => default_min,
        None if retyped && !new && old.min == old_lowest => lowest,
        None if new => default_min,
        None => plan.min,
    };
    let ty = &plan.ty.ty;
    if plan.max > highest || plan.max < lowest {
        return Err(invalid(format!("MAXVALUE ({}) is out of range for sequence data type {ty}", plan.max)));
    }
    if plan.min > highest || plan.min < lowest {
        return Err(invalid(format!("MINVALUE ({}) is out of range for sequence data type {ty}", plan.min)));
    }
    if plan.min >= plan.max {
        return Err(invalid(format!("MINVALUE ({}) must be less than MAXVALUE ({})", plan.min, plan.max)));
    }
    plan.start = match start {
        Some(n) => n,
        None if new => {
            if up {
                plan.min
            } else {
                plan.max
            }
        }
        None => plan.start,
    };
    if plan.start < plan.min {
        return Err(invalid(format!("START value ({}) cannot be less than MINVALUE ({})", plan.start, plan.min)));
    }
    if plan.start > plan.max {
        return Err(invalid(format!("START value ({}) cannot be greater than MAXVALUE ({})", plan.start, plan.max)));
    }
    if let Some(value) = restart {
        let value = value.unwrap_or(plan.start);
        if value < plan.min {
            return Err(invalid(format!("RESTART value ({value}) cannot be less than MINVALUE ({})", plan.min)));
        }
        if value > plan.max {
            return Err(invalid(format!("RESTART value ({value}) cannot be greater than MAXVALUE ({})", plan.max)));
        }
        said.restart = Some(value);
    }
    if plan.cache < 1 {
        return Err(invalid(format!("CACHE ({}) must be greater than zero", plan.cache)));
    }
    Ok(said)
}

/// The table and column that OWNED BY names, for a sequence of a schema and of a role.
async fn owner(work: Work<'_>, name: &ObjectName, schema: Oid, role: Oid) -> PgResult<(Oid, ColumnId)> {
    let mut parts = name.0.clone();
    let column = parts.pop();
    let column = name_parts(&ObjectName(column.into_iter().collect()))?.pop().unwrap_or_default();
    if parts.is_empty() {
        return Err(PgError::new(SqlState::SYNTAX_ERROR, "invalid OWNED BY option").hint("Specify OWNED BY table.column or OWNED BY NONE."));
    }
    let table_name = ObjectName(parts);
    let table = match work.find(&table_name)?.as_deref() {
        Some(Relation::Table(table)) => table.clone(),
        Some(other) => {
            return Err(PgError::new(SqlState::WRONG_OBJECT_TYPE, format!("sequence cannot be owned by relation \"{}\"", other.name())));
        }
        None => return Err(work.missing(&table_name)),
    };
    if work.authority().rights(RightsOf::Relation(table.oid)).owner != role {
        let message = "sequence must have same owner as table it is linked to";
        return Err(PgError::new(SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE, message));
    }
    if table.schema != schema {
        return Err(PgError::new(SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE, "sequence must be in same schema as table it is linked to"));
    }
    // Nobody may drop it, or the column, before the sequence is theirs.
    work.lock(&Relation::Table(table.clone()), TableLockMode::AccessShare).await?;
    let id = table.column_by_name(&column).map(|c| c.id).ok_or_else(|| {
        PgError::new(SqlState::UNDEFINED_COLUMN, format!("column \"{column}\" of relation \"{}\" does not exist", table.name))
    })?;
    Ok((table.oid, id))
}

/// CREATE SEQUENCE.
pub(crate) async fn create(work: Work<'_>, create: &CreateSequence) -> PgResult<String> {
    let (schema, name) = work.place(&create.name, create.temporary).await?;
    if create.if_not_exists && work.catalog().is_name_taken(schema, &name) {
        work.notice(SqlState::DUPLICATE_TABLE, format!("relation \"{name}\" already exists, skipping"));
        return Ok("CREATE SEQUENCE".into());
    }
    work.check_free(schema, &name)?;
    let mut plan = SequencePlan::new(&PgType::Int8);
    // AS comes first whatever its place.
    let said = apply(&mut plan, &create.options, true)?;
    let owned_by = match said.owned_by.flatten() {
        Some(name) => Some(owner(work, &name, schema, work.ctx.role).await?),
        None => None,
    };
    let mut sequence = SequenceDescriptor {
        oid: work.next_oid().await?,
        schema,
        name,
        ty: plan.ty.clone(),
        start: plan.start,
        increment: plan.increment,
        min: plan.min,
        max: plan.max,
        cache: plan.cache,
        cycle: plan.cycle,
        owned_by,
        comment: None,
        temporary: create.temporary,
    };
    plan.write(&mut sequence);
    work.put(Relation::Sequence(sequence))?;
    Ok("CREATE SEQUENCE".into())
}

/// ALTER SEQUENCE with options.
pub(crate) async fn alter(work: Work<'_>, name: &ObjectName, if_exists: bool, options: &[SequenceOption]) -> PgResult<String> {
    const TAG: &str = "ALTER SEQUENCE";
    let sequence = match work.find(name)?.as_deref() {
        Some(Relation::Sequence(sequence)) => sequence.clone(),
        Some(other) => return Err(PgError::new(SqlState::WRONG_OBJECT_TYPE, format!("\"{}\" is not a sequence", other.name()))),
        None if if_exists => {
            let (_, last) = work.split(name)?;
            work.notice(SqlState::SUCCESSFUL_COMPLETION, format!("relation \"{last}\" does not exist, skipping"));
            return Ok(TAG.into());
        }
        None => return Err(work.missing(name)),
    };
    alter_options(work, sequence, options).await?;
    Ok(TAG.into())
}

/// Applies options to a sequence that exists.
pub(crate) async fn alter_options(work: Work<'_>, sequence: SequenceDescriptor, options: &[SequenceOption]) -> PgResult<()> {
    work.lock(&Relation::Sequence(sequence.clone()), stoa_table::txn::TableLockMode::ShareRowExclusive).await?;
    let mut plan = SequencePlan::of(&sequence);
    let said = apply(&mut plan, options, false)?;
    let mut new = sequence.clone();
    plan.write(&mut new);
    if let Some(by) = said.owned_by {
        let identity = work.catalog().relations().any(|r| match &**r {
            Relation::Table(t) => t.live_columns().any(|c| c.identity.as_ref().is_some_and(|i| i.sequence == sequence.oid)),
            _ => false,
        });
        if identity {
            let table = sequence.owned_by.and_then(|(table, _)| work.catalog().table(table).map(|t| t.name.clone()));
            return Err(PgError::unsupported("cannot change ownership of identity sequence").detail(format!(
                "Sequence \"{}\" is linked to table \"{}\".",
                sequence.name,
                table.unwrap_or_default()
            )));
        }
        new.owned_by = match by {
            Some(name) => Some(owner(work, &name, sequence.schema, work.authority().rights(RightsOf::Relation(sequence.oid)).owner).await?),
            None => None,
        };
    }
    let catalog = work.catalog();
    if let Some(numbers) = catalog.numbers() {
        // Values that are taken under the new options are given back with them.
        if options.iter().any(|option| !matches!(option, SequenceOption::OwnedBy(_))) {
            return_on_rollback(work, numbers, &sequence).await?;
        }
        if let Some(value) = said.restart {
            numbers.restore(&new, SequenceState { last_value: value, is_called: false, log_cnt: 0 }).await?;
        }
        let state = numbers.state(&sequence).await?;
        if !(new.min..=new.max).contains(&state.last_value) {
            let (word, bound, side) =
                if state.last_value > new.max { ("greater", new.max, "MAXVALUE") } else { ("less", new.min, "MINVALUE") };
            return Err(invalid(format!("RESTART value ({}) cannot be {word} than {side} ({bound})", state.last_value)));
        }
        // What was made durable ahead was counted in the old steps.
        if new.increment != sequence.increment {
            numbers.restore(&new, state).await?;
        }
    }
    work.put(Relation::Sequence(new))
}

/// The sequence goes on from `value`; back to where it was if the transaction is rolled back.
pub(crate) async fn restart(work: Work<'_>, sequence: &SequenceDescriptor, value: i64) -> PgResult<()> {
    let catalog = work.catalog();
    let Some(numbers) = catalog.numbers() else { return Ok(()) };
    return_on_rollback(work, numbers, sequence).await?;
    numbers.restore(sequence, SequenceState { last_value: value, is_called: false, log_cnt: 0 }).await
}

/// The sequence goes back to where it is now if the transaction is rolled back, whatever is taken from it until then.
async fn return_on_rollback(work: Work<'_>, numbers: &Arc<dyn Numbers>, sequence: &SequenceDescriptor) -> PgResult<()> {
    let before = numbers.state(sequence).await?;
    let (numbers, sequence) = (Arc::clone(numbers), sequence.clone());
    work.ctx.txn.on_rollback(move || {
        Box::pin(async move {
            if let Err(error) = numbers.restore(&sequence, before).await {
                tracing::warn!(%error, sequence = sequence.name, "a sequence could not be set back");
            }
        })
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    #[test]
    fn defaults_follow_type_and_direction() {
        let mut plan = SequencePlan::new(&PgType::Int8);
        apply(&mut plan, &[SequenceOption::Increment("-1".into())], true).unwrap();
        assert_eq!((plan.min, plan.max, plan.start), (i64::MIN, -1, -1));
        let mut plan = SequencePlan::new(&PgType::Int4);
        apply(&mut plan, &[SequenceOption::Start("5".into()), SequenceOption::MaxValue(Some("99".into()))], true).unwrap();
        assert_eq!((plan.min, plan.max, plan.start), (1, 99, 5));
        let mut plan = SequencePlan::new(&PgType::Int2);
        let error = apply(&mut plan, &[SequenceOption::MaxValue(Some("40000".into()))], true).unwrap_err();
        assert_eq!(error.message(), "MAXVALUE (40000) is out of range for sequence data type smallint");
        let error = apply(&mut plan, &[SequenceOption::Increment("0".into())], true).unwrap_err();
        assert_eq!(error.code().as_str(), "22023");
    }
}
