//! The relations of `pg_catalog`, a file each.

mod pg_aggregate;
mod pg_am;
mod pg_amop;
mod pg_attrdef;
mod pg_attribute;
mod pg_cast;
mod pg_class;
mod pg_collation;
mod pg_constraint;
mod pg_cursors;
mod pg_database;
mod pg_default_acl;
mod pg_depend;
mod pg_description;
mod pg_dropped_tables;
mod pg_foreign_table;
mod pg_hba_file_rules;
mod pg_index;
mod pg_indexes;
mod pg_init_privs;
mod pg_language;
mod pg_largeobject;
mod pg_locks;
mod pg_matviews;
mod pg_namespace;
mod pg_opclass;
mod pg_operator;
mod pg_opfamily;
mod pg_policy;
mod pg_prepared_statements;
mod pg_proc;
mod pg_rewrite;
mod pg_roles;
mod pg_sequence;
mod pg_settings;
mod pg_shdepend;
mod pg_stat_activity;
mod pg_stat_database;
mod pg_stat_fulltext;
mod pg_stat_hot_regions;
mod pg_stat_index_check;
mod pg_stat_progress_create_index;
mod pg_stat_regions;
mod pg_stat_ssl;
mod pg_stat_store;
mod pg_stat_user_indexes;
mod pg_stat_user_tables;
mod pg_stats;
mod pg_tables;
mod pg_tablespace;
mod pg_timezone_abbrevs;
mod pg_timezone_names;
mod pg_ts_config;
mod pg_type;
mod pg_views;

pub use pg_largeobject::fill as large_objects;
pub use pg_sequence::fill as sequences;
pub use pg_stat_hot_regions::fill as hot_regions;
pub use pg_stat_regions::fill as regions;
pub use pg_stat_user_tables::fill as tables;

/// What adds the rows of a relation; `None` for those that Stoa has nothing to say in.
pub fn filler(name: &str) -> Option<super::Fill> {
    Some(match name {
        "pg_aggregate" => pg_aggregate::fill,
        "pg_am" => pg_am::fill,
        "pg_amop" => pg_amop::fill,
        "pg_attrdef" => pg_attrdef::fill,
        "pg_attribute" => pg_attribute::fill,
        "pg_cast" => pg_cast::fill,
        "pg_class" => pg_class::fill,
        "pg_collation" => pg_collation::fill,
        "pg_constraint" => pg_constraint::fill,
        "pg_cursors" => pg_cursors::fill,
        "pg_database" => pg_database::fill,
        "pg_default_acl" => pg_default_acl::fill,
        "pg_depend" => pg_depend::fill,
        "pg_description" => pg_description::fill,
        "pg_dropped_tables" => pg_dropped_tables::fill,
        "pg_foreign_data_wrapper" => pg_foreign_table::wrappers,
        "pg_foreign_server" => pg_foreign_table::servers,
        "pg_foreign_table" => pg_foreign_table::fill,
        "pg_hba_file_rules" => pg_hba_file_rules::fill,
        "pg_ident_file_mappings" => pg_hba_file_rules::fill_maps,
        "pg_index" => pg_index::fill,
        "pg_init_privs" => pg_init_privs::fill,
        "pg_indexes" => pg_indexes::fill,
        "pg_language" => pg_language::fill,
        "pg_locks" => pg_locks::fill,
        "pg_matviews" => pg_matviews::fill,
        "pg_namespace" => pg_namespace::fill,
        "pg_opclass" => pg_opclass::fill,
        "pg_operator" => pg_operator::fill,
        "pg_opfamily" => pg_opfamily::fill,
        "pg_policies" => pg_policy::policies,
        "pg_policy" => pg_policy::fill,
        "pg_prepared_statements" => pg_prepared_statements::fill,
        "pg_proc" => pg_proc::fill,
        "pg_rewrite" => pg_rewrite::fill,
        "pg_auth_members" => pg_roles::members,
        "pg_authid" => pg_roles::authid,
        "pg_db_role_setting" => pg_roles::start_settings,
        "pg_group" => pg_roles::groups,
        "pg_roles" => pg_roles::roles,
        "pg_shadow" => pg_roles::shadow,
        "pg_settings" => pg_settings::fill,
        "pg_shdepend" => pg_shdepend::fill,
        "pg_shdescription" => pg_database::comments,
        "pg_stat_activity" => pg_stat_activity::fill,
        "pg_stat_archiver" => pg_stat_database::archiver,
        "pg_stat_bgwriter" => pg_stat_database::bgwriter,
        "pg_stat_database" => pg_stat_database::fill,
        "pg_stat_database_conflicts" => pg_stat_database::conflicts,
        "pg_stat_fulltext" => pg_stat_fulltext::fill,
        "pg_stat_index_check" => pg_stat_index_check::fill,
        "pg_stat_progress_create_index" => pg_stat_progress_create_index::fill,
        "pg_stat_gssapi" => pg_stat_ssl::fill_gssapi,
        "pg_stat_ssl" => pg_stat_ssl::fill,
        "pg_stat_store" => pg_stat_store::fill,
        "pg_stat_user_indexes" | "pg_stat_all_indexes" | "pg_statio_user_indexes" | "pg_statio_all_indexes" => pg_stat_user_indexes::fill,
        "pg_stat_wal" => pg_stat_database::wal,
        "pg_stats" => pg_stats::fill,
        "pg_tables" => pg_tables::fill,
        "pg_tablespace" => pg_tablespace::fill,
        "pg_timezone_abbrevs" => pg_timezone_abbrevs::fill,
        "pg_timezone_names" => pg_timezone_names::fill,
        "pg_ts_config" => pg_ts_config::fill,
        "pg_type" => pg_type::fill,
        "pg_user" => pg_roles::users,
        "pg_views" => pg_views::fill,
        _ => return None,
    })
}

/// Whether a relation's rows change while nothing is defined: what sessions do, what statistics say, where sequences stand.
pub fn is_live(name: &str) -> bool {
    name.starts_with("pg_stat")
        || matches!(
            name,
            "pg_dropped_tables"
                | "pg_hba_file_rules"
                | "pg_ident_file_mappings"
                | "pg_locks"
                | "pg_cursors"
                | "pg_prepared_statements"
                | "pg_settings"
                | "pg_sequence"
                | "pg_sequences"
        )
}

/// Whether a relation tells of regions, which the store is asked for.
pub fn is_of_regions(name: &str) -> bool {
    matches!(name, "pg_stat_regions" | "pg_stat_hot_regions")
}

/// Whether a relation tells how many rows tables have, which the store is asked for.
pub fn is_of_tables(name: &str) -> bool {
    matches!(name, "pg_stat_user_tables" | "pg_stat_all_tables" | "pg_statio_user_tables" | "pg_statio_all_tables")
}

/// Whether a relation tells where sequences stand, which is waited for.
pub fn is_of_sequences(name: &str) -> bool {
    matches!(name, "pg_sequence" | "pg_sequences")
}

/// Whether a relation tells of large objects, which are rows of the store.
pub fn is_of_large_objects(name: &str) -> bool {
    matches!(name, "pg_largeobject_metadata" | "pg_description")
}
