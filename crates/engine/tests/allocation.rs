//! No call allocates on the heap: a load has all the memory it needs after its first calls.
//!
//! A connection's buffers still grow when more is sent or received at once than before: after a stall, or when a frame is
//! cut for the first time. That happens a few times per connection, however many calls it makes.

mod other;
#[path = "it/support.rs"]
mod support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use other::Other;
use rpcbench_clock::{self as clock, Nanos, Span};
use rpcbench_engine::{
    ConnectionOptions, LoadPlan, Patch, PatchSource, Payload, ReplyCheck, Session, Target,
};
use rpcbench_record::Protocol;

/// The system's allocator, which counts allocations.
struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: all of it is the system's allocator; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.realloc(memory, layout, size) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;
const CONNECTIONS: u32 = 20;
/// Stretches of each load, at least.
const STRETCHES: usize = 4;
/// Maximum number of times that buffers grow after the first calls.
const GROWTH: u64 = 16 * CONNECTIONS as u64;
/// One test at a time: the count is the process's.
static ALONE: Mutex<()> = Mutex::new(());

#[test]
#[ignore = "the other process of the tests here"]
fn serves_grpc() {
    other::serve("null");
}

#[test]
#[ignore = "the other process of the tests here"]
fn serves_json() {
    other::serve("null-json");
}

#[test]
#[ignore = "the other process of the tests here"]
fn serves_json_h2c() {
    other::serve("json-h2c");
}

#[test]
#[ignore = "the other process of the tests here"]
fn serves_thrift() {
    other::serve("thrift");
}

#[test]
#[ignore = "the other process of the tests here"]
fn serves_thrift_buffered_compact() {
    other::serve("thrift-buffered-compact");
}

#[test]
#[ignore = "the other process of the tests here"]
fn serves_tcp_echo() {
    other::serve("tcp-echo");
}

#[test]
#[ignore = "the other process of the tests here"]
fn serves_grpc_over_tls() {
    other::serve_tls("null");
}

/// The protocol, and the calls in flight per connection.
#[derive(Clone, Copy)]
enum Way {
    Grpc,
    GrpcOverTls,
    Json,
    JsonPipelined,
    JsonH2c,
    Thrift,
    ThriftBufferedCompact,
    TcpEcho,
}

/// One request, whose every reply is judged: it must have as many bytes.
struct Judged {
    request: &'static [u8],
    patches: Vec<Patch>,
    target: Target,
    reply_check: ReplyCheck,
}

impl Payload for Judged {
    fn target(&self, _: usize) -> &Target {
        &self.target
    }

    fn len(&self) -> usize {
        1
    }

    fn request(&self, _: usize) -> &[u8] {
        self.request
    }

    fn patches(&self, _: usize) -> &[Patch] {
        &self.patches
    }

    fn reply_check(&self) -> ReplyCheck {
        self.reply_check
    }

    fn verify(&self, _: usize, _: &[u8], reply: &[u8]) -> Result<(), String> {
        if reply.len() == self.request.len() { Ok(()) } else { Err("another length".to_owned()) }
    }
}

/// Waits until `calls` more calls have ended.
fn await_calls(session: &Session, calls: u64) {
    let end = session.progress().ended + calls;
    while session.progress().ended < end {
        clock::sleep_until(clock::now() + Nanos::from_millis(1));
    }
}

/// Asserts that measured calls allocate nothing in this process, except to grow buffers: stretches of `calls`
/// each, after a first one that may allocate. The server runs in another process.
fn takes_no_memory(way: Way, arrivals: &str, shape: &str, calls: u64) {
    let payload = |protocol| support::payload(protocol, shape);
    payload_takes_no_memory(way, (arrivals, shape), payload, calls);
}

/// The same for a payload of a protocol, with its name.
fn payload_takes_no_memory(
    way: Way,
    (arrivals, name): (&str, &str),
    payload: impl Fn(Protocol) -> Arc<dyn Payload>,
    calls: u64,
) {
    // A stall of the machine lets a buffer grow: a stretch without any may come later.
    let most = if arrivals == "closed" { 16 } else { STRETCHES };
    let stretches = allocations(way, arrivals, payload, (calls, most));
    let case = format!("{arrivals}, {name}: {stretches:?} in {calls} calls each");
    // By a schedule, bursts grow more rarely and for longer: there may be one in each stretch.
    assert!(arrivals != "closed" || stretches.contains(&0), "{case}");
    assert!(stretches.iter().sum::<u64>() <= GROWTH, "{case}");
}

