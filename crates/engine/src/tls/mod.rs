//! TLS towards the server: what to offer, whom to trust, sessions, and readable errors.

mod problem;
mod records;
mod session;
#[cfg(test)]
mod tests;
mod tickets;
mod traffic;
mod trust;

pub use problem::TlsError;
pub(crate) use session::Session;

use std::io;
use std::sync::Arc;

use rpcbench_record::TlsMode;
use rustls::client::Resumption;
use rustls::client::danger::ServerCertVerifier;
use rustls::crypto::CryptoProvider;
use rustls::crypto::ring::{cipher_suite, default_provider, kx_group};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, RootCertStore, SupportedProtocolVersion};

use self::tickets::Tickets;
use self::trust::AnyCertificate;

/// TLS versions to offer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TlsVersion {
    /// 1.2 and 1.3.
    #[default]
    Any,
    /// 1.2 only.
    V1_2,
    /// 1.3 only.
    V1_3,
}

/// Cipher suites and key exchange groups to offer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cryptography {
    /// Everything that the library offers.
    #[default]
    Any,
    /// AES-128-GCM and X25519, so that all servers do the same work. P-256 is offered after X25519: TLS 1.2 needs it for
    /// certificates with such a key.
    Aes128,
}

/// How server certificates are verified.
#[derive(Debug)]
pub enum Trust {
    /// By these authorities.
    Authorities(Vec<CertificateDer<'static>>),
    /// Any certificate is accepted.
    Anyone,
}

/// The client's certificate chain and its key.
#[derive(Debug)]
pub struct ClientIdentity {
    /// The certificate, then those of its issuers.
    pub chain: Vec<CertificateDer<'static>>,
    /// Key of the first certificate.
    pub key: PrivateKeyDer<'static>,
}

/// How to speak TLS with a server.
#[derive(Debug)]
pub struct TlsSettings {
    /// Name to request and to verify; a DNS name or an IP address.
    pub server_name: String,
    /// Which certificates to trust.
    pub trust: Trust,
    /// For servers that ask for a client certificate.
    pub identity: Option<ClientIdentity>,
    /// Versions to offer.
    pub version: TlsVersion,
    /// Cipher suites and groups to offer.
    pub cryptography: Cryptography,
    /// ALPN protocols to offer, in order of preference: `h2`, `http/1.1`. Empty: none.
    pub alpn: Vec<String>,
    /// True to resume earlier sessions.
    pub resume: bool,
    /// True to log keys to the file named by `SSLKEYLOGFILE`, for decrypting captured traffic.
    pub log_keys: bool,
    /// How servers are verified, for display: `the system's authorities`.
    pub verified_by: String,
}

impl TlsSettings {
    /// Client defaults: any version and cipher suite, no ALPN, sessions are resumed.
    pub fn new(
        server_name: impl Into<String>,
        trust: Trust,
        verified_by: impl Into<String>,
    ) -> Self {
        Self {
            server_name: server_name.into(),
            trust,
            identity: None,
            version: TlsVersion::Any,
            cryptography: Cryptography::Any,
            alpn: Vec::new(),
            resume: true,
            log_keys: false,
            verified_by: verified_by.into(),
        }
    }
}

/// Why TLS can't be set up as requested: what is wrong, and the remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TlsSettingsError(String);

/// State shared by TLS connections.
#[derive(Clone, Debug)]
pub struct TlsClient {
    settings: Arc<TlsSettings>,
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
}

impl PartialEq for TlsClient {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.config, &other.config) && self.name == other.name
    }
}

impl Eq for TlsClient {}

impl TlsClient {
    /// Sets up the state that connections share.
    ///
    /// # Errors
    /// If the server name is invalid, no authority is usable, or a key does not fit its certificate.
    pub fn new(settings: TlsSettings) -> Result<Self, TlsSettingsError> {
        let version = settings.version;
        Self::offering(version, settings.into())
    }

    /// A copy limited to these versions.
    ///
    /// # Errors
    /// See [`Self::new`].
    pub fn limited_to(&self, version: TlsVersion) -> Result<Self, TlsSettingsError> {
        Self::offering(version, Arc::clone(&self.settings))
    }

