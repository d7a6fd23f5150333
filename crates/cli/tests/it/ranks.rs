//! Equal servers share a rank, and unequal ones do not.

use crate::bench::Bench;
use crate::scripted::script;

#[test]
fn equal_servers_share_a_place_and_a_slower_one_does_not() {
    let bench = Bench::new().variant("slower", "--behaviour honest");
    bench.run("run @honest @honest @slower --processes 3 --rounds 2 --duration 300ms").expect(0);
    let costs = [("testkit-liar@honest", 100e3), ("testkit-liar@honest#2", 100.5e3)];
    script(&bench.results(), |trial| {
        costs.iter().find(|(entry, _)| *entry == trial.entry).map_or(500e3, |(_, cost)| *cost)
    });
    let cells = bench.cells();
    let place = |name: &str| {
        let cell = cells.of(name);
        (cell["place_best"].as_u64(), cell["place_worst"].as_u64())
    };
    assert_eq!(["honest", "honest#2"].map(place), [(Some(1), Some(2)); 2]);
    assert_eq!(place("slower"), (Some(3), Some(3)));
    assert_eq!(cells.of("slower")["leader_finding"], "faster");
    let shown = bench.run(&format!("report {}", bench.results().display())).expect(0).out;
    assert_eq!(shown.lines().filter(|line| line.starts_with("  1-2  ")).count(), 2, "{shown}");
}
