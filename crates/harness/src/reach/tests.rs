//! Diagnoses of servers that speak another protocol, or none.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener};

use rpcbench_testkit::Server;

use super::*;

/// A server whose reply depends on the first bytes of a connection, and that then closes it.
fn answering(reply: impl Fn(&[u8]) -> &'static [u8] + Send + 'static) -> ServerAddress {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = ServerAddress::from(listener.local_addr().unwrap());
    thread::spawn(move || {
        for mut client in listener.incoming().flatten() {
            let mut first = [0; 1024];
            let read = client.read(&mut first).unwrap();
            client.write_all(reply(&first[..read])).unwrap();
            client.shutdown(Shutdown::Write).unwrap();
            // Wait until the client has read it.
            let _ = client.read_to_end(&mut Vec::new());
        }
    });
    address
}

/// Replaces the address, which differs between runs.
fn unnamed(text: &str, address: &ServerAddress) -> String {
    text.replace(&address.to_string(), "SERVER")
}

/// The result of `ask` for a server that sends `said` and then closes the connection.
fn of_server<T>(said: &'static [u8], ask: impl FnOnce(&ServerAddress) -> T) -> T {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = ServerAddress::from(listener.local_addr().unwrap());
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        // The greeting arrives in one piece; a client of another protocol sends none and closes.
        let _ = stream.read(&mut [0; 1024]).unwrap();
        stream.write_all(said).unwrap();
    });
    let answer = ask(&address);
    server.join().unwrap();
    answer
}

fn answer(said: &'static [u8], protocol: Protocol) -> Result<(), String> {
    of_server(said, |address| {
        let server = ConnectionOptions::new(protocol, address.clone());
        let reached = reach(slice::from_ref(address), &server, Duration::from_secs(30));
        reached.map(drop).map_err(|error| unnamed(&error.to_string(), address))
    })
}

#[test]
fn wrong_protocol_is_detected_if_clients_speak_first() {
    let other = |said, protocol| {
        of_server(said, |address| {
            let server = ConnectionOptions::new(protocol, address.clone());
            let speaks = detect_protocol(&server, Duration::from_secs(30))?;
            Some(unnamed(&speaks, address))
        })
    };
    assert_eq!(other(b"HTTP/1.1 400 Bad Request\r\n\r\n", Protocol::Json), None);
    assert_eq!(other(b"", Protocol::Thrift), None);
    insta::assert_snapshot!(other(b"\0\0\0\x04\0\0\0\0\0rest", Protocol::Http).unwrap(), @"it speaks HTTP/2, not HTTP/1.1; give --http 2, or if it is a gRPC service: rpcbench load SERVER --list");
    insta::assert_snapshot!(answer(b"HTTP/1.1 400 Bad Request\r\n\r\n", Protocol::Http2).unwrap_err(), @"SERVER: it speaks HTTP/1.1, not HTTP/2; leave --http 2 out");
    let named = |said, protocol| other(said, protocol).unwrap();
    insta::assert_snapshot!(named(b"HTTP/1.1 400 Bad Request\r\n\r\n", Protocol::Thrift), @"it speaks HTTP/1.1, not thrift; try --protocol json");
    insta::assert_snapshot!(named(b"\x15\x03\x01\0\x02\x02\x46", Protocol::Http), @"it speaks TLS; write https:// in place of http://");
    insta::assert_snapshot!(named(b"HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n", Protocol::Json), @"it speaks TLS; give --tls");
    insta::assert_snapshot!(named(b"\x16\x03\x01\0\x02\x02\x46", Protocol::Thrift), @"it speaks TLS; give --tls");
    insta::assert_snapshot!(named(b"\0\0\0\x04\0\0\0\0\0rest", Protocol::Thrift), @"it speaks HTTP/2, not thrift; try --protocol grpc or json-h2c");
}

#[test]
fn server_of_both_versions_of_http_is_not_blamed_for_one() {
    let address = answering(|first| match &first[..3] {
        b"PRI" => b"\0\0\0\x04\0\0\0\0\0",
        _ => b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
    });
    let of = |protocol| {
        detect_protocol(&ConnectionOptions::new(protocol, address.clone()), Duration::from_secs(30))
    };
    assert_eq!((of(Protocol::Connect), of(Protocol::Json)), (None, None));
}

