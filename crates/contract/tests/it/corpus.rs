//! The corpus: its guarantees about requests, and which replies it accepts.

use proptest::prelude::*;
use std::sync::LazyLock;

use prost::Message;
use rpcbench_contract::{Corpus, Encoding, Mismatch, NONCE_BYTES, Shape, nonce, pb, thrift_reply};

const SHAPES: [Shape; 6] =
    [Shape::Text(0), Shape::Text(1), Shape::Text(100), Shape::Record, Shape::Dto, Shape::Tree];

const ENCODINGS: [Encoding; 5] = [
    Encoding::Protobuf,
    Encoding::Json,
    Encoding::ThriftBinary,
    Encoding::ThriftCompact,
    Encoding::Opaque,
];

/// Decodes a request and encodes the right reply.
fn reply(shape: Shape, request: &[u8]) -> Vec<u8> {
    match shape {
        Shape::Text(_) => {
            pb::TextReply { echo: pb::TextRequest::decode(request).unwrap().text }.encode_to_vec()
        }
        Shape::Record => {
            pb::RecordReply { echo: pb::RecordRequest::decode(request).unwrap().record }
                .encode_to_vec()
        }
        Shape::Dto => {
            pb::DtoReply { echo: pb::DtoRequest::decode(request).unwrap().dto }.encode_to_vec()
        }
        Shape::Tree => {
            pb::TreeReply { echo: pb::TreeRequest::decode(request).unwrap().tree }.encode_to_vec()
        }
    }
}

/// The same in JSON.
fn json_reply(request: &[u8]) -> Vec<u8> {
    let request: serde_json::Map<_, _> = serde_json::from_slice(request).unwrap();
    let content = request.into_iter().next().unwrap().1;
    serde_json::json!({ "echo": content }).to_string().into_bytes()
}

/// Decodes a reply and encodes it again with prost.
fn encoded_again(shape: Shape, reply: &[u8]) -> Option<Vec<u8>> {
    match shape {
        Shape::Text(_) => pb::TextReply::decode(reply).ok().map(|reply| reply.encode_to_vec()),
        Shape::Record => pb::RecordReply::decode(reply).ok().map(|reply| reply.encode_to_vec()),
        Shape::Dto => pb::DtoReply::decode(reply).ok().map(|reply| reply.encode_to_vec()),
        Shape::Tree => pb::TreeReply::decode(reply).ok().map(|reply| reply.encode_to_vec()),
    }
}

