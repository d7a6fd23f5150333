//! The HTML page has what the other views have, and runs nothing foreign.

use std::io::Read as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::read::ZlibDecoder;
use rpcbench_record::{
    Age, Content, DescribedCall, Measured, NotMet, Pauses, Readiness, Run, RuntimeStatistics,
    TrialResult,
};
use rpcbench_report::{
    Calls, Changes, CompareOptions, Comparison, TrialCalls, changes, changes_html,
    changes_of_builds, html, summary,
};
use serde_json::{Value, json};

use crate::builder::{RunBuilder, failure};
use crate::load::{fine, run_of};
use crate::open::{fall_behind, latency_run, slo_run};
use crate::render::{json, markdown};

/// The data that a page carries.
fn data(page: &str) -> Value {
    let (_, rest) = page.split_once(r#"<script id="data" type="text/plain">"#).unwrap();
    let (packed, _) = rest.split_once("</script>").unwrap();
    let deflated = STANDARD.decode(packed).unwrap();
    let mut json = String::new();
    ZlibDecoder::new(deflated.as_slice()).read_to_string(&mut json).unwrap();
    serde_json::from_str(&json).unwrap()
}

fn page_of(run: &Run) -> Value {
    data(&html(std::slice::from_ref(run), Vec::new()).unwrap())
}

fn several() -> Run {
    RunBuilder::new()
        .entry("go-grpc", &[52_000, 52_100, 51_900])
        .entry("rust-tonic", &[98_200, 98_100, 98_300])
        .results("js-grpc", vec![TrialResult::Failed(failure("out of memory", &["killed"]))])
        .unready("c-grpc", Readiness::Skipped { reason: "cc: not installed".to_owned() })
        .run
}

/// The texts of a table's column.
fn column<'a>(table: &'a Value, key: &str, of: &str) -> Vec<&'a Value> {
    let columns = table["columns"].as_array().unwrap();
    let at = columns.iter().position(|column| column["key"] == key).unwrap();
    table["rows"].as_array().unwrap().iter().map(|row| &row[of][at]).collect()
}

#[test]
fn page_has_every_figure_of_json() {
    let run = several();
    let page = page_of(&run);
    let table = &page["runs"][0]["parts"][0]["table"];
    let json: Value = serde_json::from_str(&json(&summary(&run)).unwrap()).unwrap();
    let cells = json["workloads"][0]["cells"].as_array().unwrap();
    assert_eq!(table["rows"].as_array().unwrap().len(), cells.len());
    let keys: Vec<&String> = cells[0].as_object().unwrap().keys().collect();
    assert_eq!(table["columns"].as_array().unwrap().len(), keys.len());
    for key in keys {
        let exported: Vec<&Value> = cells.iter().map(|cell| &cell[key]).collect();
        assert_eq!(column(table, key, "values"), exported, "{key}");
    }
}

#[test]
fn page_says_what_a_client_checks() {
    let sentence = "text: the whole string";
    let builder = RunBuilder::new()
        .entry("go-grpc", &[52_000])
        .prepared(|it| it.reply_checks = Some(sentence.to_owned()));
    let page = page_of(&builder.run);
    let facts = page["runs"][0]["processes"][0]["facts"].as_array().unwrap();
    assert!(facts.contains(&json!(["checks of replies", sentence])), "{facts:?}");
}

#[test]
fn page_has_sentences_of_markdown() {
    let run = several();
    let page = page_of(&run);
    let part = &page["runs"][0]["parts"][0];
    let markdown = markdown(&summary(&run));
    let said = |lines: &Value| {
        for line in lines.as_array().unwrap() {
            assert!(markdown.contains(line.as_str().unwrap()), "{line} in {markdown}");
        }
    };
    ["headline", "setting"].iter().for_each(|key| said(&part[key]));
    said(&page["runs"][0]["how_to_read"]);
    let blocks: Vec<&Value> = part["blocks"].as_array().unwrap().iter().collect();
    blocks
        .iter()
        .filter(|block| block["title"].is_null())
        .for_each(|block| said(&block["content"][0]["prose"]));
    let list = |block: &Value| block["content"][0]["list"].clone();
    let has_items = |block: &Value| list(block).as_array().is_some_and(|items| !items.is_empty());
    let lists: Vec<&Value> = blocks.into_iter().filter(|block| has_items(block)).collect();
    let titles: Vec<&str> = lists.iter().map(|list| list["title"].as_str().unwrap()).collect();
    assert_eq!(titles, ["Not ranked", "Not measured"]);
    assert_eq!(list(lists[0])[0]["evidence"][0], "killed");
}

