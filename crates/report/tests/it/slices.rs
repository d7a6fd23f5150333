//! Windows in slices.

use rpcbench_record::{Measured, RankedBy, Slicing, TrialResult, observations};
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
    let text = text(&summary(&run.run), Style::default(), &Layout::default());
    let said = "All were measured in the same seconds: they took turns, in slices of 180ms.";
    assert!(text.replace('\n', " ").contains(said), "{text}");
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
