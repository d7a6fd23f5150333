//! Tests the session with whole frames and pieces of frames.

use std::sync::Arc;

use proptest::prelude::*;

use crate::fault::{Fault, Faults};
use crate::grpc::{Fatal, Grpc};
use crate::http2::{Frame, FrameRef, FrameType, PREFACE, flag, hpack, setting};
use crate::rewrite::protobuf;

fn bytes(frames: &[Frame]) -> Vec<u8> {
    frames.iter().flat_map(Frame::encode).collect()
}

fn parse(mut bytes: &[u8]) -> Vec<Frame> {
    let mut frames = Vec::new();
    while let Some(frame) = FrameRef::parse(bytes) {
        bytes = &bytes[frame.size()..];
        frames.push(frame.head().frame(frame.payload.to_vec()));
    }
    assert!(bytes.is_empty(), "part of a frame was written");
    frames
}

/// A session after the client's preface and SETTINGS.
fn session(settings: &[(u16, u32)]) -> Grpc {
    let mut session = Grpc::new(protobuf);
    let mut out = Vec::new();
    let hello = [PREFACE, &bytes(&[Frame::settings(settings), Frame::settings_ack()])].concat();
    assert_eq!(session.take(&hello, &mut out), Ok(hello.len()));
    let kinds: Vec<_> = parse(&out).iter().map(|frame| (frame.kind, frame.flags)).collect();
    assert_eq!(
        kinds,
        [(FrameType::Settings, 0), (FrameType::WindowUpdate, 0), (FrameType::Settings, flag::ACK)]
    );
    session
}

fn feed(session: &mut Grpc, frames: &[Frame]) -> Result<Vec<Frame>, Fatal> {
    let mut out = Vec::new();
    let input = bytes(frames);
    assert_eq!(session.take(&input, &mut out)?, input.len());
    Ok(parse(&out))
}

fn framed(message: &[u8]) -> Vec<u8> {
    [&[0], &u32::try_from(message.len()).unwrap().to_be_bytes()[..], message].concat()
}

fn request(stream: u32, text: &str) -> [Frame; 2] {
    let message = [&[0x0a, u8::try_from(text.len()).unwrap()], text.as_bytes()].concat();
    [
        Frame::headers(stream, hpack::literal(&[(":method", "POST")])),
        Frame::data(stream, framed(&message)).end_stream(),
    ]
}

/// The text of the reply on a stream, among any frames.
fn reply(frames: &[Frame], stream: u32) -> String {
    let data: Vec<u8> = frames
        .iter()
        .filter(|frame| frame.stream == stream && frame.kind == FrameType::Data)
        .flat_map(|frame| frame.payload.clone())
        .collect();
    assert_eq!(data[5], 0x12);
    String::from_utf8(data[7..].to_vec()).unwrap()
}

#[test]
fn header_blocks_shrink_after_first_reply() {
    let mut session = session(&[]);
    let first = feed(&mut session, &request(1, "one")).unwrap();
    let second = feed(&mut session, &request(3, "two")).unwrap();
    assert_eq!((reply(&first, 1), reply(&second, 3)), ("one".into(), "two".into()));
    assert_eq!(second[0].payload, [0x88, 0xbf]);
    assert_eq!(second[2].payload, [0xbe]);
    assert!(second[2].has(flag::END_STREAM));
    assert_eq!(session.calls, 2);
}

#[test]
fn header_table_of_size_0_stays_empty() {
    let mut session = session(&[(setting::HEADER_TABLE_SIZE, 0)]);
    let first = feed(&mut session, &request(1, "one")).unwrap();
    let second = feed(&mut session, &request(3, "two")).unwrap();
    assert_eq!(first[0].payload[..2], [0x20, 0x88]);
    assert_eq!(second[0].payload, b"\x88\x0f\x10\x10application/grpc");
    assert_eq!(second[2].payload, b"\x00\x0bgrpc-status\x010");
}

