//! The first calls of a load on a server that the user runs. In most protocols the client speaks first, so a server that speaks
//! another protocol is only noticed when calls fail.

use rpcbench_clock::Nanos;
use rpcbench_record::Workload;

use super::loaded_server::{LoadedServer, StepError, failure};
use crate::load::Progress;
use crate::reach::explain_failed_calls;

/// Maximum wait for the first call.
const MAX_WAIT: Nanos = Nanos::from_millis(1000);
/// Interval of checks.
const POLL: Nanos = Nanos::from_millis(1);

impl LoadedServer<'_> {
    /// Fails if the first calls of the running load fail, and the server turns out to speak another protocol. Waits until `end`
    /// at most.
    pub fn await_first_call(&mut self, workload: &Workload, end: Nanos) -> Result<(), StepError> {
        if self.subject.is_proven() || std::mem::replace(&mut self.is_called, true) {
            return Ok(());
        }
        let until = end.min(self.context.now() + MAX_WAIT);
        loop {
            let Progress { ended, failed } = self.load()?.progress()?;
            if failed > 0 && failed == ended {
                break;
            }
            let now = self.context.now();
            if ended > 0 || now >= until || self.context.interrupt().wait_or_cut(now + POLL)? {
                return Ok(());
            }
        }
        let (protocol, authority) = (self.subject.protocol, workload.authority.as_ref());
        let server = self.running.endpoint().connection(protocol, authority);
        explain_failed_calls(&server).map_or(Ok(()), |reason| Err(failure(reason).into()))
    }
}
