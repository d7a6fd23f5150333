//! `rpcbench completions`.

use clap::CommandFactory;

use crate::Verdict;
use crate::args::{Cli, CompletionsArgs};

pub fn completions(args: &CompletionsArgs) -> anyhow::Result<Verdict> {
    let mut command = Cli::command();
    clap_complete::generate(args.shell, &mut command, "rpcbench", &mut std::io::stdout());
    Ok(Verdict::Done)
}
