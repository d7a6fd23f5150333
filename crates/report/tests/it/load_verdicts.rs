//! The verdict of a single load.

use rpcbench_record::{ServerUsage, Window};
use rpcbench_report::{Style, View, cut_short};

use crate::builder::ok;
use crate::load::{failing, fine, limited, open, run_of};
use crate::render::plain;

#[test]
fn contradictory_load_is_suspect() {
    let mut load = fine();
    ok(&mut load.measured).mean_ns *= 2.0;
    assert_eq!(load.verdict().name(), "suspect");
    let text = plain(&load, Style::default());
    assert!(text.contains("suspect: 1,000 calls were in flight"), "{text}");
    assert!(load.checks_failed());
    assert!(load.complaints()[0].starts_with("suspect: 1,000 calls were in flight"));
}

#[test]
fn uncounted_due_call_is_suspect() {
    let mut load = open();
    assert_eq!(load.verdict().name(), "ok");
    let pacing = load.measured.pacing.as_mut().expect("an open loop");
    pacing.due += 1;
    assert_eq!(load.verdict().name(), "suspect");
    let text = plain(&load, Style::default());
    assert!(
        text.contains("suspect: its schedule made 294,001 calls due, its counters hold 294,000")
    );
}

#[test]
fn window_stopped_early_has_warning() {
    let mut load = fine();
    assert_eq!(cut_short(&load), None);
    load.workload.window = Window::Duration { length_ms: 3_600_000 };
    let said = cut_short(&load).expect("it is shorter");
    insta::assert_snapshot!(said, @"stopped after 3.00 s of 1h; these are the figures until then");
    assert_eq!(load.verdict().name(), "ok");
    assert!(plain(&load, Style::default()).contains(&said));
}

#[test]
fn late_client_is_blamed_above_1_percent() {
    let mut load = open();
    let pacing = load.measured.pacing.as_mut().expect("an open loop");
    pacing.late = pacing.due / 100;
    assert_eq!((load.verdict().name(), load.complaints()), ("ok", Vec::new()));
    load.measured.pacing.as_mut().expect("an open loop").late += 1;
    assert_eq!(load.verdict().name(), "generator late");
    insta::assert_snapshot!(load.complaints().join("\n"), @"generator late: the client started 1.0003 % of the calls more than 1 ms late, so these figures are not the server's; lower the rate, use more client threads, or free CPUs");
    // Lateness outweighs a client at its limit, and a contradiction outweighs lateness.
    load.measured.client.busiest_ns = load.measured.window_ns;
    assert_eq!(load.verdict().name(), "generator late");
    ok(&mut load.measured).count -= 1;
    assert_eq!(load.verdict().name(), "suspect");
}

#[test]
fn absent_client_is_blamed_in_closed_loop() {
    let mut load = fine();
    load.measured.client.longest_absence_ns = 150_000_000;
    assert_eq!((load.verdict().name(), load.complaints()), ("ok", Vec::new()));
    load.measured.client.longest_absence_ns = 1_000_000_000;
    assert_eq!(load.verdict().name(), "generator late");
    assert!(load.checks_failed());
    insta::assert_snapshot!(load.complaints().join("\n"), @"generator late: a load thread did not run for 1.00 s (window: 3.00 s), so calls waited for the client; free CPUs, and don't stop rpcbench");
    let text = plain(&load, Style::default());
    assert!(text.contains("generator late: a load thread did not run for 1.00 s"), "{text}");
    // In an open loop, late calls say it.
    let mut open = open();
    open.measured.client.longest_absence_ns = 1_000_000_000;
    assert_eq!(open.verdict().name(), "ok");
}

#[test]
fn load_is_disturbed_if_counters_were_read_late() {
    let mut load = fine();
    let usage = ServerUsage { interval_ns: 3_300_000_000, ..ServerUsage::default() };
    load.measured.server = Some(usage.clone());
    assert_ne!(load.verdict().name(), "disturbed");
    load.measured.server = Some(ServerUsage { interval_ns: 3_700_000_000, ..usage });
    assert_eq!(load.verdict().name(), "disturbed");
    let text = plain(&load, Style::default());
    let said =
        "disturbed: the server's CPU time was read over 3.70 s, 23 % off the window of 3.00 s";
    assert!(text.contains(said), "{text}");
    // A window of a number of calls ends long before counters can be read.
    load.workload.window = Window::Calls { calls: load.measured.outcomes.total() };
    assert_ne!(load.verdict().name(), "disturbed");
}

#[test]
fn remedy_for_a_busy_client_depends_on_its_connections() {
    let mut load = fine();
    load.measured.client.busiest_ns = load.measured.window_ns;
    let limit = "the client was the limit, the server can do more; ";
    let text = plain(&load, Style::default());
    assert!(text.contains(&format!("{limit}use more client threads")), "{text}");
    load.workload.connections = load.workload.client_threads;
    let text = plain(&load, Style::default());
    assert!(text.contains(&format!("{limit}use more connections, and more client")), "{text}");
}

#[test]
fn failures_within_and_outside_of_the_window_are_both_counted() {
    let mut load = failing();
    load.outside.outcomes.timeout = 7;
    let said = "1200 of 294000 calls failed in the window, and 7 of 98007 outside it";
    assert_eq!(load.complaints()[0], said);
}

