//! Converts between JSON and protobuf with protobuf's own mapping.

use std::sync::OnceLock;

use prost::Message as _;
use prost_reflect::{DescriptorPool, DeserializeOptions, DynamicMessage, MessageDescriptor};
use rpcbench_contract::DESCRIPTORS;

/// The request and reply types of a method.
pub(crate) struct Types {
    request: MessageDescriptor,
    reply: MessageDescriptor,
}

impl Types {
    /// The types of the method with this path, such as `/rpcbench.v1.Echo/Text`. `None` for an unknown method.
    pub(crate) fn of(path: &str) -> Option<Self> {
        static POOL: OnceLock<Option<DescriptorPool>> = OnceLock::new();
        let pool = POOL.get_or_init(|| DescriptorPool::decode(DESCRIPTORS).ok()).as_ref()?;
        let (service, method) = path.strip_prefix('/')?.split_once('/')?;
        let method = pool.get_service_by_name(service)?.methods().find(|it| it.name() == method)?;
        Some(Self { request: method.input(), reply: method.output() })
    }

    /// Converts a request to protobuf. Drops unknown fields.
    pub(crate) fn request(&self, json: &[u8]) -> Result<Vec<u8>, serde_json::Error> {
        let mut json = serde_json::Deserializer::from_slice(json);
        let options = DeserializeOptions::new().deny_unknown_fields(false);
        let message =
            DynamicMessage::deserialize_with_options(self.request.clone(), &mut json, &options)?;
        json.end()?;
        Ok(message.encode_to_vec())
    }

    /// Converts a reply to JSON. `None` if it is malformed.
    pub(crate) fn reply(&self, protobuf: &[u8]) -> Option<Vec<u8>> {
        let message = DynamicMessage::decode(self.reply.clone(), protobuf).ok()?;
        serde_json::to_vec(&message).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_and_protobuf_are_transcoded() {
        let types = Types::of("/rpcbench.v1.Echo/Text").unwrap();
        assert_eq!(types.request(br#"{"text":"a\u0062c","other":[1]}"#).unwrap(), b"\x0a\x03abc");
        assert_eq!(types.reply(b"\x12\x03abc").unwrap(), br#"{"echo":"abc"}"#);
        for request in ["", "{", "[]", r#"{"text":1}"#, r#"{"text":"a"}{"#] {
            assert!(types.request(request.as_bytes()).is_err(), "{request}");
        }
        assert!(Types::of("/rpcbench.v1.Echo/Missing").is_none());
        assert!(Types::of("/rpcbench.v1.Missing/Text").is_none());
    }
}
