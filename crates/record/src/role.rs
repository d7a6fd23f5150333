//! Which half of a stack is measured.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The side of a stack that is measured, called the subject. It talks to a counterpart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Answers the calls of the load generator.
    #[default]
    Server,
    /// Calls the reference server or a server under test.
    Client,
}

impl Role {
    /// The plural: `servers`, `clients`.
    pub fn plural(self) -> &'static str {
        match self {
            Self::Server => "servers",
            Self::Client => "clients",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Server => "server",
            Self::Client => "client",
        })
    }
}
