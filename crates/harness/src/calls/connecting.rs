//! Options for where connections go, and how they are kept alive.

use std::net::IpAddr;
use std::str::FromStr;

use clap::Args;
use rpcbench_record::{KeepAlive, Protocol, Transport, units};

use crate::config::{ConfigError, NonZeroLength};

/// Default of `--keepalive-timeout`, milliseconds: that of gRPC.
const KEEPALIVE_TIMEOUT_MS: u64 = 20_000;
/// By default, gRPC servers accept one ping per this interval, milliseconds. Source: gRPC's proposal A8.
const PINGS_ALLOWED_MS: u64 = 300_000;

/// Where connections go, and how they are kept, as typed.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Connections")]
pub struct ConnectSpec {
    /// Connect to these addresses instead of those that the name has, HOST:PORT:ADDRESS[,ADDRESS...], as curl does; repeatable
    #[arg(long, value_name = "HOST:PORT:ADDRESS")]
    pub resolve: Vec<Resolve>,
    /// Connect to another host and port, HOST1:PORT1:HOST2:PORT2; empty ones stand for any, and for the same; repeatable
    #[arg(long, value_name = "HOST1:PORT1:HOST2:PORT2")]
    pub connect_to: Vec<ConnectTo>,
    /// Connect to IPv4 addresses only
    #[arg(short = '4', long, conflicts_with = "ipv6")]
    pub ipv4: bool,
    /// Connect to IPv6 addresses only
    #[arg(short = '6', long)]
    pub ipv6: bool,
    /// Ping the server over HTTP/2 when nothing came from it for this long; a connection whose ping is not answered is lost.
    /// Most servers of gRPC end connections that send more than a ping in five minutes [default: no pings]
    #[arg(long, value_name = "LENGTH", allow_hyphen_values = true)]
    pub keepalive: Option<NonZeroLength>,
    /// How long the server has to answer a ping of --keepalive [default: 20s]
    #[arg(long, value_name = "LENGTH", allow_hyphen_values = true)]
    pub keepalive_timeout: Option<NonZeroLength>,
}

/// Addresses of a host and port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolve {
    host: String,
    port: u16,
    addresses: Vec<IpAddr>,
}

impl FromStr for Resolve {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const EXPECTED: &str =
            "expected HOST:PORT:ADDRESS, such as api.example.org:443:10.0.0.7 or h:443:[::1]";
        let parts = parts(text);
        let [host, port, addresses] = &parts[..] else { return Err(EXPECTED.to_owned()) };
        let port = port.parse().map_err(|_| format!("'{port}' is no port; {EXPECTED}"))?;
        let address = |text: &str| {
            bare(text).parse().map_err(|_| format!("'{text}' is no IP address; {EXPECTED}"))
        };
        let addresses = addresses.split(',').map(address).collect::<Result<_, _>>()?;
        Ok(Self { host: bare(host).to_owned(), port, addresses })
    }
}

/// Another host and port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectTo {
    /// Host and port to replace. `None`: any.
    from: (Option<String>, Option<u16>),
    /// Host and port to connect to. `None`: unchanged.
    to: (Option<String>, Option<u16>),
}

impl FromStr for ConnectTo {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const EXPECTED: &str = "expected HOST1:PORT1:HOST2:PORT2, such as api.example.org:443:127.0.0.1:8443 or ::127.0.0.1:8443";
        let parts = parts(text);
        let [from, from_port, to, to_port] = &parts[..] else { return Err(EXPECTED.to_owned()) };
        let host = |text: &str| Some(bare(text).to_owned()).filter(|host| !host.is_empty());
        let port = |text: &str| match text {
            "" => Ok(None),
            text => text.parse().map(Some).map_err(|_| format!("'{text}' is no port; {EXPECTED}")),
        };
        Ok(Self { from: (host(from), port(from_port)?), to: (host(to), port(to_port)?) })
    }
}

