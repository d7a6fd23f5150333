//! What holds for every encoding.

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

/// The request that an encoding makes of `value`, and what it says to `reply`.
fn verify(encoding: Encoding, value: &Value, reply: &[u8]) -> Result<(), Mismatch> {
    let request = encoding.codec().request(value);
    let sent = Sent {
        shape: value.shape(),
        content: Some(value),
        request: &request,
        unknown_inside: false,
    };
    encoding.codec().verify(sent, reply)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_was_encoded_decodes_to_the_same(value in any_value()) {
        for encoding in ENCODINGS {
            let reply = encoding.codec().reply(&value);
            prop_assert_eq!(verify(encoding, &value, &reply), Ok(()), "{}", encoding);
        }
    }

    #[test]
    fn another_value_is_told_apart(value in any_value(), other in any_value()) {
        for encoding in ENCODINGS {
            let reply = encoding.codec().reply(&other);
            let same = verify(encoding, &value, &reply).is_ok();
            prop_assert_eq!(same, value == other, "{}", encoding);
        }
    }

    #[test]
    fn what_comes_short_or_long_is_refused(value in any_value(), cut: prop::sample::Index) {
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
    fn every_spelling_of_a_request_begins_with_the_usual_one(value in any_value()) {
        for encoding in ENCODINGS {
            let spellings = encoding.codec().spellings(&value);
            prop_assert_eq!(&spellings[0], &encoding.codec().request(&value));
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
