//! What the cases are made of: calls with a known right end.

use super::{CallError, Caller};
use crate::payload::Payload;
use crate::reply::{self, Mismatch};
use crate::shape::Shape;
use crate::source::Source;

/// Calls without an answer, one after another, after which a server counts as dead.
const SILENT_AFTER: u32 = 3;

/// A server on the bench, and the randomness of the case at hand.
pub(super) struct Bench<'a> {
    caller: &'a mut dyn Caller,
    seed: u64,
    unanswered: u32,
}

impl<'a> Bench<'a> {
    pub(super) fn new(caller: &'a mut dyn Caller, seed: u64) -> Self {
        Self { caller, seed, unanswered: 0 }
    }

    pub(super) fn seed(&self) -> u64 {
        self.seed
    }

    /// Whether the latest calls all went unanswered.
    pub(super) fn is_silent(&self) -> bool {
        self.unanswered >= SILENT_AFTER
    }

    /// A filled payload, the same for every case with that shape and number.
    pub(super) fn payload(&self, shape: Shape, number: u64) -> Payload {
        Payload::random(shape, &mut Source::new(self.seed.wrapping_add(number)))
    }

    pub(super) fn call(&mut self, path: &str, body: &[u8]) -> Result<Vec<u8>, CallError> {
        let result = self.caller.call(path, body);
        self.unanswered = match result {
            Err(CallError::Timeout) => self.unanswered + 1,
            _ => 0,
        };
        result
    }

    /// The payload must come back.
    pub(super) fn echoes(&mut self, payload: &Payload) -> Result<(), String> {
        self.replies(payload.shape(), &payload.request(), &[payload.reply()])
    }

    /// The request must be answered with one of the replies.
    pub(super) fn replies(
        &mut self,
        shape: Shape,
        request: &[u8],
        right: &[Vec<u8>],
    ) -> Result<(), String> {
        let got = self.call(shape.method(), request).map_err(|error| {
            format!("a valid request of {} bytes was not answered: {error}", request.len())
        })?;
        let mut result = Ok(());
        for right in right {
            result = reply::compare(shape, right, &got);
            if result.is_ok() {
                return Ok(());
            }
        }
        let returned = !got.is_empty() && got == request;
        result.map_err(|mismatch| {
            if returned { Mismatch::RequestReturned } else { mismatch }.to_string()
        })
    }

    /// The request must end with a status other than OK.
    pub(super) fn refuses(&mut self, path: &str, body: &[u8], what: &str) -> Result<(), String> {
        match self.call(path, body) {
            Err(CallError::Status { code, .. }) if code != 0 => Ok(()),
            Err(CallError::Status { .. }) => {
                Err(format!("{what} was answered with status 0 (OK); expected an error status"))
            }
            Ok(reply) => Err(format!(
                "{what} was answered with OK (reply: {} B); expected an error status",
                reply.len()
            )),
            Err(error) => Err(format!("{what} got no status: {error}; expected an error status")),
        }
    }
}