/// Splits at colons, except those inside brackets.
fn parts(text: &str) -> Vec<&str> {
    let mut depth = 0;
    text.split(|c: char| {
        depth += i32::from(c == '[') - i32::from(c == ']');
        c == ':' && depth == 0
    })
    .collect()
}

/// A host without the brackets of an IPv6 address.
fn bare(host: &str) -> &str {
    host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
}

impl ConnectSpec {
    /// The host and port to connect to instead of `host` and `port`.
    pub(crate) fn redirected(&self, host: &str, port: u16) -> (String, u16) {
        let is_selected = |it: &&ConnectTo| {
            it.from.0.as_ref().is_none_or(|from| from.eq_ignore_ascii_case(host))
                && it.from.1.is_none_or(|from| from == port)
        };
        match self.connect_to.iter().find(is_selected) {
            Some(ConnectTo { to, .. }) => {
                (to.0.clone().unwrap_or_else(|| host.to_owned()), to.1.unwrap_or(port))
            }
            None => (host.to_owned(), port),
        }
    }

    /// The addresses that options give for a host and port.
    pub(crate) fn addresses(&self, host: &str, port: u16) -> Option<&[IpAddr]> {
        let is_selected = |it: &&Resolve| it.port == port && it.host.eq_ignore_ascii_case(host);
        self.resolve.iter().find(is_selected).map(|it| &it.addresses[..])
    }

    /// True if options allow connections to `address`.
    pub(crate) fn allows(&self, address: IpAddr) -> bool {
        !(self.ipv4 && address.is_ipv6() || self.ipv6 && address.is_ipv4())
    }

