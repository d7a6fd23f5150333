//! Thrift messages. Reads whole messages by recursion, unlike the engine, so that neither hides a bug of the other.

use rpcbench_contract::{Encoding, Profile};
use rpcbench_record::{Protocol, Transport};

/// A transport and an encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
    /// How messages are delimited.
    pub transport: Transport,
    /// Binary or compact.
    pub encoding: Encoding,
}

/// Kinds of messages.
pub mod kind {
    /// A request.
    pub const CALL: u8 = 1;
    /// A result.
    pub const REPLY: u8 = 2;
    /// A `TApplicationException`.
    pub const EXCEPTION: u8 = 3;
}

/// Types of exceptions.
pub mod exception {
    /// Unknown method.
    pub const UNKNOWN_METHOD: u8 = 1;
    /// The server failed.
    pub const INTERNAL_ERROR: u8 = 6;
    /// The request can't be decoded.
    pub const PROTOCOL_ERROR: u8 = 7;
}

/// A message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message<'a> {
    /// One of [`kind`].
    pub kind: u8,
    /// The method's name.
    pub name: &'a [u8],
    /// The call's number.
    pub sequence_id: u32,
    /// A whole struct with its end.
    pub body: &'a [u8],
}

/// Bytes that are not the start of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

impl Form {
    /// The form of a protocol. `None` if it is not one of Thrift's.
    pub fn of(protocol: Protocol) -> Option<Self> {
        let transport = protocol.spec().transport;
        matches!(transport, Transport::ThriftFramed | Transport::ThriftBuffered)
            .then(|| Self { transport, encoding: Profile::of(protocol).encoding })
    }

    /// Every form.
    pub fn all() -> impl Iterator<Item = Self> {
        Protocol::ALL.into_iter().filter_map(Self::of)
    }

    fn is_binary(self) -> bool {
        self.encoding == Encoding::ThriftBinary
    }

    /// The message as bytes.
    pub fn write(self, message: &Message<'_>) -> Vec<u8> {
        let Message { kind, name, sequence_id, body } = message;
        let head = if self.is_binary() {
            let length = (name.len() as u32).to_be_bytes();
            [&[0x80, 1, 0, *kind][..], &length, name, &sequence_id.to_be_bytes()].concat()
        } else {
            let id = varint(*sequence_id);
            [&[0x82, kind << 5 | 1][..], &id, &varint(name.len() as u32), name].concat()
        };
        let length = ((head.len() + body.len()) as u32).to_be_bytes();
        let prefix: &[u8] = if self.transport == Transport::ThriftFramed { &length } else { &[] };
        [prefix, &head, body].concat()
    }

    /// The first message in `bytes` and its length with the prefix. `None` if it is incomplete.
    pub fn read(self, bytes: &[u8]) -> Result<Option<(Message<'_>, usize)>, Malformed> {
        if self.transport == Transport::ThriftBuffered {
            let mut reader = Reader { form: self, rest: bytes };
            let read = reader.head().and_then(|head| {
                let body = reader.rest;
                reader.structure()?;
                let length = body.len() - reader.rest.len();
                Ok(Message { body: &body[..length], ..head })
            });
            return match read {
                Ok(message) => Ok(Some((message, bytes.len() - reader.rest.len()))),
                Err(Stop::More) => Ok(None),
                Err(Stop::Malformed) => Err(Malformed),
            };
        }
        let Some((length, rest)) = bytes.split_first_chunk() else { return Ok(None) };
        let length = u32::from_be_bytes(*length) as usize;
        let Some(frame) = rest.get(..length) else { return Ok(None) };
        let mut reader = Reader { form: self, rest: frame };
        let head = reader.head().map_err(|_| Malformed)?;
        Ok(Some((Message { body: reader.rest, ..head }, 4 + length)))
    }

    /// The body of a message with one field that is a struct: the arguments of a call, with number 1, or a result, with 0.
    pub fn wrap(self, number: u8, inner: &[u8]) -> Vec<u8> {
        [self.wrapping(number), inner, &[0]].concat()
    }

    /// The struct in such a body, with everything after it except the last byte.
    pub fn unwrap(self, number: u8, body: &[u8]) -> Option<&[u8]> {
        body.strip_prefix(self.wrapping(number))?.strip_suffix(&[0])
    }

    fn wrapping(self, number: u8) -> &'static [u8] {
        match (self.is_binary(), number) {
            (true, 0) => &[12, 0, 0],
            (true, _) => &[12, 0, 1],
            (false, 0) => &[12, 0],
            (false, _) => &[0x1c],
        }
    }

    /// The body of an exception.
    pub fn exception(self, of: u8, message: &str) -> Vec<u8> {
        let length = message.len() as u32;
        if self.is_binary() {
            let text = [&[11, 0, 1][..], &length.to_be_bytes(), message.as_bytes()].concat();
            [&text[..], &[8, 0, 2, 0, 0, 0, of, 0]].concat()
        } else {
            let text = [&[0x18][..], &varint(length), message.as_bytes()].concat();
            [&text[..], &[0x15, 2 * of, 0]].concat()
        }
    }
}

