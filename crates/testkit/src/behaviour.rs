//! The names of what a server can do wrong.

use std::fmt;
use std::num::NonZeroU64;
use std::str::FromStr;
use std::time::Duration;

use crate::thrift::Form as ThriftForm;

/// One way to behave. Calls are numbered from 1 in the order in which their requests are complete, over all connections.
#[derive(Clone, Debug, PartialEq)]
pub enum Behaviour {
    /// Answers every call of the contract correctly.
    Honest,
    /// Gives every call of a method the reply to that method's first request.
    Canned,
    /// Gives the request's bytes back as the reply.
    ByteEcho,
    /// Copies the bytes of the request's content into the reply, without decoding them.
    Skim,
    /// Puts the reply's tag or key in place of the request's, and copies all that follows.
    Swap,
    /// Remembers replies by the first so many bytes of their requests' messages, and gives them again.
    Memo(u64),
    /// Answers HTTP 200 with grpc-status 13 in the trailers.
    AlwaysInternal,
    /// Answers every call with success, and with words about an error in place of a reply.
    ErrorInReply,
    /// Every Nth reply has one wrong field.
    WrongOnce(NonZeroU64),
    /// Every Nth call ends with grpc-status 13.
    StatusOnce(NonZeroU64),
    /// Answers a malformed request with ok and an empty message.
    OkOnTruncated,
    /// Accepts connections and never answers.
    NeverReady,
    /// Runs, but does not listen.
    NoListen,
    /// Writes two lines to stderr and exits with this code.
    ExitAtStart(u8),
    /// Writes a line and exits with code 3 when call N + 1 arrives.
    ExitAfter(u64),
    /// Keeps its sockets open and answers nothing from call N + 1 on.
    HangAfter(u64),
    /// Writes random bytes instead of frames from call N + 1 on.
    GarbageAfter(u64),
    /// Resets its TCP connections when call N + 1 arrives.
    ResetAfter(u64),
    /// Sends half a frame and closes its connections when call N + 1 arrives.
    TruncateAfter(u64),
    /// Leaks this many touched bytes on every call, up to 2 GiB.
    EatMemory(u64),
    /// Takes this many touched bytes before it listens.
    EatMemoryAtStart(u64),
    /// Goes on after SIGTERM.
    IgnoreSigterm,
    /// Starts a `sleep` child process and leaves it behind.
    SpawnChild,
    /// Burns CPU per call and on a thread named `jit-compiler`; once the process has used this many seconds of CPU time, each
    /// call is `factor` times cheaper.
    WarmStep {
        /// CPU time of the process until the step, seconds.
        seconds: f64,
        /// Cost before the step over cost after it.
        factor: f64,
    },
    /// The CPU cost of a call falls by 8 % a second, then starts over.
    NeverSettles,
    /// Delays every reply by this time without using CPU.
    Slow(Duration),
    /// Delays every Nth reply by this time without using CPU.
    SlowOnce(NonZeroU64, Duration),
    /// Every call costs this much CPU time.
    Busy(Duration),
    /// Every call costs so many percent more CPU time than it would.
    Costlier(f64),
    /// Prints its number of calls and its CPU time as a JSON line when it is stopped.
    Counting,
    /// The least work that is still correct gRPC, for the text shape only.
    Null,
    /// Speaks JSON over HTTP/1.1 and not gRPC, with whatever other behaviours it has.
    Json,
    /// Speaks JSON over HTTP/2 without TLS and not gRPC, with whatever other behaviours it has.
    JsonH2c,
    /// The least work that is still correct JSON over HTTP/1.1, and not gRPC; every shape, but texts are quickest.
    NullJson,
    /// Speaks tcp-echo and not gRPC, with whatever other behaviours need no message that is decoded.
    TcpEcho,
    /// Speaks a form of Thrift and not gRPC, with whatever other behaviours it has.
    Thrift(ThriftForm),
}

/// How a behaviour is written, and what it does in one line.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// The name with its arguments, as in `wrong-once:N`.
    pub form: &'static str,
    /// An example that parses.
    pub example: &'static str,
    /// What such a server does.
    pub meaning: &'static str,
}

