//! Several loads on one address: a search for the highest rate, or a sweep over rates.

use anstream::eprintln;
use anyhow::{Context as _, bail};
use rpcbench_engine::Unmeasured;
use rpcbench_harness::search::{PRECISION, Search, Sweep, at_rate};
use rpcbench_record::{Arrivals, Measured, NotMet, PerSecond, Rate, StepVerdict, Threshold};
use rpcbench_report::{
    LoadCurve, LoadPoint, curve_csv, curve_json, curve_markdown, curve_text, format::plural, found,
};

use super::act::{Act, Stopped};
use super::plan::Planned;
use crate::Verdict;
use crate::args::{Format, LoadArgs};
use crate::commands::scene;
use crate::context::Context;

/// What came of several loads.
struct Curve {
    points: Vec<LoadPoint>,
    search: Option<rpcbench_record::Search>,
    /// Ctrl-C came before the end.
    stopped: bool,
}

pub fn load(
    context: &Context,
    args: &LoadArgs,
    planned: &Planned,
    cpus: &[u32],
) -> anyhow::Result<Verdict> {
    args.several.find_max.map_or(Ok(()), Search::check)?;
    let mut act = Act::begin(context, planned, cpus, (None, args.results.quiet))?;
    let sweep = args.several.sweep.as_ref();
    let shares = sweep.map_or(planned.workload.arrivals.needs_capacity(), Sweep::needs_capacity);
    let capacity = match shares {
        true => Some(act.capacity(None, &mut Unmeasured::default())?.calls_per_s),
        false => None,
    };
    let curve = match (sweep, args.several.find_max) {
        (Some(sweep), _) => swept(&mut act, planned, sweep, capacity)?,
        (None, Some(threshold)) => searched(&mut act, planned, threshold, capacity)?,
        (None, None) => Curve { points: Vec::new(), search: None, stopped: false },
    };
    act.live.finish();
    if curve.stopped && curve.points.is_empty() {
        bail!(Stopped);
    }
    let shown = LoadCurve {
        address: &args.address.to_string(),
        workload: &planned.workload,
        capacity,
        points: &curve.points,
        search: curve.search.as_ref(),
    };
    let text = match args.results.format {
        Format::Table => curve_text(&shown, context.style),
        Format::Markdown => curve_markdown(&shown),
        Format::Json => curve_json(&shown)?,
        Format::Csv => curve_csv(&shown)?,
    };
    scene::print(&text)?;
    if curve.stopped {
        let loads = plural(curve.points.len() as u64, "load");
        eprintln!("rpcbench: stopped after {loads}; this is what there is");
        return Ok(Verdict::Stopped);
    }
    let against = why_against(&curve, &shown);
    if let Some(why) = &against {
        eprintln!("rpcbench: {why}");
    }
    Ok(if against.is_some() { Verdict::Against } else { Verdict::Done })
}

/// The rate in calls a second.
fn known(rate: Rate, capacity: Option<f64>) -> anyhow::Result<PerSecond> {
    let found = capacity.unwrap_or_default();
    rate.resolve(found).with_context(|| {
        format!("{rate}: no rate is a share of {found} calls/s, the capacity found")
    })
}

/// A window at that rate, told of once it has a verdict.
fn window(act: &mut Act, planned: &Planned, rate: PerSecond) -> anyhow::Result<Measured> {
    let arrivals = at_rate(planned.workload.arrivals, Rate::PerSecond(rate))
        .with_context(|| format!("--arrivals {}: it has no one rate", planned.workload.arrivals))?;
    act.window_at(arrivals)
}

fn swept(
    act: &mut Act,
    planned: &Planned,
    sweep: &Sweep,
    capacity: Option<f64>,
) -> anyhow::Result<Curve> {
    let mut points = Vec::new();
    for share in sweep.rates() {
        let rate = known(*share, capacity)?;
        let measured = match window(act, planned, rate) {
            Err(error) if error.is::<Stopped>() => break,
            measured => measured?,
        };
        let point = LoadPoint::swept(rate, measured, &planned.workload);
        act.live.keep(&point.line());
        points.push(point);
    }
    Ok(Curve { points, search: None, stopped: act.is_stopped() })
}

fn searched(
    act: &mut Act,
    planned: &Planned,
    threshold: Threshold,
    capacity: Option<f64>,
) -> anyhow::Result<Curve> {
    let first = match planned.workload.arrivals {
        Arrivals::Constant { rate } | Arrivals::Poisson { rate } => known(rate, capacity)?,
        other => anyhow::bail!("--arrivals {other}: it has no one rate"),
    };
    let mut search = Search::new(threshold, first, PRECISION)?;
    while let Some(rate) = search.rate() {
        let measured = match window(act, planned, rate) {
            Err(error) if error.is::<Stopped>() => break,
            measured => measured?,
        };
        if search.tell(measured).is_some()
            && let Some(step) = search.record().steps.last()
        {
            act.live.keep(&point(step).line());
        }
    }
    let record = search.into_record();
    let points = record.steps.iter().map(point).collect();
    Ok(Curve { points, search: Some(record), stopped: act.is_stopped() })
}

fn point(step: &rpcbench_record::SearchStep) -> LoadPoint {
    let (windows, verdict) = (step.windows.clone(), step.verdict.to_string());
    LoadPoint { rate: step.rate, windows, verdict }
}

/// Why the loads as a whole are a verdict against.
fn why_against(curve: &Curve, shown: &LoadCurve) -> Option<String> {
    let late = match &curve.search {
        Some(search) => search
            .unmet()
            .is_some_and(|unmet| unmet.verdict == StepVerdict::NotMet(NotMet::GeneratorLate)),
        None => curve.points.iter().any(|point| point.verdict == "generator late"),
    };
    if late {
        return Some(
            "generator late: the client fell behind its own schedule, so its limit is shown and not the \
             server's; take more --client-threads, or free CPUs"
                .to_owned(),
        );
    }
    let nothing = curve.search.as_ref().is_some_and(|search| search.met().is_none());
    let suspect = curve.points.iter().any(|point| point.verdict == "suspect");
    match (nothing, suspect) {
        (true, _) => found(shown),
        (_, true) => Some("the figures of a load contradict each other".to_owned()),
        _ => None,
    }
}
