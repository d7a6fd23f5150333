//! Peers that allow little, or change what they allow.

use std::collections::BTreeMap;
use std::net::TcpStream;
use std::thread;

use rpcbench_clock::Nanos;
use rpcbench_engine::{LoadPlan, Session};
use rpcbench_testkit::scripted::{Frame, FrameType, Requests, ScriptedPeer, flag, setting};

use super::{
    assert_answered, assert_lost, counting, cut_reply, greet, load, payload, plan, serve, take,
};

#[test]
fn peer_without_a_header_table_gets_whole_headers() {
    let (peer, ended) = counting(|listener, test| {
        let mut wire = listener.accept()?;
        greet(&mut wire, &[(setting::HEADER_TABLE_SIZE, 0)])?;
        let mut decoder = loona_hpack::Decoder::new();
        let (mut requests, mut answered) = (Requests::default(), 0);
        test.may_end();
        while let Some(request) = wire.next_request(&mut requests)? {
            let mut block = &request.block[..];
            if answered == 0 {
                assert_eq!(block[0], 0x20, "the table's new size comes first");
                decoder.set_max_table_size(0);
                block = &block[1..];
            }
            let path = (b":path".to_vec(), b"/rpcbench.v1.Echo/Text".to_vec());
            assert!(decoder.decode(block).unwrap().contains(&path));
            answered += u64::from(wire.send_all(&request.right_reply()).is_ok());
        }
        Ok(answered)
    });
    let came = load(&ended, &plan(peer.address(), 4), "text:100");
    assert_lost(&came, 0, "");
    assert_answered(peer, &ended, &came);
}

#[test]
fn frames_are_as_long_as_the_peer_takes_and_no_longer() {
    for (size, longest) in [(16_384, 16_384), (0xff_ffff, 70_000)] {
        let (peer, ended) = counting(move |listener, test| {
            let mut wire = listener.accept()?;
            let window = (setting::INITIAL_WINDOW_SIZE, 0x7fff_ffff);
            greet(&mut wire, &[(setting::MAX_FRAME_SIZE, size), window])?;
            let (mut requests, mut answered, mut most) = (Requests::default(), 0, 0);
            test.may_end();
            while let Some(frame) = wire.receive_or_end()? {
                most = most.max(frame.payload.len());
                if let Some(request) = requests.take(frame)? {
                    let reply = cut_reply(&request, 16_384);
                    answered += u64::from(wire.send_all(&reply).is_ok());
                }
            }
            assert!((longest..longest + 100).contains(&most), "{most}");
            Ok(answered)
        });
        let came = load(&ended, &plan(peer.address(), 4), "text:70000");
        assert_lost(&came, 0, "");
        assert_answered(peer, &ended, &came);
    }
}

/// Sends `first` to every client, until one connects and sends nothing.
fn insisting_on(first: Frame) -> ScriptedPeer {
    let peer = ScriptedPeer::start_many(move |listener| {
        loop {
            let mut wire = listener.accept()?;
            if wire.expect_preface().is_err() {
                return Ok(());
            }
            wire.send(&first)?;
            wire.expect_close()?;
        }
    });
    peer.unwrap()
}

#[test]
fn error_names_the_invalid_first_frame() {
    let cases = [
        (Frame::settings(&[(setting::MAX_FRAME_SIZE, 16_383)]), "SETTINGS_MAX_FRAME_SIZE"),
        (Frame::settings(&[(setting::MAX_FRAME_SIZE, 1 << 24)]), "SETTINGS_MAX_FRAME_SIZE"),
        (Frame::settings(&[(setting::INITIAL_WINDOW_SIZE, 1 << 31)]), "INITIAL_WINDOW_SIZE"),
        (Frame::ping([0; 8]), "first frame is not SETTINGS"),
        (Frame::settings_ack(), "first frame is not SETTINGS"),
    ];
    // Each is tried for as long as connecting may take: all of them at once.
    thread::scope(|scope| {
        for (first, reason) in cases {
            scope.spawn(move || {
                let peer = insisting_on(first);
                let timeout = Nanos::from_millis(1500);
                let plan = LoadPlan { connect_timeout: timeout, ..plan(peer.address(), 1) };
                let error = Session::open(&plan, &payload("text:1")).err().unwrap().to_string();
                assert!(error.contains(reason), "{error}");
                drop(TcpStream::connect(peer.address()).unwrap());
                peer.finish().unwrap();
            });
        }
    });
}

