//! A record on disk: written event by event, read back whole, resumed after a crash.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::process::Command;

use rpcbench_record::{
    CallHeader, Event, Failure, Header, LaterSecrets, Machine, Machines, Plan, Readiness, Run,
    SCHEMA, Secrets, ServerMachine, StoreError, Trial, TrialResult, Writer, read,
};

use crate::sample::{self, header, run, trial};

fn written(folder: &Path, trials: &[Trial]) -> Writer {
    let mut writer = Writer::create(folder, &header()).unwrap();
    for trial in trials {
        writer.append(&Event::Trial(Box::new(trial.clone()))).unwrap();
    }
    writer
}

#[test]
fn record_round_trips() {
    let folder = tempfile::tempdir().unwrap();
    let run = run();
    let mut writer = Writer::create(folder.path(), &run.header).unwrap();
    writer.append(&Event::Prepared(Box::new(run.preparations[0].clone()))).unwrap();
    for trial in &run.trials {
        writer.append(&Event::Trial(Box::new(trial.clone()))).unwrap();
    }
    writer.append(&Event::InterimAnalysis(run.interim_analyses[0].clone())).unwrap();
    writer.append(&Event::Finished { at: run.finished.unwrap() }).unwrap();
    assert_eq!(read(folder.path()).unwrap(), run);
}

#[test]
fn printable_copy_shares_windows_without_text() {
    let [mut quiet, mut loud] = [trial(1), trial(2)];
    let text = |trial: &mut Trial, examples: Vec<String>| {
        let mut measured = trial.measured().cloned().unwrap();
        measured.error_examples = examples;
        measured.connections.reason = None;
        trial.result = measured.into();
    };
    text(&mut quiet, Vec::new());
    text(&mut loud, vec!["\u{1b}[2J".to_owned()]);
    let trials = vec![quiet, loud];
    let run = Run { trials, ..Run::new(header()) };
    let shown = run.printable();
    let window = |run: &Run, at: usize| run.trials[at].measured().map(std::ptr::from_ref);
    assert_eq!(window(&shown, 0), window(&run, 0));
    assert_eq!(shown.trials[1].measured().unwrap().error_examples, ["\\u{1b}[2J"]);
    assert_eq!(run.trials[1].measured().unwrap().error_examples, ["\u{1b}[2J"]);
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
fn line_cut_by_crash_is_dropped_on_resume() {
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
fn run_killed_before_first_event_can_be_resumed() {
    let folder = tempfile::tempdir().unwrap();
    drop(written(folder.path(), &[]));
    fs::remove_file(folder.path().join("events.jsonl")).unwrap();
    assert_eq!(read(folder.path()).unwrap().trials, []);
    Writer::resume(folder.path()).unwrap().append(&Event::Trial(Box::new(trial(1)))).unwrap();
    assert_eq!(read(folder.path()).unwrap().trials, [trial(1)]);
}

#[test]
fn record_is_never_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    drop(written(folder.path(), &[trial(1)]));
    assert!(matches!(Writer::create(folder.path(), &header()), Err(StoreError::Exists(_))));
    let file = folder.path().join("run.json");
    assert!(matches!(Writer::create(&file, &header()), Err(StoreError::NoFolder(_))));
    assert_eq!(read(folder.path()).unwrap().trials, [trial(1)]);
}

#[test]
fn invalid_record_is_reported_with_line() {
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

#[test]
fn gigabyte_line_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    drop(written(folder.path(), &[trial(1)]));
    let events = OpenOptions::new().append(true).open(folder.path().join("events.jsonl")).unwrap();
    events.set_len(1 << 30).unwrap();
    let error = read(folder.path()).unwrap_err();
    assert!(matches!(error, StoreError::TooLong { line: 2, .. }), "{error}");
    assert!(
        error
            .to_string()
            .ends_with("events.jsonl:2: not a run record: the line is longer than 256 MiB")
    );
    let header = OpenOptions::new().append(true).open(folder.path().join("run.json")).unwrap();
    header.set_len(1 << 30).unwrap();
    assert!(matches!(read(folder.path()), Err(StoreError::TooLong { line: 1, .. })));
}

#[test]
fn server_machine_may_be_own_or_unknown() {
    let client = header().machines.client;
    let own = Box::new(Machine { kernel: "6.2".into(), ..client.clone() });
    for server in [ServerMachine::Own(own), ServerMachine::Unknown] {
        let folder = tempfile::tempdir().unwrap();
        let machines = Machines { client: client.clone(), server, engine: None };
        let header = Header { machines, ..header() };
        drop(Writer::create(folder.path(), &header).unwrap());
        assert_eq!(read(folder.path()).unwrap().header, header);
    }
}

#[test]
fn record_of_other_schema_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    drop(written(folder.path(), &[]));
    let path = folder.path().join("run.json");
    let text = fs::read_to_string(&path).unwrap();
    let own = format!("\"schema\": {SCHEMA}");
    assert!(text.contains(&own), "{text}");
    for other in [0, 99] {
        fs::write(&path, text.replace(&own, &format!("\"schema\": {other}"))).unwrap();
        let error = read(folder.path()).unwrap_err();
        assert!(
            matches!(error, StoreError::OtherSchema { found, .. } if found == other),
            "{error}"
        );
        let expected = format!(
            "record of schema {other}; this rpcbench reads schema 1; read it with the rpcbench that wrote it"
        );
        assert!(error.to_string().contains(&expected), "{error}");
    }
}

#[test]
fn file_without_schema_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for text in ["[]", "{}", "{\"schema\": -1}", "{\"schema\": \"1\"}"] {
        fs::write(folder.path().join("run.json"), text).unwrap();
        let error = read(folder.path()).unwrap_err();
        assert!(matches!(error, StoreError::Parse { .. }), "{text}: {error}");
    }
}

