//! From bytes to calls, for replies of one size.

/// The null server opens the connection's window again when it has received so many bytes of DATA.
const REFILL: u64 = 1 << 29;
/// Bytes of a WINDOW_UPDATE frame.
pub(super) const WINDOW_UPDATE: u64 = 13;

/// What a server sends, as a function of the number of calls: replies of one size, and a WINDOW_UPDATE
/// before every reply at which its window is opened again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Replies {
    /// Bytes of a reply.
    size: u64,
    /// Calls from one WINDOW_UPDATE to the next.
    period: u64,
}

impl Replies {
    /// Replies of `size` bytes to requests of `data` bytes of DATA each.
    pub fn new(size: u64, data: u64) -> Self {
        Self { size, period: REFILL.div_ceil(data) }
    }

    /// Bytes sent in answer to `calls` calls.
    pub fn bytes(self, calls: u64) -> u64 {
        calls * self.size + calls / self.period * WINDOW_UPDATE
    }

    /// Calls whose whole replies are within the first `bytes` bytes.
    pub fn answered(self, bytes: u64) -> u64 {
        let period = self.bytes(self.period);
        let rest = bytes % period;
        // The last reply of a period comes behind the WINDOW_UPDATE, so that it is in the next one.
        bytes / period * self.period + (rest / self.size).min(self.period - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_counts_when_its_last_byte_is_there() {
        let replies = Replies::new(146, 107);
        assert_eq!([0, 145, 146, 147, 292].map(|bytes| replies.answered(bytes)), [0, 0, 1, 1, 2]);
    }

    #[test]
    fn bytes_and_calls_agree_around_every_window_update() {
        let replies = Replies { size: 7, period: 5 };
        for calls in 1..1_000 {
            let end = replies.bytes(calls);
            assert_eq!(replies.answered(end), calls);
            assert_eq!(replies.answered(end - 1), calls - 1, "before the end of call {calls}");
        }
    }

    #[test]
    fn the_window_is_opened_by_the_call_that_passes_its_limit() {
        let replies = Replies::new(100, 1 << 28);
        assert_eq!([1, 2, 3, 4].map(|calls| replies.bytes(calls)), [100, 213, 313, 426]);
    }
}
