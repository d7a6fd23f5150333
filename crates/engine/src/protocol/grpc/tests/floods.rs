//! Peers that never stop sending: memory and output stay bounded.

use super::{Bench, OK, RESPONSE, RIGHT, message};
use crate::protocol::http2::frame;
use crate::protocol::{Broken, Connection as _, End};
use rpcbench_clock::Nanos;

#[test]
fn empty_continuations_are_allowed_up_to_a_limit() {
    let mut bench = Bench::open(&[3]);
    bench.call(0);
    bench.frame(frame::HEADERS, 0, 1, b"").unwrap();
    for piece in RESPONSE.chunks(1) {
        bench.frame(frame::CONTINUATION, 0, 1, b"").unwrap();
        bench.frame(frame::CONTINUATION, 0, 1, piece).unwrap();
    }
    bench.frame(frame::CONTINUATION, frame::END_HEADERS, 1, b"").unwrap();
    bench.frame(frame::DATA, 0, 1, &message(b"REPLY 0")).unwrap();
    bench.frame(frame::HEADERS, 0x5, 1, OK).unwrap();
    assert_eq!(bench.ended(), [(0, RIGHT)]);

    bench.call(0);
    bench.frame(frame::HEADERS, 0, 3, b"").unwrap();
    let flood = (0..10_000).find(|_| bench.frame(frame::CONTINUATION, 0, 3, b"").is_err());
    assert_eq!(flood, Some(1024));
    assert!(bench.connection.footprint().block < 1024);
}

#[test]
fn header_block_holds_no_more_than_its_bound() {
    let mut bench = Bench::open(&[3]);
    bench.call(0);
    bench.frame(frame::HEADERS, 0, 1, &[0; 16_384]).unwrap();
    while bench.frame(frame::CONTINUATION, 0, 1, &[0; 1000]).is_ok() {
        assert!(bench.connection.footprint().block <= 2 * 65_536);
    }
}

/// HPACK: a field of 4 kB, then one byte for each repetition.
#[test]
fn header_bomb_breaks_the_connection_and_takes_no_memory() {
    let mut bench = Bench::open(&[3]);
    bench.call(0);
    let field = [&b"\x40\x01a\x7f\xa1\x1e"[..], &[b'x'; 4000]].concat();
    bench.frame(frame::HEADERS, frame::END_HEADERS, 1, &[RESPONSE, &field].concat()).unwrap();
    assert!(bench.frame(frame::HEADERS, 0x5, 1, &[0xbe; 16_000]).is_err());
    let footprint = bench.connection.footprint();
    assert!(footprint.table <= 4096 && footprint.heads < 20_000, "{footprint:?}");
    assert_eq!(bench.connection.abandon().len(), 1);
}

#[test]
fn many_small_fields_fill_no_more_than_the_table() {
    let mut bench = Bench::open(&[3]);
    for n in 0..200_u32 {
        bench.call(0);
        let mut block = RESPONSE.to_vec();
        for field in 0..50 {
            block.extend_from_slice(format!("\x40\x04n{n:03}\x04v{field:03}").as_bytes());
        }
        block.extend_from_slice(OK);
        bench.frame(frame::HEADERS, 0x5, 2 * n + 1, &block).unwrap();
        assert!(bench.connection.footprint().table <= 4096);
    }
    assert_eq!(bench.ended().len(), 200);
}

/// A frame that is never complete, byte by byte.
#[test]
fn incomplete_frame_takes_bounded_memory() {
    let mut bench = Bench::open(&[3]);
    bench.call(0);
    bench.receive(b"\x00\x40\x00\x00\x00\x00\x00\x00\x01").unwrap();
    for _ in 0..16_383 {
        bench.receive(b"x").unwrap();
    }
    assert!(bench.connection.footprint().frame <= 2 * (9 + 16_384));
    assert!(bench.ended().is_empty());
}