#[test]
fn interleaved_request_pieces_are_assembled() {
    let mut session = session(&[]);
    let block = hpack::literal(&[(":method", "POST")]);
    let frames = feed(
        &mut session,
        &[
            Frame::headers(1, &block[..3]).padded(4).unfinished(),
            Frame::continuation(1, &block[3..]),
            Frame::headers(3, block.clone()).prioritised(),
            Frame::data(3, *b"\0\0\0\0\x05\x0a").padded(200),
            Frame::data(1, *b"\0\0"),
            Frame::data(3, *b"\x03abc"),
            Frame::data(1, *b"\0\0\x03\x0a\x01x").end_stream().padded(0),
            Frame::data(3, *b"").end_stream(),
        ],
    );
    let frames = frames.unwrap();
    assert_eq!((reply(&frames, 1), reply(&frames, 3)), ("x".into(), "abc".into()));
}

#[test]
fn missing_or_bad_body_gets_a_status() {
    let mut session = session(&[]);
    let frames = feed(&mut session, &[Frame::headers(1, []).end_stream()]).unwrap();
    assert_eq!((frames.len(), frames[0].has(flag::END_STREAM)), (1, true));
    assert!(frames[0].payload.ends_with(b"grpc-status\x0213"));
    let frames = feed(
        &mut session,
        &[Frame::headers(3, []), Frame::data(3, framed(b"\x0a\x09a")).end_stream()],
    );
    assert!(frames.unwrap()[0].payload.ends_with(b"grpc-status\x0213"));
}

#[test]
fn replies_wait_for_peer_windows() {
    let mut session = session(&[(setting::INITIAL_WINDOW_SIZE, 4)]);
    let frames =
        feed(&mut session, &[&request(1, "one")[..], &request(3, "two")].concat()).unwrap();
    let lengths: Vec<_> = frames.iter().map(|frame| (frame.kind, frame.payload.len())).collect();
    assert!(
        matches!(lengths[..], [(FrameType::Headers, _), (FrameType::Data, 4), (_, 2), (_, 4)]),
        "{lengths:?}"
    );
    let rest = feed(&mut session, &[Frame::window_update(3, 5)]).unwrap();
    assert_eq!(rest[0].payload, b"\x05\x12\x03tw");
    let rest =
        feed(&mut session, &[Frame::settings(&[(setting::INITIAL_WINDOW_SIZE, 100)])]).unwrap();
    let streams: Vec<_> = rest.iter().map(|frame| (frame.kind, frame.stream)).collect();
    let ends = |stream| [(FrameType::Data, stream), (FrameType::Headers, stream)];
    assert_eq!(streams[1..], [ends(1), ends(3)].concat());
}

#[test]
fn streams_share_the_connection_window() {
    let mut session = session(&[]);
    let text = "x".repeat(100);
    let mut answered = 0;
    for index in 0..700 {
        let frames = feed(&mut session, &request(2 * index + 1, &text)).unwrap();
        answered += frames
            .iter()
            .filter(|frame| frame.kind == FrameType::Data)
            .map(|f| f.payload.len())
            .sum::<usize>();
    }
    assert_eq!(answered, 65_535);
    let frames = feed(&mut session, &[Frame::window_update(0, 1 << 20)]).unwrap();
    answered += frames
        .iter()
        .filter(|frame| frame.kind == FrameType::Data)
        .map(|f| f.payload.len())
        .sum::<usize>();
    assert_eq!(answered, 700 * 107);
}

#[test]
fn reset_stream_is_dropped() {
    let mut session = session(&[(setting::INITIAL_WINDOW_SIZE, 0)]);
    feed(&mut session, &request(1, "one")).unwrap();
    feed(&mut session, &[Frame::headers(3, []), Frame::rst_stream(3, 8), Frame::rst_stream(1, 8)])
        .unwrap();
    let frames =
        feed(&mut session, &[Frame::window_update(1, 100), Frame::data(3, *b"abc")]).unwrap();
    assert_eq!(frames, []);
}

#[test]
fn ping_is_answered_and_pong_is_not() {
    let mut session = session(&[]);
    let frames =
        feed(&mut session, &[Frame::ping(*b"01234567"), Frame::pong(*b"76543210")]).unwrap();
    assert_eq!(frames, [Frame::pong(*b"01234567")]);
}

