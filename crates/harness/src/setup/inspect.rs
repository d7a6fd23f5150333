//! Inspection before a load: the offer of a server, what would be sent, and one call.

use std::time::Duration;

use rpcbench_clock as clock;
use rpcbench_engine::{CallError, CallPosition, Client, Gunzip, Payload as _};
use rpcbench_record::units;
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
    /// Size of that content as received, perhaps compressed, bytes.
    pub received: usize,
    /// Time from connecting to the reply's end.
    pub took: Duration,
}

impl Setup<'_> {
    /// The schema of a server, by files or by reflection.
    pub fn schema(&mut self, request: &LoadRequest) -> Result<Schema, SetupError> {
        if let Some(schema) = request.call.schema_of_files()? {
            return Ok(schema);
        }
        let used = self.reach(request)?.address;
        let server = request.connection(used);
        Ok(request.call.schema_by_reflection(&server, request.connect_timeout())?)
    }

    /// The calls that a load would make. `None` for those of the contract.
    pub fn described(&mut self, request: &LoadRequest) -> Result<Option<Calls>, SetupError> {
        match request.call.needs_server() {
            true => {
                let used = self.reach(request)?.address;
                request.calls(&used)
            }
            false => request.calls_of_files(),
        }
    }

    /// Makes the first call of a load. `None` for the contract.
    pub fn one_call(&mut self, request: &LoadRequest) -> Result<Option<OneCall>, SetupError> {
        let used = self.reach(request)?.address;
        let Some(calls) = request.calls(&used)? else { return Ok(None) };
        let timeout = request.timeout();
        let payload = &calls.payload;
        let mut client =
            Client::for_replies_up_to(payload.max_reply, request.connection(used), timeout);
        let began = clock::now();
        let reply = client.call(&payload.target, payload.request(0), CallPosition::Any);
        let took = Duration::from(clock::now() - began);
        let received = reply.as_ref().map_or(0, Vec::len);
        let reply = reply.and_then(|reply| content(reply, payload.max_reply));
        Ok(Some(OneCall { calls, reply, received, took }))
    }
}

/// A reply's content, decompressed if it is compressed.
fn content(reply: Vec<u8>, most: usize) -> Result<Vec<u8>, CallError> {
    if reply.len() > most {
        let (size, most) = (units::bytes(reply.len() as u64), units::bytes(most as u64));
        return Err(CallError::Transport(format!("a reply of {size}; --max-message is {most}")));
    }
    let mut gunzip = Gunzip::default();
    let content = gunzip.content(&reply, most);
    content.map(<[u8]>::to_vec).map_err(|error| CallError::Transport(error.to_string()))
}
