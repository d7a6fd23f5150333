//! Thrift's transports, which delimit messages.

use std::fmt::Debug;
use std::marker::PhantomData;
use std::ops::Range;

use rpcbench_record::Protocol;

use super::encoding::{Encoding, Kind};
use super::scanner::Scanner;
use super::{MAX_MESSAGE, Problem};

/// Bytes of the length before a message.
const PREFIX: usize = 4;

/// One of Thrift's transports, and its position in the input.
pub(crate) trait Transport: Debug + Send + 'static {
    type Encoding: Encoding;
    const PROTOCOL: Protocol;

    fn new() -> Self;

    /// A message in the transport's form.
    fn framed(message: &[u8]) -> Vec<u8>;

    /// Range of the first message in `bytes`, once it is complete. Until then, the next call gets the same bytes and more;
    /// after that, the bytes after the message.
    fn next(&mut self, bytes: &[u8]) -> Result<Option<Range<usize>>, Problem>;
}

/// A length before each message.
#[derive(Debug)]
pub(crate) struct Framed<E>(PhantomData<E>);

/// Messages without lengths: their structure shows where they end.
#[derive(Debug)]
pub(crate) struct Buffered<E> {
    scanner: Scanner<E>,
    /// True if the head of an incomplete message was read.
    within: bool,
}

impl<E: Encoding> Transport for Framed<E> {
    type Encoding = E;
    const PROTOCOL: Protocol = E::FRAMED;

    fn new() -> Self {
        Self(PhantomData)
    }

    fn framed(message: &[u8]) -> Vec<u8> {
        [&(message.len() as u32).to_be_bytes(), message].concat()
    }

    #[inline]
    fn next(&mut self, bytes: &[u8]) -> Result<Option<Range<usize>>, Problem> {
        let Some(length) = bytes.first_chunk::<PREFIX>() else { return Ok(None) };
        let length = u32::from_be_bytes(*length) as usize;
        if length > MAX_MESSAGE {
            return Err("a message longer than 64 MiB; does the server speak this protocol?");
        }
        let end = PREFIX + length;
        Ok((bytes.len() >= end).then_some(PREFIX..end))
    }
}

impl<E: Encoding> Transport for Buffered<E> {
    type Encoding = E;
    const PROTOCOL: Protocol = E::BUFFERED;

    fn new() -> Self {
        Self { scanner: Scanner::new(Kind::Struct, 0), within: false }
    }

    fn framed(message: &[u8]) -> Vec<u8> {
        message.to_vec()
    }

    #[inline]
    fn next(&mut self, bytes: &[u8]) -> Result<Option<Range<usize>>, Problem> {
        if !self.within {
            let Some(head) = E::head(bytes)? else { return Ok(None) };
            self.scanner.restart(Kind::Struct, head.length);
        }
        let end = self.scanner.end(bytes)?;
        self.within = end.is_none();
        Ok(end.map(|end| 0..end))
    }
}