const fn form(form: &'static str, example: &'static str, meaning: &'static str) -> Form {
    Form { form, example, meaning }
}

/// Every behaviour there is.
pub const FORMS: &[Form] = &[
    form("honest", "honest", "answers correctly"),
    form("canned", "canned", "repeats its first reply of each method"),
    form("byte-echo", "byte-echo", "returns the request's bytes as the reply"),
    form("skim", "skim", "copies the content into the reply without decoding it"),
    form("swap", "swap", "changes the first tag or key of the request and returns the rest"),
    form("memo:BYTES", "memo:24", "repeats its reply to any request with the same first BYTES"),
    form("always-internal", "always-internal", "HTTP 200 with grpc-status 13"),
    form("error-in-reply", "error-in-reply", "success, with an error in place of the reply"),
    form("wrong-once:N", "wrong-once:1000", "one wrong reply in N"),
    form("status-once:N", "status-once:1000", "one grpc-status 13 in N"),
    form("ok-on-truncated", "ok-on-truncated", "ok with an empty message to malformed requests"),
    form("never-ready", "never-ready", "accepts and never answers"),
    form("no-listen", "no-listen", "runs but never listens"),
    form("exit-at-start:CODE", "exit-at-start:7", "two lines on stderr, then exits"),
    form("exit-after:N", "exit-after:100", "exits with code 3 after N calls"),
    form("hang-after:N", "hang-after:100", "answers nothing after N calls"),
    form("garbage-after:N", "garbage-after:100", "writes random bytes after N calls"),
    form("reset-after:N", "reset-after:100", "resets its connections after N calls"),
    form("truncate-after:N", "truncate-after:100", "sends half a frame and closes after N calls"),
    form("eat-memory:BYTES", "eat-memory:65536", "leaks that much on every call"),
    form(
        "eat-memory-at-start:BYTES",
        "eat-memory-at-start:1000000",
        "takes that much before it listens",
    ),
    form("ignore-sigterm", "ignore-sigterm", "goes on after SIGTERM"),
    form("spawn-child", "spawn-child", "leaves a child process behind"),
    form(
        "warm-step:SECONDS:FACTOR",
        "warm-step:8:2",
        "FACTOR times cheaper after SECONDS of its CPU time",
    ),
    form("never-settles", "never-settles", "the cost of a call keeps changing"),
    form("slow:DURATION", "slow:10ms", "delays every reply"),
    form("slow-once:N:DURATION", "slow-once:1000:100ms", "delays one reply in N"),
    form("busy:MICROSECONDS", "busy:50", "every call costs that much CPU"),
    form("costlier:PERCENT", "costlier:5", "every call costs that much more CPU than it would"),
    form("counting", "counting", "prints its calls and CPU time when stopped"),
    form("null", "null", "the least work that is still correct gRPC, text only"),
    form("json", "json", "JSON over HTTP/1.1 in place of gRPC; goes with those above but null"),
    form("json-h2c", "json-h2c", "JSON over HTTP/2 in place of gRPC; goes with the same"),
    form("null-json", "null-json", "JSON over HTTP/1.1 in place of gRPC, with the least work"),
    form(
        "tcp-echo",
        "tcp-echo",
        "tcp-echo in place of gRPC; with the least work where it is honest",
    ),
    form(
        "thrift",
        "thrift",
        "framed binary Thrift in place of gRPC; goes with those above but null",
    ),
    form("thrift-compact", "thrift-compact", "the same, framed and compact"),
    form("thrift-buffered", "thrift-buffered", "the same, buffered and binary"),
    form("thrift-buffered-compact", "thrift-buffered-compact", "the same, buffered and compact"),
];

