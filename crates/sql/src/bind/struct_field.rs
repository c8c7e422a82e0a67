//! Fields of STRUCT columns, `s.city`: such a column is a jsonb, whose check tells its fields and their types.

use super::Binder;
use crate::catalog::deparse::quote_name;
use crate::typed::tree::Expr;
use stoa_pg::{PgResult, PgType};
use stoa_table::catalog::ColumnId;

impl Binder<'_> {
    /// The field of a STRUCT column of an item of FROM, or of any; none if there is no such column, or it has no such field.
    pub(super) fn struct_field(&mut self, item: Option<&str>, column: &str, field: &str) -> PgResult<Option<Expr>> {
        let items = self.scopes.iter().rev().flat_map(|scope| &scope.items).filter(|i| item.is_none_or(|alias| i.alias == alias));
        let mut columns = items.flat_map(|item| &item.columns).filter(|c| c.name == column && c.expr.ty.ty == PgType::Jsonb);
        let Some((table, number)) = columns.next().and_then(|c| c.origin) else { return Ok(None) };
        let Some(table) = self.ctx.catalog.table(table) else { return Ok(None) };
        let Some(own) = table.column(ColumnId(number)) else { return Ok(None) };
        let named = item.map_or_else(String::new, |alias| format!("{}.", quote_name(alias))) + &quote_name(column);
        let Some(text) = table.checks.iter().find_map(|check| reading(&check.expr, &quote_name(&own.name), field, &named)) else {
            return Ok(None);
        };
        let expr = stoa_syntax::parse_expression(&text).map_err(super::syntax_error)?;
        self.bind_expr(&expr).map(Some)
    }
}

/// What reads a field of `named`, if the check is that of a STRUCT in the column and has the field.
fn reading(check: &str, column: &str, field: &str, named: &str) -> Option<String> {
    let field = format!("'{}'", field.replace('\'', "''"));
    let (_, fields) = check.rsplit_once(&format!("({column} - ARRAY["))?;
    let (fields, _) = fields.split_once("]) = '{}'::jsonb")?;
    if !format!(", {fields}, ").contains(&format!(", {field}::text, ")) {
        return None;
    }
    let cast = check.split_once(&format!("(({column} ->> {field}::text))::")).and_then(|(_, behind)| behind.split_once(" IS NULL)"));
    if let Some((ty, _)) = cast {
        return Some(format!("({named} ->> {field})::{ty}"));
    }
    let is_text = check.contains(&format!("jsonb_typeof(({column} -> {field}::text)) = ANY (ARRAY['string'::text"));
    Some(format!("{named} {} {field}", if is_text { "->>" } else { "->" }))
}

#[cfg(test)]
mod tests {
    use super::reading;

    #[test]
    fn checks_of_structs_tell_the_fields() {
        let check = "((jsonb_typeof(s) = 'object'::text) AND COALESCE((jsonb_typeof((s -> 'city'::text)) = ANY (ARRAY['string'::text, \
                     'null'::text])), true) AND ((((s ->> 'a''b'::text))::numeric(10,2) IS NULL) = ((s ->> 'a''b'::text) IS NULL)) AND \
                     COALESCE((jsonb_typeof((s -> 'more'::text)) = ANY (ARRAY['object'::text, 'null'::text])), true) AND ((s - \
                     ARRAY['city'::text, 'a''b'::text, 'more'::text, 'any'::text]) = '{}'::jsonb))";
        let read = |column: &str, field: &str| reading(check, column, field, "t.s");
        assert_eq!(read("s", "city").as_deref(), Some("t.s ->> 'city'"));
        assert_eq!(read("s", "a'b").as_deref(), Some("(t.s ->> 'a''b')::numeric(10,2)"));
        assert_eq!(read("s", "more").as_deref(), Some("t.s -> 'more'"));
        assert_eq!(read("s", "any").as_deref(), Some("t.s -> 'any'"));
        assert_eq!(read("s", "town"), None);
        assert_eq!(read("r", "city"), None);
        assert_eq!(reading("(a > 0)", "s", "city", "s"), None);
    }
}
