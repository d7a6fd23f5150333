//! What a terminal shows.

use rpcbench_record::{IsolationMode, Readiness, Run, TrialResult, Unsteady};
use rpcbench_report::{ColumnName, Columns, Layout, Style, summary};

use crate::builder::{RunBuilder, failure, measured, ok};
use crate::render::text;

fn shown(builder: &RunBuilder) -> String {
    text(&summary(&builder.run), Style::default(), &Layout::default())
}

fn two_servers() -> Run {
    let run = RunBuilder::new()
        .entry("rust-tonic", &[184_000, 184_500, 183_800])
        .entry("go-grpc", &[98_000, 98_900, 97_700]);
    run.run
}

/// The page without the lines that are the same for all.
fn table(builder: &RunBuilder) -> String {
    let page = shown(builder);
    let own = page.lines().take_while(|line| !line.starts_with("What each word"));
    let own = own.filter(|line| !line.starts_with("quick: ") && !line.starts_with("1 CPU, "));
    own.collect::<Vec<_>>().join("\n").trim().to_owned()
}

#[test]
fn whole_page() {
    let run = RunBuilder::new()
        .entry("rust-tonic", &[184_000, 184_500, 183_800])
        .entry("go-grpc", &[98_000, 98_900, 97_700])
        .entry("java-grpc@zgc", &[98_300, 99_000, 97_900]);
    insta::assert_snapshot!(shown(&run));
}

#[test]
fn tie_at_the_top() {
    let run = RunBuilder::new()
        .entry("rust-tonic@multi-thread", &[180_000, 186_000, 183_000])
        .entry("rust-tonic@current-thread", &[184_000, 185_500, 182_800])
        .entry("go-grpc", &[98_000, 98_900, 97_700]);
    insta::assert_snapshot!(table(&run));
}

#[test]
fn same_server_twice_ties() {
    let run = RunBuilder::new()
        .entry("go-grpc", &[98_000, 98_900, 97_700])
        .entry("go-grpc#2", &[98_100, 98_600, 97_900]);
    insta::assert_snapshot!(table(&run));
}

#[test]
fn client_that_was_the_limit() {
    let run = RunBuilder::new().entry("go-grpc", &[98_000, 98_900, 97_700]).with(
        "rust-tonic",
        &[184_000, 184_500, 183_800],
        |trial| {
            trial.client.cpu_ns = 2_940_000_000;
            trial.client.busiest_ns = 2_970_000_000;
            let server = trial.server.as_mut().expect("a server");
            server.cpu_user_ns = 1_000_000_000;
        },
    );
    insta::assert_snapshot!(table(&run));
}

#[test]
fn undecided_ranking_says_what_would_settle_it() {
    let run = RunBuilder::new()
        .entry("rust-tonic", &[102_000, 84_000, 95_000, 107_000])
        .entry("cpp-grpc", &[88_000, 101_000, 99_000, 79_000])
        .entry("go-grpc", &[41_000, 44_000, 39_000, 46_000]);
    insta::assert_snapshot!(table(&run));
}

#[test]
fn server_still_warming() {
    let run = RunBuilder::new()
        .entry("go-grpc", &[98_000, 98_900, 97_700])
        .with("java-grpc@zgc", &[110_000, 110_900, 111_700], |trial| {
            trial.server.as_mut().expect("a server").compiler_cpu_ns = 600_000_000;
        })
        .entry("java-grpc@g1", &[60_000, 60_100, 60_200])
        .prepared(|p| {
            let warm = p.warm.as_mut().expect("a curve");
            warm.steady_after_ms = None;
            warm.unsteady = Some(Unsteady::Climbing { change: 0.14 });
        });
    insta::assert_snapshot!(table(&run));
}

#[test]
fn figures_that_contradict_each_other() {
    let run = RunBuilder::new().entry("go-grpc", &[98_000, 98_900, 97_700]).with(
        "rust-tonic",
        &[184_000, 184_500, 183_800],
        |trial| ok(trial).mean_ns *= 0.9,
    );
    insta::assert_snapshot!(table(&run));
}