/// Every stream gets the start of a message of 64 MiB, as fast as the peer can send.
#[test]
fn unfinished_messages_are_bounded_over_all_streams() {
    let mut bench = Bench::open(&[3]);
    let streams: Vec<u32> = (0..16).map(|n| 2 * n + 1).collect();
    for stream in &streams {
        bench.call(0);
        bench.frame(frame::HEADERS, frame::END_HEADERS, *stream, RESPONSE).unwrap();
        bench.frame(frame::DATA, 0, *stream, b"\x00\x04\x00\x00\x00").unwrap();
    }
    let mut piece = Vec::new();
    frame::put(&mut piece, frame::DATA, 0, 0, &[0; 16_384]);
    let mut most = 0;
    let broken = streams.iter().cycle().take(40_000).find_map(|stream| {
        piece[frame::STREAM_OFFSET..frame::HEADER].copy_from_slice(&stream.to_be_bytes());
        most = most.max(bench.connection.footprint().unfinished);
        bench.receive(&piece).err()
    });
    let reason = broken.unwrap().to_string();
    assert!(reason.contains("fewer calls in flight"), "{reason}");
    assert!(most <= 256 << 20, "{most}");
}

#[test]
fn stream_of_messages_is_a_wrong_answer_and_takes_no_memory() {
    let mut bench = Bench::open(&[3]);
    bench.call(0);
    bench.frame(frame::HEADERS, frame::END_HEADERS, 1, RESPONSE).unwrap();
    for _ in 0..5000 {
        bench.frame(frame::DATA, 0, 1, &message(b"REPLY 0")).unwrap();
        bench.frame(frame::DATA, 0, 1, b"").unwrap();
    }
    assert_eq!(bench.connection.footprint().unfinished, 0);
    bench.frame(frame::HEADERS, 0x5, 1, OK).unwrap();
    assert_eq!(bench.ended(), [(0, End::Answered { right: false })]);
}

#[test]
fn floods_of_useless_frames_are_named() {
    let unknown = "PRIORITY or unknown frames without end";
    for (kind, flags, stream, payload, problem) in [
        (frame::PING, 0, 0, &[0; 8][..], "PING without end"),
        (frame::PING, frame::ACK, 0, &[0; 8], "PING without end"),
        (frame::SETTINGS, 0, 0, &[], "SETTINGS without end"),
        (frame::PRIORITY, 0, 1, &[0; 5], unknown),
        (0xbe, 0, 0, &[], unknown),
        (frame::DATA, 0, 3, &[], "empty DATA without end"),
        (frame::RST_STREAM, 0, 1, &[0; 4], "RST_STREAM of closed streams without end"),
    ] {
        let mut bench = Bench::open(&[3]);
        bench.call(0);
        bench.answer(1, 0).unwrap();
        bench.call(0);
        bench.frame(frame::HEADERS, frame::END_HEADERS, 3, RESPONSE).unwrap();
        let mut broken = None;
        for n in 0..100_001 {
            broken = broken.or(bench.frame(kind, flags, stream, payload).err());
            if n % 1000 == 0 {
                bench.connection.flushed(Nanos(1));
                bench.out.clear();
            }
        }
        assert_eq!(broken, Some(Broken::Http2(problem)));
    }
}

/// The peer answers each call, and sends 64 KiB of unknown frames with each reply.
#[test]
fn large_unknown_frames_with_every_reply_are_a_flood() {
    let mut bench = Bench::open(&[3]);
    let broken = (0..1000).find_map(|n| {
        bench.call(0);
        bench.answer(2 * n + 1, 0).unwrap();
        (0..4).find_map(|_| bench.frame(0xbe, 0, 0, &[0; 16_384]).err())
    });
    assert_eq!(broken, Some(Broken::Http2("PRIORITY or unknown frames without end")));
}

#[test]
fn ping_and_a_reset_with_every_reply_are_no_flood() {
    let mut bench = Bench::open(&[3]);
    for n in 0..60_000 {
        bench.call(0);
        bench.answer(2 * n + 1, 0).unwrap();
        bench.frame(frame::PING, 0, 0, &[0; 8]).unwrap();
        bench.frame(frame::RST_STREAM, 0, 2 * n + 1, &[0; 4]).unwrap();
        bench.connection.flushed(Nanos(1));
        bench.out.clear();
    }
    assert_eq!(bench.ended().len(), 60_000);
}

#[test]
fn window_updates_are_named_if_they_have_no_end() {
    for stream in [0, 1, 3] {
        let mut bench = Bench::open(&[3]);
        bench.call(0);
        bench.answer(1, 0).unwrap();
        bench.call(0);
        let mut update = || bench.frame(frame::WINDOW_UPDATE, 0, stream, &1_u32.to_be_bytes());
        let broken = (0..100_001).find_map(|_| update().err());
        assert_eq!(broken, Some(Broken::Http2("WINDOW_UPDATE without end")), "{stream}");
    }
}

