//! gRPC status codes, as counted in [`crate::Outcomes::status`].

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

/// The name of a gRPC status code: 13 is `INTERNAL`. `None`: gRPC has no such code.
#[must_use]
pub fn status_name(code: u32) -> Option<&'static str> {
    NAMES.get(code as usize).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_at_their_codes() {
        let codes = [0, 13, 16, 17].map(status_name);
        assert_eq!(codes, [Some("OK"), Some("INTERNAL"), Some("UNAUTHENTICATED"), None]);
    }
}
