//! Thrift's binary protocol with framed transport.

use std::sync::Arc;

use crate::attend::{Close, Session};
use crate::fault::{Fault, FaultInjector, Faults, altered};

/// Longest frame accepted, bytes.
const MAX_FRAME: usize = 64 << 20;
/// The version of the strict binary protocol, and the type of the message.
const CALL: [u8; 4] = [0x80, 1, 0, 1];
const REPLY: [u8; 4] = [0x80, 1, 0, 2];
const EXCEPTION: [u8; 4] = [0x80, 1, 0, 3];
/// A struct as field 1 of the arguments, and as field 0 of the result.
const ARGUMENT: [u8; 3] = [12, 0, 1];
const RESULT: [u8; 3] = [12, 0, 0];
/// Exception type: the request can't be read.
const PROTOCOL_ERROR: u8 = 7;
/// Type of a text.
const STRING: u8 = 11;
/// An empty text, followed by the ends of both structs.
const NO_TEXT: &[u8] = &[0, 0, 0, 0, 0, 0];
/// A struct without fields, followed by the same ends.
const NO_FIELDS: &[u8] = &[0, 0, 0];
/// The length of a text that does not follow.
const TOO_LONG: &[u8] = &[0x7f, 0xff, 0xff, 0xff];

/// A connection. The content of a request's field 1 is sent back as field 2.
#[derive(Debug, Default)]
pub struct Thrift {
    /// The start of an incomplete frame.
    partial: Vec<u8>,
    calls: u64,
    injector: FaultInjector,
}

impl Session for Thrift {
    fn receive(&mut self, input: &[u8], output: &mut Vec<u8>) -> Result<usize, Close> {
        if self.partial.is_empty() {
            let used = self.frames(input, output)?;
            self.partial.extend_from_slice(&input[used..]);
        } else {
            let mut bytes = std::mem::take(&mut self.partial);
            bytes.extend_from_slice(input);
            let used = self.frames(&bytes, output)?;
            bytes.drain(..used);
            self.partial = bytes;
        }
        Ok(input.len())
    }

    fn take_calls(&mut self) -> u64 {
        std::mem::take(&mut self.calls)
    }
}

impl Thrift {
    /// Answers the complete frames at the start of `input` and returns their length.
    fn frames(&mut self, input: &[u8], output: &mut Vec<u8>) -> Result<usize, Close> {
        let mut rest = input;
        while let Some((length, after)) = rest.split_first_chunk() {
            let length = u32::from_be_bytes(*length) as usize;
            if length > MAX_FRAME {
                return Err(Close::Now);
            }
            let Some(frame) = after.get(..length) else { break };
            let (head, body) = split(frame).ok_or(Close::Now)?;
            match self.injector.next(output) {
                None => self.answer(head, body, output),
                Some(fault) => self.fail(fault, (head, body), output)?,
            }
            rest = &after[length..];
        }
        Ok(input.len() - rest.len())
    }
}

impl Thrift {
    /// A connection with calls that go wrong.
    pub(crate) fn with_faults(faults: Option<Arc<Faults>>) -> Self {
        Self { injector: FaultInjector::new(faults), ..Self::default() }
    }

    fn answer(&mut self, head: &[u8], body: &[u8], output: &mut Vec<u8>) {
        self.calls += 1;
        match content(body) {
            Some((kind, content)) => {
                self.injector.keep(body);
                reply(head, kind, content, output);
            }
            None => exception(head, PROTOCOL_ERROR, output),
        }
    }

