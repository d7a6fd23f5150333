//! The counters against what the kernel tells a parent about its children. One test, alone in its process,
//! so that the children it has waited for are its own.

#[path = "it/support.rs"]
mod support;

use rpcbench_harness::host::isolation::Isolation;
use rpcbench_harness::host::meter::Meter;
use rpcbench_harness::host::process::Exit;
use rpcbench_harness::placement::Counters;
use rpcbench_record::{IsolationMode, ServerUsage};
use rpcbench_testkit::GIVE_UP;
use support::{Shell, ways};

/// Works in user mode, then in the kernel, in the leader and in a worker it waits for.
const BUSY: &str = "work() {
    i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done
    dd if=/dev/zero of=/dev/null bs=4096 count=300000 2>/dev/null
}
read go < gate; work; (work); echo > done; read go < gate";

#[test]
#[expect(clippy::print_stdout, reason = "shows how close they are")]
fn cpu_time_matches_getrusage() {
    for way in ways() {
        // Without a cgroup the clock tick limits what can be known.
        let allowed = match way.mode() {
            IsolationMode::Affinity => 0.05,
            _ => 0.02,
        };
        let before = children_seconds();
        let usage = run(&way);
        let expected = children_seconds() - before;
        let measured = usage.cpu_seconds();
        println!("{:?}: counted {measured:.4} s, getrusage {expected:.4} s", way.mode());
        assert!(expected > 0.2, "the child must have worked: {expected} s");
        assert!((measured / expected - 1.0).abs() < allowed, "{measured} s against {expected} s");
        assert!(usage.cpu_user_ns > 0 && usage.cpu_system_ns > 0);
        assert!(usage.interval_ns as f64 / 1e9 >= measured / 2.0);
    }
}

fn run(way: &Isolation) -> ServerUsage {
    let shell = Shell::new();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        shell.path("gate"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RWXU,
        0,
    )
    .unwrap();
    let mut server = shell.start(way, BUSY);
    let mut meter = Meter::new(&[]);
    let first = meter.read(server.group()).unwrap();
    std::fs::write(shell.path("gate"), "go\n").unwrap();
    shell.wait_for_file("done");
    let last = meter.read(server.group()).unwrap();
    std::fs::write(shell.path("gate"), "go\n").unwrap();
    assert_eq!(server.wait(GIVE_UP).unwrap(), Some(Exit::Code(0)));
    check_state(&last);
    last.since(&first)
}

fn check_state(counters: &Counters) {
    assert_eq!(counters.threads, 1);
    assert!(counters.memory.anon > 0);
    assert!(counters.memory_peak >= counters.memory.anon);
}

fn children_seconds() -> f64 {
    // SAFETY: rusage is a struct of integers, for which zero is a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a live rusage, which the call fills.
    let done = unsafe { libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut usage) };
    assert_eq!(done, 0);
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}
