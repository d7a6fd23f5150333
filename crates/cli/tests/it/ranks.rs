//! Equal servers share a rank, and unequal ones do not.

use crate::bench::Bench;

/// Equal servers are called different in one run of twenty at most; a second chance makes that one in 400.
#[test]
fn the_same_server_twice_shares_its_place_and_a_slower_one_does_not() {
    let shared = (0..2).any(|_| {
        let bench = Bench::alone()
            .variant("busy-100", "--behaviour busy:100")
            .variant("busy-500", "--behaviour busy:500");
        let words = "run @busy-100 @busy-100 @busy-500 --processes 3 --rounds 2 --duration 300ms";
        let ended = bench.run(words).expect(0);
        let cells = bench.cells();
        let place = |name: &str| {
            let cell = cells.of(name);
            (cell["place_best"].as_u64(), cell["place_worst"].as_u64())
        };
        assert_eq!(place("busy-500"), (Some(3), Some(3)), "{}", ended.out);
        assert_eq!(cells.of("busy-500")["leader_finding"], "faster", "{}", ended.out);
        let shared = ["busy-100", "busy-100#2"].map(place) == [(Some(1), Some(2)); 2];
        let rows = ended.out.lines().filter(|line| line.starts_with("  1-2  ")).count();
        assert_eq!(rows, if shared { 2 } else { 0 }, "{}", ended.out);
        shared
    });
    assert!(shared, "the same server differed clearly from itself twice in a row");
}
