//! Requests that no load sends.

use std::collections::{BTreeSet, HashSet};

use prost::Message as _;
use rpcbench_contract::{Corpus, Encoding, Shape, pb};

const COUNT: usize = 300;

fn unseen(shape: &str, number: u32) -> (Corpus, Corpus) {
    let shape: Shape = shape.parse().unwrap();
    let load = Corpus::generate(&shape, 7, Encoding::Protobuf);
    (load, Corpus::unseen(&shape, 7, Encoding::Protobuf, (number, COUNT)))
}

fn requests(corpus: &Corpus) -> HashSet<&[u8]> {
    (0..corpus.len()).map(|at| corpus.request(at)).collect()
}

#[test]
fn unseen_requests_differ_from_those_of_the_load_and_by_number() {
    for shape in ["text:100", "record", "dto", "tree"] {
        let (load, first) = unseen(shape, 0);
        let (_, second) = unseen(shape, 1);
        assert!(first.len() >= COUNT - 1, "{shape}: {}", first.len());
        let all = [&load, &first, &second];
        let different: HashSet<&[u8]> = all.iter().flat_map(|corpus| requests(corpus)).collect();
        let counted: usize = all.iter().map(|corpus| corpus.len()).sum();
        assert_eq!(different.len(), counted, "{shape}");
    }
}

/// Decoders keep keys, and pay for new ones.
#[test]
fn unseen_trees_have_the_map_keys_of_the_load() {
    let (load, unseen) = unseen("tree", 0);
    let keys = |corpus: &Corpus, at: usize| {
        let tree = pb::TreeRequest::decode(corpus.request(at)).unwrap().tree.unwrap();
        tree.counters.into_keys().collect::<BTreeSet<String>>()
    };
    let known: BTreeSet<String> = (0..load.len()).flat_map(|at| keys(&load, at)).collect();
    for at in 0..unseen.len() {
        assert!(keys(&unseen, at).is_subset(&known), "request {at}");
    }
}
