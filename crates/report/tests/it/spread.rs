//! How far equals differ.

use rpcbench_report::spreads;

use crate::builder::RunBuilder;

fn percent(share: f64) -> f64 {
    (share * 1000.0).round() / 10.0
}

#[test]
fn spread_covers_means_and_trials() {
    let run = RunBuilder::new()
        .with("go-grpc", &[20_000, 22_000], |_| {})
        .with("go-grpc#2", &[21_000, 25_000], |_| {})
        .run;
    let spreads = spreads(&run);
    let figures: Vec<_> = spreads.iter().map(|spread| spread.figure).collect();
    assert_eq!(figures, ["calls/s", "calls per server CPU-second", "p99"]);
    // Means 21,000 and 23,000, trials from 20,000 to 25,000; 22,000 over all.
    for spread in &spreads[..2] {
        assert_eq!((percent(spread.between), percent(spread.trials)), (9.1, 22.7));
    }
}

#[test]
fn spread_leaves_out_missing_figures() {
    assert_eq!(spreads(&RunBuilder::new().with("go-grpc", &[20_000], |_| {}).run), []);
    let mut blind = RunBuilder::new().with("go-grpc", &[20_000, 20_000], |t| t.server = None).run;
    let figures: Vec<_> = spreads(&blind).iter().map(|spread| spread.figure).collect();
    assert_eq!(figures, ["calls/s", "p99"]);
    blind.trials.clear();
    assert_eq!(spreads(&blind), []);
}
