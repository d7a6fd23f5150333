//! The behaviours: everything a server can do wrong.

use std::fmt;
use std::num::NonZeroU64;
use std::str::FromStr;
use std::time::Duration;

use rpcbench_record::Protocol;

use crate::plan::{Answer, Cost, Effect, Fault, FaultAfter, Opening};

/// One way to behave: an entry of [`FORMS`] with its arguments.
#[derive(Clone, Debug, PartialEq)]
pub struct Behaviour {
    text: String,
    pub(crate) effect: Effect,
}

/// How a behaviour is written, and its meaning.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// The name with its arguments: `wrong-once:N`.
    pub form: &'static str,
    /// An example that parses.
    pub example: &'static str,
    /// What such a server does.
    pub meaning: &'static str,
    effect: Parse,
}

type Parse = fn(&mut Arguments<'_>) -> Result<Effect, BehaviourError>;

const fn form(
    form: &'static str,
    example: &'static str,
    meaning: &'static str,
    effect: Parse,
) -> Form {
    Form { form, example, meaning, effect }
}

/// All behaviours. Calls are numbered from 1 in the order in which their requests complete, over all connections.
#[rustfmt::skip]
pub const FORMS: &[Form] = &[
    form("honest", "honest", "answers correctly", |_| Ok(Effect::Answer(Answer::Honest))),
    form("canned", "canned", "repeats its first reply of each method", |_| Ok(Effect::Answer(Answer::Canned))),
    form("byte-echo", "byte-echo", "returns the request's bytes as the reply", |_| Ok(Effect::Answer(Answer::ByteEcho))),
    form("skim", "skim", "copies the content into the reply without decoding it", |_| Ok(Effect::Answer(Answer::Skim))),
    form("swap", "swap", "changes the first tag or key of the request and returns the rest", |_| Ok(Effect::Answer(Answer::Swap))),
    form("swap-among:CONNECTIONS", "swap-among:20", "like swap-usual, while that many connections are open", |it| Ok(Effect::Answer(Answer::SwapAmong(it.number("a number of connections")?)))),
    form("swap-usual", "swap-usual", "like swap, for requests whose first bytes are the usual ones", |_| Ok(Effect::Answer(Answer::SwapUsual))),
    form("memo:BYTES", "memo:24", "repeats its reply to any request with the same first BYTES", |it| Ok(Effect::Answer(Answer::Memo(it.bytes()?)))),
    form("memo-nonce", "memo-nonce", "repeats its reply to an equal request, with the nonce of the new one", |_| Ok(Effect::Answer(Answer::MemoNonce))),
    form("always-internal", "always-internal", "HTTP 200 with grpc-status 13", |_| Ok(Effect::Answer(Answer::AlwaysInternal))),
    form("error-in-reply", "error-in-reply", "success, with an error in place of the reply", |_| Ok(Effect::Answer(Answer::ErrorInReply))),
    form("wrong-once:N", "wrong-once:1000", "one wrong reply in N", |it| Ok(Effect::Answer(Answer::WrongOnce(it.every()?)))),
    form("status-once:N", "status-once:1000", "one grpc-status 13 in N", |it| Ok(Effect::Answer(Answer::StatusOnce(it.every()?)))),
    form("token", "token", "grpc-status 16 without `authorization: token`", |_| Ok(Effect::Token)),
    form("idle-limit:DURATION", "idle-limit:1500ms", "resets its connections at the first call after that long without one", |it| Ok(Effect::IdleLimit(it.duration()?))),
    form("ok-on-truncated", "ok-on-truncated", "ok with an empty message to malformed requests", |_| Ok(Effect::Answer(Answer::OkOnTruncated))),
    form("never-ready", "never-ready", "accepts and never answers", |_| Ok(Effect::Opening(Opening::NeverReady))),
    form("no-listen", "no-listen", "runs but never listens", |_| Ok(Effect::Opening(Opening::NoListen))),
    form("exit-at-start:CODE", "exit-at-start:7", "two lines on stderr, then exits", |it| Ok(Effect::Opening(Opening::Exit(it.number("an exit code from 0 to 255")?)))),
    form("exit-after:N", "exit-after:100", "exits with code 3 after N calls", |it| it.after(Fault::Exit)),
    form("hang-after:N", "hang-after:100", "answers nothing after N calls", |it| it.after(Fault::Hang)),
    form("garbage-after:N", "garbage-after:100", "writes random bytes after N calls", |it| it.after(Fault::Garbage)),
    form("reset-after:N", "reset-after:100", "resets its connections after N calls", |it| it.after(Fault::Reset)),
    form("truncate-after:N", "truncate-after:100", "sends half a frame and closes after N calls", |it| it.after(Fault::Truncate)),
    form("eat-memory:BYTES", "eat-memory:65536", "leaks that much on every call, up to 2 GiB", |it| Ok(Effect::Cost(Cost::Memory(it.bytes()?)))),
    form("eat-memory-at-start:BYTES", "eat-memory-at-start:1000000", "takes that much before it listens", |it| Ok(Effect::MemoryAtStart(it.bytes()?))),
    form("ignore-sigterm", "ignore-sigterm", "continues after SIGTERM", |_| Ok(Effect::IgnoreSigterm)),
    form("restless", "restless", "uses a fifth of a CPU, with calls and without", |_| Ok(Effect::Restless)),
    form("leave-group:DURATION", "leave-group:0s", "leaves its cgroup that long after its start", |it| Ok(Effect::LeaveGroup(it.duration()?))),
    form("leave-partly", "leave-partly", "a thread of its leaves one hierarchy of its cgroup (version 1)", |_| Ok(Effect::LeavePartly)),
    form("leave-under-load", "leave-under-load", "leaves the group that counts its CPU time while it has many calls", |_| Ok(Effect::LeaveUnderLoad)),
    form("proxy:CHANNEL", "proxy:tcp", "passes calls on to a child that has left its cgroup, over tcp, unix, udp, udp-unconnected, pipe, named-pipe, terminal, memory or descriptor", |it| Ok(Effect::Proxy(it.next("a channel", |text| text.parse().ok())?))),
    form("spawn-child", "spawn-child", "leaves a child process behind", |_| Ok(Effect::SpawnChild)),
    form("warm-step:SECONDS:FACTOR", "warm-step:8:2", "FACTOR times cheaper after SECONDS of its CPU time, with a busy compiler thread", |it| {
        let seconds = it.positive("a number of seconds above 0")?;
        Ok(Effect::Cost(Cost::WarmStep { seconds, factor: it.positive("a factor above 0")? }))
    }),
    form("slow:DURATION", "slow:10ms", "delays every reply without using CPU", |it| Ok(Effect::Cost(Cost::Delay(it.duration()?)))),
    form("slow-once:N:DURATION", "slow-once:1000:100ms", "delays one reply in N", |it| Ok(Effect::Cost(Cost::DelayOnce(it.every()?, it.duration()?)))),
    form("busy:MICROSECONDS", "busy:50", "every call costs that much CPU", |it| Ok(Effect::Cost(Cost::Busy(Duration::from_micros(it.number("a number of microseconds")?))))),
    form("busy-unless-frozen:MICROSECONDS", "busy-unless-frozen:50", "the same, but nothing for 2 s after it was stopped for 250 ms or more", |it| Ok(Effect::Cost(Cost::BusyUnlessFrozen(Duration::from_micros(it.number("a number of microseconds")?))))),
    form("costlier:PERCENT", "costlier:5", "every call costs that much more CPU than it would", |it| Ok(Effect::Cost(Cost::Costlier(it.positive("a percentage above 0")? / 100.0)))),
    form("counting", "counting", "prints its calls and CPU time when stopped", |_| Ok(Effect::Counting)),
    form("null", "null", "the least work that is correct gRPC, text only", |_| Ok(Effect::Answer(Answer::Null))),
    form("json", "json", "JSON over HTTP/1.1 instead of gRPC; can be combined with those above except null", |_| Ok(Effect::Protocol(Protocol::Json))),
    form("json-h2c", "json-h2c", "JSON over HTTP/2 instead of gRPC; combinable like json", |_| Ok(Effect::Protocol(Protocol::JsonH2c))),
    form("connect", "connect", "Connect over HTTP/1.1 instead of gRPC; combinable like json", |_| Ok(Effect::Protocol(Protocol::Connect))),
    form("null-json", "null-json", "JSON over HTTP/1.1 instead of gRPC, with the least work", |_| Ok(Effect::Answer(Answer::NullJson))),
    form("tcp-echo", "tcp-echo", "tcp-echo instead of gRPC; with the least work if honest", |_| Ok(Effect::Protocol(Protocol::TcpEcho))),
    form("thrift", "thrift", "framed binary Thrift instead of gRPC; combinable like json, with the least work if honest", |_| Ok(Effect::Protocol(Protocol::Thrift))),
    form("thrift-compact", "thrift-compact", "the same, framed and compact", |_| Ok(Effect::Protocol(Protocol::ThriftCompact))),
    form("thrift-buffered", "thrift-buffered", "the same, buffered and binary", |_| Ok(Effect::Protocol(Protocol::ThriftBuffered))),
    form("thrift-buffered-compact", "thrift-buffered-compact", "the same, buffered and compact", |_| Ok(Effect::Protocol(Protocol::ThriftBufferedCompact))),
];

/// The error for text that is not a behaviour, or for behaviours that exclude each other.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BehaviourError(pub(crate) String);

impl Behaviour {
    /// True if the behaviour requires a process without other servers.
    pub(crate) fn needs_process(&self) -> bool {
        self.effect.is_of_process() || matches!(self.effect, Effect::Opening(Opening::Exit(_)))
    }
}

fn known() -> String {
    FORMS.iter().map(|form| form.form).collect::<Vec<_>>().join(", ")
}

/// The arguments of a behaviour, taken in order.
struct Arguments<'a> {
    given: &'a str,
    form: Form,
    rest: std::str::Split<'a, char>,
}

