//! What a set of behaviours asks of each part of the server.

use std::num::NonZeroU64;
use std::time::Duration;

use crate::Behaviour;
use crate::null;
use crate::thrift::Form;

/// A server's behaviours, sorted by the part that each concerns.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    pub(crate) wire: Wire,
    pub(crate) answer: Answer,
    pub(crate) cost: Cost,
    pub(crate) fault: Option<FaultAfter>,
    pub(crate) opening: Opening,
    /// Whether SIGTERM does nothing.
    pub ignore_sigterm: bool,
    /// Whether a child process is left behind.
    pub spawn_child: bool,
    /// Whether the calls and the CPU time are printed at the end.
    pub counting: bool,
    /// Bytes of memory to take before listening.
    pub memory_at_start: u64,
}

/// How calls travel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Wire {
    #[default]
    Grpc,
    Json,
    JsonH2c,
    Thrift(Form),
    TcpEcho,
}

/// What a call is answered with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Answer {
    #[default]
    Honest,
    Canned,
    ByteEcho,
    Skim,
    Swap,
    Memo(u64),
    AlwaysInternal,
    ErrorInReply,
    WrongOnce(NonZeroU64),
    StatusOnce(NonZeroU64),
    OkOnTruncated,
    Null,
    NullJson,
}

/// What a call costs before it is answered.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Cost {
    #[default]
    Nothing,
    Delay(Duration),
    DelayOnce(NonZeroU64, Duration),
    Busy(Duration),
    /// A share of what it costs by itself.
    Costlier(f64),
    WarmStep {
        seconds: f64,
        factor: f64,
    },
    NeverSettles,
    Memory(u64),
}

/// What breaks, and after how many answered calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FaultAfter {
    pub(crate) calls: u64,
    pub(crate) fault: Fault,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    Exit,
    Hang,
    Garbage,
    Reset,
    Truncate,
}

/// How a server starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Opening {
    #[default]
    Serve,
    NeverReady,
    NoListen,
    Exit(u8),
}

/// The part of a server that a behaviour concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Wire,
    Answer,
    Cost,
    Fault,
    Opening,
    Process,
}

/// Behaviours that contradict each other.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// Two behaviours concern the same part of the server.
    #[error("`{first}` and `{second}` cannot be had together; give one of them")]
    Contradiction {
        /// The one that was given first.
        first: String,
        /// The one that contradicts it.
        second: String,
    },
}

impl Plan {
    /// A plan with all of `behaviours`; none means honest. Fails when two of them contradict each other.
    pub fn new(behaviours: &[Behaviour]) -> Result<Self, PlanError> {
        for (index, second) in behaviours.iter().enumerate() {
            if let Some(first) = behaviours[..index].iter().find(|first| contradict(first, second))
            {
                return Err(PlanError::Contradiction {
                    first: first.to_string(),
                    second: second.to_string(),
                });
            }
        }
        let mut plan = Self::default();
        for behaviour in behaviours {
            plan.adopt(behaviour);
        }
        Ok(plan)
    }

    /// The code to exit with instead of serving, if the server should.
    pub fn exit_at_start(&self) -> Option<u8> {
        match self.opening {
            Opening::Exit(code) => Some(code),
            _ => None,
        }
    }

    /// The server of the least work that does what the plan says, if there is one.
    pub(crate) fn least_work(&self) -> Option<null::Kind> {
        let only_answers = self.answer == Answer::Honest
            && self.cost == Cost::Nothing
            && self.fault.is_none()
            && self.opening == Opening::Serve;
        match (self.answer, self.wire) {
            (Answer::Null, _) => Some(null::Kind::Grpc),
            (Answer::NullJson, _) => Some(null::Kind::Json),
            (_, Wire::Thrift(form)) if only_answers => Some(null::Kind::Thrift(form)),
            (_, Wire::TcpEcho) if only_answers => Some(null::Kind::TcpEcho),
            _ => None,
        }
    }

