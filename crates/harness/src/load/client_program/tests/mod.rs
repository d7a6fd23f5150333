//! Programs that break the client contract, and a program that lies.

mod peer;

use std::io::Write as _;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::thread;

use rpcbench_clock::{self as clock, Nanos};
use rpcbench_contract::{Corpus, Method, Profile, Shape};
use rpcbench_record::{Arrivals, PerSecond, Protocol, Rate, Window};

use super::agreement::Allowed;
use super::called::Called;
use super::records::Counted;
use super::session::{ProgramSession, Setting};
use super::{Opening, Program, check_client, frame, open};
use crate::host::control_socket::ControlSocket;
use crate::interrupt::Interrupt;
use crate::load::{LoadError, LoadSession as _};
use peer::{Honesty, Peer, hello, record};

/// A time limit that is never reached, even on a busy machine, and a limit that tests wait for.
const LONG: Nanos = Nanos::from_millis(10_000);
const SHORT: Nanos = Nanos::from_millis(300);
const ALLOWED: Allowed = Allowed::new(2, 0);

/// A program whose other end is a thread that runs `serve`, and the folder of its files.
fn program(serve: impl FnOnce(UnixStream) + Send + 'static) -> (Arc<Program>, ControlSocket) {
    let control = ControlSocket::create(&std::env::temp_dir(), None).unwrap();
    let theirs = UnixStream::connect(control.path()).unwrap();
    let ours = control.accept().unwrap().unwrap();
    let program = Program::start(ours, &control).unwrap();
    thread::spawn(move || serve(theirs));
    (Arc::new(program), control)
}

/// A program that sends these bytes and waits.
fn sends(bytes: Vec<u8>) -> (Arc<Program>, ControlSocket) {
    program(move |mut stream| {
        stream.write_all(&bytes).unwrap();
        while frame::read(&mut stream, &mut Vec::new()).is_ok() {}
    })
}

fn message(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    frame::write(&mut bytes, text.as_bytes()).unwrap();
    bytes
}

/// Reads until the end and returns the reason for it.
fn end_of((program, _): &(Arc<Program>, ControlSocket)) -> String {
    let interrupt = Interrupt::default();
    let deadline = clock::now() + LONG;
    let ended = program.wait(deadline, &interrupt, "it goes on", |_| None::<()>);
    ended.unwrap_err().to_string()
}