impl<'a> Arguments<'a> {
    fn next<T>(
        &mut self,
        expected: &'static str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<T, BehaviourError> {
        let value = self.rest.next().ok_or_else(|| self.malformed())?;
        parse(value).ok_or_else(|| {
            let (given, example) = (self.given, self.form.example);
            BehaviourError(format!(
                "`{value}` in `{given}` is not {expected}; for example `{example}`"
            ))
        })
    }

    fn number<T: FromStr>(&mut self, expected: &'static str) -> Result<T, BehaviourError> {
        self.next(expected, |text| text.parse().ok())
    }

    fn every(&mut self) -> Result<NonZeroU64, BehaviourError> {
        self.number("a number of calls from 1 up")
    }

    fn bytes(&mut self) -> Result<u64, BehaviourError> {
        self.number("a number of bytes")
    }

    fn after(&mut self, fault: Fault) -> Result<Effect, BehaviourError> {
        let calls = self.number("a number of calls")?;
        Ok(Effect::Fault(FaultAfter { calls, fault }))
    }

    fn positive(&mut self, expected: &'static str) -> Result<f64, BehaviourError> {
        self.next(expected, |text| {
            text.parse().ok().filter(|value: &f64| value.is_finite() && *value > 0.0)
        })
    }

    fn duration(&mut self) -> Result<Duration, BehaviourError> {
        self.next("a duration such as 10ms", |text| humantime::parse_duration(text).ok())
    }

