//! The grammar of statements about roles and privileges.

use crate::SyntaxError;
use crate::ast::Ident;
use crate::ddl::Ddl;
use crate::grammar::{Parse, Parser};
use crate::rights::{
    DefaultPrivilegesStatement, FunctionRef, GrantStatement, GrantTarget, Many, Password, PrivilegeItem, RoleOption, RoleRef,
    RoleStatement, RoleWord, SettingChange,
};
use crate::utility::Utility;
use sqlparser::tokenizer::Token;

impl Parser<'_> {
    /// ROLE, USER or GROUP.
    pub(super) fn role_word(&mut self) -> Option<RoleWord> {
        let words = [("role", RoleWord::Role), ("user", RoleWord::User), ("group", RoleWord::Group)];
        words.into_iter().find(|(word, _)| self.keyword(word)).map(|(_, word)| word)
    }

    fn reserved_role(&self, name: &str) -> SyntaxError {
        let mut error = self.unexpected();
        error.code = *b"42939";
        error.message = format!("role name \"{name}\" is reserved");
        error
    }

    /// A role: a name, PUBLIC, or a word that stands for the session's own.
    pub(super) fn role_ref(&mut self) -> Parse<RoleRef> {
        if self.keyword("current_user") {
            return Ok(RoleRef::CurrentUser);
        }
        if self.keyword("current_role") {
            return Ok(RoleRef::CurrentRole);
        }
        if self.keyword("session_user") {
            return Ok(RoleRef::SessionUser);
        }
        let name = self.role_id()?;
        match name.as_str() {
            "public" => Ok(RoleRef::Public),
            "none" => {
                self.at -= 1;
                Err(self.reserved_role("none"))
            }
            _ => Ok(RoleRef::Name(name)),
        }
    }

    /// A word that is no key word of the reserved ones, folded.
    fn role_id(&mut self) -> Parse<String> {
        let usable = self.is_column_id(0) || self.peek_any(0, &["authorization", "concurrently", "verbose", "left", "right"]);
        if usable { self.name() } else { Err(self.unexpected()) }
    }

    /// A role that has a name of its own.
    fn role_name_alone(&mut self) -> Parse<String> {
        let at = self.at;
        let found = self.role_ref()?;
        let reserved = |p: &mut Self, name: &str| {
            p.at = at;
            Err(p.reserved_role(name))
        };
        match found {
            RoleRef::Name(name) => Ok(name),
            RoleRef::Public => reserved(self, "public"),
            RoleRef::CurrentUser => reserved(self, "current_user"),
            RoleRef::CurrentRole => reserved(self, "current_role"),
            RoleRef::SessionUser => reserved(self, "session_user"),
        }
    }

    pub(super) fn role_refs(&mut self) -> Parse<Vec<RoleRef>> {
        self.list(Self::role_ref)
    }

    /// Behind CREATE ROLE, USER or GROUP.
    pub(super) fn create_role(&mut self, word: RoleWord) -> Parse<Ddl> {
        let name = RoleRef::Name(self.role_name_alone()?);
        self.keyword("with");
        let mut options = Vec::new();
        while self.at < self.tokens.len() {
            options.push(self.role_option(true)?);
        }
        Ok(Ddl::Role(RoleStatement::Create { name, word, options }))
    }

    fn role_option(&mut self, create: bool) -> Parse<RoleOption> {
        let flags: [(&str, fn(bool) -> RoleOption); 7] = [
            ("superuser", RoleOption::Superuser),
            ("inherit", RoleOption::Inherit),
            ("createrole", RoleOption::CreateRole),
            ("createdb", RoleOption::CreateDb),
            ("login", RoleOption::Login),
            ("replication", RoleOption::Replication),
            ("bypassrls", RoleOption::BypassRls),
        ];
        if let Some(Token::Word(word)) = self.peek(0)
            && word.quote_style.is_none()
        {
            let lower = word.value.to_ascii_lowercase();
            for (name, option) in flags {
                if lower == name || lower.strip_prefix("no") == Some(name) {
                    self.at += 1;
                    return Ok(option(lower == name));
                }
            }
        }
        if self.keyword("password") || self.keywords(&["encrypted", "password"]) {
            return Ok(RoleOption::Password(if self.keyword("null") { None } else { Some(Password(self.string()?)) }));
        }
        if self.keywords(&["unencrypted", "password"]) {
            let mut error = self.unsupported("UNENCRYPTED PASSWORD is no longer supported");
            error.hint = Some("Remove UNENCRYPTED to store the password in encrypted form instead.".into());
            return Err(error);
        }
        if self.keywords(&["connection", "limit"]) {
            return Ok(RoleOption::ConnectionLimit(self.signed_integer()?));
        }
        if self.keywords(&["valid", "until"]) {
            return Ok(RoleOption::ValidUntil(self.string()?));
        }
        if self.keyword("user") {
            return Ok(RoleOption::Members(self.role_refs()?));
        }
        if create {
            if self.keyword("sysid") {
                self.signed_integer()?;
                return Ok(RoleOption::Sysid);
            }
            if self.keyword("admin") {
                return Ok(RoleOption::Admins(self.role_refs()?));
            }
            if self.keyword("role") {
                return Ok(RoleOption::Members(self.role_refs()?));
            }
            if self.keywords(&["in", "role"]) || self.keywords(&["in", "group"]) {
                return Ok(RoleOption::InRole(self.role_refs()?));
            }
        }
        if self.is_column_id(0) {
            let mut error = self.unexpected();
            error.message = format!("unrecognized role option \"{}\"", self.name()?);
            return Err(error);
        }
        Err(self.unexpected())
    }

    /// Behind ALTER ROLE, USER or GROUP.
    pub(super) fn alter_role(&mut self, word: RoleWord) -> Parse<Ddl> {
        let role = if word != RoleWord::Group && self.keyword("all") { None } else { Some(self.role_ref()?) };
        if let (Some(RoleRef::Name(name)), RoleWord::Group) = (&role, word)
            && (self.peek_keyword(0, "add") || self.peek_keyword(0, "drop"))
        {
            let (add, roles) = (self.keyword("add"), vec![name.clone()]);
            if !add {
                self.expect("drop")?;
            }
            self.expect("user")?;
            let members = self.role_refs()?;
            return Ok(Ddl::Role(if add {
                RoleStatement::Grant { roles, to: members, admin: false, granted_by: None, alter_group: true }
            } else {
                RoleStatement::Revoke { roles, from: members, admin_only: false, granted_by: None, alter_group: true }
            }));
        }
        if let Some(role) = &role
            && self.keywords(&["rename", "to"])
        {
            return Ok(Ddl::Role(RoleStatement::Rename { role: role.clone(), new: self.role_name_alone()? }));
        }
        let database = if self.keywords(&["in", "database"]) { Some(self.name()?) } else { None };
        if self.peek_keyword(0, "set") || self.peek_keyword(0, "reset") {
            let change = self.setting_change()?;
            return Ok(Ddl::Role(RoleStatement::AlterSettings { role, database, change }));
        }
        let Some(role) = role.filter(|_| database.is_none()) else { return Err(self.unexpected()) };
        self.keyword("with");
        let mut options = Vec::new();
        while self.at < self.tokens.len() {
            options.push(self.role_option(false)?);
        }
        Ok(Ddl::Role(RoleStatement::Alter { role, options }))
    }

    /// `SET name …`, `RESET name`, `RESET ALL`.
    pub(super) fn setting_change(&mut self) -> Parse<SettingChange> {
        if self.keyword("reset") {
            return Ok(if self.keyword("all") { SettingChange::ResetAll } else { SettingChange::Reset(self.setting_name()?) });
        }
        self.expect("set")?;
        let from = self.at;
        let name = self.setting_name();
        if let Ok(name) = name
            && self.keywords(&["from", "current"])
        {
            return Ok(SettingChange::FromCurrent(name));
        }
        self.at = from;
        match self.set()? {
            Some(Utility::Set { name, value, local: false }) => Ok(SettingChange::Set(name, value)),
            _ => Err(self.unexpected()),
        }
    }

    /// Behind DROP ROLE, USER or GROUP.
    pub(super) fn drop_roles(&mut self) -> Parse<Ddl> {
        let if_exists = self.if_exists()?;
        Ok(Ddl::Role(RoleStatement::Drop { names: self.role_refs()?, if_exists }))
    }

    pub(super) fn reassign_owned(&mut self) -> Parse<Ddl> {
        self.expect("owned")?;
        self.expect("by")?;
        let from = self.role_refs()?;
        self.expect("to")?;
        Ok(Ddl::Role(RoleStatement::ReassignOwned { from, to: self.role_ref()? }))
    }

    /// Behind DROP OWNED.
    pub(super) fn drop_owned(&mut self) -> Parse<Ddl> {
        self.expect("by")?;
        let by = self.role_refs()?;
        Ok(Ddl::Role(RoleStatement::DropOwned { by, cascade: self.cascade() }))
    }

    /// Behind COMMENT ON ROLE.
    pub(super) fn comment_on_role(&mut self) -> Parse<Ddl> {
        let role = RoleRef::Name(self.role_name_alone()?);
        self.expect("is")?;
        let text = if self.keyword("null") { None } else { Some(self.string()?) };
        Ok(Ddl::Role(RoleStatement::Comment { role, text }))
    }

    // GRANT and REVOKE.

    fn privilege_items(&mut self) -> Parse<Vec<PrivilegeItem>> {
        if self.keyword("all") {
            self.keyword("privileges");
            return Ok(vec![PrivilegeItem { name: None, columns: self.optional_columns()? }]);
        }
        self.list(|p| {
            let known = p.peek_any(0, &["select", "references", "create"]) || p.is_column_id(0);
            if !known {
                return Err(p.unexpected());
            }
            let name = p.name()?;
            Ok(PrivilegeItem { name: Some(name), columns: p.optional_columns()? })
        })
    }

    /// The names of a GRANT or REVOKE that turned out to be about roles.
    fn as_roles(&self, items: Vec<PrivilegeItem>) -> Parse<Vec<String>> {
        items.into_iter().map(|item| item.name.filter(|_| item.columns.is_empty()).ok_or_else(|| self.unexpected())).collect()
    }

    fn granted_by(&mut self) -> Parse<Option<RoleRef>> {
        if self.keywords(&["granted", "by"]) { self.role_ref().map(Some) } else { Ok(None) }
    }

    fn grantees(&mut self) -> Parse<Vec<RoleRef>> {
        self.list(|p| {
            p.keyword("group");
            p.role_ref()
        })
    }

    pub(super) fn grant(&mut self) -> Parse<Ddl> {
        let privileges = self.privilege_items()?;
        if self.keyword("on") {
            let target = self.grant_target()?;
            self.expect("to")?;
            let grantees = self.grantees()?;
            let option = self.keywords(&["with", "grant", "option"]);
            let granted_by = self.granted_by()?;
            return Ok(Ddl::Grant(GrantStatement { grant: true, option, privileges, target, grantees, granted_by, cascade: false }));
        }
        let roles = self.as_roles(privileges)?;
        self.expect("to")?;
        let to = self.role_refs()?;
        let admin = self.keywords(&["with", "admin", "option"]);
        let granted_by = self.granted_by()?;
        Ok(Ddl::Role(RoleStatement::Grant { roles, to, admin, granted_by, alter_group: false }))
    }

    pub(super) fn revoke(&mut self) -> Parse<Ddl> {
        let admin_only = self.keywords(&["admin", "option", "for"]);
        let option = !admin_only && self.keywords(&["grant", "option", "for"]);
        let privileges = self.privilege_items()?;
        if !admin_only && self.keyword("on") {
            let target = self.grant_target()?;
            self.expect("from")?;
            let grantees = self.grantees()?;
            let granted_by = self.granted_by()?;
            let cascade = self.cascade();
            return Ok(Ddl::Grant(GrantStatement { grant: false, option, privileges, target, grantees, granted_by, cascade }));
        }
        let roles = self.as_roles(privileges)?;
        self.expect("from")?;
        let from = self.role_refs()?;
        let granted_by = self.granted_by()?;
        self.cascade();
        Ok(Ddl::Role(RoleStatement::Revoke { roles, from, admin_only, granted_by, alter_group: false }))
    }

    fn grant_target(&mut self) -> Parse<GrantTarget> {
        if self.peek_keyword(0, "all") {
            self.at += 1;
            let many = match self.many()? {
                Many::Types | Many::Schemas => return Err(self.unexpected()),
                many => many,
            };
            self.expect("in")?;
            self.expect("schema")?;
            return Ok(GrantTarget::AllIn(many, self.idents()?));
        }
        // A table may be called by one of these words too.
        let named = |p: &Self| matches!(p.peek(1), Some(Token::Word(_))) && !p.peek_any(1, &["to", "from"]);
        if named(self) {
            if self.keyword("sequence") {
                return Ok(GrantTarget::Sequences(self.object_names()?));
            }
            if self.keyword("schema") {
                return Ok(GrantTarget::Schemas(self.idents()?));
            }
            if self.keyword("database") {
                return Ok(GrantTarget::Databases(self.idents()?));
            }
            if self.keyword("language") {
                return Ok(GrantTarget::Languages(self.idents()?));
            }
            if self.keyword("type") || self.keyword("domain") {
                return Ok(GrantTarget::Types(self.object_names()?));
            }
            if self.keyword("function") || self.keyword("procedure") || self.keyword("routine") {
                return Ok(GrantTarget::Functions(self.list(Self::function_ref)?));
            }
            if self.keywords(&["large", "object"]) {
                return Ok(GrantTarget::LargeObjects(self.list(Self::large_object)?));
            }
            for words in [&["foreign", "data", "wrapper"][..], &["foreign", "server"], &["tablespace"], &["parameter"]] {
                if self.keywords(words) {
                    while self.at < self.tokens.len() && !self.peek_any(0, &["to", "from"]) {
                        self.at += 1;
                    }
                    return Ok(GrantTarget::Other(words.join(" ").to_uppercase()));
                }
            }
        }
        self.keyword("table");
        Ok(GrantTarget::Tables(self.object_names()?))
    }

    fn function_ref(&mut self) -> Parse<FunctionRef> {
        let name = self.object_name()?;
        if !self.token(&Token::LParen) {
            return Ok(FunctionRef { name, arguments: None });
        }
        let mut arguments = Vec::new();
        if !self.token(&Token::RParen) {
            arguments = self.list(|p| {
                // The argument's mode and name may stand before its type.
                p.keyword("in");
                let from = p.at;
                if let Ok(ty) = p.data_type()
                    && matches!(p.peek(0), Some(Token::Comma | Token::RParen))
                {
                    return Ok(ty);
                }
                p.at = from;
                p.ident()?;
                p.data_type()
            })?;
            self.expect_token(&Token::RParen)?;
        }
        Ok(FunctionRef { name, arguments: Some(arguments) })
    }

    fn many(&mut self) -> Parse<Many> {
        if self.keyword("tables") {
            Ok(Many::Tables)
        } else if self.keyword("sequences") {
            Ok(Many::Sequences)
        } else if self.keyword("functions") || self.keyword("procedures") || self.keyword("routines") {
            Ok(Many::Functions)
        } else if self.keyword("types") {
            Ok(Many::Types)
        } else if self.keyword("schemas") {
            Ok(Many::Schemas)
        } else {
            Err(self.unexpected())
        }
    }

    /// Behind ALTER DEFAULT.
    pub(super) fn alter_default(&mut self) -> Parse<Ddl> {
        self.expect("privileges")?;
        let (mut roles, mut schemas): (Vec<RoleRef>, Vec<Ident>) = (Vec::new(), Vec::new());
        loop {
            if self.keywords(&["for", "role"]) || self.keywords(&["for", "user"]) {
                roles = self.role_refs()?;
            } else if self.keywords(&["in", "schema"]) {
                schemas = self.idents()?;
            } else {
                break;
            }
        }
        let grant = self.keyword("grant");
        if !grant {
            self.expect("revoke")?;
        }
        let mut option = !grant && self.keywords(&["grant", "option", "for"]);
        let privileges = self.privilege_items()?;
        self.expect("on")?;
        let on = self.many()?;
        self.expect(if grant { "to" } else { "from" })?;
        let grantees = self.grantees()?;
        let mut cascade = false;
        if grant {
            option = self.keywords(&["with", "grant", "option"]);
        } else {
            cascade = self.cascade();
        }
        Ok(Ddl::DefaultPrivileges(DefaultPrivilegesStatement { roles, schemas, grant, option, privileges, on, grantees, cascade }))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use crate::ddl::Ddl;
    use crate::script::{Body, parse_script};
    use crate::utility::Utility;

    fn ddl(sql: &str) -> Ddl {
        match parse_script(sql).map_err(|e| format!("{sql}: {e}")).unwrap().remove(0).body {
            Body::Utility(utility) => match *utility {
                Utility::Ddl(ddl) => *ddl,
                other => panic!("{other:?}"),
            },
            Body::Sql(other) => panic!("{other}"),
        }
    }

    #[test]
    fn forms_are_read() {
        for sql in [
            "CREATE ROLE a",
            "CREATE USER \"A\" WITH SUPERUSER NOLOGIN PASSWORD 'x' CONNECTION LIMIT 3 VALID UNTIL 'infinity' IN ROLE b, c ROLE d ADMIN e",
            "CREATE GROUP g USER a, b",
            "ALTER USER a PASSWORD NULL",
            "ALTER ROLE a SET work_mem TO '1MB'",
            "ALTER ROLE ALL IN DATABASE stoa RESET ALL",
            "ALTER ROLE a SET search_path FROM CURRENT",
            "ALTER GROUP g ADD USER a, b",
            "ALTER ROLE a RENAME TO b",
            "DROP ROLE IF EXISTS a, b",
            "DROP OWNED BY a, current_user CASCADE",
            "COMMENT ON ROLE a IS 'x'",
            "REASSIGN OWNED BY a TO session_user",
            "GRANT a, b TO c, current_role WITH ADMIN OPTION GRANTED BY d",
            "REVOKE ADMIN OPTION FOR a FROM b CASCADE",
            "GRANT SELECT (a, b), UPDATE ON TABLE t, s.u TO PUBLIC, GROUP g WITH GRANT OPTION",
            "GRANT ALL PRIVILEGES ON ALL TABLES IN SCHEMA a, b TO c",
            "GRANT USAGE, SELECT ON SEQUENCE s TO a",
            "GRANT CREATE ON SCHEMA public TO a",
            "GRANT CONNECT, TEMP ON DATABASE stoa TO a",
            "GRANT EXECUTE ON FUNCTION f(int, IN b text), pg_catalog.g() TO a",
            "GRANT USAGE ON LANGUAGE sql TO a",
            "GRANT SELECT ON sequence TO a",
            "REVOKE GRANT OPTION FOR ALL ON t FROM a CASCADE",
            "ALTER DEFAULT PRIVILEGES FOR ROLE a, b IN SCHEMA s GRANT SELECT ON TABLES TO c WITH GRANT OPTION",
            "ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC",
        ] {
            ddl(sql);
        }
    }

    #[test]
    fn passwords_are_silent() {
        let shown = format!("{:?}", ddl("CREATE ROLE a PASSWORD 'very secret'"));
        assert!(shown.contains("Password(..)") && !shown.contains("secret"), "{shown}");
    }

    #[test]
    fn names_that_are_no_roles() {
        for (sql, message) in [
            ("CREATE ROLE none", "role name \"none\" is reserved"),
            ("CREATE ROLE public", "role name \"public\" is reserved"),
            ("CREATE ROLE a FLY", "unrecognized role option \"fly\""),
            ("GRANT a (b) TO c", "syntax error at or near \"TO\""),
        ] {
            assert_eq!(parse_script(sql).unwrap_err().message, message, "{sql}");
        }
    }
}
