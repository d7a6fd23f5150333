//! `rpcbench`: arguments, printing, exit codes.

mod args;
mod commands;
mod context;
mod live;
mod print;
mod progress;

use std::env;
use std::ffi::OsString;
use std::io;
use std::process::ExitCode;

use clap::Parser;
use clap::error::ContextKind;
use rpcbench_harness::interrupt::StopNow;
use rpcbench_harness::setup::SetupError;
use rpcbench_harness::spec::ConfigError;

use args::{Cli, Command};
use context::Context;
use print::{Unprinted, note};

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// Exit code 0.
    Done,
    /// A check or a limit failed: exit code 1.
    ChecksFailed,
    /// Stopped before the end: exit code 2.
    Stopped,
    /// No limit is known to be exceeded, but some can't be judged: exit code 3.
    Undecided,
    /// A limit of `--stop-if` ended a load: exit code 4.
    GaveUp,
}

fn main() -> ExitCode {
    if let Some(problem) = not_utf8(env::args_os()) {
        note!("rpcbench: {problem}");
        return ExitCode::from(2);
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return print_usage_error(error),
    };
    let context = Context::new(cli.global);
    match dispatch(&context, cli.command) {
        Ok(Verdict::Done) => ExitCode::SUCCESS,
        Ok(Verdict::ChecksFailed) => ExitCode::from(1),
        Ok(Verdict::Stopped) => ExitCode::from(2),
        Ok(Verdict::Undecided) => ExitCode::from(3),
        Ok(Verdict::GaveUp) => ExitCode::from(4),
        // The reaction to the signal was printed on standard error.
        Err(error) if is_stop(&error) => ExitCode::from(2),
        Err(error) if error.downcast_ref().is_some_and(Unprinted::is_pipe_closed) => {
            ExitCode::SUCCESS
        }
        Err(error) => {
            let text = describe(&error);
            let lines: Vec<_> = text.lines().map(rpcbench_record::printable).collect();
            note!("rpcbench: {}", lines.join("\n"));
            if is_config(&error) {
                print_hint(hint());
            }
            ExitCode::from(2)
        }
    }
}

fn is_stop(error: &anyhow::Error) -> bool {
    error.is::<StopNow>() || matches!(error.downcast_ref(), Some(SetupError::Stopped(_)))
}

/// True if the arguments are wrong.
fn is_config(error: &anyhow::Error) -> bool {
    error.is::<ConfigError>() || matches!(error.downcast_ref(), Some(SetupError::Config(_)))
}

/// What to use instead of an option of another tool, if the arguments contain one.
fn hint() -> Option<String> {
    let arguments: Vec<String> = env::args().collect();
    args::foreign::hint(&arguments)
}

fn print_hint(hint: Option<String>) {
    if let Some(hint) = hint {
        note!("\n{hint}");
    }
}

/// Reports arguments that are not UTF-8, which records require, as they keep and print arguments.
fn not_utf8(arguments: impl Iterator<Item = OsString>) -> Option<String> {
    let mut numbered = arguments.enumerate();
    let (number, argument) = numbered.find(|(_, argument)| argument.to_str().is_none())?;
    Some(format!(
        "argument {number}, {argument:?}, is not valid UTF-8; use another name, or a link with one"
    ))
}

/// Prints help, the version, or what is wrong with the arguments.
fn print_usage_error(mut error: clap::Error) -> ExitCode {
    let hint = if error.use_stderr() { hint() } else { None };
    if hint.is_some() {
        // These suggest options with similar names but other meanings.
        for of_clap in [ContextKind::SuggestedArg, ContextKind::Suggested, ContextKind::Usage] {
            error.remove(of_clap);
        }
    }
    match error.print() {
        Err(failed) if !error.use_stderr() && failed.kind() != io::ErrorKind::BrokenPipe => {
            note!("rpcbench: standard output: {failed}");
            ExitCode::from(2)
        }
        _ => {
            print_hint(hint);
            ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
        }
    }
}

/// An error and its causes. Each is printed once, as many errors already name their cause.
fn describe(error: &anyhow::Error) -> String {
    error.chain().map(ToString::to_string).fold(String::new(), |text, cause| {
        if text.contains(&cause) {
            text
        } else if text.is_empty() {
            cause
        } else {
            format!("{text}: {cause}")
        }
    })
}

fn dispatch(context: &Context, command: Command) -> anyhow::Result<Verdict> {
    match command {
        Command::Run(args) => commands::run::run(context, &args),
        Command::Check(args) => commands::check::check(context, &args),
        Command::Build(args) => commands::build::build(context, &args),
        Command::New(args) => commands::new::new(context, &args),
        Command::List(args) => commands::list::list(context, &args),
        Command::Doctor(args) => commands::doctor::doctor(context, &args),
        Command::Report(args) => commands::report::report(context, &args),
        Command::History(args) => commands::history::history(context, &args),
        Command::Compare(args) => commands::compare::compare(context, &args),
        Command::Serve(args) => commands::serve::serve(context, &args),
        Command::Load(args) => commands::load::load(context, &args),
        Command::Completions(args) => commands::completions::completions(&args),
    }
}

#[cfg(test)]
mod tests {
    use anyhow::Context as _;

    use super::*;

    #[test]
    fn cause_is_printed_once() {
        let full = io::Error::other("no space left");
        let own = anyhow::Error::from(full).context("run.json: no space left");
        assert_eq!(describe(&own.context("the record")), "the record: run.json: no space left");
        let plain: anyhow::Result<()> = Err(io::Error::other("refused")).context("a.hdr");
        assert_eq!(describe(&plain.unwrap_err()), "a.hdr: refused");
    }
}
