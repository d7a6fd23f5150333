//! The JSON Schemas that are published describe what is written, and are current.

use std::fs;
use std::path::{Path, PathBuf};

use rpcbench_record::{Event, Run, read, schema};
use serde_json::{Value, json};

const REMEDY: &str =
    "derive it again with `cargo test -p rpcbench-record --test json_schema derive -- --ignored`";

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

fn run() -> Run {
    read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/schema_1")).unwrap()
}

fn events() -> Vec<Value> {
    let Run { preparations, trials, finished, .. } = run();
    let prepared = preparations.into_iter().map(|p| Event::Prepared(Box::new(p)));
    let ended = trials.into_iter().map(|trial| Event::Trial(Box::new(trial)));
    let finished = finished.map(|at| Event::Finished { at });
    prepared.chain(ended).chain(finished).map(|event| json!(event)).collect()
}

#[test]
fn the_published_schemas_are_those_of_the_types() {
    for (path, schema) in published() {
        let published: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        assert!(published == schema, "{} is not current; {REMEDY}", path.display());
    }
}

#[test]
fn what_is_written_is_what_the_schemas_say() {
    let header = jsonschema::validator_for(&schema::header()).unwrap();
    header.validate(&json!(run().header)).unwrap();
    let event = jsonschema::validator_for(&schema::event()).unwrap();
    for written in events() {
        event.validate(&written).unwrap();
    }
}

#[test]
fn what_lacks_a_field_or_has_another_type_is_told() {
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

/// Not a test: writes what is derived.
#[test]
#[ignore = "writes docs/schemas"]
fn derive() {
    for (path, schema) in published() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text(&schema)).unwrap();
    }
}
