//! The status of a response without a gRPC status.

use crate::protocol::End;

/// The code of success.
pub(super) const OK: u32 = 0;
/// The code for statuses that gRPC does not have.
pub(super) const UNKNOWN: u32 = 2;
const PERMISSION_DENIED: u32 = 7;
const UNIMPLEMENTED: u32 = 12;
const INTERNAL: u32 = 13;
const UNAVAILABLE: u32 = 14;
const UNAUTHENTICATED: u32 = 16;
/// gRPC's highest code.
pub(super) const LAST: u32 = UNAUTHENTICATED;

/// Converts an HTTP status for a response without a gRPC status: gRPC's `http-grpc-status-mapping`.
pub(crate) fn from_http(http: u16) -> u32 {
    match http {
        400 => INTERNAL,
        401 => UNAUTHENTICATED,
        403 => PERMISSION_DENIED,
        404 => UNIMPLEMENTED,
        429 | 502..=504 => UNAVAILABLE,
        _ => UNKNOWN,
    }
}

/// How a call with only an HTTP status ends; 0 if it lacks that too.
pub(super) fn http_failure(http: u16) -> End {
    let message = if http == 0 { String::new() } else { format!("HTTP status {http}") };
    End::status(from_http(http), message)
}
