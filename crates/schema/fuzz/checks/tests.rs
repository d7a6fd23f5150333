//! Replays the committed corpus without a fuzzer.

use proptest::prelude::*;

use super::replay::replay;

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
