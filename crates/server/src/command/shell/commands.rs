//! The commands by name, and what surrounds each: the time that it took, what went wrong.

use super::super::dump;
use super::arguments::{Failure, TableName, check_count, failure};
use super::help;
use super::ruby::{self, Call, Trouble, Value};
use super::text::Printer;
use std::collections::HashMap;
use std::time::Instant;
use stoa_engine::raw::OpenTable;
use stoa_engine::{Database, Session, SessionOptions};
use stoa_pg::PgError;

/// How a command ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flow {
    Done,
    Failed,
    Quit,
    /// It asks something: the next line is the answer.
    Asks,
}

/// See the module.
pub struct Shell {
    pub database: Database,
    session: Session,
    pub out: Printer,
    interactive: bool,
    /// Variables hold tables.
    variables: HashMap<String, String>,
    /// What Ruby's prompt would show of a command's value.
    pub value: Option<String>,
    /// The command that asks whether it is to be done, and those behind it in its text.
    asked: Option<(Call, Vec<Call>)>,
    /// Whether the command that runs was asked for and answered with y.
    pub confirmed: bool,
}

/// Commands that tables have too, as `t.put`.
const OF_TABLES: &[&str] = &[
    "put",
    "get",
    "scan",
    "delete",
    "deleteall",
    "incr",
    "append",
    "count",
    "get_counter",
    "get_splits",
    "enable",
    "disable",
    "drop",
    "describe",
    "flush",
    "truncate",
    "alter",
    "exists",
    "is_enabled",
    "is_disabled",
    "compact",
    "major_compact",
    "split",
    "list_regions",
    "locate_region",
    "alter_status",
    "snapshot",
];

impl Shell {
    pub fn new(database: &Database, interactive: bool, out: Printer) -> Result<Self, PgError> {
        let options = SessionOptions { application_name: "stoa shell".into(), ..SessionOptions::default() };
        Ok(Self {
            session: database.connect(options)?,
            database: database.clone(),
            out,
            interactive,
            variables: HashMap::new(),
            value: None,
            asked: None,
            confirmed: false,
        })
    }

    pub async fn close(self) {
        self.session.close().await;
    }

    /// Runs the commands of a text, as far as they are some; or takes it for an answer, if the last one asks something.
    pub async fn run_text(&mut self, text: &str) -> std::io::Result<Flow> {
        if let Some((call, rest)) = self.asked.take() {
            self.confirmed = matches!(text.trim().to_ascii_lowercase().as_str(), "y" | "yes");
            let done = if self.confirmed { self.run(&call).await? } else { self.ended(Instant::now(), Flow::Done)? };
            self.confirmed = false;
            return self.run_all(rest, done).await;
        }
        match ruby::parse(text) {
            Ok(calls) => self.run_all(calls, Flow::Done).await,
            Err(Trouble::Unfinished) => self.refuse("syntax error, unexpected end of the input"),
            Err(Trouble::Wrong(message)) => self.refuse(&message),
        }
    }

    /// Runs commands; `flow` is how those before them ended.
    async fn run_all(&mut self, calls: Vec<Call>, mut flow: Flow) -> std::io::Result<Flow> {
        let mut calls = calls.into_iter();
        while let Some(call) = calls.next() {
            match self.run(&call).await? {
                Flow::Quit => return Ok(Flow::Quit),
                Flow::Failed => flow = Flow::Failed,
                Flow::Done => {}
                Flow::Asks => {
                    self.asked = Some((call, calls.collect()));
                    return Ok(Flow::Asks);
                }
            }
        }
        Ok(flow)
    }

    /// Executes a statement of SQL.
    pub async fn sql(&mut self, sql: &str) -> Result<(), Failure> {
        let done = dump::command(&mut self.session, sql).await;
        if let Err(error) = done {
            self.session.fail().await;
            let _ = self.session.finish().await;
            return Err(error.into());
        }
        Ok(())
    }

    /// Tells an error of what is no command.
    fn refuse(&mut self, message: &str) -> std::io::Result<Flow> {
        self.out.line(&format!("\nERROR: {message}\n"))?;
        self.out.flush()?;
        Ok(Flow::Failed)
    }

