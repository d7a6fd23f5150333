//! Checks before a load that something listens and speaks the protocol, since a load may wait long for its connections.

use std::io;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use rpcbench_clock::{self as clock, Nanos};
use rpcbench_engine::{
    CallError, CallPosition, Client, ConnectionOptions, Greeting, ServerAddress, Target, TlsError,
    greet,
};
use rpcbench_record::{Protocol, Transport, units};

use crate::interrupt::Interrupt;

/// Interval of checks for Ctrl-C while a server is sought.
const POLL: Duration = Duration::from_millis(50);

/// The reason why there is no server to load: the address, the problem and the remedy.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ReachError(String);

fn describe(error: &io::Error, within: Duration) -> String {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => "nothing listens there".to_owned(),
        io::ErrorKind::TimedOut => format!("no answer within {}", units::length(within)),
        _ => format!("can't be reached: {error}"),
    }
}

/// The first of `addresses` that accepts a connection of `server`, which else has the address. If servers of its protocol
/// speak first, it must speak the protocol.
pub fn reach(
    addresses: &[ServerAddress],
    server: &ConnectionOptions,
    within: Duration,
) -> Result<ServerAddress, ReachError> {
    let protocol = server.protocol;
    let deadline = clock::now() + Nanos::from(within);
    let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
    for (at, address) in addresses.iter().enumerate() {
        // An address that never answers leaves time for the others.
        let left = Duration::from(deadline - clock::now()).max(Duration::from_millis(1));
        let share = left / u32::try_from(addresses.len() - at).unwrap_or(1);
        match greet(&ConnectionOptions { address: address.clone(), ..server.clone() }, share) {
            Ok(greeting) => {
                return match unexpected(greeting, protocol, share) {
                    None => Ok(address.clone()),
                    Some(what) => Err(ReachError(format!("{address}: {what}"))),
                };
            }
            // A server does listen there.
            Err(error) if is_tls(&error) => return Err(ReachError(format!("{address}: {error}"))),
            Err(error) => last = error,
        }
    }
    let tried: Vec<String> = addresses.iter().map(ToString::to_string).collect();
    let (tried, problem) = (tried.join(", "), describe(&last, within));
    Err(ReachError(format!("{tried}: {problem}; start the server, or correct the address")))
}

fn is_tls(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<TlsError>())
}

/// The same, unless Ctrl-C comes first.
pub(crate) fn reach_unless(
    interrupt: &Interrupt,
    addresses: Vec<ServerAddress>,
    server: ConnectionOptions,
    within: Duration,
) -> Result<ServerAddress, ReachError> {
    let (sender, reached) = channel();
    thread::spawn(move || sender.send(reach(&addresses, &server, within)));
    loop {
        let problem = match reached.recv_timeout(POLL) {
            Ok(reached) => return reached,
            Err(_) if interrupt.check().is_err() => "stopped before anything was measured",
            Err(RecvTimeoutError::Timeout) => continue,
            Err(RecvTimeoutError::Disconnected) => "the search for the server ended early",
        };
        return Err(ReachError(problem.to_owned()));
    }
}

/// The reason to think that the server does not speak `protocol`. `None` if it may.
fn unexpected(greeting: Greeting, protocol: Protocol, within: Duration) -> Option<String> {
    match greeting {
        Greeting::Complete => None,
        Greeting::Other(said) => explain(Speaks::of(&said), protocol),
        Greeting::Silent => Some(format!(
            "it accepts connections and sends nothing for {}; {} needs HTTP/2",
            units::length(round_up(within)),
            option(protocol)
        )),
        Greeting::Closed => Some(format!(
            "it closes the connection when spoken to in plain-text HTTP/2, as {} needs; if it speaks TLS, give --tls",
            option(protocol)
        )),
    }
}

/// The option that names a protocol.
fn option(protocol: Protocol) -> String {
    match protocol {
        Protocol::Http2 => "--http 2".to_owned(),
        protocol => format!("--protocol {protocol}"),
    }
}

/// Rounds up to whole milliseconds, as a share has lost some microseconds to the clock.
fn round_up(within: Duration) -> Duration {
    Duration::from_millis((within + Duration::from_micros(999)).as_millis() as u64)
}

/// The protocol of a server, judging by its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Speaks {
    Http2,
    Tls,
    Http1,
    Ssh,
    Unknown,
}

