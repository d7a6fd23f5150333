//! A run with every kind of value: codes as keys, absent parts, floats, text that needs escaping.

use rpcbench_record::{
    CheckResult, Content, Cpu, Failure, Header, InterimAnalysis, Isolation, IsolationMode, Latency,
    Limits, Machine, Measured, Outcomes, Pauses, Plan, PlannedServer, PlannedTrial, Preparation,
    Protocol, Readiness, Role, Run, RuntimeStatistics, SCHEMA, ServerUsage, Slice, Slicing,
    TlsMode, Tool, Toolchain, Trial, TrialResult, UnseenPair, Unsteady, WarmCurve, WarmSlice,
    WarmUp, Window, Workload,
};

pub fn header() -> Header {
    Header {
        schema: SCHEMA,
        id: "019ca932-4c00-7000-8000-000000000001".parse().unwrap(),
        tool: Tool { version: "1.2.3".into(), commit: None, profile: "release".into() },
        arguments: vec!["run".into(), "go-grpc".into()],
        started: "2026-03-01T12:00:00Z".parse().unwrap(),
        machines: machine().into(),
        plan: Plan {
            suite: "quick".into(),
            seed: u64::MAX,
            limits: Limits { cpus: 1, memory_bytes: Some(1 << 29) },
            workloads: vec![workload()],
            servers: vec![server()],
            order: vec![PlannedTrial {
                entry: "go-grpc#2".into(),
                workload: "quick".into(),
                process: 1,
                number: 1,
            }],
            ..Plan::default()
        },
    }
}

fn machine() -> Machine {
    Machine {
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
}

fn workload() -> Workload {
    Workload {
        name: "quick".into(),
        content: Content::Shape("text:100".into()),
        connections: 2,
        connection_life: "calls:100".parse().unwrap(),
        in_flight: 4,
        arrivals: "poisson:1000".parse().unwrap(),
        find_max: "p99<10ms".parse().ok(),
        warm_up: WarmUp::UntilSteady { least_ms: 0, cap_ms: Some(20_000) },
        settle_ms: 500,
        window: Window::Duration { length_ms: 3000 },
        timeout_ms: 10_000,
        grace_ms: 5000,
        connect_timeout_ms: Workload::CONNECT_TIMEOUT_MS,
        client_threads: 1,
        pipelining: false,
        headers: Vec::new(),
        authority: None,
        tls: TlsMode::Off,
        keepalive: None,
    }
}

fn server() -> PlannedServer {
    PlannedServer {
        entry: "go-grpc#2".into(),
        server: "go-grpc".into(),
        protocol: Protocol::Grpc,
        variant: None,
        language: "go".into(),
        library: "grpc-go".into(),
        role: Role::Server,
        counterpart: None,
        build: None,
    }
}

fn runtime() -> RuntimeStatistics {
    let young = Pauses { count: 3, total_ns: 900, max_ns: 400 };
    RuntimeStatistics {
        refused: None,
        pauses: [("young".to_owned(), young)].into(),
        paused_ns: vec![0, 1_000_000],
        allocated_bytes: None,
        heap_peak_bytes: Some(1 << 20),
    }
}

pub fn preparation() -> Preparation {
    let slice = WarmSlice { at_ms: 500, calls: 300, server_cpu_ns: 450, compiler_cpu_ns: 90 };
    Preparation {
        entry: "go-grpc#2".into(),
        workload: "quick".into(),
        process: 1,
        versions: [("grpc-go".to_owned(), "1.80.0".to_owned())].into(),
        lock_hash: "00".into(),
        source_hash: "01".into(),
        toolchains: vec![Toolchain { name: "go".into(), version: "1.26".into() }],
        build: "./build.sh".into(),
        build_env: vec!["GOPROXY".into()],
        command: vec!["./server".into()],
        env: [("GOGC".to_owned(), "100".to_owned())].into(),
        counterpart: None,
        reply_checks: None,
        isolation: Isolation {
            mode: IsolationMode::CgroupV2,
            server_cpus: vec![0],
            client_cpus: vec![1],
            memory_bytes: Some(1 << 29),
            details: Default::default(),
            notes: Vec::new(),
        },
        tls: None,
        check: CheckResult { passed: 43, failed: Vec::new() },
        warm: Some(WarmCurve {
            slices: vec![slice],
            steady_after_ms: None,
            unsteady: Some(Unsteady::Climbing { change: 0.12 }),
            as_earlier: false,
            later_ms: None,
            cold_rate: 600.0,
        }),
        unseen: vec![UnseenPair { calls: 200, seen_cpu_ns: 25, unseen_cpu_ns: 26 }],
        first_only_ns: 0,
        readiness: Readiness::Ready,
    }
}

pub fn trial(number: u32) -> Trial {
    let latency = Latency {
        count: 3,
        min_ns: 1,
        mean_ns: 2.5,
        stddev_ns: 0.1 + 0.2,
        p50_ns: 2,
        max_ns: u64::MAX,
        histogram: "SGlz".into(),
        ..Latency::default()
    };
    let status = [(13, 7), (4, 1)].into_iter().collect();
    let measured = Measured {
        window_ns: 3_000_000_000,
        slicing: Some(Slicing {
            slices: 3,
            counted_ns: 180_000_000,
            discarded_ns: 20_000_000,
            ended: "2026-03-01T12:00:05Z".parse().unwrap(),
        }),
        outcomes: Outcomes { ok: 3, status, timeout: 2, ..Outcomes::default() },
        error_examples: vec!["INTERNAL: \"quoted\"\nand broken".into()],
        latency: Some(latency),
        ok_pro_rata: 0.5,
        carried_in_ns: 5,
        carried_out_ns: 6,
        server: Some(ServerUsage { throttled_ns: None, ..ServerUsage::default() }),
        runtime: Some(runtime()),
        series: vec![Slice { ok: 1, errors: 2, sum_ns: 3, max_ns: 4, carried_in: 5 }],
        ..Measured::default()
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
        result: TrialResult::from(measured),
    }
}

pub fn failed(number: u32) -> Trial {
    let failure = Failure { reason: "exited with code 3".into(), log_tail: vec!["last".into()] };
    Trial { result: TrialResult::Failed(failure), ..trial(number) }
}

pub fn run() -> Run {
    Run {
        header: header(),
        preparations: vec![preparation()],
        trials: vec![trial(1), failed(2)],
        interim_analyses: vec![InterimAnalysis {
            workload: "quick".into(),
            trials: 2,
            part: 0.1 + 0.2,
            is_clear: true,
        }],
        finished: "2026-03-01T12:05:00Z".parse().ok(),
    }
}
