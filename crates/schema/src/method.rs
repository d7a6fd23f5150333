//! One method of a service.

use prost::Message as _;
use prost_reflect::{DynamicMessage, MessageDescriptor, MethodDescriptor, SerializeOptions};

use crate::json::{self, JsonError};
use crate::{schema, template};

/// A method of a service.
#[derive(Clone, Debug)]
pub struct Method(MethodDescriptor);

impl Method {
    pub(crate) fn new(method: MethodDescriptor) -> Self {
        Self(method)
    }

    /// `package.Service/Method`.
    pub fn name(&self) -> String {
        schema::path(&self.0)
    }

    /// The path of its calls: `/package.Service/Method`.
    pub fn path(&self) -> String {
        format!("/{}", self.name())
    }

    /// Why the method can't be called, if it streams: `shop.v1.Orders/Watch streams replies; ...`.
    pub fn not_unary(&self) -> Option<String> {
        let what = match (self.0.is_client_streaming(), self.0.is_server_streaming()) {
            (false, false) => return None,
            (true, false) => "requests",
            (false, true) => "replies",
            (true, true) => "requests and replies",
        };
        Some(format!("{} streams {what}; only unary methods can be called", self.name()))
    }

    /// Encodes a request from protobuf's JSON.
    ///
    /// # Errors
    /// If the text does not fit the type: where, and what was expected.
    pub fn request(&self, text: &[u8]) -> Result<Vec<u8>, JsonError> {
        json::encode(&self.0.input(), text)
    }

    pub(crate) fn output(&self) -> MessageDescriptor {
        self.0.output()
    }

    /// Refuses bytes that are not a request.
    ///
    /// # Errors
    /// If they are not: why.
    pub fn check_request(&self, bytes: &[u8]) -> Result<(), String> {
        check(self.0.input(), bytes)
    }

    /// Refuses bytes that are not a reply.
    ///
    /// # Errors
    /// If they are not: why.
    pub fn check_reply(&self, bytes: &[u8]) -> Result<(), String> {
        check(self.0.output(), bytes)
    }

    /// An encoded request as JSON. `None` if it is invalid.
    pub fn request_json(&self, bytes: &[u8]) -> Option<String> {
        shown(self.0.input(), bytes)
    }

    /// An encoded reply as JSON. `None` if it is invalid.
    pub fn reply_json(&self, bytes: &[u8]) -> Option<String> {
        shown(self.0.output(), bytes)
    }

    /// A request with every field, to fill in.
    pub fn template(&self) -> String {
        template::of(&self.0.input())
    }
}

fn check(kind: MessageDescriptor, bytes: &[u8]) -> Result<(), String> {
    let name = kind.full_name().to_owned();
    match DynamicMessage::decode(kind, bytes) {
        Ok(_) => Ok(()),
        Err(error) => Err(format!("not a {name}: {error}")),
    }
}

fn shown(kind: MessageDescriptor, bytes: &[u8]) -> Option<String> {
    let message = DynamicMessage::decode(kind, bytes).ok()?;
    let mut out = Vec::new();
    let mut writer = serde_json::Serializer::pretty(&mut out);
    let options = SerializeOptions::new().skip_default_fields(false);
    message.serialize_with_options(&mut writer, &options).ok()?;
    debug_assert!(message.encoded_len() <= bytes.len().max(message.encoded_len()));
    String::from_utf8(out).ok()
}
