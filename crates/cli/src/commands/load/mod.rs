//! `rpcbench load`.

mod act;
mod files;
mod live;
mod plan;
mod several;

use std::io::Write as _;

use anstream::eprintln;
use anyhow::Context as _;
use rpcbench_harness::cpus::Topology;
use rpcbench_harness::machine::fingerprint;
use rpcbench_record::{IsolationMode, LoadRecord, Protocol, SCHEMA};
use rpcbench_report::{
    LoadVerdict, cut_short, exceeded, lateness, load_csv, load_hdr, load_json, load_markdown,
    load_text, overload, tolerates_errors,
};

use super::run::tool;
use super::scene;
use crate::Verdict;
use crate::args::{Format, LoadArgs};
use crate::context::Context;
use act::Loaded;
pub use files::OutFile;
use plan::Planned;

pub fn load(context: &Context, args: &LoadArgs) -> anyhow::Result<Verdict> {
    let planned = Planned::from(args)?;
    let topology = Topology::read().context("CPUs that this process may use")?;
    if args.several.find_max.is_some() || args.several.sweep.is_some() {
        return several::load(context, args, &planned, &topology.cpus());
    }
    let open = |path: &Option<_>| path.as_deref().map(OutFile::open).transpose();
    let results = &args.results;
    let (out, hdr) = (open(&results.out)?, open(&results.hdr)?);
    let log = results.log.as_ref().map(super::calls_log::CallsLog::open).transpose()?;
    let loaded = act::measure(context, &planned, &topology.cpus(), (log, results.quiet))?;
    let record = record(context, args, &topology, (planned, &loaded));
    show(context, &record, results.format)?;
    told(&record, &loaded);
    write(out, |file| Ok(record.write(file)?))?;
    write(hdr, |file| Ok(file.write_all(load_hdr(&record).as_bytes())?))?;
    if let Some(log) = loaded.log {
        log.finish(record.measured.outcomes.total()).context(SHOWN)?;
    }
    Ok(match (cut_short(&record).is_some(), against(&record)) {
        (true, _) => Verdict::Stopped,
        (false, true) => Verdict::Against,
        (false, false) => Verdict::Done,
    })
}

/// What is left when a file can't be written.
const SHOWN: &str = "the results above are complete, but a file could not be written";

fn write(
    file: Option<OutFile>,
    content: impl FnOnce(&mut OutFile) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let Some(mut file) = file else { return Ok(()) };
    content(&mut file)
        .with_context(|| file.path().display().to_string())
        .and_then(|()| file.commit())
        .context(SHOWN)
}

fn record(
    context: &Context,
    args: &LoadArgs,
    topology: &Topology,
    (planned, loaded): (Planned, &Loaded),
) -> LoadRecord {
    let mut workload = planned.workload;
    workload.arrivals = loaded.arrivals;
    LoadRecord {
        schema: SCHEMA,
        tool: tool(),
        arguments: context.arguments.clone(),
        started: loaded.started,
        machine: fingerprint(topology, IsolationMode::Affinity),
        address: args.address.to_string(),
        protocol: Protocol::Grpc,
        workload,
        seed: args.seed,
        capacity: loaded.capacity,
        fail_if: args.results.fail_if.clone(),
        warm_up: loaded.before.outcomes.clone(),
        measured: loaded.measured.clone(),
    }
}

/// Prints a load.
pub fn show(context: &Context, record: &LoadRecord, format: Format) -> anyhow::Result<()> {
    let text = match format {
        Format::Table => load_text(record, context.style),
        Format::Markdown => load_markdown(record),
        Format::Json => load_json(record)?,
        Format::Csv => load_csv(record)?,
    };
    scene::print(&text)
}

/// Says on standard error what makes the verdict one against.
fn told(record: &LoadRecord, loaded: &Loaded) {
    let failed = record.warm_up.errors();
    if failed > 0 {
        let all = record.warm_up.total();
        let example = loaded.before.examples.first().map(|e| format!(", such as: {e}"));
        let example = example.unwrap_or_default();
        eprintln!("rpcbench: {failed} of {all} calls failed in the warm-up{example}");
    }
    for limit in exceeded(record) {
        eprintln!("rpcbench: --fail-if {limit}");
    }
    for line in [lateness(record), overload(record), cut_short(record)].into_iter().flatten() {
        eprintln!("rpcbench: {line}");
    }
}

/// Calls that failed in the warm-up count too, where no `--fail-if` says how many may.
fn against(record: &LoadRecord) -> bool {
    let verdict = match LoadVerdict::of(record) {
        LoadVerdict::Failed
        | LoadVerdict::GeneratorLate
        | LoadVerdict::LimitExceeded
        | LoadVerdict::Overloaded => true,
        LoadVerdict::Ok | LoadVerdict::Suspect | LoadVerdict::ClientBound => false,
    };
    let limits = !exceeded(record).is_empty() || lateness(record).is_some();
    verdict || limits || (record.warm_up.errors() > 0 && !tolerates_errors(record))
}
