//! Memory, switches, threads and compiler threads of real processes.

use rpcbench_harness::host::meter::Meter;
use rpcbench_record::IsolationMode;
use rpcbench_testkit::wait_until;

use crate::support::{Shell, ways};

const MIB: u64 = 1 << 20;

#[test]
fn peak_memory_outlasts_the_memory() {
    for way in ways() {
        let shell = Shell::new();
        // 64 MiB in one variable, then none.
        let script = "x=$(head -c 67108864 /dev/zero | tr '\\0' x); x=; echo > done; sleep 1000";
        let server = shell.start(&way, script);
        shell.wait_for_file("done");
        let counters = Meter::new(&[]).read(server.group()).unwrap();
        assert!(counters.memory_peak > 60 * MIB, "{:?}: {counters:?}", way.mode());
        assert!(counters.memory_peak < 400 * MIB, "{:?}: {counters:?}", way.mode());
        assert!(counters.memory.anon < 40 * MIB, "{:?}: {counters:?}", way.mode());
    }
}

#[test]
fn reset_peak_is_forgotten() {
    for way in ways() {
        let shell = Shell::new();
        let script = "x=$(head -c 67108864 /dev/zero | tr '\\0' x); x=; echo > done; sleep 1000";
        let server = shell.start(&way, script);
        shell.wait_for_file("done");
        server.group().reset_peak().unwrap();
        let counters = Meter::new(&[]).read(server.group()).unwrap();
        assert!(counters.memory_peak < 40 * MIB, "{:?}: {counters:?}", way.mode());
    }
}

#[test]
fn memory_that_forked_processes_share_counts_once() {
    for way in ways() {
        let shell = Shell::new();
        let script = "x=$(head -c 67108864 /dev/zero | tr '\\0' x)
            (sleep 1000; :) & (sleep 1000; :) & (sleep 1000; :) & echo > done; wait";
        let server = shell.start(&way, script);
        shell.wait_for_file("done");
        let counters = Meter::new(&[]).read(server.group()).unwrap();
        assert!(counters.memory_peak > 60 * MIB, "{:?}: {counters:?}", way.mode());
        assert!(counters.memory_peak < 240 * MIB, "{:?}: {counters:?}", way.mode());
    }
}

#[test]
fn page_cache_is_not_the_servers_memory() {
    for way in ways().into_iter().filter(|way| way.mode() != IsolationMode::Affinity) {
        let shell = Shell::new();
        let script =
            "head -c 50000000 /dev/zero > big; cat big big > /dev/null; echo > done; sleep 1000";
        let server = shell.start(&way, script);
        shell.wait_for_file("done");
        let counters = Meter::new(&[]).read(server.group()).unwrap();
        assert!(counters.memory_peak < 10 * MIB, "{counters:?}");
        assert!(counters.memory.cache.unwrap() > 40 * MIB, "{counters:?}");
    }
}

/// It is what the report says is left out.
#[test]
fn memory_in_a_mapped_file_is_page_cache() {
    for way in ways().into_iter().filter(|way| way.mode() != IsolationMode::Affinity) {
        let shell = Shell::new();
        let script = r#"head -c 50000000 /dev/zero > big; exec python3 -c '
import mmap, time
file = open("big", "r+b")
memory = mmap.mmap(file.fileno(), 0)
for page in range(0, len(memory), mmap.PAGESIZE): memory[page] = 1
print(file=open("done", "w"))
time.sleep(1000)'"#;
        let server = shell.start(&way, script);
        shell.wait_for_file("done");
        let counters = Meter::new(&[]).read(server.group()).unwrap();
        assert!(counters.memory_peak < 40 * MIB, "{counters:?}");
        assert!(counters.memory.cache.unwrap() > 40 * MIB, "{counters:?}");
    }
}

#[test]
fn switches_and_threads_are_counted() {
    for way in ways() {
        let shell = Shell::new();
        let script = "sleep 1000 & i=0; while [ $i -lt 50 ]; do sleep 0.001; i=$((i+1)); done; echo > done; wait";
        let server = shell.start(&way, script);
        let mut meter = Meter::new(&[]);
        shell.wait_for_file("done");
        let counters = meter.read(server.group()).unwrap();
        // The shell waited 50 times for its child.
        assert!(counters.switches_voluntary >= 50, "{counters:?}");
        assert_eq!(counters.threads, 2);
    }
}

#[test]
fn compiler_threads_are_found_by_name() {
    for way in ways() {
        let shell = Shell::new();
        let script = "printf 'C2 CompilerThre' > /proc/$$/comm; echo > up; while :; do :; done";
        let server = shell.start(&way, script);
        shell.wait_for_file("up");
        let mut compiler = Meter::new(&["C2 CompilerThread".to_owned()]);
        let mut other = Meter::new(&["C1".to_owned()]);
        wait_until("compiler time", || {
            compiler.cpu(server.group()).unwrap().compiler_ns > 50_000_000
        });
        let reading = compiler.cpu(server.group()).unwrap();
        let later = compiler.cpu(server.group()).unwrap();
        assert!(reading.compiler_ns <= later.cpu_ns + 20_000_000, "{reading:?} {later:?}");
        assert_eq!(other.cpu(server.group()).unwrap().compiler_ns, 0);
        assert!(compiler.read(server.group()).unwrap().compiler_ns >= reading.compiler_ns);
    }
}