/// Most TLS servers silently close a connection that starts with anything but TLS.
#[test]
fn server_that_only_closes_or_refuses_is_asked_whether_it_speaks_tls_or_http1() {
    let long = Duration::from_secs(30);
    let reached = |address: &ServerAddress, protocol| {
        let server = ConnectionOptions::new(protocol, address.clone());
        let refused = reach(slice::from_ref(address), &server, long).unwrap_err();
        unnamed(&refused.to_string(), address)
    };
    let detected = |address: &ServerAddress, protocol| {
        detect_protocol(&ConnectionOptions::new(protocol, address.clone()), long)
    };
    let tls = answering(|first| match first {
        // Alert handshake_failure: the cipher suites don't match.
        [0x16, ..] => b"\x15\x03\x03\0\x02\x02\x28",
        _ => b"",
    });
    insta::assert_snapshot!(reached(&tls, Protocol::Grpc), @"SERVER: it speaks TLS; give --tls, or a URL with grpcs://");
    insta::assert_snapshot!(reached(&tls, Protocol::Http2), @"SERVER: it speaks TLS; write https:// in place of http://");
    insta::assert_snapshot!(detected(&tls, Protocol::Http).unwrap(), @"it speaks TLS; write https:// in place of http://");
    insta::assert_snapshot!(detected(&tls, Protocol::Thrift).unwrap(), @"it speaks TLS; give --tls");
    // Like nginx, which mentions TLS only in response to HTTP/1.1 requests.
    let refusing = answering(|first| match first {
        [b'O', ..] => {
            b"HTTP/1.1 400 Bad Request\r\n\r\n<title>The plain HTTP request was sent to HTTPS port"
        }
        _ => b"HTTP/1.1 400 Bad Request\r\n\r\n",
    });
    insta::assert_snapshot!(reached(&refusing, Protocol::Grpc), @"SERVER: it speaks TLS; give --tls, or a URL with grpcs://");
    insta::assert_snapshot!(detected(&refusing, Protocol::Http).unwrap(), @"it speaks TLS; write https:// in place of http://");
    let http1 = answering(|first| match first {
        [b'O', ..] => b"HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n",
        _ => b"",
    });
    // Like Python's server, which answers HTTP/2 in HTTP/0.9.
    let old = answering(|first| match first {
        [b'O', ..] => b"HTTP/1.1 501 Unsupported method\r\nContent-Length: 0\r\n\r\n",
        _ => b"<!DOCTYPE HTML>",
    });
    for http1 in [http1, old] {
        insta::allow_duplicates! {
            insta::assert_snapshot!(reached(&http1, Protocol::Http2), @"SERVER: it speaks HTTP/1.1, not HTTP/2; leave --http 2 out");
        }
        assert_eq!(detected(&http1, Protocol::Http), None);
    }
    // Neither a broken record nor an HTTP page is a TLS answer.
    for nothing in [&b""[..], b"\x16\x03\x03\0\x04\x02", b"HTTP/1.1 400 Bad Request\r\n\r\n"] {
        let none = answering(move |first| if first[0] == 0x16 { nothing } else { b"" });
        insta::allow_duplicates! {
            insta::assert_snapshot!(reached(&none, Protocol::Http2), @"SERVER: it closes the connection when spoken to in HTTP/2, as --http 2 needs, and in TLS and HTTP/1.1; correct the port");
        }
        assert_eq!(detected(&none, Protocol::Http), None);
    }
}

#[test]
fn another_form_of_thrift_is_named() {
    const FORMS: [Protocol; 4] = [
        Protocol::Thrift,
        Protocol::ThriftCompact,
        Protocol::ThriftBuffered,
        Protocol::ThriftBufferedCompact,
    ];
    let within = Duration::from_secs(2);
    for (at, spoken) in FORMS.into_iter().enumerate() {
        let server = Server::start(spoken.to_string().parse().unwrap()).unwrap();
        let asked = |protocol| ConnectionOptions::new(protocol, server.address());
        let other = FORMS[(at + 1) % 4];
        assert_eq!(
            detect_protocol(&asked(other), within).unwrap(),
            format!("it speaks {spoken}, not {other}; give --protocol {spoken}")
        );
        assert_eq!(detect_protocol(&asked(spoken), Duration::from_millis(50)), None);
    }
}

