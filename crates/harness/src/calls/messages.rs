//! Options for compression and size of messages.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use clap::Args;
use rpcbench_engine::{MAX_REPLY, gzip};
use rpcbench_record::{CallHeader, units};

use super::CallPayload;
use crate::config::ConfigError;

/// How messages travel, as typed.
#[derive(Args, Clone, Debug, Default)]
pub struct MessageSpec {
    /// Compress requests, and ask for compressed replies: gzip. A reply is decompressed only where something looks into it,
    /// such as --expect, or --max-message
    #[arg(long, value_name = "CODING")]
    pub compress: Option<Coding>,
    /// Longest reply, such as 4M; a longer one fails its call. If given, every compressed reply is decompressed to find out
    /// [default: 64M]
    #[arg(long, value_name = "SIZE", value_parser = message_size)]
    pub max_message: Option<u64>,
}

/// How messages are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    /// RFC 1952.
    Gzip,
}

impl FromStr for Coding {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "gzip" => Ok(Self::Gzip),
            _ => Err("expected gzip, the one compression that is supported"),
        }
    }
}

impl fmt::Display for Coding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("gzip")
    }
}

fn message_size(text: &str) -> Result<u64, String> {
    size(text, 1 << 30, "1G, such as 4M")
}

/// Parses bytes, from 1 to `max`, which `most` says in words.
pub(super) fn size(text: &str, max: u64, most: &str) -> Result<u64, String> {
    let bytes = text.parse().or_else(|_| units::memory(text).map_err(|it| it.to_string()))?;
    let fits = (1..=max).contains(&bytes);
    fits.then_some(bytes).ok_or_else(|| format!("expected 1 byte to {most}"))
}

impl MessageSpec {
    /// Maximum size of a reply, bytes.
    pub(super) fn max_reply(&self) -> usize {
        self.max_message.map_or(MAX_REPLY, |size| size as usize)
    }

    /// True if the decompressed size of replies is limited, too. `headers`: the user's.
    pub(super) fn limits_content(&self, headers: &[CallHeader]) -> bool {
        let asks = headers.iter().any(|header| header.name() == "accept-encoding");
        self.max_message.is_some() && (self.compress.is_some() || asks)
    }

    /// Refuses headers that contradict `--compress`.
    pub(super) fn check(&self, headers: &[CallHeader]) -> Result<(), ConfigError> {
        let own = headers.iter().find(|header| header.name() == "content-encoding");
        match (self.compress, own) {
            (Some(coding), Some(header)) => {
                let remedy = "a body has one coding; leave one of them out";
                let (option, header) =
                    (format!("--compress {coding}"), format!("--header {header}"));
                Err(ConfigError::contradiction(option, header, remedy))
            }
            _ => Ok(()),
        }
    }

    /// Compresses requests, once for all calls.
    pub(super) fn compress(&self, payload: &mut CallPayload) {
        if self.compress.is_some() {
            payload.target.gzip = true;
            if payload.target.has_body {
                let compressed = payload.requests.iter().map(|request| gzip(request));
                payload.requests = Arc::new(compressed.collect());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_codings_out_of_range_are_refused() {
        let size = message_size;
        assert_eq!((size("100"), size("4M"), size("1G")), (Ok(100), Ok(4 << 20), Ok(1 << 30)));
        insta::assert_snapshot!(size("0").unwrap_err(), @"expected 1 byte to 1G, such as 4M");
        insta::assert_snapshot!(size("2G").unwrap_err(), @"expected 1 byte to 1G, such as 4M");
        insta::assert_snapshot!("zstd".parse::<Coding>().unwrap_err(), @"expected gzip, the one compression that is supported");
    }

    #[test]
    fn second_coding_of_a_body_is_refused() {
        let spec = MessageSpec { compress: Some(Coding::Gzip), ..MessageSpec::default() };
        let headers = ["content-encoding: br".parse().unwrap()];
        insta::assert_snapshot!(spec.check(&headers).unwrap_err().to_string(), @"--compress gzip contradicts --header content-encoding: br: a body has one coding; leave one of them out");
        assert!(MessageSpec::default().check(&headers).is_ok());
    }
}
