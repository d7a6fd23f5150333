//! Requests as bytes: encoded once, patched in place, never copied.

use rpcbench_contract::Corpus;

use super::wire::{Numbers, Wire};

/// Maximum number of a call. RFC 9113, section 5.1.1; in Thrift it is an i32.
const LAST_NUMBER: u64 = 0x7fff_ffff;

/// All requests of a corpus back to back, followed by the first ones again.
#[derive(Debug)]
pub(super) struct Requests {
    bytes: Vec<u8>,
    /// Bytes of a request.
    size: usize,
    entries: usize,
    numbers: Numbers,
    next: usize,
}

impl Requests {
    /// Requests of which at most `max` are sent at once.
    pub fn new(corpus: &Corpus, wire: &dyn Wire, max: usize) -> anyhow::Result<Self> {
        let lengths = || (0..corpus.len()).map(|entry| corpus.request(entry).len());
        let (least, longest) = (lengths().min().unwrap_or(0), lengths().max().unwrap_or(0));
        anyhow::ensure!(
            least == longest,
            "requests of {least} and of {longest} bytes: the floor needs a shape of one size, such as text:100"
        );
        let entries = 0..corpus.len() + max;
        // Like any call except a connection's first.
        let bytes: Vec<u8> =
            entries.clone().flat_map(|entry| wire.request(1, corpus.request(entry))).collect();
        let size = bytes.len() / entries.len();
        Ok(Self { bytes, size, entries: corpus.len(), numbers: wire.numbers(), next: 0 })
    }

    /// The next `count` requests, for a connection's calls from `call` on. `None` if the numbers run out.
    pub fn take(&mut self, count: usize, call: u64) -> Option<&[u8]> {
        if self.numbers.of(call + count as u64) > LAST_NUMBER {
            return None;
        }
        let from = self.next * self.size;
        self.next = (self.next + count) % self.entries;
        let out = &mut self.bytes[from..from + count * self.size];
        for (request, call) in out.chunks_exact_mut(self.size).zip(call..) {
            let number = self.numbers.of(call) as u32;
            for at in &self.numbers.offsets {
                request[*at..at + 4].copy_from_slice(&number.to_be_bytes());
            }
        }
        Some(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::floor::wire;
    use rpcbench_record::Protocol;

    fn wire(protocol: Protocol, shape: &str) -> (Box<dyn Wire>, Corpus) {
        wire::of(protocol, &shape.parse().unwrap(), ([127, 0, 0, 1], 1).into()).unwrap()
    }

    /// The requests, and the bytes of single ones.
    fn requests(protocol: Protocol, max: usize) -> (Requests, impl Fn(u32, usize) -> Vec<u8>) {
        let (wire, corpus) = wire(protocol, "text:100");
        let requests = Requests::new(&corpus, &*wire, max).unwrap();
        (requests, move |call, entry| wire.request(call, corpus.request(entry)))
    }

    #[test]
    fn only_call_numbers_change() {
        for protocol in [Protocol::Grpc, Protocol::Json, Protocol::Thrift] {
            let (mut requests, single) = requests(protocol, 3);
            let expected = [single(2, 0), single(3, 1)].concat();
            assert_eq!(requests.take(2, 2).unwrap(), expected, "{protocol}");
            let third = single(0x3fff_fff8, 2);
            assert_eq!(requests.take(1, 0x3fff_fff8).unwrap(), third, "{protocol}");
        }
    }

    #[test]
    fn requests_wrap_around() {
        let (mut requests, single) = requests(Protocol::Grpc, 2);
        let entries = requests.entries;
        for _ in 0..entries - 1 {
            requests.take(1, 1).unwrap();
        }
        let expected = [single(4, entries - 1), single(5, 0)].concat();
        assert_eq!(requests.take(2, 4).unwrap(), expected);
        assert_eq!(requests.take(1, 1).unwrap(), single(1, 1));
    }

    #[test]
    fn calls_end_at_the_highest_number() {
        let (mut grpc, _) = requests(Protocol::Grpc, 2);
        assert!(grpc.take(2, 0x3fff_fffd).is_some());
        assert!(grpc.take(2, 0x3fff_fffe).is_none());
        let (mut thrift, _) = requests(Protocol::Thrift, 2);
        assert!(thrift.take(2, 0x7fff_fffd).is_some());
        assert!(thrift.take(2, 0x7fff_fffe).is_none());
        let (mut json, _) = requests(Protocol::Json, 2);
        assert!(json.take(2, 1 << 40).is_some());
    }

    #[test]
    fn requests_of_several_sizes_are_refused() {
        let (wire, corpus) = wire(Protocol::Grpc, "tree");
        let error = Requests::new(&corpus, &*wire, 1).unwrap_err();
        assert!(error.to_string().contains("one size"), "{error}");
    }
}
