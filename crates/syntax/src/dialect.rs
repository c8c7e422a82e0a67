//! PostgreSQL's dialect with what Stoa adds to it.

use sqlparser::dialect::{Dialect, PostgreSqlDialect, Precedence};
use sqlparser::keywords::Keyword;
use std::any::TypeId;

/// PostgreSQL's grammar; sqlparser's checks for the PostgreSQL dialect hold for it.
#[derive(Debug, Default)]
pub struct StoaDialect {
    base: PostgreSqlDialect,
}

impl Dialect for StoaDialect {
    fn dialect(&self) -> TypeId {
        TypeId::of::<PostgreSqlDialect>()
    }
    fn identifier_quote_style(&self, identifier: &str) -> Option<char> {
        self.base.identifier_quote_style(identifier)
    }
    fn is_delimited_identifier_start(&self, ch: char) -> bool {
        self.base.is_delimited_identifier_start(ch)
    }
    fn is_identifier_start(&self, ch: char) -> bool {
        self.base.is_identifier_start(ch)
    }
    fn is_identifier_part(&self, ch: char) -> bool {
        self.base.is_identifier_part(ch)
    }
    fn is_reserved_for_identifier(&self, kw: Keyword) -> bool {
        self.base.is_reserved_for_identifier(kw)
    }
    fn is_custom_operator_part(&self, ch: char) -> bool {
        self.base.is_custom_operator_part(ch)
    }
    fn supports_unicode_string_literal(&self) -> bool {
        true
    }
    fn supports_match_against(&self) -> bool {
        true
    }
    fn supports_filter_during_aggregation(&self) -> bool {
        true
    }
    fn supports_group_by_expr(&self) -> bool {
        true
    }
    fn allow_extract_custom(&self) -> bool {
        true
    }
    fn allow_extract_single_quotes(&self) -> bool {
        true
    }
    fn supports_create_index_with_clause(&self) -> bool {
        true
    }
    fn supports_explain_with_utility_options(&self) -> bool {
        true
    }
    fn supports_listen_notify(&self) -> bool {
        true
    }
    fn supports_factorial_operator(&self) -> bool {
        true
    }
    fn supports_bitwise_shift_operators(&self) -> bool {
        true
    }
    fn supports_comment_on(&self) -> bool {
        true
    }
    fn supports_load_extension(&self) -> bool {
        true
    }
    fn supports_named_fn_args_with_colon_operator(&self) -> bool {
        true
    }
    fn supports_named_fn_args_with_expr_name(&self) -> bool {
        true
    }
    fn supports_empty_projections(&self) -> bool {
        true
    }
    fn supports_nested_comments(&self) -> bool {
        true
    }
    fn supports_string_escape_constant(&self) -> bool {
        true
    }
    fn supports_numeric_literal_underscores(&self) -> bool {
        true
    }
    fn supports_array_typedef_with_brackets(&self) -> bool {
        true
    }
    fn supports_geometric_types(&self) -> bool {
        true
    }
    fn supports_set_names(&self) -> bool {
        true
    }
    fn supports_alter_column_type_using(&self) -> bool {
        true
    }
    fn supports_notnull_operator(&self) -> bool {
        true
    }
    fn supports_interval_options(&self) -> bool {
        true
    }
    fn supports_insert_table_alias(&self) -> bool {
        true
    }
    fn supports_create_table_like_parenthesized(&self) -> bool {
        true
    }
    fn supports_select_wildcard_with_alias(&self) -> bool {
        true
    }
    fn supports_comma_separated_trim(&self) -> bool {
        true
    }
    fn supports_xml_expressions(&self) -> bool {
        true
    }
    fn supports_comment_optimizer_hint(&self) -> bool {
        true
    }
    fn parse_infix(
        &self,
        parser: &mut sqlparser::parser::Parser,
        expr: &sqlparser::ast::Expr,
        _: u8,
    ) -> Option<Result<sqlparser::ast::Expr, sqlparser::parser::ParserError>> {
        crate::operators::parse_infix(self, parser, expr)
    }
    fn parse_prefix(&self, parser: &mut sqlparser::parser::Parser) -> Option<Result<sqlparser::ast::Expr, sqlparser::parser::ParserError>> {
        crate::expression::parse_prefix(parser)
    }
    fn prec_value(&self, prec: Precedence) -> u8 {
        self.base.prec_value(prec)
    }
    fn get_next_precedence(&self, parser: &sqlparser::parser::Parser) -> Option<Result<u8, sqlparser::parser::ParserError>> {
        self.base.get_next_precedence(parser)
    }
}
