//! Thrift messages, read with Apache's library as an independent check of the engine. Written by hand, so that peers can break
//! the rules.

use std::io::Cursor;

use rpcbench_contract::{Encoding, Profile};
use rpcbench_record::{Protocol, Transport};
use thrift::TConfiguration;
use thrift::protocol::{TBinaryInputProtocol, TCompactInputProtocol, TInputProtocol, TType};

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
    /// A complete struct, including its end.
    pub body: &'a [u8],
}

/// The error for bytes that are not the start of a message.
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

    /// Encodes the message.
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

    /// Reads the first message in `bytes`. Returns it with its length, including the prefix. `None` if it is incomplete.
    pub fn read(self, bytes: &[u8]) -> Result<Option<(Message<'_>, usize)>, Malformed> {
        if self.transport == Transport::ThriftBuffered {
            return match self.unframed(bytes, true) {
                Err(thrift::Error::Transport(_)) => Ok(None),
                Err(_) => Err(Malformed),
                Ok(message) => Ok(Some(message)),
            };
        }
        let Some((length, rest)) = bytes.split_first_chunk() else { return Ok(None) };
        let Some(frame) = rest.get(..u32::from_be_bytes(*length) as usize) else { return Ok(None) };
        let (message, length) = self.unframed(frame, false).map_err(|_| Malformed)?;
        Ok(Some((message, 4 + length)))
    }

    /// Reads a message, and returns it with its length. Its body ends with its struct if `finds_end`, or else at the end of
    /// `bytes`.
    fn unframed(self, bytes: &[u8], finds_end: bool) -> thrift::Result<(Message<'_>, usize)> {
        let mut input = Cursor::new(bytes);
        let head = self.protocol(&mut input).read_message_begin()?;
        let start = input.position() as usize;
        if finds_end {
            self.protocol(&mut input).skip_till_depth(TType::Struct, i8::MAX)?;
        } else {
            input.set_position(bytes.len() as u64);
        }
        let end = input.position() as usize;
        // In the binary protocol, the sequence id follows the name.
        let name_end = if self.is_binary() { start - 4 } else { start };
        let message = Message {
            kind: head.message_type.into(),
            name: &bytes[name_end - head.name.len()..name_end],
            sequence_id: head.sequence_number.cast_unsigned(),
            body: &bytes[start..end],
        };
        Ok((message, end))
    }

    fn protocol<'a>(self, input: &'a mut Cursor<&[u8]>) -> Box<dyn TInputProtocol + 'a> {
        let limits = TConfiguration::no_limits();
        if self.is_binary() {
            Box::new(TBinaryInputProtocol::with_config(input, true, limits))
        } else {
            Box::new(TCompactInputProtocol::with_config(input, limits))
        }
    }

    /// The body of a message with a struct as its only field: number 1 for the arguments of a call, 0 for a result.
    pub fn wrap(self, number: u8, inner: &[u8]) -> Vec<u8> {
        [self.wrapping(number), inner, &[0]].concat()
    }

    /// The struct in such a body: everything after the field's header except the last byte.
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
