//! The certificates of a run: an authority, and one certificate for all servers.

use std::fs;
use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use jiff::ToSpan as _;
use jiff::civil::Date;
use p12_keystore::{Certificate, KeyStore, KeyStoreEntry, PrivateKey, PrivateKeyChain};
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, KeyUsagePurpose, date_time_ymd,
};
use rpcbench_engine::{Cryptography, TlsClient, TlsSettings, Trust};
use rpcbench_record::{Protocol, TlsMode};
use rustls_pki_types::CertificateDer;
use tempfile::TempDir;

use super::PlacementError;
use crate::calls::needed_alpn;
use crate::toolchain;

/// Validity of certificates, days; longer than any run.
const VALID_DAYS: i32 = 90;

/// Password of the PKCS#12 file, defined by the contract.
const PASSWORD: &str = "rpcbench";

/// Rounds of key derivation. The password is public, so more rounds would only make servers start more slowly.
const ITERATIONS: u32 = 1000;

/// Files with the servers' certificate and key. Dropping it removes them.
#[derive(Debug)]
pub(super) struct Certificates {
    folder: TempDir,
    authority: CertificateDer<'static>,
    host: IpAddr,
}

impl Certificates {
    /// Creates an authority and a certificate (ECDSA, P-256) for servers on `host`, in a new folder in `parent`.
    pub(super) fn make(parent: &Path, host: IpAddr) -> Result<Self, PlacementError> {
        let failed = |error: &dyn std::fmt::Display| {
            PlacementError(format!("the run's certificates can't be made: {error}"))
        };
        let issued = issue(host).map_err(|error| failed(&error))?;
        let bundle = issued.bundle().map_err(|error| failed(&error))?;
        let folder = tempfile::Builder::new().prefix("tls-").tempdir_in(parent)?;
        let certificates = Self { folder, authority: issued.authority.der().clone(), host };
        let files = [
            ("ca.pem", issued.authority.pem().into_bytes()),
            ("cert.pem", issued.certificate.pem().into_bytes()),
            ("key.pem", issued.key.serialize_pem().into_bytes()),
            ("server.p12", bundle),
        ];
        for (name, bytes) in files {
            fs::write(certificates.file(name), bytes)?;
        }
        open_to_containers(certificates.folder.path())?;
        Ok(certificates)
    }

    /// The folder. Containers see it at the same path.
    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Environment variables of a server with TLS.
    pub(super) fn environment(&self) -> [(String, String); 3] {
        [
            ("RPCBENCH_TLS_CERT", "cert.pem"),
            ("RPCBENCH_TLS_KEY", "key.pem"),
            ("RPCBENCH_TLS_PKCS12", "server.p12"),
        ]
        .map(|(name, file)| (name.to_owned(), self.file(file).to_string_lossy().into_owned()))
    }

    /// The TLS client for a server with this certificate.
    pub(super) fn client(
        &self,
        protocol: Protocol,
        mode: TlsMode,
    ) -> Result<TlsClient, PlacementError> {
        let trust = Trust::Authorities(vec![self.authority.clone()]);
        let settings = TlsSettings {
            cryptography: Cryptography::Aes128,
            alpn: needed_alpn(protocol),
            resume: mode == TlsMode::On,
            ..TlsSettings::new(self.host.to_string(), trust, "the run's authority")
        };
        TlsClient::new(settings).map_err(|error| PlacementError(error.to_string()))
    }

    /// The authority's file, for other clients.
    pub(super) fn authority_file(&self) -> PathBuf {
        self.file("ca.pem")
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

/// Containers run as users other than this one.
fn open_to_containers(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755))
}

struct Issued {
    authority: CertifiedIssuer<'static, KeyPair>,
    certificate: rcgen::Certificate,
    key: KeyPair,
}

impl Issued {
    /// Certificate and key as PKCS#12. The authority is omitted, since JVMs would send it in every handshake.
    fn bundle(&self) -> p12_keystore::Result<Vec<u8>> {
        let key = PrivateKey::from_der(self.key.serialized_der())?;
        let certificate = Certificate::from_der(self.certificate.der())?;
        let chain = PrivateKeyChain::new("server", key, [certificate]);
        let mut store = KeyStore::new();
        store.add_entry("server", KeyStoreEntry::PrivateKeyChain(chain));
        store.writer(PASSWORD).encryption_iterations(ITERATIONS).mac_iterations(ITERATIONS).write()
    }
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

/// Sets the validity, from yesterday on.
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
    use std::process::Command;

    use rpcbench_testkit::skip;

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
        assert_eq!(names, ["RPCBENCH_TLS_CERT", "RPCBENCH_TLS_KEY", "RPCBENCH_TLS_PKCS12"]);
        let begins = |(_, path): &(String, String)| {
            fs::read_to_string(path).unwrap().lines().next().unwrap_or_default().to_owned()
        };
        let begins: Vec<String> = environment[..2].iter().map(begins).collect();
        assert_eq!(begins, ["-----BEGIN CERTIFICATE-----", "-----BEGIN PRIVATE KEY-----"]);
        assert!(made.authority_file().is_file());
        let client = |mode| made.client(Protocol::Grpc, mode).unwrap().mode();
        assert_eq!(client(TlsMode::On), TlsMode::On);
        assert_eq!(client(TlsMode::NoResumption), TlsMode::NoResumption);
        drop(made);
        assert!(!folder.exists());
    }

    #[test]
    fn openssl_reads_certificate_and_key_from_the_pkcs12_file() {
        let parent = tempfile::tempdir().unwrap();
        let made = Certificates::make(parent.path(), Ipv4Addr::LOCALHOST.into()).unwrap();
        let [cert, key, pkcs12] = made.environment().map(|(_, path)| path);
        let words = ["pkcs12", "-in", &pkcs12, "-passin", "pass:rpcbench", "-noenc"];
        let Ok(read) = Command::new("openssl").args(words).output() else {
            return skip("openssl is not installed");
        };
        let text = String::from_utf8(read.stdout).unwrap();
        let errors = String::from_utf8_lossy(&read.stderr);
        assert!(read.status.success(), "{errors}");
        assert_eq!(text.matches("-----BEGIN ").count(), 2, "{text}");
        for file in [cert, key] {
            let pem = fs::read_to_string(file).unwrap();
            assert!(text.contains(&pem), "{pem} is not in {text}");
        }
    }
}