    fn offering(version: TlsVersion, settings: Arc<TlsSettings>) -> Result<Self, TlsSettingsError> {
        let name = ServerName::try_from(settings.server_name.clone()).map_err(|_| {
            let given = &settings.server_name;
            TlsSettingsError(format!(
                "server name '{given}' is neither a DNS name nor an IP address"
            ))
        })?;
        let provider = Arc::new(settings.cryptography.provider());
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&version.offered())
            .map_err(|error| TlsSettingsError(error.to_string()))?;
        let builder = match &settings.trust {
            Trust::Authorities(certificates) => {
                builder.with_root_certificates(authorities(certificates.clone())?)
            }
            Trust::Anyone => {
                builder.dangerous().with_custom_certificate_verifier(anyone(&provider))
            }
        };
        let mut config = match &settings.identity {
            None => builder.with_no_client_auth(),
            Some(ClientIdentity { chain, key }) => {
                builder.with_client_auth_cert(chain.clone(), key.clone_key()).map_err(|error| {
                    TlsSettingsError(format!("client certificate and key: {}", unusable(&error)))
                })?
            }
        };
        config.alpn_protocols = settings.alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
        config.resumption = Resumption::disabled();
        // Sessions take over the keys after the handshake.
        config.enable_secret_extraction = true;
        if settings.log_keys {
            config.key_log = Arc::new(rustls::KeyLogFile::new());
        }
        Ok(Self { settings, config: Arc::new(config), name })
    }

    /// The mode, as workloads name it.
    pub fn mode(&self) -> TlsMode {
        if self.settings.resume { TlsMode::On } else { TlsMode::NoResumption }
    }

    /// True if the client offers this protocol by ALPN.
    pub fn offers(&self, protocol: &str) -> bool {
        self.config.alpn_protocols.iter().any(|name| name == protocol.as_bytes())
    }

    /// A copy that offers these protocols by ALPN.
    #[must_use]
    pub fn with_alpn(&self, protocols: &[&str]) -> Self {
        let mut other = self.clone();
        let names = protocols.iter().map(|name| name.as_bytes().to_vec());
        Arc::make_mut(&mut other.config).alpn_protocols = names.collect();
        other
    }

    /// Checks the protocol that a server chose by ALPN. HTTP/1.1 needs no choice, HTTP/2 does.
    pub(crate) fn check_alpn(&self, chosen: Option<&[u8]>) -> io::Result<()> {
        let wants_h2 = self.config.alpn_protocols.first().is_some_and(|first| first == b"h2");
        match chosen {
            None if wants_h2 => Err(TlsError::NoAlpn.into()),
            _ => Ok(()),
        }
    }

    /// A copy with a store of tickets for `connections`, if sessions are resumed at all.
    pub(crate) fn with_tickets_for(&self, connections: usize) -> Self {
        let mut shared = self.clone();
        if self.settings.resume {
            let config = Arc::make_mut(&mut shared.config);
            config.resumption = Resumption::store(Arc::new(Tickets::new(connections)));
        }
        shared
    }
}

/// What is wrong with a client's certificate or key.
fn unusable(error: &rustls::Error) -> String {
    match error {
        rustls::Error::InconsistentKeys(_) => "the key is not that of the certificate".to_owned(),
        other => other.to_string(),
    }
}

fn authorities(
    certificates: Vec<CertificateDer<'static>>,
) -> Result<RootCertStore, TlsSettingsError> {
    let mut store = RootCertStore::empty();
    let (added, _) = store.add_parsable_certificates(certificates);
    match added {
        0 => Err(TlsSettingsError("no usable certificate of an authority".to_owned())),
        _ => Ok(store),
    }
}

fn anyone(provider: &Arc<CryptoProvider>) -> Arc<dyn ServerCertVerifier> {
    Arc::new(AnyCertificate::new(provider))
}

impl Cryptography {
    fn provider(self) -> CryptoProvider {
        let all = default_provider();
        match self {
            Self::Any => all,
            Self::Aes128 => CryptoProvider {
                cipher_suites: vec![
                    cipher_suite::TLS13_AES_128_GCM_SHA256,
                    cipher_suite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
                    cipher_suite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
                ],
                kx_groups: vec![kx_group::X25519, kx_group::SECP256R1],
                ..all
            },
        }
    }
}

impl TlsVersion {
    fn offered(self) -> Vec<&'static SupportedProtocolVersion> {
        let mut offered = vec![&TLS13, &TLS12];
        match self {
            Self::Any => {}
            Self::V1_2 => offered.retain(|version| version.version == TLS12.version),
            Self::V1_3 => offered.retain(|version| version.version == TLS13.version),
        }
        offered
    }
}
