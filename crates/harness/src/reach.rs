//! Whether anybody listens at an address, and speaks what a load would: asked once before it, as a load can wait for its
//! connections for long.

use std::io::{self, Read, Write};
use std::time::Duration;

use rpcbench_engine::ServerAddress;
use rpcbench_engine::clock::{self, Nanos};
use rpcbench_record::{Protocol, units};
use socket2::Socket;

/// How a client of HTTP/2 begins: the preface and an empty SETTINGS frame (RFC 9113, 3.4).
const HTTP2_HELLO: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
/// Bytes of a frame's head, the first thing that a server of HTTP/2 says.
const FRAME_HEAD: usize = 9;
/// Type of a SETTINGS frame, at this place of the head.
const SETTINGS: (usize, u8) = (3, 4);

/// Nobody is there who could be loaded.
#[derive(Debug, thiserror::Error)]
pub enum ReachError {
    /// No address took a connection.
    #[error("{}: {}; start the server, or correct the address", list(tried), said(error, *within))]
    Nobody {
        /// All of them.
        tried: Vec<ServerAddress>,
        /// What the last one said.
        error: io::Error,
        /// Time that was waited for all of them.
        within: Duration,
    },
    /// Somebody is there, and speaks something else.
    #[error("{address}: {what}")]
    Other {
        /// Where.
        address: ServerAddress,
        /// What it speaks, and what to do.
        what: String,
    },
}

fn list(addresses: &[ServerAddress]) -> String {
    addresses.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn said(error: &io::Error, within: Duration) -> String {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => "nobody listens there".to_owned(),
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => {
            format!("no answer within {}", units::length(within))
        }
        _ => format!("can't be reached: {error}"),
    }
}

/// The first of `addresses` that takes a connection; what is there must speak the protocol, as far as its first words tell.
///
/// # Errors
/// Who is there instead.
pub fn reach(
    addresses: &[ServerAddress],
    protocol: Protocol,
    within: Duration,
) -> Result<ServerAddress, ReachError> {
    let deadline = clock::now() + Nanos::from(within);
    let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
    for (at, address) in addresses.iter().enumerate() {
        // One that never answers leaves time for those after it.
        let left = Duration::from(deadline - clock::now()).max(Duration::from_millis(1));
        let share = left / u32::try_from(addresses.len() - at).unwrap_or(1);
        match address.connect(share) {
            Ok(stream) => {
                return match other(stream, protocol, share) {
                    None => Ok(address.clone()),
                    Some(what) => Err(ReachError::Other { address: address.clone(), what }),
                };
            }
            Err(error) => last = error,
        }
    }
    Err(ReachError::Nobody { tried: addresses.to_vec(), error: last, within })
}

