//! Requests as templates, and their header block in HPACK.

use super::application::Http2Application;
use super::{frame, hpack};
use crate::nonce::Nonce;
use crate::payload::Payload;
use crate::protocol::Call;
use crate::protocol::head::{Head, distinct_targets};
use crate::protocol::template::{self, Layout, Template};

/// Maximum bytes used of a peer's header table, even if it offers more.
pub(super) const MAX_TABLE: usize = 4096;
/// First index of the dynamic table.
const NEWEST: usize = 62;

/// The header block of requests to one target, in its three forms.
#[derive(Debug)]
pub(crate) struct RequestHead {
    /// Enters fields into the peer's table.
    pub inserting: Vec<u8>,
    /// Refers to the fields that `inserting` entered, no matter which of the payload's heads did.
    pub indexed: Vec<u8>,
    /// Does not use the table.
    pub literal: Vec<u8>,
}

impl RequestHead {
    /// The heads of a payload, and the table size of the fields they enter, bytes. Only fields that all heads share are
    /// entered, in the same order, so any head may be a connection's first.
    pub fn all(heads: &[Head<'_>]) -> (Vec<Self>, usize) {
        let lists: Vec<Vec<_>> = heads.iter().map(fields).collect();
        let mut entering: Vec<Field<'_>> = Vec::new();
        let mut room = MAX_TABLE;
        for field in lists.first().into_iter().flatten() {
            let once = |list: &Vec<Field<'_>>| list.iter().filter(|it| *it == field).count() == 1;
            if lists.iter().all(once) && field.enters(room) {
                room -= field.size();
                entering.push(field.clone());
            }
        }
        let heads = lists.into_iter().map(|list| Self::new(list, &entering)).collect();
        (heads, MAX_TABLE - room)
    }

    fn new(mut fields: Vec<Field<'_>>, entering: &[Field<'_>]) -> Self {
        let place = |field: &Field<'_>| entering.iter().position(|it| it == field);
        // Pseudo-header fields come first, and have the same order in all heads.
        fields.sort_by_key(|field| match field.name[0] {
            b':' => (false, None),
            _ => (true, place(field).or(Some(usize::MAX))),
        });
        let [mut inserting, mut indexed, mut literal]: [Vec<u8>; 3] = Default::default();
        for field in &fields {
            let place = place(field);
            hpack::field(&mut inserting, &field.name, field.value, place.is_some());
            hpack::field(&mut literal, &field.name, field.value, false);
            match place {
                Some(at) => hpack::indexed(&mut indexed, NEWEST + entering.len() - 1 - at),
                None => hpack::field(&mut indexed, &field.name, field.value, false),
            }
        }
        Self { inserting, indexed, literal }
    }
}

fn fields<'a>(head: &Head<'a>) -> Vec<Field<'a>> {
    let first = [
        (":method", head.method),
        (":scheme", head.scheme),
        (":path", head.path),
        (":authority", head.authority),
    ];
    first.iter().chain(&head.fields).map(|(name, value)| Field::new(name, value)).collect()
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Field<'a> {
    name: Vec<u8>,
    value: &'a [u8],
}

impl<'a> Field<'a> {
    fn new(name: &str, value: &'a str) -> Self {
        Self { name: name.to_ascii_lowercase().into_bytes(), value: value.as_bytes() }
    }

    /// True if the field enters a table with this much room. A field too long for it stays a literal.
    fn enters(&self, room: usize) -> bool {
        self.size() <= room && hpack::static_index(&self.name, self.value).is_none()
    }

    /// Size in the table, bytes. RFC 7541, section 4.1.
    fn size(&self) -> usize {
        self.name.len() + self.value.len() + 32
    }
}

/// A request with a call's nonce. It fits in registers: a whole call would be passed in memory, written in half words and read
/// in words, which stalls the CPU.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    /// Index of the payload's request.
    pub index: u32,
    pub nonce: Nonce,
}

impl From<Call> for Request {
    #[inline]
    fn from(Call { request, nonce, .. }: Call) -> Self {
        Self { index: request, nonce }
    }
}

/// Every request of a payload as HEADERS and DATA with stream identifier 0, for a connection whose table has the heads' shared
/// fields. A request without a body is HEADERS alone.
#[derive(Debug)]
pub(crate) struct Templates {
    heads: Vec<RequestHead>,
    /// Size of the fields that heads enter into the peer's table, bytes.
    pub table_bytes: usize,
    requests: template::Templates,
    /// The head of each request.
    head_of: Vec<u32>,
}

