//! Connections that carry JSON: what differs from gRPC, whose tests cover HTTP/2 itself.

use std::sync::Arc;

use proptest::prelude::*;

use super::JsonH2c;
use crate::payload::{Filler, MAX_REPLY};
use crate::protocol::http2::frame::{self, put};
use crate::protocol::http2::tests::{self as http2, RIGHT, WRONG};
use crate::protocol::{Broken, Connection as _, End, too_long};
use crate::target::Target;

type Bench = http2::Bench<JsonH2c>;
type Connection = super::Connection<crate::protocol::json::Json>;
type Frame = (u8, u8, Vec<u8>);

/// :status 200 and a content-type, not inserted.
const PLAIN: &[u8] = b"\x88\x0f\x10\x10application/json";
const OF_SEVEN: &[u8] = b"\x0f\x0d\x017";
const LAST: u8 = frame::END_HEADERS | frame::END_STREAM;

fn headers(flags: u8, block: &[u8]) -> Frame {
    (frame::HEADERS, frame::END_HEADERS | flags, block.to_vec())
}

fn data(flags: u8, data: &[u8]) -> Frame {
    (frame::DATA, flags, data.to_vec())
}

/// Headers of a success whose body has `length` bytes.
fn success(length: &str) -> Vec<u8> {
    [PLAIN, b"\x0f\x0d", &[length.len() as u8], length.as_bytes()].concat()
}

fn reply(stream: u32, text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let block = success(&text.len().to_string());
    put(&mut bytes, frame::HEADERS, frame::END_HEADERS, stream, &block);
    put(&mut bytes, frame::DATA, frame::END_STREAM, stream, text);
    bytes
}

impl Bench {
    fn answer(&mut self, stream: u32, request: u32) -> Result<(), Broken> {
        self.receive(&reply(stream, format!("REPLY {request}").as_bytes()))
    }
}

#[test]
fn requests_say_what_they_are_and_how_long() {
    let mut bench = Bench::open(&[3, 120]);
    let mut decoder = loona_hpack::Decoder::new();
    for request in [0, 1, 0] {
        bench.call(request);
        let frames = bench.written();
        let fields = decoder.decode(&frames[0].3).unwrap();
        let value = |name: &[u8]| {
            let mut values = fields.iter().filter(|(known, _)| known == name);
            let value = values.next().map(|(_, value)| String::from_utf8_lossy(value).into_owned());
            assert!(values.next().is_none());
            value
        };
        let length = frames[1].3.len();
        assert_eq!(length, if request == 0 { 3 } else { 120 });
        assert_eq!(value(b":method").as_deref(), Some("POST"));
        assert_eq!(value(b":path").as_deref(), Some("/pkg.Service/Method"));
        assert_eq!(value(b"content-type").as_deref(), Some("application/json"));
        assert_eq!(value(b"content-length"), Some(length.to_string()));
        assert_eq!(value(b"te"), None);
        assert_eq!((frames[0].1, frames[1].1), (frame::END_HEADERS, frame::END_STREAM));
    }
}

/// A connection for requests to `target`.
fn bench_of(target: Target) -> Bench {
    let mut bench = Bench::open(&[0]);
    let payload = Filler { targets: vec![target.clone()], ..Filler::of(&[0]) };
    bench.connection.switch(Arc::new(Connection::templates(&payload, "host")));
    bench.seen.target = Some(target);
    bench
}

#[test]
fn request_without_a_body_is_headers_alone() {
    let get = Target { http_method: "GET".to_owned(), has_body: false, ..Target::new("/") };
    let mut bench = bench_of(get);
    for stream in [1, 3, 5] {
        bench.call(0);
        let frames = bench.written();
        let [(frame::HEADERS, LAST, of, _)] = frames[..] else { panic!("{frames:x?}") };
        assert_eq!(of, stream);
        bench.answer(stream, 0).unwrap();
        assert_eq!(bench.ended(), [(0, RIGHT)]);
    }
}

#[test]
fn replies_to_head_have_no_body() {
    let mut bench = bench_of(Target { http_method: "HEAD".to_owned(), ..Target::new("/") });
    bench.call(0);
    bench.frame(frame::HEADERS, LAST, 1, &success("7")).unwrap();
    assert_eq!(bench.ended(), [(0, WRONG)]);
}

