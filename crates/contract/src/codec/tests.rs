//! Properties of every encoding.

use proptest::prelude::*;

use super::*;
use crate::values::Source;

const ENCODINGS: [Encoding; 5] = [
    Encoding::Protobuf,
    Encoding::Json,
    Encoding::ThriftBinary,
    Encoding::ThriftCompact,
    Encoding::Opaque,
];

fn any_value() -> impl Strategy<Value = Value> {
    let shape = prop_oneof![
        (0_u32..20_000).prop_map(Shape::Text),
        Just(Shape::Record),
        Just(Shape::Dto),
        Just(Shape::Tree),
    ];
    (shape, any::<u64>()).prop_map(|(shape, seed)| Value::random(shape, &mut Source::new(seed)))
}

/// Checks `reply` against the canonical request with `value`.
fn verify(encoding: Encoding, value: &Value, reply: &[u8]) -> Result<(), Mismatch> {
    let request = encoding.codec().request(value);
    encoding.codec().verify(Sent::new(value, &request), reply)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn replies_round_trip(value in any_value()) {
        for encoding in ENCODINGS {
            let reply = encoding.codec().reply(&value);
            prop_assert_eq!(verify(encoding, &value, &reply), Ok(()), "{}", encoding);
        }
    }

    #[test]
    fn another_value_is_refused(value in any_value(), other in any_value()) {
        for encoding in ENCODINGS {
            let reply = encoding.codec().reply(&other);
            let same = verify(encoding, &value, &reply).is_ok();
            prop_assert_eq!(same, value == other, "{}", encoding);
        }
    }

    #[test]
    fn truncated_and_padded_replies_are_refused(value in any_value(), cut: prop::sample::Index) {
        for encoding in ENCODINGS {
            let reply = encoding.codec().reply(&value);
            if !reply.is_empty() {
                let short = &reply[..cut.index(reply.len())];
                prop_assert!(verify(encoding, &value, short).is_err(), "{}", encoding);
            }
            let long = [&reply[..], &[0]].concat();
            prop_assert!(verify(encoding, &value, &long).is_err(), "{}", encoding);
        }
    }

    #[test]
    fn valid_encodings_begin_with_the_canonical_one(value in any_value()) {
        for encoding in ENCODINGS {
            let requests = encoding.codec().valid_encodings(&value);
            prop_assert_eq!(&requests[0], &encoding.codec().request(&value));
        }
    }
}

#[test]
fn opaque_replies_differ_by_a_byte_or_in_length() {
    let text = Value::Text("abc".to_owned());
    let said = |reply: &[u8]| verify(Encoding::Opaque, &text, reply).unwrap_err().to_string();
    insta::assert_snapshot!(said(b"\x12\x03abc"), @"byte 0 of the reply: expected 0x0a, got 0x12");
    insta::assert_snapshot!(said(b"\x0a\x03abd"), @"byte 4 of the reply: expected 0x63, got 0x64");
    insta::assert_snapshot!(said(b"\x0a\x03ab"), @"the reply has 4 bytes; expected 5");
    insta::assert_snapshot!(said(b"\x0a\x03abc\0"), @"the reply has 6 bytes; expected 5");
}
