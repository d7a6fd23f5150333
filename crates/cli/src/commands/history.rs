//! `rpcbench history`.

use anyhow::{Context as _, bail};
use rpcbench_record::{PlacementKind, Run};
use rpcbench_report::{history_csv, history_json, history_markdown, history_text};

use super::report::records;
use crate::Verdict;
use crate::args::{Format, HistoryArgs};
use crate::context::Context;
use crate::print::{note, print};

pub fn history(context: &Context, args: &HistoryArgs) -> anyhow::Result<Verdict> {
    let runs = runs(args)?;
    let history = rpcbench_report::history(&runs, &args.servers, args.precision);
    if history.cells.is_empty() {
        let servers = match args.servers.as_slice() {
            [] => "a server".to_owned(),
            named => named.join(" or "),
        };
        bail!("no run in {} has measured {servers}", args.results.display());
    }
    print(&match args.format {
        Format::Table => history_text(&history, context.style),
        Format::Markdown => history_markdown(&history),
        Format::Json => history_json(&history)?,
        Format::Csv => history_csv(&history)?,
    })?;
    Ok(Verdict::Done)
}

/// Those that can be read; loads of addresses are none. What is wrong with one is in no other's way.
fn runs(args: &HistoryArgs) -> anyhow::Result<Vec<Run>> {
    let folder = args.results.display();
    let none =
        || format!("{folder}: no runs here; make some with `rpcbench run`, or name their folder");
    let mut runs = Vec::new();
    for record in records(&args.results).with_context(none)? {
        match rpcbench_record::read(&record) {
            Ok(run) if run.header.plan.placement == PlacementKind::Native => runs.push(run),
            Ok(_) => {}
            Err(error) => note!("rpcbench: {} is left out: {error}", record.display()),
        }
    }
    match runs.is_empty() {
        true => bail!(none()),
        false => Ok(runs),
    }
}
