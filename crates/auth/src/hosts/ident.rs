//! Maps of names, `pg_ident.conf`: which roles may somebody be whom the system or a certificate names.
//!
//! Without a map, the role of the same name and no other. With one, the first of its lines that fits. A name of the system that opens
//! with a slash is a regular expression, whose first group stands in the role for `\1`. The map [`OWNER_MAP`] is
//! there without being written.

use super::default::OWNER_MAP;
use super::pattern;
use super::rules::unreadable;
use super::tokens::{self, Files, Line, LineError, OnDisk};
use regex::Regex;
use std::path::Path;

/// A row of `pg_ident_file_mappings`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IdentRow {
    pub line_number: usize,
    pub map_name: Option<String>,
    pub sys_name: Option<String>,
    pub pg_username: Option<String>,
    pub error: Option<String>,
}

#[derive(Clone, Debug)]
struct Mapping {
    line: usize,
    map: String,
    system: String,
    expression: Option<Regex>,
    role: String,
}

/// The maps that are in force.
#[derive(Clone, Debug, Default)]
pub struct Maps {
    mappings: Vec<Mapping>,
    owner: Option<String>,
}

fn parse(line: &Line) -> Result<Mapping, String> {
    if let Some(message) = &line.error {
        return Err(message.clone());
    }
    let mut fields = line.fields.iter();
    let mut next = || match fields.next().map(Vec::as_slice) {
        None | Some([]) => Err("missing entry at end of line".to_owned()),
        Some([token]) => Ok(token.text.clone()),
        Some(_) => Err("multiple values in ident field".to_owned()),
    };
    let (map, system, role) = (next()?, next()?, next()?);
    let expression = match system.strip_prefix('/') {
        Some(pattern) => {
            let compiled = pattern::compile(pattern, role.contains("\\1"));
            Some(compiled.map_err(|why| format!("invalid regular expression \"{pattern}\": {why}"))?)
        }
        None => None,
    };
    Ok(Mapping { line: line.number, map, system, expression, role })
}

impl Maps {
    /// Reads a file. A map may be empty, and a file too.
    ///
    /// # Errors
    /// All that is wrong with it: that it cannot be read, or its broken lines.
    pub fn load(path: &Path) -> Result<Self, Vec<LineError>> {
        let text = OnDisk.read(path).map_err(|e| vec![unreadable(path, &e)])?;
        Self::parse(path, &text, &OnDisk)
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// All its broken lines.
    pub fn parse(name: &Path, text: &str, files: &dyn Files) -> Result<Self, Vec<LineError>> {
        let (mut mappings, mut errors) = (Vec::new(), Vec::new());
        for line in tokens::lines(name, text, files) {
            match parse(&line) {
                Ok(mapping) => mappings.push(mapping),
                Err(message) => errors.push(LineError { file: name.to_owned(), line: line.number, message, hint: None }),
            }
        }
        if errors.is_empty() { Ok(Self { mappings, owner: None }) } else { Err(errors) }
    }

    /// Says who runs the server: the user of the system that [`OWNER_MAP`] lets be any role.
    #[must_use]
    pub fn with_owner(mut self, user: Option<String>) -> Self {
        self.owner = user;
        self
    }

    /// The rows of `pg_ident_file_mappings`.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn file_rows(path: &Path) -> Result<Vec<IdentRow>, LineError> {
        let text = OnDisk.read(path).map_err(|e| unreadable(path, &e))?;
        Ok(Self::rows(path, &text, &OnDisk))
    }

    /// The rows of a text.
    #[must_use]
    pub fn rows(name: &Path, text: &str, files: &dyn Files) -> Vec<IdentRow> {
        let row = |line: &Line| match parse(line) {
            Ok(Mapping { line, map, system, role, .. }) => {
                IdentRow { line_number: line, map_name: Some(map), sys_name: Some(system), pg_username: Some(role), error: None }
            }
            Err(e) => IdentRow { line_number: line.number, map_name: None, sys_name: None, pg_username: None, error: Some(e) },
        };
        tokens::lines(name, text, files).iter().map(row).collect()
    }