impl Speaks {
    fn of(said: &[u8]) -> Self {
        match said {
            // An alert or a handshake of any version.
            [0x15 | 0x16, 0x03, ..] => Self::Tls,
            // An error page for those who speak HTTP to it, as servers in Go, nginx and Apache httpd have one.
            _ if said.starts_with(b"HTTP/1") && names_tls(said) => Self::Tls,
            _ if said.starts_with(b"HTTP/1") => Self::Http1,
            _ if said.starts_with(b"SSH-") => Self::Ssh,
            _ => Self::Unknown,
        }
    }
}

fn names_tls(page: &[u8]) -> bool {
    let page = String::from_utf8_lossy(page);
    ["HTTPS server", "HTTPS port", "SSL-enabled server port"].iter().any(|it| page.contains(it))
}

/// The protocol of the server instead of `protocol`, and the remedy. `None` if it may be `protocol`.
fn explain(speaks: Speaks, protocol: Protocol) -> Option<String> {
    let transport = protocol.spec().transport;
    let what = match speaks {
        Speaks::Http2 if transport == Transport::Http2 => return None,
        Speaks::Http1 if transport == Transport::Http1 => return None,
        Speaks::Tls => "it speaks TLS; give --tls, or an https:// URL".to_owned(),
        Speaks::Http2 if protocol == Protocol::Http => {
            "it speaks HTTP/2, not HTTP/1.1; give --http 2".to_owned()
        }
        Speaks::Http1 if protocol == Protocol::Http2 => {
            "it speaks HTTP/1.1, not HTTP/2; leave --http 2 out".to_owned()
        }
        Speaks::Http2 => {
            format!("it speaks HTTP/2, not {protocol}; try --protocol grpc or json-h2c")
        }
        Speaks::Http1 if protocol == Protocol::Grpc => {
            "it speaks HTTP/1.1, not gRPC; try --protocol json, or the port of its gRPC service"
                .to_owned()
        }
        Speaks::Http1 => format!("it speaks HTTP/1.1, not {protocol}; try --protocol json"),
        Speaks::Ssh => format!("it speaks SSH, not {protocol}; correct the port"),
        Speaks::Unknown if transport == Transport::Http2 => format!(
            "it does not speak HTTP/2, as {} needs; correct the port or the option",
            option(protocol)
        ),
        Speaks::Unknown => return None,
    };
    Some(what)
}

/// The protocol of a server whose calls all failed, if it shows when spoken to in HTTP/2 or in another form of Thrift: in most
/// protocols, servers wait for the first call.
pub(crate) fn detect_protocol(server: &ConnectionOptions, within: Duration) -> Option<String> {
    let protocol = server.protocol;
    let speaks =
        match greet(&ConnectionOptions { protocol: Protocol::Grpc, ..server.clone() }, within) {
            Ok(Greeting::Complete) => Speaks::Http2,
            Ok(Greeting::Other(said)) => Speaks::of(&said),
            Ok(Greeting::Closed | Greeting::Silent) | Err(_) => Speaks::Unknown,
        };
    match speaks {
        Speaks::Unknown => other_thrift(server, within),
        speaks => explain(speaks, protocol).filter(|_| {
            // It may speak HTTP/1.1 as well.
            speaks != Speaks::Http2 || !answers(server, protocol, &Target::new("/"), within)
        }),
    }
}

/// The form of Thrift in which the server answers a call, if it is another than `protocol`.
fn other_thrift(server: &ConnectionOptions, within: Duration) -> Option<String> {
    let protocol = server.protocol;
    let is_thrift = |form: &Protocol| {
        matches!(form.spec().transport, Transport::ThriftFramed | Transport::ThriftBuffered)
    };
    if !is_thrift(&protocol) {
        return None;
    }
    // No service has this method: the server says so, in a form that it speaks.
    let target = Target::new("rpcbench_probe");
    let mut others = Protocol::ALL.into_iter().filter(is_thrift).filter(|form| *form != protocol);
    let other = others.find(|form| answers(server, *form, &target, within))?;
    Some(format!("it speaks {other}, not {protocol}; give --protocol {other}"))
}

