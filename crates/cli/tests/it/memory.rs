//! Servers that take more memory than they may.

use crate::bench::Bench;
use crate::kernel::has_cgroups;

#[test]
fn server_over_its_limit_is_out_of_memory() {
    if !has_cgroups() {
        return;
    }
    // 40 MiB by the end of the check.
    let bench = Bench::new().variant("leaks", "--behaviour eat-memory:8192");
    let words = "run @leaks @eat-memory @eat-memory-at-start @honest --memory 64M --warmup none";
    let ended = bench.run(&format!("{words} --duration 1s")).expect(1);
    ended.shows(&["testkit-liar@eat-memory: failed: out of memory (limit 64 MiB)"]);
    let cells = bench.cells();
    for server in ["leaks", "eat-memory", "eat-memory-at-start"] {
        cells.failed(server, "out of memory (limit 64 MiB)");
    }
    cells.measured("honest");
    assert!(bench.record().trials.iter().any(|t| t.entry == "testkit-liar@leaks"), "under load");
}
