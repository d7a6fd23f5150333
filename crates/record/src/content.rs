//! What a call carries.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units;

/// What a call carries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Content {
    /// A shape of rpcbench's contract, such as `text:100`, `record`, `dto` or `tree`.
    Shape(String),
    /// Requests to a service other than rpcbench's.
    Call(DescribedCall),
}

/// Requests to any service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DescribedCall {
    /// What the requests address: `GET /path?x=y` or `shop.v1.Orders/Get`.
    pub target: String,
    /// Number of different requests, sent in turn; at least 1.
    pub requests: u64,
    /// Size of the smallest request as sent, without what the protocol adds, bytes.
    pub bytes_min: u64,
    /// Size of the largest request, likewise, bytes.
    pub bytes_max: u64,
    /// BLAKE3 digest of all requests before compression, hex.
    pub digest: String,
    /// Statuses that count as success, such as `2xx` or `OK,NOT_FOUND`.
    pub ok: String,
    /// Compression of requests, also accepted for replies: `gzip`. Absent without compression.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coding: Option<String>,
    /// One in this many replies is decoded, starting with the first. Absent if replies are not decoded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decoded_one_in: Option<u32>,
    /// Deadline that calls send to the server, milliseconds from their beginning. Absent if they send none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline_ms: Option<u64>,
    /// Conditions that every reply must meet, such as `$.state == "OPEN"`. Absent if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expect: Vec<String>,
}

impl Content {
    /// The shape. `None` for calls of the user's service.
    pub fn shape(&self) -> Option<&str> {
        match self {
            Self::Shape(shape) => Some(shape),
            Self::Call(_) => None,
        }
    }

    /// The call of the user's service. `None` for a shape.
    pub fn call(&self) -> Option<&DescribedCall> {
        match self {
            Self::Shape(_) => None,
            Self::Call(call) => Some(call),
        }
    }

    /// Everything that distinguishes this load from another.
    pub(crate) fn exact(&self) -> String {
        match self {
            Self::Shape(shape) => shape.clone(),
            Self::Call(call) => {
                let digest: String = call.digest.chars().take(8).collect();
                let expect = Some(call.expect.join(", ")).filter(|expect| !expect.is_empty());
                let expect = expect.map(|expect| format!(", expected {expect}"));
                let expect = expect.unwrap_or_default();
                let deadline =
                    call.deadline_ms.map(|ms| format!(", deadline {}", units::length_ms(ms)));
                let deadline = deadline.unwrap_or_default();
                let coding = call.coding.as_ref().map(|coding| format!(", {coding}"));
                let coding = coding.unwrap_or_default();
                format!("{call} (digest {digest}){coding}, success {}{deadline}{expect}", call.ok)
            }
        }
    }
}

impl fmt::Display for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shape(shape) => f.pad(shape),
            Self::Call(call) => f.pad(&call.to_string()),
        }
    }
}

/// `GET /path`; `shop.v1.Orders/Get, 34 B`; `PUT /path, 3 requests of 20 B to 34 B`.
impl fmt::Display for DescribedCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let &Self { requests, bytes_min, bytes_max, .. } = self;
        write!(f, "{}", self.target)?;
        if requests == 1 {
            return match bytes_max {
                0 => Ok(()),
                bytes => write!(f, ", {}", units::bytes(bytes)),
            };
        }
        let sizes = match bytes_min == bytes_max {
            true => units::bytes(bytes_min),
            false => format!("{} to {}", units::bytes(bytes_min), units::bytes(bytes_max)),
        };
        write!(f, ", {} of {sizes}", units::plural(requests, "request"))
    }
}