fn any_shape() -> impl Strategy<Value = Shape> {
    prop_oneof![
        (0_u32..20_000).prop_map(Shape::Text),
        Just(Shape::Record),
        Just(Shape::Dto),
        Just(Shape::Tree),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn same_seed_gives_the_same_requests(shape in any_shape(), seed: u64) {
        let (one, two) = (Corpus::generate(&shape, seed, Encoding::Protobuf), Corpus::generate(&shape, seed, Encoding::Protobuf));
        prop_assert_eq!(one.len(), two.len());
        for at in 0..one.len() {
            prop_assert_eq!(one.request(at), two.request(at));
        }
    }

    #[test]
    fn size_is_limited_and_neighbours_differ(shape in any_shape(), seed: u64) {
        let corpus = Corpus::generate(&shape, seed, Encoding::Protobuf);
        prop_assert!((16..=1024).contains(&corpus.len()));
        let sizes: Vec<_> = (0..corpus.len()).map(|at| corpus.request(at).len()).collect();
        let (bytes, budget) = (sizes.iter().sum::<usize>(), 256 * 1024);
        prop_assert!(bytes < budget + sizes.iter().max().unwrap() || corpus.len() == 16);
        prop_assert!(bytes >= budget || corpus.len() >= 1023, "{} bytes", bytes);
        if shape != Shape::Text(0) {
            for at in 0..corpus.len() {
                prop_assert_ne!(corpus.request(at), corpus.request(at + 1));
            }
        }
    }

    #[test]
    fn right_replies_are_accepted_and_others_refused(shape in any_shape(), seed: u64) {
        let corpus = Corpus::generate(&shape, seed, Encoding::Protobuf);
        for at in 0..corpus.len().min(24) {
            let right = reply(shape, corpus.request(at));
            prop_assert_eq!(corpus.verify(at, corpus.request(at), &right), Ok(()));
            if shape != Shape::Text(0) {
                prop_assert!(corpus.verify(at + 1, corpus.request(at + 1), &right).is_err());
                prop_assert_eq!(
                    corpus.verify(at, corpus.request(at), corpus.request(at)),
                    Err(Mismatch::RequestReturned)
                );
                prop_assert!(corpus.verify(at, corpus.request(at), &right[..right.len() - 1]).is_err());
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn nonce_comes_back_and_another_one_does_not(shape in any_shape(), seed: u64, number: u32) {
        for encoding in ENCODINGS {
            let corpus = Corpus::generate(&shape, seed, encoding);
            for at in 0..corpus.len().min(80) {
                let request = corpus.request_with(at, nonce(number));
                let room = match shape {
                    Shape::Text(length) => (length as usize).min(NONCE_BYTES),
                    _ => NONCE_BYTES,
                };
                prop_assert_eq!(corpus.nonce(at).len(), room);
                let reply = match encoding {
                    Encoding::Opaque => request.clone(),
                    Encoding::Json => json_reply(&request),
                    Encoding::Protobuf => reply(shape, &request),
                    Encoding::ThriftBinary | Encoding::ThriftCompact => {
                        thrift_reply(encoding, shape.method(), &request).unwrap()
                    }
                };
                prop_assert_eq!(corpus.verify(at, &request, &reply), Ok(()));
                let other = corpus.request_with(at, nonce(number ^ 1));
                let other = corpus.verify(at, &other, &reply);
                prop_assert_eq!(other.is_ok(), room == 0);
            }
        }
    }
}

/// Copies the bytes of all fields with number 1 into field 2.
fn copy(mut request: &[u8]) -> Vec<u8> {
    let mut content = Vec::new();
    while !request.is_empty() {
        assert_eq!(prost::encoding::decode_varint(&mut request), Ok(0x0a));
        let length = prost::encoding::decode_varint(&mut request).unwrap() as usize;
        content.extend_from_slice(request.split_off(..length).unwrap());
    }
    let mut reply = vec![0x12];
    prost::encode_length_delimiter(content.len(), &mut reply).unwrap();
    [reply, content].concat()
}

#[test]
fn one_request_in_64_detects_a_copy() {
    for shape in [Shape::Record, Shape::Dto, Shape::Tree] {
        let corpus = Corpus::generate(&shape, 8, Encoding::Protobuf);
        let plain = Corpus::canonical(&shape, 8, Encoding::Protobuf);
        for at in 0..corpus.len().min(plain.len()) {
            let copied = corpus.verify(at, corpus.request(at), &copy(corpus.request(at))).is_ok();
            assert_eq!(copied, at % 64 != 7, "{shape} {at}");
            assert_eq!(
                corpus.verify(at, corpus.request(at), &reply(shape, corpus.request(at))),
                Ok(())
            );
        }
    }
}

/// Copies the bytes after the first key under another key.
fn json_copy(request: &[u8]) -> Vec<u8> {
    let at = request.iter().position(|byte| *byte == b':').unwrap();
    [b"{\"echo\"", &request[at..]].concat()
}

#[test]
fn one_request_in_64_detects_a_copy_of_json() {
    for shape in [Shape::Record, Shape::Dto, Shape::Tree] {
        let corpus = Corpus::generate(&shape, 8, Encoding::Json);
        for at in 0..corpus.len() {
            let copied =
                corpus.verify(at, corpus.request(at), &json_copy(corpus.request(at))).is_ok();
            assert_eq!(copied, at % 64 != 7, "{shape} {at}");
            assert_eq!(
                corpus.verify(at, corpus.request(at), &json_reply(corpus.request(at))),
                Ok(())
            );
        }
    }
}

#[test]
fn nonce_is_not_written_into_a_field_name() {
    for length in 1..5 {
        let corpus = Corpus::canonical(&Shape::Text(length), 3, Encoding::Json);
        for at in 0..corpus.len() {
            let end = corpus.request(at).len() - "\"}".len();
            assert_eq!(*corpus.nonce(at), end - length as usize..end);
        }
    }
}

/// Copies a request with field 2 in place of field 1.
fn thrift_copy(request: &[u8]) -> Vec<u8> {
    let mut reply = request.to_vec();
    match &mut reply[..] {
        [11 | 12, 0, number @ 1, ..] => *number = 2,
        [head @ (0x18 | 0x1c), ..] => *head += 0x10,
        _ => {}
    }
    reply
}

#[test]
fn one_request_in_64_detects_a_copy_of_thrift() {
    for encoding in [Encoding::ThriftBinary, Encoding::ThriftCompact] {
        for shape in [Shape::Text(100), Shape::Record, Shape::Dto, Shape::Tree] {
            let corpus = Corpus::generate(&shape, 8, encoding);
            for at in 0..corpus.len() {
                let copied =
                    corpus.verify(at, corpus.request(at), &thrift_copy(corpus.request(at))).is_ok();
                assert_eq!(copied, at % 64 != 7, "{encoding} {shape} {at}");
                let right = thrift_reply(encoding, shape.method(), corpus.request(at)).unwrap();
                assert_eq!(corpus.verify(at, corpus.request(at), &right), Ok(()));
            }
        }
    }
}

/// True if the first bytes of a request are the usual ones: field 1 with a header that takes no more bytes than it needs.
fn looks_usual(encoding: Encoding, shape: Shape, request: &[u8]) -> bool {
    match encoding {
        Encoding::Protobuf => {
            let mut rest = &request[1..];
            let length = prost::encoding::decode_varint(&mut rest).unwrap() as usize;
            let header = 1 + prost::length_delimiter_len(length);
            request[0] == 0x0a && request.len() == header + length
        }
        Encoding::Json => {
            let key = shape.method().name().to_lowercase();
            let head = format!("{{\"{key}\":{{");
            request.starts_with(head.as_bytes()) && request.ends_with(b"}")
        }
        Encoding::ThriftBinary => request.starts_with(&[12, 0, 1]),
        Encoding::ThriftCompact => request[0] == 0x1c,
        Encoding::Opaque => true,
    }
}

#[test]
fn half_of_the_non_canonical_requests_begin_as_usual() {
    for encoding in ENCODINGS.into_iter().filter(|it| *it != Encoding::Opaque) {
        for shape in [Shape::Record, Shape::Dto, Shape::Tree] {
            let corpus = Corpus::generate(&shape, 8, encoding);
            for (number, at) in (7..corpus.len()).step_by(64).enumerate() {
                let usual = looks_usual(encoding, shape, corpus.request(at));
                // A Thrift struct that has its fields twice begins like any other.
                let twice_in_thrift =
                    usual && matches!(encoding, Encoding::ThriftBinary | Encoding::ThriftCompact);
                let inside = number % 2 == 1;
                assert!(usual == inside || twice_in_thrift, "{encoding} {shape} {at}");
            }
        }
    }
}

#[test]
fn nonce_is_written_only_into_the_content() {
    for encoding in [Encoding::ThriftBinary, Encoding::ThriftCompact] {
        for length in 1..20 {
            let shape = Shape::Text(length);
            let corpus = Corpus::generate(&shape, 8, encoding);
            for at in 0..corpus.len() {
                let request = corpus.request_with(at, nonce(7));
                let reply = thrift_reply(encoding, shape.method(), &request).unwrap();
                assert_eq!(corpus.verify(at, &request, &reply), Ok(()), "{shape} {at}");
            }
        }
    }
}

#[test]
fn records_are_639_bytes_in_thrift_and_555_compact() {
    let mean = |encoding| {
        let corpus = Corpus::canonical(&Shape::Record, 5, encoding);
        (0..corpus.len()).map(|at| corpus.request(at).len()).sum::<usize>() / corpus.len()
    };
    let means = [Encoding::ThriftBinary, Encoding::ThriftCompact].map(mean);
    assert_eq!(means, [639, 555]);
}

/// Shared, as generating a corpus takes longer than checking a reply.
static CORPORA: LazyLock<[(Shape, Corpus); 4]> = LazyLock::new(|| {
    [Shape::Text(100), Shape::Record, Shape::Dto, Shape::Tree]
        .map(|shape| (shape, Corpus::generate(&shape, 6, Encoding::Protobuf)))
});

proptest! {
    #[test]
    fn any_change_of_a_byte_is_refused(at: usize, place: prop::sample::Index, by in 1_u8..) {
        for (shape, corpus) in &*CORPORA {
            let right = reply(*shape, corpus.request(at));
            let mut changed = right.clone();
            let place = place.index(changed.len());
            changed[place] ^= by;
            // `true` may be encoded as any number except 0.
            let same = encoded_again(*shape, &changed).is_some_and(|again| again == right);
            prop_assert_eq!(corpus.verify(at, corpus.request(at), &changed).is_ok(), same, "byte {} of {}", place, shape);
        }
    }

    #[test]
    fn arbitrary_replies_are_refused(reply: Vec<u8>) {
        for (_, corpus) in &*CORPORA {
            prop_assert!(corpus.verify(0, corpus.request(0), &reply).is_err());
        }
    }
}

/// Pinned, so that library updates and platforms cannot change the load of comparable runs.
#[test]
fn requests_are_the_same_everywhere() {
    insta::assert_snapshot!(hashes(Encoding::Protobuf), @"
    text:0 1024 af1349b9f5f9a1a6
    text:1 1024 8623da1db957c61e
    text:100 1024 64fb11e12abad42a
    record 451 ea48e6d13a706243
    dto 1024 3896e1303f1439be
    tree 571 73beb3773c7df830
    ");
    insta::assert_snapshot!(hashes(Encoding::ThriftBinary), @"
    text:0 1024 fb4c88162640cf2e
    text:1 1024 0b53a4c0f6e42b89
    text:100 1024 493526ed8a358cfb
    record 404 edcf1a68a3c6347c
    dto 1024 90d86c5a7f8a5bf9
    tree 428 cb62bdedf3077adb
    ");
    insta::assert_snapshot!(hashes(Encoding::ThriftCompact), @"
    text:0 1024 d6cce075e0787858
    text:1 1024 e3be2a52b07c407f
    text:100 1024 c10f9c53ed752028
    record 467 9e3f1c3963634090
    dto 1024 6f5026771e10893b
    tree 564 c1d3fa2f84e67d07
    ");
    insta::assert_snapshot!(hashes(Encoding::Json), @"
    text:0 1024 7317c00bacb9a581
    text:1 1024 4343be0b90f77e03
    text:100 1024 cc0fddc34451d21c
    record 224 c9937d291741a2be
    dto 796 399efe7ccdca0506
    tree 300 70bce81ef641fc5d
    ");
}

fn hashes(encoding: Encoding) -> String {
    let hashes = SHAPES.map(|shape| {
        let corpus = Corpus::generate(&shape, 42, encoding);
        let mut hasher = blake3::Hasher::new();
        (0..corpus.len()).for_each(|at| {
            hasher.update(corpus.request(at));
        });
        format!("{shape} {} {}", corpus.len(), &hasher.finalize().to_hex()[..16])
    });
    hashes.join("\n")
}

#[test]
fn text_requests_have_the_requested_length() {
    for length in [0, 1, 2, 3, 4, 127, 128, 1000] {
        let corpus = Corpus::generate(&Shape::Text(length), 3, Encoding::Protobuf);
        for at in 0..corpus.len() {
            let request = pb::TextRequest::decode(corpus.request(at)).unwrap();
            assert_eq!(request.text.len(), length as usize);
        }
    }
}

#[test]
fn records_are_about_580_bytes_and_full() {
    let corpus = Corpus::canonical(&Shape::Record, 5, Encoding::Protobuf);
    let sizes: Vec<_> = (0..corpus.len()).map(|at| corpus.request(at).len()).collect();
    let mean = sizes.iter().sum::<usize>() / sizes.len();
    assert!((570..=590).contains(&mean), "mean {mean}");
    assert!(sizes.iter().all(|size| (530..=630).contains(size)), "{sizes:?}");
    for at in 0..corpus.len() {
        // The debug output has 40 fields, none at its default.
        let record = pb::RecordRequest::decode(corpus.request(at)).unwrap().record.unwrap();
        let text = format!("{record:?}");
        assert_eq!(text.matches("field").count(), 40);
        for default in [": 0,", ": 0 ", ": false", ": \"\"", ": []"] {
            assert!(!text.contains(default), "{default} in {text}");
        }
    }
}

#[test]
fn dtos_have_fresh_guids() {
    let corpus = Corpus::generate(&Shape::Dto, 5, Encoding::Protobuf);
    let mut seen = std::collections::HashSet::new();
    for at in 0..corpus.len() {
        let dto = pb::DtoRequest::decode(corpus.request(at)).unwrap().dto.unwrap();
        for guid in [dto.prop1, dto.prop2, dto.prop3] {
            assert_eq!(guid.len(), 36);
            assert!(seen.insert(guid));
        }
    }
}

#[test]
fn trees_are_full_and_use_both_arms_of_the_oneof() {
    use pb::tree_node::Contact;
    let corpus = Corpus::generate(&Shape::Tree, 5, Encoding::Protobuf);
    let (mut emails, mut statuses) = (0, std::collections::HashSet::new());
    for at in 0..corpus.len() {
        let tree = pb::TreeRequest::decode(corpus.request(at)).unwrap().tree.unwrap();
        emails += usize::from(matches!(tree.contact, Some(Contact::Email(_))));
        statuses.insert(tree.status);
        assert!(tree.left.unwrap().tags.len() >= 2 && tree.right.unwrap().tags.len() >= 2);
        assert!(tree.counters.len() >= 3 && tree.balance < 0 && tree.active);
    }
    assert!(emails * 4 > corpus.len() && emails * 4 < corpus.len() * 3, "{emails} emails");
    assert_eq!(statuses, [1, 2, 3].into());
}
