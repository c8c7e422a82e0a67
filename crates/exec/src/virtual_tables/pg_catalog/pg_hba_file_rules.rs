//! `pg_hba_file_rules` and `pg_ident_file_mappings`: the files of rules as they are, with what is wrong in them. A database without a
//! server has none.

use super::super::builder::{Builder, V};
use crate::environment::StatementContext;
use stoa_pg::PgResult;

fn number(line: usize) -> V {
    i64::try_from(line).map_or(V::Null, V::Int)
}

/// Adds the rows of `pg_hba_file_rules`.
pub fn fill(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    let Some(server) = ctx.database.server.get() else { return Ok(()) };
    for rule in server.host_rules()? {
        let texts = |list: Option<Vec<String>>| list.map_or(V::Null, V::Texts);
        t.row(vec![
            ("line_number", number(rule.line_number)),
            ("type", rule.kind.map(str::to_owned).into()),
            ("database", texts(rule.database)),
            ("user_name", texts(rule.user_name)),
            ("address", rule.address.into()),
            ("netmask", rule.netmask.into()),
            ("auth_method", rule.auth_method.map(str::to_owned).into()),
            ("options", texts(rule.options)),
            ("error", rule.error.into()),
        ]);
    }
    Ok(())
}

/// Adds the rows of `pg_ident_file_mappings`.
pub fn fill_maps(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    let Some(server) = ctx.database.server.get() else { return Ok(()) };
    for map in server.name_maps()? {
        t.row(vec![
            ("line_number", number(map.line_number)),
            ("map_name", map.map_name.into()),
            ("sys_name", map.sys_name.into()),
            ("pg_username", map.pg_username.into()),
            ("error", map.error.into()),
        ]);
    }
    Ok(())
}