    /// Runs a command and prints what it says.
    async fn run(&mut self, call: &Call) -> std::io::Result<Flow> {
        let mut call = call.clone();
        if let Some(receiver) = call.receiver.take() {
            let Some(table) = self.variables.get(&receiver) else {
                return self.refuse(&format!("undefined local variable or method '{receiver}'"));
            };
            if !OF_TABLES.contains(&call.name.as_str()) {
                return self.refuse(&format!("undefined method '{}' of a table", call.name));
            }
            call.arguments.insert(0, Value::Text(table.clone().into_bytes()));
        }
        for argument in &mut call.arguments {
            self.resolve(argument);
        }
        if matches!(call.name.as_str(), "exit" | "quit") && call.arguments.is_empty() {
            return Ok(Flow::Quit);
        }
        if call.arguments.is_empty()
            && let Some(table) = self.variables.get(&call.name)
        {
            self.out.line(&format!("=> Hbase::Table - {table}"))?;
            self.out.flush()?;
            return Ok(Flow::Done);
        }
        if call.name == "help" {
            help::print(&mut self.out, call.arguments.first().and_then(Value::text).as_deref())?;
            self.out.flush()?;
            return Ok(Flow::Done);
        }
        self.value = None;
        let started = Instant::now();
        let done = self.dispatch(&call).await;
        let flow = match done {
            Ok(true) => Flow::Done,
            Ok(false) => return self.refuse(&format!("undefined local variable or method '{}'", call.name)),
            Err(Failure::Io(error)) => return Err(error),
            Err(Failure::Asks(question)) => {
                self.out.line(&format!("\n{question}"))?;
                self.out.flush()?;
                return Ok(Flow::Asks);
            }
            Err(Failure::Message(message)) => {
                self.out.line(&format!("\nERROR: {message}\n"))?;
                self.out.line(&format!("For usage try 'help \"{}\"'\n", call.name))?;
                Flow::Failed
            }
        };
        if flow == Flow::Done
            && let (Some(variable), Some(table)) = (&call.variable, call.arguments.first().and_then(Value::text))
        {
            self.variables.insert(variable.clone(), table);
        }
        self.ended(started, flow)
    }

    /// What is said behind each command.
    fn ended(&mut self, started: Instant, flow: Flow) -> std::io::Result<Flow> {
        self.out.line(&format!("Took {:.4} seconds", started.elapsed().as_secs_f64()))?;
        if let Some(value) = self.value.take().filter(|_| self.interactive) {
            self.out.line(&format!("=> {value}"))?;
        }
        self.out.flush()?;
        Ok(flow)
    }

    /// Variables for what they hold.
    fn resolve(&self, value: &mut Value) {
        if let Value::Name(name) = value
            && let Some(table) = self.variables.get(name)
        {
            *value = Value::Text(table.clone().into_bytes());
        }
    }

