//! `stoa shell`: HBase's shell on this database. The language is read in [`ruby`], commands are done in [`commands`], [`tables`],
//! [`regions`], [`snapshots`] and [`cells`].

mod arguments;
mod cells;
mod commands;
mod filter;
mod help;
mod line_editor;
mod regions;
mod ruby;
mod served;
mod snapshots;
mod tables;
mod text;

pub use served::ShellSocket;
pub use text::binary;

use super::CommandError;
use super::open::{DataOptions, open};
use commands::{Flow, Shell};
use line_editor::{Editor, Input};
use ruby::Trouble;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(clap::Args, Debug)]
#[command(name = "shell")]
pub struct HbaseShell {
    #[command(flatten)]
    data: DataOptions,
    /// End at the first error, with status 1.
    #[arg(short, long)]
    noninteractive: bool,
    /// A file of commands; the standard input without it.
    file: Option<PathBuf>,
}

impl HbaseShell {
    pub(super) async fn run(self) -> Result<ExitCode, CommandError> {
        let io = |what: String| move |error| CommandError::Io { what, error };
        let script = match &self.file {
            Some(path) => Some(std::fs::read_to_string(path).map_err(io(format!("cannot read {}", path.display())))?),
            None if std::io::stdin().is_terminal() => None,
            None => Some(std::io::read_to_string(std::io::stdin()).map_err(io("cannot read the standard input".into()))?),
        };
        let mut target = match served::Client::connect(&self.data.data, text::width_of_stdout(), script.is_none()) {
            Some(client) => Target::There(client),
            None => Target::Here(Box::new(Shell::new(&open(&self.data).await?, script.is_none(), text::Printer::of_stdout())?)),
        };
        let done = match script {
            Some(script) => run_script(&mut target, &script, self.noninteractive).await,
            None => interact(&mut target).await.map(|()| true),
        };
        if let Target::Here(shell) = target {
            shell.close().await;
        }
        let good = done.map_err(io("the shell was cut off".into()))?;
        Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

/// Where commands are run.
enum Target {
    /// In this process, which has the directory open.
    Here(Box<Shell>),
    /// In the server that has it.
    There(served::Client),
}

impl Target {
    /// Runs a text, unless it goes on in the next line, which it does not where `whole` says so.
    async fn run(&mut self, text: &str, whole: bool) -> std::io::Result<Option<Flow>> {
        match self {
            _ if !whole && ruby::parse(text) == Err(Trouble::Unfinished) => Ok(None),
            Target::Here(shell) => shell.run_text(text).await.map(Some),
            Target::There(client) => client.run(text).map(Some),
        }
    }
}

/// Runs the commands of a text; whether all of them went well.
async fn run_script(target: &mut Target, script: &str, stop: bool) -> std::io::Result<bool> {
    let (mut good, mut asked) = (true, false);
    let mut pending = String::new();
    let mut lines = script.lines().peekable();
    while let Some(line) = lines.next() {
        pending.push_str(line);
        pending.push('\n');
        let Some(flow) = target.run(&pending, asked || lines.peek().is_none()).await? else { continue };
        match flow {
            Flow::Quit => return Ok(good),
            Flow::Failed if stop => return Ok(false),
            Flow::Failed => good = false,
            Flow::Done | Flow::Asks => {}
        }
        asked = flow == Flow::Asks;
        pending.clear();
    }
    // A question that nobody answered: what it asks for was not done.
    Ok(good && !asked)
}

async fn interact(target: &mut Target) -> std::io::Result<()> {
    println!("Stoa's shell, with the commands of HBase's. \"help\" lists them, \"exit\" ends it.");
    let mut editor = Editor::new(help::completions);
    let done = lines(target, &mut editor).await;
    editor.save();
    done
}

async fn lines(target: &mut Target, editor: &mut Editor) -> std::io::Result<()> {
    let (mut number, mut pending, mut asked) = (1_u32, String::new(), false);
    loop {
        let prompt = if asked { String::new() } else { format!("stoa:{number:03}:{}> ", u8::from(!pending.is_empty())) };
        let line = match editor.read(&prompt)? {
            Input::Line(line) => line,
            // No answer is no.
            Input::Interrupted if asked => "n".into(),
            Input::Interrupted => {
                pending.clear();
                continue;
            }
            Input::End => return Ok(()),
        };
        number += 1;
        pending.push_str(&line);
        pending.push('\n');
        // An empty line ends what would go on.
        match target.run(&pending, asked || line.trim().is_empty()).await? {
            None => {}
            Some(Flow::Quit) => return Ok(()),
            Some(flow) => {
                asked = flow == Flow::Asks;
                pending.clear();
            }
        }
    }
}