/// Whether a server answers a call of a protocol, with a result or with an error.
fn answers(
    server: &ConnectionOptions,
    protocol: Protocol,
    target: &Target,
    within: Duration,
) -> bool {
    // In Thrift, a struct without fields.
    const NOTHING: [u8; 1] = [0];
    let mut client = Client::new(ConnectionOptions { protocol, ..server.clone() }, within);
    let reply = client.call(target, &NOTHING, CallPosition::Any);
    matches!(reply, Ok(_) | Err(CallError::Status { .. }))
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::slice;

    use rpcbench_testkit::Server;

    use super::*;

    /// What `ask` says about a server that sends `said` and then closes the connection.
    fn of_server<T>(said: &'static [u8], ask: impl FnOnce(&ServerAddress) -> T) -> T {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = ServerAddress::from(listener.local_addr().unwrap());
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            // The greeting comes whole; a client of another protocol sends none and closes.
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
            let name =
                |error: ReachError| error.to_string().replace(&address.to_string(), "SERVER");
            reached.map(drop).map_err(name)
        })
    }

    #[test]
    fn wrong_protocol_is_detected() {
        let other = |said, protocol| {
            of_server(said, |address| {
                let server = ConnectionOptions::new(protocol, address.clone());
                detect_protocol(&server, Duration::from_secs(30))
            })
        };
        assert_eq!(other(b"HTTP/1.1 400 Bad Request\r\n\r\n", Protocol::Json), None);
        assert_eq!(other(b"", Protocol::Thrift), None);
        insta::assert_snapshot!(other(b"\0\0\0\x04\0\0\0\0\0rest", Protocol::Http).unwrap(), @"it speaks HTTP/2, not HTTP/1.1; give --http 2");
        insta::assert_snapshot!(answer(b"HTTP/1.1 400 Bad Request\r\n\r\n", Protocol::Http2).unwrap_err(), @"SERVER: it speaks HTTP/1.1, not HTTP/2; leave --http 2 out");
        let named = |said, protocol| other(said, protocol).unwrap();
        insta::assert_snapshot!(named(b"HTTP/1.1 400 Bad Request\r\n\r\n", Protocol::Thrift), @"it speaks HTTP/1.1, not thrift; try --protocol json");
        insta::assert_snapshot!(named(b"\x15\x03\x01\0\x02\x02\x46", Protocol::Json), @"it speaks TLS; give --tls, or an https:// URL");
        insta::assert_snapshot!(named(b"HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n", Protocol::Json), @"it speaks TLS; give --tls, or an https:// URL");
        insta::assert_snapshot!(named(b"\x16\x03\x01\0\x02\x02\x46", Protocol::Thrift), @"it speaks TLS; give --tls, or an https:// URL");
        insta::assert_snapshot!(named(b"\0\0\0\x04\0\0\0\0\0rest", Protocol::Thrift), @"it speaks HTTP/2, not thrift; try --protocol grpc or json-h2c");
    }

    #[test]
    fn server_of_both_versions_of_http_is_not_blamed_for_one() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = ServerAddress::from(listener.local_addr().unwrap());
        thread::spawn(move || {
            for mut client in listener.incoming().flatten() {
                let mut first = [0; 3];
                client.read_exact(&mut first).unwrap();
                let reply: &[u8] = match &first {
                    b"PRI" => b"\0\0\0\x04\0\0\0\0\0",
                    _ => b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
                };
                client.write_all(reply).unwrap();
                // Until the client has read it.
                let _ = client.read_to_end(&mut Vec::new());
            }
        });
        let of = |protocol| {
            detect_protocol(
                &ConnectionOptions::new(protocol, address.clone()),
                Duration::from_secs(30),
            )
        };
        assert_eq!((of(Protocol::Connect), of(Protocol::Json)), (None, None));
    }

    #[test]
    fn wrong_form_of_thrift_is_named() {
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
        insta::assert_snapshot!(other(b"HTTP/1.1 400 Bad Request\r\n\r\n"), @"SERVER: it speaks HTTP/1.1, not gRPC; try --protocol json, or the port of its gRPC service");
        insta::assert_snapshot!(other(b"\x15\x03\x01\0\x02\x02\x46"), @"SERVER: it speaks TLS; give --tls, or an https:// URL");
        insta::assert_snapshot!(other(b"SSH-2.0-OpenSSH"), @"SERVER: it speaks SSH, not grpc; correct the port");
        insta::assert_snapshot!(other(b"J\0\0\0\x0a8.0.36"), @"SERVER: it does not speak HTTP/2, as --protocol grpc needs; correct the port or the option");
        insta::assert_snapshot!(other(b""), @"SERVER: it closes the connection when spoken to in plain-text HTTP/2, as --protocol grpc needs; if it speaks TLS, give --tls");
    }

    #[test]
    fn silent_server_is_not_reported_as_missing() {
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
        let silence =
            reach(slice::from_ref(&address), &of(Protocol::Grpc), Duration::from_millis(50))
                .unwrap_err();
        assert!(silence.to_string().contains("sends nothing for 50ms"), "{silence}");
    }
}
