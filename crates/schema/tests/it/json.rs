//! Requests from JSON, against other implementations of protobuf's mapping, on random messages.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use prost::Message as _;
use prost_reflect::{
    DescriptorPool, DynamicMessage, MessageDescriptor, ReflectMessage as _, SerializeOptions,
};
use rpcbench_schema::{Method, Schema};

use crate::random;

/// Types of protobuf itself, proto2 among them.
const WELL_KNOWN: [&str; 11] = [
    "any",
    "api",
    "descriptor",
    "duration",
    "empty",
    "field_mask",
    "source_context",
    "struct",
    "timestamp",
    "type",
    "wrappers",
];

/// Types, each with a method that takes it.
pub struct Types {
    pub schema: Schema,
    all: Vec<(MessageDescriptor, Method)>,
}

impl Types {
    /// All types of the files that these imports, sought in `folder`, lead to.
    pub fn new(imports: &[String], folder: &Path) -> Self {
        let pool = pool(&schema(imports, folder, &[]));
        let kinds = pool.all_messages().filter(|kind| !kind.is_map_entry());
        let kinds: Vec<_> = kinds.map(|kind| kind.full_name().to_owned()).collect();
        let schema = schema(imports, folder, &kinds);
        let of_name = |(at, name): (usize, &String)| {
            let kind = self::pool(&schema).get_message_by_name(name).unwrap();
            (kind, schema.method(&format!("Takes/M{at}")).unwrap())
        };
        let all = kinds.iter().enumerate().map(of_name).collect();
        Self { schema, all }
    }

    /// One of the types, a random message of it, and its JSON in one of the spellings that are allowed.
    pub fn random(&self, rng: &mut impl Rng) -> (&Method, DynamicMessage, String) {
        let (kind, method) = &self.all[rng.random_range(0..self.all.len())];
        let message = random::message(kind, rng, 0).encode_to_vec();
        // Without the defaults that have no presence.
        let message = DynamicMessage::decode(kind.clone(), &*message).unwrap();
        let options = SerializeOptions::new()
            .use_proto_field_name(rng.random())
            .use_enum_numbers(rng.random())
            .stringify_64_bit_integers(rng.random())
            .skip_default_fields(rng.random());
        let mut json = serde_json::Serializer::new(Vec::new());
        message.serialize_with_options(&mut json, &options).unwrap();
        (method, message, String::from_utf8(json.into_inner()).unwrap())
    }
}

/// A schema of a file with these imports, and with a method for each type.
fn schema(imports: &[String], folder: &Path, kinds: &[String]) -> Schema {
    let imports: String = imports.iter().map(|name| format!("import \"{name}\";\n")).collect();
    let method = |(at, kind)| format!("  rpc M{at}(.{kind}) returns (.{kind});\n");
    let methods: String = kinds.iter().enumerate().map(method).collect();
    let text = format!("syntax = \"proto3\";\n{imports}service Takes {{\n{methods}}}\n");
    let own = tempfile::tempdir().unwrap();
    let file = own.path().join("takes.proto");
    fs::write(&file, text).unwrap();
    Schema::read(&[file], &[folder.to_owned()], &[]).unwrap()
}

fn pool(schema: &Schema) -> DescriptorPool {
    DescriptorPool::decode(&*schema.to_protoset()).unwrap()
}

pub fn well_known() -> Vec<String> {
    WELL_KNOWN.iter().map(|name| format!("google/protobuf/{name}.proto")).collect()
}

thread_local! {
    static TYPES: Types = {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/checks");
        Types::new(&[well_known(), vec!["every_kind.proto".to_owned()]].concat(), &folder)
    };
}

proptest! {
    #[test]
    fn any_spelling_of_a_message_is_encoded_as_the_message(mut rng in any::<u64>().prop_perturb(|_, rng| rng)) {
        TYPES.with(|types| {
            let (method, message, json) = types.random(&mut rng);
            let request = method.request(json.as_bytes());
            let request = request.map_err(|error| TestCaseError::fail(format!("{error}: {json}")))?;
            let decoded = DynamicMessage::decode(message.descriptor(), &*request).unwrap();
            prop_assert!(decoded == message, "{json}\n{}", serde_json::to_string(&decoded).unwrap());
            Ok(())
        })?;
    }
}
