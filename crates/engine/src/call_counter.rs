//! Counts the calls of another program as a load thread counts its own.

use rpcbench_record::{Outcomes, Protocol, Unmeasured};
use rpcbench_stats::Histogram;

use crate::call::Call;
use crate::counted::Part;
use crate::log::{CallLog, Ended};
use crate::nonce::Nonce;
use crate::outcome::Outcome;
use crate::recorder::Recorder;
use crate::tally::WindowTally;
use rpcbench_clock::{Nanos, Span};

/// Example of a call that broke, since the other program reports no reason.
const BROKEN: &str = "the client's library reported a broken connection";
/// Example of a call that was not sent.
const NO_ROOM: &str = "too many calls were in flight";

/// An ended call of another program. Times are by this machine's monotonic clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndedCall {
    /// When it was due.
    pub due: Nanos,
    /// When it was started.
    pub written: Nanos,
    /// When its outcome was known.
    pub done: Nanos,
    /// Its outcome.
    pub ended: Ended,
}

/// Counts ended calls: those that came due in a measured span, and those outside of it.
#[derive(Debug)]
pub struct CallCounter(Recorder);

impl CallCounter {
    /// A counter for calls of a protocol, which names their status codes. Measured calls go to `log`, if given.
    pub fn new(protocol: Protocol, log: Option<CallLog>) -> Self {
        Self(Recorder::new(protocol, log))
    }

    /// Measures the calls that come due in `span`, whose end may be unknown: [`Nanos::NEVER`].
    pub fn measure(&mut self, span: Span) {
        self.0.measure(span);
    }

    /// Also measures the calls that come due in `span`, a part of a window that ends with its last part.
    pub fn measure_part(&mut self, span: Span, is_last: bool) {
        self.0.measure_part(Part { span, is_last });
    }

    /// Moves the end of the span to `end`. No recorded call may have come due at or after that instant.
    pub fn end_at(&mut self, end: Nanos) {
        self.0.end_at(end);
    }

    /// Counts a call.
    pub fn record(&mut self, call: EndedCall) {
        let EndedCall { due, written, done, ended } = call;
        let call = Call { request: 0, nonce: Nonce::new(0), due, written };
        self.0.record(&call, done, &ended.into());
    }

    /// Response times of `ok` calls, and all outcomes, measured so far; empty outside of a span.
    pub fn so_far(&mut self) -> (Histogram, Outcomes) {
        self.0.so_far()
    }

    /// Ends the measurement.
    pub fn take(&mut self) -> Option<WindowTally> {
        self.0.take()
    }

    /// Calls outside of measured spans so far.
    pub fn outside(&self) -> &Unmeasured {
        self.0.outside()
    }
}

impl From<Ended> for Outcome {
    fn from(ended: Ended) -> Self {
        match ended {
            Ended::Ok => Self::Ok,
            Ended::WrongAnswer => Self::WrongAnswer,
            Ended::Status(code) => {
                Self::Status { code, message: String::new(), details: Vec::new() }
            }
            Ended::Timeout => Self::Timeout,
            Ended::Transport => Self::Transport { reason: BROKEN.to_owned() },
            Ended::NotSent => Self::NotSent { reason: NO_ROOM.to_owned() },
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ended() -> impl Strategy<Value = Ended> {
        prop_oneof![
            6 => Just(Ended::Ok),
            1 => Just(Ended::WrongAnswer),
            1 => (0_u32..17).prop_map(Ended::Status),
            1 => Just(Ended::Timeout),
            1 => Just(Ended::Transport),
            1 => Just(Ended::NotSent),
        ]
    }

    proptest! {
        #[test]
        fn reported_calls_count_as_the_engine_counts_its_own(
            calls in prop::collection::vec((0_u64..900, 0_u64..50, 0_u64..400, ended()), 1..60),
            (start, length, longer) in (0_u64..400, 100_u64..500, 0_u64..300),
        ) {
            let span = Span { start: Nanos(start), end: Nanos(start + length) };
            let mut counter = CallCounter::new(Protocol::Grpc, None);
            let mut own = Recorder::new(Protocol::Grpc, None);
            counter.measure(span);
            own.measure(span);
            counter.end_at(Nanos(start + length + longer));
            own.end_at(Nanos(start + length + longer));
            for (due, wait, took, ended) in calls {
                let [due, written, done] = [due, due + wait, due + wait + took].map(Nanos);
                counter.record(EndedCall { due, written, done, ended });
                let call = Call { request: 7, nonce: Nonce::new(9), due, written };
                own.record(&call, done, &Outcome::from(ended));
            }
            prop_assert_eq!(counter.outside(), own.outside());
            prop_assert_eq!(format!("{:?}", counter.so_far()), format!("{:?}", own.so_far()));
            prop_assert_eq!(format!("{:?}", counter.take()), format!("{:?}", own.take()));
        }
    }

    #[test]
    fn call_reported_after_the_next_part_began_is_in_the_series() {
        let ms = Nanos::from_millis;
        let mut counter = CallCounter::new(Protocol::Grpc, None);
        counter.measure_part(Span { start: ms(100), end: ms(300) }, false);
        counter.measure_part(Span { start: ms(1000), end: ms(1200) }, true);
        for (due, done) in [(120, 250), (290, 310), (1010, 1020)] {
            let [due, done] = [due, done].map(ms);
            counter.record(EndedCall { due, written: due, done, ended: Ended::Ok });
        }
        let tally = counter.take().unwrap().calls;
        let series: Vec<u64> = tally.series.iter().map(|slice| slice.ok).collect();
        assert_eq!((tally.outcomes.ok, series), (3, vec![0, 1, 1, 0]));
    }

    #[test]
    fn reported_outcome_is_logged_as_reported() {
        for ended in [
            Ended::Ok,
            Ended::WrongAnswer,
            Ended::Status(13),
            Ended::Timeout,
            Ended::Transport,
            Ended::NotSent,
        ] {
            assert_eq!(Ended::from(&Outcome::from(ended)), ended);
        }
    }
}
