//! The peer's limits, and resources that run out.

use super::{Bench, RIGHT};
use crate::protocol::Connection as _;
use crate::protocol::End;
use crate::protocol::http2::frame;
use rpcbench_clock::Nanos;

#[test]
fn header_table_of_zero_is_announced_and_not_used() {
    let mut bench = Bench::open(&[3]);
    bench.call(0);
    bench.settings(&[(0x1, 0)]).unwrap();
    bench.written();
    let mut decoder = loona_hpack::Decoder::new();
    for n in 0..2 {
        bench.call(0);
        let block = &bench.written()[0].3;
        assert_eq!(block[0] == 0x20, n == 0, "the update comes once, first");
        let path = (b":path".to_vec(), b"/pkg.Service/Method".to_vec());
        assert!(decoder.decode(block).unwrap().contains(&path));
    }
}

#[test]
fn table_that_shrank_and_grew_is_announced_with_its_lowest_size() {
    let mut bench = Bench::open(&[3]);
    bench.settings(&[(0x1, 100)]).unwrap();
    bench.settings(&[(0x1, 4096)]).unwrap();
    bench.written();
    bench.call(0);
    let block = &bench.written()[0].3;
    assert_eq!(block[..6], [0x3f, 100 - 31, 0x3f, 0xe1, 0x1f, 0x83]);
}

#[test]
fn table_that_shrank_within_one_frame_is_announced_too() {
    let mut bench = Bench::open(&[3]);
    bench.call(0);
    bench.settings(&[(0x1, 0), (0x1, 4096)]).unwrap();
    bench.written();
    bench.call(0);
    let block = bench.written().remove(0).3;
    assert_eq!(block[..5], [0x20, 0x3f, 0xe1, 0x1f, 0x83]);
    assert!(block.len() > 50, "the fields are in the table no more");
    bench.settings(&[(0x1, 1 << 20), (0x1, 4096)]).unwrap();
    bench.written();
    bench.call(0);
    assert_eq!(bench.written()[0].3.len(), 7, "nothing changed for a table of 4096 bytes at most");
}

#[test]
fn window_opened_too_far_by_settings_breaks_the_connection() {
    let mut bench = Bench::open(&[100_000]);
    bench.call(0);
    bench.frame(frame::WINDOW_UPDATE, 0, 1, &0x7fff_0000_u32.to_be_bytes()).unwrap();
    assert_eq!(bench.settings(&[(0x4, 65_536)]), Ok(()));
    assert!(bench.settings(&[(0x4, 0x7fff_ffff)]).is_err());
}

#[test]
fn frames_of_every_allowed_size_and_no_other_are_written() {
    for (size, frames) in [(16_384, 123), (20_000, 101), (0xff_ffff, 1)] {
        let mut bench = Bench::open(&[2_000_000]);
        bench.settings(&[(0x5, size), (0x4, 0x7fff_ffff)]).unwrap();
        bench.frame(frame::WINDOW_UPDATE, 0, 0, &0x7fff_0000_u32.to_be_bytes()).unwrap();
        bench.written();
        bench.call(0);
        let sent = bench.written();
        assert_eq!(sent.len() - 1, frames, "{size}");
        assert!(sent.iter().all(|frame| frame.3.len() <= size as usize));
    }
    for size in [0, 16_383, 1 << 24, u32::MAX] {
        assert!(Bench::open(&[3]).settings(&[(0x5, size)]).is_err(), "{size}");
    }
}

#[test]
fn no_more_streams_are_open_than_the_peer_allows() {
    let mut bench = Bench::open(&[3]);
    bench.settings(&[(0x3, 1)]).unwrap();
    bench.call(0);
    assert!(!bench.connection.can_send());
    bench.answer(1, 0).unwrap();
    assert!(bench.connection.can_send());
    bench.settings(&[(0x3, 0)]).unwrap();
    assert!(!bench.connection.can_send());
}

#[test]
fn body_waits_for_its_window_and_for_the_connections() {
    let mut bench = Bench::open(&[30]);
    bench.settings(&[(0x4, 10)]).unwrap();
    bench.written();
    bench.call(0);
    let data = |bench: &mut Bench| -> Vec<(u8, usize)> {
        let frames = bench.written().into_iter().filter(|frame| frame.0 == frame::DATA);
        frames.map(|frame| (frame.1, frame.3.len())).collect()
    };
    assert_eq!(data(&mut bench), [(0, 10)]);
    bench.frame(frame::WINDOW_UPDATE, 0, 1, &5_u32.to_be_bytes()).unwrap();
    assert_eq!(data(&mut bench), [(0, 5)]);
    bench.settings(&[(0x4, 100)]).unwrap();
    assert_eq!(data(&mut bench), [(frame::END_STREAM, 20)]);
}

/// Time during which the peer's window is closed does not count as service time.
#[test]
fn call_is_written_when_the_last_byte_of_its_body_is() {
    let mut bench = Bench::open(&[30, 3]);
    bench.settings(&[(0x4, 10)]).unwrap();
    [0, 1, 0].into_iter().for_each(|request| bench.call(request));
    bench.connection.flushed(Nanos(10));
    bench.frame(frame::WINDOW_UPDATE, 0, 1, &5_u32.to_be_bytes()).unwrap();
    bench.connection.flushed(Nanos(20));
    bench.frame(frame::WINDOW_UPDATE, 0, 1, &100_u32.to_be_bytes()).unwrap();
    bench.connection.flushed(Nanos(30));
    bench.settings(&[(0x4, 100)]).unwrap();
    bench.connection.flushed(Nanos(40));
    bench.connection.flushed(Nanos(50));
    let mut left = bench.connection.abandon();
    left.sort_by_key(|call| call.written);
    let written: Vec<_> = left.iter().map(|call| (call.request, call.written.0)).collect();
    assert_eq!(written, [(1, 10), (0, 30), (0, 40)]);
}