    /// Makes a call go wrong on purpose.
    #[cold]
    fn fail(
        &mut self,
        fault: Fault,
        (head, body): (&[u8], &[u8]),
        output: &mut Vec<u8>,
    ) -> Result<(), Close> {
        let (kind, own) = content(body).unwrap_or((STRING, NO_TEXT));
        match fault {
            Fault::Silence => return Ok(()),
            Fault::Late => {
                reply(head, kind, own, &mut self.injector.held);
                return Ok(());
            }
            Fault::Partial => {
                // Half of a frame's length.
                output.extend_from_slice(&[0, 0]);
                return Ok(());
            }
            Fault::Reset | Fault::HalfClose => return fault.close().map_or(Ok(()), Err),
            Fault::Status(code) => exception(head, code as u8, output),
            Fault::Remembered => {
                let (kind, content) = content(self.injector.last()).unwrap_or((STRING, NO_TEXT));
                reply(head, kind, content, output);
            }
            Fault::Altered => reply(head, kind, &altered(own), output),
            Fault::Malformed if kind == STRING => reply(head, kind, TOO_LONG, output),
            Fault::Malformed => reply(head, kind, &[&[STRING, 0, 1], TOO_LONG].concat(), output),
            Fault::Empty if kind == STRING => reply(head, kind, NO_TEXT, output),
            Fault::Empty => reply(head, kind, NO_FIELDS, output),
            Fault::GoAway => {
                self.answer(head, body, output);
                return Ok(());
            }
        }
        self.calls += 1;
        Ok(())
    }
}

/// Splits a frame into the method's name (with its length) and the call's number, and the arguments.
fn split(frame: &[u8]) -> Option<(&[u8], &[u8])> {
    let rest = frame.strip_prefix(&CALL)?;
    let (length, _) = rest.split_first_chunk()?;
    let name = u32::from_be_bytes(*length) as usize;
    rest.split_at_checked(name.checked_add(8)?)
}

/// The type of the request's field 1, and everything after the field's header.
fn content(body: &[u8]) -> Option<(u8, &[u8])> {
    let (&kind, rest) = body.strip_prefix(&ARGUMENT)?.split_first()?;
    let rest = rest.strip_prefix(&[0, 1])?;
    rest.ends_with(&[0, 0]).then_some((kind, rest))
}

fn reply(head: &[u8], kind: u8, content: &[u8], output: &mut Vec<u8>) {
    let length = (REPLY.len() + head.len() + RESULT.len() + 3 + content.len()) as u32;
    let parts = [&length.to_be_bytes()[..], &REPLY, head, &RESULT, &[kind, 0, 2], content];
    parts.into_iter().for_each(|part| output.extend_from_slice(part));
}

fn exception(head: &[u8], of: u8, output: &mut Vec<u8>) {
    let body = [8, 0, 2, 0, 0, 0, of, 0];
    let length = (EXCEPTION.len() + head.len() + body.len()) as u32;
    let parts = [&length.to_be_bytes()[..], &EXCEPTION, head, &body];
    parts.into_iter().for_each(|part| output.extend_from_slice(part));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(kind: [u8; 4], body: &[u8]) -> Vec<u8> {
        let all = [&kind[..], &[0, 0, 0, 4], b"Text", &[0, 0, 0, 7], body].concat();
        [&(all.len() as u32).to_be_bytes()[..], &all].concat()
    }

    #[test]
    fn split_request_comes_back_as_field_2_of_the_result() {
        let text = [&[0, 0, 0, 3][..], b"abc", &[0, 0]].concat();
        let request = message(CALL, &[&[12, 0, 1, 11, 0, 1][..], &text].concat());
        let odd = message(CALL, &[12, 0, 1, 0, 0]);
        let expected = [
            message(REPLY, &[&[12, 0, 0, 11, 0, 2][..], &text].concat()),
            message(EXCEPTION, &[8, 0, 2, 0, 0, 0, 7, 0]),
        ]
        .concat();
        let stream = [request, odd].concat();
        for step in [1, 3, 10, stream.len()] {
            let (mut session, mut output) = (Thrift::default(), Vec::new());
            for part in stream.chunks(step) {
                assert_eq!(session.receive(part, &mut output), Ok(part.len()));
            }
            assert_eq!((output, session.take_calls()), (expected.clone(), 2), "{step}");
        }
    }

    #[test]
    fn other_bytes_end_the_connection() {
        for bytes in
            [&b"GET / HTTP/1.1\r\n\r\n"[..], &message(REPLY, b""), b"\0\0\0\x05\x80\x01\0\x01\0"]
        {
            assert_eq!(Thrift::default().receive(bytes, &mut Vec::new()), Err(Close::Now));
        }
    }
}