#[test]
fn page_distributions_count_every_call() {
    let run = several();
    let page = page_of(&run);
    let rows = page["runs"][0]["parts"][0]["table"]["rows"].as_array().unwrap();
    for (row, calls) in [(&rows[0], 294_600 * 3), (&rows[1], 156_000 * 3)] {
        let cell = &row["cell"];
        assert_eq!(cell["windows"].as_array().unwrap().len(), 3);
        assert_eq!(cell["response"]["count"], calls);
        let sum = |buckets: &Value| -> u64 {
            buckets.as_array().unwrap().iter().map(|bucket| bucket[1].as_u64().unwrap()).sum()
        };
        assert_eq!(sum(&cell["response"]["buckets"]), calls);
        let heat = cell["heat"].as_array().unwrap();
        assert_eq!(heat.iter().map(|column| sum(&column["buckets"])).sum::<u64>(), calls);
        let rate: f64 = cell["series"]
            .as_array()
            .unwrap()
            .iter()
            .map(|p| p["ok_per_s"].as_f64().unwrap())
            .sum();
        assert!((rate / 10.0 - calls as f64).abs() < 1.0, "{rate}");
    }
    assert_eq!(rows[2]["cell"]["windows"], Value::Array(Vec::new()));
}

#[test]
fn page_merges_points_of_many_windows() {
    let windows = 700;
    let page = page_of(&RunBuilder::new().entry("go-grpc", &vec![100; windows]).run);
    let cell = &page["runs"][0]["parts"][0]["table"]["rows"][0]["cell"];
    assert_eq!(cell["windows"].as_array().unwrap().len(), windows);
    assert_eq!(cell["response"]["count"], 300 * windows);
    let heat = cell["heat"].as_array().unwrap();
    let buckets = heat.iter().flat_map(|column| column["buckets"].as_array().unwrap());
    assert_eq!(buckets.map(|bucket| bucket[1].as_u64().unwrap()).sum::<u64>(), 210_000);
    assert!(heat.len() <= 64, "{} columns", heat.len());
    let series = cell["series"].as_array().unwrap();
    assert!((300..=600).contains(&series.len()), "{} points", series.len());
    let number = |point: &Value, key: &str| point[key].as_f64().unwrap();
    let ends = series[1..].iter().map(|point| number(point, "at_s")).chain([3.0 * 700.0]);
    let calls = series.iter().zip(ends);
    let calls = calls.map(|(it, end)| number(it, "ok_per_s") * (end - number(it, "at_s")));
    assert!((calls.sum::<f64>() - 210_000.0).abs() < 1.0);
}

#[test]
fn foreign_text_can_not_end_element() {
    let evil = "</script><script>alert(1)</script><!--";
    let mut run = RunBuilder::new().entry(&format!("go-{evil}"), &[52_000, 52_100]).run;
    run.header.plan.suite = format!("<!--rpcbench:data-->{evil}");
    let page = html(std::slice::from_ref(&run), Vec::new()).unwrap();
    let tame = html(&[several()], Vec::new()).unwrap();
    for mark in ["<script", "</script", "<!--"] {
        assert_eq!(page.matches(mark).count(), tame.matches(mark).count(), "{mark}");
    }
    assert!(page.contains("&lt;/script&gt;&lt;script&gt;alert(1)"));
    let row = &data(&page)["runs"][0]["parts"][0]["table"]["rows"][0];
    assert_eq!(row["entry"], format!("go-{evil}"));
}

#[test]
fn empty_run_makes_page() {
    let page = page_of(&RunBuilder::new().run);
    assert_eq!(page["runs"][0]["parts"][0]["table"]["rows"], Value::Array(Vec::new()));
    let page = html(&[], Vec::new()).unwrap();
    assert_eq!(data(&page)["runs"], Value::Array(Vec::new()));
}

