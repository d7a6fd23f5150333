//! Windows in slices.

use rpcbench_record::{
    Measured, RankedBy, Slicing, TrialResult, WarmCurve, WarmSlice, observations,
};
use rpcbench_report::{Layout, Style, summary};

use crate::builder::{RunBuilder, measured};
use crate::render::text;

pub const SLICING: Slicing = Slicing {
    slices: 17,
    counted_ns: 180_000_000,
    discarded_ns: 20_000_000,
    ended: jiff::Timestamp::UNIX_EPOCH,
};

fn slice(window: &mut Measured) {
    window.slicing = Some(SLICING);
}

#[test]
fn text_says_that_entries_were_measured_in_the_same_seconds() {
    let run = RunBuilder::new().with("go-grpc", &[25_000, 25_100, 25_050], slice).with(
        "rust-tonic",
        &[60_000, 60_100, 60_050],
        slice,
    );
    let said = |run: &RunBuilder| {
        let text = text(&summary(&run.run), Style::default(), &Layout::default());
        let text = text.replace('\n', " ");
        let at = text.find("All were measured").unwrap();
        text[at..].split_inclusive('.').next().unwrap().to_owned()
    };
    let how = "All were measured in the same seconds: they took turns, in slices of";
    assert_eq!(said(&run), format!("{how} 200ms, of which the last 180ms count."));
    let run = run.with("go-net-http", &[20_000, 20_100, 20_050], |window| {
        window.slicing = Some(Slicing { discarded_ns: 120_000_000, ..SLICING });
    });
    assert_eq!(said(&run), format!("{how} 200ms to 300ms, of which the last 180ms count."));
}

#[test]
fn windows_in_slices_and_in_one_piece_are_not_compared() {
    let whole = |rate| TrialResult::from(measured(rate));
    let sliced = |rate| {
        let mut window = measured(rate);
        slice(&mut window);
        TrialResult::from(window)
    };
    let run = RunBuilder::new()
        .results("go-grpc", vec![sliced(25_000), whole(30_000), sliced(25_100)])
        .results("rust-tonic", vec![whole(60_000), sliced(50_000), sliced(50_100)])
        .run;
    let seen = observations(&run, &run.header.plan.workloads[0], RankedBy::CallsPerSecond);
    assert_eq!(
        seen.iter().map(|it| it.value.round()).collect::<Vec<_>>(),
        [25_000.0, 25_100.0, 50_000.0, 50_100.0]
    );
}

/// At the end of its warm-up it answered 10,000 calls in a CPU-second; in its first second, which says nothing, many more.
#[test]
fn server_is_suspect_if_faster_in_slices_and_has_a_note_if_slower() {
    let judged = |rate: u64, change: fn(&mut WarmCurve), in_slices: bool| {
        let run = RunBuilder::new()
            .with("go-grpc", &[rate; 3], |t| t.slicing = in_slices.then_some(SLICING))
            .prepared(|it| {
                let slice = |n: u64| WarmSlice {
                    at_ms: n * 500,
                    calls: if n > 2 { 5000 } else { 50_000 },
                    server_cpu_ns: 500_000_000,
                    compiler_cpu_ns: 25_000_000,
                };
                let curve = it.warm.as_mut().expect("a curve");
                curve.slices = (1..=6).map(slice).collect();
                change(curve);
            });
        let row = summary(&run.run).tables[0].rows[0].clone();
        let (verdict, note) = (row.verdict, row.notes.into_iter().find(|it| it.contains("thawed")));
        (verdict.name(), verdict.reason, note)
    };
    let unchanged = |_: &mut WarmCurve| {};
    let compiling = |it: &mut WarmCurve| it.slices[5].compiler_cpu_ns += 1_000_000;
    let open = |it: &mut WarmCurve| it.steady_after_ms = None;
    let honest = [
        judged(15_800, unchanged, true),
        judged(6_300, unchanged, true),
        judged(20_000, unchanged, false),
        judged(20_000, compiling, true),
        judged(20_000, open, true),
    ];
    assert!(
        honest.iter().all(|(name, _, note)| *name != "suspect" && note.is_none()),
        "{honest:?}"
    );
    let (name, reason, _) = judged(15_900, unchanged, true);
    assert_eq!(name, "suspect");
    insta::assert_snapshot!(reason.expect("a reason"));
    let (name, _, note) = judged(6_100, unchanged, true);
    assert_ne!(name, "suspect");
    insta::assert_snapshot!(note.expect("a note"));
}
