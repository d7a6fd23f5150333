//! The JSON Schemas (draft 2020-12) of a record, derived from its types and published in `docs/schemas`.

use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::Value;

use crate::run::Header;
use crate::store::Event;

/// The schema of `run.json`.
pub fn header() -> Value {
    of::<Header>()
}

/// The schema of a line of `events.jsonl`.
pub fn event() -> Value {
    of::<Event>()
}

/// The schema of a type as serialized: fields that are always written are required.
pub fn of<T: JsonSchema>() -> Value {
    SchemaSettings::draft2020_12()
        .for_serialize()
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value()
}
