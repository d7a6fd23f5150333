//! Servers of different protocols: proven by the cases that each protocol offers, and ranked in one table.

use crate::bench::Bench;

#[test]
fn floor_passes_the_cases_it_can() {
    let ended = Bench::new().run("check testkit-floor").expect(0);
    assert!(ended.out.starts_with("testkit-floor "), "{}", ended.out);
    ended.shows(&["passed: 21 cases"]);
}

#[test]
fn table_ranks_across_protocols() {
    let bench = Bench::new();
    let ended = bench.run("run @honest testkit-floor --rounds 2").expect(0);
    ended.shows(&["protocol", "tcp-echo", "grpc", "testkit-floor"]);
    let cells = bench.cells();
    for (name, protocol) in [("testkit-liar@honest", "grpc"), ("testkit-floor", "tcp-echo")] {
        let cell = cells.entry(name);
        assert_eq!(
            (cell["protocol"].as_str(), cell["trials_measured"].as_u64()),
            (Some(protocol), Some(2))
        );
    }
}

#[test]
fn protocol_selects_its_entries() {
    let bench = Bench::new();
    let ended = bench.run("run @honest testkit-floor --protocol tcp-echo --rounds 2").expect(0);
    assert!(!ended.out.contains("testkit-liar"), "{}", ended.out);
    let none = bench.run("run @honest --protocol tcp-echo").expect(2);
    none.complains(&["no server speaks tcp-echo"]);
}