    /// The first option that affects which address of a host is used.
    pub(crate) fn of_hosts(&self) -> Option<&'static str> {
        let all = [
            (!self.resolve.is_empty(), "--resolve"),
            (!self.connect_to.is_empty(), "--connect-to"),
            (self.ipv4, "--ipv4"),
            (self.ipv6, "--ipv6"),
        ];
        all.into_iter().find(|(given, _)| *given).map(|(_, name)| name)
    }

    /// The keep-alive pings. `None` without pings.
    ///
    /// # Errors
    /// If the protocol has no pings, or `--keepalive-timeout` is given without pings.
    pub fn keepalive(&self, protocol: Protocol) -> Result<Option<KeepAlive>, ConfigError> {
        let Some(every) = self.keepalive else {
            let problem = "it limits the answer to pings, and none are sent; give --keepalive, too";
            let stray =
                self.keepalive_timeout.map(|_| ConfigError::value("--keepalive-timeout", problem));
            return stray.map_or(Ok(None), Err);
        };
        if protocol.spec().transport != Transport::Http2 {
            let problem = match protocol {
                Protocol::Http => {
                    "HTTP/1.1 has no pings; give --http 2, or leave it out".to_owned()
                }
                other => format!("{other} has no pings; leave it out"),
            };
            return Err(ConfigError::value("--keepalive", problem));
        }
        let timeout_ms = self.keepalive_timeout.map_or(KEEPALIVE_TIMEOUT_MS, |it| it.ms());
        Ok(Some(KeepAlive { every_ms: every.ms(), timeout_ms }))
    }

    /// A warning if servers may not accept that many pings.
    pub(crate) fn notice(&self) -> Option<String> {
        let every = self.keepalive?.ms();
        (every < PINGS_ALLOWED_MS).then(|| {
            format!(
                "--keepalive {}: servers of gRPC end connections (GOAWAY too_many_pings) that send more than a ping in 5 \
                 minutes, unless they are configured to allow it",
                units::length_ms(every)
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(resolve: &[&str], connect_to: &[&str]) -> ConnectSpec {
        ConnectSpec {
            resolve: resolve.iter().map(|it| it.parse().unwrap()).collect(),
            connect_to: connect_to.iter().map(|it| it.parse().unwrap()).collect(),
            ..ConnectSpec::default()
        }
    }

    #[test]
    fn addresses_of_a_name_are_replaced() {
        let spec = spec(&["api.test:443:10.0.0.1,[::1]", "[::2]:80:10.0.0.2"], &[]);
        let shown = |host: &str, port| {
            spec.addresses(host, port)
                .map(|all| all.iter().map(ToString::to_string).collect::<Vec<_>>())
        };
        assert_eq!(shown("API.test", 443).unwrap(), ["10.0.0.1", "::1"]);
        assert_eq!(shown("::2", 80).unwrap(), ["10.0.0.2"]);
        assert_eq!((shown("api.test", 80), shown("other", 443)), (None, None));
    }

    #[test]
    fn connections_go_to_the_first_host_and_port_that_fit() {
        let spec = spec(&[], &["a:1:b:2", "a::c:", "::[::1]:9"]);
        let to = |host: &str, port| {
            let (host, port) = spec.redirected(host, port);
            format!("{host} {port}")
        };
        assert_eq!([to("a", 1), to("a", 7), to("x", 7)], ["b 2", "c 7", "::1 9"]);
        assert_eq!(ConnectSpec::default().redirected("a", 1), ("a".to_owned(), 1));
    }

    #[test]
    fn unreadable_addresses_are_refused_with_an_example() {
        let resolve = |text: &str| text.parse::<Resolve>().unwrap_err();
        insta::assert_snapshot!(resolve("api.test:443"), @"expected HOST:PORT:ADDRESS, such as api.example.org:443:10.0.0.7 or h:443:[::1]");
        insta::assert_snapshot!(resolve("api.test:https:10.0.0.1"), @"'https' is no port; expected HOST:PORT:ADDRESS, such as api.example.org:443:10.0.0.7 or h:443:[::1]");
        insta::assert_snapshot!(resolve("api.test:443:other"), @"'other' is no IP address; expected HOST:PORT:ADDRESS, such as api.example.org:443:10.0.0.7 or h:443:[::1]");
        insta::assert_snapshot!("a:1:b".parse::<ConnectTo>().unwrap_err(), @"expected HOST1:PORT1:HOST2:PORT2, such as api.example.org:443:127.0.0.1:8443 or ::127.0.0.1:8443");
        insta::assert_snapshot!("a:1:b:x".parse::<ConnectTo>().unwrap_err(), @"'x' is no port; expected HOST1:PORT1:HOST2:PORT2, such as api.example.org:443:127.0.0.1:8443 or ::127.0.0.1:8443");
    }

    #[test]
    fn pings_need_http2_and_frequent_ones_are_remarked_on() {
        let length = |text: &str| Some(text.parse().unwrap());
        let spec = ConnectSpec { keepalive: length("30s"), ..ConnectSpec::default() };
        let every = spec.keepalive(Protocol::Grpc).unwrap().unwrap();
        assert_eq!((every.every_ms, every.timeout_ms), (30_000, 20_000));
        let refusal =
            |spec: &ConnectSpec, protocol| spec.keepalive(protocol).unwrap_err().to_string();
        insta::assert_snapshot!(refusal(&spec, Protocol::Http), @"--keepalive: HTTP/1.1 has no pings; give --http 2, or leave it out");
        insta::assert_snapshot!(refusal(&spec, Protocol::Thrift), @"--keepalive: thrift has no pings; leave it out");
        let stray = ConnectSpec { keepalive_timeout: length("1s"), ..ConnectSpec::default() };
        insta::assert_snapshot!(refusal(&stray, Protocol::Grpc), @"--keepalive-timeout: it limits the answer to pings, and none are sent; give --keepalive, too");
        insta::assert_snapshot!(spec.notice().unwrap(), @"--keepalive 30s: servers of gRPC end connections (GOAWAY too_many_pings) that send more than a ping in 5 minutes, unless they are configured to allow it");
        let rare = ConnectSpec { keepalive: length("5m"), ..ConnectSpec::default() };
        assert_eq!(rare.notice(), None);
    }
}
