//! A record on disk: written event by event, read back whole, gone on with after a crash.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;

use rpcbench_record::{
    ClientUsage, Cpu, Event, Failure, Header, Latency, Limits, Machine, MachineUsage, Machines,
    Measured, Outcomes, Pauses, PlacementKind, Plan, Run, RuntimeStatistics, SCHEMA, ServerMachine,
    ServerUsage, Slice, StoreError, Tool, Trial, TrialResult, Writer, read,
};

fn header() -> Header {
    Header {
        schema: SCHEMA,
        id: "019ca932-4c00-7000-8000-000000000001".parse().unwrap(),
        tool: Tool { version: "1.2.3".into(), commit: None, profile: "release".into() },
        arguments: vec!["run".into(), "go-grpc".into()],
        started: "2026-03-01T12:00:00Z".parse().unwrap(),
        machines: Machine {
            kernel: "6.1".into(),
            os: "Debian".into(),
            cpu: Cpu { model: "a".into(), logical: 2, cores: 2, governor: None, turbo: Some(true) },
            memory_bytes: 1 << 33,
            cgroup: "v2".into(),
            virtualization: None,
            clock_source: Some("tsc".into()),
            huge_pages: None,
            open_files: 1024,
        }
        .into(),
        plan: Plan {
            suite: "quick".into(),
            seed: u64::MAX,
            placement: PlacementKind::Native,
            fail_if: Vec::new(),
            log_calls: false,
            runtime_statistics: false,
            scaled_from: None,
            published: Vec::new(),
            stopping: None,
            limits: Limits { cpus: 1, memory_bytes: Some(1 << 29) },
            workloads: Vec::new(),
            servers: Vec::new(),
            order: Vec::new(),
        },
    }
}

/// A trial with every kind of value: codes as keys, absent parts, floats.
fn runtime() -> RuntimeStatistics {
    let young = Pauses { count: 3, total_ns: 900, max_ns: 400 };
    let pauses = [("young".to_owned(), young)].into();
    RuntimeStatistics {
        pauses,
        paused_ns: vec![0, 1_000_000],
        allocated_bytes: None,
        heap_peak_bytes: Some(1 << 20),
    }
}

fn trial(number: u32) -> Trial {
    let latency = Latency {
        count: 3,
        min_ns: 1,
        mean_ns: 2.5,
        stddev_ns: 0.1 + 0.2,
        p50_ns: 2,
        p90_ns: 3,
        p95_ns: 3,
        p99_ns: 3,
        p999_ns: 3,
        max_ns: u64::MAX,
        histogram: "SGlz".into(),
    };
    let status = [(13, 7), (4, 1)].into_iter().collect();
    let measured = Measured {
        service: None,
        send_lag: None,
        pacing: None,
        window_ns: 3_000_000_000,
        outcomes: Outcomes { ok: 3, status, timeout: 2, ..Outcomes::default() },
        error_examples: vec!["INTERNAL: \"quoted\"\nand broken".into()],
        latency: Some(latency),
        error_latency: None,
        connect: None,
        connections: None,
        ok_pro_rata: Some(0.5),
        carried_in_ns: 5,
        carried_out_ns: 6,
        server: Some(ServerUsage { throttled_ns: None, ..ServerUsage::default() }),
        runtime: Some(runtime()),
        client: ClientUsage::default(),
        machine: MachineUsage::default(),
        series: vec![Slice { ok: 1, errors: 2, sum_ns: 3, max_ns: 4, carried_in: 5 }],
    };
    Trial {
        entry: "go-grpc#2".into(),
        workload: "quick".into(),
        process: 1,
        number,
        started: "2026-03-01T12:00:01.5Z".parse().unwrap(),
        arrivals: "poisson:1000".parse().ok(),
        search: None,
        unmeasured: None,
        result: TrialResult::Measured(Box::new(measured)),
    }
}

fn failed(number: u32) -> Trial {
    let failure = Failure { reason: "exited with code 3".into(), log_tail: vec!["last".into()] };
    Trial { result: TrialResult::Failed(failure), ..trial(number) }
}

fn written(folder: &Path, trials: &[Trial]) -> Writer {
    let mut writer = Writer::create(folder, &header()).unwrap();
    for trial in trials {
        writer.append(&Event::Trial(Box::new(trial.clone()))).unwrap();
    }
    writer
}

#[test]
fn what_was_written_is_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = written(folder.path(), &[trial(1), failed(2)]);
    let at = "2026-03-01T12:05:00Z".parse().unwrap();
    writer.append(&Event::Finished { at }).unwrap();
    let expected = Run {
        header: header(),
        preparations: Vec::new(),
        trials: vec![trial(1), failed(2)],
        finished: Some(at),
    };
    assert_eq!(read(folder.path()).unwrap(), expected);
}