#[test]
fn single_calls_belong_to_their_run() {
    let mut calls = Calls::default();
    (0..50).for_each(|n| calls.add(n * 1_000_000, 2_000_000, n != 7));
    let runs = [RunBuilder::new().run, several()];
    let of = |entry: &str| {
        let (entry, workload) = (entry.to_owned(), "quick".to_owned());
        TrialCalls { entry, workload, number: 3, calls: calls.clone() }
    };
    let page = html(&runs, vec![Vec::new(), vec![of("go-grpc"), of("a-b")]]).unwrap();
    let page = data(&page);
    assert_eq!(page["runs"][0]["calls"], Value::Array(Vec::new()));
    let of = |at: usize| page["runs"][1]["calls"][at].clone();
    assert_eq!([&of(0)["entry"], &of(1)["entry"]], ["go-grpc", "a-b"]);
    assert_eq!((&of(1)["workload"], &of(1)["number"]), (&Value::from("quick"), &Value::from(3)));
    let counts = of(1)["counts"].as_array().unwrap().clone();
    assert_eq!(counts.len(), 50);
    assert_eq!(counts[7], serde_json::json!([7, 167, 0, 1]));
    assert_eq!(of(1)["slowest"].as_array().map(Vec::len), Some(50));
}

#[test]
fn records_are_in_order_on_page() {
    let page = data(
        &html(&[several(), RunBuilder::new().entry("a-b", &[10, 11]).run], Vec::new()).unwrap(),
    );
    assert_eq!(page["runs"].as_array().unwrap().len(), 2);
    assert_eq!(page["runs"][1]["parts"][0]["table"]["rows"][0]["entry"], "a-b");
}

/// Of each row: entry, rate, and whether it is the knee.
fn knees(table: &Value, rate: &str) -> Vec<(String, f64, bool)> {
    let rows = table["rows"].as_array().unwrap().iter();
    let rates = column(table, rate, "values");
    rows.zip(rates)
        .map(|(row, rate)| {
            let entry = row["entry"].as_str().unwrap().to_owned();
            (entry, rate.as_f64().unwrap(), row["knee"].as_bool().unwrap())
        })
        .collect()
}

#[test]
fn knee_is_highest_load_kept_below_overload() {
    let run = latency_run(|entry, share, window| {
        if (entry, share) == ("go-grpc", 90) {
            fall_behind(window);
        }
    });
    let page = page_of(&run);
    let part = &page["runs"][0]["parts"][1];
    assert_eq!(part["name"], "load-10 to load-90");
    assert_eq!(part["over_load"]["x"], "offered_per_s");
    let knees: Vec<_> =
        knees(&part["table"], "offered_per_s").into_iter().filter(|(_, _, knee)| *knee).collect();
    assert_eq!(knees, [("go-grpc".to_owned(), 5000.0, true)]);
}

#[test]
fn page_has_every_rate_of_search() {
    let rates =
        [("rust-tonic", [15_000.0, 15_200.0, 14_900.0]), ("go-grpc", [8000.0, 8100.0, 7950.0])];
    let page = page_of(&slo_run(&rates, NotMet::Beyond));
    let tried = &page["runs"][0]["parts"][1]["over_load"]["table"];
    let knees = knees(tried, "rate_per_s");
    assert_eq!(knees.len(), 2 * 3 * 2);
    assert!(knees.contains(&("go-grpc (process 3)".to_owned(), 7950.0, true)), "{knees:?}");
    assert!(knees.contains(&("rust-tonic".to_owned(), 15_750.0, false)), "{knees:?}");
    let rows = tried["rows"].as_array().unwrap();
    assert!(rows.iter().all(|row| row["cell"]["response"]["count"].as_u64() > Some(0)));
}

/// Every change of JSON as in the page: less 1.
fn exported(changes: &Changes) -> Vec<Value> {
    let json: Value = serde_json::from_str(&json(changes).unwrap()).unwrap();
    let share = |ratio: &Value| ratio.as_f64().map(|ratio| ratio - 1.0);
    let row = |row: &Value| {
        json!([share(&row["ratio"]), share(&row["ratio_low"]), share(&row["ratio_high"])])
    };
    json["changes"].as_array().unwrap().iter().map(row).collect()
}

