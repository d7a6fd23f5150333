//! The target of `rpcbench load`: a server, or a URL.

use std::fmt;
use std::str::FromStr;

use rpcbench_record::{CallHeader, REDACTED};

use crate::setup::Address;

/// A URL: `http[s]://HOST[:PORT][/PATH][?QUERY]`, or `grpc[s]://HOST[:PORT]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Url {
    /// True for `https` and `grpcs`.
    pub tls: bool,
    /// True for `grpc` and `grpcs`; other options define the calls.
    pub grpc: bool,
    /// Host and port; the default port is 80, or 443 with TLS.
    pub address: Address,
    /// Host and port as written; requests name it.
    pub authority: String,
    /// Path and query, as written; `/` for an empty path.
    pub path: String,
}

/// What to load: a server, or a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadAddress {
    /// A server; other options define the calls.
    Server(Address),
    /// A URL.
    Url(Url),
}

impl LoadAddress {
    /// Values in a URL's query whose names mark them as secrets.
    pub fn secrets(&self) -> impl Iterator<Item = &str> {
        let url = match self {
            Self::Url(url) => Some(url),
            Self::Server(_) => None,
        };
        url.into_iter().flat_map(Url::secrets)
    }

    /// An argument of the command line, with secrets redacted.
    pub(crate) fn redact(&self, argument: &str) -> String {
        match self {
            Self::Url(url) => argument.replace(&url.path, &url.shown_path()),
            Self::Server(_) => argument.to_owned(),
        }
    }
    /// True if the URL demands TLS.
    pub fn is_tls(&self) -> bool {
        matches!(self, Self::Url(url) if url.tls)
    }
}

impl Url {
    fn secrets(&self) -> impl Iterator<Item = &str> {
        let (_, query) = self.path.split_once('?').unwrap_or_default();
        let values = query.split('&').filter_map(|pair| pair.split_once('='));
        let secret = values.filter(|(name, _)| CallHeader::is_sensitive_name(name));
        secret.map(|(_, value)| value).filter(|value| !value.is_empty())
    }

    /// Path and query as shown on screen and in records, without secrets.
    pub(crate) fn shown_path(&self) -> String {
        let Some((path, query)) = self.path.split_once('?') else { return self.path.clone() };
        let pairs = query.split('&').map(|pair| match pair.split_once('=') {
            Some((name, _)) if CallHeader::is_sensitive_name(name) => format!("{name}={REDACTED}"),
            _ => pair.to_owned(),
        });
        format!("{path}?{}", pairs.collect::<Vec<_>>().join("&"))
    }
}

impl FromStr for Url {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (grpc, tls, rest) = match text.split_once("://") {
            Some(("http", rest)) => (false, false, rest),
            Some(("https", rest)) => (false, true, rest),
            Some(("grpc", rest)) => (true, false, rest),
            Some(("grpcs", rest)) => (true, true, rest),
            Some(("ws" | "wss", _)) => {
                return Err("WebSocket connections can't be loaded; k6 can load them".to_owned());
            }
            _ => return Err("write a URL such as http://127.0.0.1:8080/path".to_owned()),
        };
        let at = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(at);
        if authority.contains('@') {
            return Err("leave the user out of the URL; give --user USER:PASSWORD".to_owned());
        }
        if path.contains('#') {
            return Err("a fragment is never sent; leave '#' and what follows out".to_owned());
        }
        if let Some(odd) = path.chars().find(|c| !c.is_ascii_graphic()) {
            let mut bytes = [0; 4];
            let bytes = odd.encode_utf8(&mut bytes).bytes();
            let escaped: String = bytes.map(|byte| format!("%{byte:02X}")).collect();
            return Err(format!("'{}' has to be escaped; write {escaped}", odd.escape_debug()));
        }
        let has_port = authority.rsplit_once(':').is_some_and(|(_, port)| !port.contains(']'));
        let address = match has_port {
            true => authority.parse()?,
            false if tls => format!("{authority}:443").parse()?,
            false => format!("{authority}:80").parse()?,
        };
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        if grpc && path != "/" {
            return Err("leave the path out; --call names the method".to_owned());
        }
        Ok(Self { tls, grpc, address, authority: authority.to_owned(), path })
    }
}

