//! The functions behind PostgreSQL's operators (`pg_operator.oprcode`): `int4pl(1, 2)` is `1 + 2`.
//!
//! `functions.tsv` holds a function's name, the operator, and its types on the left and on the right; `name()` in place of an operator
//! is a function that has a second name. Read [`crate::registry`] next.

use crate::registry::{Called, Registry};

/// Gives the operators that exist their functions' names.
pub fn register(r: &mut Registry) {
    for line in include_str!("functions.tsv").lines() {
        let mut fields = line.split('\t');
        let (Some(function), Some(what), Some(left), Some(right)) = (fields.next(), fields.next(), fields.next(), fields.next()) else {
            continue;
        };
        let found = match what.strip_suffix("()") {
            Some(name) => {
                let types: Vec<&str> = [left, right].into_iter().filter(|t| !t.is_empty()).collect();
                let fits = |args: &[crate::PgType]| args.iter().map(crate::PgType::name).eq(types.iter().copied());
                r.functions(name).iter().find(|f| fits(&f.args)).cloned().map(Called::Func)
            }
            None => r
                .operators(what)
                .iter()
                .find(|o| o.right.name() == right && o.left.as_ref().map_or_else(String::new, crate::PgType::name) == left)
                .cloned()
                .map(Called::Oper),
        };
        // `@@@` is `@@` under an older name.
        if let Some(found) = found
            && !r.called_as(function).iter().any(|other| other.args() == found.args())
        {
            r.call_as(function, found);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    #[test]
    fn every_line_names_something() {
        let registry = Registry::get();
        for line in include_str!("functions.tsv").lines() {
            let function = line.split('\t').next().unwrap();
            assert!(!registry.called_as(function).is_empty(), "{line}");
        }
    }
}
