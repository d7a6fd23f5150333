//! Waits until a server answers, for `--wait`.

use std::time::Duration;

use rpcbench_clock::{self as clock, Nanos};
use rpcbench_engine::{CallPosition, Client, ServerAddress, Target};
use rpcbench_record::{Protocol, units};

use super::{LoadRequest, Setup, SetupError};
use crate::reach::{Reached, reach_unless};

/// Time limit of an attempt, and the pause before the next.
const ATTEMPT: Duration = Duration::from_secs(2);
const PAUSE: Nanos = Nanos::from_millis(50);
/// A `grpc.health.v1.HealthCheckResponse` with status SERVING.
const SERVING: [u8; 2] = [0x08, 1];

impl Setup<'_> {
    /// Waits for the first address that answers within `wait` and reports itself as healthy.
    pub(super) fn await_server(
        &mut self,
        request: &LoadRequest,
        addresses: &[ServerAddress],
        wait: Duration,
    ) -> Result<Reached, SetupError> {
        let deadline = clock::now() + Nanos::from(wait);
        loop {
            let left = Duration::from(deadline - clock::now());
            let attempt = ATTEMPT.min(left).max(Duration::from_millis(1));
            let (addresses, server) =
                (addresses.to_vec(), request.connection(addresses[0].clone()));
            let reached = reach_unless(&self.interrupt, addresses, server, attempt);
            let problem = match reached {
                Ok(reached) if is_healthy(request, &reached.address, attempt) => {
                    return Ok(reached);
                }
                Ok(reached) => {
                    format!("{}: grpc.health.v1 does not say that it is serving", reached.address)
                }
                Err(error) => error.to_string(),
            };
            self.interrupt.check()?;
            // A shorter attempt could fail just because of its time limit.
            let next = clock::now() + PAUSE;
            if next >= deadline {
                let wait = units::length(wait);
                return Err(SetupError::Refused(format!("--wait {wait} is over: {problem}")));
            }
            clock::sleep_until(next);
        }
    }
}

/// False if the server has gRPC's health service, and it does not report SERVING.
fn is_healthy(request: &LoadRequest, used: &ServerAddress, within: Duration) -> bool {
    if request.protocol != Protocol::Grpc {
        return true;
    }
    let mut client = Client::new(request.connection(used.clone()), within);
    let check = Target::new("/grpc.health.v1.Health/Check");
    client.call(&check, &[], CallPosition::Any).map_or(true, |status| status == SERVING)
}
