//! How calls and connections end.

use super::*;
use crate::protocol::Connection as _;
use crate::target::Target;

#[test]
fn reset_ends_one_call_and_a_refusal_may_be_sent_again() {
    let mut bench = Bench::open(&[3, 3]);
    bench.call(0);
    bench.call(1);
    bench.frame(frame::RST_STREAM, 0, 1, &2_u32.to_be_bytes()).unwrap();
    bench.frame(frame::RST_STREAM, 0, 3, &7_u32.to_be_bytes()).unwrap();
    let aborted = End::Aborted { reason: "RST_STREAM INTERNAL_ERROR".to_owned() };
    assert_eq!(bench.ended(), [(0, aborted), (1, End::Refused)]);
    bench.answer(1, 0).unwrap(); // It was in flight.
    assert_eq!(bench.ended(), []);
}

#[test]
fn peer_that_refuses_every_call_is_named_as_the_reason() {
    let mut bench = Bench::open(&[3]);
    let refuse = |bench: &mut Bench, nth: u32| {
        bench.call(0);
        bench.frame(frame::RST_STREAM, 0, 2 * nth + 1, &7_u32.to_be_bytes()).unwrap();
        bench.ended().remove(0).1
    };
    let aborted = End::Aborted { reason: "RST_STREAM REFUSED_STREAM, again and again".to_owned() };
    let ends: Vec<End> = (0..40).map(|nth| refuse(&mut bench, nth)).collect();
    assert!(ends[..32].iter().all(|end| *end == End::Refused));
    assert!(ends[32..].iter().all(|end| *end == aborted));
    // Calls that we cancel say nothing about the peer; an answer does.
    bench.call(0);
    bench.connection.expire(Nanos(1), &mut bench.out);
    assert_eq!(refuse(&mut bench, 41), aborted);
    bench.call(0);
    bench.answer(85, 0).unwrap();
    assert_eq!(bench.ended(), [(0, RIGHT)]);
    assert_eq!(refuse(&mut bench, 43), End::Refused);
}

#[test]
fn goaway_refuses_later_calls_and_leaves_the_others_their_answers() {
    let mut bench = Bench::open(&[3, 3]);
    bench.call(0);
    bench.call(1);
    bench.frame(frame::GOAWAY, 0, 0, &[&1_u32.to_be_bytes()[..], &[0; 4]].concat()).unwrap();
    assert_eq!(bench.ended(), [(1, End::Refused)]);
    assert!(!bench.connection.can_send() && !bench.connection.is_finished());
    bench.answer(1, 0).unwrap();
    assert_eq!(bench.ended(), [(0, RIGHT)]);
    assert!(bench.connection.is_finished());
}

#[test]
fn goaway_with_an_error_says_why() {
    let mut bench = Bench::open(&[3]);
    let payload = [&0_u32.to_be_bytes()[..], &11_u32.to_be_bytes(), b"too\rmany_pings"].concat();
    bench.frame(frame::GOAWAY, 0, 0, &payload).unwrap();
    let close_reason = bench.connection.close_reason();
    assert_eq!(close_reason, "peer closed the connection with ENHANCE_YOUR_CALM: too\\rmany_pings");
}