#[test]
fn failed_server_shows_log_tail() {
    let killed = failure(
        "out of memory (limit 512 MiB)",
        &["GC overhead limit reached", "java.lang.OutOfMemoryError: Java heap space"],
    );
    let never = failure("not ready within 30s: connection refused", &["listen: address in use"]);
    let run = RunBuilder::new()
        .entry("go-grpc", &[98_000, 98_900, 97_700])
        .results(
            "java-grpc@zgc",
            vec![TrialResult::from(measured(61_000)), TrialResult::Failed(killed)],
        )
        .unready("python-grpcio", Readiness::Failed(never));
    insta::assert_snapshot!(table(&run));
}

#[test]
fn errors_exclude_server_from_ranking() {
    let run = RunBuilder::new().entry("go-grpc", &[98_000, 98_900, 97_700]).with(
        "node-grpc-js",
        &[30_000, 30_100, 30_200],
        |trial| {
            trial.outcomes.ok -= 30;
            trial.outcomes.status.insert(13, 20);
            trial.outcomes.wrong_answer = 10;
            trial.error_examples = vec!["field 2: expected \"a\", got \"b\"".into()];
        },
    );
    insta::assert_snapshot!(table(&run));
}

#[test]
fn missing_toolchain_is_one_line() {
    let reason = "dotnet is not installed; install .NET 10 SDK".to_owned();
    let run = RunBuilder::new()
        .entry("go-grpc", &[98_000, 98_900, 97_700])
        .unready("csharp-grpc", Readiness::Skipped { reason });
    insta::assert_snapshot!(table(&run));
}

#[test]
fn unfinished_run_has_warning() {
    let mut run = RunBuilder::new()
        .entry("go-grpc", &[98_000, 98_900, 97_700])
        .entry("rust-tonic", &[184_000, 184_500])
        .planned("cpp-grpc", 3);
    run.run.header.plan.order.push(rpcbench_record::PlannedTrial {
        entry: "rust-tonic".to_owned(),
        workload: "quick".to_owned(),
        process: 1,
        number: 3,
    });
    run.run.finished = None;
    insta::assert_snapshot!(table(&run));
}

#[test]
fn one_trial_ranks_nothing() {
    let run = RunBuilder::new().entry("go-grpc", &[98_000]).entry("rust-tonic", &[184_000]);
    insta::assert_snapshot!(table(&run));
}

#[test]
fn bad_machine_has_warnings() {
    let mut run = RunBuilder::new()
        .with("go-grpc", &[98_900, 80_000, 91_700], |trial| {
            trial.machine.steal_ns = 150_000_000;
            trial.machine.server_cpus_busy_ns = Some(3_120_000_000);
            trial.server.as_mut().expect("a server").throttled_ns = Some(90_000_000);
        })
        .prepared(|p| {
            p.isolation.mode = IsolationMode::Affinity;
            p.isolation.client_cpus = vec![0, 1];
            p.isolation.memory_bytes = None;
            p.isolation.notes = vec!["no right to make a cgroup".to_owned()];
        });
    run.run.header.tool.profile = "debug".to_owned();
    insta::assert_snapshot!(table(&run));
}

/// Six processes each of typical servers: close ones, a doubtful one, one that fails.
fn many() -> RunBuilder {
    let close = |rate: u64, shift: usize| -> Vec<u64> {
        let noise = [0, 18, 7, 25, 12, 3];
        (0..6).map(|n| rate + rate * noise[(n + shift) % 6] / 1000).collect()
    };
    let failed = TrialResult::Failed(failure("exited with status 3", &["panic: no memory"]));
    RunBuilder::new()
        .entry("python-grpcio@asyncio", &close(3_580, 0))
        .entry("go-grpc", &close(74_700, 1))
        .entry("java-grpc@g1", &close(90_600, 2))
        .with("java-grpc@zgc", &close(120_000, 3), |trial| {
            trial.server.as_mut().expect("a server").compiler_cpu_ns = 600_000_000;
        })
        .entry("rust-tonic@current-thread", &close(168_000, 4))
        .entry("rust-tonic@multi-thread", &close(114_000, 5))
        .results("cpp-grpc", vec![TrialResult::from(measured(61_000)), failed])
        .entry("java-grpc@parallel", &close(91_000, 4))
        .entry("node-grpc-js", &close(73_000, 5))
}

