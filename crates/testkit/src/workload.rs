//! A workload for tests.

use rpcbench_record::{Arrivals, ConnectionLife, Content, TlsMode, WarmUp, Window, Workload};

/// A closed loop with one call in flight, for tests to modify.
pub fn workload() -> Workload {
    Workload {
        name: "w".to_owned(),
        content: Content::Shape("text:100".to_owned()),
        connections: 1,
        connection_life: ConnectionLife::Long,
        in_flight: 1,
        arrivals: Arrivals::Closed,
        find_max: None,
        warm_up: WarmUp::Fixed { length_ms: 0 },
        settle_ms: Workload::SETTLE_MS,
        window: Window::Duration { length_ms: 1000 },
        timeout_ms: 1000,
        grace_ms: 1000,
        connect_timeout_ms: Workload::CONNECT_TIMEOUT_MS,
        client_threads: 1,
        pipelining: false,
        headers: Vec::new(),
        authority: None,
        tls: TlsMode::Off,
        keepalive: None,
    }
}