/// The answer's frames, and how the call must end.
#[test]
fn protocols_own_status_decides() {
    let headers =
        |flags, block: &[u8]| (frame::HEADERS, frame::END_HEADERS | flags, block.to_vec());
    let data = |text: &[u8]| (frame::DATA, 0, message(text));
    let status = |code, message: &str| End::status(code, message);
    let aborted = |reason: &str| End::Aborted { reason: reason.to_owned() };
    let head = headers(0, RESPONSE);
    let ok = headers(1, OK);
    let trailers_only =
        [RESPONSE, b"\x00\x0bgrpc-status\x0213\x00\x0cgrpc-message\x08no%20way"].concat();
    let right = || data(b"REPLY 0");
    let page = |flags| (frame::DATA, flags, b"<html>".to_vec());
    let cases = vec![
        (vec![head.clone(), right(), ok.clone()], RIGHT),
        (vec![headers(0, b"\x08\x03103"), head.clone(), right(), ok.clone()], RIGHT),
        (vec![head.clone(), data(b"reply"), ok.clone()], WRONG),
        (vec![head.clone(), ok.clone()], WRONG),
        (vec![head.clone(), right(), right(), ok.clone()], WRONG),
        (
            vec![head.clone(), (frame::DATA, 0, message(b"REPLY 0")[..8].to_vec()), ok.clone()],
            WRONG,
        ),
        (vec![head.clone(), right(), headers(1, b"\x00\x0bgrpc-status\x0213")], status(13, "")),
        (vec![headers(1, &trailers_only)], status(13, "no way")),
        (
            vec![headers(1, b"\x88\x00\x0bgrpc-status\x0217\x00\x0cgrpc-message\x02hm")],
            status(2, "grpc-status 17 hm"),
        ),
        (vec![headers(1, b"\x88\x00\x0bgrpc-status\x0216")], status(16, "")),
        (vec![headers(1, b"\x8d")], status(12, "HTTP status 404")),
        (vec![headers(0, b"\x08\x03503"), page(0), headers(1, b"")], status(14, "HTTP status 503")),
        (vec![headers(0, b"\x08\x03503"), page(1)], status(14, "HTTP status 503")),
        (vec![headers(0, b"\x8d"), page(0), page(1)], status(12, "HTTP status 404")),
        (vec![headers(0, b"\x08\x03401"), page(1)], status(16, "HTTP status 401")),
        (vec![head.clone(), right(), headers(1, b"")], status(2, "HTTP status 200")),
        (
            vec![head.clone(), (frame::DATA, frame::END_STREAM, message(b"REPLY 0"))],
            aborted("stream ended without trailers"),
        ),
        (vec![head.clone(), head.clone()], aborted("headers in the middle of a stream")),
        (vec![right()], aborted("data before headers")),
        (
            vec![headers(0, b"\x88\x5f\x09text/html")],
            aborted("content-type is not application/grpc"),
        ),
        (
            vec![head.clone(), (frame::DATA, 0, vec![1, 0, 0, 0, 0])],
            aborted("compressed message, and no compression was offered"),
        ),
        (
            vec![head, (frame::DATA, 0, vec![0, 0xff, 0, 0, 0, 0])],
            aborted("a reply above 64 MiB (--max-message)"),
        ),
    ];
    cases.into_iter().for_each(|(frames, end)| assert_ends(&frames, end));
}

#[test]
fn invalid_header_blocks_are_never_a_success() {
    let headers =
        |flags, block: &[&[u8]]| (frame::HEADERS, frame::END_HEADERS | flags, block.concat());
    let head = || headers(0, &[RESPONSE]);
    let data = || (frame::DATA, 0, message(b"REPLY 0"));
    let thirteen = b"\x00\x0bgrpc-status\x0213";
    let text = b"\x00\x0cgrpc-message\x01a";
    let content = b"\x0f\x10\x10application/grpc";
    for (last, reason) in [
        (headers(1, &[thirteen, OK]), "more than one grpc-status"),
        (headers(1, &[OK, OK]), "more than one grpc-status"),
        (headers(1, &[OK, text, text]), "more than one grpc-message"),
        (headers(1, &[content, content, OK]), "more than one content-type"),
        (headers(1, &[b"\x88", OK]), "trailers with a :status"),
        (headers(1, &[OK, b"\x84"]), "a pseudo-header that replies don't have"),
        (headers(1, &[OK, b"\x00\x01A\x01b"]), "a header field with an upper-case name"),
        (
            headers(1, &[OK, b"\x00\x01x\x03a\nb"]),
            "a header field whose value has a line end or NUL",
        ),
        (
            headers(1, &[OK, b"\x00\x07upgrade\x01b"]),
            "a header field that HTTP/2 does not have, such as connection",
        ),
    ] {
        assert_ends(&[head(), data(), last], End::Aborted { reason: reason.to_owned() });
    }
    let invalid = |text: &str| End::status(2, format!("grpc-status {text}").trim_end());
    for text in ["00", "000", "+0", "-0", "0x0", " 0", ""] {
        let status = [&b"\x00\x0bgrpc-status"[..], &[text.len() as u8], text.as_bytes()].concat();
        assert_ends(&[head(), data(), headers(1, &[&status])], invalid(text));
    }
    for (first, reason) in [
        (headers(0, &[RESPONSE, OK]), "a grpc-status before the end of the stream"),
        (headers(0, &[RESPONSE, content]), "more than one content-type"),
        (headers(0, &[content, b"\x88"]), "a :status after other header fields"),
        (headers(0, &[b"\x88\x88", content]), "more than one :status"),
        (headers(0, &[OK]), "response headers without :status"),
        (
            headers(0, &[b"\x88\x0f\x10\x14application/grpc-web"]),
            "content-type is not application/grpc",
        ),
        (headers(1, &[OK]), "response headers without :status"),
        (headers(0, &[b"\x08\x03101"]), "101 Switching Protocols, which HTTP/2 does not have"),
    ] {
        assert_ends(&[first], End::Aborted { reason: reason.to_owned() });
    }
}

