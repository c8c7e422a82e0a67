//! ALTER INDEX.

use super::alter::{refused, set_options, unsupported};
use super::storage_parameters::{self, Of};
use super::work::{FoundIndex, Work};
use stoa_pg::PgResult;
use stoa_sql::bind::fold;
use stoa_sql::fulltext::settings::SHARDS;
use stoa_syntax::ddl::{AlterAction, StorageOption};
use stoa_table::catalog::{FULLTEXT_METHOD, GIN_METHOD, Oid, Relation, TableDescriptor};

pub(super) async fn alter_index(work: Work<'_>, table: Oid, index: FoundIndex, actions: &[AlterAction]) -> PgResult<()> {
    for action in actions {
        let Some(found) = work.catalog().table(table).cloned() else { return Ok(()) };
        work.lock(&Relation::Table(found), stoa_table::txn::TableLockMode::ShareUpdateExclusive).await?;
        // What was committed while waiting counts.
        work.refresh().await?;
        let Some(mut table) = work.catalog().table(table).cloned() else { return Ok(()) };
        match action {
            AlterAction::Rename(new) => {
                let new = fold(new);
                work.check_free(table.schema, &new)?;
                match index {
                    FoundIndex::PrimaryKey => {
                        if let Some(key) = &mut table.primary_key {
                            key.name = new;
                        }
                    }
                    FoundIndex::Index(oid) => {
                        if let Some(index) = table.indexes.iter_mut().find(|i| i.oid == oid) {
                            index.name.clone_from(&new);
                            if let Some(constraint) = &mut index.constraint {
                                constraint.name = new;
                            }
                        }
                    }
                }
                work.put(Relation::Table(table))?;
            }
            AlterAction::SetOptions(options) | AlterAction::ResetOptions(options) => {
                let set = matches!(action, AlterAction::SetOptions(_));
                let descriptor = table.indexes.iter().find(|i| FoundIndex::Index(i.oid) == index);
                if descriptor.is_some_and(|i| i.method == FULLTEXT_METHOD) {
                    super::index::change_text_options(work, table, index, |kept| set_options(kept, options, set)).await?;
                    continue;
                }
                let of = if descriptor.is_some_and(|i| i.method == GIN_METHOD) { Of::Gin } else { Of::Index };
                let is_shards = |option: &StorageOption| of == Of::Gin && option.name == SHARDS;
                storage_parameters::check_once(options)?;
                if let Some(unknown) = options.iter().find(|o| !is_shards(o) && !storage_parameters::is_known(&o.name, of)) {
                    return Err(storage_parameters::unrecognized(&unknown.name));
                }
                if set {
                    options.iter().filter(|o| !is_shards(o)).try_for_each(|option| storage_parameters::check(option, of))?;
                } else {
                    storage_parameters::check_reset(options)?;
                }
                if options.iter().any(is_shards) {
                    super::index::change_text_options(work, table, index, |kept| set_options(kept, options, set)).await?;
                    continue;
                }
                if let FoundIndex::Index(oid) = index
                    && let Some(index) = table.indexes.iter_mut().find(|i| i.oid == oid)
                {
                    set_options(&mut index.options, options, set);
                }
                work.put(Relation::Table(table))?;
            }
            AlterAction::Unsupported(words) => unsupported(&table, words)?,
            other => return Err(refused(other, &index_name(&table, index), "indexes")),
        }
    }
    Ok(())
}

fn index_name(table: &TableDescriptor, index: FoundIndex) -> String {
    match index {
        FoundIndex::PrimaryKey => table.primary_key.as_ref().map_or_else(String::new, |k| k.name.clone()),
        FoundIndex::Index(oid) => table.indexes.iter().find(|i| i.oid == oid).map_or_else(String::new, |i| i.name.clone()),
    }
}
