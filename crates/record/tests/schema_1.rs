//! Records of schema 1, as rpcbench e1b5bee wrote them, are read.

use std::fs;
use std::path::{Path, PathBuf};

use rpcbench_record::{
    Arrivals, Event, PlacementKind, Protocol, Run, SCHEMA, Unsteady, Writer, read,
};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/schema_1")
}

fn old() -> Run {
    read(&folder()).unwrap()
}

#[test]
fn an_old_run_is_read_as_todays() {
    let run = old();
    let plan = &run.header.plan;
    assert_eq!(run.header.schema, SCHEMA);
    let arrivals: Vec<Arrivals> = plan.workloads.iter().map(|w| w.arrivals).collect();
    assert_eq!(arrivals, [Arrivals::Closed, "poisson:40%".parse().unwrap()]);
    let protocols: Vec<Protocol> = plan.servers.iter().map(|server| server.protocol).collect();
    assert_eq!(protocols, [Protocol::Grpc]);
    let arrivals: Vec<_> = run.trials.iter().map(|trial| trial.arrivals).collect();
    assert_eq!(arrivals, [None, "poisson:400".parse().ok()]);
    let warm = run.preparations[0].warm.as_ref().unwrap();
    assert_eq!(warm.unsteady, Some(Unsteady::Climbing { change: 0.12 }));
    assert!(run.finished.is_some());
}

/// Its processes had no numbers: they were one for all trials, or one for each.
#[test]
fn processes_of_an_old_run_are_numbered() {
    let text = |name: &str| fs::read_to_string(folder().join(name)).unwrap();
    let processes = |lifetime: &str| -> Vec<u32> {
        let copy = tempfile::tempdir().unwrap();
        let header = text("run.json").replace("\"kept\"", lifetime);
        let header = header.replace("\"number\": 1", "\"number\": 2");
        let events = text("events.jsonl").replace("\"number\":1", "\"number\":2");
        fs::write(copy.path().join("run.json"), header).unwrap();
        fs::write(copy.path().join("events.jsonl"), events.replace("\"trial\":1", "\"trial\":2"))
            .unwrap();
        let run = read(copy.path()).unwrap();
        let planned = run.header.plan.order.iter().map(|planned| planned.process);
        let prepared = run.preparations.iter().map(|preparation| preparation.process);
        let trials = run.trials.iter().map(|trial| trial.process);
        planned.chain(prepared).chain(trials).collect()
    };
    assert_eq!(processes("\"kept\""), [1, 1, 1, 1, 1]);
    assert_eq!(processes("\"each_trial\""), [2, 2, 2, 2, 2]);
}

#[test]
fn an_old_run_has_an_id_and_always_the_same() {
    let id = old().header.id;
    assert_eq!(id, old().header.id);
    assert_eq!(id.to_string(), "019c1912-fafa-707c-856b-93d8dd0ebec3");
}

#[test]
fn what_was_read_is_written_in_todays_schema_and_read_back() {
    let run = old();
    let copy = tempfile::tempdir().unwrap();
    let mut writer = Writer::create(copy.path(), &run.header).unwrap();
    for preparation in &run.preparations {
        writer.append(&Event::Prepared(Box::new(preparation.clone()))).unwrap();
    }
    for trial in &run.trials {
        writer.append(&Event::Trial(Box::new(trial.clone()))).unwrap();
    }
    let finished = Event::Finished { at: run.finished.unwrap() };
    writer.append(&finished).unwrap();
    assert_eq!(read(copy.path()).unwrap(), run);
}

/// `run --resume` appends lines of today's schema to an old record.
#[test]
fn an_old_run_may_have_new_lines() {
    let mut run = old();
    let copy = tempfile::tempdir().unwrap();
    for name in ["run.json", "events.jsonl"] {
        fs::copy(folder().join(name), copy.path().join(name)).unwrap();
    }
    let mut writer = Writer::resume(copy.path()).unwrap();
    for (preparation, unsteady) in [
        (run.preparations[0].clone(), Unsteady::Idle),
        (run.preparations[0].clone(), Unsteady::TooShort),
    ] {
        let mut preparation = preparation;
        preparation.warm.as_mut().unwrap().unsteady = Some(unsteady);
        writer.append(&Event::Prepared(Box::new(preparation.clone()))).unwrap();
        run.preparations.push(preparation);
    }
    writer.append(&Event::Trial(Box::new(run.trials[1].clone()))).unwrap();
    run.trials.push(run.trials[1].clone());
    assert_eq!(read(copy.path()).unwrap(), run);
}

#[test]
fn an_old_load_is_read_as_todays() {
    let run = read(&folder().join("load.json")).unwrap();
    let plan = &run.header.plan;
    assert_eq!((run.header.schema, plan.servers[0].protocol), (SCHEMA, Protocol::Grpc));
    assert_eq!(plan.placement, PlacementKind::Unmanaged);
    let arrivals = "constant:1000".parse().unwrap();
    assert_eq!((plan.workloads[0].arrivals, run.trials[0].arrivals), (arrivals, Some(arrivals)));
    assert!(run.trials[0].unmeasured.is_some() && run.finished.is_some());
}
