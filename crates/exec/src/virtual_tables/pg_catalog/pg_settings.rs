//! `pg_settings`: the settings, as this session has them.

use super::super::builder::{Builder, V};
use crate::environment::StatementContext;
use crate::settings::server::may_examine;
use crate::settings::value::unit_name;
use crate::settings::{Kind, SETTINGS, Settings};
use stoa_pg::PgResult;

/// Who said what RESET goes back to: the most particular of those who say just that.
fn source_of_reset(ctx: &StatementContext, reset: &Settings, name: &str) -> &'static str {
    if matches!(name, "data_directory" | "hba_file" | "ident_file") {
        return "override";
    }
    let value = reset.raw(name);
    let (database, role) = (ctx.session.database_oid, ctx.session.login.oid);
    for (source, database, role) in [("database user", database, role), ("user", 0, role), ("database", database, 0), ("global", 0, 0)] {
        let said = ctx.catalog.authority().settings_of(database, role).into_iter().flat_map(|found| &found.values);
        let is_same = |text: &str| Settings::default().with(name, Some(text)).is_ok_and(|said| said.raw(name) == value);
        if said.into_iter().any(|(of, text)| of.eq_ignore_ascii_case(name) && is_same(text)) {
            return source;
        }
    }
    if !reset.is_set(name) {
        "default"
    } else if ctx.database.base_settings.read().raw(name) == value {
        "command line"
    } else {
        "client"
    }
}

/// Adds the rows.
pub fn fill(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    let (now, reset) = (ctx.session.settings(), ctx.session.reset_settings());
    for setting in SETTINGS.iter().filter(|s| !s.hidden && may_examine(ctx.catalog.authority(), ctx.role, s.name)) {
        let value = match setting.name {
            // These are the transaction's.
            "transaction_isolation" | "transaction_read_only" | "transaction_deferrable" => ctx.session.show(setting.name),
            name => now.raw(name).map(str::to_owned),
        };
        let (vartype, unit, min, max) = match setting.kind {
            Kind::Bool => ("bool", "", V::Null, V::Null),
            Kind::Text => ("string", "", V::Null, V::Null),
            Kind::Enum(_) => ("enum", "", V::Null, V::Null),
            Kind::Integer { min, max, unit } => ("integer", unit_name(unit), min.to_string().into(), max.to_string().into()),
            Kind::Real { min, max, unit } => {
                let max = if max == f64::MAX { "1.79769e+308".to_owned() } else { max.to_string() };
                ("real", unit_name(unit), min.to_string().into(), max.into())
            }
        };
        let words = match setting.kind {
            Kind::Enum(words) => V::Texts(words.iter().map(|w| (*w).to_owned()).collect()),
            _ => V::Null,
        };
        let source = if now.raw(setting.name) == reset.raw(setting.name) { source_of_reset(ctx, &reset, setting.name) } else { "session" };
        t.row(vec![
            ("name", setting.name.into()),
            ("setting", value.into()),
            ("unit", if unit.is_empty() { V::Null } else { unit.into() }),
            ("category", setting.category.into()),
            ("short_desc", setting.description.into()),
            ("extra_desc", if setting.effect { V::Null } else { "Accepted for compatibility; it changes nothing in Stoa.".into() }),
            ("context", setting.context.name().into()),
            ("vartype", vartype.into()),
            ("source", source.into()),
            ("min_val", min),
            ("max_val", max),
            ("enumvals", words),
            ("boot_val", setting.default.into()),
            ("reset_val", reset.raw(setting.name).map(str::to_owned).into()),
            ("pending_restart", false.into()),
        ]);
    }
    Ok(())
}
