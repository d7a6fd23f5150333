//! Requests as templates: bytes made once, copied for each call, two stream identifiers and a nonce patched.

use std::ops::Range;

use rpcbench_contract::Nonce;

use super::carried::Carried;
use super::{frame, hpack};
use crate::payload::Payload;
use crate::protocol::Call;
use crate::protocol::path::path;

const METHOD_POST: usize = 3;
const SCHEME_HTTP: usize = 6;
/// First index of the dynamic table.
const NEWEST: usize = 62;
const USER_AGENT: &str = concat!("rpcbench/", env!("CARGO_PKG_VERSION"));

/// The header block of a method's requests, in its three forms.
#[derive(Debug)]
pub(crate) struct RequestHead {
    /// Enters the fields into the peer's table.
    pub inserting: Vec<u8>,
    /// Refers to the fields that `inserting` entered.
    pub indexed: Vec<u8>,
    /// Needs no table and leaves it as it is.
    pub literal: Vec<u8>,
    /// What the entered fields take in the peer's table, bytes.
    pub table_bytes: usize,
}

impl RequestHead {
    /// `own` are the fields of the protocol that is carried.
    pub fn new(path: &str, authority: &str, own: &[(&str, &str)]) -> Self {
        let mut fields = vec![(":path", path), (":authority", authority)];
        fields.extend_from_slice(own);
        fields.push(("user-agent", USER_AGENT));
        let mut blocks: [Vec<u8>; 3] = Default::default();
        for block in &mut blocks {
            hpack::indexed(block, METHOD_POST);
            hpack::indexed(block, SCHEME_HTTP);
        }
        let [mut inserting, mut indexed, mut literal] = blocks;
        let mut table_bytes = 0;
        for (i, (name, value)) in fields.iter().enumerate() {
            hpack::literal(&mut inserting, name.as_bytes(), value.as_bytes(), true);
            hpack::literal(&mut literal, name.as_bytes(), value.as_bytes(), false);
            hpack::indexed(&mut indexed, NEWEST + fields.len() - 1 - i);
            table_bytes += name.len() + value.len() + 32;
        }
        Self { inserting, indexed, literal, table_bytes }
    }
}

/// A request with a call's nonce in it. Small enough for registers: a whole call would be handed over in memory, where it is
/// written by halves of words and read by words, which the CPU waits for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    /// Which of the payload's requests.
    pub index: u32,
    pub nonce: Nonce,
}

impl From<Call> for Request {
    #[inline]
    fn from(Call { request, nonce, .. }: Call) -> Self {
        Self { index: request, nonce }
    }
}

/// Every request of a payload, ready to be sent on a connection whose table has the head's fields.
#[derive(Debug)]
pub(crate) struct Templates {
    pub head: RequestHead,
    bytes: Vec<u8>,
    extents: Vec<Extent>,
}

/// Where a request is in the bytes of all, which are far fewer than 4 GiB.
#[derive(Debug)]
struct Extent {
    frames: Range<u32>,
    /// Where DATA begins, within the frames.
    data: u32,
    /// Within the frames.
    nonce: Range<u32>,
}

/// A request, stream identifiers 0.
#[derive(Clone, Debug)]
pub(super) struct Template<'a> {
    /// HEADERS and DATA.
    pub frames: &'a [u8],
    /// Where DATA begins in them.
    pub data: usize,
    /// The bytes in them that are each call's own.
    pub nonce: Range<usize>,
}

impl Templates {
    pub fn new<C: Carried>(payload: &dyn Payload, authority: &str) -> Self {
        let head = RequestHead::new(path(payload.method()), authority, C::FIELDS);
        let (mut bytes, mut extents) = (Vec::new(), Vec::new());
        for request in 0..payload.len() {
            let (message, start) = (payload.request(request), bytes.len());
            let body = C::PREFIX + message.len();
            frame::put_head(&mut bytes, 0, frame::HEADERS, frame::END_HEADERS, 0);
            bytes.extend_from_slice(&head.indexed);
            C::put_own_fields(body, &mut bytes);
            frame::set_length(&mut bytes, start);
            let data = bytes.len() - start;
            frame::put_head(&mut bytes, body, frame::DATA, frame::END_STREAM, 0);
            C::put_prefix(message.len(), &mut bytes);
            bytes.extend_from_slice(message);
            let (nonce, message_at) = (payload.nonce(request), data + frame::HEADER + C::PREFIX);
            extents.push(Extent {
                frames: start as u32..bytes.len() as u32,
                data: data as u32,
                nonce: (message_at + nonce.start) as u32..(message_at + nonce.end) as u32,
            });
        }
        Self { head, bytes, extents }
    }

    #[inline]
    pub(super) fn get(&self, request: u32) -> Template<'_> {
        let Extent { frames, data, nonce } = &self.extents[request as usize];
        Template {
            frames: &self.bytes[frames.start as usize..frames.end as usize],
            data: *data as usize,
            nonce: nonce.start as usize..nonce.end as usize,
        }
    }

    /// The header fields that are the request's own, encoded.
    pub(super) fn own_fields(&self, request: u32) -> &[u8] {
        let Template { frames, data, .. } = self.get(request);
        &frames[frame::HEADER + self.head.indexed.len()..data]
    }
}

impl<'a> Template<'a> {
    /// The message, with what stands before it.
    pub fn body(&self) -> &'a [u8] {
        &self.frames[self.body_at()..]
    }

    /// The bytes of the body that are each call's own.
    pub fn nonce_in_body(&self) -> Range<usize> {
        self.nonce.start - self.body_at()..self.nonce.end - self.body_at()
    }

    fn body_at(&self) -> usize {
        self.data + frame::HEADER
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: [(&str, &str); 2] = [("content-type", "application/grpc"), ("te", "trailers")];

    fn decode(decoder: &mut loona_hpack::Decoder<'_>, block: &[u8]) -> Vec<(String, String)> {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        decoder.decode(block).unwrap().into_iter().map(|(n, v)| (text(n), text(v))).collect()
    }

    #[test]
    fn the_three_forms_say_the_same() {
        let head = RequestHead::new("/pkg.Service/Method", "127.0.0.1:50051", &OWN);
        let mut decoder = loona_hpack::Decoder::new();
        let literal = decode(&mut decoder, &head.literal);
        assert_eq!(decode(&mut decoder, &head.inserting), literal);
        assert_eq!(decode(&mut decoder, &head.indexed), literal);
        assert_eq!(head.indexed.len(), 7);
        assert_eq!(literal[0], (":method".to_owned(), "POST".to_owned()));
        assert_eq!(literal[2], (":path".to_owned(), "/pkg.Service/Method".to_owned()));
    }

    #[test]
    fn a_small_table_is_never_overfilled() {
        let head = RequestHead::new("/p", "a", &OWN);
        let mut decoder = loona_hpack::Decoder::new();
        let mut block = Vec::new();
        hpack::size_update(&mut block, head.table_bytes);
        block.extend_from_slice(&head.inserting);
        let fields = decode(&mut decoder, &block);
        assert_eq!(decode(&mut decoder, &head.indexed), fields);
    }
}
