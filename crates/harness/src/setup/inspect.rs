//! Inspection before a load: the services of a server, what would be sent, and a single call.

use std::time::Duration;

use rpcbench_clock as clock;
use rpcbench_engine::{CallError, Client, Gunzip, Payload as _, Transcript};
use rpcbench_record::{Protocol, units};
use rpcbench_schema::Schema;

use super::{LoadRequest, Setup, SetupError};
use crate::calls::Calls;
use crate::reach::explain_failed_calls;

/// One call and its result.
#[derive(Debug)]
pub struct OneCall {
    /// The call and its data.
    pub calls: Calls,
    /// What came back, with the message decompressed.
    pub transcript: Transcript,
    /// The status of the call in its protocol. `None` without an answer.
    pub status: Option<u32>,
    /// Size of the message as received (possibly compressed), bytes.
    pub received: usize,
    /// Time from connecting to the end of the reply.
    pub took: Duration,
}

impl Setup<'_> {
    /// The schema of a server, from files or by reflection.
    pub fn schema(&mut self, request: &LoadRequest) -> Result<Schema, SetupError> {
        let call = request.call.clone();
        if let Some(schema) = self.interrupt.wait_for(move || call.schema_of_files())?? {
            return Ok(schema);
        }
        let used = self.reach(request)?.address;
        let server = request.connection(used);
        let timeout = request.connect_timeout();
        Ok(request.call.schema_by_reflection(&server, request.headers(), timeout)?)
    }

    /// The calls that a load would make. `None` for the contract's calls.
    pub fn described(&mut self, request: &LoadRequest) -> Result<Option<Calls>, SetupError> {
        match request.call.needs_server() {
            true => {
                let used = self.reach(request)?.address;
                request.calls(&used, &self.interrupt)
            }
            false => request.calls_of_files(&self.interrupt),
        }
    }

    /// Makes the first call of a load. `None` for the contract's calls.
    pub fn one_call(&mut self, request: &LoadRequest) -> Result<Option<OneCall>, SetupError> {
        let used = self.reach(request)?.address;
        let Some(calls) = request.calls(&used, &self.interrupt)? else { return Ok(None) };
        let timeout = request.timeout();
        let payload = &calls.payload;
        let server = request.connection(used);
        let mut client = Client::for_replies_up_to(payload.max_reply, server.clone(), timeout);
        let mut target = payload.target.clone();
        let is_plain_http = matches!(request.protocol, Protocol::Http | Protocol::Http2);
        if is_plain_http {
            // The body is shown no matter what the status is.
            target.accepted = vec![0..=u32::MAX];
        }
        let began = clock::now();
        let mut transcript = client.transcript(&target, payload.request(0));
        let took = Duration::from(clock::now() - began);
        if let Err(CallError::Transport(_) | CallError::Closed(_)) = &transcript.reply
            && let Some(reason) = explain_failed_calls(&server)
        {
            return Err(SetupError::Refused(reason));
        }
        let received = transcript.reply.as_ref().map_or(0, Vec::len);
        let status = match &transcript.reply {
            Ok(_) if is_plain_http => transcript.http_status(),
            Ok(_) => Some(request.protocol.spec().success),
            Err(CallError::Status { code, .. }) => Some(*code),
            Err(_) => None,
        };
        transcript.reply = transcript.reply.and_then(|reply| content(reply, payload.max_reply));
        Ok(Some(OneCall { calls, transcript, status, received, took }))
    }
}

impl OneCall {
    /// True if the status counts as success and the reply is usable.
    pub fn is_ok(&self, protocol: Protocol) -> bool {
        let target = &self.calls.payload.target;
        let is_usable = matches!(self.transcript.reply, Ok(_) | Err(CallError::Status { .. }));
        is_usable
            && self.status.is_some_and(|status| match status == protocol.spec().success {
                true => !target.rejects_success,
                false => target.accepts(status),
            })
    }
}

/// The content of a reply, decompressed if necessary.
fn content(reply: Vec<u8>, most: usize) -> Result<Vec<u8>, CallError> {
    if reply.len() > most {
        let (size, most) = (units::bytes(reply.len() as u64), units::bytes(most as u64));
        return Err(CallError::Transport(format!("a reply of {size}; --max-message is {most}")));
    }
    let mut gunzip = Gunzip::default();
    let content = gunzip.content(&reply, most);
    content.map(<[u8]>::to_vec).map_err(|error| CallError::Transport(error.to_string()))
}
