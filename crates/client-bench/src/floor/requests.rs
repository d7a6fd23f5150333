//! Requests as bytes: made once, patched in place, never copied.

use rpcbench_contract::Corpus;

use super::FloorError;

/// Bytes before the payload of an HTTP/2 frame. RFC 9113, section 4.1.
pub(super) const FRAME_HEADER: usize = 9;
/// Where the stream identifier is in a frame.
const STREAM: usize = 5;
/// Highest stream identifier. RFC 9113, section 5.1.1.
const LAST_STREAM: u32 = 0x7fff_ffff;
/// `:method: POST` and `:scheme: http` of HPACK's static table.
const STATIC: [u8; 2] = [0x83, 0x86];
/// An HPACK literal with a new name that enters the table.
const INSERTED: u8 = 0x40;
/// The newest entry of HPACK's dynamic table, as an indexed field.
const NEWEST: u8 = 0x80 | 62;

/// Frame types and flags. RFC 9113, section 6.
pub(super) mod wire {
    pub const DATA: u8 = 0;
    pub const HEADERS: u8 = 1;
    pub const SETTINGS: u8 = 4;
    pub const WINDOW_UPDATE: u8 = 8;
    pub const END_STREAM: u8 = 1;
    pub const ACK: u8 = 1;
    pub const END_HEADERS: u8 = 4;
}

/// Appends a frame.
pub(super) fn frame(out: &mut Vec<u8>, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
    let [_, length @ ..] = (payload.len() as u32).to_be_bytes();
    out.extend_from_slice(&length);
    out.extend_from_slice(&[kind, flags]);
    out.extend_from_slice(&stream.to_be_bytes());
    out.extend_from_slice(payload);
}

/// All requests of a corpus, one behind the other, and then from the first again.
#[derive(Debug)]
pub(super) struct Requests {
    /// The header block that enters the fields into the server's table.
    inserting: Vec<u8>,
    /// The header block that refers to them.
    indexed: Vec<u8>,
    bytes: Vec<u8>,
    /// Bytes of a request: HEADERS and DATA.
    size: usize,
    entries: usize,
    /// The entry that comes next.
    next: usize,
}

impl Requests {
    /// Requests of which at most `most` are sent at once.
    pub fn new(corpus: &Corpus, authority: &str, most: usize) -> Result<Self, FloorError> {
        let lengths = || (0..corpus.len()).map(|entry| corpus.request(entry).len());
        let (least, longest) = (lengths().min().unwrap_or(0), lengths().max().unwrap_or(0));
        if least != longest {
            return Err(FloorError::Sizes { least, most: longest });
        }
        let method = corpus.method();
        let path = format!("/{}/{}", method.service(), method.name());
        let (inserting, indexed) = head(&path, authority);
        let mut bytes = Vec::new();
        for entry in 0..corpus.len() + most {
            frame(&mut bytes, wire::HEADERS, wire::END_HEADERS, 0, &indexed);
            frame(&mut bytes, wire::DATA, wire::END_STREAM, 0, &message(corpus.request(entry)));
        }
        let size = bytes.len() / (corpus.len() + most);
        Ok(Self { inserting, indexed, bytes, size, entries: corpus.len(), next: 0 })
    }

    /// Bytes of DATA in a request.
    pub fn data(&self) -> usize {
        self.size - 2 * FRAME_HEADER - self.indexed.len()
    }

    /// A connection's first request, which enters the fields into the server's table.
    pub fn first(&self, stream: u32, corpus: &Corpus, entry: usize) -> Vec<u8> {
        self.single(&self.inserting, stream, corpus, entry)
    }

    /// A later request by itself.
    pub fn later(&self, stream: u32, corpus: &Corpus, entry: usize) -> Vec<u8> {
        self.single(&self.indexed, stream, corpus, entry)
    }

    fn single(&self, head: &[u8], stream: u32, corpus: &Corpus, entry: usize) -> Vec<u8> {
        let mut out = Vec::new();
        frame(&mut out, wire::HEADERS, wire::END_HEADERS, stream, head);
        frame(&mut out, wire::DATA, wire::END_STREAM, stream, &message(corpus.request(entry)));
        out
    }

