//! How a load starts.

use rpcbench_record::Arrivals;

use rpcbench_clock::Span;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Start {
    /// When calls come due.
    pub arrivals: Arrivals,
    /// Seed of random arrivals.
    pub seed: u64,
    /// What to measure, if already known.
    pub span: Option<Span>,
    /// Whether to make spot checks.
    pub spot_checks: bool,
    /// Number of calls in the span, over all threads. The span ends with the last of them; until then its end is
    /// [`NEVER`](rpcbench_clock::Nanos::NEVER).
    pub calls: Option<u64>,
}

impl Start {
    /// A start of the load itself, without spot checks.
    pub fn load(arrivals: Arrivals, seed: u64, span: Option<Span>, calls: Option<u64>) -> Self {
        Self { arrivals, seed, span, spot_checks: false, calls }
    }

    /// A closed loop that makes each spot check once, over all threads, and then ends.
    pub const SPOT_CHECKS: Self =
        Self { arrivals: Arrivals::Closed, seed: 0, span: None, calls: None, spot_checks: true };
}
