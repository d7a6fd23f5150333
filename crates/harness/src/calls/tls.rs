//! TLS to a server that the user runs.

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::Args;
use rpcbench_engine::{ClientIdentity, TlsClient, TlsSettings, TlsVersion, Trust};
use rpcbench_record::{Protocol, Transport, regular};
use rustls_pki_types::pem::{Error as PemError, PemObject};
use rustls_pki_types::{CertificateDer, PrivateKeyDer, ServerName};

use super::LoadAddress;
use crate::config::ConfigError;

/// Maximum size of a file of certificates or keys, bytes. The system's authorities take about 220 kB.
const MAX_PEM: u64 = 4 << 20;

/// How to speak TLS, as typed.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "TLS")]
pub struct TlsSpec {
    /// Speak TLS with HOST:PORT or unix:PATH; https:// and grpcs:// do without this option
    #[arg(long)]
    pub tls: bool,
    /// Trust the authorities in this file (PEM) instead of the system's
    #[arg(long, value_name = "FILE")]
    pub cacert: Option<PathBuf>,
    /// Certificate for servers that ask clients for one (PEM), with its chain, and perhaps its key
    #[arg(long, value_name = "FILE")]
    pub cert: Option<PathBuf>,
    /// Key of --cert (PEM) [default: the one in the file of --cert]
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// Accept any certificate of the server
    #[arg(short = 'k', long)]
    pub insecure_skip_verify: bool,
    /// Name to ask the server for, and to verify [default: the host of the address or of --authority]
    #[arg(long, value_name = "NAME", value_parser = server_name)]
    pub servername: Option<String>,
    /// Protocols to offer by ALPN, such as h2 or h2,http/1.1; none offers none [default: what calls need]
    #[arg(long, value_name = "PROTOCOLS")]
    pub alpn: Option<Alpn>,
    /// Version of TLS to offer, 1.2 or 1.3 [default: both]
    #[arg(long, value_name = "VERSION", value_parser = version)]
    pub tls_version: Option<TlsVersion>,
    /// Whether new connections resume sessions of earlier ones, on or off [default: on]
    #[arg(long, value_name = "ON|OFF", value_parser = switch)]
    pub tls_resume: Option<bool>,
    /// Refused: it has two meanings elsewhere.
    #[arg(long, hide = true)]
    pub insecure: bool,
}

fn server_name(text: &str) -> Result<String, &'static str> {
    let name = ServerName::try_from(text);
    name.map(|_| text.to_owned()).map_err(|_| "expected a DNS name or an IP address")
}

/// Protocols to offer by ALPN, in order of preference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alpn(Vec<String>);

impl FromStr for Alpn {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "none" {
            return Ok(Self(Vec::new()));
        }
        let names: Vec<String> = text.split(',').map(str::to_owned).collect();
        let fits = names.iter().all(|name| (1..=255).contains(&name.len()));
        fits.then_some(Self(names)).ok_or("expected names such as h2,http/1.1, or none")
    }
}

fn version(text: &str) -> Result<TlsVersion, &'static str> {
    match text {
        "1.2" => Ok(TlsVersion::V1_2),
        "1.3" => Ok(TlsVersion::V1_3),
        _ => Err("expected 1.2 or 1.3; earlier versions are not supported"),
    }
}

fn switch(text: &str) -> Result<bool, &'static str> {
    match text {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err("expected on or off"),
    }
}

impl TlsSpec {
    /// True if calls to `address` go over TLS.
    pub fn is_on(&self, address: &LoadAddress) -> bool {
        self.tls || matches!(address, LoadAddress::Url(url) if url.tls)
    }

