//! gRPC connections, and with them HTTP/2 itself.

mod endings;
mod fast_path;
mod floods;
mod limits;
mod nonces;

use proptest::prelude::*;

use super::{Connection, Grpc};
use crate::protocol::http2::frame::{self, put};
use crate::protocol::http2::tests::{self as http2, RIGHT, WRONG};
use crate::protocol::{Broken, Call, Connection as _, End};
use rpcbench_clock::Nanos;

const RESPONSE: &[u8] = b"\x88\x0f\x10\x10application/grpc"; // :status 200 and content-type, not inserted
const OK: &[u8] = b"\x00\x0bgrpc-status\x010";

type Bench = http2::Bench<Grpc>;

impl Bench {
    fn answer(&mut self, stream: u32, request: u32) -> Result<(), Broken> {
        self.receive(&reply(stream, format!("REPLY {request}").as_bytes()))
    }
}

fn message(text: &[u8]) -> Vec<u8> {
    [&[0][..], &(text.len() as u32).to_be_bytes(), text].concat()
}

fn reply(stream: u32, text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    put(&mut bytes, frame::HEADERS, frame::END_HEADERS, stream, RESPONSE);
    put(&mut bytes, frame::DATA, 0, stream, &message(text));
    put(&mut bytes, frame::HEADERS, frame::END_HEADERS | frame::END_STREAM, stream, OK);
    bytes
}

#[test]
fn nothing_is_sent_before_the_peers_settings() {
    let mut bench = Bench::new(&[3]);
    assert!(!bench.connection.can_send());
    assert!(bench.out.starts_with(frame::PREFACE));
    bench.settings(&[(0x3, 7)]).unwrap();
    assert!(bench.connection.can_send() && bench.connection.is_open());
    bench.out.drain(..frame::PREFACE.len());
    let kinds: Vec<_> = bench.written().iter().map(|frame| (frame.0, frame.1)).collect();
    assert_eq!(
        kinds,
        [(frame::SETTINGS, 0), (frame::WINDOW_UPDATE, 0), (frame::SETTINGS, frame::ACK)]
    );
}

#[test]
fn calls_end_in_any_order_each_with_its_own_answer() {
    let mut bench = Bench::open(&[3, 4, 5]);
    (0..3).for_each(|request| bench.call(request));
    bench.answer(5, 2).unwrap();
    bench.answer(1, 0).unwrap();
    bench.answer(3, 0).unwrap();
    assert_eq!(bench.ended(), [(2, RIGHT), (0, RIGHT), (1, WRONG)]);
}

#[test]
fn second_request_is_shorter_than_the_first() {
    let mut bench = Bench::open(&[3]);
    bench.call(0);
    let first = bench.written();
    bench.call(0);
    let second = bench.written();
    assert_eq!((second[0].3.len(), second[0].2, second[1].2), (7, 3, 3));
    assert!(first[0].3.len() > 50);
    assert_eq!(first[1].3, second[1].3);
    assert_eq!(second[1].3, message(b"xxx"));
    assert_eq!((second[0].1, second[1].1), (frame::END_HEADERS, frame::END_STREAM));
}

proptest! {
    #[test]
    fn bytes_may_be_cut_anywhere(cuts in prop::collection::vec(1_usize..40, 1..80)) {
        let mut bench = Bench::open(&[3, 4]);
        let mut bytes = Vec::new();
        for n in 0..6 {
            bench.call(n % 2);
            bytes.extend(reply(1 + 2 * n, format!("REPLY {}", n % 2).as_bytes()));
        }
        let mut rest = &bytes[..];
        for cut in cuts.into_iter().cycle() {
            let (now, later) = rest.split_at(cut.min(rest.len()));
            bench.receive(now).unwrap();
            rest = later;
            if rest.is_empty() {
                break;
            }
        }
        prop_assert_eq!(bench.ended(), (0..6).map(|n| (n % 2, RIGHT)).collect::<Vec<_>>());
    }

    #[test]
    fn hostile_bytes_break_the_connection_at_worst(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let mut bench = Bench::open(&[3]);
        bench.call(0);
        let broken = bench.receive(&bytes).is_err();
        let ended = bench.ended().len();
        prop_assert!(ended <= 1);
        prop_assert_eq!(bench.connection.abandon().len(), 1 - ended);
        prop_assert!(broken || bench.out.len() < 4096 + 2 * bytes.len());
    }
}

