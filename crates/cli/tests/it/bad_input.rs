//! Servers and files that are not what they should be: the words, and no hang.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::thread;

use crate::bench::{Machine, look, rpcbench};
use crate::grpc_peer::{self, Reply};
use crate::program::{Ended, Program};

fn load(address: &str, options: &[&str]) -> Ended {
    let fixed = ["load", address, "-n", "20", "-c", "1", "--warmup", "none", "--quiet"];
    Program::start(&mut rpcbench(&[&fixed, options].concat())).finish()
}

/// A server that answers the first bytes of a connection with these bytes, and closes it.
fn serve(bytes: Vec<u8>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let bytes = bytes.clone();
            thread::spawn(move || {
                let _ = stream.read(&mut [0; 4096]);
                let _ = stream.write_all(&bytes);
            });
        }
    });
    address
}

#[test]
fn http1_server_that_talks_nonsense_is_named() {
    let _machine = Machine::shared();
    let long = [b"HTTP/1.1 200 OK\r\nX-Long: ".to_vec(), vec![b'x'; 1 << 20]].concat();
    for (bytes, reason) in [
        (b"HTTP/1.1 twohundred OK\r\n\r\n".to_vec(), "peer broke http: a head that can't be read"),
        (b"!\"$%&/()=?\r\n\r\n".to_vec(), "peer broke http: a reply that is not HTTP/1"),
        (long, "peer broke http: a head above 64 KiB"),
    ] {
        let ended = load(&format!("http://{}/", serve(bytes)), &[]).expect(1);
        assert!(ended.out.contains(reason), "{reason}: {}", ended.out);
    }
}

#[test]
fn other_version_of_http_is_named_with_the_option() {
    let _machine = Machine::shared();
    let page = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n".to_vec();
    let http1 = serve(page);
    let ended = load(&http1, &["--call", "a.B/C", "--list"]).expect(2);
    assert!(ended.err.contains("it speaks HTTP/1.1, not gRPC"), "{}", ended.err);
    let ended = load(&format!("http://{http1}/"), &["--http", "2"]).expect(2);
    assert!(ended.err.contains("it speaks HTTP/1.1, not HTTP/2"), "{}", ended.err);
    let http2 = grpc_peer::serve(|_| Reply::message(false, b""));
    let expected = format!(
        "{http2}: it speaks HTTP/2, not HTTP/1.1; give --http 2, or if it is a gRPC service: rpcbench load {http2} --list"
    );
    // With the first call, no matter what would follow.
    for options in
        ["-z 1h", "-z 1h --warmup none", "-z 1h --rate 1k", "-n 20 --warmup none", "--once"]
    {
        let ended = look(&format!("load http://{http2}/ {options}")).expect(2);
        assert!(ended.err.contains(&expected) && ended.out.is_empty(), "{options}: {ended:?}");
    }
}

#[test]
fn header_block_of_a_mebibyte_costs_the_connection() {
    let _machine = Machine::shared();
    let long: &'static str = String::leak("x".repeat(1 << 20));
    let address = grpc_peer::serve(move |_| Reply {
        headers: vec![("x-long", long)],
        ..Reply::message(false, b"")
    });
    let ended = load(&format!("http://{address}/"), &["--http", "2"]).expect(1);
    assert!(ended.out.contains("header block past 64 KiB"), "{}", ended.out);
}

#[test]
fn unusable_files_of_data_are_refused_before_the_load() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::write(path("empty"), "").unwrap();
    let refusal = |file: &str| {
        let ended = load("http://127.0.0.1:1/", &["-D", file]).expect(2);
        ended.err.replace(folder.path().to_str().unwrap(), "DIR")
    };
    insta::assert_snapshot!(refusal(&path("")), @"rpcbench: --data-file DIR/: can't be read: it is a folder; give a file");
    insta::assert_snapshot!(refusal(&path("empty")), @"rpcbench: --data-file DIR/empty: is empty; leave the option out for calls without data");
    insta::assert_snapshot!(refusal(&path("gone")), @"rpcbench: --data-file DIR/gone: can't be read: No such file or directory (os error 2)");
}
