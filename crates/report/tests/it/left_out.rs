//! Notes on what figures leave out.

use rpcbench_record::TrialResult;
use rpcbench_report::summary;

use crate::builder::{RunBuilder, measured};

#[test]
fn page_cache_and_cpu_time_at_rest_are_noted() {
    let notes = |cache_mib: u64, rest_s: u64, rest_cpu_ms: u64| {
        let mut trial = measured(20_000);
        let server = trial.server.as_mut().expect("its usage");
        server.memory_cache_bytes = Some(cache_mib << 20);
        (server.rest_ns, server.rest_cpu_ns) = (rest_s * 1_000_000_000, rest_cpu_ms * 1_000_000);
        let run = RunBuilder::new().results("go-grpc", vec![TrialResult::from(trial)]);
        summary(&run.run).tables[0].rows[0].notes.clone()
    };
    assert_eq!(notes(40, 9, 9000), [""; 0]);
    let cache =
        "300 MiB of page cache, such as files that it has mapped, are not counted as memory";
    assert_eq!(notes(300, 60, 600), [cache]);
    let rest = "it used 25 % of a CPU while it had no calls, until it was frozen for that";
    assert_eq!(notes(40, 60, 15_000), [rest]);
}
