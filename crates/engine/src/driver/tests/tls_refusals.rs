//! Handshakes that fail, and certificates, on real sockets.

use std::io::{self, Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::thread;

use rcgen::{BasicConstraints, DnType, ExtendedKeyUsagePurpose, IsCa, SanType, date_time_ymd};
use rustls::server::WebPkiClientVerifier;
use rustls::{
    AlertDescription, CertificateError, InvalidMessage, OtherError, PeerIncompatible,
    RootCertStore, ServerConfig,
};

use super::tls::{Issued, driver, issue, issue_by, open, send_all, serve, server_config, settings};
use super::{receive, wait};
use crate::driver::Driver;
use crate::tls::{ClientIdentity, TlsError, TlsSettings, TlsVersion, Trust};

/// Handshakes with a server of this configuration, and returns why the handshake fails.
pub(super) fn refused(config: ServerConfig, settings: TlsSettings) -> String {
    let (address, server) = serve(config, |mut peer| peer.read(&mut [0; 1]).map(|_| ()));
    let mut driver = driver(settings);
    let mut result = open(&mut driver, address);
    // With TLS 1.3, the server refuses a client's certificate after the handshake.
    if result.is_ok() {
        result = loop {
            match driver.receive(0) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => wait(&mut driver),
                Err(error) => break Err(error),
                Ok(_) => break Ok(()),
            };
        };
    }
    driver.close(0);
    // The peer's view does not matter.
    let _ = server.join().unwrap();
    result.unwrap_err().to_string()
}

#[test]
fn unusable_certificates_are_named_with_the_reason() {
    let expired = issue(|it| it.not_after = date_time_ymd(2020, 1, 31));
    assert_eq!(
        refused(server_config(&expired), settings(&expired)),
        "TLS: the server's certificate expired on 2020-01-31"
    );
    let early = issue(|it| it.not_before = date_time_ymd(2999, 1, 31));
    assert_eq!(
        refused(server_config(&early), settings(&early)),
        "TLS: the server's certificate is not valid before 2999-01-31"
    );
    let issued = issue(|_| {});
    let other = TlsSettings { server_name: "example.com".to_owned(), ..settings(&issued) };
    assert_eq!(
        refused(server_config(&issued), other),
        "TLS: the server's certificate is not for 'example.com', but for localhost"
    );
    let stranger = issue_by("Another Authority", |_| {});
    assert_eq!(
        refused(server_config(&issued), settings(&stranger)),
        "TLS: the server's certificate has an issuer that is not trusted; name its authority with --cacert, or the certificate itself if it is self-signed without CA:TRUE"
    );
}

/// rustls has a name for each error; most have no sentence of ours.
#[test]
fn errors_use_words_not_library_names() {
    let certificate = |error: CertificateError| rustls::Error::from(error);
    let cannot = "the server's certificate can't be verified";
    let expected = [
        (
            certificate(CertificateError::UnhandledCriticalExtension),
            format!("{cannot}: unhandled critical extension"),
        ),
        (
            certificate(CertificateError::Other(OtherError(Arc::new(io::Error::other("odd"))))),
            format!("{cannot}: odd"),
        ),
        (
            PeerIncompatible::ExtendedMasterSecretExtensionRequired.into(),
            "nothing in common with the server: extended master secret extension required"
                .to_owned(),
        ),
        (
            rustls::PeerMisbehaved::SelectedUnofferedPsk.into(),
            "the server breaks the protocol: selected unoffered psk".to_owned(),
        ),
        (
            InvalidMessage::MissingData("ServerName").into(),
            "the server breaks the protocol: missing data: server name".to_owned(),
        ),
    ];
    for (error, expected) in expected {
        assert_eq!(TlsError::from(error).to_string(), format!("TLS: {expected}"));
    }
}

/// Only ECDSA keys can be made here, so the error for a pair with another kind of key is rustls's, made directly.
#[test]
fn authority_with_a_trusted_name_but_another_key_is_refused() {
    let (issued, namesake) = (issue(|_| {}), issue(|_| {}));
    let other_kind = CertificateError::UnsupportedSignatureAlgorithmForPublicKeyContext {
        signature_algorithm_id: vec![1],
        public_key_algorithm_id: vec![2],
    };
    for said in [
        refused(server_config(&issued), settings(&namesake)),
        TlsError::from(rustls::Error::from(other_kind)).to_string(),
    ] {
        assert_eq!(
            said,
            "TLS: the server's certificate has an issuer that is not trusted: a trusted authority of the same name has another key; name its authority with --cacert, or the certificate itself if it is self-signed without CA:TRUE. RSA keys of less than 2048 bits are not accepted, either"
        );
    }
}

#[test]
fn certificate_for_other_names_or_purposes_is_named_with_the_reason() {
    let elsewhere =
        |issued: &Issued| TlsSettings { server_name: "example.com".to_owned(), ..settings(issued) };
    let address =
        issue(|it| it.subject_alt_names = vec![SanType::IpAddress("::1".parse().unwrap())]);
    assert_eq!(
        refused(server_config(&address), elsewhere(&address)),
        "TLS: the server's certificate is not for 'example.com', but for ::1"
    );
    let nameless = issue(|it| {
        it.subject_alt_names = Vec::new();
        it.distinguished_name.push(DnType::CommonName, "example.com");
    });
    assert_eq!(
        refused(server_config(&nameless), elsewhere(&nameless)),
        "TLS: the server's certificate is not for 'example.com', as it has no subject alternative name (its CN does not count)"
    );
    let client = issue(|it| it.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth]);
    assert_eq!(
        refused(server_config(&client), settings(&client)),
        "TLS: the server's certificate is not for servers, but for client authentication"
    );
    let authority = issue(|it| it.is_ca = IsCa::Ca(BasicConstraints::Unconstrained));
    assert_eq!(
        refused(server_config(&authority), settings(&authority)),
        "TLS: the server's certificate is marked as an authority's (CA:TRUE), as self-signed ones often are, which is not accepted of a server, even with --cacert; give the server one without CA:TRUE, or don't verify it (-k)"
    );
}