    fn adopt(&mut self, behaviour: &Behaviour) {
        let fault = |calls: u64, fault: Fault| Some(FaultAfter { calls, fault });
        match *behaviour {
            Behaviour::Json => self.wire = Wire::Json,
            Behaviour::JsonH2c => self.wire = Wire::JsonH2c,
            Behaviour::Honest => self.answer = Answer::Honest,
            Behaviour::Canned => self.answer = Answer::Canned,
            Behaviour::ByteEcho => self.answer = Answer::ByteEcho,
            Behaviour::Skim => self.answer = Answer::Skim,
            Behaviour::Swap => self.answer = Answer::Swap,
            Behaviour::Memo(bytes) => self.answer = Answer::Memo(bytes),
            Behaviour::AlwaysInternal => self.answer = Answer::AlwaysInternal,
            Behaviour::ErrorInReply => self.answer = Answer::ErrorInReply,
            Behaviour::WrongOnce(every) => self.answer = Answer::WrongOnce(every),
            Behaviour::StatusOnce(every) => self.answer = Answer::StatusOnce(every),
            Behaviour::OkOnTruncated => self.answer = Answer::OkOnTruncated,
            Behaviour::Null => self.answer = Answer::Null,
            Behaviour::NullJson => self.answer = Answer::NullJson,
            Behaviour::TcpEcho => self.wire = Wire::TcpEcho,
            Behaviour::Thrift(form) => self.wire = Wire::Thrift(form),
            Behaviour::NeverReady => self.opening = Opening::NeverReady,
            Behaviour::NoListen => self.opening = Opening::NoListen,
            Behaviour::ExitAtStart(code) => self.opening = Opening::Exit(code),
            Behaviour::ExitAfter(calls) => self.fault = fault(calls, Fault::Exit),
            Behaviour::HangAfter(calls) => self.fault = fault(calls, Fault::Hang),
            Behaviour::GarbageAfter(calls) => self.fault = fault(calls, Fault::Garbage),
            Behaviour::ResetAfter(calls) => self.fault = fault(calls, Fault::Reset),
            Behaviour::TruncateAfter(calls) => self.fault = fault(calls, Fault::Truncate),
            Behaviour::EatMemory(bytes) => self.cost = Cost::Memory(bytes),
            Behaviour::EatMemoryAtStart(bytes) => self.memory_at_start = bytes,
            Behaviour::IgnoreSigterm => self.ignore_sigterm = true,
            Behaviour::SpawnChild => self.spawn_child = true,
            Behaviour::Counting => self.counting = true,
            Behaviour::WarmStep { seconds, factor } => {
                self.cost = Cost::WarmStep { seconds, factor }
            }
            Behaviour::NeverSettles => self.cost = Cost::NeverSettles,
            Behaviour::Slow(delay) => self.cost = Cost::Delay(delay),
            Behaviour::SlowOnce(every, delay) => self.cost = Cost::DelayOnce(every, delay),
            Behaviour::Busy(cost) => self.cost = Cost::Busy(cost),
            Behaviour::Costlier(percent) => self.cost = Cost::Costlier(percent / 100.0),
        }
    }
}

fn contradict(first: &Behaviour, second: &Behaviour) -> bool {
    let (one, other) = (part(first), part(second));
    if one == Part::Process || other == Part::Process {
        return first == second;
    }
    let bare = |it: &Behaviour| matches!(it, Behaviour::Null | Behaviour::NullJson);
    let echo = |it: &Behaviour| *it == Behaviour::TcpEcho;
    let mute = echo(first) && needs_a_message(second) || echo(second) && needs_a_message(first);
    one == other || mute || bare(first) || bare(second)
}

/// Whether a behaviour is about messages that are decoded, or should be: in tcp-echo there are none.
fn needs_a_message(behaviour: &Behaviour) -> bool {
    matches!(
        behaviour,
        Behaviour::ByteEcho | Behaviour::Skim | Behaviour::Swap | Behaviour::OkOnTruncated
    )
}