    /// The next `count` requests, on streams from `stream` on; `None` if there are not so many streams.
    pub fn take(&mut self, count: usize, stream: u32) -> Option<&[u8]> {
        if u64::from(stream) + 2 * count as u64 > u64::from(LAST_STREAM) {
            return None;
        }
        let from = self.next * self.size;
        self.next = (self.next + count) % self.entries;
        let data = FRAME_HEADER + self.indexed.len() + STREAM;
        let out = &mut self.bytes[from..from + count * self.size];
        let mut id = stream;
        for request in out.chunks_exact_mut(self.size) {
            for at in [STREAM, data] {
                request[at..at + 4].copy_from_slice(&id.to_be_bytes());
            }
            id += 2;
        }
        Some(out)
    }
}

/// A gRPC message: a flag, the length, the protobuf bytes.
fn message(protobuf: &[u8]) -> Vec<u8> {
    let mut message = vec![0];
    message.extend_from_slice(&(protobuf.len() as u32).to_be_bytes());
    message.extend_from_slice(protobuf);
    message
}

fn head(path: &str, authority: &str) -> (Vec<u8>, Vec<u8>) {
    let fields = [
        (":path", path),
        (":authority", authority),
        ("content-type", "application/grpc"),
        ("te", "trailers"),
        ("user-agent", concat!("rpcbench/", env!("CARGO_PKG_VERSION"))),
    ];
    let (mut inserting, mut indexed) = (STATIC.to_vec(), STATIC.to_vec());
    for (older, (name, value)) in fields.iter().rev().enumerate().rev() {
        inserting.push(INSERTED);
        for text in [name, value] {
            inserting.push(text.len() as u8);
            inserting.extend_from_slice(text.as_bytes());
        }
        indexed.push(NEWEST + older as u8);
    }
    (inserting, indexed)
}

#[cfg(test)]
mod tests {
    use rpcbench_contract::Encoding;

    use super::*;

    fn corpus() -> Corpus {
        Corpus::plain(&"text:100".parse().unwrap(), 1, Encoding::Protobuf)
    }

    #[test]
    fn only_the_identifiers_of_a_request_change() {
        let corpus = corpus();
        let mut requests = Requests::new(&corpus, "127.0.0.1:1", 3).unwrap();
        let expected: Vec<u8> = [(0, 5), (1, 7)]
            .iter()
            .flat_map(|(entry, stream)| requests.later(*stream, &corpus, *entry))
            .collect();
        assert_eq!(requests.take(2, 5).unwrap(), expected);
        let third = requests.later(0x7fff_fff1, &corpus, 2);
        assert_eq!(requests.take(1, 0x7fff_fff1).unwrap(), third);
    }

    #[test]
    fn after_the_last_entry_comes_the_first() {
        let corpus = corpus();
        let mut requests = Requests::new(&corpus, "127.0.0.1:1", 2).unwrap();
        for _ in 0..corpus.len() - 1 {
            requests.take(1, 1).unwrap();
        }
        let mut expected = requests.later(9, &corpus, corpus.len() - 1);
        expected.extend(requests.later(11, &corpus, 0));
        assert_eq!(requests.take(2, 9).unwrap(), expected);
        assert_eq!(requests.take(1, 1).unwrap(), requests_at(&corpus, 1));
    }

    fn requests_at(corpus: &Corpus, entry: usize) -> Vec<u8> {
        Requests::new(corpus, "127.0.0.1:1", 1).unwrap().later(1, corpus, entry)
    }

    #[test]
    fn streams_end_at_the_highest_identifier() {
        let mut requests = Requests::new(&corpus(), "127.0.0.1:1", 2).unwrap();
        assert!(requests.take(2, 0x7fff_fffb).is_some());
        assert!(requests.take(2, 0x7fff_fffd).is_none());
    }

    #[test]
    fn requests_of_several_sizes_are_refused() {
        let corpus = Corpus::plain(&"tree".parse().unwrap(), 1, Encoding::Protobuf);
        let error = Requests::new(&corpus, "127.0.0.1:1", 1).unwrap_err();
        assert!(error.to_string().contains("one size"), "{error}");
    }
}