#[test]
fn accepted_statuses_are_answers() {
    let mut bench = bench_of(Target { accepted: vec![404..=404], ..Target::new("/") });
    // :status 404, then 400.
    for (stream, status, end) in
        [(1, b"\x8d", End::Accepted { right: true }), (3, b"\x8c", End::status(400, "REPLY 0"))]
    {
        bench.call(0);
        bench.frame(frame::HEADERS, frame::END_HEADERS, stream, status).unwrap();
        bench.frame(frame::DATA, frame::END_STREAM, stream, b"REPLY 0").unwrap();
        assert_eq!(bench.ended(), [(0, end)]);
    }
}

#[test]
fn empty_body_ends_its_request() {
    let mut bench = Bench::open(&[0]);
    for _ in 0..2 {
        bench.call(0);
        let frames = bench.written();
        assert_eq!((frames[1].0, frames[1].1, frames[1].3.len()), (frame::DATA, 1, 0));
        assert_eq!(frames.len(), 2);
    }
}

#[test]
fn peer_without_a_table_gets_every_field_too() {
    let mut bench = Bench::open(&[3]);
    bench.settings(&[(0x1, 0)]).unwrap();
    bench.written();
    bench.call(0);
    let fields = loona_hpack::Decoder::new().decode(&bench.written()[0].3).unwrap();
    assert!(fields.contains(&(b"content-length".to_vec(), b"3".to_vec())));
    assert!(fields.contains(&(b"content-type".to_vec(), b"application/json".to_vec())));
}

/// Asserts how a call that receives these frames ends.
fn assert_ends(frames: &[Frame], end: End) {
    let mut bench = Bench::open(&[3]);
    bench.call(0);
    for (kind, flags, payload) in frames {
        assert_eq!(bench.frame(*kind, *flags, 1, payload), Ok(()), "{frames:x?}");
    }
    assert_eq!(bench.ended(), [(0, end)], "{frames:x?}");
    assert_eq!(bench.connection.footprint().unfinished, 0, "{frames:x?}");
    assert!(bench.connection.is_open() && bench.connection.open_calls() == 0);
}

#[test]
fn body_may_come_in_any_pieces_and_end_in_any_way() {
    let (end, promised) = (frame::END_STREAM, success("7"));
    for block in [PLAIN, &promised] {
        for frames in [
            vec![headers(0, block), data(end, b"REPLY 0")],
            vec![headers(0, block), data(0, b"REPLY 0"), data(end, b"")],
            vec![headers(0, block), data(0, b""), data(0, b"REP"), data(end, b"LY 0")],
            vec![headers(0, block), data(0, b"REPLY 0"), headers(end, b"\x00\x01a\x01b")],
            vec![headers(0, b"\x08\x03103"), headers(0, block), data(end, b"REPLY 0")],
        ] {
            assert_ends(&frames, RIGHT);
        }
        assert_ends(&[headers(0, block), data(end, b"another")], WRONG);
    }
    assert_ends(&[headers(end, PLAIN)], WRONG);
    assert_ends(&[headers(end, &success("0"))], WRONG);
}

#[test]
fn any_status_but_200_is_the_calls_status() {
    let end = frame::END_STREAM;
    let status = |code, message: &str| End::status(code, message);
    assert_ends(
        &[headers(0, b"\x8d"), data(end, b" no such thing\n")],
        status(404, "no such thing"),
    );
    assert_ends(&[headers(end, b"\x08\x03503")], status(503, ""));
    assert_ends(
        &[headers(0, b"\x08\x03503"), data(0, b"busy"), headers(end, b"")],
        status(503, "busy"),
    );
    assert_ends(&[headers(end, b"\x89")], status(204, ""));
    assert_ends(&[headers(end, b"\x8b\x0f\x0d\x017")], status(304, ""));
    assert_ends(&[headers(0, b"\x08\x03299"), data(end, b"REPLY 0")], status(299, "REPLY 0"));
    let long = "x".repeat(5000);
    assert_ends(&[headers(0, b"\x8e"), data(end, long.as_bytes())], status(500, &long[..200]));
}

