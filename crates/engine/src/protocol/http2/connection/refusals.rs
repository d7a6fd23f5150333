//! When to believe a peer that says it did not process a call.

use crate::protocol::End;

/// Minimum refusals in a row that a connection tolerates.
const MIN_TOLERATED: u32 = 32;

/// Refusals by the peer. A refused call may be sent again. But if a peer refuses call after call and answers none, the calls
/// would be repeated until they time out, and the reason would be lost.
#[derive(Debug)]
pub(super) struct Refusals {
    /// Streams that ended without an answer: refused by the peer, or cancelled by us.
    pub unanswered: u32,
    /// Streams that the peer had ended in another way when it last refused one.
    answered: u32,
    in_a_row: u32,
    max_in_a_row: u32,
}

impl Refusals {
    /// For a connection with `in_flight` calls at once: all of them may be refused twice.
    pub fn new(in_flight: u32) -> Self {
        let max_in_a_row = in_flight.saturating_mul(2).max(MIN_TOLERATED);
        Self { unanswered: 0, answered: 0, in_a_row: 0, max_in_a_row }
    }

    /// Notes that a stream was refused; `closed` streams are closed by now, including this one.
    pub fn refused(&mut self, closed: u32) -> End {
        self.unanswered += 1;
        let answered = closed.saturating_sub(self.unanswered);
        if answered != self.answered {
            self.answered = answered;
            self.in_a_row = 0;
        }
        self.in_a_row += 1;
        if self.in_a_row > self.max_in_a_row {
            return End::Aborted {
                reason: "RST_STREAM REFUSED_STREAM, again and again".to_owned(),
            };
        }
        End::Refused
    }
}
