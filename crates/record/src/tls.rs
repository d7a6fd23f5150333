//! TLS of connections, as requested and as negotiated.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether connections use TLS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TlsMode {
    /// Without TLS.
    #[default]
    Off,
    /// With TLS. A connection resumes the session of an earlier one if the server allows it.
    On,
    /// With TLS, and a full handshake for each connection.
    NoResumption,
}

impl TlsMode {
    /// True if connections have TLS.
    pub fn is_on(self) -> bool {
        self != Self::Off
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

/// TLS of a load's connections, as negotiated in the first handshake.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tls {
    /// Version of TLS, such as `TLS 1.3`.
    pub version: String,
    /// IANA name of the cipher suite, such as `TLS_AES_128_GCM_SHA256`.
    pub suite: String,
    /// IANA name of the key exchange group, such as `X25519`. `null` if a session was resumed without a key exchange.
    pub group: Option<String>,
    /// Protocol chosen by ALPN, such as `h2`. `null` if the server chose none.
    pub alpn: Option<String>,
    /// What server certificates were verified with: `the system's authorities`, the name of a file, or `nothing`.
    pub verified_by: String,
    /// Number of full handshakes until all connections were open.
    pub full_handshakes: u64,
    /// Number of handshakes until then that resumed a session.
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