/// Why a text names no behaviour.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BehaviourError {
    /// No behaviour has this name.
    #[error("there is no behaviour `{name}`; there are: {}", known())]
    Unknown {
        /// The name as it was given.
        name: String,
    },
    /// The number of arguments is wrong.
    #[error("`{given}` does not have the form `{form}`; for example `{example}`")]
    Form {
        /// The text as it was given.
        given: String,
        /// The form expected.
        form: &'static str,
        /// A text that is right.
        example: &'static str,
    },
    /// An argument is no value of its kind.
    #[error("`{value}` in `{given}` is not {expected}; for example `{example}`")]
    Argument {
        /// The argument as it was given.
        value: String,
        /// The whole text.
        given: String,
        /// What the argument must be.
        expected: &'static str,
        /// A text that is right.
        example: &'static str,
    },
}

fn known() -> String {
    FORMS.iter().map(|form| form.form).collect::<Vec<_>>().join(", ")
}

/// The arguments of one text, taken in order.
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
        parse(value).ok_or_else(|| BehaviourError::Argument {
            value: value.to_owned(),
            given: self.given.to_owned(),
            expected,
            example: self.form.example,
        })
    }

    fn whole(&mut self, expected: &'static str) -> Result<u64, BehaviourError> {
        self.next(expected, |text| text.parse().ok())
    }

    fn every(&mut self) -> Result<NonZeroU64, BehaviourError> {
        self.next("a number of calls from 1 up", |text| text.parse().ok())
    }

    fn calls(&mut self) -> Result<u64, BehaviourError> {
        self.whole("a number of calls")
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
        BehaviourError::Form {
            given: self.given.to_owned(),
            form: self.form.form,
            example: self.form.example,
        }
    }
}

impl FromStr for Behaviour {
    type Err = BehaviourError;

    fn from_str(given: &str) -> Result<Self, Self::Err> {
        let mut rest = given.split(':');
        let name = rest.next().unwrap_or_default();
        let unknown = || BehaviourError::Unknown { name: name.to_owned() };
        let form = *FORMS
            .iter()
            .find(|known| known.form.split(':').next() == Some(name))
            .ok_or_else(unknown)?;
        let mut arguments = Arguments { given, form, rest };
        let behaviour = parse(name, &mut arguments)?.ok_or_else(unknown)?;
        match arguments.rest.next() {
            None => Ok(behaviour),
            Some(_) => Err(arguments.malformed()),
        }
    }
}

fn parse(name: &str, arguments: &mut Arguments<'_>) -> Result<Option<Behaviour>, BehaviourError> {
    Ok(Some(match name {
        "honest" => Behaviour::Honest,
        "canned" => Behaviour::Canned,
        "byte-echo" => Behaviour::ByteEcho,
        "skim" => Behaviour::Skim,
        "swap" => Behaviour::Swap,
        "memo" => Behaviour::Memo(arguments.whole("a number of bytes")?),
        "always-internal" => Behaviour::AlwaysInternal,
        "error-in-reply" => Behaviour::ErrorInReply,
        "wrong-once" => Behaviour::WrongOnce(arguments.every()?),
        "status-once" => Behaviour::StatusOnce(arguments.every()?),
        "ok-on-truncated" => Behaviour::OkOnTruncated,
        "never-ready" => Behaviour::NeverReady,
        "no-listen" => Behaviour::NoListen,
        "exit-at-start" => Behaviour::ExitAtStart(
            arguments.next("an exit code from 0 to 255", |text| text.parse().ok())?,
        ),
        "exit-after" => Behaviour::ExitAfter(arguments.calls()?),
        "hang-after" => Behaviour::HangAfter(arguments.calls()?),
        "garbage-after" => Behaviour::GarbageAfter(arguments.calls()?),
        "reset-after" => Behaviour::ResetAfter(arguments.calls()?),
        "truncate-after" => Behaviour::TruncateAfter(arguments.calls()?),
        "eat-memory" => Behaviour::EatMemory(arguments.whole("a number of bytes")?),
        "eat-memory-at-start" => Behaviour::EatMemoryAtStart(arguments.whole("a number of bytes")?),
        "ignore-sigterm" => Behaviour::IgnoreSigterm,
        "spawn-child" => Behaviour::SpawnChild,
        "warm-step" => Behaviour::WarmStep {
            seconds: arguments.positive("a number of seconds above 0")?,
            factor: arguments.positive("a factor above 0")?,
        },
        "never-settles" => Behaviour::NeverSettles,
        "slow" => Behaviour::Slow(arguments.duration()?),
        "slow-once" => Behaviour::SlowOnce(arguments.every()?, arguments.duration()?),
        "busy" => {
            Behaviour::Busy(Duration::from_micros(arguments.whole("a number of microseconds")?))
        }
        "costlier" => Behaviour::Costlier(arguments.positive("a percentage above 0")?),
        "counting" => Behaviour::Counting,
        "null" => Behaviour::Null,
        "json" => Behaviour::Json,
        "json-h2c" => Behaviour::JsonH2c,
        "null-json" => Behaviour::NullJson,
        "tcp-echo" => Behaviour::TcpEcho,
        _ => return Ok(name.parse().ok().map(Behaviour::Thrift)),
    }))
}

