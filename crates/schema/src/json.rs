//! Messages from JSON, by protobuf's mapping.

use prost::Message as _;
use prost_reflect::{DeserializeOptions, DynamicMessage, MessageDescriptor};
use serde::de::DeserializeSeed;
use serde_path_to_error::{Deserializer, Track};

/// Why a text does not fit a message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{problem}", if path.is_empty() { String::new() } else { format!("{path}: ") })]
pub struct JsonError {
    /// Where in the text: its line, from 1. `None` if unknown.
    pub line: Option<usize>,
    /// Which value: `$.items[2].price`; empty if the text is no JSON.
    pub path: String,
    /// What is wrong with it.
    pub problem: String,
}

/// Reads a message with options of its own.
struct Seed(MessageDescriptor);

impl<'de> DeserializeSeed<'de> for Seed {
    type Value = DynamicMessage;

    fn deserialize<D: serde::Deserializer<'de>>(self, from: D) -> Result<DynamicMessage, D::Error> {
        let options = DeserializeOptions::new().deny_unknown_fields(true);
        DynamicMessage::deserialize_with_options(self.0, from, &options)
    }
}

/// The message that a JSON text describes, encoded.
pub(crate) fn encode(kind: &MessageDescriptor, text: &[u8]) -> Result<Vec<u8>, JsonError> {
    let mut track = Track::new();
    let mut json = serde_json::Deserializer::from_slice(text);
    let read = Seed(kind.clone()).deserialize(Deserializer::new(&mut json, &mut track));
    let message = match read.and_then(|message| json.end().map(|()| message)) {
        Ok(message) => message,
        Err(error) => return Err(described(kind, &error, &track.path().to_string())),
    };
    Ok(message.encode_to_vec())
}

fn described(kind: &MessageDescriptor, error: &serde_json::Error, path: &str) -> JsonError {
    let is_syntax = error.is_syntax() || error.is_eof();
    let text = error.to_string();
    // The place is told apart.
    let problem = text.split(" at line ").next().unwrap_or(&text).to_owned();
    let path = match (is_syntax, path) {
        (true, _) => String::new(),
        (false, ".") => "$".to_owned(),
        (false, path) => format!("$.{path}").replace("$.[", "$["),
    };
    let problem = match is_syntax {
        true => format!("invalid JSON: {problem}; expected a {}", kind.full_name()),
        false => problem,
    };
    JsonError { line: Some(error.line()).filter(|line| *line > 0), path, problem }
}
