//! The combined effect of a server's behaviours.

use std::num::NonZeroU64;
use std::time::Duration;

use rpcbench_record::Protocol;

use crate::channel::Channel;
use crate::thrift::Form;
use crate::tls::Secured;
use crate::{Behaviour, BehaviourError};

/// What a server does, by part.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// The protocol.
    pub protocol: Protocol,
    pub(crate) answer: Answer,
    pub(crate) cost: Cost,
    pub(crate) fault: Option<FaultAfter>,
    pub(crate) opening: Opening,
    /// True if calls need a token.
    pub(crate) token: bool,
    /// Time without calls after which it resets its connections.
    pub(crate) idle_limit: Option<Duration>,
    /// True to ignore SIGTERM.
    pub ignore_sigterm: bool,
    /// True if one of its threads works all the time.
    pub restless: bool,
    /// True to leave a child process behind.
    pub spawn_child: bool,
    /// How long after its start the process leaves its cgroup.
    pub leave_group: Option<Duration>,
    /// True if one of its threads leaves a part of its cgroup.
    pub leave_partly: bool,
    /// True if it leaves the part of its cgroup that counts CPU time while it has calls.
    pub leave_under_load: bool,
    /// The channel through which it passes calls to a child outside its cgroup, if it does.
    pub proxy: Option<Channel>,
    /// True to print the number of calls and the CPU time at the end.
    pub counting: bool,
    /// Bytes of memory to take before listening.
    pub memory_at_start: u64,
    /// TLS, if a null server does it itself.
    pub(crate) tls: Option<Secured>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Answer {
    #[default]
    Honest,
    Canned,
    ByteEcho,
    Skim,
    Swap,
    /// Like `Swap`, but only for requests whose first bytes are usual.
    SwapUsual,
    /// Like `SwapUsual`, while this many connections are open.
    SwapAmong(u64),
    Memo(u64),
    /// Remembers requests without their nonces.
    MemoNonce,
    AlwaysInternal,
    ErrorInReply,
    WrongOnce(NonZeroU64),
    StatusOnce(NonZeroU64),
    OkOnTruncated,
    Null,
    NullJson,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Cost {
    #[default]
    Nothing,
    Delay(Duration),
    DelayOnce(NonZeroU64, Duration),
    Busy(Duration),
    /// Like `Busy`, but without cost for 2 s after it was frozen.
    BusyUnlessFrozen(Duration),
    /// Increases its own cost by this share.
    Costlier(f64),
    WarmStep {
        seconds: f64,
        factor: f64,
    },
    Memory(u64),
}

/// What breaks, and after how many calls.
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

/// What a behaviour changes in a plan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Effect {
    Protocol(Protocol),
    Answer(Answer),
    Cost(Cost),
    Fault(FaultAfter),
    Opening(Opening),
    Token,
    IdleLimit(Duration),
    MemoryAtStart(u64),
    IgnoreSigterm,
    Restless,
    SpawnChild,
    LeaveGroup(Duration),
    LeavePartly,
    LeaveUnderLoad,
    Proxy(Channel),
    Counting,
}

impl Effect {
    /// True if the effect concerns the process rather than how it serves.
    pub(crate) fn is_of_process(self) -> bool {
        matches!(
            self,
            Self::MemoryAtStart(_)
                | Self::IgnoreSigterm
                | Self::Restless
                | Self::SpawnChild
                | Self::LeaveGroup(_)
                | Self::LeavePartly
                | Self::LeaveUnderLoad
                | Self::Proxy(_)
                | Self::Counting
        )
    }

    /// True if no other effect on how the server serves can be combined with it.
    fn is_bare(self) -> bool {
        matches!(self, Self::Answer(Answer::Null | Answer::NullJson))
    }

    /// True if the effect needs decoded messages, which tcp-echo lacks.
    fn needs_messages(self) -> bool {
        let Self::Answer(answer) = self else { return false };
        matches!(answer, Answer::ByteEcho | Answer::Skim | Answer::Swap | Answer::OkOnTruncated)
    }

    fn contradicts(self, other: Self) -> bool {
        if std::mem::discriminant(&self) == std::mem::discriminant(&other) {
            return true;
        }
        if self.is_of_process() || other.is_of_process() {
            return false;
        }
        let is_echo = |effect| effect == Self::Protocol(Protocol::TcpEcho);
        self.is_bare()
            || other.is_bare()
            || is_echo(self) && other.needs_messages()
            || is_echo(other) && self.needs_messages()
    }
}