#[test]
fn content_length_that_does_not_fit_is_never_a_success() {
    let headers =
        |flags, block: &[&[u8]]| (frame::HEADERS, frame::END_HEADERS | flags, block.concat());
    let reply = message(b"REPLY 0");
    let ends = |length: usize| {
        let digits = length.to_string();
        let field = [&b"\x00\x0econtent-length\x02"[..], digits.as_bytes()].concat();
        let head = headers(0, &[RESPONSE, &field]);
        move |end| {
            assert_ends(&[head, (frame::DATA, 0, message(b"REPLY 0")), headers(1, &[OK])], end)
        }
    };
    let aborted = |reason: &str| End::Aborted { reason: reason.to_owned() };
    ends(reply.len())(RIGHT);
    ends(reply.len() + 1)(aborted("a body shorter than its content-length"));
    ends(reply.len() - 1)(aborted("a body longer than its content-length"));
}

/// The second reply with the same header block is compared by bytes: it must fail too.
#[test]
fn repeated_malformed_block_is_refused() {
    let block = |block: &[&[u8]]| block.concat();
    let headers = frame::END_HEADERS;
    for (first, last) in [
        (block(&[RESPONSE]), block(&[b"\x88\x0f\x10\x10application/grpc", OK])),
        (block(&[RESPONSE]), block(&[OK, OK])),
        (block(&[OK]), block(&[OK])),
        (block(&[RESPONSE, OK]), block(&[OK])),
    ] {
        let mut bench = Bench::open(&[3]);
        bench.call(0);
        bench.answer(1, 0).unwrap();
        assert_eq!(bench.ended(), [(0, RIGHT)]);
        for stream in [3, 5, 7] {
            bench.call(0);
            bench.frame(frame::HEADERS, headers, stream, &first).unwrap();
            bench.frame(frame::DATA, 0, stream, &message(b"REPLY 0")).unwrap();
            bench.frame(frame::HEADERS, headers | frame::END_STREAM, stream, &last).unwrap();
            let ended = bench.ended();
            assert!(matches!(ended[..], [(0, End::Aborted { .. })]), "{stream} {ended:?}");
        }
    }
}

/// Asserts how a call that receives these frames ends.
fn assert_ends(frames: &[(u8, u8, Vec<u8>)], end: End) {
    let mut bench = Bench::open(&[3]);
    bench.call(0);
    for (kind, flags, payload) in frames {
        let taken = bench.frame(*kind, *flags, 1, payload);
        assert_eq!(taken, Ok(()), "{frames:x?}");
    }
    assert!(bench.seen.problems.is_empty() || end == WRONG);
    assert_eq!(bench.ended(), [(0, end)], "{frames:x?}");
}

#[test]
fn answer_that_comes_twice_breaks_the_connection() {
    let twice = Err(Broken::Http2("HEADERS or DATA after END_STREAM"));
    let last = frame::END_HEADERS | frame::END_STREAM;
    for (kind, flags, payload) in [
        (frame::HEADERS, frame::END_HEADERS, RESPONSE.to_vec()),
        (frame::HEADERS, last, OK.to_vec()),
        (frame::DATA, 0, message(b"REPLY 0")),
        (frame::DATA, frame::END_STREAM, Vec::new()),
    ] {
        let mut bench = Bench::open(&[3]);
        for stream in [1, 3, 5] {
            bench.call(0);
            bench.answer(stream, 0).unwrap();
        }
        bench.call(0);
        assert_eq!(bench.frame(kind, flags, 3, &payload), twice, "{kind}");
        assert_eq!(bench.ended().len(), 3);
        assert_eq!(bench.connection.abandon().len(), 1);
    }
    // A server that does not need the rest of a request may say so.
    let mut bench = Bench::open(&[3]);
    bench.call(0);
    bench.answer(1, 0).unwrap();
    assert_eq!(bench.frame(frame::RST_STREAM, 0, 1, &[0; 4]), Ok(()));
    assert_eq!(bench.frame(frame::WINDOW_UPDATE, 0, 1, &[0, 0, 0, 1]), Ok(()));
}

#[test]
fn frames_in_flight_for_a_reset_stream_are_ignored() {
    let mut bench = Bench::open(&[3]);
    (0..3).for_each(|_| bench.call(0));
    bench.connection.expire(Nanos(0), &mut bench.out);
    [1, 3, 5].into_iter().for_each(|stream| bench.answer(stream, 0).unwrap());
    bench.call(0);
    bench.frame(frame::GOAWAY, 0, 0, &[&5_u32.to_be_bytes()[..], &[0; 4]].concat()).unwrap();
    bench.answer(7, 0).unwrap();
    assert_eq!(bench.ended(), [(0, End::Refused)]);
}

