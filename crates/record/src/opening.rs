//! The steps in which connections opened.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::trial::Latency;

/// Times of connections that opened within a window, by step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Opening {
    /// From before the socket is created until TCP's handshake is done, if connections live for a number of calls. `None`
    /// without any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tcp: Option<Latency>,
    /// From there until the server can be written to over TLS, of full handshakes. `None` without any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub full_handshake: Option<Latency>,
    /// The same of handshakes that resumed a session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resumed_handshake: Option<Latency>,
    /// From the end of the last handshake until the first byte of the protocol came, if connections live for a number of
    /// calls: over HTTP/2 the server's SETTINGS, otherwise the first reply. `None` without any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_byte: Option<Latency>,
}

impl Opening {
    /// True if no step was timed.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
