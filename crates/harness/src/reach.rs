//! Checks before a load that a server listens and speaks the protocol, since a load may wait long for its connections.

use std::io;
use std::slice;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use rpcbench_clock::{self as clock, Nanos};
use rpcbench_engine::{
    CallError, CallPosition, Client, ConnectionOptions, Greeting, Scheme, ServerAddress, Target,
    TlsClient, TlsError, TlsSettings, Trust, greet,
};
use rpcbench_record::{Protocol, Transport, units};

use crate::calls::host;
use crate::interrupt::Interrupt;

/// Interval of checks for Ctrl-C while searching for a server.
const POLL: Duration = Duration::from_millis(50);
/// Time limit of each probe that detects the protocol of a server whose calls fail.
const DETECT_TIMEOUT: Duration = Duration::from_secs(1);

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

/// The first of `addresses` that accepts a connection with the other options of `server`. In protocols where the server speaks
/// first, it must also speak the protocol.
pub fn reach(
    addresses: &[ServerAddress],
    server: &ConnectionOptions,
    within: Duration,
) -> Result<ServerAddress, ReachError> {
    let deadline = clock::now() + Nanos::from(within);
    let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
    for (at, address) in addresses.iter().enumerate() {
        // Leave time for the other addresses in case this one never answers.
        let left = Duration::from(deadline - clock::now()).max(Duration::from_millis(1));
        let share = left / u32::try_from(addresses.len() - at).unwrap_or(1);
        match greet(&ConnectionOptions { address: address.clone(), ..server.clone() }, share) {
            Ok(greeting) => {
                return match unexpected(greeting, server, share) {
                    None => Ok(address.clone()),
                    Some(what) => Err(ReachError(format!("{address}: {what}"))),
                };
            }
            // A server does listen there.
            Err(error) if TlsError::is_in(&error) => {
                return Err(ReachError(format!("{address}: {error}")));
            }
            Err(error) => last = error,
        }
    }
    let tried: Vec<String> = addresses.iter().map(ToString::to_string).collect();
    let (tried, problem) = (tried.join(", "), describe(&last, within));
    Err(ReachError(format!("{tried}: {problem}; start the server, or correct the address")))
}

/// The addresses at which a server accepts connections.
#[derive(Debug)]
pub(crate) struct Reached {
    /// The first one.
    pub address: ServerAddress,
    /// The other addresses of the same family.
    pub others: Vec<ServerAddress>,
    /// Errors of the unreachable addresses of the same family.
    pub missing: Vec<String>,
}

impl Reached {
    /// `address` is reached; tries all others of its family concurrently.
    fn of(
        address: ServerAddress,
        addresses: &[ServerAddress],
        server: &ConnectionOptions,
        within: Duration,
    ) -> Self {
        let same_family = |other: &&ServerAddress| match (&address, other) {
            (ServerAddress::Tcp(one), ServerAddress::Tcp(other)) => {
                one != other && one.is_ipv4() == other.is_ipv4()
            }
            _ => false,
        };
        let (mut others, mut missing) = (Vec::new(), Vec::new());
        thread::scope(|scope| {
            let asked = addresses.iter().filter(same_family).map(|other| {
                let tried = scope.spawn(|| reach(slice::from_ref(other), server, within));
                (other, tried)
            });
            for (other, tried) in asked.collect::<Vec<_>>() {
                match tried.join() {
                    Ok(Ok(_)) => others.push(other.clone()),
                    Ok(Err(error)) => missing.push(error.to_string()),
                    Err(_) => missing.push(format!("{other}: the search for it ended early")),
                }
            }
        });
        Self { address, others, missing }
    }
}

/// Like [`reach`], but finds all reachable addresses of the first one's family. Ctrl-C stops the search.
pub(crate) fn reach_unless(
    interrupt: &Interrupt,
    addresses: Vec<ServerAddress>,
    server: ConnectionOptions,
    within: Duration,
) -> Result<Reached, ReachError> {
    let (sender, reached) = channel();
    thread::spawn(move || {
        let first = reach(&addresses, &server, within);
        sender.send(first.map(|first| Reached::of(first, &addresses, &server, within)))
    });
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

/// Why the server seems not to speak the protocol. `None` if it may.
fn unexpected(greeting: Greeting, server: &ConnectionOptions, within: Duration) -> Option<String> {
    let found = |said: &[u8]| PeerProtocol::find(said, server, within.min(DETECT_TIMEOUT));
    match greeting {
        Greeting::Complete => None,
        Greeting::Other(said) => explain(found(&said), server),
        Greeting::Closed => explain(found(&[]), server),
        Greeting::Silent => Some(format!(
            "it accepts connections and sends nothing for {}; {} needs HTTP/2",
            units::length(round_up(within)),
            option(server.protocol)
        )),
    }
}

/// The command-line option for a protocol.
fn option(protocol: Protocol) -> String {
    match protocol {
        Protocol::Http2 => "--http 2".to_owned(),
        protocol => format!("--protocol {protocol}"),
    }
}

/// Rounds up to whole milliseconds, since the clock takes some microseconds off a share.
fn round_up(within: Duration) -> Duration {
    Duration::from_millis((within + Duration::from_micros(999)).as_millis() as u64)
}

/// The protocol of a server, detected from its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PeerProtocol {
    Http2,
    Tls,
    Http1,
    Ssh,
    /// None of these: the server closes the connection.
    Closes,
    Unknown,
}