    fn malformed(&self) -> BehaviourError {
        let Form { form, example, .. } = self.form;
        let given = self.given;
        BehaviourError(format!(
            "`{given}` does not have the form `{form}`; for example `{example}`"
        ))
    }
}

impl FromStr for Behaviour {
    type Err = BehaviourError;

    fn from_str(given: &str) -> Result<Self, Self::Err> {
        let mut rest = given.split(':');
        let name = rest.next().unwrap_or_default();
        let form = FORMS.iter().find(|known| known.form.split(':').next() == Some(name));
        let unknown = || format!("unknown behaviour `{name}`; expected one of {}", known());
        let form = *form.ok_or_else(|| BehaviourError(unknown()))?;
        let mut arguments = Arguments { given, form, rest };
        let effect = (form.effect)(&mut arguments)?;
        match arguments.rest.next() {
            None => Ok(Self { text: given.to_owned(), effect }),
            Some(_) => Err(arguments.malformed()),
        }
    }
}

impl fmt::Display for Behaviour {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn form_examples_parse_and_print_back() {
        for form in FORMS {
            let behaviour: Behaviour = form.example.parse().unwrap();
            assert_eq!(behaviour.to_string(), form.example);
        }
    }

    #[test]
    fn unknown_name_lists_known_ones() {
        let error = "honnest".parse::<Behaviour>().unwrap_err().to_string();
        assert!(
            error.starts_with("unknown behaviour `honnest`; expected one of honest, canned"),
            "{error}"
        );
        assert!(error.ends_with("thrift-buffered, thrift-buffered-compact"), "{error}");
    }

    #[test]
    fn wrong_argument_is_quoted_with_an_example() {
        let message = |text: &str| text.parse::<Behaviour>().unwrap_err().to_string();
        assert_eq!(
            message("wrong-once:0"),
            "`0` in `wrong-once:0` is not a number of calls from 1 up; for example `wrong-once:1000`"
        );
        assert_eq!(
            message("slow:10"),
            "`10` in `slow:10` is not a duration such as 10ms; for example `slow:10ms`"
        );
        assert_eq!(
            message("slow-once:5"),
            "`slow-once:5` does not have the form `slow-once:N:DURATION`; for example `slow-once:1000:100ms`"
        );
        assert_eq!(
            message("honest:1"),
            "`honest:1` does not have the form `honest`; for example `honest`"
        );
        assert_eq!(
            message("warm-step:nan:2"),
            "`nan` in `warm-step:nan:2` is not a number of seconds above 0; for example `warm-step:8:2`"
        );
    }
}
