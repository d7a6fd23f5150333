//! The manifest by which the harness runs these servers.

use rpcbench_testkit::{Behaviour, FORMS, Form, Plan};
use toml::{Table, Value};

fn manifest(server: &str) -> Table {
    let servers = concat!(env!("CARGO_MANIFEST_DIR"), "/root/servers/testkit");
    let path = format!("{servers}/{server}/server.toml");
    std::fs::read_to_string(path).unwrap().parse().unwrap()
}

fn behaviours(variant: &Value) -> Vec<Behaviour> {
    let words: Vec<&str> =
        variant["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    let (pairs, rest) = words.as_chunks::<2>();
    assert!(rest.is_empty(), "{words:?}");
    pairs
        .iter()
        .map(|[option, behaviour]| {
            assert_eq!(*option, "--behaviour");
            behaviour.parse().unwrap()
        })
        .collect()
}

#[test]
fn variant_behaviours_are_compatible() {
    let thrift = "thrift".parse().unwrap();
    for (server, more) in
        [("liar", None), ("json", Some("json".parse().unwrap())), ("thrift", Some(thrift))]
    {
        for (name, variant) in manifest(server)["variants"].as_table().unwrap() {
            let behaviours: Vec<_> = more.iter().cloned().chain(behaviours(variant)).collect();
            assert!(Plan::new(&behaviours).is_ok(), "{server}@{name}");
            assert!(!variant["note"].as_str().unwrap().is_empty(), "{server}@{name}");
        }
    }
}

#[test]
fn every_behaviour_over_grpc_has_a_variant() {
    let manifest = manifest("liar");
    // Other protocols have servers of their own.
    let others = ["json", "json-h2c", "connect", "null-json", "tcp-echo"];
    let other = |form: &&Form| others.contains(&form.form) || form.form.starts_with("thrift");
    for form in FORMS.iter().filter(|form| !other(form)) {
        let name = form.form.split(':').next().unwrap();
        assert!(manifest["variants"].as_table().unwrap().contains_key(name), "{name}");
    }
}