#[test]
fn client_protocol_errors_end_the_connection() {
    let cases = [
        (Frame::data(1, *b"abc"), Fatal::Protocol),
        (Frame::headers(2, []), Fatal::Protocol),
        (Frame::continuation(1, []), Fatal::Protocol),
        (Frame::push_promise(1, 2, b""), Fatal::Protocol),
        (Frame::new(FrameType::Ping, 0, 0, *b"short"), Fatal::FrameSize),
        (Frame::new(FrameType::Settings, 0, 0, *b"short"), Fatal::FrameSize),
        (Frame::data(1, vec![0; 16_385]), Fatal::FrameSize),
        (Frame::window_update(0, 0), Fatal::Protocol),
        (Frame::window_update(0, 0x7fff_ffff), Fatal::FlowControl),
        (Frame::settings(&[(setting::INITIAL_WINDOW_SIZE, 0x8000_0000)]), Fatal::FlowControl),
    ];
    for (frame, error) in cases {
        assert_eq!(
            feed(&mut session(&[]), std::slice::from_ref(&frame)).unwrap_err(),
            error,
            "{frame:?}"
        );
    }
    let interrupted = [Frame::headers(1, []).unfinished(), Frame::ping([0; 8])];
    assert_eq!(feed(&mut session(&[]), &interrupted).unwrap_err(), Fatal::Protocol);
    assert_eq!(Grpc::new(protobuf).take(b"GET / HTTP/1.1", &mut Vec::new()), Err(Fatal::Protocol));
}

fn conversation() -> Vec<u8> {
    let calls = (0..20).flat_map(|index| request(2 * index + 1, &format!("text {index}")));
    let frames: Vec<_> =
        [Frame::settings(&[])].into_iter().chain(calls).chain([Frame::ping([7; 8])]).collect();
    [PREFACE, &bytes(&frames)].concat()
}

proptest! {
    #[test]
    fn replies_are_independent_of_read_boundaries(cuts in prop::collection::vec(1_usize..200, 1..40)) {
        let input = conversation();
        let mut whole = Vec::new();
        Grpc::new(protobuf).take(&input, &mut whole).unwrap();

        let (mut session, mut pieces, mut start, mut end) = (Grpc::new(protobuf), Vec::new(), 0, 0);
        for cut in cuts.iter().cycle() {
            end = input.len().min(end + cut);
            start += session.take(&input[start..end], &mut pieces).unwrap();
            if end == input.len() {
                break;
            }
        }
        prop_assert_eq!(parse(&pieces), parse(&whole));
        prop_assert_eq!(session.calls, 20);
    }

    #[test]
    fn arbitrary_bytes_cause_no_panic(
        frames in prop::collection::vec(
            (0_u8..11, any::<u8>(), 0_u32..8, prop::collection::vec(any::<u8>(), 0..40)), 0..30
        ),
    ) {
        let frames: Vec<_> = frames
            .into_iter()
            .map(|(kind, flags, stream, payload)| Frame::new(FrameType::from_byte(kind), flags, stream, payload))
            .collect();
        let mut session = Grpc::new(protobuf);
        let input = [PREFACE, &bytes(&frames)].concat();
        let mut out = Vec::new();
        if let Ok(used) = session.take(&input, &mut out) {
            prop_assert_eq!(used, input.len());
        }
        parse(&out);
    }
}

#[test]
fn late_reply_is_sent_when_its_stream_is_reset() {
    let faults = Arc::new(Faults::new(Fault::Late, 1));
    let mut session = session(&[]).with_faults(Some(faults));
    assert_eq!(feed(&mut session, &request(1, "abc")).unwrap(), []);
    let frames = feed(&mut session, &[Frame::rst_stream(1, 8)]).unwrap();
    assert_eq!(reply(&frames, 1), "abc");
    assert_eq!(feed(&mut session, &[Frame::rst_stream(1, 8)]).unwrap(), []);
}