    /// Whether somebody of this name may be the role by the map, or by none.
    ///
    /// # Errors
    /// The sentence for the server's log, which the client is not told.
    pub fn permit(&self, map: Option<&str>, role: &str, system: &str) -> Result<(), String> {
        let Some(map) = map.filter(|map| !map.is_empty()) else {
            return if role == system {
                Ok(())
            } else {
                Err(format!("provided user name ({role}) and authenticated user name ({system}) do not match"))
            };
        };
        if map == OWNER_MAP && (role == system || self.owner.as_deref() == Some(system)) {
            return Ok(());
        }
        for mapping in self.mappings.iter().filter(|mapping| mapping.map == map) {
            if mapping.fits(role, system)? {
                return Ok(());
            }
        }
        Err(format!("no match in usermap \"{map}\" for user \"{role}\" authenticated as \"{system}\""))
    }
}

impl Mapping {
    fn fits(&self, role: &str, system: &str) -> Result<bool, String> {
        let Some(expression) = &self.expression else { return Ok(self.system == system && self.role == role) };
        let Some(groups) = expression.captures(system) else { return Ok(false) };
        let Some((before, after)) = self.role.split_once("\\1") else { return Ok(self.role == role) };
        let Some(group) = groups.get(1) else {
            return Err(format!(
                "regular expression \"{}\" has no subexpressions as requested by backreference in \"{}\"",
                self.system.get(1..).unwrap_or_default(),
                self.role
            ));
        };
        Ok(role == [before, group.as_str(), after].concat())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::{Maps, OWNER_MAP};
    use crate::hosts::OnDisk;
    use std::path::Path;

    fn maps(text: &str) -> Maps {
        Maps::parse(Path::new("pg_ident.conf"), text, &OnDisk).unwrap()
    }

    #[test]
    fn the_first_line_of_a_map_that_fits_decides() {
        let maps =
            maps("m bob robert\nm bob bert\nn ann anna\nm /^(.*)@example\\.com$ \\1\nm /^(.*)@x$ x_\\1_y\nm /^root all\nbad /^b \\1\n");
        for (map, role, system, fits) in [
            (Some("m"), "robert", "bob", true),
            (Some("m"), "bert", "bob", true),
            (Some("m"), "bob", "bob", false),
            (Some("m"), "anna", "ann", false),
            (Some("n"), "anna", "ann", true),
            (Some("m"), "carl", "carl@example.com", true),
            (Some("m"), "carl", "carla@example.com", false),
            (Some("m"), "carl", "carl@example.com.org", false),
            (Some("m"), "x_q_y", "q@x", true),
            // "all" is a name in 15.
            (Some("m"), "postgres", "root", false),
            (Some("m"), "all", "root", true),
            (Some("bad"), "b", "b", false),
            (Some("none"), "bob", "bob", false),
            (Some(""), "bob", "bob", true),
            (None, "bob", "bob", true),
            (None, "bob", "Bob", false),
        ] {
            assert_eq!(maps.permit(map, role, system).is_ok(), fits, "{map:?} {role} {system}");
        }
        assert!(maps.permit(Some("bad"), "b", "b").unwrap_err().contains("has no subexpressions"));
    }

    #[test]
    fn whoever_runs_the_server_may_be_any_role_by_the_owners_map_alone() {
        let maps = maps("").with_owner(Some("stoa".into()));
        assert!(maps.permit(Some(OWNER_MAP), "anybody", "stoa").is_ok());
        assert!(maps.permit(Some(OWNER_MAP), "anybody", "eve").is_err());
        assert!(maps.permit(Some(OWNER_MAP), "eve", "eve").is_ok());
        assert!(maps.permit(Some("m"), "anybody", "stoa").is_err());
        assert!(maps.permit(None, "anybody", "stoa").is_err());
    }
}
