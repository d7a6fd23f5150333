//! `rpcbench history`.

use anyhow::{Context as _, bail};
use rpcbench_report::{Document, History, HistoryBuilder};

use super::report::{document_format, records};
use super::shared;
use crate::Verdict;
use crate::args::HistoryArgs;
use crate::context::Context;
use crate::print::{note, print};

pub fn history(context: &Context, args: &HistoryArgs) -> anyhow::Result<Verdict> {
    let results = args.results.display();
    if shared::is_server(context, &results.to_string()) {
        bail!(
            "{results} is a server; history takes the folder with the runs first, such as: rpcbench history results {results}"
        );
    }
    let history = read(args)?;
    if history.cells.is_empty() && history.loads.is_empty() {
        let servers = match args.servers.as_slice() {
            [] => "a server".to_owned(),
            named => named.join(" or "),
        };
        bail!("no run in {results} measured {servers}");
    }
    let document = Document::of_history(&history);
    print(&document.render(document_format(args.format), context.style)?)?;
    Ok(Verdict::Done)
}

/// The history of all readable runs. A broken record does not hide the others.
fn read(args: &HistoryArgs) -> anyhow::Result<History> {
    let folder = args.results.display();
    let none =
        || format!("{folder}: no runs here; create some with `rpcbench run`, or name their folder");
    let mut history = HistoryBuilder::new(args.servers.clone(), args.precision);
    let mut is_empty = true;
    for record in records(&args.results).with_context(none)? {
        match rpcbench_record::read(&record) {
            Ok(run) => history.add(&run),
            Err(error) => {
                note!("rpcbench: {} is left out: {error}", record.display());
                continue;
            }
        }
        is_empty = false;
    }
    match is_empty {
        true => bail!(none()),
        false => Ok(history.finish()),
    }
}
