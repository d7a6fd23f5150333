//! Messages from JSON, by protobuf's mapping.

use prost::Message as _;
use prost_reflect::{DeserializeOptions, DynamicMessage, FieldDescriptor, Kind, MessageDescriptor};
use serde::de::DeserializeSeed;
use serde_path_to_error::{Deserializer, Path, Segment, Track};

use crate::describe::name_of;

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

/// Reads a message, and refuses unknown fields.
struct Seed(MessageDescriptor);

impl<'de> DeserializeSeed<'de> for Seed {
    type Value = DynamicMessage;

    fn deserialize<D: serde::Deserializer<'de>>(self, from: D) -> Result<DynamicMessage, D::Error> {
        let options = DeserializeOptions::new().deny_unknown_fields(true);
        DynamicMessage::deserialize_with_options(self.0, from, &options)
    }
}

/// What a part of a text describes.
enum Place {
    Message(MessageDescriptor),
    /// A field, with all its elements.
    Field(FieldDescriptor),
    /// An element of a list, or a value of a map.
    Element(Kind),
    Unknown,
}

impl Place {
    fn at(kind: &MessageDescriptor, path: &Path) -> Self {
        path.iter().fold(Self::Message(kind.clone()), Self::within)
    }

    fn within(self, segment: &Segment) -> Self {
        let message = match (&self, segment) {
            (Self::Field(field), Segment::Seq { .. }) if field.is_list() => {
                return Self::Element(field.kind());
            }
            (Self::Field(field), Segment::Map { .. }) if field.is_map() => {
                let Kind::Message(entry) = field.kind() else { return Self::Unknown };
                return Self::Element(entry.map_entry_value_field().kind());
            }
            (Self::Message(message), Segment::Map { .. }) => message.clone(),
            (Self::Element(Kind::Message(message)), Segment::Map { .. }) => message.clone(),
            (Self::Field(field), Segment::Map { .. }) => match field.kind() {
                Kind::Message(message) => message,
                _ => return Self::Unknown,
            },
            _ => return Self::Unknown,
        };
        let Segment::Map { key } = segment else { return Self::Unknown };
        let field = message.get_field_by_json_name(key).or_else(|| message.get_field_by_name(key));
        field.map_or(Self::Unknown, Self::Field)
    }

    /// `double`, `list of shop.v1.Money`. `None` if unknown.
    fn expected(&self) -> Option<String> {
        match self {
            Self::Message(message) => Some(message.full_name().to_owned()),
            Self::Field(field) if field.is_list() => {
                Some(format!("list of {}", name_of(&field.kind())))
            }
            Self::Field(field) if field.is_map() => Some("map".to_owned()),
            Self::Field(field) => Some(name_of(&field.kind())),
            Self::Element(kind) => Some(name_of(kind)),
            Self::Unknown => None,
        }
    }

    fn field_kind(&self) -> Option<Kind> {
        match self {
            Self::Field(field) if !field.is_list() => Some(field.kind()),
            Self::Element(kind) => Some(kind.clone()),
            _ => None,
        }
    }

    /// The message, whose fields are its members.
    fn message(&self) -> Option<MessageDescriptor> {
        match self {
            Self::Message(message) => Some(message.clone()),
            Self::Field(field) => field.kind().as_message().cloned(),
            Self::Element(kind) => kind.as_message().cloned(),
            Self::Unknown => None,
        }
    }
}

/// The problem, with what was expected if it does not say so.
fn with_expected(problem: String, place: &Place) -> String {
    if problem.starts_with("unrecognized field name") {
        let fields = place.message().map(|message| {
            let names: Vec<String> =
                message.fields().map(|field| field.json_name().to_owned()).collect();
            names.join(", ")
        });
        return match fields.filter(|fields| !fields.is_empty()) {
            Some(fields) => format!("{problem}; expected one of {fields}"),
            None => problem,
        };
    }
    let values = match place.field_kind() {
        Some(Kind::Enum(kind)) => {
            let names: Vec<String> = kind.values().map(|value| value.name().to_owned()).collect();
            Some(names.join(", "))
        }
        _ => None,
    };
    match (problem.contains("expected"), values.or_else(|| place.expected())) {
        (false, Some(expected)) => format!("{problem}; expected {expected}"),
        _ => problem,
    }
}

/// The message that a JSON text describes, encoded.
pub(crate) fn encode(kind: &MessageDescriptor, text: &[u8]) -> Result<Vec<u8>, JsonError> {
    let mut track = Track::new();
    let mut json = serde_json::Deserializer::from_slice(text);
    let read = Seed(kind.clone()).deserialize(Deserializer::new(&mut json, &mut track));
    let message = match read.and_then(|message| json.end().map(|()| message)) {
        Ok(message) => message,
        Err(error) => return Err(described(kind, &error, &track.path())),
    };
    Ok(message.encode_to_vec())
}

fn described(kind: &MessageDescriptor, error: &serde_json::Error, track: &Path) -> JsonError {
    let is_syntax = error.is_syntax() || error.is_eof();
    let text = error.to_string();
    // Line and path say where.
    let problem = text.split(" at line ").next().unwrap_or(&text).to_owned();
    let path = match (is_syntax, track.to_string().as_str()) {
        (true, _) => String::new(),
        (false, ".") => "$".to_owned(),
        (false, path) => format!("$.{path}").replace("$.[", "$["),
    };
    let problem = match is_syntax {
        true => format!("invalid JSON: {problem}; expected a {}", kind.full_name()),
        false => with_expected(problem, &Place::at(kind, track)),
    };
    JsonError { line: Some(error.line()).filter(|line| *line > 0), path, problem }
}