#[test]
fn one_byte_at_a_time_reads_the_same() {
    let mut bench = Bench::open(&[3]);
    bench.call(0);
    for byte in reply(1, b"REPLY 0") {
        bench.receive(&[byte]).unwrap();
    }
    assert_eq!(bench.ended(), [(0, RIGHT)]);
}

#[test]
fn header_blocks_are_put_together() {
    let mut bench = Bench::open(&[3]);
    bench.call(0);
    let (first, rest) = RESPONSE.split_at(5);
    bench.frame(frame::HEADERS, 0, 1, first).unwrap();
    bench.frame(frame::CONTINUATION, 0, 1, &rest[..3]).unwrap();
    bench.frame(frame::CONTINUATION, frame::END_HEADERS, 1, &rest[3..]).unwrap();
    bench.frame(frame::DATA, 0, 1, &message(b"REPLY 0")).unwrap();
    bench.frame(frame::HEADERS, 0x5, 1, OK).unwrap();
    assert_eq!(bench.ended(), [(0, RIGHT)]);
}

#[test]
fn header_block_may_not_be_interrupted_nor_grow_without_end() {
    let mut bench = Bench::open(&[3]);
    bench.call(0);
    bench.frame(frame::HEADERS, 0, 1, b"").unwrap();
    assert!(bench.frame(frame::PING, 0, 0, &[0; 8]).is_err());

    let mut bench = Bench::open(&[3]);
    bench.call(0);
    bench.frame(frame::HEADERS, 0, 1, b"").unwrap();
    let flood = (0..100).find(|_| bench.frame(frame::CONTINUATION, 0, 1, &[0; 16_000]).is_err());
    assert_eq!(flood, Some(4));
}

#[test]
fn connection_begins_with_the_peers_settings() {
    for (kind, flags, payload) in [
        (frame::PING, 0, &[0; 8][..]),
        (frame::WINDOW_UPDATE, 0, &[0, 0, 0, 1]),
        (frame::SETTINGS, frame::ACK, &[]),
        (frame::GOAWAY, 0, &[0; 8]),
        (0xbe, 0, &[]),
    ] {
        for cut in [1, 9, 100] {
            let mut bench = Bench::new(&[3]);
            let mut bytes = Vec::new();
            put(&mut bytes, kind, flags, 0, payload);
            let broken = bytes.chunks(cut).find_map(|piece| bench.receive(piece).err());
            assert_eq!(broken, Some(Broken::Http2("the first frame is not SETTINGS")), "{kind}");
        }
    }
}

#[test]
fn answer_may_not_begin_before_its_call() {
    let mut bench = Bench::open(&[3]);
    assert!(bench.frame(frame::HEADERS, 0, 1, RESPONSE).is_err());
}

#[test]
fn padding_and_priority_are_taken_off() {
    let mut bench = Bench::open(&[3]);
    bench.call(0);
    let headers = [&[2, 0, 0, 0, 0, 9][..], RESPONSE, &[0, 0]].concat();
    let flags = frame::END_HEADERS | frame::PADDED | frame::WITH_PRIORITY;
    bench.frame(frame::HEADERS, flags, 1, &headers).unwrap();
    let data = [&[4][..], &message(b"REPLY 0"), &[0; 4]].concat();
    bench.frame(frame::DATA, frame::PADDED, 1, &data).unwrap();
    bench.frame(frame::HEADERS, 0x5, 1, OK).unwrap();
    assert_eq!(bench.ended(), [(0, RIGHT)]);
    assert!(bench.frame(frame::DATA, frame::PADDED, 1, &[9, 0]).is_err());
}

#[test]
fn pings_are_answered_and_answers_are_not() {
    let mut bench = Bench::open(&[3]);
    bench.frame(frame::PING, 0, 0, b"12345678").unwrap();
    assert_eq!(bench.written(), [(frame::PING, frame::ACK, 0, b"12345678".to_vec())]);
    bench.frame(frame::PING, frame::ACK, 0, b"12345678").unwrap();
    assert_eq!(bench.written(), []);
}

#[test]
fn calls_are_stamped_when_they_are_written_and_once() {
    let mut bench = Bench::open(&[3]);
    bench.call(0);
    bench.connection.flushed(Nanos(10));
    bench.call(0);
    bench.connection.flushed(Nanos(20));
    bench.connection.flushed(Nanos(30));
    let written: Vec<_> = bench.connection.abandon().iter().map(|call| call.written.0).collect();
    assert_eq!(written, [10, 20]);
}
