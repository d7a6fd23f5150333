//! A client that lacks CPU time is reported, and its figures are not ranked.

use std::sync::atomic::{AtomicBool, Ordering};

use rpcbench_harness::host::cpus::{Topology, pin_this_thread};
use rpcbench_testkit::skip;

use crate::bench::Bench;

/// Threads that want the load thread's CPU: it gets about a thirtieth of it.
const HOGS: usize = 30;

/// Ends the hogs when dropped.
struct Hogs<'a>(&'a AtomicBool);

impl Drop for Hogs<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn client_without_its_cpu_is_reported() {
    let split = Topology::read().unwrap().split(1, 1);
    if split.is_shared() {
        skip(split.notes.join("; "));
        return;
    }
    let bench = Bench::alone();
    let stop = AtomicBool::new(false);
    let ended = std::thread::scope(|scope| {
        let _hogs = Hogs(&stop);
        // Enough calls that the client never waits for the server once it has next to no CPU.
        let load = "--connections 50 --in-flight-per-connection 400 --timeout 60s --grace 30s";
        let words = format!("run @honest --rounds 1 --duration 2s {load} -v");
        let mut program = bench.start(&words);
        program.await_line("measuring, trial 1");
        for _ in 0..HOGS {
            scope.spawn(|| {
                pin_this_thread(&split.client).unwrap();
                while !stop.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        program.finish().expect(0)
    });
    // How the hogs are scheduled decides by which of the two it shows.
    let shares = ["the busiest client thread was at ", "a load thread did not run for "];
    assert!(shares.iter().any(|share| ended.out.contains(share)), "{}", ended.out);
    let cells = bench.cells();
    assert_ne!(cells.verdict("honest"), "ok", "{}", ended.out);
    assert!(cells.of("honest")["place_best"].is_null());
}
