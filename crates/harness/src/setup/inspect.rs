//! Inspection before a load: the offer of a server, what would be sent, and one call.

use std::time::Duration;

use rpcbench_clock as clock;
use rpcbench_engine::{CallError, CallPosition, Client, Payload as _};
use rpcbench_schema::Schema;

use super::{LoadRequest, Setup, SetupError};
use crate::calls::Calls;

/// One call and its result.
#[derive(Debug)]
pub struct OneCall {
    /// The call, with its data.
    pub calls: Calls,
    /// The reply's content, or how the call ended without one.
    pub reply: Result<Vec<u8>, CallError>,
    /// Time from connecting to the reply's end.
    pub took: Duration,
}

impl Setup<'_> {
    /// The schema of a server, by files or by reflection.
    pub fn schema(&mut self, request: &LoadRequest) -> Result<Schema, SetupError> {
        if let Some(schema) = request.call.schema_of_files()? {
            return Ok(schema);
        }
        let used = self.reach(request)?;
        let server = request.connection(used);
        Ok(request.call.schema_by_reflection(&server, request.connect_timeout())?)
    }

    /// The calls that a load would make. `None` for those of the contract.
    pub fn described(&mut self, request: &LoadRequest) -> Result<Option<Calls>, SetupError> {
        match request.call.needs_server() {
            true => {
                let used = self.reach(request)?;
                request.calls(&used)
            }
            false => request.calls_of_files(),
        }
    }

    /// Makes the first call of a load. `None` for the contract.
    pub fn one_call(&mut self, request: &LoadRequest) -> Result<Option<OneCall>, SetupError> {
        let used = self.reach(request)?;
        let Some(calls) = request.calls(&used)? else { return Ok(None) };
        let timeout = request.timeout();
        let mut client = Client::new(request.connection(used), timeout);
        let began = clock::now();
        let payload = &calls.payload;
        let reply = client.call(&payload.target, payload.request(0), CallPosition::Any);
        let took = Duration::from(clock::now() - began);
        Ok(Some(OneCall { calls, reply, took }))
    }
}