#[test]
fn invalid_http_reply_aborts_its_call_and_no_other() {
    let end = frame::END_STREAM;
    let (promised, seven) = (success("7"), b"REPLY 0");
    let interim = vec![headers(0, b"\x08\x03103"); 17];
    for (frames, reason) in [
        (vec![headers(0, b"\x00\x01a\x01b")], "response headers without :status"),
        (vec![headers(end, b"")], "response headers without :status"),
        (vec![headers(0, b"\x08\x0220")], "an invalid :status"),
        (vec![headers(0, b"\x08\x04+200")], "an invalid :status"),
        (vec![headers(0, b"\x88\x88")], "more than one :status"),
        (vec![headers(0, b"\x08\x03101")], "101 Switching Protocols, which HTTP/2 does not have"),
        (vec![headers(end, b"\x08\x03103")], "stream ended after a reply of status 1xx"),
        (interim, "replies of status 1xx without end"),
        (vec![data(end, seven)], "data before headers"),
        (vec![headers(0, PLAIN), headers(0, PLAIN)], "headers in the middle of a stream"),
        (vec![headers(0, PLAIN), headers(end, PLAIN)], "trailers with a :status"),
        (
            vec![headers(0, PLAIN), data(0, seven), headers(end, b"\x84")],
            "a pseudo-header that replies don't have",
        ),
        (vec![headers(0, b"\x00\x01a\x01b\x88")], "a :status after other header fields"),
        (
            vec![headers(0, &promised), data(end, b"REPLY")],
            "a body shorter than its content-length",
        ),
        (vec![headers(end, &promised)], "a body shorter than its content-length"),
        (
            vec![headers(0, &promised), data(0, b"REPLY"), headers(end, b"")],
            "a body shorter than its content-length",
        ),
        (
            vec![headers(0, &promised), data(0, seven), data(0, b"!")],
            "a body longer than its content-length or status allows",
        ),
        (
            vec![headers(0, &promised), data(end, b"REPLY 0!")],
            "a body longer than its content-length or status allows",
        ),
        (
            vec![headers(0, b"\x89"), data(end, b"x")],
            "a body longer than its content-length or status allows",
        ),
        (vec![headers(0, &[PLAIN, OF_SEVEN, OF_SEVEN].concat())], "more than one content-length"),
        (vec![headers(0, &success("-1"))], "a Content-Length that is no number"),
        (vec![headers(0, &success("67108865")), data(0, b"x")], too_long(MAX_REPLY)),
        (vec![headers(0, &success("4294967296"))], "a body above 4 GiB"),
        (
            vec![headers(0, &[PLAIN, b"\x00\x0aconnection\x05close"].concat())],
            "a header field that HTTP/2 does not have, such as connection",
        ),
    ] {
        assert_ends(&frames, End::Aborted { reason: reason.to_owned() });
    }
}

#[test]
fn endless_body_is_aborted_and_error_page_takes_no_memory() {
    let piece = [b'x'; 16_384];
    let mut bench = Bench::open(&[3]);
    bench.call(0);
    bench.frame(frame::HEADERS, frame::END_HEADERS, 1, PLAIN).unwrap();
    for _ in 0..4096 {
        bench.frame(frame::DATA, 0, 1, &piece).unwrap();
    }
    assert_eq!(bench.ended(), []);
    bench.frame(frame::DATA, 0, 1, b"x").unwrap();
    assert_eq!(bench.ended(), [(0, End::Aborted { reason: too_long(MAX_REPLY).to_owned() })]);
    bench.call(0);
    bench.frame(frame::HEADERS, frame::END_HEADERS, 3, b"\x8e").unwrap();
    for _ in 0..100 {
        bench.frame(frame::DATA, 0, 3, &piece).unwrap();
    }
    assert_eq!(bench.connection.footprint().unfinished, 200);
}

#[test]
fn resets_refusals_and_limits_are_as_in_grpc() {
    let mut bench = Bench::open(&[3]);
    (0..3).for_each(|_| bench.call(0));
    bench.frame(frame::RST_STREAM, 0, 1, &2_u32.to_be_bytes()).unwrap();
    bench.frame(frame::RST_STREAM, 0, 3, &7_u32.to_be_bytes()).unwrap();
    let aborted = End::Aborted { reason: "RST_STREAM INTERNAL_ERROR".to_owned() };
    assert_eq!(bench.ended(), [(0, aborted), (0, End::Refused)]);
    bench.settings(&[(0x3, 2)]).unwrap();
    bench.call(0);
    assert!(!bench.connection.can_send());
    bench.frame(frame::GOAWAY, 0, 0, &[&5_u32.to_be_bytes()[..], &[0; 4]].concat()).unwrap();
    assert_eq!(bench.ended(), [(0, End::Refused)]);
    bench.answer(5, 0).unwrap();
    assert_eq!(bench.ended(), [(0, RIGHT)]);
    assert!(bench.connection.is_finished());
    let twice = Err(Broken::Http2("HEADERS or DATA after END_STREAM"));
    assert_eq!(bench.answer(5, 0), twice);
}