fn varint(mut number: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

/// Why reading stopped.
enum Stop {
    More,
    Malformed,
}

struct Reader<'a> {
    form: Form,
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn head(&mut self) -> Result<Message<'a>, Stop> {
        let (kind, name, sequence_id) = if self.form.is_binary() {
            let version = self.array::<4>()?;
            if version[..3] != [0x80, 1, 0] {
                return Err(Stop::Malformed);
            }
            let name = self.sized()?;
            (version[3], name, u32::from_be_bytes(self.array()?))
        } else {
            let [protocol, version] = self.array()?;
            if protocol != 0x82 || version & 31 != 1 {
                return Err(Stop::Malformed);
            }
            let sequence_id = self.number()?;
            (version >> 5, self.sized()?, sequence_id)
        };
        Ok(Message { kind, name, sequence_id, body: &[] })
    }

    fn structure(&mut self) -> Result<(), Stop> {
        loop {
            let [head] = self.array()?;
            if head == 0 {
                return Ok(());
            }
            if self.form.is_binary() {
                self.array::<2>()?;
                self.value(head)?;
            } else {
                if head >> 4 == 0 {
                    self.number()?;
                }
                // The type holds a boolean field's value.
                if !matches!(head & 15, 1 | 2) {
                    self.value(head & 15)?;
                }
            }
        }
    }

    fn value(&mut self, of: u8) -> Result<(), Stop> {
        match (self.form.is_binary(), of) {
            (true, 2 | 3) | (false, 1..=3) => self.array::<1>().map(drop),
            (true, 6) => self.array::<2>().map(drop),
            (true, 8) => self.array::<4>().map(drop),
            (true, 4 | 10) | (false, 7) => self.array::<8>().map(drop),
            (false, 4..=6) => self.number().map(drop),
            (true, 11) | (false, 8) => self.sized().map(drop),
            (_, 12) => self.structure(),
            (true, 14 | 15) | (false, 9 | 10) => self.list(),
            (true, 13) | (false, 11) => self.map(),
            _ => Err(Stop::Malformed),
        }
    }

    fn list(&mut self) -> Result<(), Stop> {
        let [head] = self.array()?;
        let (of, count) = match (self.form.is_binary(), head >> 4) {
            (true, _) => (head, self.length()?),
            (false, 15) => (head & 15, self.length()?),
            (false, count) => (head & 15, count.into()),
        };
        (0..count).try_for_each(|_| self.value(of))
    }

    fn map(&mut self) -> Result<(), Stop> {
        let ([key, value], count) = if self.form.is_binary() {
            (self.array()?, self.length()?)
        } else {
            let count = self.length()?;
            let [types] = if count == 0 { [0] } else { self.array()? };
            ([types >> 4, types & 15], count)
        };
        (0..count).try_for_each(|_| self.value(key).and_then(|()| self.value(value)))
    }

    fn sized(&mut self) -> Result<&'a [u8], Stop> {
        let length = self.length()?;
        self.rest.split_off(..length as usize).ok_or(Stop::More)
    }

    /// A length below 2^31.
    fn length(&mut self) -> Result<u32, Stop> {
        let length =
            if self.form.is_binary() { u32::from_be_bytes(self.array()?) } else { self.number()? };
        if length > i32::MAX.cast_unsigned() { Err(Stop::Malformed) } else { Ok(length) }
    }

    /// A number in base 128, truncated to 32 bits.
    fn number(&mut self) -> Result<u32, Stop> {
        let mut value = 0_u64;
        for place in 0..10 {
            let [byte] = self.array()?;
            value |= u64::from(byte & 0x7f) << (7 * place);
            if byte < 0x80 {
                return Ok(value as u32);
            }
        }
        Err(Stop::Malformed)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Stop> {
        let (bytes, rest) = self.rest.split_first_chunk().ok_or(Stop::More)?;
        self.rest = rest;
        Ok(*bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complete_messages_read_back() {
        assert_eq!(Form::all().count(), 4);
        for form in Form::all() {
            let body = form.wrap(1, &form.exception(6, "inside"));
            let message =
                Message { kind: kind::CALL, name: b"Text", sequence_id: 70_000, body: &body };
            let bytes = form.write(&message);
            assert_eq!(form.read(&bytes), Ok(Some((message, bytes.len()))), "{form:?}");
            for end in 0..bytes.len() {
                assert_eq!(form.read(&bytes[..end]), Ok(None), "{form:?}: {end}");
            }
            assert_eq!(form.unwrap(1, &body), Some(&form.exception(6, "inside")[..]));
        }
    }

    #[test]
    fn other_bytes_are_refused() {
        for form in Form::all() {
            assert!(form.read(b"\0\0\0\x04GET / HTTP/1.1").is_err(), "{form:?}");
        }
    }
}
