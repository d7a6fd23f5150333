//! What a cell's figures are worth.

use std::fmt;

use crate::doubt::Doubt;
use crate::format;
use crate::warming::Warming;

pub use rpcbench_record::SATURATED;

/// What a cell's figures are worth. Only [`Verdict::ServerBound`], [`Verdict::Unclear`] and [`Verdict::Ok`] are ranked.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// The server was the bottleneck: this is its capacity.
    ServerBound,
    /// Neither side was saturated, or both were: the figures are true, their limit is unknown.
    Unclear,
    /// Open loop: calls came due by their schedule and the server kept up. These are its response times at that rate.
    Ok,
    /// Open loop: the server finished fewer calls than came due, so its response times only show how long that lasted.
    Overloaded {
        /// Number of the first such trial, from 1.
        trial: u32,
    },
    /// Open loop: the client fell behind its own schedule.
    GeneratorLate {
        /// Number of the first such trial, from 1.
        trial: u32,
        /// Share of the due calls that started late. `None` at a rate that a search only tried.
        late: Option<f64>,
        /// Calls due per second.
        rate_per_s: f64,
    },
    /// The client was the limit: the server can do more. Open loop: the client had no CPU left in a trial, or when it
    /// measured the capacity that the rate is a share of, so response times or share can be its own.
    ClientBound {
        /// Busiest client thread, share of a CPU.
        client: f64,
        /// The server, share of its limit. `None` if unknown.
        server: Option<f64>,
    },
    /// A threshold was exceeded.
    LimitExceeded {
        /// Each limit with what was measured: `p99>16ms: p99 is 16.0727 ms`.
        limits: Vec<String>,
    },
    /// The server was still getting faster.
    StillWarming(Warming),
    /// The figures contradict each other.
    Suspect {
        /// Number of the trial, from 1.
        trial: u32,
        /// The contradiction.
        doubt: Doubt,
    },
    /// The server failed: it could not be measured, or calls failed under measurement.
    Failed {
        /// One line.
        reason: String,
    },
}

impl Verdict {
    /// Whether the cell takes part in the ranking.
    #[must_use]
    pub fn is_ranked(&self) -> bool {
        matches!(self, Self::ServerBound | Self::Unclear | Self::Ok)
    }

    /// Whether the server failed.
    #[must_use]
    pub fn is_failed(&self) -> bool {
        matches!(self, Self::Failed { .. })
    }

    /// Its name in tables and exports.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::ServerBound => "server-bound",
            Self::Unclear => "unclear",
            Self::Ok => "ok",
            Self::Overloaded { .. } => "overloaded",
            Self::GeneratorLate { .. } => "generator late",
            Self::ClientBound { .. } => "client-bound",
            Self::LimitExceeded { .. } => "limit exceeded",
            Self::StillWarming(_) => "still warming",
            Self::Suspect { .. } => "suspect",
            Self::Failed { .. } => "failed",
        }
    }

    /// Why the cell is not ranked. `None` if it is.
    #[must_use]
    pub fn reason(&self) -> Option<String> {
        match self {
            Self::ServerBound | Self::Unclear | Self::Ok => None,
            Self::Overloaded { trial } => {
                Some(format!("trial {trial}: it finished fewer calls than came due"))
            }
            Self::GeneratorLate { trial, late: Some(late), rate_per_s } => Some(format!(
                "trial {trial}: the client started {} of its calls late, at {} calls/s",
                format::percent(*late),
                format::si(*rate_per_s)
            )),
            Self::GeneratorLate { trial, late: None, rate_per_s } => Some(format!(
                "trial {trial}: the search ended at {} calls/s, where the client fell behind its own schedule",
                format::si(*rate_per_s)
            )),
            Self::ClientBound { client, server } => {
                let server = server.map(|share| {
                    format!(", the server at {} of its limit", format::percent(share))
                });
                Some(format!(
                    "the busiest client thread was at {} of a CPU{}",
                    format::percent(*client),
                    server.unwrap_or_default()
                ))
            }
            Self::LimitExceeded { limits } => Some(limits.join("; ")),
            Self::StillWarming(why) => Some(why.to_string()),
            Self::Suspect { trial, doubt } => Some(format!("trial {trial}: {doubt}")),
            Self::Failed { reason } => Some(reason.clone()),
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Who was the limit, by CPU use alone. `server` is a share of the server's limit, `client` a share of a CPU for the
/// busiest client thread, including its time waiting for a CPU.
#[must_use]
pub fn saturation(server: Option<f64>, client: f64) -> Verdict {
    match server {
        Some(server) if server >= SATURATED && client < SATURATED => Verdict::ServerBound,
        Some(server) if server < SATURATED && client >= SATURATED => {
            Verdict::ClientBound { client, server: Some(server) }
        }
        _ => Verdict::Unclear,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nine_tenths_is_saturated() {
        let name = |server, client| saturation(server, client).name();
        assert_eq!(name(Some(0.90), 0.8999), "server-bound");
        assert_eq!(name(Some(0.8999), 0.90), "client-bound");
        assert_eq!(name(Some(0.8999), 0.8999), "unclear");
        assert_eq!(name(Some(0.90), 0.90), "unclear");
        assert_eq!(name(None, 0.99), "unclear");
    }

    #[test]
    fn only_figures_that_may_be_the_servers_own_are_ranked() {
        assert!(Verdict::ServerBound.is_ranked());
        assert!(Verdict::Unclear.is_ranked());
        assert!(Verdict::Ok.is_ranked());
        assert!(!Verdict::Overloaded { trial: 1 }.is_ranked());
        let late = Verdict::GeneratorLate { trial: 1, late: None, rate_per_s: 1.0 };
        assert!(!late.is_ranked());
        assert!(!Verdict::ClientBound { client: 1.0, server: Some(0.5) }.is_ranked());
        assert!(!Verdict::StillWarming(Warming::Climbing { change: 0.2 }).is_ranked());
        assert!(!Verdict::Suspect { trial: 1, doubt: Doubt::EmptyWindow }.is_ranked());
        assert!(!Verdict::Failed { reason: String::new() }.is_ranked());
    }
}