#[test]
fn bodies_larger_than_a_frame_and_the_connections_window_are_cut() {
    let mut bench = Bench::open(&[100_000]);
    bench.settings(&[(0x4, 1 << 20)]).unwrap();
    bench.written();
    bench.call(0);
    let sent: Vec<usize> = bench.written()[1..].iter().map(|frame| frame.3.len()).collect();
    assert_eq!(sent, [16_384, 16_384, 16_384, 16_383]);
    bench.frame(frame::WINDOW_UPDATE, 0, 0, &(1_u32 << 20).to_be_bytes()).unwrap();
    let last = bench.written();
    let rest: usize = last.iter().map(|frame| frame.3.len()).sum();
    assert_eq!((rest, last.last().unwrap().1), (100_005 - 65_535, frame::END_STREAM));
}

#[test]
fn early_answer_ends_the_call_and_cancels_the_rest_of_its_request() {
    let mut bench = Bench::open(&[30]);
    bench.settings(&[(0x4, 10)]).unwrap();
    bench.call(0);
    bench.written();
    bench
        .frame(frame::HEADERS, 0x5, 1, b"\x88\x5f\x10application/grpc\x00\x0bgrpc-status\x018")
        .unwrap();
    assert!(matches!(bench.ended()[..], [(0, End::Status { code: 8, .. })]));
    assert_eq!(bench.written(), [(frame::RST_STREAM, 0, 1, 8_u32.to_be_bytes().to_vec())]);
    bench.frame(frame::WINDOW_UPDATE, 0, 1, &5_u32.to_be_bytes()).unwrap();
    assert_eq!(bench.written(), []);
}

#[test]
fn many_bodies_held_back_are_sent_oldest_first_and_each_within_its_own_window() {
    let mut bench = Bench::open(&[95; 6]);
    bench.settings(&[(0x4, 60)]).unwrap();
    (0..6).for_each(|request| bench.call(request));
    bench.written();
    let data = |bench: &mut Bench| -> Vec<(u32, usize, u8)> {
        let frames = bench.written().into_iter().filter(|frame| frame.0 == frame::DATA);
        frames.map(|frame| (frame.2, frame.3.len(), frame.1)).collect()
    };
    let open = |bench: &mut Bench, stream, by: u32| {
        bench.frame(frame::WINDOW_UPDATE, 0, stream, &by.to_be_bytes()).unwrap();
        data(bench)
    };
    assert_eq!(open(&mut bench, 7, 30), [(7, 30, 0)]);
    assert_eq!(open(&mut bench, 7, 30), [(7, 10, frame::END_STREAM)]);
    bench.frame(frame::RST_STREAM, 0, 5, &2_u32.to_be_bytes()).unwrap();
    assert_eq!(open(&mut bench, 5, 100), []);
    // Another call uses up the connection's window; then it opens for the calls before it.
    bench.settings(&[(0x4, 90)]).unwrap();
    assert_eq!(data(&mut bench), [1, 3, 9, 11].map(|stream| (stream, 30, 0)));
    bench.connection.shrink_window(0);
    bench.settings(&[(0x4, 1000)]).unwrap();
    assert_eq!(data(&mut bench), []);
    bench.call(0);
    assert_eq!(data(&mut bench), []);
    assert_eq!(open(&mut bench, 0, 15), [(1, 10, frame::END_STREAM), (3, 5, 0)]);
    bench.answer(1, 0).unwrap();
    assert_eq!(bench.written(), [], "the request was whole");
    let rest = [(3, 5), (9, 10), (11, 10), (13, 100)];
    assert_eq!(open(&mut bench, 0, 200), rest.map(|(s, n)| (s, n, frame::END_STREAM)));
}

#[test]
fn last_identifier_ends_the_connection_and_not_its_calls() {
    let mut bench = Bench::open(&[3]);
    bench.connection.skip_to(0x7fff_fffd);
    bench.call(0);
    bench.call(0);
    assert!(!bench.connection.can_send() && !bench.connection.is_finished());
    bench.connection.flushed(Nanos(10));
    assert_eq!(bench.connection.unflushed(), 0x8000_0001);
    bench.answer(0x7fff_ffff, 0).unwrap();
    assert_eq!(bench.ended(), [(0, RIGHT)]);
    let left = bench.connection.abandon();
    assert_eq!(left.iter().map(|call| call.written.0).collect::<Vec<_>>(), [10]);
    assert!(bench.connection.is_finished());
}

#[test]
fn peer_that_asks_without_reading_is_dropped() {
    for kind in [frame::PING, frame::SETTINGS] {
        let payload: &[u8] = if kind == frame::PING { &[0; 8] } else { &[] };
        let mut bench = Bench::open(&[3]);
        for _ in 0..3 {
            for _ in 0..9_000 {
                bench.frame(kind, 0, 0, payload).unwrap();
            }
            bench.connection.flushed(Nanos(1));
        }
        assert!((0..30_000).any(|_| bench.frame(kind, 0, 0, payload).is_err()));
    }
}
