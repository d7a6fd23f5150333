//! Cases for servers with TLS: versions, ALPN, resumption.

use rpcbench_record::{Protocol, Tls, TlsMode, Transport};

use super::{Caller, CheckReport, TEXT};
use crate::corpus::Corpus;
use crate::profile::Profile;

/// A version of TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TlsVersion {
    /// TLS 1.2.
    V1_2,
    /// TLS 1.3.
    V1_3,
}

/// Makes clients that offer one version of TLS. Connections of one client share session tickets.
pub type TlsDialer<'a> = dyn Fn(TlsVersion) -> Box<dyn Caller + 'a> + 'a;

/// One thing that a server with TLS must do.
#[derive(Clone, Copy)]
pub struct TlsCase {
    /// Unique name: `tls/alpn`.
    pub name: &'static str,
    /// What a passing server does, in one line.
    pub verifies: &'static str,
    /// True if the case needs a client that resumes sessions.
    needs_resumption: bool,
    run: fn(&mut Handshakes<'_>) -> Result<(), String>,
}

/// The cases, in the order in which they run.
pub const TLS_CASES: &[TlsCase] = &[
    TlsCase {
        name: "tls/version-1.2",
        verifies: "a client that offers TLS 1.2 only gets its reply",
        needs_resumption: false,
        run: |server| server.agree(TlsVersion::V1_2).map(drop),
    },
    TlsCase {
        name: "tls/version-1.3",
        verifies: "a client that offers TLS 1.3 only gets its reply",
        needs_resumption: false,
        run: |server| server.agree(TlsVersion::V1_3).map(drop),
    },
    TlsCase {
        name: "tls/alpn",
        verifies: "ALPN chooses `h2` over HTTP/2, over HTTP/1.1 `http/1.1` or nothing, elsewhere nothing",
        needs_resumption: false,
        run: alpn,
    },
    TlsCase {
        name: "tls/resumption",
        verifies: "a second connection resumes the session of the first",
        needs_resumption: true,
        run: resumption,
    },
];

/// Runs the TLS cases that a client of this mode can try.
pub fn check_tls<'a>(
    dial: &'a TlsDialer<'a>,
    protocol: Protocol,
    mode: TlsMode,
    seed: u64,
) -> CheckReport {
    let mut server = Handshakes { dial, protocol, seed };
    let mut report = CheckReport::default();
    for case in TLS_CASES.iter().filter(|case| mode == TlsMode::On || !case.needs_resumption) {
        report.add(case.name, (case.run)(&mut server));
    }
    report
}

struct Handshakes<'a> {
    dial: &'a TlsDialer<'a>,
    protocol: Protocol,
    seed: u64,
}

impl Handshakes<'_> {
    /// What a connection that offers this version negotiates, once it has carried a call.
    fn agree(&self, version: TlsVersion) -> Result<Tls, String> {
        let mut caller = (self.dial)(version);
        self.connect(&mut *caller)
    }

    /// The same for the next connection of a client.
    fn connect(&self, caller: &mut dyn Caller) -> Result<Tls, String> {
        let corpus = Corpus::generate(&TEXT, self.seed, Profile::of(self.protocol).encoding);
        caller.disconnect();
        let reply = caller.call(corpus.method(), corpus.request(0));
        let reply = reply.map_err(|error| error.to_string())?;
        corpus.verify(0, corpus.request(0), &reply).map_err(|mismatch| mismatch.to_string())?;
        caller.tls().ok_or_else(|| "the connection has no TLS".to_owned())
    }
}

fn alpn(server: &mut Handshakes<'_>) -> Result<(), String> {
    let chosen = server.agree(TlsVersion::V1_3)?.alpn;
    let right: &[Option<&str>] = match server.protocol.spec().transport {
        Transport::Http2 => &[Some("h2")],
        Transport::Http1 => &[Some("http/1.1"), None],
        Transport::ThriftFramed | Transport::ThriftBuffered | Transport::Raw => &[None],
    };
    match right.contains(&chosen.as_deref()) {
        true => Ok(()),
        false => {
            let name = |of: Option<&str>| of.unwrap_or("nothing").to_owned();
            let expected: Vec<String> = right.iter().copied().map(name).collect();
            Err(format!("expected {}, got {}", expected.join(" or "), name(chosen.as_deref())))
        }
    }
}

fn resumption(server: &mut Handshakes<'_>) -> Result<(), String> {
    let mut client = (server.dial)(TlsVersion::V1_3);
    server.connect(&mut *client)?;
    match server.connect(&mut *client)?.resumed_handshakes {
        0 => Err("expected a resumed session, got a full handshake".to_owned()),
        _ => Ok(()),
    }
}