#[test]
fn record_deleted_during_run_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    for replaced in [false, true] {
        let record = folder.path().join(format!("record-{replaced}"));
        let mut writer = written(&record, &[trial(1)]);
        fs::remove_dir_all(&record).unwrap();
        if replaced {
            drop(written(&record, &[trial(1)]));
        }
        let lost = writer.append(&Event::Trial(Box::new(trial(2)))).unwrap_err();
        assert!(matches!(lost, StoreError::Lost(_)), "{lost}");
        assert!(lost.to_string().ends_with("the record is lost"), "{lost}");
    }
}

/// A named pipe without a writer blocks whoever opens it.
#[test]
fn pipe_in_place_of_file_is_refused() {
    for name in ["run.json", "events.jsonl"] {
        let folder = tempfile::tempdir().unwrap();
        drop(written(folder.path(), &[trial(1)]));
        let pipe = folder.path().join(name);
        fs::remove_file(&pipe).unwrap();
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let refused = read(folder.path()).unwrap_err().to_string();
        assert_eq!(refused, format!("{}: not a regular file", pipe.display()));
        if name == "events.jsonl" {
            let refused = Writer::resume(folder.path()).unwrap_err().to_string();
            assert_eq!(refused, format!("{}: not a regular file", pipe.display()));
        }
    }
}

#[test]
fn second_writer_is_refused_by_the_process_of_the_first() {
    let folder = tempfile::tempdir().unwrap();
    let writer = written(folder.path(), &[trial(1)]);
    let refused = Writer::resume(folder.path()).unwrap_err().to_string();
    let process = std::process::id();
    assert!(
        refused.ends_with(&format!(
            "events.jsonl: process {process} is writing this record; wait for its end, or stop it"
        )),
        "{refused}"
    );
    drop(writer);
    drop(Writer::resume(folder.path()).unwrap());
}

#[test]
fn links_in_a_record_are_not_written_through() {
    for name in ["report.md", "events.jsonl", "calls/go-grpc.quick.json"] {
        let folder = tempfile::tempdir().unwrap();
        let record = folder.path().join("record");
        drop(written(&record, &[trial(1)]));
        let outside = folder.path().join("outside");
        fs::write(&outside, "mine").unwrap();
        let link = record.join(name);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        let _ = fs::remove_file(&link);
        std::os::unix::fs::symlink(&outside, &link).unwrap();
        let refused = Writer::resume(&record).unwrap_err();
        assert!(matches!(&refused, StoreError::Link(path) if *path == link), "{refused}");
        assert_eq!(fs::read_to_string(&outside).unwrap(), "mine");
    }
}

#[test]
fn secrets_that_a_server_sends_back_are_concealed() {
    let mut plan: Plan = header().plan;
    let headers = ["authorization: Bearer s3cr3t", "cookie: id=c00kie; a=b", "x-trace: open7"];
    plan.workloads[0].headers = headers.map(|text| text.parse().unwrap()).into();
    let secrets = Secrets::of(&plan);
    let said = "no user: Bearer s3cr3t, s3cr3t, c00kie, open7, Bearer, a=b".to_owned();
    let concealed = "no user: [redacted], [redacted], [redacted], open7, Bearer, a=b";
    let basic = CallHeader::basic_authorization("ann:pa55word").unwrap();
    let mut decoded = "ann:pa55word is wrong, so is pa55word".to_owned();
    Secrets::of_headers([&basic]).conceal(&mut decoded);
    assert_eq!(decoded, "[redacted] is wrong, so is [redacted]");
    let binary = ["a-bin: c2VjcmV0MQ", "b-bin: c2VjcmV0Mg==", "c-bin: /w=="];
    let binary = binary.map(|text| text.parse().unwrap());
    let mut decoded = "[secret1 secret2 c2VjcmV0Mg== c2VjcmV0Mg]".to_owned();
    Secrets::of_headers(&binary).conceal(&mut decoded);
    assert_eq!(decoded, "[[redacted] [redacted] [redacted] [redacted]]");
    let short = ["x-pin: 12a", "x-api-key: k7", "authorization: Bearer abc", "cookie: id=x1"];
    let short = short.map(|text| text.parse().unwrap());
    let mut words = "12a, k7: abc; 312a, k7b, abcd, id, x1".to_owned();
    Secrets::of_headers(&short).conceal(&mut words);
    assert_eq!(words, "12a, [redacted]: [redacted]; 312a, k7b, abcd, id, [redacted]");
    let later = LaterSecrets::default();
    let renewing = Secrets::of(&plan).and(later.clone());
    later.add(&"authorization: Bearer n3w".parse().unwrap());
    later.add(&"authorization: Bearer n3wer".parse().unwrap());
    let mut renewed = "s3cr3t, then Bearer n3wer".to_owned();
    renewing.conceal(&mut renewed);
    assert_eq!(renewed, "[redacted], then [redacted]");
    let failure = Failure { reason: said.clone(), log_tail: vec![said] };

    let mut preparation = sample::preparation();
    preparation.readiness = Readiness::Failed(failure.clone());
    secrets.conceal_in_preparation(&mut preparation);
    let mut trial = trial(1);
    trial.result = TrialResult::Failed(failure);
    secrets.conceal_in_trial(&mut trial);

    let Readiness::Failed(prepared) = preparation.readiness else { panic!("it failed") };
    let TrialResult::Failed(measured) = trial.result else { panic!("it failed") };
    for failure in [prepared, measured] {
        assert_eq!((&*failure.reason, &*failure.log_tail[0]), (concealed, concealed));
    }
}
