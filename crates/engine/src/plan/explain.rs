//! What EXPLAIN shows, and the forms in which programs read it.
//!
//! There is one tree of values, under PostgreSQL's keys ([`super::readable::tree`]); each form is a way to write any such tree, and knows
//! nothing of plans.

use serde_json::{Map, Value};
use std::fmt::Write as _;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ExplainFormat {
    #[default]
    Text,
    Json,
    Xml,
    Yaml,
}

/// What EXPLAIN shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ExplainOptions {
    /// Execute the statement, and show what happened.
    pub analyze: bool,
    pub verbose: bool,
    pub costs: bool,
    pub timing: bool,
    pub summary: bool,
    /// Name indexes that would help.
    pub advise: bool,
    pub format: ExplainFormat,
}

impl ExplainFormat {
    /// A statement's tree as the one text that the form is, as PostgreSQL lays it out; as JSON where lines for people are meant.
    pub(crate) fn write(self, statement: Map<String, Value>) -> String {
        match self {
            ExplainFormat::Text | ExplainFormat::Json => format!("{:#}", Value::from(vec![Value::from(statement)])),
            ExplainFormat::Xml => {
                let mut out = String::from("<explain xmlns=\"http://www.postgresql.org/2009/explain\">\n");
                write_xml(&mut out, 1, "Query", &Value::from(statement));
                out + "</explain>"
            }
            ExplainFormat::Yaml => {
                let mut out = String::from("- ");
                write_yaml(&mut out, 2, &statement);
                out
            }
        }
    }
}

/// An element of a name, on lines of its own. Those of a list are called by what the list is of, or are items.
fn write_xml(out: &mut String, depth: usize, name: &str, value: &Value) {
    let indent = "  ".repeat(depth);
    let tag: String = name.chars().map(|c| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' }).collect();
    let text = match value {
        Value::Object(fields) => {
            let _ = writeln!(out, "{indent}<{tag}>");
            fields.iter().for_each(|(name, value)| write_xml(out, depth + 1, name, value));
            indent
        }
        Value::Array(values) => {
            let _ = writeln!(out, "{indent}<{tag}>");
            let one = name.strip_suffix('s').unwrap_or(name);
            values.iter().for_each(|value| write_xml(out, depth + 1, if value.is_object() { one } else { "Item" }, value));
            indent
        }
        Value::String(text) => {
            let _ = write!(out, "{indent}<{tag}>");
            escaped(text)
        }
        other => {
            let _ = write!(out, "{indent}<{tag}>");
            other.to_string()
        }
    };
    let _ = writeln!(out, "{text}</{tag}>");
}

/// A text between tags. What XML has no way to hold is left out.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\r' => out.push_str("&#x0d;"),
            '\t' | '\n' => out.push(c),
            c if c < ' ' || matches!(c, '\u{fffe}' | '\u{ffff}') => {}
            c => out.push(c),
        }
    }
    out
}

/// Keys and what they tell, a line each; the first stands where the text ends.
fn write_yaml(out: &mut String, indent: usize, fields: &Map<String, Value>) {
    for (at, (name, value)) in fields.iter().enumerate() {
        if at > 0 {
            begin_line(out, indent);
        }
        let _ = write!(out, "{name}: ");
        match value {
            Value::Object(inner) => {
                begin_line(out, indent + 2);
                write_yaml(out, indent + 2, inner);
            }
            Value::Array(values) => {
                for value in values {
                    begin_line(out, indent + 2);
                    out.push_str("- ");
                    match value {
                        Value::Object(inner) => write_yaml(out, indent + 4, inner),
                        // What is written as in JSON is YAML.
                        other => drop(write!(out, "{other}")),
                    }
                }
            }
            other => drop(write!(out, "{other}")),
        }
    }
}

fn begin_line(out: &mut String, indent: usize) {
    let _ = write!(out, "\n{:indent$}", "");
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;
    use serde_json::json;

    fn written(format: ExplainFormat) -> String {
        let tree = json!({
            "Plan": {
                "Node Type": "Join", "Plan Rows": 1, "Output": ["t.id", "'<&>\"\\\r'"],
                "Plans": [
                    { "Node Type": "Scan", "Parallel Aware": false, "Output": ["u.id"] },
                    { "Node Type": "Hash", "Plans": [{ "Node Type": "Scan", "Filter": "(a < 'b')" }] }
                ]
            },
            "Triggers": [], "Execution Time": 0.25
        });
        let Value::Object(tree) = tree else { panic!() };
        format.write(tree)
    }

    /// As a PostgreSQL 15 lays them out.
    #[test]
    fn forms_for_programs() {
        assert_eq!(
            written(ExplainFormat::Xml),
            "<explain xmlns=\"http://www.postgresql.org/2009/explain\">\n  <Query>\n    <Plan>\n      <Node-Type>Join</Node-Type>\n      \
             <Plan-Rows>1</Plan-Rows>\n      <Output>\n        <Item>t.id</Item>\n        <Item>'&lt;&amp;&gt;\"\\&#x0d;'</Item>\n      \
             </Output>\n      <Plans>\n        <Plan>\n          <Node-Type>Scan</Node-Type>\n          \
             <Parallel-Aware>false</Parallel-Aware>\n          <Output>\n            <Item>u.id</Item>\n          </Output>\n        \
             </Plan>\n        <Plan>\n          <Node-Type>Hash</Node-Type>\n          <Plans>\n            <Plan>\n              \
             <Node-Type>Scan</Node-Type>\n              <Filter>(a &lt; 'b')</Filter>\n            </Plan>\n          </Plans>\n        \
             </Plan>\n      </Plans>\n    </Plan>\n    <Triggers>\n    </Triggers>\n    <Execution-Time>0.25</Execution-Time>\n  \
             </Query>\n</explain>"
        );
        assert_eq!(
            written(ExplainFormat::Yaml),
            "- Plan: \n    Node Type: \"Join\"\n    Plan Rows: 1\n    Output: \n      - \"t.id\"\n      - \"'<&>\\\"\\\\\\r'\"\n    \
             Plans: \n      - Node Type: \"Scan\"\n        Parallel Aware: false\n        Output: \n          - \"u.id\"\n      \
             - Node Type: \"Hash\"\n        Plans: \n          - Node Type: \"Scan\"\n            Filter: \"(a < 'b')\"\n  \
             Triggers: \n  Execution Time: 0.25"
        );
    }
}
