//! TLS of connections, as requested and as negotiated.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether connections have TLS.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum TlsMode {
    /// Without TLS.
    #[default]
    Off,
    /// With TLS. A connection resumes the session of an earlier one, if the server lets it.
    On,
    /// With TLS, and a full handshake for each connection.
    NoResumption,
}

impl TlsMode {
    /// True if connections have TLS.
    pub fn is_on(self) -> bool {
        self != Self::Off
    }

    /// True if connections have no TLS.
    pub fn is_off(&self) -> bool {
        *self == Self::Off
    }
}

impl fmt::Display for TlsMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Off => "false",
            Self::On => "true",
            Self::NoResumption => "no-resumption",
        })
    }
}

impl FromStr for TlsMode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "false" => Ok(Self::Off),
            "true" => Ok(Self::On),
            "no-resumption" => Ok(Self::NoResumption),
            _ => Err(format!("'{text}' is unknown; expected true, false or no-resumption")),
        }
    }
}

/// TLS of a load's connections, as its first handshake agreed on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tls {
    /// `TLS 1.3`.
    pub version: String,
    /// IANA's name of the cipher suite: `TLS_AES_128_GCM_SHA256`.
    pub suite: String,
    /// IANA's name of the key exchange group: `X25519`. `None` if a session was resumed without one.
    pub group: Option<String>,
    /// The protocol chosen by ALPN: `h2`. `None` if the server chose none.
    pub alpn: Option<String>,
    /// By what servers were verified: `the system's authorities`, the name of a file, or `nothing`.
    pub verified_by: String,
    /// Full handshakes until all connections were open.
    pub full_handshakes: u64,
    /// Handshakes that resumed a session, in the same time.
    pub resumed_handshakes: u64,
}

impl Tls {
    /// Counts a handshake.
    pub fn count(&mut self, resumed: bool) {
        let counter =
            if resumed { &mut self.resumed_handshakes } else { &mut self.full_handshakes };
        *counter += 1;
    }

    /// Adds the handshakes of another load thread.
    pub fn add(&mut self, other: &Self) {
        self.full_handshakes += other.full_handshakes;
        self.resumed_handshakes += other.resumed_handshakes;
    }
}
