//! Verdicts on figures.

use std::fmt;

use itertools::Itertools as _;
use rpcbench_record::SATURATED;

use crate::format::percent_near;
use crate::parties::Parties;

/// The verdict on the figures of a cell or a load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The verdict in a word.
    pub kind: VerdictKind,
    /// Why the figures are not ranked, in one line. `None` if they are.
    pub reason: Option<String>,
}

/// A verdict in a word. Only the first four are ranked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerdictKind {
    /// The server was the bottleneck: this is its capacity.
    ServerBound,
    /// The client under test was the bottleneck: this is its capacity.
    AtItsLimit,
    /// Neither side was saturated, or both were: the figures are valid, but their limit is unknown.
    Unclear,
    /// Open loop: calls came due by their schedule and the server kept up. These are its response times at that rate.
    Ok,
    /// Open loop: the server finished fewer calls than came due, so its response times only show how long that lasted.
    Overloaded,
    /// The client fell behind: in an open loop its own schedule, in a closed loop the replies.
    GeneratorLate,
    /// The client was the limit: the server can do more. In an open loop, the client had no CPU left in a trial, or while
    /// measuring the capacity of which the rate is a share, so response times or the share may be due to the client.
    ClientBound,
    /// The reference server was the limit: the client can do more.
    ReferenceBound,
    /// Server and client shared a CPU, so the figures are those of both.
    SharedCpu,
    /// A threshold was exceeded.
    LimitExceeded,
    /// The server was still getting faster.
    StillWarming,
    /// Other programs took the CPU time that late calls, or rpcbench's readings of the server's counters, needed: neither the
    /// failures nor the figures are the server's.
    Disturbed,
    /// The figures contradict each other.
    Suspect,
    /// The server failed: it could not be measured, or calls failed during measurement.
    Failed,
}

impl Verdict {
    pub(crate) fn ranked(kind: VerdictKind) -> Self {
        Self { kind, reason: None }
    }

    /// A verdict on figures that are not ranked.
    pub(crate) fn because(kind: VerdictKind, reason: String) -> Self {
        Self { kind, reason: Some(reason) }
    }

    pub(crate) fn failed(reason: String) -> Self {
        Self::because(VerdictKind::Failed, reason)
    }

    /// The figures of a trial contradict each other.
    pub(crate) fn suspect(trial: u32, doubt: &str) -> Self {
        Self::because(VerdictKind::Suspect, format!("trial {trial}: {doubt}"))
    }

    /// The server did not keep up in a trial.
    pub(crate) fn overloaded(trial: u32) -> Self {
        let reason = format!("trial {trial}: it finished fewer calls than came due");
        Self::because(VerdictKind::Overloaded, reason)
    }

    /// The client was the limit. `client` is the busiest client thread as a share of a CPU; `server` is the server's share of its
    /// limit, if that is evidence.
    pub(crate) fn client_bound(client: f64, server: Option<f64>) -> Self {
        let percent = |share| percent_near(share, &[SATURATED]);
        let server = server.map(|share| format!(", the server at {} of its limit", percent(share)));
        let (client, server) = (percent(client), server.unwrap_or_default());
        let reason = format!("the busiest client thread was at {client} of a CPU{server}");
        Self::because(VerdictKind::ClientBound, reason)
    }

    /// The bottleneck, judged by CPU use alone. `server` is a share of the server's limit. `client` is the busiest client thread
    /// as a share of a CPU, including time waiting for a CPU.
    pub(crate) fn saturation(server: Option<f64>, client: f64) -> Self {
        match server.map(|server| (server >= SATURATED, client >= SATURATED)) {
            Some((true, false)) => Self::ranked(VerdictKind::ServerBound),
            Some((false, true)) => Self::client_bound(client, server),
            _ => Self::ranked(VerdictKind::Unclear),
        }
    }

    /// The client shared these CPUs with the server.
    pub(crate) fn shared_cpu(cpus: &[u32]) -> Self {
        let word = if cpus.len() == 1 { "CPU" } else { "CPUs" };
        let reason = format!(
            "server and client shared {word} {}, so the figures are those of both; give the server fewer CPUs than the \
             machine has",
            cpus.iter().join(", ")
        );
        Self::because(VerdictKind::SharedCpu, reason)
    }

