//! Which statuses count as success.

use std::fmt;
use std::ops::RangeInclusive;

use rpcbench_record::Protocol;

use crate::config::did_you_mean;

/// Statuses that count as success: `2xx,404` for HTTP, `OK,NOT_FOUND` for gRPC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Statuses {
    text: String,
    pub ranges: Vec<RangeInclusive<u32>>,
}

impl Statuses {
    /// Parses `given`, or returns the protocol's default. Fails for a status that the protocol does not have.
    pub fn of(given: Option<&str>, protocol: Protocol) -> Result<Self, String> {
        let default = match protocol.spec().success {
            200 => "2xx",
            _ => "OK",
        };
        let text = given.unwrap_or(default);
        let ranges = text.split(',').map(|status| one(status.trim(), protocol));
        Ok(Self { text: text.to_owned(), ranges: ranges.collect::<Result<_, _>>()? })
    }

    pub fn contains(&self, status: u32) -> bool {
        self.ranges.iter().any(|range| range.contains(&status))
    }
}

impl fmt::Display for Statuses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

fn one(text: &str, protocol: Protocol) -> Result<RangeInclusive<u32>, String> {
    let is_http = protocol.spec().success == 200;
    if let (true, Some(class @ '1'..='5')) = (is_http, text.strip_suffix("xx").and_then(only)) {
        let first = class.to_digit(10).unwrap_or_default() * 100;
        return Ok(first..=first + 99);
    }
    let allowed = if is_http { 100..=599 } else { 0..=16 };
    let number = text.parse().ok().or_else(|| protocol.status_named(text));
    number.filter(|code| allowed.contains(code)).map(|code| code..=code).ok_or_else(
        || match is_http {
            true => format!(
                "unknown HTTP status '{text}'; expected 100 to 599, or a list such as 2xx,404"
            ),
            false => {
                let names: Vec<&str> =
                    allowed.filter_map(|code| protocol.status_name(code)).collect();
                let hint = did_you_mean(text, names.iter().copied());
                format!(
                    "unknown {protocol} status '{text}'{hint}; expected one or more of {}",
                    names.join(", ")
                )
            }
        },
    )
}

fn only(text: &str) -> Option<char> {
    let mut chars = text.chars();
    chars.next().filter(|_| chars.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepted(text: &str, protocol: Protocol) -> Vec<u32> {
        let statuses = Statuses::of(Some(text), protocol).unwrap();
        (0..1000).filter(|status| statuses.contains(*status)).collect()
    }

    #[test]
    fn statuses_are_codes_classes_and_names() {
        assert_eq!(accepted("201, 404", Protocol::Http), [201, 404]);
        assert_eq!(accepted("2xx", Protocol::Http2), (200..300).collect::<Vec<_>>());
        assert_eq!(accepted("OK,not_found,7", Protocol::Grpc), [0, 5, 7]);
        assert_eq!(Statuses::of(None, Protocol::Connect).unwrap().ranges, [0..=0]);
    }

    #[test]
    fn unknown_status_is_refused_with_those_that_exist() {
        let refusal = |text, protocol| Statuses::of(Some(text), protocol).unwrap_err();
        insta::assert_snapshot!(refusal("2x", Protocol::Http), @"unknown HTTP status '2x'; expected 100 to 599, or a list such as 2xx,404");
        for unknown in ["999", "600", "99", "6xx"] {
            assert!(Statuses::of(Some(unknown), Protocol::Http).is_err(), "{unknown}");
        }
        insta::assert_snapshot!(refusal("NOTFOUND", Protocol::Grpc), @"unknown grpc status 'NOTFOUND' (did you mean 'NOT_FOUND'?); expected one or more of OK, CANCELLED, UNKNOWN, INVALID_ARGUMENT, DEADLINE_EXCEEDED, NOT_FOUND, ALREADY_EXISTS, PERMISSION_DENIED, RESOURCE_EXHAUSTED, FAILED_PRECONDITION, ABORTED, OUT_OF_RANGE, UNIMPLEMENTED, INTERNAL, UNAVAILABLE, DATA_LOSS, UNAUTHENTICATED");
        assert!(Statuses::of(Some(""), Protocol::Http).is_err());
    }
}