impl Plan {
    /// Combines `behaviours`; without any, the server is honest. Fails if two of them exclude each other.
    pub fn new(behaviours: &[Behaviour]) -> Result<Self, BehaviourError> {
        for (index, second) in behaviours.iter().enumerate() {
            let mut earlier = behaviours[..index].iter();
            if let Some(first) = earlier.find(|first| first.effect.contradicts(second.effect)) {
                return Err(BehaviourError(format!(
                    "`{first}` and `{second}` exclude each other; choose one"
                )));
            }
        }
        let mut plan = Self::default();
        for behaviour in behaviours {
            plan.adopt(behaviour.effect);
        }
        Ok(plan)
    }

    /// The code to exit with instead of serving, if there should be no server.
    pub fn exit_at_start(&self) -> Option<u8> {
        match self.opening {
            Opening::Exit(code) => Some(code),
            _ => None,
        }
    }

    /// The protocol of its connections.
    pub fn spoken(&self) -> Protocol {
        self.least_work().unwrap_or(self.protocol)
    }

    /// The protocol of the null server that can do what the plan says. `None` if none can.
    pub(crate) fn least_work(&self) -> Option<Protocol> {
        let only_answers = self.answer == Answer::Honest
            && self.cost == Cost::Nothing
            && self.fault.is_none()
            && self.idle_limit.is_none()
            && self.opening == Opening::Serve;
        match self.answer {
            Answer::Null => Some(Protocol::Grpc),
            Answer::NullJson => Some(Protocol::Json),
            _ => Some(self.protocol)
                .filter(|it| only_answers && (*it == Protocol::TcpEcho || Form::of(*it).is_some())),
        }
    }

    fn adopt(&mut self, effect: Effect) {
        match effect {
            Effect::Protocol(protocol) => self.protocol = protocol,
            Effect::Answer(answer) => self.answer = answer,
            Effect::Cost(cost) => self.cost = cost,
            Effect::Fault(fault) => self.fault = Some(fault),
            Effect::Opening(opening) => self.opening = opening,
            Effect::Token => self.token = true,
            Effect::IdleLimit(limit) => self.idle_limit = Some(limit),
            Effect::MemoryAtStart(bytes) => self.memory_at_start = bytes,
            Effect::IgnoreSigterm => self.ignore_sigterm = true,
            Effect::Restless => self.restless = true,
            Effect::SpawnChild => self.spawn_child = true,
            Effect::LeaveGroup(after) => self.leave_group = Some(after),
            Effect::LeavePartly => self.leave_partly = true,
            Effect::LeaveUnderLoad => self.leave_under_load = true,
            Effect::Proxy(channel) => self.proxy = Some(channel),
            Effect::Counting => self.counting = true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(texts: &[&str]) -> Result<Plan, BehaviourError> {
        Plan::new(&texts.iter().map(|text| text.parse().unwrap()).collect::<Vec<_>>())
    }

    #[test]
    fn behaviours_of_different_parts_combine() {
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
        assert_eq!(error, "`honest` and `byte-echo` exclude each other; choose one");
        assert!(plan(&["null", "busy:5"]).is_err());
        assert!(plan(&["null", "counting"]).is_ok());
        assert!(plan(&["json", "null-json"]).is_err());
        assert!(plan(&["json", "json-h2c"]).is_err());
        assert_eq!(plan(&["json", "canned"]).unwrap().protocol, Protocol::Json);
        assert!(plan(&["json", "thrift"]).is_err());
        assert!(plan(&["tcp-echo", "byte-echo"]).is_err(), "which is honest there");
    }

    #[test]
    fn honest_thrift_and_tcp_echo_run_as_null_servers() {
        let kind = |texts: &[&str]| plan(texts).unwrap().least_work();
        for protocol in Protocol::ALL.into_iter().filter(|it| Form::of(*it).is_some()) {
            assert_eq!(kind(&[protocol.name(), "counting"]), Some(protocol));
            for more in ["canned", "slow:5ms", "reset-after:9", "never-ready"] {
                assert_eq!(kind(&[protocol.name(), more]), None, "{more}");
            }
        }
        assert_eq!(kind(&["tcp-echo"]), Some(Protocol::TcpEcho));
        assert_eq!(kind(&["tcp-echo", "busy:5"]), None);
        assert_eq!((kind(&["json"]), kind(&["honest"])), (None, None));
    }
}
