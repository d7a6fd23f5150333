//! Apache Thrift: the binary protocol and the compact one.
//!
//! A message is just the struct of a request or reply. The method name, the sequence id and the structs that Thrift
//! wraps around arguments and results belong to the protocol's framing.

mod read;
mod schema;
#[cfg(test)]
mod tests;
pub(crate) mod wire;
mod write;

use super::{Codec, Encoding, NonCanonical, NonCanonicalVariant, Sent};
use crate::method::Method;
use crate::profile::Need;
use crate::shape::Shape;
use crate::values::{self, Field, Message, Mismatch, Value};
use read::Reader;
use wire::Wire;
use write::Writer;

/// `contract/echo.thrift` in one of Thrift's encodings.
pub(crate) struct Thrift(Wire);

pub(crate) static BINARY: Thrift = Thrift(Wire::Binary);
pub(crate) static COMPACT: Thrift = Thrift(Wire::Compact);

impl Codec for Thrift {
    fn offers(&self) -> &'static [Need] {
        &[
            Need::Decoding,
            Need::NonFinite,
            Need::AbsentContent,
            Need::EmptyMembers,
            Need::UnknownFields,
            Need::Thrift,
        ]
    }

    fn non_canonical_forms(&self) -> &'static [NonCanonical] {
        match self.0 {
            Wire::Binary => &[NonCanonical::Unknown, NonCanonical::Twice, NonCanonical::Reordered],
            Wire::Compact => {
                &[NonCanonical::Overlong, NonCanonical::Twice, NonCanonical::Reordered]
            }
        }
    }

    fn request(&self, value: &Value) -> Vec<u8> {
        self.request_in(value, value, None)
    }

    fn reply(&self, value: &Value) -> Vec<u8> {
        let reply = schema::reply(value.shape());
        let message = Message::of(reply.name, vec![Field::new("echo", Some(value.content()))]);
        self.encoded(reply, &message)
    }

    fn empty_request(&self) -> Vec<u8> {
        vec![0]
    }

    fn valid_encodings(&self, value: &Value) -> Vec<Vec<u8>> {
        let canonical = self.request(value);
        match value {
            Value::Text(text) if text.is_empty() => vec![canonical, self.empty_request()],
            _ => vec![canonical],
        }
    }

    fn non_canonical_request(
        &self,
        value: &Value,
        other: &Value,
        variant: NonCanonicalVariant,
    ) -> Vec<u8> {
        self.request_in(value, other, Some(variant))
    }

    fn with_unknown_fields(&self, value: &Value) -> Vec<u8> {
        let (request, message) = request(value);
        let mut writer = Writer::new(self.0, None);
        writer.within(|writer| {
            writer.between_unknown(true, |writer| {
                for field in request.fields {
                    writer.field(field, &message, &message);
                }
            });
        });
        writer.out
    }

    fn verify(&self, sent: Sent<'_>, reply: &[u8]) -> Result<(), Mismatch> {
        if sent.content.is_some_and(|value| self.reply(value) == reply) {
            return Ok(());
        }
        self.compared(sent, reply).map_err(|mismatch| sent.explain(reply, mismatch))
    }
}

impl Thrift {
    fn request_in(
        &self,
        value: &Value,
        other: &Value,
        variant: Option<NonCanonicalVariant>,
    ) -> Vec<u8> {
        let ((of, message), (_, other)) = (request(value), request(other));
        let mut writer = Writer::new(self.0, variant);
        writer.structure(of, &message, &other);
        writer.out
    }

    fn encoded(&self, of: &schema::Struct, message: &Message) -> Vec<u8> {
        let mut writer = Writer::new(self.0, None);
        writer.structure(of, message, message);
        writer.out
    }

    /// No library keeps unknown fields, so a reply that has one was copied.
    fn compared(&self, sent: Sent<'_>, reply: &[u8]) -> Result<(), Mismatch> {
        let of = schema::reply(sent.shape);
        let mut reader = Reader::new(self.0, reply);
        let got = reader
            .whole(of)
            .map_err(|reason| Mismatch::Undecodable { message: of.name.to_owned(), reason })?;
        values::compare(sent.shape, sent.content, &got)?;
        match reader.redundant {
            Some((field, how)) => Err(Mismatch::Redundant { field, how }),
            None => Ok(()),
        }
    }
}

/// The request with `value`, and its type.
fn request(value: &Value) -> (&'static schema::Struct, Message) {
    let of = schema::request(value.shape());
    let fields = of.fields.iter().map(|field| Field::new(field.name, Some(value.content())));
    (of, Message::of(of.name, fields.collect()))
}

/// The right reply to a request in one of Thrift's encodings, for the project's test servers.
///
/// # Errors
/// If the request can't be decoded, or the method or encoding is unknown.
pub fn thrift_reply(encoding: Encoding, method: Method, request: &[u8]) -> Result<Vec<u8>, String> {
    let codec = match encoding {
        Encoding::ThriftBinary => &BINARY,
        Encoding::ThriftCompact => &COMPACT,
        other => return Err(format!("{other} is not a Thrift encoding")),
    };
    let shape = match method {
        Method::Text => Shape::Text(0),
        Method::Record => Shape::Record,
        Method::Dto => Shape::Dto,
        Method::Tree => Shape::Tree,
        Method::Missing | Method::MissingService => return Err("no such method".to_owned()),
    };
    let (request_type, reply_type) = (schema::request(shape), schema::reply(shape));
    let message = Reader::new(codec.0, request).whole(request_type)?;
    let echo = message.fields.into_iter().find_map(|field| field.content);
    Ok(codec.encoded(reply_type, &Message::of(reply_type.name, vec![Field::new("echo", echo)])))
}
