//! Values of options that are no part of a workload.

use std::fmt;
use std::net::Ipv6Addr;
use std::path::PathBuf;
use std::str::FromStr;

use rpcbench_engine::ServerAddress;
use rpcbench_record::MAX_SEED;

/// Where a server listens: `HOST:PORT`, with an IPv6 address in brackets, or `unix:PATH`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A port of a host.
    Host {
        /// A name or an address, without brackets.
        host: String,
        port: u16,
    },
    /// A socket in the file system.
    Unix(PathBuf),
}

/// Most bytes of a socket's path (unix(7): 108 with the terminating zero).
const MAX_PATH: usize = 107;

impl Address {
    /// The host that requests name: the address as typed, unless it is a path.
    pub fn authority(&self) -> String {
        match self {
            // The zone names an interface of this machine: no server knows it (RFC 6874, section 1).
            Self::Host { host, port } if host.contains('%') => {
                format!("[{}]:{port}", host.split('%').next().unwrap_or_default())
            }
            Self::Host { .. } => self.to_string(),
            Self::Unix(path) => ServerAddress::Unix(path.clone()).authority(),
        }
    }

    fn unix(path: &str) -> Result<Self, String> {
        match path.len() {
            0 => Err("the path is missing; write unix:PATH, such as unix:/run/app.sock".to_owned()),
            1..=MAX_PATH => Ok(Self::Unix(path.into())),
            long => Err(format!(
                "a socket's path has at most {MAX_PATH} bytes, this one has {long}; give a shorter one, such as one relative to the current folder"
            )),
        }
    }
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const REMEDY: &str =
            "write HOST:PORT, such as 127.0.0.1:50051 or [::1]:50051, or unix:PATH";
        if let Some(path) = text.strip_prefix("unix:") {
            return Self::unix(path.strip_prefix("//").unwrap_or(path));
        }
        if let Some((scheme, _)) = text.split_once("://") {
            return Err(format!("leave '{scheme}://' out; {REMEDY}"));
        }
        let (host, port) = text.rsplit_once(':').ok_or(format!("the port is missing; {REMEDY}"))?;
        let bare = host.strip_prefix('[').and_then(|h| h.strip_suffix(']'));
        let host = match bare {
            Some(inner) if is_ipv6(inner) => inner,
            Some(inner) if inner.ends_with('%') => {
                return Err(format!(
                    "'{host}' lacks the interface after '%'; write it, such as [fe80::1%eth0]"
                ));
            }
            None if !host.is_empty() && !host.contains([':', '[', ']', '/']) => host,
            _ => return Err(format!("'{host}' is not a host; {REMEDY}")),
        };
        match port.parse() {
            Ok(0) | Err(_) => Err(format!("'{port}' is not a port from 1 to 65535; {REMEDY}")),
            Ok(port) => Ok(Self::Host { host: host.to_owned(), port }),
        }
    }
}

/// An address, with or without the interface of a link-local one: `fe80::1%eth0`.
fn is_ipv6(text: &str) -> bool {
    let (address, zone) = text.split_once('%').unwrap_or((text, "-"));
    let named = !zone.is_empty() && !zone.contains(|c: char| c.is_whitespace() || c == '%');
    named && address.parse::<Ipv6Addr>().is_ok()
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host { host, port } if host.contains(':') => write!(f, "[{host}]:{port}"),
            Self::Host { host, port } => write!(f, "{host}:{port}"),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

/// A file for a log of calls, and the format that its ending names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallsFile {
    pub path: PathBuf,
    pub format: CallsFormat,
}

/// How a log of calls is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallsFormat {
    Csv,
    Parquet,
}

impl FromStr for CallsFile {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let path = PathBuf::from(text);
        let format = match path.extension().and_then(|ending| ending.to_str()) {
            Some("csv") => CallsFormat::Csv,
            Some("parquet") => CallsFormat::Parquet,
            _ => return Err("its ending names the format; use .parquet or .csv".to_owned()),
        };
        Ok(Self { path, format })
    }
}

pub(super) fn seed(text: &str) -> Result<u64, String> {
    let seed = text.parse().ok().filter(|seed| *seed <= MAX_SEED);
    seed.ok_or_else(|| format!("must be a whole number from 0 to {MAX_SEED}"))
}

pub(super) fn port(text: &str) -> Result<u16, String> {
    whole(text, u16::MAX)
}

/// The id of a process.
pub(super) fn process(text: &str) -> Result<u32, String> {
    whole(text, i32::MAX as u32)
}

fn whole<N: Copy + FromStr + PartialOrd + From<u8> + fmt::Display>(
    text: &str,
    largest: N,
) -> Result<N, String> {
    let number = text.parse().ok().filter(|number| (N::from(1)..=largest).contains(number));
    number.ok_or_else(|| format!("must be a whole number from 1 to {largest}"))
}
