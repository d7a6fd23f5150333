//! Two runs at once.

use rpcbench_record::Trial;
use rustix::process::Signal;

use crate::bench::Bench;

/// The later one says so at once, and both records do.
#[test]
fn runs_on_the_same_cpus_detect_each_other() {
    let bench = Bench::alone();
    let mut program = bench.start("run @honest --duration 1h -v --results first");
    program.await_line("measuring, trial 1");
    let ended = bench.start("run @honest").finish().expect(0);
    ended.complains(&[&format!("another run (process {}) measures on CPU ", program.pid())]);
    let windows = bench.record().trials;
    let rivals: Vec<u32> =
        windows.iter().filter_map(Trial::measured).map(|it| it.machine.rivals).collect();
    assert_eq!(rivals, vec![1; windows.len()]);
    ended.shows(&[&format!("had some of the same CPUs in {0} of {0} windows", windows.len())]);
    program.signal(Signal::INT);
    program.await_line("; once more to stop now");
    program.signal(Signal::INT);
    program.finish().expect(2);
}