impl PeerProtocol {
    fn of(said: &[u8]) -> Self {
        match said {
            // An alert or a handshake of any version.
            [0x15 | 0x16, 0x03, ..] => Self::Tls,
            // An error page for plain HTTP on a TLS port, as servers in Go, nginx and Apache httpd send.
            _ if said.starts_with(b"HTTP/1") && names_tls(said) => Self::Tls,
            _ if said.starts_with(b"HTTP/1") => Self::Http1,
            _ if said.starts_with(b"SSH-") => Self::Ssh,
            _ => Self::Unknown,
        }
    }

    /// The protocol of a server that answers HTTP/2 with `said` and closes the connection. That may prove nothing: many TLS
    /// servers close without an answer, or refuse the request with an HTTP/1.1 response.
    fn find(said: &[u8], server: &ConnectionOptions, within: Duration) -> Self {
        let speaks = Self::of(said);
        if !matches!(speaks, Self::Http1 | Self::Unknown) {
            return speaks;
        }
        match http1_answer(server, within) {
            Some(page) if names_tls(page.as_bytes()) => Self::Tls,
            Some(_) => Self::Http1,
            None if speaks == Self::Http1 => speaks,
            None if server.tls.is_none() && answers_tls(server, within) => Self::Tls,
            None if said.is_empty() => Self::Closes,
            None => Self::Unknown,
        }
    }
}

/// True if a server answers a TLS handshake, even with an alert.
fn answers_tls(server: &ConnectionOptions, within: Duration) -> bool {
    let client = TlsClient::new(TlsSettings {
        resume: false,
        ..TlsSettings::new(host(&server.authority), Trust::Anyone, "nothing")
    });
    let Ok(client) = client else { return false };
    // A protocol without a handshake after the TLS one.
    let protocol = Protocol::Http;
    let server = ConnectionOptions { protocol, tls: Some(client), ..server.clone() };
    greet(&server, within).map_or_else(|error| TlsError::shows_tls(&error), |_| true)
}

/// Sends `OPTIONS *`, which has no effect (RFC 9110, section 9.3.7), over HTTP/1.1. Returns the beginning of the body if the
/// status is an error, otherwise an empty text. `None` without an answer.
fn http1_answer(server: &ConnectionOptions, within: Duration) -> Option<String> {
    let ping = Target { http_method: "OPTIONS".to_owned(), has_body: false, ..Target::new("*") };
    answer(server, Protocol::Http, (&ping, &[]), within)
}

fn names_tls(page: &[u8]) -> bool {
    let page = String::from_utf8_lossy(page);
    ["HTTPS server", "HTTPS port", "SSL-enabled server port"].iter().any(|it| page.contains(it))
}

/// Commands that call a URL of a server.
pub(crate) fn commands_for_url(server: &ConnectionOptions, is_http2: bool) -> String {
    let scheme = Scheme::of(server.tls.is_some()).name();
    let mut options = if is_http2 { " --http 2".to_owned() } else { String::new() };
    if let ServerAddress::Unix(path) = &server.address {
        options.push_str(&format!(" --unix-socket {}", path.display()));
    }
    let typed = format!("  rpcbench load {scheme}://{}", server.authority);
    format!(
        "{typed}/{options} --once\n\
         {typed}/{options}\n\
         {typed}/PATH{options} -X POST -d @body.json"
    )
}

/// What the server speaks instead of the expected protocol, and what to do. `None` if it may speak that.
fn explain(speaks: PeerProtocol, server: &ConnectionOptions) -> Option<String> {
    let protocol = server.protocol;
    let transport = protocol.spec().transport;
    let what = match speaks {
        PeerProtocol::Http2 if transport == Transport::Http2 => return None,
        PeerProtocol::Http1 if transport == Transport::Http1 => return None,
        PeerProtocol::Tls => format!("it speaks TLS; {}", with_tls(protocol)),
        PeerProtocol::Http1 | PeerProtocol::Closes | PeerProtocol::Unknown
            if transport == Transport::Http2 && hides_http2(server) =>
        {
            "it does not speak HTTP/2 on this connection: --alpn none does not offer it; leave that option out".to_owned()
        }
        PeerProtocol::Http2 if protocol == Protocol::Http => format!(
            "it speaks HTTP/2, not HTTP/1.1; give --http 2, or if it is a gRPC service: {} --list",
            command(server)
        ),
        PeerProtocol::Http1 if protocol == Protocol::Http2 => {
            "it speaks HTTP/1.1, not HTTP/2; leave --http 2 out".to_owned()
        }
        PeerProtocol::Http2 => {
            format!("it speaks HTTP/2, not {protocol}; try --protocol grpc or json-h2c")
        }
        PeerProtocol::Http1 if protocol == Protocol::Grpc => format!(
            "it speaks HTTP/1.1, not gRPC. Give its gRPC port, or call one of its URLs:\n\n{}",
            commands_for_url(server, false)
        ),
        PeerProtocol::Http1 => format!("it speaks HTTP/1.1, not {protocol}; try --protocol json"),
        PeerProtocol::Ssh => format!("it speaks SSH, not {protocol}; correct the port"),
        PeerProtocol::Closes if transport == Transport::Http2 => format!(
            "it closes the connection when spoken to in HTTP/2, as {} needs, and in {}; correct the port",
            option(protocol),
            if server.tls.is_none() { "TLS and HTTP/1.1" } else { "HTTP/1.1" }
        ),
        PeerProtocol::Unknown if transport == Transport::Http2 => format!(
            "it does not speak HTTP/2, as {} needs; correct the port or the option",
            option(protocol)
        ),
        PeerProtocol::Closes | PeerProtocol::Unknown => return None,
    };
    Some(what)
}