    /// Rewords the verdict for these parties. A pair limited by its server is ranked like any other.
    pub(crate) fn of(self, parties: Parties) -> Self {
        let kind = match (parties, self.kind) {
            (Parties::Client | Parties::Pair, VerdictKind::ServerBound) => VerdictKind::AtItsLimit,
            (Parties::Client, VerdictKind::ClientBound) => VerdictKind::ReferenceBound,
            (Parties::Pair, VerdictKind::ClientBound) => {
                return Self::ranked(VerdictKind::ServerBound);
            }
            (_, kind) => kind,
        };
        // Failures are explained by the run, which knows the role.
        let worded = |reason: String| match kind {
            VerdictKind::Failed => reason,
            _ => parties.words(&reason).into_owned(),
        };
        Self { kind, reason: self.reason.map(worded) }
    }

    /// True if the figures are ranked.
    pub fn is_ranked(&self) -> bool {
        use VerdictKind::{AtItsLimit, Ok, ServerBound, Unclear};
        matches!(self.kind, ServerBound | AtItsLimit | Unclear | Ok)
    }

    /// True if the server failed.
    pub fn is_failed(&self) -> bool {
        self.kind == VerdictKind::Failed
    }

    /// Name in tables and exports.
    pub fn name(&self) -> &'static str {
        self.kind.name()
    }
}

impl VerdictKind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            VerdictKind::ServerBound => "server-bound",
            VerdictKind::AtItsLimit => "at its limit",
            VerdictKind::Unclear => "unclear",
            VerdictKind::Ok => "ok",
            VerdictKind::Overloaded => "overloaded",
            VerdictKind::GeneratorLate => "generator late",
            VerdictKind::ClientBound => "client-bound",
            VerdictKind::ReferenceBound => "reference-bound",
            VerdictKind::SharedCpu => "shared CPU",
            VerdictKind::LimitExceeded => "limit exceeded",
            VerdictKind::StillWarming => "still warming",
            VerdictKind::Disturbed => "disturbed",
            VerdictKind::Suspect => "suspect",
            VerdictKind::Failed => "failed",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn saturation_begins_at_90_percent() {
        let name = |server, client| Verdict::saturation(server, client).name();
        assert_eq!(name(Some(0.90), 0.8999), "server-bound");
        assert_eq!(name(Some(0.8999), 0.90), "client-bound");
        assert_eq!(name(Some(0.8999), 0.8999), "unclear");
        assert_eq!(name(Some(0.90), 0.90), "unclear");
        assert_eq!(name(None, 0.99), "unclear");
    }

    #[test]
    fn client_at_its_limit_is_ranked_and_one_held_back_by_its_reference_is_not() {
        let verdict =
            |client, reference| Verdict::saturation(Some(client), reference).of(Parties::Client);
        let (wanted, flaw) = (verdict(0.99, 0.6), verdict(0.6, 0.99));
        assert!(wanted.is_ranked() && wanted.name() == "at its limit");
        assert!(!flaw.is_ranked() && flaw.name() == "reference-bound");
        assert_eq!(
            flaw.reason.as_deref(),
            Some(
                "the busiest thread of the reference server was at 99 % of a CPU, the client at 60 % of its limit"
            )
        );
    }

    #[test]
    fn pair_has_the_side_that_was_its_limit() {
        let limit = |client, server| {
            let verdict = Verdict::saturation(Some(client), server).of(Parties::Pair);
            assert!(verdict.is_ranked() && verdict.reason.is_none());
            verdict.name()
        };
        assert_eq!(limit(0.99, 0.6), "at its limit");
        assert_eq!(limit(0.6, 0.99), "server-bound");
        assert_eq!(limit(0.6, 0.7), "unclear");
    }

    #[test]
    fn only_server_figures_are_ranked() {
        for kind in [VerdictKind::ServerBound, VerdictKind::Unclear, VerdictKind::Ok] {
            assert!(Verdict::ranked(kind).is_ranked());
        }
        for kind in [
            VerdictKind::Overloaded,
            VerdictKind::GeneratorLate,
            VerdictKind::ClientBound,
            VerdictKind::ReferenceBound,
            VerdictKind::SharedCpu,
            VerdictKind::LimitExceeded,
            VerdictKind::StillWarming,
            VerdictKind::Disturbed,
            VerdictKind::Suspect,
            VerdictKind::Failed,
        ] {
            assert!(!Verdict::because(kind, "why".to_owned()).is_ranked());
        }
    }
}
