//! `pg_stat_ssl` and `pg_stat_gssapi`: what the sessions' bytes travel through.

use super::super::builder::{Builder, V};
use crate::environment::StatementContext;
use stoa_pg::PgResult;

/// Adds the rows of `pg_stat_ssl`.
pub fn fill(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    for session in ctx.database.sessions() {
        let tls = session.client.tls.as_ref();
        let text = |value: Option<&str>| value.map(str::to_owned).into();
        t.row(vec![
            ("pid", V::Int(i64::from(session.pid))),
            ("ssl", tls.is_some().into()),
            ("version", text(tls.map(|tls| tls.version))),
            ("cipher", text(tls.map(|tls| tls.cipher))),
            ("bits", tls.map_or(V::Null, |tls| V::Int(i64::from(tls.bits)))),
            ("client_dn", text(tls.and_then(|tls| tls.client_dn.as_deref()))),
            ("client_serial", tls.and_then(|tls| tls.client_serial.clone()).map_or(V::Null, V::Numeric)),
            ("issuer_dn", text(tls.and_then(|tls| tls.issuer_dn.as_deref()))),
        ]);
    }
    Ok(())
}

/// Adds the rows of `pg_stat_gssapi`: nobody comes by GSSAPI.
pub fn fill_gssapi(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    for session in ctx.database.sessions() {
        t.row(vec![("pid", V::Int(i64::from(session.pid))), ("gss_authenticated", false.into()), ("encrypted", false.into())]);
    }
    Ok(())
}
