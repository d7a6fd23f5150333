//! Bytes of a request that are its call's own.

use std::ops::Range;
use std::sync::Arc;

use proptest::prelude::*;
use rpcbench_contract::{Method, Nonce};

use super::{Bench, Connection};
use crate::payload::Payload;
use crate::protocol::http2::frame;
use crate::protocol::{Call, Connection as _};

/// One request of dots, with a place for a nonce.
struct Marked(Range<usize>, Vec<u8>);

impl Payload for Marked {
    fn method(&self) -> Method {
        Method::Text
    }

    fn len(&self) -> usize {
        1
    }

    fn request(&self, _: usize) -> &[u8] {
        &self.1
    }

    fn nonce(&self, _: usize) -> Range<usize> {
        self.0.clone()
    }

    fn verify(&self, _: usize, _: Nonce, _: &[u8]) -> Result<(), String> {
        Ok(())
    }
}

/// The message of each of the requests that were written, by their DATA frames.
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
    fn each_request_has_its_own_however_it_is_cut(at in 0_usize..40, length in 0_usize..=Nonce::DIGITS, windows in prop::collection::vec(1_u32..30, 1..9)) {
        let payload = Marked(at..at + length, vec![b'.'; 60]);
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
            let mut expected = payload.1.clone();
            Nonce::new(nonce).write(&mut expected[at..at + length]);
            prop_assert_eq!(message, &expected);
        }
    }
}

#[test]
fn a_request_that_goes_out_whole_has_its_own() {
    let templates = Arc::new(Connection::templates(&Marked(3..11, vec![b'.'; 16]), "host"));
    let mut bench = Bench::open(&[]);
    bench.connection = Connection::new(templates, 2, &Arc::default(), &mut bench.out);
    bench.settings(&[]).unwrap();
    bench.out.clear();
    for nonce in 1..=3 {
        let call = Call { nonce: Nonce::new(nonce), ..Call::default() };
        bench.connection.send(call, &mut bench.out);
    }
    let expected = ["A", "B", "C"].map(|last| format!("...@@@@@@@{last}.....").into_bytes());
    assert_eq!(messages(&mut bench, 3), expected);
}