fn in_width(run: &RunBuilder, width: usize, which: &Columns) -> String {
    let style = Style { width: Some(width), ..Style::default() };
    text(&summary(&run.run), style, &which.clone().into())
}

#[test]
fn report_fits_terminal() {
    let many = many();
    for width in [80, 120, 200] {
        let page = in_width(&many, width, &Columns::Few);
        let widest = page.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(width), "{page}");
        insta::assert_snapshot!(format!("a_page_in_{width}_columns"), page);
    }
}

#[test]
fn narrow_terminal_drops_columns_and_names_them() {
    let page = in_width(&many(), 60, &Columns::Few);
    assert!(page.contains("hidden to fit the terminal: p50, p99, memory"), "{page}");
}

#[test]
fn wide_table_has_every_column_at_any_width() {
    let page = in_width(&many(), 80, &Columns::Wide);
    let header = page.lines().find(|line| line.starts_with("place")).expect("a header");
    for title in ["% of best", "raw calls/cpu-s", "calls/s", "p99.9", "client CPU", "steady"] {
        assert!(header.contains(title), "{header}");
    }
    assert!(!page.contains("hidden to fit"), "{page}");
}

/// Two languages, two protocols.
fn protocols() -> RunBuilder {
    let close = |rate: u64| [rate, rate + 300, rate - 200, rate + 100];
    let mut builder = RunBuilder::new()
        .entry("go-grpc", &close(74_700))
        .entry("go-net-http", &close(52_000))
        .entry("rust-axum", &close(120_000))
        .entry("rust-tonic", &close(168_000))
        .entry("go-gin", &close(47_000));
    for server in &mut builder.run.header.plan.servers {
        if !matches!(server.entry.as_str(), "go-grpc" | "rust-tonic") {
            server.protocol = rpcbench_record::Protocol::TcpEcho;
        }
    }
    builder
}

#[test]
fn protocols_of_language_are_compared_in_sentence() {
    let page = shown(&protocols());
    let said: Vec<&str> = page.lines().filter(|line| line.starts_with("In ")).collect();
    insta::assert_snapshot!(said.join("\n"));
}

#[test]
fn each_pair_of_protocols_in_a_language_is_compared() {
    let mut builder = RunBuilder::new()
        .entry("go-thrift", &[150_000, 150_400, 149_900])
        .entry("go-grpc", &[98_000, 98_900, 97_700])
        .entry("go-net-http", &[68_000, 68_300, 67_800]);
    for server in &mut builder.run.header.plan.servers {
        server.protocol = match server.entry.as_str() {
            "go-thrift" => rpcbench_record::Protocol::Thrift,
            "go-grpc" => rpcbench_record::Protocol::Grpc,
            _ => rpcbench_record::Protocol::Json,
        };
    }
    let page = shown(&builder);
    let said: Vec<&str> = page.lines().filter(|line| line.starts_with("In go, ")).collect();
    assert_eq!(said.len(), 3, "{page}");
    assert!(said[2].contains("(go-grpc)") && said[2].contains("(go-net-http)"), "{said:?}");
}

