//! Runs made by hand: every figure is consistent unless a test breaks it on purpose.

use std::collections::BTreeMap;

use rpcbench_record::{
    Age, Build, CheckResult, ClientUsage, Cpu, Failure, Header, Isolation, IsolationMode, Latency,
    Limits, Machine, Measured, Outcomes, Plan, PlannedServer, PlannedTrial, Preparation, Protocol,
    Readiness, Role, Run, SCHEMA, ServerUsage, Slice, Tool, Toolchain, Trial, TrialResult,
    WarmCurve, WarmUp, Window, Workload,
};
use rpcbench_stats::Histogram;

pub const WINDOW_NS: u64 = 3_000_000_000;
pub const IN_FLIGHT: u32 = 1000;

pub fn workload() -> Workload {
    Workload {
        name: "quick".to_owned(),
        connections: 50,
        in_flight: IN_FLIGHT,
        warm_up: until_steady(),
        window: Window::Duration { length_ms: 3000 },
        timeout_ms: 10_000,
        grace_ms: 2000,
        connect_timeout_ms: Workload::CONNECT_TIMEOUT_MS,
        ..rpcbench_testkit::workload()
    }
}

pub fn until_steady() -> WarmUp {
    WarmUp::UntilSteady { least_ms: 0, cap_ms: None }
}

/// A distribution of `count` response times with the given mean.
pub fn latency(count: u64, mean_ns: f64) -> Latency {
    let mut histogram = Histogram::new();
    let mut values = Vec::new();
    for n in 0..count {
        let factor = match n % 1000 {
            0..500 => 0.8,
            500..900 => 1.1,
            900..990 => 1.575,
            990..999 => 1.9,
            _ => 1.15,
        };
        let value = (mean_ns * factor) as u64;
        histogram.record(value);
        values.push(value as f64);
    }
    let mean = values.iter().sum::<f64>() / (count as f64).max(1.0);
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (count as f64).max(1.0);
    let quantile = |q| histogram.quantile(q).unwrap_or_default();
    Latency {
        count,
        min_ns: histogram.min().unwrap_or_default(),
        mean_ns: mean,
        stddev_ns: variance.sqrt(),
        p50_ns: quantile(0.5),
        p90_ns: quantile(0.9),
        p95_ns: quantile(0.95),
        p99_ns: quantile(0.99),
        p999_ns: quantile(0.999),
        max_ns: histogram.max().unwrap_or_default(),
        histogram: histogram.to_base64(),
    }
}

/// The response times of a trial's `ok` calls.
pub fn ok(trial: &mut Measured) -> &mut Latency {
    trial.latency.as_mut().expect("ok calls")
}

/// A trial in which a server saturated its one CPU and answered `rate` calls a second.
pub fn measured(rate: u64) -> Measured {
    let ok = rate * WINDOW_NS / 1_000_000_000;
    let latency = latency(ok, f64::from(IN_FLIGHT) / rate as f64 * 1e9);
    let mut series = vec![
        Slice {
            ok: ok / 30,
            errors: 0,
            sum_ns: (latency.mean_ns * (ok / 30) as f64) as u64,
            max_ns: latency.max_ns,
            carried_in: 0,
        };
        30
    ];
    series[29].ok += ok % 30;
    Measured {
        window_ns: WINDOW_NS,
        outcomes: Outcomes { ok, ..Outcomes::default() },
        ok_pro_rata: ok as f64,
        latency: Some(latency),
        server: Some(ServerUsage {
            interval_ns: WINDOW_NS,
            cpu_user_ns: 1_850_000_000,
            cpu_system_ns: 1_120_000_000,
            throttled_ns: Some(0),
            memory_peak_bytes: 48_300_000,
            memory_anon_bytes: 31_000_000,
            memory_cache_bytes: Some(4_000_000),
            threads: 4,
            ..ServerUsage::default()
        }),
        client: ClientUsage {
            threads: 1,
            cpu_ns: 1_200_000_000,
            awake_ns: 0,
            run_delay_ns: Some(10_000_000),
            busiest_ns: 1_210_000_000,
            longest_absence_ns: 0,
            tls_records: 0,
        },
        series,
        ..Measured::default()
    }
}

pub fn failure(reason: &str, log: &[&str]) -> Failure {
    Failure { reason: reason.to_owned(), log_tail: log.iter().map(|l| (*l).to_owned()).collect() }
}

/// A run of one workload, grown an entry at a time.
pub struct RunBuilder {
    pub run: Run,
}

impl RunBuilder {
    pub fn new() -> Self {
        let header = Header {
            schema: SCHEMA,
            id: "019ca932-4c00-7000-8000-000000000001".parse().expect("an id"),
            tool: Tool {
                version: "0.1.0".to_owned(),
                commit: Some("4f2a9c1".to_owned()),
                profile: "release".to_owned(),
            },
            arguments: vec!["rpcbench".to_owned(), "run".to_owned()],
            started: "2026-03-01T12:00:00Z".parse().expect("a time"),
            machines: machine().into(),
            plan: Plan {
                suite: "quick".to_owned(),
                seed: 7,
                limits: Limits { cpus: 1, memory_bytes: Some(512 << 20) },
                workloads: vec![workload()],
                ..Plan::default()
            },
        };
        let finished = Some("2026-03-01T12:05:00Z".parse().expect("a time"));
        Self { run: Run { finished, ..Run::new(header) } }
    }

