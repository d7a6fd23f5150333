//! `rpcbench completions`.

use clap::CommandFactory;

use crate::Verdict;
use crate::args::{Cli, CompletionsArgs};
use crate::print::print;

pub fn completions(args: &CompletionsArgs) -> anyhow::Result<Verdict> {
    let mut command = Cli::command();
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "rpcbench", &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(Verdict::Done)
}