#[test]
fn groups_show_the_best_of_each() {
    let lines = |by: &str| {
        let layout = Layout { group_by: Some(by.parse().expect(by)), ..Layout::default() };
        let page = text(&summary(&protocols().run), Style::default(), &layout);
        let from = page.lines().skip_while(|line| !line.starts_with("Best of each"));
        from.take_while(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
    };
    insta::assert_snapshot!([lines("protocol"), lines("language")].join("\n\n"));
    let refused = "library".parse::<rpcbench_report::GroupBy>().unwrap_err();
    assert_eq!(
        refused.to_string(),
        "rows can't be grouped by 'library'; use protocol, language, server"
    );
}

#[test]
fn rows_are_sorted_by_any_column() {
    let sorted = |column: &str| -> Vec<String> {
        let layout = Layout { sort: Some(column.parse().expect(column)), ..Layout::default() };
        let page = text(&summary(&protocols().run), Style::default(), &layout);
        let rows = page.lines().skip_while(|line| !line.starts_with("place")).skip(1).take(5);
        rows.map(|row| row.split_whitespace().nth(1).expect("a name").to_owned()).collect()
    };
    let names = ["go-gin", "go-grpc", "go-net-http", "rust-axum", "rust-tonic"];
    assert_eq!(sorted("server"), names);
    assert_eq!(sorted("calls/s"), ["rust-tonic", "rust-axum", "go-grpc", "go-net-http", "go-gin"]);
    let by_protocol = sorted("protocol");
    assert_eq!(by_protocol[..2], ["rust-tonic", "go-grpc"]);
}

#[test]
fn columns_are_chosen_by_title_or_by_field() {
    let names = ["server", "p99", "calls/s", "machine_kernel", "place"];
    let names = names.map(|name| name.parse().expect(name)).to_vec();
    let page = in_width(&many(), 20, &Columns::Chosen(names));
    let header = page.lines().find(|line| line.starts_with("server ")).expect("a header");
    let titles: Vec<&str> = header.split_whitespace().collect();
    assert_eq!(titles, ["server", "p99", "calls/s", "machine_kernel", "place"]);
    let unknown = "p98".parse::<ColumnName>().expect_err("no such column").to_string();
    assert!(
        unknown.starts_with("unknown column 'p98'; expected one of workload, server, protocol, "),
        "{unknown}"
    );
    assert!(unknown.contains("p99, p99.9"), "{unknown}");
}

#[test]
fn colour_changes_only_styles() {
    let run = RunBuilder::new().entry("rust-tonic", &[184_000, 184_500, 183_800]).with(
        "go-grpc",
        &[98_000, 98_900, 97_700],
        |t| ok(t).mean_ns *= 0.9,
    );
    let plain = shown(&run);
    let painted =
        text(&summary(&run.run), Style { color: true, ..Style::default() }, &Layout::default());
    assert!(painted.contains("\u{1b}["));
    assert!(!plain.contains('\u{1b}'));
    let mut stripped = String::new();
    for (n, part) in painted.split('\u{1b}').enumerate() {
        stripped.push_str(if n == 0 { part } else { part.split_once('m').expect("a sequence").1 });
    }
    assert_eq!(stripped, plain);
}

#[test]
fn empty_run_has_no_table() {
    let mut run = RunBuilder::new().planned("go-grpc", 3);
    run.run.finished = None;
    insta::assert_snapshot!(shown(&run));
}

#[test]
fn explain_adds_legend() {
    let run = two_servers();
    let layout = Layout { explain: true, ..Layout::default() };
    let explained = text(&summary(&run), Style::default(), &layout);
    assert!(explained.contains("How to read it\n  place: by "), "{explained}");
    let short = text(&summary(&run), Style::default(), &Layout::default());
    assert!(
        short.contains("rpcbench report --explain") && !short.contains("How to read"),
        "{short}"
    );
}

#[test]
fn headline_is_repeated_at_end() {
    let run = two_servers();
    let layout =
        Layout { explain: true, group_by: Some("server".parse().unwrap()), ..Layout::default() };
    let long = text(&summary(&run), Style { width: Some(40), ..Style::default() }, &layout);
    let first = long.lines().next().unwrap();
    assert!(first.contains(" is fastest"), "{long}");
    assert_eq!(long.lines().filter(|line| *line == first).count(), 2, "{long}");
}

#[test]
fn ascii_terminal_gets_ascii() {
    let layout = Layout { explain: true, ..Layout::default() };
    let plain = text(&summary(&two_servers()), Style { ascii: true, ..Style::default() }, &layout);
    assert!(plain.is_ascii() && plain.contains("+/-"), "{plain}");
}
