//! Values that are more than a word or a number.

use std::fmt;
use std::net::Ipv6Addr;
use std::str::FromStr;

use rpcbench_harness::{suite, units};
use rpcbench_record::{Protocol, WarmUp};

/// Where a server listens: `HOST:PORT`. An IPv6 address stands in brackets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// A name or an address, without brackets.
    pub host: String,
    /// The port.
    pub port: u16,
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const REMEDY: &str = "write HOST:PORT, such as 127.0.0.1:50051 or [::1]:50051";
        if let Some((scheme, _)) = text.split_once("://") {
            return Err(format!("leave '{scheme}://' out; {REMEDY}"));
        }
        let (host, port) = text.rsplit_once(':').ok_or(format!("the port is missing; {REMEDY}"))?;
        let bare = host.strip_prefix('[').and_then(|h| h.strip_suffix(']'));
        let host = match bare {
            Some(inner) if inner.parse::<Ipv6Addr>().is_ok() => inner,
            None if !host.is_empty() && !host.contains([':', '[', ']', '/']) => host,
            _ => return Err(format!("'{host}' is not a host; {REMEDY}")),
        };
        match port.parse() {
            Ok(0) | Err(_) => Err(format!("'{port}' is not a port from 1 to 65535; {REMEDY}")),
            Ok(port) => Ok(Self { host: host.to_owned(), port }),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.host.contains(':') {
            true => write!(f, "[{}]:{}", self.host, self.port),
            false => write!(f, "{}:{}", self.host, self.port),
        }
    }
}

/// A length of time of at least one millisecond, in milliseconds.
pub(super) fn length(text: &str) -> Result<u64, String> {
    let duration = units::duration(text).map_err(|error| error.to_string())?;
    match u64::try_from(duration.as_millis()) {
        Ok(0) => Err("must be at least 1ms".to_owned()),
        Ok(milliseconds) => Ok(milliseconds),
        Err(_) => Err("is longer than any run can be".to_owned()),
    }
}

/// A number of things, at least one.
pub(super) fn count(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(0) => Err("must be more than zero".to_owned()),
        Ok(number) => Ok(number),
        Err(_) => Err(format!("must be a whole number from 1 to {}", u32::MAX)),
    }
}

/// `until-steady`, `none`, or a length of time.
pub(super) fn warm_up(text: &str) -> Result<WarmUp, String> {
    suite::warm_up(text).map_err(|error| format!("{error}; or until-steady, or none"))
}

pub(super) fn protocol(text: &str) -> Result<Protocol, String> {
    match text {
        "grpc" => Ok(Protocol::Grpc),
        _ => Err("use grpc".to_owned()),
    }
}