#[test]
fn server_of_another_protocol_is_named() {
    assert_eq!(answer(b"\0\0\0\x04\0\0\0\0\0rest", Protocol::Grpc), Ok(()));
    assert_eq!(answer(b"", Protocol::Json), Ok(()));
    let h2c = answer(b"HTTP/1.1 400 Bad Request\r\n\r\n", Protocol::JsonH2c).unwrap_err();
    insta::assert_snapshot!(h2c, @"SERVER: it speaks HTTP/1.1, not json-h2c; try --protocol json");
    let other = |said| answer(said, Protocol::Grpc).unwrap_err();
    insta::assert_snapshot!(other(b"HTTP/1.1 400 Bad Request\r\n\r\n"), @r"
    SERVER: it speaks HTTP/1.1, not gRPC. Give its gRPC port, or call one of its URLs:

      rpcbench load http://SERVER/ --once
      rpcbench load http://SERVER/
      rpcbench load http://SERVER/PATH -X POST -d @body.json
    ");
    insta::assert_snapshot!(other(b"\x15\x03\x01\0\x02\x02\x46"), @"SERVER: it speaks TLS; give --tls, or a URL with grpcs://");
    insta::assert_snapshot!(other(b"SSH-2.0-OpenSSH"), @"SERVER: it speaks SSH, not grpc; correct the port");
    insta::assert_snapshot!(other(b"J\0\0\0\x0a8.0.36"), @"SERVER: it does not speak HTTP/2, as --protocol grpc needs; correct the port or the option");
    insta::assert_snapshot!(other(b""), @"SERVER: it closes the connection when spoken to in HTTP/2, as --protocol grpc needs, and in TLS and HTTP/1.1; correct the port");
}

#[test]
fn all_addresses_are_tried_and_a_silent_server_counts_as_reachable() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = ServerAddress::from(silent.local_addr().unwrap());
    let closed = {
        let gone = TcpListener::bind("127.0.0.1:0").unwrap();
        ServerAddress::from(gone.local_addr().unwrap())
    };
    let long = Duration::from_secs(30);
    let of = |protocol| ConnectionOptions::new(protocol, address.clone());
    assert_eq!(
        reach(&[closed.clone(), address.clone()], &of(Protocol::Thrift), long).unwrap(),
        address
    );
    let missing = reach(&[closed], &of(Protocol::Grpc), long).unwrap_err().to_string();
    assert!(
        missing.ends_with("nothing listens there; start the server, or correct the address"),
        "{missing}"
    );
    let silence = reach(slice::from_ref(&address), &of(Protocol::Grpc), Duration::from_millis(50))
        .unwrap_err();
    assert!(silence.to_string().contains("sends nothing for 50ms"), "{silence}");
}

#[test]
fn all_addresses_of_one_family_that_answer_are_reached() {
    let (one, other) =
        (TcpListener::bind("127.0.0.1:0").unwrap(), TcpListener::bind("127.0.0.1:0").unwrap());
    let gone = TcpListener::bind("127.0.0.1:0").unwrap();
    let [first, second, third] =
        [&one, &other, &gone].map(|it| ServerAddress::from(it.local_addr().unwrap()));
    drop(gone);
    let v6 = ServerAddress::from("[::1]:1".parse::<std::net::SocketAddr>().unwrap());
    let server = ConnectionOptions::new(Protocol::Json, first.clone());
    let all = vec![third.clone(), first.clone(), v6, second.clone()];
    let reached =
        reach_unless(&Interrupt::default(), all, server, Duration::from_secs(30)).unwrap();
    assert_eq!((reached.address, reached.others), (first, vec![second]));
    assert!(reached.missing[0].starts_with(&format!("{third}: nothing listens there")));
}
