//! Where a table is split, and its salt: SPLIT of CREATE TABLE, and SPLIT, UNSPLIT and SALT of ALTER TABLE.

use super::alter::apply;
use super::alter_family::families_follow;
use super::builder::TableBuilder;
use super::work::Work;
use stoa_pg::{PgError, PgResult, SqlState};
use stoa_sql::bind::fold;
use stoa_sql::bind::scope::Clause;
use stoa_syntax::ast;
use stoa_syntax::ddl::{AlterAction, Split};
use stoa_table::catalog::{ColumnId, Relation, Salt, TableDescriptor};
use stoa_table::row::KeyCodec;
use stoa_table::row::split_points::{Alphabet, in_buckets, uniform};

fn invalid(message: impl Into<String>) -> PgError {
    PgError::new(SqlState::INVALID_PARAMETER_VALUE, message)
}

/// The row keys at which a table is split.
///
/// # Errors
/// 22023 for what is no split; 42P16 for values without a primary key.
pub(super) fn split_points(work: Work<'_>, table: &TableDescriptor, split: &Split) -> PgResult<Vec<Vec<u8>>> {
    match split {
        Split::Into { pieces, alphabet } => {
            if !(2..=10_000).contains(pieces) {
                return Err(invalid("SPLIT INTO takes a number between 2 and 10000"));
            }
            let alphabet = match alphabet {
                Some(name) => Alphabet::named(name).ok_or_else(|| invalid("SPLIT INTO … USING takes HEX, DECIMAL or BYTES"))?,
                None => Alphabet::of(table).ok_or_else(|| {
                    invalid("SPLIT INTO needs to know what the texts of the key are written with")
                        .hint("Say SPLIT INTO n USING HEX for texts of 0 to 9 and a to f, USING DECIMAL, or USING BYTES.")
                })?,
            };
            Ok(uniform(table, alphabet, *pieces))
        }
        Split::At(rows) => Ok(in_buckets(table, points_at(work, table, rows)?)),
    }
}

/// The beginnings of keys, behind the salt, that rows of values say.
fn points_at(work: Work<'_>, table: &TableDescriptor, rows: &[Vec<ast::Expr>]) -> PgResult<Vec<Vec<u8>>> {
    if table.primary_key.is_none() {
        return Err(PgError::new(SqlState::INVALID_TABLE_DEFINITION, "SPLIT AT needs a primary key")
            .hint("Without one the row key is a number that grows: use SPLIT INTO, or salt_buckets."));
    }
    let codec = KeyCodec::new(table)?;
    let mut points = Vec::with_capacity(rows.len());
    for row in rows {
        if let [value] = row.as_slice()
            && let Some(bytes) = raw_bytes(value)?
        {
            points.push(bytes);
            continue;
        }
        if row.len() > codec.parts.len() {
            let message = format!("a split point has {} values, but the primary key has {} columns", row.len(), codec.parts.len());
            return Err(invalid(message));
        }
        let mut key = Vec::new();
        for (value, part) in row.iter().zip(&codec.parts) {
            let catalog = work.catalog();
            let path = work.path();
            let context = work.bind_context(&catalog, &path);
            let expr = stoa_sql::bind::bind_constant_expr(&context, Clause::Default, value, &part.ty, "split point")?;
            let value = stoa_sql::typed::constant::evaluate(&work.ctx.eval, &expr)?
                .ok_or_else(|| PgError::unsupported("a split point must be a constant"))?;
            if value.is_null() {
                return Err(PgError::new(SqlState::NULL_VALUE_NOT_ALLOWED, "a split point cannot be NULL"));
            }
            let array = value.to_array().map_err(stoa_sql::typed::from_datafusion)?;
            part.encode(&part.open(&array)?, 0, &mut key)?;
        }
        points.push(key);
    }
    Ok(points)
}

