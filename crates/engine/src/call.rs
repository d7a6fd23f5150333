//! A call in flight.

use rpcbench_clock::Nanos;

use crate::nonce::Nonce;

/// A call in flight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Call {
    /// Which request it carries.
    pub request: u32,
    /// Unique among the calls with that request.
    pub nonce: Nonce,
    /// When it was due.
    pub due: Nanos,
    /// When its bytes were given to the kernel; 0 before that.
    pub written: Nanos,
}
