//! The reply taken in one step must be the reply taken frame by frame.

use super::*;

const LAST: u8 = frame::END_HEADERS | frame::END_STREAM;

/// A connection that has seen a success, and has calls 1 and 2 in flight on streams 3 and 5.
fn primed() -> Bench {
    let mut bench = Bench::open(&[3, 4, 5]);
    (0..3).for_each(|entry| bench.call(entry));
    bench.answer(1, 0).unwrap();
    bench.ended();
    bench
}

fn usual(bench: &mut Bench, bytes: &[u8]) -> Option<usize> {
    bench.connection.usual_reply(bytes, &mut bench.seen)
}

#[test]
fn a_reply_as_the_last_one_is_taken_in_one_step() {
    let mut bench = primed();
    let mut bytes = reply(3, b"REPLY 1");
    let length = bytes.len();
    bytes.extend(b"more");
    assert_eq!(usual(&mut bench, &bytes), Some(length));
    assert_eq!(usual(&mut bench, &bytes), None, "it has ended");
    assert_eq!(usual(&mut bench, &reply(5, b"another")), Some(length));
    assert_eq!(bench.ended(), [(1, RIGHT), (2, WRONG)]);
}

#[test]
fn what_differs_or_is_not_all_there_is_left_as_it_is() {
    let whole = reply(3, b"REPLY 1");
    for length in 0..whole.len() {
        assert_eq!(usual(&mut primed(), &whole[..length]), None, "{length}");
    }
    for at in 0..whole.len() {
        // The last byte of the text may differ: it is another message, and wrong.
        let text =
            whole.len() - frame::HEADER - OK.len() - 7..whole.len() - frame::HEADER - OK.len();
        // The highest bit of a stream identifier is reserved and means nothing.
        for bit in 0..8 {
            let mut bytes = whole.clone();
            bytes[at] ^= 1 << bit;
            let mut bench = primed();
            let taken = usual(&mut bench, &bytes).is_some();
            let reserved =
                bit == 7 && [5, 5 + 9 + RESPONSE.len(), whole.len() - OK.len() - 4].contains(&at);
            assert_eq!(taken, text.contains(&at) || reserved, "bit {bit} of byte {at}");
        }
    }
    // Nothing of the kind was seen before.
    let mut fresh = Bench::open(&[3]);
    fresh.call(0);
    assert_eq!(usual(&mut fresh, &reply(1, b"REPLY 0")), None);
}

/// Frames that make and break replies.
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
            // It enters the table, and with it all that was remembered is void.
            _ => frame(frame::HEADERS, LAST, b"\x40\x0bgrpc-status\x010"),
        }
        bytes
    });
    let usual = prop::sample::select(vec![1_u32, 3, 5])
        .prop_map(|stream| reply(stream, format!("REPLY {}", stream / 2).as_bytes()));
    prop::collection::vec(prop_oneof![frame, usual], 1..12)
}

proptest! {
    #[test]
    fn all_at_once_is_as_one_by_one(frames in frames()) {
        let (mut whole, mut single) = (primed(), primed());
        let at_once = whole.receive(&frames.concat());
        // A byte at a time, a reply is never there in one piece.
        let one_by_one = frames.concat().chunks(1).try_for_each(|byte| single.receive(byte));
        prop_assert_eq!(at_once, one_by_one);
        prop_assert_eq!(whole.ended(), single.ended());
        prop_assert_eq!(&whole.seen.problems, &single.seen.problems);
        prop_assert_eq!(whole.written(), single.written());
        prop_assert_eq!(whole.connection.open_calls(), single.connection.open_calls());
    }
}
