//! Compares our decompression of replies with another one.

use std::io::Read as _;

use flate2::read::MultiGzDecoder;

use super::Steps;
use crate::gzip::{self, Gunzip};

/// Decompresses a reply: the fuzzer's bytes as they are, or bytes that were compressed and then changed in one place, in one
/// or two members. Decompresses it again in the same memory.
///
/// # Panics
/// If the memory exceeds its bound, a reply that the other one reads is read otherwise, or the second time differs.
pub fn gzip(bytes: &[u8]) {
    let mut steps = Steps(bytes);
    let most = usize::from(steps.choice()) << 6;
    let reply = match steps.choice() {
        kind @ 0..128 => changed(kind, &mut steps),
        _ => steps.0.to_vec(),
    };
    let mut gunzip = Gunzip::default();
    let content = gunzip.content(&reply, most).map(<[u8]>::to_vec);
    assert_eq!(gunzip.content(&reply, most).map(<[u8]>::to_vec), content);
    assert!(gunzip.room() <= most + 1, "{} bytes for {most}", gunzip.room());
    assert!(gzip::start(&reply, most).len() <= most.max(reply.len()));
    if !gzip::is_gzip(&reply) {
        return assert_eq!(content, Ok(reply));
    }
    let mut theirs = Vec::new();
    let limit = most as u64 + 1;
    let read = MultiGzDecoder::new(&*reply).take(limit).read_to_end(&mut theirs);
    if read.is_ok() && theirs.len() <= most {
        assert_eq!(content, Ok(theirs));
    }
}

/// Compressed bytes with one of them changed.
fn changed(kind: u8, steps: &mut Steps<'_>) -> Vec<u8> {
    let (at, change) = (steps.choice(), steps.choice());
    let mut reply = gzip::gzip(steps.0);
    if kind & 1 != 0 {
        reply.extend(gzip::gzip(&[kind]));
    }
    let at = usize::from(at) % reply.len();
    reply[at] ^= change;
    reply
}
