//! The certificates of a run: an authority, and a certificate for all its servers.

use std::fs;
use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use jiff::ToSpan as _;
use jiff::civil::Date;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, KeyUsagePurpose, date_time_ymd,
};
use rpcbench_engine::{Cryptography, TlsClient, TlsSettings, TlsVersion, Trust};
use rpcbench_record::{Protocol, TlsMode};
use rustls_pki_types::CertificateDer;
use tempfile::TempDir;

use super::PlacementError;
use crate::calls::needed_alpn;
use crate::toolchain;

/// Longer than any run.
const VALID_DAYS: i32 = 90;

/// Files with the certificate and the key of servers, which exist until it is dropped.
#[derive(Debug)]
pub(super) struct Certificates {
    folder: TempDir,
    authority: CertificateDer<'static>,
    host: IpAddr,
}

impl Certificates {
    /// An authority and a certificate (ECDSA, P-256) for servers on `host`, in a new folder in `parent`.
    pub(super) fn make(parent: &Path, host: IpAddr) -> Result<Self, PlacementError> {
        let failed = |error: &dyn std::fmt::Display| {
            PlacementError(format!("the run's certificates can't be made: {error}"))
        };
        let issued = issue(host).map_err(|error| failed(&error))?;
        let folder = tempfile::Builder::new().prefix("tls-").tempdir_in(parent)?;
        let certificates = Self { folder, authority: issued.authority.der().clone(), host };
        let files = [
            ("ca.pem", issued.authority.pem().into_bytes()),
            ("cert.pem", issued.certificate.pem().into_bytes()),
            ("key.pem", issued.key.serialize_pem().into_bytes()),
        ];
        for (name, bytes) in files {
            fs::write(certificates.file(name), bytes)?;
        }
        open_to_containers(certificates.folder.path())?;
        Ok(certificates)
    }

    /// The folder, which servers in containers see under the same path.
    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Environment variables of a server with TLS.
    pub(super) fn environment(&self) -> [(String, String); 2] {
        let path = |name| self.file(name).to_string_lossy().into_owned();
        [("RPCBENCH_TLS_CERT", path("cert.pem")), ("RPCBENCH_TLS_KEY", path("key.pem"))]
            .map(|(name, value)| (name.to_owned(), value))
    }

    /// The TLS client for a server that has the certificate.
    pub(super) fn client(
        &self,
        protocol: Protocol,
        mode: TlsMode,
    ) -> Result<TlsClient, PlacementError> {
        let settings = TlsSettings {
            server_name: self.host.to_string(),
            trust: Trust::Authorities(vec![self.authority.clone()]),
            identity: None,
            version: TlsVersion::Any,
            cryptography: Cryptography::Aes128,
            alpn: needed_alpn(protocol),
            resume: mode == TlsMode::On,
            log_keys: false,
            verified_by: "the run's authority".to_owned(),
        };
        TlsClient::new(settings).map_err(|error| PlacementError(error.to_string()))
    }

    /// The file of the authority, for other clients.
    pub(super) fn authority_file(&self) -> PathBuf {
        self.file("ca.pem")
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

/// Containers run as other users than this one.
fn open_to_containers(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755))
}

struct Issued {
    authority: CertifiedIssuer<'static, KeyPair>,
    certificate: rcgen::Certificate,
    key: KeyPair,
}

fn issue(host: IpAddr) -> Result<Issued, rcgen::Error> {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params.distinguished_name.push(DnType::CommonName, "rpcbench authority of one run");
    let authority = CertifiedIssuer::self_signed(valid(params), KeyPair::generate()?)?;
    let mut params = CertificateParams::new(vec![host.to_string(), "localhost".to_owned()])?;
    params.distinguished_name.push(DnType::CommonName, "rpcbench server");
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let key = KeyPair::generate()?;
    let certificate = valid(params).signed_by(&key, &authority)?;
    Ok(Issued { authority, certificate, key })
}

/// Valid from yesterday on, for longer than any run.
fn valid(mut params: CertificateParams) -> CertificateParams {
    let today = toolchain::today();
    let midnight = |day: Date| {
        let number = |part: i8| part.unsigned_abs();
        date_time_ymd(day.year().into(), number(day.month()), number(day.day()))
    };
    params.not_before = midnight(today.saturating_sub(1.day()));
    params.not_after = midnight(today.saturating_add(VALID_DAYS.days()));
    params
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[test]
    fn certificates_are_files_that_others_can_read_and_end_with_the_run() {
        use std::os::unix::fs::PermissionsExt as _;
        let parent = tempfile::tempdir().unwrap();
        let made = Certificates::make(parent.path(), Ipv4Addr::LOCALHOST.into()).unwrap();
        let folder = made.folder().to_owned();
        assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o755);
        let environment = made.environment();
        let names: Vec<&str> = environment.iter().map(|(name, _)| &**name).collect();
        assert_eq!(names, ["RPCBENCH_TLS_CERT", "RPCBENCH_TLS_KEY"]);
        let begins = |(_, path): &(String, String)| {
            fs::read_to_string(path).unwrap().lines().next().unwrap_or_default().to_owned()
        };
        let begins: Vec<String> = environment.iter().map(begins).collect();
        assert_eq!(begins, ["-----BEGIN CERTIFICATE-----", "-----BEGIN PRIVATE KEY-----"]);
        assert!(made.authority_file().is_file());
        let client = |mode| made.client(Protocol::Grpc, mode).unwrap().mode();
        assert_eq!(client(TlsMode::On), TlsMode::On);
        assert_eq!(client(TlsMode::NoResumption), TlsMode::NoResumption);
        drop(made);
        assert!(!folder.exists());
    }
}