#[test]
fn unverified_server_is_accepted_whatever_its_certificate() {
    let issued = issue(|it| it.not_after = date_time_ymd(2020, 1, 31));
    let (address, server) = serve(server_config(&issued), |mut peer| {
        peer.write_all(b"hello").unwrap();
        peer
    });
    let trust = Trust::Anyone;
    let mut driver =
        driver(TlsSettings { trust, server_name: "example.com".to_owned(), ..settings(&issued) });
    open(&mut driver, address).unwrap();
    assert_eq!(receive(&mut driver, 0, 5), b"hello");
    server.join().unwrap();
}

/// A server that requires client certificates from this authority.
fn mutual(issued: &Issued) -> ServerConfig {
    let mut roots = RootCertStore::empty();
    roots.add(issued.authority.clone()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier =
        WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
    ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_client_cert_verifier(verifier.build().unwrap())
        .with_single_cert(issued.chain.clone(), issued.key.clone_key())
        .unwrap()
}

fn identity(issued: &Issued) -> Option<ClientIdentity> {
    Some(ClientIdentity { chain: issued.chain.clone(), key: issued.key.clone_key() })
}

#[test]
fn missing_and_wrong_client_certificates_have_their_own_errors() {
    let issued = issue(|_| {});
    assert_eq!(
        refused(mutual(&issued), settings(&issued)),
        "TLS: the server requires a client certificate; give --cert and --key"
    );
    let wrong = TlsSettings {
        identity: identity(&issue_by("Another Authority", |_| {})),
        ..settings(&issued)
    };
    let said = refused(mutual(&issued), wrong);
    assert!(said.starts_with("TLS: the server does not accept the client certificate: "), "{said}");
    let expired = issue(|it| it.not_after = date_time_ymd(2020, 1, 31));
    let trusting = Issued { authority: expired.authority.clone(), ..issued.copy() };
    let late = TlsSettings { identity: identity(&expired), ..settings(&issued) };
    assert_eq!(
        refused(mutual(&trusting), late),
        "TLS: the server does not accept the client certificate: alert CertificateExpired"
    );
    let (address, server) = serve(mutual(&issued), |mut peer| peer.read_exact(&mut [0; 2]));
    let mut driver = driver(TlsSettings { identity: identity(&issued), ..settings(&issued) });
    open(&mut driver, address).unwrap();
    send_all(&mut driver, b"ok");
    server.join().unwrap().unwrap();
}

#[test]
fn peers_without_a_common_version_or_protocol_are_named() {
    let issued = issue(|_| {});
    let only_13 =
        ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_protocol_versions(&[&rustls::version::TLS13])
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(issued.chain.clone(), issued.key.clone_key())
            .unwrap();
    assert_eq!(
        refused(only_13, TlsSettings { version: TlsVersion::V1_2, ..settings(&issued) }),
        "TLS: the server speaks none of the offered versions of TLS"
    );
    let h2 = || TlsSettings { alpn: vec!["h2".to_owned()], ..settings(&issued) };
    let mut http1 = server_config(&issued);
    http1.alpn_protocols = vec![b"http/1.1".to_vec()];
    let none = "TLS: the server speaks none of the offered protocols (ALPN): h2 for gRPC and HTTP/2 (--http 2), http/1.1 for \
                others, unless --alpn says otherwise";
    assert_eq!(refused(http1, h2()), none);
    assert_eq!(
        refused(server_config(&issued), h2()),
        "TLS: the server does not choose a protocol (ALPN), so it may not speak HTTP/2; --alpn none goes on without"
    );
}

#[test]
fn plain_server_and_silent_end_are_named() {
    for (answer, expected) in [
        (
            "HTTP/1.1 400 Bad Request\r\n\r\n",
            "TLS: the server does not speak TLS on this port; use http:// instead of https://, grpc:// instead of grpcs://, or omit --tls",
        ),
        ("", "TLS: the server closed the connection during the handshake"),
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = thread::spawn(move || {
            let (mut socket, _) = listener.accept().unwrap();
            let _ = socket.read(&mut [0; 1024]).unwrap();
            socket.write_all(answer.as_bytes()).unwrap();
        });
        let mut driver = driver(settings(&issue(|_| {})));
        assert_eq!(open(&mut driver, address).unwrap_err().to_string(), expected);
        server.join().unwrap();
    }
}

#[test]
fn only_answers_of_tls_show_that_a_server_speaks_it() {
    let shown = |error: TlsError| TlsError::shows_tls(&error.into());
    for answer in [
        rustls::Error::AlertReceived(AlertDescription::HandshakeFailure),
        PeerIncompatible::ServerDoesNotSupportTls12Or13.into(),
        CertificateError::Expired.into(),
    ] {
        assert!(shown(answer.clone().into()), "{answer}");
    }
    for other in [InvalidMessage::InvalidContentType, InvalidMessage::MessageTooShort] {
        assert!(!shown(rustls::Error::from(other).into()), "{other:?}");
    }
    assert!(!shown(TlsError::Closed) && !shown(TlsError::Unfinished));
    assert!(!TlsError::shows_tls(&io::ErrorKind::ConnectionRefused.into()));
}