#[test]
fn each_event_is_on_disk_when_append_returns() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = written(folder.path(), &[]);
    for number in 1..4 {
        writer.append(&Event::Trial(Box::new(trial(number)))).unwrap();
        assert_eq!(read(folder.path()).unwrap().trials.len(), number as usize);
    }
}

#[test]
fn a_line_cut_short_by_a_crash_is_not_there_and_does_not_spoil_the_next() {
    let folder = tempfile::tempdir().unwrap();
    drop(written(folder.path(), &[trial(1)]));
    let events = folder.path().join("events.jsonl");
    let whole = fs::read(&events).unwrap();
    for cut in [1, whole.len() / 2, whole.len() - 1] {
        fs::write(&events, [&whole[..], &whole[..cut]].concat()).unwrap();
        assert_eq!(read(folder.path()).unwrap().trials, [trial(1)]);
        let mut writer = Writer::resume(folder.path()).unwrap();
        writer.append(&Event::Trial(Box::new(trial(2)))).unwrap();
        assert_eq!(read(folder.path()).unwrap().trials, [trial(1), trial(2)]);
    }
}

#[test]
fn a_run_killed_before_its_first_event_can_be_gone_on_with() {
    let folder = tempfile::tempdir().unwrap();
    drop(written(folder.path(), &[]));
    fs::remove_file(folder.path().join("events.jsonl")).unwrap();
    assert_eq!(read(folder.path()).unwrap().trials, []);
    Writer::resume(folder.path()).unwrap().append(&Event::Trial(Box::new(trial(1)))).unwrap();
    assert_eq!(read(folder.path()).unwrap().trials, [trial(1)]);
}

#[test]
fn a_record_is_never_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    drop(written(folder.path(), &[trial(1)]));
    assert!(matches!(Writer::create(folder.path(), &header()), Err(StoreError::Exists(_))));
    let file = folder.path().join("run.json");
    assert!(matches!(Writer::create(&file, &header()), Err(StoreError::NoFolder(_))));
    assert_eq!(read(folder.path()).unwrap().trials, [trial(1)]);
}

#[test]
fn what_is_no_record_is_named_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let missing = read(folder.path()).unwrap_err().to_string();
    assert!(missing.contains("run.json is missing"), "{missing}");

    drop(written(folder.path(), &[trial(1)]));
    let events = folder.path().join("events.jsonl");
    let mut file = OpenOptions::new().append(true).open(&events).unwrap();
    file.write_all(b"{\"trail\":{}}\n").unwrap();
    let error = read(folder.path()).unwrap_err().to_string();
    assert!(error.contains("events.jsonl:2") && error.contains("trail"), "{error}");
}

/// Records from before machines had roles name one, which was both.
#[test]
fn the_one_machine_of_an_older_record_is_that_of_client_and_server() {
    let folder = tempfile::tempdir().unwrap();
    drop(written(folder.path(), &[trial(1)]));
    let path = folder.path().join("run.json");
    let mut json: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    let machines = json.as_object_mut().unwrap().remove("machines").unwrap();
    assert_eq!(machines["server"], "same_as_client");
    json["machine"] = machines["client"].clone();
    json["schema"] = 1.into();
    fs::write(&path, json.to_string()).unwrap();
    assert_eq!(read(folder.path()).unwrap().header, header());
}

#[test]
fn the_server_may_have_a_machine_of_its_own_or_one_that_nobody_knows() {
    let client = header().machines.client;
    let own = Box::new(Machine { kernel: "6.2".into(), ..client.clone() });
    for server in [ServerMachine::Own(own), ServerMachine::Unknown] {
        let folder = tempfile::tempdir().unwrap();
        let machines = Machines { client: client.clone(), server };
        let header = Header { machines, ..header() };
        drop(Writer::create(folder.path(), &header).unwrap());
        assert_eq!(read(folder.path()).unwrap().header, header);
    }
}

#[test]
fn a_record_of_a_newer_schema_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    drop(written(folder.path(), &[]));
    let path = folder.path().join("run.json");
    let text = fs::read_to_string(&path).unwrap();
    let own = format!("\"schema\": {SCHEMA}");
    assert!(text.contains(&own), "{text}");
    fs::write(&path, text.replace(&own, "\"schema\": 99")).unwrap();
    let error = read(folder.path()).unwrap_err();
    assert!(matches!(error, StoreError::Newer { found: 99, .. }), "{error}");
    let words = error.to_string();
    let expected = "record of schema 99, this rpcbench reads schemas up to 2; read it with the rpcbench that made it";
    assert!(words.contains(expected), "{words}");
}

#[test]
fn what_says_no_schema_is_no_record() {
    let folder = tempfile::tempdir().unwrap();
    for text in ["[]", "{}", "{\"schema\": 0}", "{\"schema\": \"1\"}"] {
        fs::write(folder.path().join("run.json"), text).unwrap();
        let error = read(folder.path()).unwrap_err();
        assert!(matches!(error, StoreError::Parse { .. }), "{text}: {error}");
    }
}
