//! JSON over HTTP/1.1. Replies come in request order; requests have no numbers.

use anyhow::Context as _;

use super::{Numbers, Reply, USER_AGENT, Wire};
use crate::floor::peer::Peer;

pub(super) struct Json {
    /// The head of a request, up to the length of its body.
    head: String,
}

impl Json {
    pub fn new(path: &str, authority: &str) -> Self {
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {authority}\r\nUser-Agent: {USER_AGENT}\r\n\
             Content-Type: application/json\r\nContent-Length: "
        );
        Self { head }
    }
}

impl Wire for Json {
    fn request(&self, _call: u32, message: &[u8]) -> Vec<u8> {
        let length = message.len().to_string();
        [self.head.as_bytes(), length.as_bytes(), b"\r\n\r\n", message].concat()
    }

    fn numbers(&self) -> Numbers {
        Numbers::default()
    }

    fn reply(&self, peer: &mut Peer, _call: u32) -> anyhow::Result<Reply> {
        let status = peer.read_line()?;
        anyhow::ensure!(status.starts_with("HTTP/1.1 200 "), "a reply that begins with {status:?}");
        let (mut head, mut length) = (status.len(), None);
        loop {
            let line = peer.read_line()?;
            head += line.len();
            match line.trim_end().split_once(':') {
                Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                    length = value.trim().parse().ok();
                }
                Some(_) => {}
                None => break,
            }
        }
        let length: usize = length.context("a reply without a Content-Length")?;
        Ok(Reply { size: head + length, message: peer.read(length)? })
    }
}