/// What is there instead of the protocol. Only a server of HTTP/2 says something before it is asked.
fn other(mut stream: Socket, protocol: Protocol, within: Duration) -> Option<String> {
    if !protocol.is_over_http2() {
        return None;
    }
    let mut said = Vec::new();
    let greeted = greet(&mut stream, within, &mut said);
    // A few hundred microseconds may have gone into connecting.
    let waited = Duration::from_millis((within + Duration::from_micros(999)).as_millis() as u64);
    let speaks = judge(&said);
    match speaks {
        Speaks::Http2 => None,
        Speaks::Tls | Speaks::Http1 | Speaks::Ssh | Speaks::Unknown => instead(&speaks, protocol),
        Speaks::Nothing => Some(match greeted {
            Err(error) if is_timeout(&error) => format!(
                "it takes connections and says nothing for {}: not HTTP/2, as --protocol {protocol} needs",
                units::length(waited)
            ),
            Ok(()) | Err(_) => format!(
                "it ends the connection at the first words of HTTP/2, as --protocol {protocol} needs"
            ),
        }),
    }
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

/// Says hello, and takes what comes until it is a frame's head.
fn greet(stream: &mut Socket, within: Duration, said: &mut Vec<u8>) -> io::Result<()> {
    stream.set_write_timeout(Some(within))?;
    stream.set_read_timeout(Some(within))?;
    stream.write_all(HTTP2_HELLO)?;
    stream.take(FRAME_HEAD as u64).read_to_end(said).map(drop)
}

/// What first words are of.
#[derive(Debug, PartialEq, Eq)]
enum Speaks {
    Http2,
    Tls,
    Http1,
    Ssh,
    Unknown,
    Nothing,
}

fn judge(said: &[u8]) -> Speaks {
    let (place, settings) = SETTINGS;
    match said {
        [] => Speaks::Nothing,
        // An alert of any version.
        [0x15, 0x03, ..] => Speaks::Tls,
        _ if said.starts_with(b"HTTP/1") => Speaks::Http1,
        _ if said.starts_with(b"SSH-") => Speaks::Ssh,
        _ if said.len() == FRAME_HEAD && said[place] == settings => Speaks::Http2,
        _ => Speaks::Unknown,
    }
}

/// What is there in place of the protocol, and what to do. `None` where it may be the protocol.
fn instead(speaks: &Speaks, protocol: Protocol) -> Option<String> {
    let what = match speaks {
        Speaks::Http2 if protocol.is_over_http2() => return None,
        Speaks::Tls => "it speaks TLS, which is not there yet; name a port without".to_owned(),
        Speaks::Http2 => {
            format!("it speaks HTTP/2, not {protocol}; give --protocol grpc or json-h2c")
        }
        Speaks::Http1 if protocol == Protocol::Json => return None,
        Speaks::Http1 if protocol == Protocol::Grpc => {
            "it speaks HTTP/1.1, not gRPC; give --protocol json, or the port of its gRPC service"
                .to_owned()
        }
        Speaks::Http1 => format!("it speaks HTTP/1.1, not {protocol}; give --protocol json"),
        Speaks::Ssh => format!("it speaks SSH, not {protocol}; correct the port"),
        Speaks::Unknown if protocol.is_over_http2() => format!(
            "it does not speak HTTP/2, as --protocol {protocol} needs; correct the port or the --protocol"
        ),
        Speaks::Unknown | Speaks::Nothing => return None,
    };
    Some(what)
}

/// What is there in place of a protocol whose calls all failed, as far as a server tells that is greeted in HTTP/2: of most
/// protocols nobody says a word before the first call.
#[must_use]
pub fn who_else(address: &ServerAddress, protocol: Protocol, within: Duration) -> Option<String> {
    let mut stream = address.connect(within).ok()?;
    let mut said = Vec::new();
    // What came before the stream broke counts.
    let _ = greet(&mut stream, within, &mut said);
    instead(&judge(&said), protocol)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::slice;

    use super::*;

    /// What `ask` says of a server that says this and then ends the connection.
    fn of_server<T>(said: &'static [u8], ask: impl FnOnce(&ServerAddress) -> T) -> T {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = ServerAddress::from(listener.local_addr().unwrap());
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut hello = [0; HTTP2_HELLO.len()];
            // Of other protocols nothing comes.
            let _ = stream.read_exact(&mut hello);
            stream.write_all(said).unwrap();
        });
        let answer = ask(&address);
        server.join().unwrap();
        answer
    }

    fn answer(said: &'static [u8], protocol: Protocol) -> Result<(), String> {
        of_server(said, |address| {
            let reached = reach(slice::from_ref(address), protocol, Duration::from_secs(30));
            let name =
                |error: ReachError| error.to_string().replace(&address.to_string(), "SERVER");
            reached.map(drop).map_err(name)
        })
    }

    #[test]
    fn whoever_is_there_instead_is_named_for_protocols_in_which_nobody_speaks_first() {
        let other = |said, protocol| {
            of_server(said, |address| who_else(address, protocol, Duration::from_secs(30)))
        };
        assert_eq!(other(b"HTTP/1.1 400 Bad Request\r\n\r\n", Protocol::Json), None);
        assert_eq!(other(b"", Protocol::Thrift), None);
        let named = |said, protocol| other(said, protocol).unwrap();
        insta::assert_snapshot!(named(b"HTTP/1.1 400 Bad Request\r\n\r\n", Protocol::Thrift), @"it speaks HTTP/1.1, not thrift; give --protocol json");
        insta::assert_snapshot!(named(b"\x15\x03\x01\0\x02\x02\x46", Protocol::Json), @"it speaks TLS, which is not there yet; name a port without");
        insta::assert_snapshot!(named(b"\0\0\x06\x04\0\0\0\0\0rest", Protocol::Thrift), @"it speaks HTTP/2, not thrift; give --protocol grpc or json-h2c");
    }

    #[test]
    fn whoever_speaks_something_else_is_named() {
        assert_eq!(answer(b"\0\0\x06\x04\0\0\0\0\0rest", Protocol::Grpc), Ok(()));
        assert_eq!(answer(b"", Protocol::Json), Ok(()));
        let h2c = answer(b"HTTP/1.1 400 Bad Request\r\n\r\n", Protocol::JsonH2c).unwrap_err();
        insta::assert_snapshot!(h2c, @"SERVER: it speaks HTTP/1.1, not json-h2c; give --protocol json");
        let other = |said| answer(said, Protocol::Grpc).unwrap_err();
        insta::assert_snapshot!(other(b"HTTP/1.1 400 Bad Request\r\n\r\n"), @"SERVER: it speaks HTTP/1.1, not gRPC; give --protocol json, or the port of its gRPC service");
        insta::assert_snapshot!(other(b"\x15\x03\x01\0\x02\x02\x46"), @"SERVER: it speaks TLS, which is not there yet; name a port without");
        insta::assert_snapshot!(other(b"SSH-2.0-OpenSSH"), @"SERVER: it speaks SSH, not grpc; correct the port");
        insta::assert_snapshot!(other(b"J\0\0\0\x0a8.0.36"), @"SERVER: it does not speak HTTP/2, as --protocol grpc needs; correct the port or the --protocol");
        insta::assert_snapshot!(other(b""), @"SERVER: it ends the connection at the first words of HTTP/2, as --protocol grpc needs");
    }

    #[test]
    fn nobody_and_silence_are_told_apart_and_all_addresses_are_tried() {
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = ServerAddress::from(silent.local_addr().unwrap());
        let closed = {
            let gone = TcpListener::bind("127.0.0.1:0").unwrap();
            ServerAddress::from(gone.local_addr().unwrap())
        };
        let long = Duration::from_secs(30);
        assert_eq!(
            reach(&[closed.clone(), address.clone()], Protocol::Thrift, long).unwrap(),
            address
        );
        let nobody = reach(&[closed], Protocol::Grpc, long).unwrap_err().to_string();
        assert!(
            nobody.ends_with("nobody listens there; start the server, or correct the address"),
            "{nobody}"
        );
        let silence = reach(&[address], Protocol::Grpc, Duration::from_millis(50)).unwrap_err();
        assert!(silence.to_string().contains("says nothing for 50ms"), "{silence}");
    }
}
