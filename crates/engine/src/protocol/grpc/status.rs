//! gRPC status codes.

const NAMES: [&str; 17] = [
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
];

/// The code of success.
pub(super) const OK: u32 = 0;
const UNKNOWN: u32 = 2;
const PERMISSION_DENIED: u32 = 7;
const UNIMPLEMENTED: u32 = 12;
const INTERNAL: u32 = 13;
const UNAVAILABLE: u32 = 14;
const UNAUTHENTICATED: u32 = 16;

/// The name of a gRPC status code; unknown ones by number.
#[must_use]
pub fn status_name(code: u32) -> String {
    NAMES.get(code as usize).map_or_else(|| format!("status {code}"), |name| (*name).to_owned())
}

/// The status of a response that has none, from its HTTP status: gRPC's
/// `http-grpc-status-mapping`.
pub(super) fn from_http(http: u16) -> u32 {
    match http {
        400 => INTERNAL,
        401 => UNAUTHENTICATED,
        403 => PERMISSION_DENIED,
        404 => UNIMPLEMENTED,
        429 | 502..=504 => UNAVAILABLE,
        _ => UNKNOWN,
    }
}
