//! Requests for client programs.

use rpcbench_contract::{Corpus, Encoding, Shape};

#[test]
fn client_requests_have_their_nonce_first_in_the_first_text() {
    for (shape, head) in [
        (Shape::Text(100), &b"{\"text\":\""[..]),
        (Shape::Record, b"{\"record\":{\"field1\":\""),
        (Shape::Dto, b"{\"dto\":{\"prop1\":\""),
    ] {
        let corpus = Corpus::for_clients(&shape, 8, Encoding::Json);
        for at in 0..corpus.len() {
            let nonce = corpus.nonce(at).clone();
            assert_eq!(nonce, head.len()..head.len() + 8, "{shape} {at}");
            assert!(corpus.request(at).starts_with(head) && corpus.request(at)[nonce].is_ascii());
        }
    }
}

#[test]
fn client_requests_with_a_mark_have_it_once_and_not_in_their_nonce() {
    for shape in [Shape::Record, Shape::Dto, Shape::Tree] {
        for encoding in [Encoding::Json, Encoding::Protobuf] {
            let corpus = Corpus::for_clients_with(*b"original", &shape, 8, encoding);
            for at in 0..corpus.len() {
                let mut found =
                    corpus.request(at).windows(8).enumerate().filter(|(_, it)| *it == b"original");
                let (place, _) = found.next().unwrap();
                assert!(found.next().is_none() && place >= corpus.nonce(at).end, "{shape} {at}");
            }
        }
    }
}
