//! Calls with a known right outcome, from which cases are built.

use super::{CallError, Caller, SHAPES, SpotChecks};
use crate::codec::{Codec, Sent};
use crate::method::Method;
use crate::profile::{AfterRefusal, Profile};
use crate::shape::Shape;
use crate::values::{Source, Value};

/// Consecutive calls without an answer after which a server counts as dead.
const MAX_UNANSWERED: u32 = 3;

/// Where cases send their requests.
enum Receiver<'a> {
    /// To a server. Replies are judged at once.
    Server(&'a mut dyn Caller),
    /// Kept, to be sent later.
    Kept(&'a mut SpotChecks),
}

impl Receiver<'_> {
    fn server(&mut self) -> Result<&mut dyn Caller, CallError> {
        match self {
            Self::Server(caller) => Ok(&mut **caller),
            Self::Kept(_) => Err(CallError::Transport("no server is called".to_owned())),
        }
    }
}

/// A server under test, its protocol, and the seed that values are drawn from.
pub(super) struct Probe<'a> {
    receiver: Receiver<'a>,
    profile: &'a Profile,
    seed: u64,
    unanswered: u32,
}

impl<'a> Probe<'a> {
    pub(super) fn new(caller: &'a mut dyn Caller, profile: &'a Profile, seed: u64) -> Self {
        Self { receiver: Receiver::Server(caller), profile, seed, unanswered: 0 }
    }

    /// A probe that keeps the requests with a certain outcome and calls no server.
    pub(super) fn keeping(
        spot_checks: &'a mut SpotChecks,
        profile: &'a Profile,
        seed: u64,
    ) -> Self {
        Self { receiver: Receiver::Kept(spot_checks), profile, seed, unanswered: 0 }
    }

    pub(super) fn seed(&self) -> u64 {
        self.seed
    }

    pub(super) fn profile(&self) -> &'a Profile {
        self.profile
    }

    pub(super) fn codec(&self) -> &'static dyn Codec {
        self.profile.encoding.codec()
    }

    /// False if requests are only kept.
    pub(super) fn calls_server(&self) -> bool {
        matches!(self.receiver, Receiver::Server(_))
    }

    /// True if the latest calls all timed out.
    pub(super) fn is_silent(&self) -> bool {
        self.unanswered >= MAX_UNANSWERED
    }

    /// A filled value, the same for every case with that shape and number.
    pub(super) fn value(&self, shape: Shape, number: u64) -> Value {
        Value::random(shape, &mut Source::new(self.seed.wrapping_add(number)))
    }

    pub(super) fn call(&mut self, method: Method, body: &[u8]) -> Result<Vec<u8>, CallError> {
        let result = self.receiver.server().and_then(|caller| caller.call(method, body));
        self.count_timeouts(&result);
        result
    }

    fn count_timeouts(&mut self, result: &Result<Vec<u8>, CallError>) {
        self.unanswered = match result {
            Err(CallError::Timeout) => self.unanswered + 1,
            _ => 0,
        };
    }

    /// Requires the value to come back.
    pub(super) fn echoes(&mut self, value: &Value) -> Result<(), String> {
        self.returns(value, &self.codec().request(value))
    }

    /// Requires the value to come back for `request`, any encoding of it.
    pub(super) fn returns(&mut self, value: &Value, request: &[u8]) -> Result<(), String> {
        self.answers(Sent::new(value, request))
    }

    /// Requires the right reply to the request.
    pub(super) fn answers(&mut self, sent: Sent<'_>) -> Result<(), String> {
        if let Receiver::Kept(spot_checks) = &mut self.receiver {
            spot_checks.keep_valid(sent);
            return Ok(());
        }
        let got = self.call(sent.shape.method(), sent.request).map_err(|error| {
            format!("a valid request of {} bytes failed: {error}", sent.request.len())
        })?;
        self.codec().verify(sent, &got).map_err(|mismatch| mismatch.to_string())
    }

    /// Requires a refusal or the right reply.
    pub(super) fn answers_or_refuses(&mut self, sent: Sent<'_>) -> Result<(), String> {
        if !self.calls_server() {
            return Ok(());
        }
        match self.call(sent.shape.method(), sent.request) {
            Err(CallError::Status { code, .. }) if self.profile.refusals.contains(&code) => Ok(()),
            Err(error) => Err(error.to_string()),
            Ok(got) => self.codec().verify(sent, &got).map_err(|mismatch| mismatch.to_string()),
        }
    }

    /// Requires a refusal in the way of the protocol: with an error status, or by closing the connection.
    pub(super) fn refuses(&mut self, shape: Shape, body: &[u8], what: &str) -> Result<(), String> {
        if let Receiver::Kept(spot_checks) = &mut self.receiver {
            spot_checks.keep_malformed(shape, body, what);
            return Ok(());
        }
        match self.profile.after_refusal {
            AfterRefusal::KeepsConnection => self.ends_in_error(shape, body, what),
            AfterRefusal::MayCloseConnection => self.ends_or_closes(shape, body, what),
        }
    }

    /// Requires a refusal if the request is cut after its first byte, in the middle, or `before` bytes before its end.
    pub(super) fn refuses_cut(
        &mut self,
        shape: Shape,
        whole: &[u8],
        before: usize,
    ) -> Result<(), String> {
        [1, whole.len() / 2, whole.len() - before].into_iter().try_for_each(|end| {
            let (method, length) = (shape.method().name(), whole.len());
            let what = format!("a {method} request cut to {end} of {length} bytes");
            self.refuses(shape, &whole[..end], &what)
        })
    }

    /// Requires each method to refuse the request, and to serve the next one.
    pub(super) fn all_refuse(&mut self, body: &[u8], what: &str) -> Result<(), String> {
        SHAPES.into_iter().try_for_each(|shape| {
            self.refuses(shape, body, &format!("{what}, sent to {},", shape.method().name()))?;
            self.still_serves(shape)
        })
    }

    fn ends_or_closes(&mut self, shape: Shape, body: &[u8], what: &str) -> Result<(), String> {
        let result =
            self.receiver.server().and_then(|caller| caller.call_last(shape.method(), body));
        self.count_timeouts(&result);
        let expected = "expected an exception or a closed connection";
        match result {
            Err(CallError::Status { .. } | CallError::Closed(_)) => Ok(()),
            Ok(reply) => Err(format!("{what} was answered (reply: {} B); {expected}", reply.len())),
            Err(error) => Err(format!("{what} was not refused: {error}; {expected}")),
        }
    }

    fn ends_in_error(&mut self, shape: Shape, body: &[u8], what: &str) -> Result<(), String> {
        match self.call(shape.method(), body) {
            Err(CallError::Status { code, .. }) if self.profile.refusals.contains(&code) => Ok(()),
            Err(CallError::Status { code, .. }) => {
                Err(format!("{what} was answered with status {code}; expected an error status"))
            }
            Ok(reply) => Err(format!(
                "{what} was answered with OK (reply: {} B); expected an error status",
                reply.len()
            )),
            Err(error) => Err(format!("{what} got no status: {error}; expected an error status")),
        }
    }

    /// Requires the server to answer the next request after a refused one.
    pub(super) fn still_serves(&mut self, shape: Shape) -> Result<(), String> {
        let value = self.value(shape, 2);
        self.echoes(&value).map_err(|reason| format!("after a malformed request, {reason}"))
    }
}
