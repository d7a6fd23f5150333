//! tcp-echo: bytes are sent back unchanged. Only lengths are read, to count calls.

use rpcbench_reference::{Close, Session};

const PREFIX: usize = 4;

/// The position in the stream of requests.
#[derive(Default)]
pub(super) struct TcpEcho {
    /// The first bytes of an incomplete length.
    prefix: Vec<u8>,
    /// Remaining bytes of the current body.
    left: usize,
    calls: u64,
}

impl Session for TcpEcho {
    fn receive(&mut self, input: &[u8], output: &mut Vec<u8>) -> Result<usize, Close> {
        output.extend_from_slice(input);
        let mut rest = input;
        while !rest.is_empty() {
            rest = if self.left > 0 { self.body(rest) } else { self.length(rest) };
        }
        Ok(input.len())
    }

    fn take_calls(&mut self) -> u64 {
        std::mem::take(&mut self.calls)
    }
}

impl TcpEcho {
    fn body<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let taken = bytes.len().min(self.left);
        self.left -= taken;
        self.calls += u64::from(self.left == 0);
        &bytes[taken..]
    }

    fn length<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let taken = bytes.len().min(PREFIX - self.prefix.len());
        self.prefix.extend_from_slice(&bytes[..taken]);
        if let Some(prefix) = self.prefix.first_chunk::<PREFIX>() {
            self.left = u32::from_be_bytes(*prefix) as usize;
            self.calls += u64::from(self.left == 0);
            self.prefix.clear();
        }
        &bytes[taken..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn split_input_is_echoed_and_counted() {
        let requests = b"\0\0\0\x03abc\0\0\0\0\0\0\0\x01x";
        for step in 1..=requests.len() {
            let (mut session, mut output) = (TcpEcho::default(), Vec::new());
            for part in requests.chunks(step) {
                assert_eq!(session.receive(part, &mut output), Ok(part.len()));
            }
            assert_eq!((output.as_slice(), session.take_calls()), (&requests[..], 3), "{step}");
        }
    }
}
