//! Cases of TLS: what `contract/README.md` demands of sessions, versions and ALPN is what fails.

use std::cell::Cell;

use rpcbench_contract::Method;
use rpcbench_contract::cases::{CallError, Caller, CheckReport, TlsVersion, check_tls};
use rpcbench_record::{Protocol, Tls, TlsMode};

use super::reason;
use super::servers::right;

/// A server's TLS.
#[derive(Clone, Copy)]
struct Terms {
    alpn: Option<&'static str>,
    resumes: bool,
    speaks_1_2: bool,
}

const AS_DEMANDED: Terms = Terms { alpn: Some("h2"), resumes: true, speaks_1_2: true };

/// A client of it, which has connected a number of times.
struct Dialled(Terms, TlsVersion, u64);

impl Caller for Dialled {
    fn call(&mut self, method: Method, body: &[u8]) -> Result<Vec<u8>, CallError> {
        let Self(terms, version, connections) = self;
        if *version == TlsVersion::V1_2 && !terms.speaks_1_2 {
            return Err(CallError::Transport("no common version".to_owned()));
        }
        *connections += 1;
        right(method, body)
    }

    fn tls(&self) -> Option<Tls> {
        let Self(terms, _, connections) = self;
        let resumed = terms.resumes && *connections > 1;
        Some(Tls {
            version: "TLS 1.3".to_owned(),
            suite: "TLS_AES_128_GCM_SHA256".to_owned(),
            group: None,
            alpn: terms.alpn.map(str::to_owned),
            verified_by: "a test's authority".to_owned(),
            full_handshakes: u64::from(!resumed),
            resumed_handshakes: resumed.into(),
        })
    }
}

/// The report, and how many clients there were.
fn checked(terms: Terms, mode: TlsMode) -> (CheckReport, u32) {
    let clients = Cell::new(0);
    let dial = |version| {
        clients.set(clients.get() + 1);
        Box::new(Dialled(terms, version, 0)) as Box<dyn Caller + '_>
    };
    (check_tls(&dial, Protocol::Grpc, mode, 7), clients.get())
}

#[test]
fn server_that_does_what_is_demanded_passes() {
    let (report, clients) = checked(AS_DEMANDED, TlsMode::On);
    assert_eq!((report.passed, report.failed, clients), (4, Vec::new(), 4));
}

/// `contract/README.md`: a server that can't resume has no `tls` in its manifest.
#[test]
fn server_without_resumption_fails() {
    let forgetful = Terms { resumes: false, ..AS_DEMANDED };
    let (report, _) = checked(forgetful, TlsMode::On);
    assert_eq!((report.passed, report.failed.len()), (3, 1));
    insta::assert_snapshot!(reason(&report, "tls/resumption"), @"expected a resumed session, got a full handshake");
    // A client that never resumes can't tell.
    let (report, clients) = checked(forgetful, TlsMode::NoResumption);
    assert_eq!((report.passed, report.failed, clients), (3, Vec::new(), 3));
}

#[test]
fn missing_version_and_other_alpn_fail() {
    let (report, _) = checked(Terms { speaks_1_2: false, ..AS_DEMANDED }, TlsMode::On);
    insta::assert_snapshot!(reason(&report, "tls/version-1.2"), @"transport: no common version");
    let (report, _) = checked(Terms { alpn: None, ..AS_DEMANDED }, TlsMode::On);
    insta::assert_snapshot!(reason(&report, "tls/alpn"), @"expected h2, got nothing");
}
