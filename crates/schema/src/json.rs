//! Encodes messages from JSON, by protobuf's mapping.

use prost::Message as _;
use prost_reflect::{
    DeserializeOptions, DynamicMessage, FieldDescriptor, Kind, MessageDescriptor,
    ReflectMessage as _,
};
use serde::de::DeserializeSeed;
use serde_json::Value;
use serde_path_to_error::{Deserializer, Path, Segment, Track};

use crate::describe::{is_well_known, map_kinds, name_of};

/// Characters shown of an invalid text.
const MAX_SHOWN: usize = 40;
/// What parsers write if a number is too large or too small.
const OUT_OF_RANGE: [&str; 3] = ["out of range", "too large", "too small"];

/// Why a text does not fit a message type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{problem}", if path.is_empty() { String::new() } else { format!("{path}: ") })]
pub struct JsonError {
    /// Line in the text, from 1. `None` if unknown.
    pub line: Option<usize>,
    /// Path of the value: `$.items[2].price`; empty if the text is not JSON.
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

/// What a part of the text describes.
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

    /// `double`, `list of shop.v1.Money`, `map from string to int32`. `None` if unknown.
    fn expected(&self) -> Option<String> {
        match self {
            Self::Message(message) => Some(message.full_name().to_owned()),
            Self::Field(field) if field.is_list() => {
                Some(format!("list of {}", name_of(&field.kind())))
            }
            Self::Field(field) => Some(match map_kinds(field) {
                Some([key, value]) => format!("map from {} to {}", name_of(&key), name_of(&value)),
                None => name_of(&field.kind()),
            }),
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

    /// The type of the message whose fields are this object's members.
    fn message(&self) -> Option<MessageDescriptor> {
        match self {
            Self::Message(message) => Some(message.clone()),
            Self::Field(field) => field.kind().as_message().cloned(),
            Self::Element(kind) => kind.as_message().cloned(),
            Self::Unknown => None,
        }
    }
}

/// What is wrong with `value`, in terms of the schema if the parser's `reason` is not.
fn problem(reason: &str, place: &Place, value: &Value) -> String {
    if reason.starts_with("unrecognized field name") {
        let fields = place.message().into_iter().flat_map(|kind| kind.fields().collect::<Vec<_>>());
        return among(reason, fields.map(|field| field.json_name().to_owned()));
    }
    if let Some(oneof) = reason.strip_prefix("multiple fields provided for oneof ") {
        return format!("{} are set; oneof {oneof} takes one", set_fields(oneof, place, value));
    }
    if let Some(wrong) = wrong_key(place, value) {
        return wrong;
    }
    let (text, expected) = (short(value), place.expected());
    let Some(expected) = expected else { return reason.to_owned() };
    match place.field_kind() {
        Some(Kind::Enum(kind)) => {
            among(&format!("{text} is no {expected}"), kind.values().map(|it| it.name().to_owned()))
        }
        Some(Kind::Bytes) if value.is_string() => {
            format!("{text} is no base64, in which bytes are written")
        }
        Some(Kind::Message(kind)) if is_well_known(&kind) && !reason.contains("expected") => {
            format!("{reason}; expected {expected}")
        }
        _ if OUT_OF_RANGE.iter().any(|it| reason.contains(it)) => {
            format!("{text} is out of the range of {expected}")
        }
        _ => format!("{text} is no {expected}"),
    }
}

fn among(problem: &str, names: impl Iterator<Item = String>) -> String {
    let names: Vec<String> = names.collect();
    match names.is_empty() {
        true => problem.to_owned(),
        false => format!("{problem}; expected one of {}", names.join(", ")),
    }
}

/// The fields of a oneof that `value` sets: `mail, phone`.
fn set_fields(oneof: &str, place: &Place, value: &Value) -> String {
    let oneof = oneof.trim_matches('\'');
    let all = place.message().into_iter().flat_map(|kind| kind.oneofs().collect::<Vec<_>>());
    let fields = all.filter(|it| it.name() == oneof).flat_map(|it| it.fields().collect::<Vec<_>>());
    let names = fields.flat_map(|field| [field.json_name().to_owned(), field.name().to_owned()]);
    let mut names: Vec<String> = names.filter(|name| value.get(name).is_some()).collect();
    names.dedup();
    names.join(", ")
}

/// The first key of a map that does not have the type of its keys.
fn wrong_key(place: &Place, value: &Value) -> Option<String> {
    let Place::Field(field) = place else { return None };
    let [kind, _] = map_kinds(field)?;
    let key = value.as_object()?.keys().find(|key| !is_key(&kind, key))?;
    Some(format!("key {key:?} is no {}", name_of(&kind)))
}

fn is_key(kind: &Kind, text: &str) -> bool {
    match kind {
        Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 => text.parse::<i32>().is_ok(),
        Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => text.parse::<i64>().is_ok(),
        Kind::Uint32 | Kind::Fixed32 => text.parse::<u32>().is_ok(),
        Kind::Uint64 | Kind::Fixed64 => text.parse::<u64>().is_ok(),
        Kind::Bool => text.parse::<bool>().is_ok(),
        _ => true,
    }
}

/// A value as errors show it.
fn short(value: &Value) -> String {
    match value {
        Value::Object(_) => "an object".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::String(text) if text.chars().count() > MAX_SHOWN => {
            format!("{:?}...", text.chars().take(MAX_SHOWN).collect::<String>())
        }
        other => other.to_string(),
    }
}

/// Encodes the message that a JSON text describes.
pub(crate) fn encode(kind: &MessageDescriptor, text: &[u8]) -> Result<Vec<u8>, JsonError> {
    let mut track = Track::new();
    let mut json = serde_json::Deserializer::from_slice(text);
    let read = Seed(kind.clone()).deserialize(Deserializer::new(&mut json, &mut track));
    let message = match read.and_then(|message| json.end().map(|()| message)) {
        Ok(message) => message,
        Err(error) => return Err(described(kind, &error, &track.path(), text)),
    };
    match missing(&message) {
        Some(path) => {
            let problem = "required field is missing".to_owned();
            Err(JsonError { line: None, path: format!("${path}"), problem })
        }
        None => Ok(message.encode_to_vec()),
    }
}

/// The first required field missing in a message or in one nested in it: `.items[2].price`.
fn missing(message: &DynamicMessage) -> Option<String> {
    let lacks = |field: &FieldDescriptor| field.is_required() && !message.has_field(field);
    if let Some(field) = message.descriptor().fields().find(lacks) {
        return Some(format!(".{}", field.json_name()));
    }
    message.fields().find_map(|(field, value)| {
        let path = missing_within(value)?;
        Some(format!(".{}{path}", field.json_name()))
    })
}

fn missing_within(value: &prost_reflect::Value) -> Option<String> {
    use prost_reflect::Value;
    match value {
        Value::Message(message) => missing(message),
        Value::List(items) => items
            .iter()
            .enumerate()
            .find_map(|(at, item)| missing_within(item).map(|path| format!("[{at}]{path}"))),
        Value::Map(items) => items.values().find_map(missing_within),
        _ => None,
    }
}

fn described(
    kind: &MessageDescriptor,
    error: &serde_json::Error,
    track: &Path,
    text: &[u8],
) -> JsonError {
    let line = Some(error.line()).filter(|line| *line > 0);
    let reason = error.to_string();
    // The error's line and path show the position.
    let reason = reason.split(" at line ").next().unwrap_or(&reason);
    if error.is_syntax() || error.is_eof() {
        let problem = format!("invalid JSON: {reason}; expected a {}", kind.full_name());
        return JsonError { line, path: String::new(), problem };
    }
    let path = match track.to_string().as_str() {
        "." => "$".to_owned(),
        path => format!("$.{path}").replace("$.[", "$["),
    };
    let all: Value = serde_json::from_slice(text).unwrap_or_default();
    let value = track.iter().try_fold(&all, |value, segment| match segment {
        Segment::Map { key } => value.get(key),
        Segment::Seq { index } => value.get(index),
        _ => None,
    });
    let problem = problem(reason, &Place::at(kind, track), value.unwrap_or(&Value::Null));
    JsonError { line, path, problem }
}