    /// The TLS client for `address`, with calls to the host `authority`. `None` without TLS. `key_log`: the file of
    /// `SSLKEYLOGFILE`.
    ///
    /// # Errors
    /// If TLS options are given without TLS, a file has the wrong content or can't be written, or no authority is trusted.
    pub fn client(
        &self,
        address: &LoadAddress,
        authority: &str,
        protocol: Protocol,
        key_log: Option<&Path>,
    ) -> Result<Option<TlsClient>, ConfigError> {
        if self.insecure {
            let problem = "elsewhere it means TLS without verification, or no TLS; give --insecure-skip-verify (-k) for the \
                           first, and neither --tls nor https:// for the second";
            return Err(ConfigError::value("--insecure", problem));
        }
        if !self.is_on(address) {
            let problem = "the connection has no TLS; give --tls, https:// or grpcs://";
            let option = self.given().into_iter().next();
            return option.map_or(Ok(None), |option| Err(ConfigError::value(option, problem)));
        }
        if let (true, LoadAddress::Url(url)) = (self.tls, address)
            && !url.tls
        {
            let scheme = if url.grpc { "grpc" } else { "http" };
            let remedy = format!("{scheme}:// is without TLS; write {scheme}s://");
            return Err(ConfigError::contradiction("--tls".to_owned(), url.to_string(), &remedy));
        }
        key_log.map_or(Ok(()), check_key_log)?;
        let (trust, verified_by) = self.trust()?;
        let server_name = self.servername.clone().unwrap_or_else(|| host(authority));
        let client = TlsClient::new(TlsSettings {
            identity: self.identity()?,
            version: self.tls_version.unwrap_or_default(),
            alpn: self.offered(protocol)?,
            resume: self.tls_resume.unwrap_or(true),
            log_keys: key_log.is_some(),
            ..TlsSettings::new(server_name, trust, verified_by)
        });
        client.map(Some).map_err(|error| ConfigError::value("TLS", error))
    }

    /// The protocols to offer by ALPN.
    fn offered(&self, protocol: Protocol) -> Result<Vec<String>, ConfigError> {
        let needed = needed_alpn(protocol);
        let Some(Alpn(names)) = &self.alpn else { return Ok(needed) };
        // With no ALPN at all, a server may still speak HTTP/2.
        let lacks_h2 = !names.is_empty() && !names.iter().any(|name| name == "h2");
        if lacks_h2 && protocol.spec().transport == Transport::Http2 {
            let given = format!("--alpn {}", names.join(","));
            let problem = "calls go over HTTP/2, which is h2; add it, or leave this option out";
            return Err(ConfigError::value(given, problem));
        }
        Ok(names.clone())
    }

    /// The given options that need TLS.
    fn given(&self) -> Vec<&'static str> {
        let all = [
            (self.cacert.is_some(), "--cacert"),
            (self.cert.is_some(), "--cert"),
            (self.key.is_some(), "--key"),
            (self.insecure_skip_verify, "--insecure-skip-verify"),
            (self.servername.is_some(), "--servername"),
            (self.alpn.is_some(), "--alpn"),
            (self.tls_version.is_some(), "--tls-version"),
            (self.tls_resume.is_some(), "--tls-resume"),
        ];
        all.into_iter().filter(|(given, _)| *given).map(|(_, name)| name).collect()
    }

    /// The trusted authorities, and a description of them.
    fn trust(&self) -> Result<(Trust, String), ConfigError> {
        match (&self.cacert, self.insecure_skip_verify) {
            (Some(file), true) => {
                let remedy = "either servers are verified or they are not; leave one of them out";
                let file = format!("--cacert {}", file.display());
                Err(ConfigError::contradiction(file, "--insecure-skip-verify".to_owned(), remedy))
            }
            (None, true) => Ok((Trust::Anyone, "nothing".to_owned())),
            (Some(file), false) => {
                let authorities = certificates("--cacert", file)?;
                Ok((Trust::Authorities(authorities), file.display().to_string()))
            }
            (None, false) => {
                let found = rustls_native_certs::load_native_certs();
                if found.certs.is_empty() {
                    let problem = "this machine has no trusted authorities; install ca-certificates, or give --cacert";
                    return Err(ConfigError::value("TLS", problem));
                }
                Ok((Trust::Authorities(found.certs), "the system's authorities".to_owned()))
            }
        }
    }

    fn identity(&self) -> Result<Option<ClientIdentity>, ConfigError> {
        let Some(cert) = &self.cert else {
            let problem = "a key needs its certificate; give --cert, too";
            let stray = self.key.as_ref().map(|_| ConfigError::value("--key", problem));
            return stray.map_or(Ok(None), Err);
        };
        let chain = certificates("--cert", cert)?;
        let key = match &self.key {
            Some(file) => key("--key", file)?,
            None => key("--cert", cert)?,
        };
        Ok(Some(ClientIdentity { chain, key }))
    }
}