impl Templates {
    pub fn new<C: Http2Application>(payload: &dyn Payload, authority: &str) -> Self {
        let (targets, head_of) = distinct_targets(payload);
        let heads = targets.iter().map(|it| Head::new(it, authority, C::FIELDS, C::CODING));
        let heads: Vec<_> = heads.collect();
        let (heads, table_bytes) = RequestHead::all(&heads);
        let requests = template::Templates::new(payload, |index, out| {
            let (message, start) = (payload.request(index), out.len());
            // A protocol with a prefix always has a message.
            let has_body = C::PREFIX > 0 || payload.target(index).has_body;
            let flags = frame::END_HEADERS | if has_body { 0 } else { frame::END_STREAM };
            frame::put_head(out, 0, frame::HEADERS, flags, 0);
            out.extend_from_slice(&heads[head_of[index] as usize].indexed);
            if !has_body {
                frame::set_length(out, start);
                let end = out.len() - start;
                return Layout { body: end, message: end, last_frame: 0 };
            }
            let body = C::PREFIX + message.len();
            C::put_own_fields(body, out);
            frame::set_length(out, start);
            let last_frame = out.len() - start;
            frame::put_head(out, body, frame::DATA, frame::END_STREAM, 0);
            let body = out.len() - start;
            C::put_prefix(payload.target(index).gzip, message.len(), out);
            out.extend_from_slice(message);
            Layout { body, message: body + C::PREFIX, last_frame }
        });
        Self { heads, table_bytes, requests, head_of }
    }

    #[inline]
    pub(super) fn get(&self, request: u32) -> Template<'_> {
        self.requests.get(request)
    }

    /// The head of this request.
    pub fn head(&self, request: u32) -> &RequestHead {
        &self.heads[self.head_of[request as usize] as usize]
    }

    /// The header fields of this request alone, encoded.
    pub(super) fn own_fields(&self, request: u32) -> &[u8] {
        let template = self.get(request);
        let end = if template.last_frame > 0 { template.last_frame } else { template.body };
        &template.bytes[frame::HEADER + self.head(request).indexed.len()..end]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::Target;

    const OWN: [(&str, &str); 2] = [("content-type", "application/grpc"), ("te", "trailers")];

    fn target(path: &str, headers: &[(&str, &str)]) -> Target {
        let own = |(name, value): &(&str, &str)| format!("{name}: {value}").parse().unwrap();
        Target { headers: headers.iter().map(own).collect(), ..Target::new(path) }
    }

    fn heads(targets: &[Target]) -> (Vec<RequestHead>, usize) {
        let head = |target| Head::new(target, "127.0.0.1:50051", &OWN, ["", ""]);
        RequestHead::all(&targets.iter().map(head).collect::<Vec<_>>())
    }

    fn head(headers: &[(&str, &str)]) -> (RequestHead, usize) {
        let (mut heads, table_bytes) = heads(&[target("/pkg.Service/Method", headers)]);
        (heads.remove(0), table_bytes)
    }

    fn decode(decoder: &mut loona_hpack::Decoder<'_>, block: &[u8]) -> Vec<(String, String)> {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        decoder.decode(block).unwrap().into_iter().map(|(n, v)| (text(n), text(v))).collect()
    }

    #[test]
    fn three_forms_say_the_same() {
        let token = "t".repeat(MAX_TABLE);
        let headers = [("X-Trace", "7"), ("authorization", &token), ("x-tenant", "a")];
        for (count, length) in [(0, 7), (1, 8), (3, 9 + token.len())] {
            let (head, table_bytes) = head(&headers[..count]);
            let mut decoder = loona_hpack::Decoder::new();
            let literal = decode(&mut decoder, &head.literal);
            assert_eq!(decode(&mut decoder, &head.inserting), literal);
            assert_eq!(decode(&mut decoder, &head.indexed), literal);
            assert!((length..length + 20).contains(&head.indexed.len()), "{count} headers");
            assert_eq!(literal[0], (":method".to_owned(), "POST".to_owned()));
            assert_eq!(literal[2], (":path".to_owned(), "/pkg.Service/Method".to_owned()));
            assert_eq!(literal.len(), 7 + count);
            assert!(count == 0 || literal.contains(&("x-trace".to_owned(), "7".to_owned())));
            assert!(table_bytes <= MAX_TABLE);
        }
    }

    #[test]
    fn every_head_decodes_as_the_first_of_a_connection() {
        let targets = [
            target("/a", &[("x-trace", "7"), ("x-tenant", "a")]),
            target("/b", &[("x-tenant", "b"), ("x-trace", "7")]),
            Target { http_method: "GET".to_owned(), ..target("/a", &[("x-trace", "7")]) },
        ];
        let (heads, _) = heads(&targets);
        for first in &heads {
            let mut decoder = loona_hpack::Decoder::new();
            decode(&mut decoder, &first.inserting);
            for head in &heads {
                assert_eq!(
                    decode(&mut decoder, &head.indexed),
                    decode(&mut loona_hpack::Decoder::new(), &head.literal)
                );
            }
        }
        let fields = |head: &RequestHead| decode(&mut loona_hpack::Decoder::new(), &head.literal);
        assert!(fields(&heads[1]).contains(&("x-tenant".to_owned(), "b".to_owned())));
        assert_eq!(fields(&heads[2])[0].1, "GET");
    }

    #[test]
    fn small_table_is_never_overfilled() {
        let (head, table_bytes) = head(&[("x-trace", "7")]);
        let mut decoder = loona_hpack::Decoder::new();
        let mut block = Vec::new();
        hpack::size_update(&mut block, table_bytes);
        block.extend_from_slice(&head.inserting);
        let fields = decode(&mut decoder, &block);
        assert_eq!(decode(&mut decoder, &head.indexed), fields);
    }
}
