//! `rpcbench load`.

use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;

use anstream::{eprintln, print};
use anyhow::Context as _;
use rpcbench_contract::Corpus;
use rpcbench_engine::clock::{self, Nanos};
use rpcbench_engine::{LoadPlan, Payload, Session, Span, Unmeasured};
use rpcbench_harness::counters::MachineReading;
use rpcbench_harness::cpus::Topology;
use rpcbench_record::{Measured, WarmUp, Workload};
use rpcbench_report::{Load, load_csv, load_json, load_markdown, load_text};

use super::scene;
use crate::Verdict;
use crate::args::{Address, Format, LoadArgs};
use crate::context::Context;

/// How long opening all connections may take.
const CONNECT_TIMEOUT: Nanos = Nanos::from_millis(10_000);

pub fn load(context: &Context, args: &LoadArgs) -> anyhow::Result<Verdict> {
    let workload = args.workload()?;
    let (measured, before) = measure(args, &workload)?;
    let address = args.address.to_string();
    let load = Load { address: &address, workload: &workload, measured: &measured };
    let text = match args.format {
        Format::Table => load_text(&load, context.style),
        Format::Markdown => load_markdown(&load),
        Format::Json => load_json(&load)?,
        Format::Csv => load_csv(&load)?,
    };
    print!("{text}");
    if before.outcomes.errors() > 0 {
        let (failed, all) = (before.outcomes.errors(), before.outcomes.total());
        let example = before.examples.first().map(|e| format!(", such as: {e}"));
        eprintln!(
            "rpcbench: {failed} of {all} calls failed in the warm-up{}",
            example.unwrap_or_default()
        );
    }
    let failed =
        before.outcomes.errors() + measured.outcomes.errors() > 0 || measured.outcomes.ok == 0;
    Ok(if failed { Verdict::Against } else { Verdict::Done })
}

fn measure(args: &LoadArgs, workload: &Workload) -> anyhow::Result<(Measured, Unmeasured)> {
    let interrupt = scene::interrupt()?;
    let payload: Arc<dyn Payload> = Arc::new(Corpus::generate(&args.shape, args.seed));
    let plan = LoadPlan {
        address: resolve(&args.address)?,
        authority: args.address.to_string(),
        connections: workload.connections,
        in_flight: workload.in_flight,
        law: workload.law,
        threads: workload.client_threads,
        cpus: Vec::new(),
        timeout: Nanos::from_millis(workload.timeout_ms),
        grace: Nanos::from_millis(workload.grace_ms),
        connect_timeout: CONNECT_TIMEOUT,
        first_entry: 0,
    };
    let cpus = Topology::read().context("CPUs that this process may use")?.cpus();
    let mut session = Session::open(&plan, &payload)?;
    session.start();
    let warm_up = match workload.warm_up {
        WarmUp::Fixed { length_ms } => Nanos::from_millis(length_ms),
        WarmUp::UntilSteady { .. } => Nanos(0),
    };
    let start = clock::now() + warm_up;
    let span = Span { start, end: start + Nanos::from_millis(workload.window.length_ms()) };
    session.measure(span);
    interrupt.wait_until(span.start)?;
    let first = MachineReading::read(&[], &cpus)?;
    interrupt.wait_until(span.end)?;
    let last = MachineReading::read(&[], &cpus)?;
    let measurement = session.finish()?;
    let before = measurement.unmeasured.clone();
    Ok((measurement.into_measured(None, last.since(&first)), before))
}

fn resolve(address: &Address) -> anyhow::Result<SocketAddr> {
    let mut found = (address.host.as_str(), address.port)
        .to_socket_addrs()
        .with_context(|| format!("{}: no such host", address.host))?;
    found.next().with_context(|| format!("{}: no address", address.host))
}