/// Allocations of this process in stretches of `calls` each, after a first one: four, and more up to a number until one has none.
fn allocations(
    way: Way,
    arrivals: &str,
    payload: impl Fn(Protocol) -> Arc<dyn Payload>,
    (calls, most): (u64, usize),
) -> Vec<u64> {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let (protocol, server, in_flight) = match way {
        Way::Grpc => (Protocol::Grpc, "serves_grpc", 10 * CONNECTIONS),
        Way::GrpcOverTls => (Protocol::Grpc, "serves_grpc_over_tls", 10 * CONNECTIONS),
        Way::Json => (Protocol::Json, "serves_json", CONNECTIONS),
        Way::JsonPipelined => (Protocol::Json, "serves_json", 10 * CONNECTIONS),
        Way::JsonH2c => (Protocol::JsonH2c, "serves_json_h2c", 10 * CONNECTIONS),
        Way::Thrift => (Protocol::Thrift, "serves_thrift", CONNECTIONS),
        Way::ThriftBufferedCompact => {
            (Protocol::ThriftBufferedCompact, "serves_thrift_buffered_compact", CONNECTIONS)
        }
        Way::TcpEcho => (Protocol::TcpEcho, "serves_tcp_echo", CONNECTIONS),
    };
    let server = Other::start(server);
    let tls = matches!(way, Way::GrpcOverTls).then(support::unverified_tls);
    let plain = support::plan(protocol, server.address);
    let plan = LoadPlan {
        server: ConnectionOptions { tls, ..plain.server.clone() },
        connections: CONNECTIONS,
        in_flight,
        arrivals: arrivals.parse().unwrap(),
        threads: 2,
        timeout: Nanos::from_millis(60_000),
        grace: Nanos::from_millis(60_000),
        connect_timeout: Nanos::from_millis(60_000),
        pipelining: matches!(way, Way::JsonPipelined),
        ..plain
    };
    let mut session = Session::open(&plan, &payload(protocol)).unwrap();
    session.start();
    let start = clock::now() + Nanos::from_millis(20);
    session.measure(Span { start, end: start + Nanos::from_millis(600_000) });
    await_calls(&session, calls);
    let mut stretches = Vec::with_capacity(most);
    while stretches.len() < STRETCHES || stretches.len() < most && !stretches.contains(&0) {
        let before = ALLOCATIONS.load(Ordering::Relaxed);
        await_calls(&session, calls);
        stretches.push(ALLOCATIONS.load(Ordering::Relaxed) - before);
    }
    let unmeasured = session.pause().unwrap();
    assert_eq!(session.progress().failed, 0, "{:?}", unmeasured.error_examples);
    assert!(ALLOCATIONS.load(Ordering::Relaxed) > 0, "nothing is counted");
    stretches
}

#[test]
fn closed_loop_takes_no_memory_for_a_call() {
    takes_no_memory(Way::Grpc, "closed", "text:100", 50_000);
    takes_no_memory(Way::Grpc, "closed", "text:10000", 10_000);
}

#[test]
fn tls_takes_no_memory_for_a_call() {
    takes_no_memory(Way::GrpcOverTls, "closed", "text:100", 20_000);
}

#[test]
fn rate_takes_no_memory_for_a_call() {
    takes_no_memory(Way::Grpc, "constant:10000", "text:100", 10_000);
    takes_no_memory(Way::Grpc, "poisson:10000", "text:1000", 10_000);
}

#[test]
fn closed_loop_takes_no_memory_for_a_call_over_json() {
    takes_no_memory(Way::Json, "closed", "text:100", 20_000);
    takes_no_memory(Way::Json, "closed", "text:10000", 5_000);
    takes_no_memory(Way::JsonPipelined, "closed", "text:100", 50_000);
}

#[test]
fn rate_takes_no_memory_for_a_call_over_json() {
    takes_no_memory(Way::Json, "constant:5000", "text:100", 5_000);
}

#[test]
fn json_over_http2_takes_no_memory_for_a_call() {
    takes_no_memory(Way::JsonH2c, "closed", "text:100", 20_000);
    takes_no_memory(Way::JsonH2c, "closed", "text:20000", 2_000);
    takes_no_memory(Way::JsonH2c, "constant:5000", "text:100", 5_000);
}

#[test]
fn thrift_takes_no_memory_for_a_call() {
    takes_no_memory(Way::Thrift, "closed", "text:100", 20_000);
    takes_no_memory(Way::ThriftBufferedCompact, "closed", "text:100", 20_000);
    takes_no_memory(Way::ThriftBufferedCompact, "closed", "record", 5_000);
}

#[test]
fn reply_that_differs_on_every_call_takes_no_memory() {
    for source in [PatchSource::Nonce, PatchSource::Counter, PatchSource::Random] {
        let name = format!("{source:?}");
        let payload = |_| -> Arc<dyn Payload> {
            Arc::new(Judged {
                request: b"\x0a\x08@@@@@@@@",
                patches: vec![Patch { at: 2..10, source: source.clone() }],
                target: Target::new("/rpcbench.v1.Echo/Text"),
                reply_check: ReplyCheck::Each,
            })
        };
        payload_takes_no_memory(Way::Grpc, ("closed", &name), payload, 20_000);
    }
}

#[test]
fn empty_reply_takes_no_memory() {
    for reply_check in [ReplyCheck::Status, ReplyCheck::Each, ReplyCheck::Echo] {
        let payload = |_| -> Arc<dyn Payload> {
            let target = Target::new("/");
            Arc::new(Judged { request: b"", patches: Vec::new(), target, reply_check })
        };
        let name = format!("{reply_check:?}");
        payload_takes_no_memory(Way::TcpEcho, ("closed", &name), payload, 20_000);
    }
}

#[test]
fn decompression_allocates_nothing_in_steady_state() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let replies = [b'a', b'b'].map(|byte| rpcbench_engine::gzip(&[byte; 10_000]));
    let mut gunzip = rpcbench_engine::Gunzip::default();
    gunzip.content(&replies[0], 1 << 20).unwrap();
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    for reply in replies.iter().cycle().take(1000) {
        assert_eq!(gunzip.content(reply, 1 << 20).unwrap().len(), 10_000);
    }
    let allocated = ALLOCATIONS.load(Ordering::Relaxed) - before;
    assert!(allocated < 10, "{allocated} allocations of 1000 replies");
}
