//! The steps in which connections opened.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::trial::Latency;

/// Times of the steps in which connections opened within a window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Opening {
    /// From just before the socket is created to the end of the TCP handshake. Absent if no connection opened, and unless
    /// connections have a call limit (`connection_life`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tcp: Option<Latency>,
    /// From the end of the TCP handshake until data can be sent to the server over TLS. Full handshakes only. Absent if there
    /// were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub full_handshake: Option<Latency>,
    /// As `full_handshake`, for handshakes that resumed a session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resumed_handshake: Option<Latency>,
    /// From the end of the last handshake, TCP or TLS, to the first byte of the protocol: over HTTP/2 the server's SETTINGS,
    /// otherwise the first reply. Absent if no connection opened, and unless connections have a call limit (`connection_life`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_byte: Option<Latency>,
}
