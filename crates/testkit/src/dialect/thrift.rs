//! Thrift in all its forms.

use std::io;

use bytes::Bytes;
use rpcbench_contract::{Encoding, Method, thrift_reply};

use super::Dialect;
use super::in_order::{Answer, InOrder, Request, invalid};
use crate::echo::Truth;
use crate::thrift::{Form, Message, exception, kind};

/// An exception; the type is one of [`exception`].
pub(crate) struct Failure {
    of: u8,
    message: String,
}

fn malformed(message: impl Into<String>) -> Failure {
    Failure { of: exception::PROTOCOL_ERROR, message: message.into() }
}

impl Dialect for Form {
    type Failure = Failure;

    fn message<'a>(&self, body: &'a [u8]) -> Result<&'a [u8], Failure> {
        self.unwrap(1, body).ok_or_else(|| malformed("malformed request"))
    }

    fn echo(&self, method: &str, message: &[u8], truth: Truth) -> Result<Bytes, Failure> {
        let methods = [Method::Text, Method::Record, Method::Dto, Method::Tree];
        let Some(method) = methods.into_iter().find(|it| it.name() == method) else {
            let of = exception::UNKNOWN_METHOD;
            return Err(Failure { of, message: "no such method".to_owned() });
        };
        let plain = if method == Method::Text { plain_text(*self, message) } else { None };
        let reply = match plain {
            Some(reply) => reply,
            None => thrift_reply(self.encoding, method, message).map_err(malformed)?,
        };
        // A wrong reply lacks its field.
        Ok(if truth == Truth::Wrong { self.nothing() } else { reply.into() })
    }

    fn skim(&self, method: &str, message: &[u8]) -> Result<Bytes, Failure> {
        let reply = self.echo(method, message, Truth::Right)?;
        Ok(retagged(*self, message).map_or(reply, Bytes::from))
    }

    fn swap(&self, message: &[u8]) -> Bytes {
        retagged(*self, message).unwrap_or_else(|| message.to_vec()).into()
    }

    fn looks_usual(&self, message: &[u8]) -> bool {
        retagged(*self, message).is_some()
    }

    fn error_as_reply(&self, words: &str) -> Bytes {
        self.exception(exception::INTERNAL_ERROR, words).into()
    }

    fn nothing(&self) -> Bytes {
        Bytes::from_static(&[0])
    }

    fn failure(&self, words: String) -> Failure {
        Failure { of: exception::INTERNAL_ERROR, message: words }
    }

    fn is_malformed(failure: &Failure) -> bool {
        failure.of == exception::PROTOCOL_ERROR
    }
}

impl InOrder for Form {
    fn take(&self, input: &mut Vec<u8>) -> io::Result<Option<Request>> {
        let Some((call, length)) = self.read(input).map_err(|_| invalid())? else {
            return Ok(None);
        };
        let method = String::from_utf8_lossy(call.name).into_owned();
        let request = Request { method, id: call.sequence_id, body: call.body.to_vec() };
        input.drain(..length);
        Ok(Some(request))
    }

    fn write(&self, request: &Request, reply: Result<Bytes, Failure>) -> Answer {
        let (name, sequence_id) = (request.method.as_bytes(), request.id);
        let call = Message { kind: kind::CALL, name, sequence_id, body: &[] };
        let (bytes, last) = answer(*self, &call, reply);
        Answer { bytes, last }
    }
}

/// The reply to `call`, and whether the connection ends after it, as in servers after a message that they can't decode.
pub(crate) fn answer(
    form: Form,
    call: &Message<'_>,
    reply: Result<Bytes, Failure>,
) -> (Vec<u8>, bool) {
    let last = reply.as_ref().is_err_and(Form::is_malformed);
    let (kind, body) = match reply {
        Ok(reply) => (kind::REPLY, form.wrap(0, &reply)),
        Err(Failure { of, message }) => (kind::EXCEPTION, form.exception(of, &message)),
    };
    (form.write(&Message { kind, body: &body, ..*call }), last)
}

/// The reply to a request that consists of one text in the usual encoding.
fn plain_text(form: Form, request: &[u8]) -> Option<Vec<u8>> {
    let text = match (form.encoding, request) {
        (Encoding::ThriftBinary, [11, 0, 1, a, b, c, d, text @ .., 0]) => {
            (u32::from_be_bytes([*a, *b, *c, *d]) as usize == text.len()).then_some(text)
        }
        (_, [0x18, length @ ..0x80, text @ .., 0]) => {
            (usize::from(*length) == text.len()).then_some(text)
        }
        _ => None,
    };
    std::str::from_utf8(text?).ok()?;
    retagged(form, request)
}

/// A copy of the request with the number of its first field changed to 2, if that is field 1 in the usual encoding.
fn retagged(form: Form, request: &[u8]) -> Option<Vec<u8>> {
    let mut reply = request.to_vec();
    match (form.encoding, &mut reply[..]) {
        (Encoding::ThriftBinary, [_, 0, number @ 1, ..]) => *number = 2,
        (Encoding::ThriftCompact, [head @ 0x10..0x20, ..]) => *head += 0x10,
        _ => return None,
    }
    Some(reply)
}
