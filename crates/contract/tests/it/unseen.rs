//! Requests that no load sends.

use std::collections::{BTreeSet, HashSet};

use prost::Message as _;
use rpcbench_contract::{Corpus, Encoding, Passes, Shape, pb};

const CALLS: usize = 60;

/// The requests of a load, and those of a few passes.
fn passes(shape: &str, number: u32) -> (Corpus, Corpus) {
    let shape: Shape = shape.parse().unwrap();
    let load = Corpus::generate(&shape, 7, Encoding::Protobuf);
    let passes = Passes { number, pairs: 5, calls: CALLS as u32 };
    (load, Corpus::of_passes(&shape, 7, Encoding::Protobuf, passes))
}

fn all(corpus: &Corpus) -> Vec<&[u8]> {
    (0..corpus.len()).map(|at| corpus.request(at)).collect()
}

#[test]
fn half_of_the_passes_continue_the_load_and_the_others_never_repeat_a_request() {
    for shape in ["text:100", "record", "dto", "tree"] {
        let (load, passes) = passes(shape, 0);
        let requests = all(&passes);
        let mut known: HashSet<&[u8]> = all(&load).into_iter().collect();
        let mut usual = all(&load).into_iter().cycle();
        let is_unseen = [false, true, true, false, true, false, false, true, true, false];
        assert_eq!(requests.len(), CALLS * is_unseen.len(), "{shape}");
        for (pass, is_unseen) in requests.chunks(CALLS).zip(is_unseen) {
            for request in pass {
                match is_unseen {
                    true => assert!(known.insert(request), "{shape}: sent before"),
                    false => assert_eq!(Some(*request), usual.next(), "{shape}"),
                }
            }
        }
    }
}

#[test]
fn unseen_requests_differ_by_number() {
    for shape in ["text:100", "record", "dto", "tree"] {
        let ((load, first), (_, second)) = (passes(shape, 0), passes(shape, 1));
        let usual: HashSet<&[u8]> = all(&load).into_iter().collect();
        let first: HashSet<&[u8]> = all(&first).into_iter().collect();
        let second: HashSet<&[u8]> = all(&second).into_iter().collect();
        assert!(first.intersection(&second).all(|request| usual.contains(request)), "{shape}");
    }
}

/// Decoders keep keys, and pay for new ones.
#[test]
fn unseen_trees_have_the_map_keys_of_the_load() {
    let (load, passes) = passes("tree", 0);
    let keys = |corpus: &Corpus, at: usize| {
        let tree = pb::TreeRequest::decode(corpus.request(at)).unwrap().tree.unwrap();
        tree.counters.into_keys().collect::<BTreeSet<String>>()
    };
    let known: BTreeSet<String> = (0..load.len()).flat_map(|at| keys(&load, at)).collect();
    for at in 0..passes.len() {
        assert!(keys(&passes, at).is_subset(&known), "request {at}");
    }
}