/// A server that gives back every 128 bytes it reads, for the connection and for the stream, and a server that lets a body
/// through byte by byte.
#[test]
fn small_window_updates_for_bytes_that_were_sent_are_no_flood() {
    let mut bench = Bench::open(&[12_000]);
    for n in 0..600 {
        bench.call(0);
        for stream in [0, 2 * n + 1].repeat(12_000 / 128) {
            bench.frame(frame::WINDOW_UPDATE, 0, stream, &128_u32.to_be_bytes()).unwrap();
        }
        bench.answer(2 * n + 1, 0).unwrap();
        bench.out.clear();
    }
    bench.settings(&[(0x4, 0)]).unwrap();
    for n in 600..610 {
        bench.call(0);
        for _ in 0..12_005 {
            bench.frame(frame::WINDOW_UPDATE, 0, 2 * n + 1, &1_u32.to_be_bytes()).unwrap();
        }
        bench.answer(2 * n + 1, 0).unwrap();
        bench.out.clear();
    }
    assert_eq!(bench.ended().len(), 610);
}

/// Number of bytes accepted until the connection breaks, and how it breaks.
fn broken_by(mut bench: Bench, frames: &[u8], most: usize) -> (usize, Option<Broken>) {
    let chunk = frames.repeat(16);
    let broken = (0..most).find_map(|n| bench.receive(&chunk).err().map(|broken| (n, broken)));
    broken.map_or((most, None), |(n, broken)| (n * chunk.len(), Some(broken)))
}

#[test]
fn content_without_end_that_no_call_waits_for_breaks_the_connection() {
    let endless = Some(Broken::Http2("too much content on a stream whose call has ended"));
    let mut data = Vec::new();
    frame::put(&mut data, frame::DATA, 0, 1, &[0; 16_384]);
    let mut heads = Vec::new();
    let field = [&b"\x00\x01a\x7f\xa1\x1e"[..], &[b'x'; 4000]].concat();
    frame::put(&mut heads, frame::HEADERS, frame::END_HEADERS, 1, &[RESPONSE, &field].concat());
    let open = |headers: &[u8]| {
        let mut bench = Bench::open(&[3]);
        bench.call(0);
        bench.frame(frame::HEADERS, frame::END_HEADERS, 1, headers).unwrap();
        bench
    };
    let cancelled = || {
        let mut bench = open(RESPONSE);
        assert_eq!(bench.connection.expire(Nanos::NEVER, &mut Vec::new()).len(), 1);
        bench
    };
    let answered = || {
        let mut bench = open(RESPONSE);
        bench.frame(frame::DATA, 0, 1, &message(b"REPLY 0")).unwrap();
        bench
    };
    // An error page, a second message, and a cancelled call.
    for bench in [open(b"\x8e"), answered(), cancelled()] {
        let (bytes, broken) = broken_by(bench, &data, 1000);
        assert_eq!(broken, endless);
        assert!((63 << 20..66 << 20).contains(&bytes), "{bytes}");
    }
    assert_eq!(broken_by(cancelled(), &heads, 10_000).1, endless);
}

#[test]
fn content_past_the_connections_window_is_named() {
    let mut data = Vec::new();
    let mut bench = Bench::open(&[3]);
    for n in 0..40 {
        bench.call(0);
        bench.frame(frame::HEADERS, frame::END_HEADERS, 2 * n + 1, b"\x8e").unwrap();
        frame::put(&mut data, frame::DATA, 0, 2 * n + 1, &[0; 16_000]);
    }
    // The peer does not read: no update of the window reaches it.
    let round = data.len() - 40 * frame::HEADER;
    let mut rounds = 0;
    let broken = loop {
        if let Err(broken) = bench.receive(&data) {
            break broken;
        }
        rounds += 1;
    };
    let overrun = "FLOW_CONTROL_ERROR: DATA past the connection's window";
    assert_eq!(broken, Broken::Http2(overrun));
    let window = 0x7fff_ffff;
    assert!((window - round..=window).contains(&(rounds * round)), "{rounds}");
}