/// True if TLS is used without offering HTTP/2; most TLS servers speak it only if offered.
fn hides_http2(server: &ConnectionOptions) -> bool {
    server.tls.as_ref().is_some_and(|tls| !tls.offers("h2"))
}

/// How to switch calls to TLS.
fn with_tls(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Http | Protocol::Http2 => "write https:// in place of http://",
        Protocol::Grpc => "give --tls, or a URL with grpcs://",
        _ => "give --tls",
    }
}

/// The command that loads the services of a server.
fn command(server: &ConnectionOptions) -> String {
    let tls = if server.tls.is_some() { " --tls" } else { "" };
    match &server.address {
        ServerAddress::Unix(_) => format!("rpcbench load {}{tls}", server.address),
        ServerAddress::Tcp(_) => format!("rpcbench load {}{tls}", server.authority),
    }
}

/// The address of a server whose calls fail and what it speaks, if that can be detected.
pub(crate) fn explain_failed_calls(server: &ConnectionOptions) -> Option<String> {
    let speaks = detect_protocol(server, DETECT_TIMEOUT)?;
    Some(format!("{}: {speaks}", server.address))
}

/// Detects the protocol of a server whose calls fail by speaking HTTP/2, TLS, HTTP/1.1 and other forms of Thrift to it: in most
/// protocols, servers wait for the first call.
fn detect_protocol(server: &ConnectionOptions, within: Duration) -> Option<String> {
    // Many TLS servers speak HTTP/2 only if offered, and those without ALPN ignore the offer.
    let tls = server.tls.as_ref().map(|tls| tls.with_alpn(&["http/1.1", "h2"]));
    let in_http2 = ConnectionOptions { protocol: Protocol::Grpc, tls, ..server.clone() };
    let speaks = match greet(&in_http2, within) {
        Ok(Greeting::Complete) => PeerProtocol::Http2,
        Ok(Greeting::Other(said)) => PeerProtocol::find(&said, server, within),
        Ok(Greeting::Closed) => PeerProtocol::find(&[], server, within),
        Ok(Greeting::Silent) | Err(_) => PeerProtocol::Unknown,
    };
    match speaks {
        PeerProtocol::Closes | PeerProtocol::Unknown => other_thrift(server, within),
        speaks => explain(speaks, server).filter(|_| {
            // It may speak HTTP/1.1 as well.
            speaks != PeerProtocol::Http2
                || server.protocol.spec().transport != Transport::Http1
                || http1_answer(server, within).is_none()
        }),
    }
}

/// The form of Thrift in which the server answers, if it differs from `protocol`.
fn other_thrift(server: &ConnectionOptions, within: Duration) -> Option<String> {
    // An empty struct in Thrift.
    const NOTHING: &[u8] = &[0];
    let protocol = server.protocol;
    if !protocol.is_thrift() {
        return None;
    }
    // No service has this method. The server replies with an error, in a form that it speaks.
    let target = Target::new("rpcbench_probe");
    let mut others = Protocol::ALL.into_iter().filter(|form| form.is_thrift() && *form != protocol);
    let other = others.find(|form| answer(server, *form, (&target, NOTHING), within).is_some())?;
    Some(format!("it speaks {other}, not {protocol}; give --protocol {other}"))
}

/// The error message that a server returns in `protocol`; empty if the call succeeds. `None` without an answer.
fn answer(
    server: &ConnectionOptions,
    protocol: Protocol,
    (target, message): (&Target, &[u8]),
    within: Duration,
) -> Option<String> {
    let mut client = Client::new(ConnectionOptions { protocol, ..server.clone() }, within);
    match client.call(target, message, CallPosition::Any) {
        Ok(_) => Some(String::new()),
        Err(CallError::Status { message, .. }) => Some(message),
        Err(CallError::Transport(_) | CallError::Closed(_) | CallError::Timeout) => None,
    }
}

#[cfg(test)]
mod tests;