/// The ALPN protocol that the server should choose.
pub(crate) fn needed_alpn(protocol: Protocol) -> Vec<String> {
    match protocol.spec().transport {
        Transport::Http2 => vec!["h2".to_owned()],
        Transport::Http1 => vec!["http/1.1".to_owned()],
        Transport::ThriftFramed | Transport::ThriftBuffered | Transport::Raw => Vec::new(),
    }
}

/// The host of an authority, without port or brackets.
pub(crate) fn host(authority: &str) -> String {
    let port = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let host = match authority.rsplit_once(':') {
        Some((host, after)) if port(after) => host,
        _ => authority,
    };
    host.trim_start_matches('[').trim_end_matches(']').to_owned()
}

/// Fails if the key log can't be written: rustls would ignore that.
fn check_key_log(file: &Path) -> Result<(), ConfigError> {
    let opened = OpenOptions::new().append(true).create(true).open(file);
    opened.map(drop).map_err(|error| {
        let problem = format!("can't be written: {error}; correct it, or unset this variable");
        ConfigError::value(format!("SSLKEYLOGFILE {}", file.display()), problem)
    })
}

/// The bytes of a file, and its name in errors.
fn read(option: &str, file: &Path) -> Result<(Vec<u8>, String), ConfigError> {
    let given = format!("{option} {}", file.display());
    match regular::read_bytes(file, MAX_PEM) {
        Ok(bytes) => Ok((bytes, given)),
        Err(error) => Err(ConfigError::value(given, format!("can't be read: {error}"))),
    }
}

fn certificates(option: &str, file: &Path) -> Result<Vec<CertificateDer<'static>>, ConfigError> {
    let (bytes, given) = read(option, file)?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&bytes).collect();
    match found {
        Ok(found) if found.is_empty() => {
            let problem =
                "no certificate in it; expected PEM, with lines '-----BEGIN CERTIFICATE-----'";
            Err(ConfigError::value(given, problem))
        }
        Ok(found) => Ok(found),
        Err(error) => Err(ConfigError::value(given, format!("a certificate is broken: {error}"))),
    }
}

