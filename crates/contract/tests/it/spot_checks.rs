//! Spot checks: the cases that travel over a load's own connections.

use prost::Message;
use rpcbench_contract::cases::SpotChecks;
use rpcbench_contract::{AfterRefusal, Encoding, Profile, Shape, pb, thrift_reply};
use rpcbench_record::Protocol;

const SHAPES: [Shape; 4] = [Shape::Text(100), Shape::Record, Shape::Dto, Shape::Tree];

/// Decodes a request and encodes the right reply.
fn protobuf(shape: Shape, request: &[u8]) -> Option<Vec<u8>> {
    Some(match shape {
        Shape::Text(_) => {
            pb::TextReply { echo: pb::TextRequest::decode(request).ok()?.text }.encode_to_vec()
        }
        Shape::Record => pb::RecordReply { echo: pb::RecordRequest::decode(request).ok()?.record }
            .encode_to_vec(),
        Shape::Dto => {
            pb::DtoReply { echo: pb::DtoRequest::decode(request).ok()?.dto }.encode_to_vec()
        }
        Shape::Tree => {
            pb::TreeReply { echo: pb::TreeRequest::decode(request).ok()?.tree }.encode_to_vec()
        }
    })
}

/// How many requests a server gets wrong that refuses with `code` what it has no reply to.
fn wrong(checks: &SpotChecks, code: u32, server: impl Fn(&[u8]) -> Option<Vec<u8>>) -> Vec<String> {
    let judge = |index: usize| match server(checks.request(index)) {
        Some(reply) => checks.verify(index, &reply).err(),
        None if checks.accepts_status(index, code) => None,
        None => Some(format!("request {index} was refused")),
    };
    (0..checks.len()).filter_map(judge).collect()
}

#[test]
fn spot_checks_are_a_few_hundred_and_some_are_malformed() {
    for profile in Protocol::with_contract().map(Profile::of) {
        for shape in SHAPES {
            let checks = SpotChecks::generate(&shape, 3, profile);
            if profile.encoding == Encoding::Opaque {
                assert!(checks.is_empty());
                continue;
            }
            assert!((256..600).contains(&checks.len()), "{shape}: {}", checks.len());
            let code = *profile.refusals.start() + 1;
            let refused = (0..checks.len()).filter(|at| checks.accepts_status(*at, code)).count();
            let keeps = profile.after_refusal == AfterRefusal::KeepsConnection;
            assert_eq!(refused * 50 > checks.len(), keeps, "{shape}: {refused}");
        }
    }
}

#[test]
fn right_server_passes_and_cheats_do_not() {
    for shape in SHAPES {
        let checks = SpotChecks::generate(&shape, 5, Profile::of(Protocol::Grpc));
        let right = |request: &[u8]| protobuf(shape, request);
        assert_eq!(wrong(&checks, 13, right), [] as [String; 0]);
        assert!(!wrong(&checks, 0, right).is_empty(), "OK is no error status");
        // Replaces the first tag.
        let swap = |request: &[u8]| Some([&[0x12], request.get(1..)?].concat());
        assert!(wrong(&checks, 13, swap).len() > checks.len() / 20);
    }
    for shape in SHAPES {
        let profile = Profile::of(Protocol::Thrift);
        let checks = SpotChecks::generate(&shape, 5, profile);
        let right = |request: &[u8]| thrift_reply(profile.encoding, shape.method(), request).ok();
        assert_eq!(wrong(&checks, 0, right), [] as [String; 0]);
        let swap = |request: &[u8]| match request {
            [kind @ (11 | 12), 0, 1, rest @ ..] => Some([&[*kind, 0, 2], rest].concat()),
            other => right(other),
        };
        assert!(!wrong(&checks, 0, swap).is_empty());
    }
}

#[test]
fn server_that_copies_what_has_a_usual_first_header_is_caught() {
    for shape in SHAPES {
        let checks = SpotChecks::generate(&shape, 5, Profile::of(Protocol::Grpc));
        let copy = |request: &[u8]| {
            let (tag, mut rest) = request.split_first()?;
            let before = rest.len();
            let length = prost::encoding::decode_varint(&mut rest).ok()? as usize;
            let usual = *tag == 0x0a
                && rest.len() == length
                && before - rest.len() == prost::length_delimiter_len(length);
            match usual {
                true => Some([&[0x12], &request[1..]].concat()),
                false => protobuf(shape, request),
            }
        };
        let caught = wrong(&checks, 13, copy);
        assert!(caught.len() > 3, "{shape}: {caught:?}");
    }
}
