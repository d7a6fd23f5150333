//! Bytes that make each call's request unique.

use std::ops::Range;
use std::sync::Arc;

use proptest::prelude::*;

use super::{Bench, Connection};
use crate::nonce::{Nonce, put};
use crate::payload::Filler;
use crate::protocol::http2::frame;
use crate::protocol::{Call, Connection as _};

/// The message of each written request, from its DATA frames.
fn messages(bench: &mut Bench, streams: usize) -> Vec<Vec<u8>> {
    let mut bodies = vec![Vec::new(); streams];
    for (kind, _, stream, payload) in bench.written() {
        if kind == frame::DATA {
            bodies[stream as usize / 2].extend(payload);
        }
    }
    bodies.into_iter().map(|body| body[5..].to_vec()).collect()
}

proptest! {
    #[test]
    fn each_request_has_its_own_for_any_split(
        at in 0_usize..40,
        length in 0_usize..=Nonce::DIGITS,
        more in prop::option::of(48_usize..53),
        windows in prop::collection::vec(1_u32..30, 1..9),
    ) {
        let patches: Vec<_> = [Some(at..at + length), more.map(|at| at..at + 7)].into_iter().flatten().collect();
        let payload = Filler::patched(60, &patches);
        let templates = Arc::new(Connection::templates(&payload, "host"));
        let mut bench = Bench::open(&[]);
        bench.connection = Connection::new(templates, 2, &Arc::default(), &mut bench.out);
        bench.settings(&[(0x4, 0)]).unwrap();
        bench.out.clear();
        let nonces = [0x0123_4567, u32::MAX];
        for nonce in nonces {
            let call = Call { nonce: Nonce::new(nonce), ..Call::default() };
            bench.connection.send(call, &mut bench.out);
        }
        for increment in windows.into_iter().chain([100]) {
            for stream in [1, 3] {
                bench.frame(frame::WINDOW_UPDATE, 0, stream, &increment.to_be_bytes()).unwrap();
            }
        }
        for (message, nonce) in messages(&mut bench, 2).iter().zip(nonces) {
            let mut expected = payload.requests[0].clone();
            for patch in &patches {
                put(&Nonce::new(nonce).digits(), &mut expected[patch.clone()]);
            }
            prop_assert_eq!(message, &expected);
        }
    }
}

#[test]
fn request_that_goes_out_whole_has_its_own() {
    let full = ["A", "B", "C"].map(|last| format!("...@@@@@@@{last}....."));
    assert_eq!(sent_whole(std::slice::from_ref(&(3..11))), full);
    let two = ["A", "B", "C"].map(|last| format!("..@{last}.....@@@@@{last}."));
    assert_eq!(sent_whole(&[2..4, 9..15]), two);
    assert_eq!(sent_whole(&[]), ["................"; 3]);
}

/// Three requests of 16 bytes with these patches, in frames that go out whole.
fn sent_whole(patches: &[Range<usize>]) -> Vec<String> {
    let payload = Filler::patched(16, patches);
    let templates = Arc::new(Connection::templates(&payload, "host"));
    let mut bench = Bench::open(&[]);
    bench.connection = Connection::new(templates, 2, &Arc::default(), &mut bench.out);
    bench.settings(&[]).unwrap();
    bench.out.clear();
    for nonce in 1..=3 {
        let call = Call { nonce: Nonce::new(nonce), ..Call::default() };
        bench.connection.send(call, &mut bench.out);
    }
    messages(&mut bench, 3).into_iter().map(|text| String::from_utf8(text).unwrap()).collect()
}
