//! Random messages of any type.

use proptest::prelude::{Rng, RngExt as _};
use prost_reflect::{
    DynamicMessage, FieldDescriptor, Kind, MapKey, MessageDescriptor, ReflectMessage as _, Value,
};

/// Depth from which messages have no messages in them.
const MAX_DEPTH: u32 = 4;
/// Of timestamps and durations, seconds from the year 1 to 9999, and ten thousand years.
const TIMESTAMPS: std::ops::RangeInclusive<i64> = -62_135_596_800..=253_402_300_799;
const DURATIONS: std::ops::RangeInclusive<i64> = -315_576_000_000..=315_576_000_000;

/// A message of this type, with about a third of its fields, and values at the edges of their types.
pub fn message(kind: &MessageDescriptor, rng: &mut impl Rng, depth: u32) -> DynamicMessage {
    let mut message = DynamicMessage::new(kind.clone());
    match kind.full_name() {
        "google.protobuf.Timestamp" => time(&mut message, rng, TIMESTAMPS, false),
        "google.protobuf.Duration" => time(&mut message, rng, DURATIONS, true),
        "google.protobuf.FieldMask" => {
            let paths = (0..rng.random_range(0..4)).map(|_| Value::String(path(rng)));
            message.set_field_by_name("paths", Value::List(paths.collect()));
        }
        "google.protobuf.Any" => any(&mut message, rng),
        // prost-reflect writes others as null.
        "google.protobuf.FloatValue" => message.set_field_by_name("value", Value::F32(1.5)),
        "google.protobuf.DoubleValue" => message.set_field_by_name("value", Value::F64(-1e300)),
        "google.protobuf.Value" => json_value(&mut message, rng, depth),
        _ => fields(&mut message, rng, depth),
    }
    message
}

fn fields(message: &mut DynamicMessage, rng: &mut impl Rng, depth: u32) {
    let kind = message.descriptor();
    let is_deep = |field: &FieldDescriptor| depth >= MAX_DEPTH && holds_message(field);
    for field in kind.fields().filter(|field| !is_deep(field)) {
        let is_required = field.cardinality() == prost_reflect::Cardinality::Required;
        if is_required || rng.random_range(0..3) == 0 {
            message.set_field(&field, value(&field, rng, depth));
        }
    }
}

fn holds_message(field: &FieldDescriptor) -> bool {
    match field.kind() {
        Kind::Message(entry) if field.is_map() => {
            entry.map_entry_value_field().kind().as_message().is_some()
        }
        kind => kind.as_message().is_some(),
    }
}

fn value(field: &FieldDescriptor, rng: &mut impl Rng, depth: u32) -> Value {
    let count = rng.random_range(0..4);
    match field.kind() {
        Kind::Message(entry) if field.is_map() => {
            let (key, value) = (entry.map_entry_key_field(), entry.map_entry_value_field());
            let entries = (0..count)
                .map(|_| (map_key(&key, rng), single(&value.kind(), rng, depth)))
                .collect();
            Value::Map(entries)
        }
        kind if field.is_list() => {
            Value::List((0..count).map(|_| single(&kind, rng, depth)).collect())
        }
        kind => single(&kind, rng, depth),
    }
}

fn map_key(field: &FieldDescriptor, rng: &mut impl Rng) -> MapKey {
    single(&field.kind(), rng, MAX_DEPTH).into_map_key().expect("a type of keys")
}

fn single(kind: &Kind, rng: &mut impl Rng, depth: u32) -> Value {
    // Small numbers, and those with all bits.
    let bits = rng.next_u64() >> rng.random_range(0..64);
    match kind {
        Kind::Double => Value::F64(double(rng)),
        Kind::Float => Value::F32(double(rng) as f32),
        Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 => Value::I32(bits as i32),
        Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => Value::I64(bits as i64),
        Kind::Uint32 | Kind::Fixed32 => Value::U32(bits as u32),
        Kind::Uint64 | Kind::Fixed64 => Value::U64(bits),
        Kind::Bool => Value::Bool(bits.is_multiple_of(2)),
        Kind::String => Value::String(text(rng)),
        Kind::Bytes => Value::Bytes(bits.to_be_bytes()[..rng.random_range(0..8)].to_vec().into()),
        Kind::Message(kind) => Value::Message(message(kind, rng, depth + 1)),
        Kind::Enum(kind) => {
            let at = rng.random_range(0..kind.values().len());
            Value::EnumNumber(kind.values().nth(at).expect("one of them").number())
        }
    }
}

fn double(rng: &mut impl Rng) -> f64 {
    match rng.random_range(0..6) {
        0 => f64::INFINITY,
        1 => f64::NEG_INFINITY,
        2 => f64::from(rng.random_range(-1000..1000)),
        3 => f64::MIN_POSITIVE,
        _ => rng.random_range(-1e12..1e12),
    }
}

fn text(rng: &mut impl Rng) -> String {
    let letters = ['a', 'Z', '0', ' ', '"', '\\', '\n', '\u{0}', '\u{7f}', 'é', '\u{2028}', '😀'];
    (0..rng.random_range(0..6)).map(|_| letters[rng.random_range(0..letters.len())]).collect()
}

/// Names in snake case, which JSON has in camel case.
fn path(rng: &mut impl Rng) -> String {
    ["a", "foo_bar", "a.b_c", "user.display_name"][rng.random_range(0..4)].to_owned()
}

fn time(
    message: &mut DynamicMessage,
    rng: &mut impl Rng,
    seconds: std::ops::RangeInclusive<i64>,
    is_signed: bool,
) {
    let seconds = rng.random_range(seconds);
    let nanos = [0, 1, 1_000, 500_000_000, 999_999_999][rng.random_range(0..5)];
    let nanos = if is_signed && seconds < 0 { -nanos } else { nanos };
    message.set_field_by_name("seconds", Value::I64(seconds));
    message.set_field_by_name("nanos", Value::I32(nanos));
}

/// One of protobuf's own types, with its content as `value` in JSON or not.
fn any(message: &mut DynamicMessage, rng: &mut impl Rng) {
    let names = ["google.protobuf.Duration", "google.protobuf.Int64Value", "google.protobuf.Api"];
    let name = names[rng.random_range(0..names.len())];
    let Some(kind) = message.descriptor().parent_pool().get_message_by_name(name) else { return };
    let inner = self::message(&kind, rng, MAX_DEPTH);
    let bytes = prost::Message::encode_to_vec(&inner);
    message.set_field_by_name("type_url", Value::String(format!("type.googleapis.com/{name}")));
    message.set_field_by_name("value", Value::Bytes(bytes.into()));
}

/// Exactly one kind, and no number that JSON lacks.
fn json_value(message: &mut DynamicMessage, rng: &mut impl Rng, depth: u32) {
    let kind = message.descriptor();
    let (name, value) = match rng.random_range(0..if depth < MAX_DEPTH { 6 } else { 4 }) {
        0 => ("null_value", Value::EnumNumber(0)),
        1 => ("number_value", Value::F64(f64::from(rng.random_range(-1000..1000)) / 8.0)),
        2 => ("string_value", Value::String(text(rng))),
        3 => ("bool_value", Value::Bool(rng.random())),
        4 => ("struct_value", Value::Bool(false)),
        _ => ("list_value", Value::Bool(false)),
    };
    let field = kind.get_field_by_name(name).expect("a kind of values");
    let value = match field.kind() {
        Kind::Message(kind) => Value::Message(self::message(&kind, rng, depth + 1)),
        _ => value,
    };
    message.set_field(&field, value);
}
