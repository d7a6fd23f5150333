//! Replays the committed corpus without a fuzzer.

use std::fs;
use std::path::Path;

use proptest::prelude::*;

fn replay(target: &str, play: fn(&[u8])) {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target);
    let files: Vec<_> = fs::read_dir(&corpus).unwrap().map(|file| file.unwrap().path()).collect();
    assert!(files.len() > 20, "{}: {} files", corpus.display(), files.len());
    files.iter().for_each(|file| play(&fs::read(file).unwrap()));
}

#[test]
fn corpus_of_connections_is_survived() {
    replay("connection", super::connection);
}

#[test]
fn corpus_of_frames_is_survived() {
    replay("frames", super::frames);
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
        super::hpack(&bytes);
        super::replies(&bytes);
        super::thrift(&bytes);
        super::tls(&bytes);
    }
}