/// X'…': the bytes with which a key begins.
fn raw_bytes(value: &ast::Expr) -> PgResult<Option<Vec<u8>>> {
    let ast::Expr::Value(value) = value else { return Ok(None) };
    let ast::Value::HexStringLiteral(digits) = &value.value else { return Ok(None) };
    let byte = |pair: &[u8]| std::str::from_utf8(pair).ok().filter(|p| p.len() == 2).and_then(|p| u8::from_str_radix(p, 16).ok());
    let bytes: Option<Vec<u8>> = digits.as_bytes().chunks(2).map(byte).collect();
    bytes.filter(|b| !b.is_empty()).map(Some).ok_or_else(|| invalid("the bytes of a split point are pairs of hexadecimal digits"))
}

/// SPLIT, UNSPLIT and SALT of ALTER TABLE.
///
/// # Errors
/// As [`split_points`]; 22023 for a point that is not there.
pub(super) async fn alter_splits(work: Work<'_>, mut table: TableDescriptor, action: &AlterAction) -> PgResult<()> {
    let before = table.split_points.clone();
    match action {
        AlterAction::Split(split) => {
            table.split_points.extend(split_points(work, &table, split)?);
            table.split_points.sort();
            table.split_points.dedup();
        }
        AlterAction::Unsplit(None) => table.split_points = in_buckets(&table, Vec::new()),
        AlterAction::Unsplit(Some(rows)) => {
            let begins_bucket = in_buckets(&table, Vec::new());
            for point in in_buckets(&table, points_at(work, &table, rows)?) {
                match table.split_points.iter().position(|p| *p == point) {
                    Some(_) if begins_bucket.contains(&point) => {}
                    Some(at) => drop(table.split_points.remove(at)),
                    None => return Err(invalid(format!("table \"{}\" is not split there", table.name))),
                }
            }
        }
        AlterAction::Salt(salt) => return alter_salt(work, table, salt.as_ref()).await,
        _ => return Err(PgError::internal("an action that is none of splits")),
    }
    families_follow(work, &table);
    regions_follow(work, &table, before);
    work.put(Relation::Table(table))
}

/// Parts and joins regions when the statement is committed; answers do not depend on where they begin.
fn regions_follow(work: Work<'_>, table: &TableDescriptor, before: Vec<Vec<u8>>) {
    let id = stoa_table::row::RowCodec::table_schema(table).id;
    let (name, now) = (table.name.clone(), table.split_points.clone());
    let tables = work.ctx.database.tables.clone();
    work.ctx.txn.on_commit(move || {
        Box::pin(async move {
            let without = |these: &[Vec<u8>], those: &[Vec<u8>]| these.iter().filter(|at| !those.contains(at)).cloned().collect::<Vec<_>>();
            if let Err(error) = tables.change_splits(id, &without(&now, &before), &without(&before, &now)).await {
                tracing::warn!(%error, table = name, "the regions of a table could not be changed");
            }
        })
    });
}

/// Rows are written anew, into the buckets that they have now.
async fn alter_salt(work: Work<'_>, old: TableDescriptor, salt: Option<&(u32, Vec<ast::Ident>)>) -> PgResult<()> {
    let mut builder = TableBuilder::of(work, old.clone());
    builder.table.salt = match salt {
        None => None,
        Some((buckets, names)) => {
            let buckets =
                u16::try_from(*buckets).ok().filter(|n| (2..=256).contains(n)).ok_or_else(|| invalid("SALT takes 2 to 256 buckets"))?;
            let own: Vec<ColumnId> = old.key_columns().map(|part| part.column).collect();
            let names: Vec<String> = names.iter().map(fold).collect();
            let columns = if names.is_empty() { own.clone() } else { builder.columns_named(&names, "named in SALT")? };
            if columns.iter().any(|c| !own.contains(c)) {
                return Err(PgError::new(SqlState::INVALID_TABLE_DEFINITION, "SALT takes columns of the primary key"));
            }
            Some(Salt { buckets, columns })
        }
    };
    if builder.table.salt == old.salt {
        return Ok(());
    }
    builder.table.split_points = in_buckets(&builder.table, Vec::new());
    apply(work, &old, builder).await
}