#[test]
fn forbidden_frames_break_the_connection() {
    for (kind, flags, stream, payload) in [
        (frame::PUSH_PROMISE, 0, 1, &[0; 4][..]),
        (frame::DATA, 0, 99, &[]),
        (frame::HEADERS, frame::END_HEADERS, 2, &[]),
        (frame::SETTINGS, 0, 0, &[0; 5]),
        (frame::SETTINGS, 0, 0, &[0, 4, 0x80, 0, 0, 0]),
        (frame::SETTINGS, 0, 0, &[0, 5, 0, 0, 0, 1]),
        (frame::SETTINGS, frame::ACK, 0, &[0, 3, 0, 0, 0, 1]),
        (frame::SETTINGS, 0, 1, &[]),
        (frame::PING, 0, 0, &[0; 7]),
        (frame::PING, 0, 1, &[0; 8]),
        (frame::WINDOW_UPDATE, 0, 0, &[0; 4]),
        (frame::WINDOW_UPDATE, 0, 0, &[0x7f, 0xff, 0xff, 0xff]),
        (frame::WINDOW_UPDATE, 0, 0, &[0, 0, 0, 1, 0]),
        (frame::RST_STREAM, 0, 1, &[0; 3]),
        (frame::RST_STREAM, 0, 1, &[0; 5]),
        (frame::GOAWAY, 0, 0, &[0; 7]),
        (frame::GOAWAY, 0, 1, &[0; 8]),
        (frame::CONTINUATION, 0, 1, &[]),
        (frame::DATA, 0, 1, &[0; 16_385]),
        (frame::HEADERS, frame::END_HEADERS, 1, &[0xff]),
    ] {
        let mut bench = Bench::open(&[3]);
        bench.call(0);
        assert!(bench.frame(kind, flags, stream, payload).is_err(), "{kind} {payload:x?}");
        assert_eq!(bench.connection.abandon().len(), 1);
    }
}

#[test]
fn calls_that_came_due_too_long_ago_expire() {
    let mut bench = Bench::open(&[3]);
    for due in [5, 6, 7] {
        bench
            .connection
            .send(Call { request: 0, due: Nanos(due), ..Call::default() }, &mut bench.out);
    }
    bench.written();
    let late = bench.connection.expire(Nanos(6), &mut bench.out);
    assert_eq!(late.iter().map(|call| call.due.0).collect::<Vec<_>>(), [5, 6]);
    assert!(bench.written().iter().all(|frame| frame.0 == frame::RST_STREAM));
    bench.answer(1, 0).unwrap();
    bench.answer(5, 0).unwrap();
    assert_eq!(bench.ended(), [(0, RIGHT)]);
}

/// How a call ends if its reply is this frame and compression was offered.
fn end_of_offered(data: &[Vec<u8>]) -> End {
    let mut bench = Bench::open(&[3]);
    bench.seen.target = Some(Target { gzip: true, ..Target::new("/p") });
    bench.call(0);
    bench.frame(frame::HEADERS, frame::END_HEADERS, 1, RESPONSE).unwrap();
    for piece in data {
        bench.frame(frame::DATA, 0, 1, piece).unwrap();
    }
    let _ = bench.frame(frame::HEADERS, frame::END_HEADERS | frame::END_STREAM, 1, OK);
    bench.ended().remove(0).1
}

#[test]
fn compressed_message_is_judged_as_it_is_once_it_is_whole() {
    let compressed = |content: &[u8]| {
        let mut bytes = message(content);
        bytes[0] = 1;
        bytes
    };
    let whole = compressed(&crate::gzip::gzip(b"REPLY 0"));
    // Judged as it is, and therefore wrong: replies are decompressed only if something looks into them.
    assert_eq!(end_of_offered(std::slice::from_ref(&whole)), WRONG);
    assert_eq!(end_of_offered(&[whole[..9].to_vec(), whole[9..].to_vec()]), WRONG);
    let other = "compressed message that is not gzip, the only compression that was offered";
    let aborted = |reason: &str| End::Aborted { reason: reason.to_owned() };
    assert_eq!(end_of_offered(&[compressed(b"REPLY 0")]), aborted(other));
    assert_eq!(end_of_offered(&[compressed(b"")]), aborted(other));
    let neither = "a message that is neither compressed nor plain";
    assert_eq!(end_of_offered(&[vec![2, 0, 0, 0, 0]]), aborted(neither));
}

#[test]
fn answered_ping_shows_that_the_peer_is_there() {
    let mut bench = Bench::open(&[3]);
    let before = bench.connection.answers();
    bench.connection.ping(&mut bench.out);
    assert_eq!(bench.written()[0].0, frame::PING);
    assert_eq!(bench.connection.answers(), before);
    // A timeout of our own calls shows nothing about the peer.
    bench.call(0);
    assert_eq!(bench.connection.expire(Nanos::NEVER, &mut bench.out).len(), 1);
    assert_eq!(bench.connection.answers(), before);
    bench.frame(frame::PING, frame::ACK, 0, b"rpcbench").unwrap();
    assert_ne!(bench.connection.answers(), before);
}
