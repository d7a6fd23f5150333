//! Older records, brought to today's schema a step at a time.
//!
//! A step works on JSON, so that the types know one schema only. It changes what its schema has and leaves what is
//! newer alone: an older run that was gone on with has lines of both.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::id::RunId;
use crate::plan::Plan;
use crate::unsteady::Unsteady;

/// From one schema to the next.
struct Step {
    /// `run.json`.
    header: fn(&mut Value),
    /// A line of `events.jsonl`.
    event: fn(&mut Value, &Plan),
    /// The record of a load.
    load: fn(&mut Value),
}

/// The first is from schema 1 to 2.
const STEPS: [Step; crate::SCHEMA as usize - 1] =
    [Step { header: header_1, event: event_1, load: load_1 }];

/// The schema of a header or of a load: 1 or more. `None` where there is none.
pub(crate) fn schema(record: &Value) -> Option<u64> {
    record["schema"].as_u64().filter(|schema| *schema > 0)
}

/// A header of that schema or a later one. Not for one that is newer than today's.
pub(crate) fn header(value: &mut Value, schema: u64) {
    steps(schema).for_each(|step| (step.header)(value));
    value["schema"] = json!(crate::SCHEMA);
}

/// An event of that schema or a later one, of a run with that plan, which is today's.
pub(crate) fn event(value: &mut Value, schema: u64, plan: &Plan) {
    steps(schema).for_each(|step| (step.event)(value, plan));
}

/// The run of a load in a file of its own, as loads were written before they were runs. How much the capacity was that
/// its rate is a share of is lost.
pub(crate) fn load(mut value: Value, schema: u64) -> Value {
    steps(schema).for_each(|step| (step.load)(&mut value));
    let started = value["started"].as_str().and_then(|text| text.parse::<Timestamp>().ok());
    let id = RunId::derive(started.unwrap_or_default(), value["arguments"].to_string().as_bytes());
    let (entry, arrivals) = (&value["address"], &value["workload"]["arrivals"]);
    let trial = json!({ "entry": entry, "workload": value["workload"]["name"], "number": 1 });
    let mut ended = trial.clone();
    ended["started"] = value["started"].clone();
    ended["unmeasured"] = json!({ "outcomes": value["warm_up"], "error_examples": [] });
    ended["result"] = json!({ "measured": value["measured"] });
    if arrivals != "closed" {
        ended["arrivals"] = arrivals.clone();
    }
    let server = json!({
        "entry": entry, "server": entry, "protocol": value["protocol"], "variant": null,
        "language": "", "library": "",
    });
    let plan = json!({
        "suite": "load", "seed": value["seed"], "placement": "unmanaged",
        "fail_if": value["fail_if"],
        "limits": { "cpus": value["machine"]["cpu"]["logical"], "memory_bytes": null },
        "workloads": [value["workload"]], "servers": [server], "order": [trial],
    });
    let header = json!({
        "schema": crate::SCHEMA, "id": id, "tool": value["tool"], "arguments": value["arguments"],
        "started": value["started"], "plan": plan,
        "machines": { "client": value["machine"], "server": "unknown" },
    });
    let finished = &value["started"];
    json!({ "header": header, "preparations": [], "trials": [ended], "finished": finished })
}

fn steps(schema: u64) -> impl Iterator<Item = &'static Step> {
    STEPS.iter().skip(usize::try_from(schema - 1).unwrap_or(usize::MAX))
}

/// Runs have an id, and machines by role; the protocol stands on entries, not on workloads; arrivals are no longer called law;
/// the order says which process serves a trial.
fn header_1(header: &mut Value) {
    let started = header["started"].as_str().and_then(|text| text.parse::<Timestamp>().ok());
    let content = format!("{} {}", header["arguments"], header["plan"]["seed"]);
    let id = RunId::derive(started.unwrap_or_default(), content.as_bytes());
    let Some(header) = header.as_object_mut() else { return };
    header.entry("id").or_insert_with(|| json!(id));
    if let Some(machine) = header.remove("machine") {
        header.insert(
            "machines".to_owned(),
            json!({ "client": machine, "server": "same_as_client" }),
        );
    }
    let Some(plan) = header.get_mut("plan") else { return };
    let is_fresh = plan.as_object_mut().and_then(|plan| plan.remove("fresh"));
    let is_fresh = is_fresh.is_some_and(|fresh| fresh == "each_trial");
    for trial in objects(plan.get_mut("order")) {
        let process = if is_fresh { trial.get("number").cloned() } else { None };
        trial.entry("process").or_insert_with(|| process.unwrap_or_else(|| json!(1)));
    }
    let mut protocol = None;
    for workload in objects(plan.get_mut("workloads")) {
        rename(workload, "law", "arrivals");
        protocol = protocol.or(workload.remove("protocol"));
    }
    let protocol = protocol.unwrap_or_else(|| json!("grpc"));
    for server in objects(plan.get_mut("servers")) {
        server.entry("protocol").or_insert_with(|| protocol.clone());
    }
}

/// Arrivals are no longer called law; why a warm-up was not steady is no longer a sentence; processes are numbered.
fn event_1(event: &mut Value, plan: &Plan) {
    if let Some(trial) = event.get_mut("trial").and_then(Value::as_object_mut) {
        rename(trial, "law", "arrivals");
        let process = process(plan, trial, "number");
        trial.entry("process").or_insert(process);
    }
    if let Some(prepared) = event.get_mut("prepared").and_then(Value::as_object_mut) {
        let process = process(plan, prepared, "trial");
        prepared.entry("process").or_insert(process);
        prepared.remove("trial");
    }
    if let Some(Value::String(words)) = event.pointer("/prepared/warm/unsteady") {
        event["prepared"]["warm"]["unsteady"] = json!(Unsteady::from_words(words));
    }
}

/// The process that serves a trial of the plan; `key` is where its number stands.
fn process(plan: &Plan, event: &Map<String, Value>, key: &str) -> Value {
    let is = |name: &str, value: &str| event.get(name).is_some_and(|v| v == value);
    let number = event.get(key).and_then(Value::as_u64);
    let mut order = plan.order.iter().filter(|t| Some(u64::from(t.number)) == number);
    let planned = order.find(|t| is("entry", &t.entry) && is("workload", &t.workload));
    json!(planned.map_or(1, |planned| planned.process))
}

/// The protocol stands beside the workload, not on it; arrivals are no longer called law.
fn load_1(load: &mut Value) {
    let Some(workload) = load.get_mut("workload").and_then(Value::as_object_mut) else { return };
    rename(workload, "law", "arrivals");
    let protocol = workload.remove("protocol").unwrap_or_else(|| json!("grpc"));
    if load["protocol"].is_null() {
        load["protocol"] = protocol;
    }
}

fn rename(object: &mut Map<String, Value>, from: &str, to: &str) {
    if let Some(value) = object.remove(from) {
        object.insert(to.to_owned(), value);
    }
}

fn objects(list: Option<&mut Value>) -> impl Iterator<Item = &mut Map<String, Value>> {
    list.and_then(Value::as_array_mut).into_iter().flatten().filter_map(Value::as_object_mut)
}