/// The same of a page's first part.
fn drawn(page: &Value) -> Vec<Value> {
    let rows = page["runs"][0]["parts"][0]["changes"]["rows"].as_array().unwrap();
    let row = |row: &Value| json!([row["change_share"], row["range"][0], row["range"][1]]);
    rows.iter().map(row).collect()
}

#[test]
fn changes_precede_their_runs_on_page() {
    let run = |go: [u64; 3]| {
        RunBuilder::new().entry("go-grpc", &go).entry("a-b", &[9_800, 9_890, 9_770]).run
    };
    let runs = [run([98_000, 98_900, 97_700]), run([49_000, 49_100, 48_900])];
    let changes = changes(&runs[0], &runs[1], &CompareOptions::default());
    let arguments = ["compare".to_owned(), "old run".to_owned(), "new".to_owned()];
    let comparison = Comparison { changes: &changes, arguments: &arguments };
    let html = changes_html(&comparison, &runs, Vec::new()).unwrap();
    assert!(html.contains("go-grpc is slower: calls/cpu-s -50 %"));
    let page = data(&html);
    let names: Vec<&Value> =
        page["runs"].as_array().unwrap().iter().map(|run| &run["name"]).collect();
    assert_eq!(names, ["changes", "old: quick", "new: quick"]);
    let first = &page["runs"][0];
    assert_eq!(first["command"], "rpcbench compare 'old run' new");
    assert_eq!((drawn(&page).len(), drawn(&page)), (2, exported(&changes)));
    let row = &first["parts"][0]["changes"]["rows"][0];
    assert_eq!([&row["name"], &row["worth"]], ["go-grpc", "bad"]);
}

#[test]
fn page_of_builds_has_changes() {
    let run = RunBuilder::new()
        .entry("go-grpc#old", &[98_000, 98_900, 97_700])
        .build(Age::Old, "v1.2", None)
        .entry("go-grpc#new", &[49_000, 49_100, 48_900])
        .build(Age::New, "v1.3", None)
        .run;
    let page = page_of(&run);
    assert_eq!([&page["runs"][0]["name"], &page["runs"][1]["name"]], ["changes", "quick"]);
    let changes = changes_of_builds(&run, &CompareOptions::default()).unwrap();
    assert_eq!((drawn(&page).len(), drawn(&page)), (1, exported(&changes)));
}

/// 22 ms of the first slice of 100 ms, and 50 ms of the third.
#[test]
fn collections_keep_their_time_on_page() {
    let run = |paused_ns: &[u64]| {
        let with = |trial: &mut Measured| {
            let pauses = Pauses { count: 2, total_ns: 72_000_000, max_ns: 50_000_000 };
            let pauses = [("young".to_owned(), pauses)].into();
            let paused_ns = paused_ns.to_vec();
            trial.runtime = Some(RuntimeStatistics { pauses, paused_ns, ..Default::default() });
        };
        let rates = [20_000, 20_100];
        RunBuilder::new().with("java-grpc", &rates, with).with("rust-tonic", &rates, |_| {}).run
    };
    let shares = |run: &Run, entry: &str| -> Vec<Value> {
        let page = page_of(run);
        let rows = page["runs"][0]["parts"][0]["table"]["rows"].as_array().unwrap();
        let row = rows.iter().find(|row| row["entry"] == entry).unwrap();
        let points = row["cell"]["series"].as_array().unwrap();
        points.iter().map(|point| point["paused_share"].clone()).collect()
    };
    let told = run(&[22_000_000, 0, 50_000_000]);
    assert_eq!(shares(&told, "java-grpc")[..4], [0.22, 0.0, 0.5, 0.0]);
    assert!(shares(&told, "rust-tonic").iter().all(Value::is_null));
}

#[test]
fn load_of_another_service_is_named_with_its_target() {
    let mut load = fine();
    load.workload.content = Content::Call(DescribedCall {
        target: "GET /items".to_owned(),
        requests: 1,
        bytes_min: 0,
        bytes_max: 0,
        digest: "0".repeat(64),
        ok: "2xx".to_owned(),
        coding: None,
        decoded_one_in: None,
        deadline_ms: None,
        expect: Vec::new(),
    });
    let page = page_of(&run_of(&[(load, "closed")])).to_string();
    assert!(page.contains(r#""name":"127.0.0.1:50051 GET /items""#), "{page}");
}
