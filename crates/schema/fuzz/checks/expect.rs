//! Expectations, against the decoders that they do without.

use std::sync::LazyLock;

use prost::Message as _;
use prost_reflect::DynamicMessage;
use serde_json::Value;

use super::every_kind;
use crate::Expectation;

/// An expectation of JSON, and where serde_json has its value.
static JSON: LazyLock<Vec<(Expectation, &str)>> = LazyLock::new(|| {
    [("$ != \"x\"", ""), ("$.a != \"x\"", "/a"), ("$.a.b[1] != \"x\"", "/a/b/1")]
        .into_iter()
        .map(|(text, pointer)| (Expectation::of_json(text).expect("it is right"), pointer))
        .collect()
});

/// Expectations of a message, none of which its bytes can break by being well formed.
static MESSAGE: LazyLock<Vec<Expectation>> = LazyLock::new(|| {
    [
        "$.text != \"x\"",
        "$.inner.inner.f != 1",
        "$.list[1].numbers[2] != 3",
        "$.by_name[\"k\"].maybe exists",
        "$.names[\"-1\"] != \"x\"",
        "$.b.choice in [\"SOME\", -1]",
        "$.wrapped_number == \"7\"",
        "$.any exists",
    ]
    .into_iter()
    .map(|text| Expectation::of_reply(text, every_kind()).expect("it is right"))
    .collect()
});

/// Reads a line as an expectation and the rest as a reply, and checks all of it as a reply, in JSON and as a message.
///
/// # Panics
/// If a reply is refused that serde_json or protobuf's decoder takes, or the value that is found in JSON is not serde_json's.
pub fn expect(bytes: &[u8]) {
    let end = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len());
    if let Ok(text) = std::str::from_utf8(&bytes[..end]) {
        let reply = &bytes[end..];
        let _ = Expectation::of_json(text).map(|it| it.check(reply));
        let _ = Expectation::of_reply(text, every_kind()).map(|it| it.check(reply));
    }
    if let Ok(value) = serde_json::from_slice::<Value>(bytes) {
        for (expectation, pointer) in &*JSON {
            let is_kept = value.pointer(pointer) != Some(&Value::from("x"));
            let verdict = expectation.check(bytes);
            assert_eq!(verdict.is_ok(), is_kept, "{}: {verdict:?}", expectation.text());
        }
    }
    // As encoded again: prost-reflect ignores the wire type of maps.
    if let Ok(message) = DynamicMessage::decode(every_kind().output(), bytes) {
        let bytes = message.encode_to_vec();
        for expectation in &*MESSAGE {
            let verdict = expectation.check(&bytes);
            let malformed = verdict.as_ref().err().filter(|why| why.contains("is no message"));
            assert_eq!(malformed, None, "{}", expectation.text());
        }
    }
}
