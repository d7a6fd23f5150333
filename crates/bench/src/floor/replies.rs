//! Counts calls by bytes, for replies of one size.

/// Bytes of DATA after which the null server reopens the connection's window.
const REFILL: u64 = 1 << 29;
const WINDOW_UPDATE: u64 = 13;

/// The bytes that a server sends, as a function of the number of calls: replies of one size, and in HTTP/2 a WINDOW_UPDATE
/// before every reply at which its window is reopened.
#[derive(Clone, Copy, Debug)]
pub(super) struct Replies {
    size: u64,
    /// Calls from one WINDOW_UPDATE to the next. `None` without windows.
    period: Option<u64>,
}

impl Replies {
    /// Replies of `size` bytes to requests with `windowed` bytes that count against the server's window, if it has one.
    pub fn new(size: u64, windowed: Option<u64>) -> Self {
        Self { size, period: windowed.map(|bytes| REFILL.div_ceil(bytes)) }
    }

    /// Bytes sent in answer to `calls` calls.
    pub fn bytes(self, calls: u64) -> u64 {
        let updates = self.period.map_or(0, |period| calls / period);
        calls * self.size + updates * WINDOW_UPDATE
    }

    /// Calls whose replies are complete within the first `bytes` bytes.
    pub fn answered(self, bytes: u64) -> u64 {
        let Some(calls) = self.period else { return bytes / self.size };
        let period = self.bytes(calls);
        let rest = bytes % period;
        // The last reply of a period follows the WINDOW_UPDATE, so it is part of the next one.
        bytes / period * calls + (rest / self.size).min(calls - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reply_counts_at_its_last_byte() {
        for windowed in [None, Some(107)] {
            let replies = Replies::new(146, windowed);
            let answered = [0, 145, 146, 147, 292].map(|bytes| replies.answered(bytes));
            assert_eq!(answered, [0, 0, 1, 1, 2]);
        }
    }

    #[test]
    fn bytes_and_calls_agree_around_every_window_update() {
        let replies = Replies { size: 7, period: Some(5) };
        for calls in 1..1_000 {
            let end = replies.bytes(calls);
            assert_eq!(replies.answered(end), calls);
            assert_eq!(replies.answered(end - 1), calls - 1, "before the end of call {calls}");
        }
    }

    #[test]
    fn window_is_opened_by_the_call_past_its_limit() {
        let replies = Replies::new(100, Some(1 << 28));
        assert_eq!([1, 2, 3, 4].map(|calls| replies.bytes(calls)), [100, 213, 313, 426]);
    }
}
