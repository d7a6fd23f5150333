//! Tests that run on each driver that is possible here.

use std::io::{self, Write};
use std::net::Ipv4Addr;
use std::sync::Arc;

use rpcbench_contract::{Corpus, Shape};
use rpcbench_engine::clock::Nanos;
use rpcbench_engine::{LoadPlan, Payload, Session, SessionError};
use rpcbench_record::{Arrivals, Driver};

/// Makes two tests of each function: one for each driver.
#[allow(unused_macros, reason = "not every program of tests makes its tests with it")]
macro_rules! on_each_driver {
    ($($test:ident)*) => { $(
        mod $test {
            use rpcbench_record::Driver;

            #[test]
            fn epoll() {
                super::$test(Driver::Epoll);
            }

            #[test]
            fn io_uring() {
                if crate::each_driver::has_io_uring() {
                    super::$test(Driver::IoUring);
                }
            }
        }
    )* };
}

/// Whether the engine can use io_uring here; a line that says so if not.
pub fn has_io_uring() -> bool {
    let nobody = (Ipv4Addr::LOCALHOST, 0).into();
    let plan = LoadPlan {
        address: nobody,
        authority: String::new(),
        connections: 1,
        in_flight: 1,
        arrivals: Arrivals::Closed,
        seed: 1,
        driver: Some(Driver::IoUring),
        threads: 1,
        cpus: Vec::new(),
        timeout: Nanos(1),
        grace: Nanos(1),
        connect_timeout: Nanos(1),
        first_entry: 0,
    };
    let payload: Arc<dyn Payload> = Arc::new(Corpus::generate(&Shape::Text(1), 1));
    match Session::open(&plan, &payload) {
        Err(error @ SessionError::NoIoUring(_)) => {
            // Past the test runner, which shows nothing of a test that passes.
            let mut stderr = io::stderr();
            writeln!(stderr, "SKIPPED: {error}").unwrap();
            false
        }
        _ => true,
    }
}
