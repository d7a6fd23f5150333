//! Replays the committed corpus without a fuzzer.

use proptest::prelude::*;

use super::replay::replay;

#[test]
fn corpus_of_connections_is_survived() {
    replay("connection", super::connection);
}

#[test]
fn corpus_of_frames_is_survived() {
    replay("frames", super::frames);
}

#[test]
fn corpus_of_compressed_replies_is_read_alike() {
    replay("gzip", super::gzip);
}

#[test]
fn corpus_of_header_blocks_is_read_alike() {
    replay("hpack", super::hpack);
}

#[test]
fn corpus_of_replies_is_survived() {
    replay("replies", super::replies);
}

#[test]
fn corpus_of_thrift_is_survived() {
    replay("thrift", super::thrift);
}

#[test]
fn corpus_of_tls_is_survived() {
    replay("tls", super::tls);
}

proptest! {
    #[test]
    fn any_input_is_survived(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        super::connection(&bytes);
        super::frames(&bytes);
        super::gzip(&bytes);
        super::hpack(&bytes);
        super::replies(&bytes);
        super::thrift(&bytes);
        super::tls(&bytes);
    }
}
