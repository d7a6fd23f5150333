//! Names of gRPC status codes.

// https://grpc.github.io/grpc/core/md_doc_statuscodes.html
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

/// `13 INTERNAL`; the number alone where the code has no name.
#[must_use]
pub fn named(code: u32) -> String {
    match NAMES.get(code as usize) {
        Some(name) => format!("{code} {name}"),
        None => code.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_codes_have_names() {
        assert_eq!(named(0), "0 OK");
        assert_eq!(named(13), "13 INTERNAL");
        assert_eq!(named(16), "16 UNAUTHENTICATED");
        assert_eq!(named(17), "17");
    }
}