    /// Whether there is such a command.
    async fn dispatch(&mut self, call: &Call) -> Result<bool, Failure> {
        let arguments = call.arguments.as_slice();
        match call.name.as_str() {
            "create" => self.create(arguments).await?,
            "alter" | "alter_async" => self.alter(arguments).await?,
            "describe" | "desc" => self.describe(arguments)?,
            "list" => self.list(arguments)?,
            "exists" => self.exists(arguments)?,
            "enable" => self.enable(arguments, true).await?,
            "disable" => self.enable(arguments, false).await?,
            "is_enabled" => self.is_enabled(arguments, true)?,
            "is_disabled" => self.is_enabled(arguments, false)?,
            "enable_all" => self.all(arguments, "enable").await?,
            "disable_all" => self.all(arguments, "disable").await?,
            "drop_all" => self.all(arguments, "drop").await?,
            "drop" => self.drop(arguments).await?,
            "truncate" | "truncate_preserve" => self.truncate(arguments).await?,
            "get_splits" => self.get_splits(arguments)?,
            "create_namespace" => self.create_namespace(arguments).await?,
            "drop_namespace" => self.drop_namespace(arguments).await?,
            "list_namespace" => self.list_namespace(arguments)?,
            "list_namespace_tables" => self.list_namespace_tables(arguments)?,
            "describe_namespace" => self.describe_namespace(arguments)?,
            "get_table" => {
                check_count(arguments.len(), 1, 1)?;
                let (name, _) = self.table(arguments)?;
                self.value = Some(format!("Hbase::Table - {}", name.shown()));
            }
            "flush" => self.flush(arguments).await?,
            "compact" | "major_compact" => self.compact(arguments).await?,
            "put" => self.put(arguments).await?,
            "get" => self.get(arguments).await?,
            "scan" => self.scan(arguments).await?,
            "delete" => self.delete(arguments).await?,
            "deleteall" => self.delete_all(arguments).await?,
            "incr" => self.incr(arguments).await?,
            "append" => self.append(arguments).await?,
            "count" => self.count(arguments).await?,
            "get_counter" => self.get_counter(arguments).await?,
            "list_regions" => self.list_regions(arguments).await?,
            "locate_region" => self.locate_region(arguments).await?,
            "split" => self.split(arguments).await?,
            "status" => self.status(arguments).await?,
            "alter_status" => self.alter_status(arguments)?,
            "clone_table_schema" => self.clone_table_schema(arguments).await?,
            "snapshot" => self.snapshot(arguments).await?,
            "clone_snapshot" => self.clone_snapshot(arguments).await?,
            "restore_snapshot" => self.restore_snapshot(arguments).await?,
            "list_snapshots" => self.list_snapshots(arguments)?,
            "list_table_snapshots" => self.list_table_snapshots(arguments)?,
            "delete_snapshot" => self.delete_snapshot(arguments).await?,
            "delete_all_snapshot" => self.delete_all_snapshot(arguments).await?,
            "delete_table_snapshots" => self.delete_table_snapshots(arguments).await?,
            "show_filters" => {
                check_count(arguments.len(), 0, 0)?;
                for name in super::filter::NAMES {
                    self.out.line(name)?;
                }
            }
            "table_help" => help::of_tables(&mut self.out)?,
            "version" => self.out.line(&format!("stoa {}, with the shell of HBase 2.5", env!("CARGO_PKG_VERSION")))?,
            "whoami" => {
                let user = std::env::var("USER").unwrap_or_else(|_| "root".into());
                self.out.line(&format!("{user} (auth:SIMPLE)"))?;
            }
            name => match help::elsewhere(name) {
                Some(way) => return failure(format!("{name} is HBase's, and not done here: {way}")),
                None => return Ok(false),
            },
        }
        Ok(true)
    }

    /// The table that the first argument names.
    pub fn table(&self, arguments: &[Value]) -> Result<(TableName, OpenTable), Failure> {
        let Some(text) = arguments.first().and_then(Value::text) else {
            check_count(arguments.len(), 1, usize::MAX)?;
            return failure("Table name must be of type String");
        };
        let name = TableName::parse(&text)?;
        match self.database.open_table(&name.namespace, &name.name) {
            Some(table) => Ok((name, table)),
            None => failure(format!("Unknown table {text}!")),
        }
    }

    /// As [`Shell::table`], where rows are read or written.
    pub fn enabled(&self, arguments: &[Value]) -> Result<(TableName, OpenTable), Failure> {
        let (name, table) = self.table(arguments)?;
        if !table.is_enabled() {
            return failure(format!("Table {} is disabled!", name.shown()));
        }
        Ok((name, table))
    }

    /// As [`Shell::enabled`], for a table of cells.
    pub fn writable(&self, arguments: &[Value]) -> Result<(TableName, OpenTable), Failure> {
        let (name, table) = self.enabled(arguments)?;
        if !table.is_raw() {
            return failure(format!(
                "Table {0} belongs to SQL: its cells can be read here, and are changed with INSERT, UPDATE and DELETE",
                name.shown()
            ));
        }
        Ok((name, table))
    }
}
