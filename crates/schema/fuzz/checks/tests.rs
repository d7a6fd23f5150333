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
fn corpus_of_descriptor_sets_is_read_alike_twice() {
    replay("descriptors", super::descriptors);
}

#[test]
fn corpus_of_replies_is_checked_as_its_decoders_read_it() {
    replay("expect", super::expect);
}

#[test]
fn corpus_of_requests_is_encoded_alike_twice() {
    replay("json", super::json);
}

#[test]
fn corpus_of_reflection_is_survived() {
    replay("reflection", super::reflection);
}

proptest! {
    #[test]
    fn any_input_is_survived(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        super::descriptors(&bytes);
        super::expect(&bytes);
        super::json(&bytes);
        super::reflection(&bytes);
    }
}