fn key(option: &str, file: &Path) -> Result<PrivateKeyDer<'static>, ConfigError> {
    let (bytes, given) = read(option, file)?;
    PrivateKeyDer::from_pem_slice(&bytes).map_err(|error| {
        // PKCS #8, which the library does not recognize as a key, or a header that the library reads as base64.
        let encrypted = String::from_utf8_lossy(&bytes).contains("ENCRYPTED");
        let problem = match error {
            PemError::NoItemsFound | PemError::Base64Decode(_) if encrypted => format!(
                "the key is encrypted, which is not supported; 'openssl pkey -in {} -out key.pem' decrypts it",
                file.display()
            ),
            PemError::NoItemsFound if option == "--cert" => {
                "no key in it; give its file as --key".to_owned()
            }
            PemError::NoItemsFound => {
                "no key in it; expected PEM, with a line '-----BEGIN PRIVATE KEY-----'".to_owned()
            }
            other => format!("the key is broken: {other}"),
        };
        ConfigError::value(given, problem)
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn refusal(spec: &TlsSpec, address: &str) -> String {
        let address = address.parse().unwrap();
        spec.client(&address, "h:1", Protocol::Http, None).unwrap_err().to_string()
    }

    #[test]
    fn host_is_the_authority_without_port_and_brackets() {
        for (authority, expected) in
            [("h:1", "h"), ("h", "h"), ("[::1]:443", "::1"), ("10.0.0.1:80", "10.0.0.1")]
        {
            assert_eq!(host(authority), expected);
        }
    }

    #[test]
    fn options_without_tls_are_refused() {
        let spec = TlsSpec { insecure_skip_verify: true, ..TlsSpec::default() };
        insta::assert_snapshot!(refusal(&spec, "http://h/"), @"--insecure-skip-verify: the connection has no TLS; give --tls, https:// or grpcs://");
        let spec = TlsSpec { insecure: true, ..TlsSpec::default() };
        insta::assert_snapshot!(refusal(&spec, "https://h/"), @"--insecure: elsewhere it means TLS without verification, or no TLS; give --insecure-skip-verify (-k) for the first, and neither --tls nor https:// for the second");
        let spec = TlsSpec { tls: true, ..TlsSpec::default() };
        insta::assert_snapshot!(refusal(&spec, "http://h/"), @"--tls contradicts http://h/: http:// is without TLS; write https://");
    }

    #[test]
    fn unusable_files_are_refused_with_the_remedy() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, content: &str| {
            let path = folder.path().join(name);
            fs::write(&path, content).unwrap();
            path
        };
        let refused = |spec: TlsSpec| {
            let spec = TlsSpec { insecure_skip_verify: spec.cacert.is_none(), ..spec };
            refusal(&spec, "https://h/").replace(&*folder.path().to_string_lossy(), "DIR")
        };
        let empty = file("empty.pem", "");
        insta::assert_snapshot!(refused(TlsSpec { cacert: Some(empty.clone()), ..TlsSpec::default() }), @"--cacert DIR/empty.pem: no certificate in it; expected PEM, with lines '-----BEGIN CERTIFICATE-----'");
        insta::assert_snapshot!(refused(TlsSpec { key: Some(empty.clone()), ..TlsSpec::default() }), @"--key: a key needs its certificate; give --cert, too");
        let identity = rcgen::generate_simple_self_signed(["h".to_owned()]).unwrap();
        let cert = Some(file("cert.pem", &identity.cert.pem()));
        let with_key = |key| TlsSpec { cert: cert.clone(), key, ..TlsSpec::default() };
        insta::assert_snapshot!(refused(with_key(None)), @"--cert DIR/cert.pem: no key in it; give its file as --key");
        insta::assert_snapshot!(refused(with_key(Some(empty))), @"--key DIR/empty.pem: no key in it; expected PEM, with a line '-----BEGIN PRIVATE KEY-----'");
        let locked = file(
            "locked.pem",
            "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n",
        );
        let header = "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n";
        let traditional =
            format!("-----BEGIN EC PRIVATE KEY-----\n{header}AAAA\n-----END EC PRIVATE KEY-----\n");
        let older = refused(with_key(Some(file("older.pem", &traditional))));
        assert_eq!(older.replace("older", "locked"), refused(with_key(Some(locked.clone()))));
        insta::assert_snapshot!(refused(with_key(Some(locked))), @"--key DIR/locked.pem: the key is encrypted, which is not supported; 'openssl pkey -in DIR/locked.pem -out key.pem' decrypts it");
        let other = rcgen::generate_simple_self_signed(["h".to_owned()]).unwrap();
        let wrong = file("wrong.pem", &other.signing_key.serialize_pem());
        insta::assert_snapshot!(refused(with_key(Some(wrong))), @"TLS: client certificate and key: the key is not that of the certificate");
        let right = file("right.pem", &identity.signing_key.serialize_pem());
        let spec = TlsSpec { insecure_skip_verify: true, ..with_key(Some(right)) };
        let address = "https://h/".parse().unwrap();
        assert!(spec.client(&address, "h", Protocol::Http, None).unwrap().is_some());
    }
}