fn part(behaviour: &Behaviour) -> Part {
    match behaviour {
        Behaviour::Json | Behaviour::JsonH2c | Behaviour::Thrift(_) | Behaviour::TcpEcho => {
            Part::Wire
        }
        Behaviour::Honest
        | Behaviour::Canned
        | Behaviour::ByteEcho
        | Behaviour::Skim
        | Behaviour::Swap
        | Behaviour::Memo(_)
        | Behaviour::AlwaysInternal
        | Behaviour::ErrorInReply
        | Behaviour::WrongOnce(_)
        | Behaviour::StatusOnce(_)
        | Behaviour::OkOnTruncated
        | Behaviour::Null
        | Behaviour::NullJson => Part::Answer,
        Behaviour::NeverReady | Behaviour::NoListen | Behaviour::ExitAtStart(_) => Part::Opening,
        Behaviour::ExitAfter(_)
        | Behaviour::HangAfter(_)
        | Behaviour::GarbageAfter(_)
        | Behaviour::ResetAfter(_)
        | Behaviour::TruncateAfter(_) => Part::Fault,
        Behaviour::EatMemory(_)
        | Behaviour::WarmStep { .. }
        | Behaviour::NeverSettles
        | Behaviour::Slow(_)
        | Behaviour::SlowOnce(..)
        | Behaviour::Busy(_)
        | Behaviour::Costlier(_) => Part::Cost,
        Behaviour::EatMemoryAtStart(_)
        | Behaviour::IgnoreSigterm
        | Behaviour::SpawnChild
        | Behaviour::Counting => Part::Process,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(texts: &[&str]) -> Result<Plan, PlanError> {
        Plan::new(&texts.iter().map(|text| text.parse().unwrap()).collect::<Vec<_>>())
    }

    #[test]
    fn behaviours_of_different_parts_add_up() {
        let plan =
            plan(&["canned", "busy:50", "reset-after:9", "counting", "ignore-sigterm"]).unwrap();
        assert_eq!(plan.answer, Answer::Canned);
        assert_eq!(plan.cost, Cost::Busy(Duration::from_micros(50)));
        assert_eq!(plan.fault, Some(FaultAfter { calls: 9, fault: Fault::Reset }));
        assert!(plan.counting && plan.ignore_sigterm && !plan.spawn_child);
    }

    #[test]
    fn behaviours_of_the_same_part_are_refused() {
        let error = plan(&["honest", "counting", "byte-echo"]).unwrap_err().to_string();
        assert_eq!(error, "`honest` and `byte-echo` cannot be had together; give one of them");
        assert!(plan(&["null", "busy:5"]).is_err());
        assert!(plan(&["null", "counting"]).is_ok());
        assert!(plan(&["json", "null-json"]).is_err());
        assert!(plan(&["json", "json-h2c"]).is_err());
        assert_eq!(plan(&["json", "canned"]).unwrap().wire, Wire::Json);
        assert!(plan(&["json", "thrift"]).is_err());
        assert!(plan(&["tcp-echo", "byte-echo"]).is_err(), "which is honest there");
    }

    #[test]
    fn thrift_and_tcp_echo_take_least_work_unless_something_is_asked_of_them() {
        let kind = |texts: &[&str]| plan(texts).unwrap().least_work();
        for form in Form::ALL {
            let name = form.to_string();
            assert_eq!(kind(&[&name, "counting"]), Some(null::Kind::Thrift(form)));
            for more in ["canned", "slow:5ms", "reset-after:9", "never-ready"] {
                assert_eq!(kind(&[&name, more]), None, "{more}");
            }
        }
        assert_eq!(kind(&["tcp-echo"]), Some(null::Kind::TcpEcho));
        assert_eq!(kind(&["tcp-echo", "busy:5"]), None);
        assert_eq!((kind(&["json"]), kind(&["honest"])), (None, None));
    }
}
