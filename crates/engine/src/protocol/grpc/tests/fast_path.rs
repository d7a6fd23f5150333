//! Comparing bytes accepts exactly what decoding accepts.

use super::*;
use crate::protocol::Connection as _;

const LAST: u8 = frame::END_HEADERS | frame::END_STREAM;

/// A connection that has seen a success, and has calls 1 and 2 in flight on streams 3 and 5.
fn primed() -> Bench {
    let mut bench = Bench::open(&[3, 4, 5]);
    (0..3).for_each(|request| bench.call(request));
    bench.answer(1, 0).unwrap();
    bench.ended();
    bench
}

/// The three frames of a reply, one after another.
fn reply_frames(stream: u32, text: &[u8]) -> [Vec<u8>; 3] {
    let whole = reply(stream, text);
    let (head, rest) = whole.split_at(frame::HEADER + RESPONSE.len());
    let (data, trailers) = rest.split_at(rest.len() - frame::HEADER - OK.len());
    [head, data, trailers].map(<[u8]>::to_vec)
}

#[test]
fn repeated_reply_takes_the_fast_path() {
    let mut bench = primed();
    let mut bytes = reply(3, b"REPLY 1");
    let length = bytes.len();
    bytes.extend(b"more");
    assert_eq!(bench.plain(&bytes), Some(length));
    assert_eq!(bench.plain(&bytes), None, "it has ended");
    assert_eq!(bench.plain(&reply(5, b"another")), Some(length));
    assert_eq!(bench.ended(), [(1, RIGHT), (2, WRONG)]);
}

#[test]
fn frames_of_several_replies_are_taken_one_by_one() {
    let mut bench = primed();
    let replies = [reply_frames(3, b"REPLY 1"), reply_frames(5, b"another")];
    for frame in 0..3 {
        for reply in &replies {
            assert_eq!(bench.plain(&reply[frame]), Some(reply[frame].len()));
            assert_eq!(bench.plain(&reply[frame]), None, "{frame} twice");
        }
    }
    assert_eq!(bench.ended(), [(1, RIGHT), (2, WRONG)]);
}

#[test]
fn unexpected_frame_takes_the_slow_path() {
    let [head, data, trailers] = reply_frames(3, b"REPLY 1");
    let mut bench = primed();
    assert_eq!([&data, &trailers].map(|frame| bench.plain(frame)), [None; 2]);
    assert!(bench.plain(&head).is_some());
    assert_eq!(bench.plain(&trailers), None);
    // The start of a message, then a whole one.
    bench.frame(frame::DATA, 0, 3, b"\0").unwrap();
    assert_eq!([&data, &trailers].map(|frame| bench.plain(frame)), [None; 2]);
    // A header block is open.
    let mut bench = primed();
    bench.frame(frame::HEADERS, 0, 3, b"").unwrap();
    assert_eq!(bench.plain(&reply(5, b"REPLY 2")), None);
}

#[test]
fn different_or_incomplete_replies_take_the_slow_path() {
    let whole = reply(3, b"REPLY 1");
    let [head, data, _] = reply_frames(3, b"REPLY 1").map(|frame| frame.len());
    for length in 0..whole.len() {
        let taken = (length >= head).then_some(head);
        assert_eq!(primed().plain(&whole[..length]), taken, "{length}");
    }
    // The last bytes of the message may differ: another message, which is wrong.
    let text = head + data - 7..head + data;
    // The highest bit of a stream identifier is reserved and ignored.
    let reserved = [0, head, head + data].map(|at| at + frame::STREAM_OFFSET);
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
    // The first of its kind.
    let mut fresh = Bench::open(&[3]);
    fresh.call(0);
    assert_eq!(fresh.plain(&reply(1, b"REPLY 0")), None);
}

/// Frames of right and wrong replies.
fn frames() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let stream = prop::sample::select(vec![1_u32, 3, 5]);
    let frame = (stream, 0..9_u8).prop_map(|(stream, kind)| {
        let mut bytes = Vec::new();
        let mut frame = |kind, flags, payload: &[u8]| put(&mut bytes, kind, flags, stream, payload);
        match kind {
            0 | 1 => frame(frame::HEADERS, frame::END_HEADERS, RESPONSE),
            2 => frame(frame::DATA, 0, &message(format!("REPLY {}", stream / 2).as_bytes())),
            3 => frame(frame::DATA, 0, &message(b"wrong")),
            4 => frame(frame::DATA, 0, b"\0\0"),
            5 | 6 => frame(frame::HEADERS, LAST, OK),
            7 => frame(frame::HEADERS, LAST, b"\x00\x0bgrpc-status\x015"),
            // It enters the table, which invalidates everything remembered.
            _ => frame(frame::HEADERS, LAST, b"\x40\x0bgrpc-status\x010"),
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
        // Byte by byte, no reply arrives in one piece.
        let one_by_one = frames.concat().chunks(1).try_for_each(|byte| single.receive(byte));
        prop_assert_eq!(at_once, one_by_one);
        prop_assert_eq!(whole.ended(), single.ended());
        prop_assert_eq!(&whole.seen.problems, &single.seen.problems);
        prop_assert_eq!(whole.written(), single.written());
        prop_assert_eq!(whole.connection.open_calls(), single.connection.open_calls());
    }
}