/// Omits secrets.
impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scheme, path) = match self.grpc {
            true => ("grpc", String::new()),
            false => ("http", self.shown_path()),
        };
        write!(f, "{scheme}{}://{}{path}", if self.tls { "s" } else { "" }, self.authority)
    }
}

impl FromStr for LoadAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.contains("://") && !text.starts_with("unix:") {
            return text.parse().map(Self::Url);
        }
        match text.parse() {
            Ok(address) => Ok(Self::Server(address)),
            Err(problem)
                if text.contains('/') && format!("http://{text}").parse::<Url>().is_ok() =>
            {
                Err(format!("{problem}; for a URL, write http://{text}"))
            }
            Err(problem) => Err(problem),
        }
    }
}

impl fmt::Display for LoadAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Server(address) => address.fmt(f),
            Self::Url(url) => url.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> (String, String, String) {
        let url: Url = text.parse().unwrap();
        (url.address.to_string(), url.authority, url.path)
    }

    fn refusal(text: &str) -> String {
        text.parse::<LoadAddress>().expect_err("a refusal")
    }

    #[test]
    fn url_is_split_into_address_host_and_path() {
        let own = |[a, b, c]: [&str; 3]| (a.to_owned(), b.to_owned(), c.to_owned());
        for (text, expected) in [
            ("http://h:8080/a/b?c=d&e", ["h:8080", "h:8080", "/a/b?c=d&e"]),
            ("http://h", ["h:80", "h", "/"]),
            ("https://h/a", ["h:443", "h", "/a"]),
            ("http://[::1]", ["[::1]:80", "[::1]", "/"]),
            ("http://[::1]:81?x", ["[::1]:81", "[::1]:81", "/?x"]),
        ] {
            assert_eq!(parts(text), own(expected), "{text}");
        }
    }

    #[test]
    fn secrets_of_a_query_are_not_shown() {
        let url: Url = "http://h/a?page=1&api_key=k%2B1&token=&x-Signature=s=1".parse().unwrap();
        assert_eq!(url.secrets().collect::<Vec<_>>(), ["k%2B1", "s=1"]);
        assert_eq!(
            url.to_string(),
            "http://h/a?page=1&api_key=[redacted]&token=[redacted]&x-Signature=[redacted]"
        );
        assert_eq!(url.path, "/a?page=1&api_key=k%2B1&token=&x-Signature=s=1");
    }

    #[test]
    fn grpc_scheme_names_a_server_with_or_without_tls() {
        for (text, tls) in [("grpc://h:50051", false), ("grpcs://h", true)] {
            let url: Url = text.parse().unwrap();
            assert_eq!((url.grpc, url.tls, url.to_string().as_str()), (true, tls, text));
        }
        assert_eq!(parts("grpcs://h").0, "h:443");
    }

    #[test]
    fn unusable_url_is_refused_with_remedy() {
        insta::assert_snapshot!(refusal("grpcs://h:443/pkg.Service/Method"), @"leave the path out; --call names the method");
        insta::assert_snapshot!(refusal("wss://h/"), @"WebSocket connections can't be loaded; k6 can load them");
        insta::assert_snapshot!(refusal("ftp://h/"), @"write a URL such as http://127.0.0.1:8080/path");
        insta::assert_snapshot!(refusal("http://u:p@h/"), @"leave the user out of the URL; give --user USER:PASSWORD");
        insta::assert_snapshot!(refusal("http://h/#x"), @"a fragment is never sent; leave '#' and what follows out");
        insta::assert_snapshot!(refusal("http://h/ä"), @"'ä' has to be escaped; write %C3%A4");
        insta::assert_snapshot!(refusal("http://h:0/"), @"'0' is not a port from 1 to 65535; write HOST:PORT, such as 127.0.0.1:50051 or [::1]:50051, or unix:PATH");
        insta::assert_snapshot!(refusal("h:80/x"), @"'80/x' is not a port from 1 to 65535; write HOST:PORT, such as 127.0.0.1:50051 or [::1]:50051, or unix:PATH; for a URL, write http://h:80/x");
    }
}
