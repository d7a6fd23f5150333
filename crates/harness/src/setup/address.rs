//! The address of a server that the user runs.

use std::fmt;
use std::net::{Ipv6Addr, SocketAddr, ToSocketAddrs as _};
use std::path::PathBuf;
use std::str::FromStr;

use rpcbench_engine::ServerAddress;

use super::SetupError;
use crate::calls::ConnectSpec;
use crate::config::ConfigError;

/// Address of a server: `HOST:PORT`, with an IPv6 address in brackets, or `unix:PATH`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A port of a host.
    Host {
        /// A name or an address, without brackets.
        host: String,
        /// The port, from 1.
        port: u16,
    },
    /// A socket in the file system.
    Unix(PathBuf),
}

/// Maximum length of a socket's path, bytes (unix(7): 108 with the terminating zero).
const MAX_PATH: usize = 107;

impl Address {
    /// The host that requests name: the address as typed, or `localhost` if it is a path.
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

    /// Resolves it to socket addresses, as `connect` demands. At least one, without duplicates.
    pub(super) fn resolve(&self, connect: &ConnectSpec) -> Result<Vec<ServerAddress>, SetupError> {
        let (host, port) = match self {
            Self::Host { host, port } => (host, *port),
            Self::Unix(path) => {
                return match connect.of_hosts() {
                    None => Ok(vec![ServerAddress::Unix(path.clone())]),
                    Some(option) => {
                        let problem = "a socket has no other address; leave it out";
                        Err(ConfigError::value(option, problem).into())
                    }
                };
            }
        };
        let (host, port) = connect.redirected(host, port);
        let all = match connect.addresses(&host, port) {
            Some(given) => given.iter().map(|address| SocketAddr::new(*address, port)).collect(),
            None => looked_up(&host, port)?,
        };
        let mut found: Vec<ServerAddress> = Vec::new();
        for address in all.into_iter().filter(|address| connect.allows(address.ip())) {
            let address = ServerAddress::from(address);
            if !found.contains(&address) {
                found.push(address);
            }
        }
        match (found.is_empty(), connect.ipv4, connect.ipv6) {
            (false, ..) => Ok(found),
            (true, true, _) => Err(refused(&host, "no IPv4 address; leave -4 out")),
            (true, _, true) => Err(refused(&host, "no IPv6 address; leave -6 out")),
            (true, ..) => Err(refused(&host, "no address")),
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

/// Resolves a host with this machine's resolver.
fn looked_up(host: &str, port: u16) -> Result<Vec<SocketAddr>, SetupError> {
    let found = (host, port).to_socket_addrs().map_err(|error| {
        let why = match host.split_once('%') {
            Some((_, interface)) => format!(
                "no interface '{interface}'? 'ip -6 address' lists them with their addresses: {error}"
            ),
            None => format!("no such host: {error}"),
        };
        refused(host, &why)
    })?;
    Ok(found.collect())
}

fn refused(host: &str, why: &str) -> SetupError {
    SetupError::Refused(format!("{host}: {why}"))
}

/// True for an IPv6 address, with or without the interface of a link-local one: `fe80::1%eth0`.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_read_back_as_written() {
        for text in ["127.0.0.1:50051", "[::1]:1", "some-host.example:65535", "unix:/run/app.sock"]
        {
            assert_eq!(text.parse::<Address>().map(|a| a.to_string()), Ok(text.to_owned()));
        }
        let slashes: Address = "unix:///run/app.sock".parse().unwrap();
        assert_eq!(slashes.to_string(), "unix:/run/app.sock");
        let refused = |text: &str| text.parse::<Address>().expect_err("a refusal");
        insta::assert_snapshot!(refused("unix:"), @"the path is missing; write unix:PATH, such as unix:/run/app.sock");
        insta::assert_snapshot!(refused(&format!("unix:/{}", "x".repeat(107))), @"a socket's path has at most 107 bytes, this one has 108; give a shorter one, such as one relative to the current folder");
        insta::assert_snapshot!(refused("http://localhost:1"), @"leave 'http://' out; write HOST:PORT, such as 127.0.0.1:50051 or [::1]:50051, or unix:PATH");
        insta::assert_snapshot!(refused("localhost"), @"the port is missing; write HOST:PORT, such as 127.0.0.1:50051 or [::1]:50051, or unix:PATH");
        let zoned: Address = "[fe80::1%lo]:50051".parse().unwrap();
        assert_eq!(
            (zoned.to_string().as_str(), zoned.authority().as_str()),
            ("[fe80::1%lo]:50051", "[fe80::1]:50051")
        );
        insta::assert_snapshot!(refused("[fe80::1%]:50051"), @"'[fe80::1%]' lacks the interface after '%'; write it, such as [fe80::1%eth0]");
        insta::assert_snapshot!(refused("::1:50051"), @"'::1' is not a host; write HOST:PORT, such as 127.0.0.1:50051 or [::1]:50051, or unix:PATH");
        insta::assert_snapshot!(refused("localhost:0"), @"'0' is not a port from 1 to 65535; write HOST:PORT, such as 127.0.0.1:50051 or [::1]:50051, or unix:PATH");
        insta::assert_snapshot!(refused(":50051"), @"'' is not a host; write HOST:PORT, such as 127.0.0.1:50051 or [::1]:50051, or unix:PATH");
    }

    #[test]
    fn family_and_given_addresses_decide_where_connections_go() {
        let host: Address = "api.test:443".parse().unwrap();
        let resolve = vec!["api.test:443:10.0.0.1,[::1],10.0.0.1".parse().unwrap()];
        let spec = ConnectSpec { resolve, ..ConnectSpec::default() };
        let shown = |spec: &ConnectSpec| {
            host.resolve(spec).unwrap().iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(shown(&spec), ["10.0.0.1:443", "[::1]:443"]);
        assert_eq!(shown(&ConnectSpec { ipv6: true, ..spec.clone() }), ["[::1]:443"]);
        let v4: Address = "127.0.0.1:1".parse().unwrap();
        let refusal =
            |address: &Address, spec: ConnectSpec| address.resolve(&spec).unwrap_err().to_string();
        let v6 = ConnectSpec { ipv6: true, ..ConnectSpec::default() };
        insta::assert_snapshot!(refusal(&v4, v6.clone()), @"127.0.0.1: no IPv6 address; leave -6 out");
        insta::assert_snapshot!(refusal(&Address::Unix("/run/s".into()), v6), @"--ipv6: a socket has no other address; leave it out");
        let connect_to = vec!["api.test:443:127.0.0.1:9".parse().unwrap()];
        let redirected = ConnectSpec { connect_to, ..ConnectSpec::default() };
        assert_eq!(shown(&redirected), ["127.0.0.1:9"]);
    }
}
