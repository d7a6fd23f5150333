//! An unmanaged server: what is seen of it, and what is left alone.

use std::net::SocketAddr;
use std::time::Duration;

use rpcbench_harness::placement::{Capacity, Placement, Site, Unmanaged};
use rpcbench_record::{IsolationMode, TlsMode};
use rpcbench_testkit::wait_until;

use crate::support::{Shell, cpus, ways};

fn nowhere() -> SocketAddr {
    "127.0.0.1:1".parse().unwrap()
}

#[test]
fn bare_address_has_no_counters() {
    let placement = Unmanaged::new(nowhere().into(), None).unwrap();
    assert!(placement.is_local() && !placement.is_managed());
    let all = u32::try_from(cpus().len()).unwrap();
    let capacity = Capacity { cpus: all, memory_bytes: None };
    assert_eq!(placement.capacity().unwrap(), capacity);
    let elsewhere: SocketAddr = "192.0.2.1:1".parse().unwrap();
    assert!(!Unmanaged::new(elsewhere.into(), None).unwrap().is_local());
    let mut server = placement.start(1, TlsMode::Off).unwrap();
    assert_eq!(server.endpoint().authority, "127.0.0.1:1");
    assert_eq!((server.sample().unwrap(), server.sample_cpu().unwrap()), (None, None));
    assert_eq!(server.ended(Duration::ZERO).unwrap(), None);
    assert_eq!(server.log_tail(9), [""; 0]);
    let isolation = server.isolation();
    assert_eq!((isolation.mode, isolation.server_cpus), (IsolationMode::Unmanaged, Vec::new()));
    assert_eq!(isolation.notes, [""; 0]);
    server.stop().unwrap();
}

/// Its child's CPU time is its own, and nothing done to its placement ends it.
#[test]
fn process_is_watched_but_not_changed() {
    let way = ways().remove(0);
    let shell = Shell::new();
    let mut process = shell.start(&way, "(while :; do :; done) & echo > up; wait");
    shell.wait_for_file("up");
    let pid = process.pid().as_raw_pid().unsigned_abs();
    let placement = Unmanaged::new(nowhere().into(), Some(pid)).unwrap();
    assert_eq!(placement.capacity().unwrap().cpus as usize, cpus().len());
    assert_eq!(placement.isolation().server_cpus, cpus());
    let mut server = placement.start(1, TlsMode::Off).unwrap();
    assert_eq!(server.isolation().server_cpus, cpus());
    assert!(server.isolation().notes[0].contains("the same CPUs"));
    let first = server.sample().unwrap().unwrap();
    assert!(first.memory.anon > 0 && first.threads == 2, "{first:?}");
    server.freeze().unwrap();
    wait_until("CPU time", || {
        let now = server.sample().unwrap().unwrap();
        now.since(&first).cpu_seconds() > 0.1
    });
    server.wake().unwrap();
    server.stop().unwrap();
    assert_eq!(process.try_wait().unwrap(), None);
    let mut server = placement.start(1, TlsMode::Off).unwrap();
    process.kill().unwrap();
    assert_eq!((server.sample().unwrap(), server.sample_cpu().unwrap()), (None, None));
}

#[test]
fn missing_process_is_refused() {
    for pid in [0, u32::MAX, i32::MAX.unsigned_abs()] {
        let refused = Unmanaged::new(nowhere().into(), Some(pid)).unwrap_err().to_string();
        assert!(refused.contains(&format!("process {pid} can't be watched")), "{refused}");
        assert!(refused.contains("give the id of the server's process"), "{refused}");
    }
}