    /// An entry measured at these rates, one a trial.
    pub fn entry(self, name: &str, rates: &[u64]) -> Self {
        self.with(name, rates, |_| {})
    }

    /// An entry measured at these rates, each trial then changed.
    pub fn with(self, name: &str, rates: &[u64], change: impl Fn(&mut Measured)) -> Self {
        let results = rates
            .iter()
            .map(|rate| {
                let mut measured = measured(*rate);
                change(&mut measured);
                TrialResult::from(measured)
            })
            .collect();
        self.results(name, results)
    }

    /// An entry with these results.
    pub fn results(mut self, name: &str, results: Vec<TrialResult>) -> Self {
        self = self.planned(name, results.len().max(1) as u32);
        self.run.preparations.push(preparation(name));
        for (number, result) in (1..).zip(results) {
            self.run.trials.push(Trial {
                entry: name.to_owned(),
                workload: "quick".to_owned(),
                process: number,
                number,
                started: self.run.header.started,
                arrivals: None,
                search: None,
                unmeasured: None,
                result,
            });
        }
        self
    }

    /// An entry that could not be made ready.
    pub fn unready(mut self, name: &str, readiness: Readiness) -> Self {
        self = self.planned(name, 3);
        let mut preparation = preparation(name);
        preparation.readiness = readiness;
        preparation.warm = None;
        self.run.preparations.push(preparation);
        self
    }

    /// An entry in the plan, without anything recorded.
    pub fn planned(mut self, name: &str, trials: u32) -> Self {
        let (server, variant) = match name.split_once('@') {
            Some((server, variant)) => (server, Some(variant.to_owned())),
            None => (name, None),
        };
        let (language, library) = server.split_once('-').expect("language-library");
        self.run.header.plan.servers.push(PlannedServer {
            entry: name.to_owned(),
            server: server.to_owned(),
            protocol: Protocol::Grpc,
            variant,
            language: language.to_owned(),
            library: library.to_owned(),
            role: Role::Server,
            counterpart: None,
            build: None,
        });
        self.run.header.plan.order.extend((1..=trials).map(|number| PlannedTrial {
            entry: name.to_owned(),
            workload: "quick".to_owned(),
            process: number,
            number,
        }));
        self
    }

    /// Sets which of two builds the last entry is; its name has it too.
    pub fn build(mut self, age: Age, origin: &str, commit: Option<&str>) -> Self {
        let server = self.run.header.plan.servers.last_mut().expect("an entry before");
        let (origin, commit) = (origin.to_owned(), commit.map(str::to_owned));
        server.build = Some(Build { age, origin, commit });
        self
    }

    /// Changes the last entry's preparation.
    pub fn prepared(mut self, change: impl FnOnce(&mut Preparation)) -> Self {
        change(self.run.preparations.last_mut().expect("an entry before"));
        self
    }
}

fn preparation(entry: &str) -> Preparation {
    Preparation {
        entry: entry.to_owned(),
        workload: "quick".to_owned(),
        process: 1,
        versions: BTreeMap::from([("grpc".to_owned(), "1.2.3".to_owned())]),
        lock_hash: "00".to_owned(),
        source_hash: String::new(),
        toolchains: vec![Toolchain { name: "go".to_owned(), version: "1.25".to_owned() }],
        build: "make".to_owned(),
        build_env: Vec::new(),
        command: vec!["server".to_owned()],
        env: BTreeMap::new(),
        counterpart: None,
        reply_checks: None,
        isolation: Isolation {
            mode: IsolationMode::CgroupV2,
            server_cpus: vec![0],
            client_cpus: vec![1],
            memory_bytes: Some(512 << 20),
            details: BTreeMap::new(),
            notes: Vec::new(),
        },
        tls: None,
        check: CheckResult { passed: 40, failed: Vec::new() },
        warm: Some(WarmCurve {
            slices: Vec::new(),
            steady_after_ms: Some(3200),
            unsteady: None,
            as_earlier: false,
            later_ms: None,
            cold_rate: 21_000.0,
        }),
        unseen: Vec::new(),
        first_only_ns: 0,
        readiness: Readiness::Ready,
    }
}

pub fn machine() -> Machine {
    Machine {
        kernel: "6.12.0".to_owned(),
        os: "Debian GNU/Linux 13".to_owned(),
        cpu: Cpu {
            model: "Example CPU 3 GHz".to_owned(),
            logical: 4,
            cores: 2,
            governor: Some("performance".to_owned()),
            turbo: Some(false),
        },
        memory_bytes: 16 << 30,
        cgroup: "v2".to_owned(),
        virtualization: None,
        clock_source: Some("tsc".to_owned()),
        huge_pages: None,
        open_files: 65_536,
    }
}
