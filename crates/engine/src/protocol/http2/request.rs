//! Requests as templates, and their header block in HPACK.

use super::application::Http2Application;
use super::{frame, hpack};
use crate::nonce::Nonce;
use crate::payload::Payload;
use crate::protocol::Call;
use crate::protocol::head::Head;
use crate::protocol::template::{self, Layout, Template};

/// Most bytes used of a peer's header table, even if it offers more.
pub(super) const MAX_TABLE: usize = 4096;
/// First index of the dynamic table.
const NEWEST: usize = 62;

/// The header block of a target's requests, in its three forms.
#[derive(Debug)]
pub(crate) struct RequestHead {
    /// Enters fields into the peer's table.
    pub inserting: Vec<u8>,
    /// Refers to the fields that `inserting` entered.
    pub indexed: Vec<u8>,
    /// Without the table.
    pub literal: Vec<u8>,
    /// Size of the entered fields in the peer's table, bytes.
    pub table_bytes: usize,
}

impl RequestHead {
    pub fn new(head: &Head<'_>) -> Self {
        let first = [
            (":method", head.method),
            (":scheme", "http"),
            (":path", head.path),
            (":authority", head.authority),
        ];
        let mut table_bytes = 0;
        let mut fields = Vec::new();
        for (name, value) in first.iter().chain(&head.fields) {
            let field = Field::new(name, value, MAX_TABLE - table_bytes);
            table_bytes += if field.enters { field.size() } else { 0 };
            fields.push(field);
        }
        let [mut inserting, mut indexed, mut literal]: [Vec<u8>; 3] = Default::default();
        let mut index = NEWEST + fields.iter().filter(|field| field.enters).count();
        for field in &fields {
            hpack::field(&mut inserting, &field.name, field.value, field.enters);
            hpack::field(&mut literal, &field.name, field.value, false);
            if field.enters {
                index -= 1;
                hpack::indexed(&mut indexed, index);
            } else {
                hpack::field(&mut indexed, &field.name, field.value, false);
            }
        }
        Self { inserting, indexed, literal, table_bytes }
    }
}

#[derive(Debug)]
struct Field<'a> {
    name: Vec<u8>,
    value: &'a [u8],
    /// True if the field enters the dynamic table. A field too long for it stays a literal, so the others keep their indexes.
    enters: bool,
}

impl<'a> Field<'a> {
    fn new(name: &str, value: &'a str, room: usize) -> Self {
        let (name, value) = (name.to_ascii_lowercase().into_bytes(), value.as_bytes());
        let mut field = Self { name, value, enters: false };
        field.enters = field.size() <= room && hpack::static_index(&field.name, value).is_none();
        field
    }

    /// Size in the table, bytes. RFC 7541, section 4.1.
    fn size(&self) -> usize {
        self.name.len() + self.value.len() + 32
    }
}

/// A request with a call's nonce. It fits registers: a whole call would be passed in memory, written in half words and read in
/// words, which stalls the CPU.
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

/// Every request of a payload as HEADERS and DATA with stream identifier 0, for a connection whose table has the head's
/// fields.
#[derive(Debug)]
pub(crate) struct Templates {
    pub head: RequestHead,
    requests: template::Templates,
}

impl Templates {
    pub fn new<C: Http2Application>(payload: &dyn Payload, authority: &str) -> Self {
        let head = RequestHead::new(&Head::new(payload.target(), authority, C::FIELDS));
        let requests = template::Templates::new(payload, |message, out| {
            let start = out.len();
            let body = C::PREFIX + message.len();
            frame::put_head(out, 0, frame::HEADERS, frame::END_HEADERS, 0);
            out.extend_from_slice(&head.indexed);
            C::put_own_fields(body, out);
            frame::set_length(out, start);
            frame::put_head(out, body, frame::DATA, frame::END_STREAM, 0);
            let body = out.len() - start;
            C::put_prefix(message.len(), out);
            out.extend_from_slice(message);
            Layout { body, message: body + C::PREFIX }
        });
        Self { head, requests }
    }

    #[inline]
    pub(super) fn get(&self, request: u32) -> Template<'_> {
        self.requests.get(request)
    }

    /// The header fields of this request, encoded.
    pub(super) fn own_fields(&self, request: u32) -> &[u8] {
        let Template { bytes, body, .. } = self.get(request);
        &bytes[frame::HEADER + self.head.indexed.len()..body - frame::HEADER]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::Target;

    const OWN: [(&str, &str); 2] = [("content-type", "application/grpc"), ("te", "trailers")];

    fn head(headers: &[(&str, &str)]) -> RequestHead {
        let own = |(name, value): &(&str, &str)| format!("{name}: {value}").parse().unwrap();
        let headers = headers.iter().map(own).collect();
        let target = Target { headers, ..Target::new("/pkg.Service/Method") };
        RequestHead::new(&Head::new(&target, "127.0.0.1:50051", &OWN))
    }

    fn decode(decoder: &mut loona_hpack::Decoder<'_>, block: &[u8]) -> Vec<(String, String)> {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        decoder.decode(block).unwrap().into_iter().map(|(n, v)| (text(n), text(v))).collect()
    }

    #[test]
    fn the_three_forms_say_the_same() {
        let token = "t".repeat(MAX_TABLE);
        let headers = [("X-Trace", "7"), ("authorization", &token), ("x-tenant", "a")];
        for (count, length) in [(0, 7), (1, 8), (3, 9 + token.len())] {
            let head = head(&headers[..count]);
            let mut decoder = loona_hpack::Decoder::new();
            let literal = decode(&mut decoder, &head.literal);
            assert_eq!(decode(&mut decoder, &head.inserting), literal);
            assert_eq!(decode(&mut decoder, &head.indexed), literal);
            assert!((length..length + 20).contains(&head.indexed.len()), "{count} headers");
            assert_eq!(literal[0], (":method".to_owned(), "POST".to_owned()));
            assert_eq!(literal[2], (":path".to_owned(), "/pkg.Service/Method".to_owned()));
            assert_eq!(literal.len(), 7 + count);
            assert!(count == 0 || literal.contains(&("x-trace".to_owned(), "7".to_owned())));
            assert!(head.table_bytes <= MAX_TABLE);
        }
    }

    #[test]
    fn a_small_table_is_never_overfilled() {
        let head = head(&[("x-trace", "7")]);
        let mut decoder = loona_hpack::Decoder::new();
        let mut block = Vec::new();
        hpack::size_update(&mut block, head.table_bytes);
        block.extend_from_slice(&head.inserting);
        let fields = decode(&mut decoder, &block);
        assert_eq!(decode(&mut decoder, &head.indexed), fields);
    }
}