impl fmt::Display for Behaviour {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Honest => out.write_str("honest"),
            Self::Canned => out.write_str("canned"),
            Self::ByteEcho => out.write_str("byte-echo"),
            Self::Skim => out.write_str("skim"),
            Self::Swap => out.write_str("swap"),
            Self::Memo(bytes) => write!(out, "memo:{bytes}"),
            Self::AlwaysInternal => out.write_str("always-internal"),
            Self::ErrorInReply => out.write_str("error-in-reply"),
            Self::WrongOnce(every) => write!(out, "wrong-once:{every}"),
            Self::StatusOnce(every) => write!(out, "status-once:{every}"),
            Self::OkOnTruncated => out.write_str("ok-on-truncated"),
            Self::NeverReady => out.write_str("never-ready"),
            Self::NoListen => out.write_str("no-listen"),
            Self::ExitAtStart(code) => write!(out, "exit-at-start:{code}"),
            Self::ExitAfter(calls) => write!(out, "exit-after:{calls}"),
            Self::HangAfter(calls) => write!(out, "hang-after:{calls}"),
            Self::GarbageAfter(calls) => write!(out, "garbage-after:{calls}"),
            Self::ResetAfter(calls) => write!(out, "reset-after:{calls}"),
            Self::TruncateAfter(calls) => write!(out, "truncate-after:{calls}"),
            Self::EatMemory(bytes) => write!(out, "eat-memory:{bytes}"),
            Self::EatMemoryAtStart(bytes) => write!(out, "eat-memory-at-start:{bytes}"),
            Self::IgnoreSigterm => out.write_str("ignore-sigterm"),
            Self::SpawnChild => out.write_str("spawn-child"),
            Self::WarmStep { seconds, factor } => write!(out, "warm-step:{seconds}:{factor}"),
            Self::NeverSettles => out.write_str("never-settles"),
            Self::Slow(delay) => write!(out, "slow:{}", humantime::format_duration(*delay)),
            Self::SlowOnce(every, delay) => {
                write!(out, "slow-once:{every}:{}", humantime::format_duration(*delay))
            }
            Self::Busy(cost) => write!(out, "busy:{}", cost.as_micros()),
            Self::Costlier(percent) => write!(out, "costlier:{percent}"),
            Self::Counting => out.write_str("counting"),
            Self::Null => out.write_str("null"),
            Self::Json => out.write_str("json"),
            Self::JsonH2c => out.write_str("json-h2c"),
            Self::NullJson => out.write_str("null-json"),
            Self::TcpEcho => out.write_str("tcp-echo"),
            Self::Thrift(form) => write!(out, "{form}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_has_an_example_that_parses_and_prints_as_itself() {
        for form in FORMS {
            let behaviour: Behaviour = form.example.parse().unwrap();
            assert_eq!(behaviour.to_string(), form.example);
        }
    }

    #[test]
    fn an_unknown_name_lists_the_known_ones() {
        let error = "honnest".parse::<Behaviour>().unwrap_err().to_string();
        assert!(
            error.starts_with("there is no behaviour `honnest`; there are: honest, canned"),
            "{error}"
        );
        assert!(error.ends_with("thrift-buffered, thrift-buffered-compact"), "{error}");
    }

    #[test]
    fn a_wrong_argument_names_itself_and_an_example() {
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