#[test]
fn never_more_streams_are_open_than_the_peer_allows_at_the_time() {
    let (peer, ended) = counting(|listener, test| {
        let mut wire = listener.accept()?;
        greet(&mut wire, &[(setting::MAX_CONCURRENT_STREAMS, 1)])?;
        wire.skip_until_settings_ack()?;
        let (mut requests, mut answered) = (Requests::default(), 0);
        for limit in [1_u32, 3, 2, 1, 5, 1, 7] {
            // None for a while: nothing may arrive before the answer to PING.
            wire.send(&Frame::settings(&[(setting::MAX_CONCURRENT_STREAMS, 0)]))?;
            loop {
                let frame = wire.receive()?;
                if frame.kind == FrameType::Settings && frame.has(flag::ACK) {
                    break;
                }
                if let Some(request) = requests.take(frame)? {
                    wire.send_all(&request.right_reply())?;
                    answered += 1;
                }
            }
            wire.send(&Frame::ping(*b"anybody?"))?;
            let next = wire.receive()?;
            assert_eq!(next, Frame::pong(*b"anybody?"), "a call came though none was allowed");
            wire.send(&Frame::settings(&[(setting::MAX_CONCURRENT_STREAMS, limit)]))?;
            for _ in 0..5 {
                let open = take(&mut wire, &mut requests, limit as usize)?;
                wire.send(&Frame::ping(*b"is it so"))?;
                let next = wire.skip_until("anything but the answer to SETTINGS", |frame| {
                    frame.kind != FrameType::Settings
                })?;
                assert_eq!(next, Frame::pong(*b"is it so"), "more than {limit} calls at once");
                for request in &open {
                    wire.send_all(&request.right_reply())?;
                    answered += 1;
                }
            }
        }
        wire.send(&Frame::settings(&[(setting::MAX_CONCURRENT_STREAMS, 100)]))?;
        Ok(answered + serve(&mut wire, test)?)
    });
    let came = load(&ended, &plan(peer.address(), 10), "text:100");
    assert_lost(&came, 0, "");
    assert_answered(peer, &ended, &came);
}

#[test]
fn requests_pass_through_windows_of_a_few_bytes() {
    let (peer, ended) = counting(|listener, test| {
        let mut wire = listener.accept()?;
        greet(&mut wire, &[(setting::INITIAL_WINDOW_SIZE, 0)])?;
        let (mut requests, mut answered) = (Requests::default(), 0);
        test.may_end();
        while let Some(frame) = wire.receive_or_end()? {
            assert!(frame.kind != FrameType::Data || frame.payload.len() <= 7);
            let wants_more = matches!(frame.kind, FrameType::Headers | FrameType::Data)
                && !frame.has(flag::END_STREAM);
            let stream = frame.stream;
            if wants_more && wire.send(&Frame::window_update(stream, 7)).is_err() {
                break;
            }
            if let Some(request) = requests.take(frame)? {
                answered += u64::from(wire.send_all(&request.right_reply()).is_ok());
            }
        }
        Ok(answered)
    });
    let came = load(&ended, &plan(peer.address(), 6), "text:100");
    assert_lost(&came, 0, "");
    assert_answered(peer, &ended, &came);
}

#[test]
fn connections_window_is_shared_by_its_streams_and_never_overrun() {
    let (peer, ended) = counting(|listener, test| {
        let mut wire = listener.accept()?;
        wire.handshake(&[(setting::INITIAL_WINDOW_SIZE, 0x7fff_ffff)])?;
        let (mut requests, mut answered, mut window) = (Requests::default(), 0, 65_535_i64);
        let mut bytes = BTreeMap::<u32, usize>::new();
        test.may_end();
        while let Some(frame) = wire.receive_or_end()? {
            if frame.kind == FrameType::Data {
                window -= frame.payload.len() as i64;
                *bytes.entry(frame.stream).or_default() += frame.payload.len();
            }
            assert!(window >= 0);
            if window == 0 {
                window += 20_000;
                if wire.send(&Frame::window_update(0, 20_000)).is_err() {
                    break;
                }
            }
            if let Some(request) = requests.take(frame)? {
                assert_eq!(bytes.remove(&request.stream), Some(request.body.len()));
                answered += u64::from(wire.send_all(&cut_reply(&request, 16_384)).is_ok());
            }
        }
        Ok(answered)
    });
    let came = load(&ended, &plan(peer.address(), 4), "text:70000");
    assert_lost(&came, 0, "");
    assert_answered(peer, &ended, &came);
}

#[test]
fn answers_in_segments_of_one_byte_are_answers() {
    let (peer, ended) = counting(|listener, test| {
        let mut wire = listener.accept()?;
        greet(&mut wire, &[])?;
        let (mut requests, mut answered) = (Requests::default(), 0);
        test.may_end();
        while let Some(request) = wire.next_request(&mut requests)? {
            answered += u64::from(wire.send_bytewise(&request.right_reply()).is_ok());
        }
        Ok(answered)
    });
    let came = load(&ended, &plan(peer.address(), 3), "text:100");
    assert_lost(&came, 0, "");
    assert_answered(peer, &ended, &came);
}