/// A connection that has seen a success, and has calls 1 and 2 in flight on streams 3 and 5.
fn primed() -> Bench {
    let mut bench = Bench::open(&[3, 4, 5]);
    (0..3).for_each(|request| bench.call(request));
    bench.answer(1, 0).unwrap();
    bench.ended();
    bench
}

#[test]
fn repeated_reply_is_recognized_by_comparing_bytes() {
    let (mut bench, whole) = (primed(), reply(3, b"REPLY 1"));
    assert_eq!(bench.plain(&[&whole[..], b"more"].concat()), Some(whole.len()));
    assert_eq!(bench.plain(&whole), None, "it has ended");
    let head = frame::HEADER + success("7").len();
    let other = reply(5, b"another");
    assert_eq!(bench.plain(&other[..head]), Some(head));
    assert_eq!(bench.plain(&other[..head]), None, "headers twice");
    assert_eq!(bench.plain(&other[head..]), Some(other.len() - head));
    assert_eq!(bench.ended(), [(1, RIGHT), (2, WRONG)]);
}

#[test]
fn different_or_incomplete_replies_take_the_slow_path() {
    let whole = reply(3, b"REPLY 1");
    let head = frame::HEADER + success("7").len();
    for length in 0..whole.len() {
        let taken = (length >= head).then_some(head);
        assert_eq!(primed().plain(&whole[..length]), taken, "{length}");
    }
    let text = head + frame::HEADER..whole.len();
    let reserved = [0, head].map(|at| at + frame::STREAM_OFFSET);
    for at in 0..whole.len() {
        for bit in 0..8 {
            let mut bytes = whole.clone();
            bytes[at] ^= 1 << bit;
            let same = text.contains(&at) || (bit == 7 && reserved.contains(&at));
            let left = (at >= head).then_some(head);
            let taken = if same { Some(whole.len()) } else { left };
            assert_eq!(primed().plain(&bytes), taken, "bit {bit} of byte {at}");
        }
    }
}

/// Frames of right and wrong replies.
fn frames() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let stream = prop::sample::select(vec![1_u32, 3, 5]);
    let frame = (stream, 0..12_u8).prop_map(|(stream, kind)| {
        let mut bytes = Vec::new();
        let right = format!("REPLY {}", stream / 2);
        let mut frame = |kind, flags, payload: &[u8]| put(&mut bytes, kind, flags, stream, payload);
        match kind {
            0 | 1 => frame(frame::HEADERS, frame::END_HEADERS, &success("7")),
            2 => frame(frame::HEADERS, frame::END_HEADERS, PLAIN),
            3 => frame(frame::DATA, 0, right.as_bytes()),
            4 => frame(frame::DATA, frame::END_STREAM, right.as_bytes()),
            5 => frame(frame::DATA, 0, b"REPL"),
            6 => frame(frame::DATA, frame::END_STREAM, b"wrong"),
            7 | 8 => frame(frame::DATA, frame::END_STREAM, b""),
            9 => frame(frame::HEADERS, LAST, b"\x8d"),
            10 => frame(frame::HEADERS, LAST, b""),
            // It enters the table, which invalidates everything remembered.
            _ => frame(frame::HEADERS, frame::END_HEADERS, b"\x88\x5f\x10application/json"),
        }
        bytes
    });
    let plain = prop::sample::select(vec![1_u32, 3, 5])
        .prop_map(|stream| reply(stream, format!("REPLY {}", stream / 2).as_bytes()));
    prop::collection::vec(prop_oneof![frame, plain], 1..12)
}

proptest! {
    #[test]
    fn frames_are_independent_of_read_boundaries(frames in frames()) {
        let (mut whole, mut single) = (primed(), primed());
        let at_once = whole.receive(&frames.concat());
        let one_by_one = frames.concat().chunks(1).try_for_each(|byte| single.receive(byte));
        prop_assert_eq!(at_once, one_by_one);
        prop_assert_eq!(whole.ended(), single.ended());
        prop_assert_eq!(whole.written(), single.written());
        prop_assert_eq!(whole.connection.open_calls(), single.connection.open_calls());
    }
}
