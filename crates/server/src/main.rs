//! The program `stoa`.

use clap::Parser;
use std::process::ExitCode;
use stoa_server::command::Command;

#[global_allocator]
static ALLOCATOR: stoa_server::allocator::Allocator = stoa_server::allocator::Allocator;

/// A SQL database over wide-column storage: PostgreSQL's dialect and protocol.
#[derive(Parser, Debug)]
#[command(name = "stoa", version, about)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

fn main() -> ExitCode {
    let filter = tracing_subscriber::EnvFilter::try_from_env("STOA_LOG").unwrap_or_else(|_| "info,zookeeper_client=warn".into());
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
    match Arguments::parse().command.run() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("stoa: {error}");
            ExitCode::FAILURE
        }
    }
}