#[test]
fn program_that_breaks_its_socket_or_its_messages_is_named() {
    let closes = program(drop);
    assert_eq!(end_of(&closes), "it closed its control socket");
    let half = program(|mut stream| stream.write_all(&[24, 0, 0, 0, 2, 0, 0, 0, 1]).unwrap());
    assert_eq!(end_of(&half), "its control socket ended within a frame");
    let unreadable = end_of(&sends(message(r#"{"type":"hallo"}"#)));
    assert!(unreadable.starts_with("it sent a message that can't be read: "), "{unreadable}");
    let early = sends([&[0, 0, 0, 0, 2, 0, 0, 0][..]].concat());
    assert_eq!(end_of(&early), "it reported calls before `open`");
    let failing = sends(
        [
            message(r#"{"type":"opened","connections":1}"#),
            message(r#"{"type":"failed","error":"no idea"}"#),
        ]
        .concat(),
    );
    assert_eq!(end_of(&failing), "it said: no idea");
}

#[test]
fn program_of_another_version_or_clock_is_refused() {
    let now = clock::now();
    let version = end_of(&sends(message(&hello(2, now))));
    assert_eq!(version, "it speaks version 2 of contract/clients.md; expected version 1");
    for wrong in [Nanos(0), now + Nanos::from_millis(3_600_000)] {
        let clock = end_of(&sends(message(&hello(1, wrong))));
        assert!(clock.contains("report instants of that clock"), "{clock}");
    }
}

#[test]
fn program_without_a_sentence_about_its_checks_is_refused() {
    for (length, checks) in [(0, String::new()), (301, "x".repeat(301))] {
        let says = hello(1, clock::now()).replace("\"all\"", &format!("\"{checks}\""));
        let problem =
            format!("`checks` of its `hello` has {length} bytes; expected a sentence of 1 to 300");
        assert_eq!(end_of(&sends(message(&says))), problem);
    }
}

/// A session with two slots, and a program that behaves like `serve`.
fn session(
    report_timeout: Nanos,
    serve: impl FnOnce(UnixStream) + Send + 'static,
) -> (ProgramSession, ControlSocket) {
    let (program, control) = program(serve);
    program.count(Counted::new(Protocol::Json, None, Nanos::NEVER));
    let reference = Called::of(None, Protocol::Json, &[]).unwrap();
    let interrupt = Interrupt::default();
    let setting = Setting { interrupt, slots: 2, allowed: ALLOWED, seed: 1, report_timeout };
    (ProgramSession::new(program, reference, setting), control)
}

/// The error of a window of 20 ms.
fn failure(report_timeout: Nanos, serve: impl FnOnce(UnixStream) + Send + 'static) -> String {
    let (mut session, _control) = session(report_timeout, serve);
    session.set_arrivals(Arrivals::Closed).unwrap();
    let measured = session.measure(clock::now(), Window::Duration { length_ms: 20 });
    let ended: Result<(), LoadError> =
        measured.and_then(|_| session.finish()).map(|measured| panic!("{measured:?}"));
    ended.unwrap_err().to_string()
}

#[test]
fn program_that_reports_no_calls_or_false_ones_fails_its_window() {
    let ignores =
        |mut stream: UnixStream| while frame::read(&mut stream, &mut Vec::new()).is_ok() {};
    let silent = failure(SHORT, ignores);
    assert_eq!(
        silent,
        "calls of the window were not reported, though none takes as long as its timeout"
    );
    let reports = |records: fn(Nanos) -> Vec<Vec<u8>>| {
        failure(LONG, move |mut stream| {
            frame::read(&mut stream, &mut Vec::new()).unwrap();
            let records = records(clock::now()).concat();
            let head = [(records.len() as u32).to_le_bytes(), 2_u32.to_le_bytes()].concat();
            stream.write_all(&[head, records].concat()).unwrap();
            while frame::read(&mut stream, &mut Vec::new()).is_ok() {}
        })
    };
    let future = reports(|now| vec![record(now, now + Nanos::from_millis(60_000), 0, 0)]);
    assert_eq!(
        future,
        "it reported a call that ends in the future; instants are of CLOCK_MONOTONIC"
    );
    let past = reports(|now| vec![record(Nanos(1), now, 0, 0)]);
    assert_eq!(past, "it reported a call from before the load began");
    let half = reports(|_| vec![vec![0; 20]]);
    assert_eq!(half, "it reported 20 bytes, which are not whole records of 24");
}

/// Measures a window of 20 calls, which opens soon, with a client this honest. Returns the number of ok calls.
fn window_of_calls(honesty: Honesty, arrivals: Arrivals) -> Result<u64, LoadError> {
    let (program, _control) = program(move |stream| Peer::new(stream, honesty).serve());
    let (protocol, interrupt, report_timeout) = (Protocol::Json, Interrupt::default(), LONG);
    let reference = Called::of(None, protocol, &[]).unwrap();
    program.count(Counted::new(protocol, None, Nanos::NEVER));
    let opening = Opening {
        target: reference.address(),
        protocol,
        corpus: &Corpus::for_clients(&Shape::Text(100), 7, Profile::of(protocol).encoding),
        allowed: ALLOWED,
        in_flight: 1,
        timeout: LONG,
        connect_timeout: LONG.into(),
    };
    let allowed = ALLOWED.opened(open(&program, &interrupt, &opening)?);
    let setting = Setting { interrupt, slots: 2, allowed, seed: 1, report_timeout };
    let mut session = ProgramSession::new(program, reference, setting);
    session.set_arrivals(arrivals)?;
    session.measure(clock::now() + Nanos::from_millis(50), Window::Calls { calls: 20 })?;
    Ok(session.finish()?.tally.calls.outcomes.ok)
}

#[test]
fn window_fails_if_client_and_reference_server_count_differently() {
    assert_eq!(window_of_calls(Honesty::Full, Arrivals::Closed).unwrap(), 20);
    let problem = |honesty| window_of_calls(honesty, Arrivals::Closed).unwrap_err().to_string();
    assert_eq!(
        problem(Honesty::Invents),
        "it reported 20 answered calls, and the reference server answered 10"
    );
    assert_eq!(
        problem(Honesty::Hides),
        "it reported 20 calls that were sent, and the reference server answered 40"
    );
}

#[test]
fn open_loop_fails_if_its_calls_are_not_those_of_the_schedule() {
    let rate = Rate::PerSecond(PerSecond::new(1000.0).unwrap());
    let window = |honesty| window_of_calls(honesty, Arrivals::Constant { rate });
    assert_eq!(window(Honesty::Full).unwrap(), 20);
    let problem = |honesty| window(honesty).unwrap_err().to_string();
    assert_eq!(
        problem(Honesty::HidesLateness),
        "it reported a start other than the due time of call 0 of the schedule; report `at_ns` plus its entry"
    );
    assert_eq!(
        problem(Honesty::LeavesOut),
        "it stopped without a record of each call that was due in the window"
    );
}

#[test]
fn program_that_ignores_stop_fails_its_load() {
    let (mut session, _control) =
        session(SHORT, |mut stream| while frame::read(&mut stream, &mut Vec::new()).is_ok() {});
    session.start().unwrap();
    let ignored = session.pause().unwrap_err().to_string();
    assert!(ignored.starts_with("it did not stop"), "{ignored}");
}

/// The cases that a client this honest fails.
fn failed_cases(honesty: Honesty) -> Vec<&'static str> {
    let (program, _control) = program(move |stream| Peer::new(stream, honesty).serve());
    let report =
        check_client(&program, Protocol::Json, &Method::SERVED, 7, &Interrupt::default()).unwrap();
    report.failed.iter().map(|failure| failure.case).collect()
}

#[test]
fn honest_client_passes_all_cases() {
    assert_eq!(failed_cases(Honesty::Full), [""; 0]);
}

#[test]
fn client_that_calls_wrong_answers_right_is_caught() {
    let failed = failed_cases(Honesty::NoChecks);
    let of_texts = ["wrong/remembered", "wrong/empty", "wrong/malformed"];
    assert_eq!(failed[..3], of_texts);
    assert_eq!(
        failed.len(),
        of_texts.len() + 3 * ["remembered", "empty", "malformed", "altered"].len()
    );
}

#[test]
fn client_that_never_compares_whole_messages_is_caught() {
    let altered = ["record/altered", "dto/altered", "tree/altered"];
    assert_eq!(failed_cases(Honesty::ComparesNonces), altered);
}

#[test]
fn client_that_takes_a_late_reply_for_the_next_one_is_caught() {
    assert!(failed_cases(Honesty::KeepsLateConnections).contains(&"silence/late"));
}

#[test]
fn client_that_opens_more_connections_than_asked_is_caught() {
    let opened = window_of_calls(Honesty::OpensMore, Arrivals::Closed).unwrap_err().to_string();
    assert_eq!(
        opened,
        "it had 4 connections at a time; expected at most 2, which has one more for each failed call"
    );
    assert!(failed_cases(Honesty::OpensMore).contains(&"right"));
}

#[test]
fn client_that_reports_calls_that_it_did_not_make_is_caught() {
    assert!(failed_cases(Honesty::Invents).contains(&"right"));
}
