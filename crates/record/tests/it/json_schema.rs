//! The published JSON Schemas are current and describe what is written.

use std::fs;
use std::path::{Path, PathBuf};

use rpcbench_record::{Event, Run, schema};
use serde_json::{Value, json};

use crate::sample::run;

const REMEDY: &str =
    "derive it with `cargo test -p rpcbench-record --test it json_schema::derive -- --ignored`";

fn published() -> [(PathBuf, Value); 2] {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemas");
    [
        (folder.join("run.schema.json"), schema::header()),
        (folder.join("event.schema.json"), schema::event()),
    ]
}

fn text(schema: &Value) -> String {
    format!("{schema:#}\n")
}

fn events() -> Vec<Value> {
    let Run { preparations, trials, interim_analyses, finished, .. } = run();
    let prepared = preparations.into_iter().map(|p| Event::Prepared(Box::new(p)));
    let ended = trials.into_iter().map(|trial| Event::Trial(Box::new(trial)));
    let interim_analyses = interim_analyses.into_iter().map(Event::InterimAnalysis);
    let finished = finished.map(|at| Event::Finished { at });
    prepared
        .chain(ended)
        .chain(interim_analyses)
        .chain(finished)
        .map(|event| json!(event))
        .collect()
}

#[test]
fn published_schemas_match_types() {
    for (path, schema) in published() {
        let published: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        assert!(published == schema, "{} is not current; {REMEDY}", path.display());
    }
}

#[test]
fn written_records_match_schemas() {
    let header = jsonschema::validator_for(&schema::header()).unwrap();
    header.validate(&json!(run().header)).unwrap();
    let event = jsonschema::validator_for(&schema::event()).unwrap();
    for written in events() {
        event.validate(&written).unwrap();
    }
}

#[test]
fn missing_fields_and_wrong_types_are_refused() {
    let header = jsonschema::validator_for(&schema::header()).unwrap();
    let mut written = json!(run().header);
    written["plan"]["seed"] = json!("seven");
    assert!(!header.is_valid(&written));
    let mut written = json!(run().header);
    written.as_object_mut().unwrap().remove("id");
    assert!(!header.is_valid(&written));
    let event = jsonschema::validator_for(&schema::event()).unwrap();
    assert!(!event.is_valid(&json!({ "trail": {} })));
    let mut trial = events().into_iter().find(|event| event.get("trial").is_some()).unwrap();
    trial["trial"]["result"]["measured"]["window_ns"] = Value::Null;
    assert!(!event.is_valid(&trial));
}

/// Not a test: writes the derived schemas.
#[test]
#[ignore = "writes docs/schemas"]
fn derive() {
    for (path, schema) in published() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text(&schema)).unwrap();
    }
}
