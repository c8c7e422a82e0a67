//! What EXPLAIN shows.

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ExplainFormat {
    #[default]
    Text,
    Json,
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