#[test]
fn summary_shows_warnings_of_the_plan() {
    let mut load = fine();
    load.header.plan.warnings = vec!["--keepalive 30s: too often".to_owned()];
    let text = plain(&load, Style::default());
    assert!(text.contains("--keepalive 30s: too often"), "{text}");
}

#[test]
fn server_that_falls_behind_is_overloaded() {
    let mut load = open();
    for slice in &mut load.measured.series {
        slice.ok /= 2;
    }
    assert_eq!(load.verdict().name(), "overloaded");
    insta::assert_snapshot!(load.complaints().join("\n"), @"overloaded: 98.0k calls came due per second, 49.0k were answered in the second half of the window; response times only show how long that lasted; lower the rate");
    let text = plain(&load, Style::default());
    assert!(text.contains("ok calls/s   49.0k") && text.contains("  overloaded: "), "{text}");
    // A client at its limit outweighs it, and at a changing rate overload can't be judged.
    load.measured.client.busiest_ns = load.measured.window_ns;
    assert_eq!(load.verdict().name(), "client-bound");
    load.measured.client.busiest_ns = 0;
    load.workload.arrivals = "ramp:1..98000/3s".parse().expect("arrivals");
    assert_eq!((load.verdict().name(), load.complaints()), ("ok", Vec::new()));
}

#[test]
fn saturated_client_is_client_bound() {
    let mut load = fine();
    load.measured.client.busiest_ns = load.measured.window_ns / 10 * 9;
    assert_eq!(load.verdict().name(), "client-bound");
}

#[test]
fn saturated_client_fails_open_loop() {
    let mut load = open();
    load.measured.client.busiest_ns = load.measured.window_ns / 100 * 96;
    assert_eq!((load.verdict().name(), load.checks_failed()), ("client-bound", true));
    insta::assert_snapshot!(load.complaints().join("\n"));
    // A closed loop always reaches a limit, the client's or the server's.
    let mut load = fine();
    load.measured.client.busiest_ns = load.measured.window_ns;
    assert_eq!((load.verdict().name(), load.checks_failed()), ("client-bound", false));
}

#[test]
fn capacity_of_client_makes_load_client_bound() {
    let mut saturated = fine();
    saturated.measured.client.busiest_ns = saturated.measured.window_ns / 10 * 9;
    let run = run_of(&[(saturated.clone(), "closed"), (open(), "poisson:40%")]);
    let View::Load(load) = View::of(&run) else { panic!("no load") };
    assert_eq!((load.verdict().name(), load.checks_failed()), ("client-bound", true));
    assert!(plain(&*load, Style::default()).contains("closed loop of 3.00 s, client-bound"));
    insta::assert_snapshot!(load.complaints().join("\n"));
    let loads = [(saturated, "closed"), (open(), "poisson:40%"), (open(), "poisson:50%")];
    let View::Curve(curve) = View::of(&run_of(&loads)) else { panic!("no curve") };
    insta::assert_snapshot!(curve.complaint().expect("a complaint"));
}

#[test]
fn exceeded_limits_are_named_with_value() {
    let kept = ["p99>20ms", "max>20ms", "errors>0%", "rate<98000", "mean>10.3ms"];
    let load = limited(fine(), &kept);
    assert_eq!((load.verdict().name(), load.complaints()), ("ok", Vec::new()));
    let load = limited(fine(), &["p99>16ms", "p50>10ms", "rate<98001"]);
    assert_eq!(load.verdict().name(), "limit exceeded");
    assert_eq!(limited(fine(), &["errors<1%"]).verdict().name(), "limit exceeded");
    insta::assert_snapshot!(load.complaints().join("\n"), @"
    limit p99>16ms: p99 is 16.1 ms
    limit rate<98001: rate is 98.0k calls/s
    ");
    assert!(plain(&load, Style::default()).contains("  limit exceeded: p99>16ms: p99 is "));
}

#[test]
fn printed_figure_is_beyond_exceeded_limit() {
    let load = limited(fine(), &["p99<16.1ms", "rate<98000.4"]);
    assert_eq!(load.verdict().name(), "limit exceeded");
    let text = plain(&load, Style::default());
    for part in ["p99<16.1ms: p99 is 16.07 ms", "rate is 98.0k", "  16.07 ms  "] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let at_limit = |busiest_ns| {
        let mut load = open();
        load.measured.client.busiest_ns = busiest_ns;
        (
            load.verdict().name(),
            plain(&load, Style::default()).contains("90 % of a CPU: the busiest"),
        )
    };
    assert_eq!(at_limit(2_700_000_000), ("client-bound", true));
    assert_eq!(at_limit(2_699_000_000), ("ok", false));
}

#[test]
fn errors_within_limit_are_tolerated() {
    let verdict = |limits: &[&str]| {
        let mut load = limited(failing(), limits);
        load.measured.client.busiest_ns = 0;
        load.verdict().name()
    };
    assert_eq!(verdict(&["errors>0.5%"]), "ok");
    assert_eq!(verdict(&["errors>0.4%"]), "failed");
    assert_eq!(verdict(&["p99>1s"]), "failed");
    // 0.41 % of the calls have no right answer, and one call in a thousand is looked at.
    assert_eq!(verdict(&["errors>0.5%", "p99.9>3600s"]), "limit exceeded");
    assert_eq!(verdict(&["errors>0.5%", "p99>1s"]), "ok");
}
