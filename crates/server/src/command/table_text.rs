//! Rows as an aligned table, as psql prints them.

use std::io::Write;

/// Rows after which widths are fixed and rows are printed as they come.
const LOOK_AHEAD: usize = 1_000;

/// Prints rows; the widths of columns are those of the first rows.
pub struct Table {
    names: Vec<String>,
    right: Vec<bool>,
    plain: bool,
    waiting: Vec<Vec<Option<String>>>,
    widths: Vec<usize>,
    started: bool,
}

impl Table {
    /// `right`: columns whose values stand at the right; `plain`: tabs, no headers.
    pub fn new(names: Vec<String>, right: Vec<bool>, plain: bool) -> Self {
        Self { names, right, plain, waiting: Vec::new(), widths: Vec::new(), started: false }
    }

    pub fn row(&mut self, values: Vec<Option<String>>) {
        if self.plain || self.started {
            self.print(&values);
            return;
        }
        self.waiting.push(values);
        if self.waiting.len() >= LOOK_AHEAD {
            self.start();
        }
    }

    /// Prints what waits.
    pub fn finish(&mut self) {
        if !self.plain && !self.started {
            self.start();
        }
    }

    fn start(&mut self) {
        self.started = true;
        let rows = std::mem::take(&mut self.waiting);
        self.widths = self
            .names
            .iter()
            .enumerate()
            .map(|(at, name)| {
                let values = rows.iter().filter_map(|r| r.get(at).and_then(|v| v.as_deref()));
                values.map(|v| v.chars().count()).chain([name.chars().count()]).max().unwrap_or(0)
            })
            .collect();
        let names: Vec<String> = self.names.iter().zip(&self.widths).map(|(name, width)| format!(" {name:^width$} ")).collect();
        let rule: Vec<String> = self.widths.iter().map(|w| "-".repeat(w + 2)).collect();
        line(names.join("|").trim_end());
        line(&rule.join("+"));
        for row in rows {
            self.print(&row);
        }
    }

    fn print(&self, values: &[Option<String>]) {
        if self.plain {
            let values: Vec<&str> = values.iter().map(|v| v.as_deref().unwrap_or("NULL")).collect();
            line(&values.join("\t"));
            return;
        }
        let cells: Vec<String> = values
            .iter()
            .enumerate()
            .map(|(at, value)| {
                let (value, width) = (value.as_deref().unwrap_or(""), self.widths.get(at).copied().unwrap_or(0));
                if self.right.get(at).copied().unwrap_or(false) { format!(" {value:>width$} ") } else { format!(" {value:<width$} ") }
            })
            .collect();
        line(cells.join("|").trim_end());
    }
}

fn line(text: &str) {
    // A closed pipe is not our error.
    let _ = writeln!(std::io::stdout(), "{text}");
}
