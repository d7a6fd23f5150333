//! `rpcbench`: arguments, printing, exit codes.

mod args;
mod commands;
mod context;
mod progress;

use std::process::ExitCode;

use anstream::eprintln;
use clap::Parser;

use args::{Cli, Command};
use context::Context;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// Done: 0.
    Done,
    /// Done, and the answer is no: 1.
    Against,
    /// Stopped before it was done: 2.
    Stopped,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let context = Context::new(cli.global);
    match dispatch(&context, cli.command) {
        Ok(Verdict::Done) => ExitCode::SUCCESS,
        Ok(Verdict::Against) => ExitCode::from(1),
        Ok(Verdict::Stopped) => ExitCode::from(2),
        Err(error) => {
            let text = format!("{error:#}");
            let lines: Vec<_> = text.lines().map(rpcbench_record::printable).collect();
            eprintln!("rpcbench: {}", lines.join("\n"));
            ExitCode::from(2)
        }
    }
}

fn dispatch(context: &Context, command: Command) -> anyhow::Result<Verdict> {
    match command {
        Command::Run(args) => commands::run::run(context, &args),
        Command::Check(args) => commands::check::check(context, &args),
        Command::Build(args) => commands::build::build(context, &args),
        Command::List(args) => commands::list::list(context, &args),
        Command::Doctor(args) => commands::doctor::doctor(context, &args),
        Command::Report(args) => commands::report::report(context, &args),
        Command::Compare(args) => commands::compare::compare(context, &args),
        Command::Load(args) => commands::load::load(context, &args),
        Command::Completions(args) => commands::completions::completions(&args),
    }
}
