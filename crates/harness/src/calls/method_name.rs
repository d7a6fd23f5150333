//! The method of an HTTP request.

use std::fmt;
use std::str::FromStr;

/// The method of an HTTP request: `GET`, `PUT`, or any other except `CONNECT`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpMethod(String);

impl HttpMethod {
    /// As written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The default method, depending on whether there is data.
    pub(super) fn for_data(has_data: bool) -> Self {
        Self(if has_data { "POST" } else { "GET" }.to_owned())
    }

    /// True if a request declares its body even if it is empty.
    pub(super) fn expects_body(&self) -> bool {
        ["POST", "PUT", "PATCH"].contains(&self.as_str())
    }
}

impl FromStr for HttpMethod {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_token =
            |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        match text {
            "CONNECT" => Err("opens a tunnel, which carries no calls; give another".to_owned()),
            _ if text.is_empty() || !text.bytes().all(is_token) => {
                Err("is not an HTTP method; expected one such as GET, PUT or DELETE".to_owned())
            }
            _ if text.bytes().any(|byte| byte.is_ascii_lowercase()) => {
                Err(format!("methods of HTTP are in capitals; write {}", text.to_uppercase()))
            }
            _ => Ok(Self(text.to_owned())),
        }
    }
}

impl fmt::Display for HttpMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}
