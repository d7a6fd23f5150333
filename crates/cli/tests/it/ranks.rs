//! Equal servers tie, and unequal ones do not.

use crate::bench::Bench;

/// Equal means have 95 % intervals of three trials apart once in 200 times by chance alone; a second chance
/// makes that once in 40,000.
#[test]
fn the_same_server_twice_ties_and_a_slower_one_does_not() {
    let tie = (0..2).any(|_| {
        let bench = Bench::alone()
            .variant("dear", "--behaviour busy:100")
            .variant("dearer", "--behaviour busy:500");
        let ended = bench.run("run @dear @dear @dearer --rounds 3 --duration 500ms").expect(0);
        let cells = bench.cells();
        let dearer = cells.of("dearer");
        assert_eq!((&dearer["rank"], &dearer["tied"]), (&3.into(), &false.into()), "{}", ended.out);
        let ranks =
            ["dear", "dear#2"].map(|name| (&cells.of(name)["rank"], &cells.of(name)["tied"]));
        let tie = ranks.iter().all(|rank| *rank == (&1.into(), &true.into()));
        assert_eq!(tie, ended.out.contains("A tie at the top: "), "{}", ended.out);
        assert_eq!(tie, ended.out.lines().filter(|line| line.starts_with("=1 ")).count() == 2);
        tie
    });
    assert!(tie, "the same server was told apart from itself twice in a row");
}
