//! Requests from JSON, against other implementations of protobuf's mapping, on random messages.

mod random;

use std::fs;
use std::path::Path;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use proptest::prelude::*;
use prost::Message as _;
use prost_reflect::{
    DescriptorPool, DynamicMessage, MessageDescriptor, ReflectMessage as _, SerializeOptions,
};
use rpcbench_schema::{Method, Schema};

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
struct Types {
    schema: Schema,
    all: Vec<(MessageDescriptor, Method)>,
}

impl Types {
    /// All types of the files that these imports, sought in `folder`, lead to.
    fn new(imports: &[String], folder: &Path) -> Self {
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
    fn random(&self, rng: &mut impl Rng) -> (&Method, DynamicMessage, String) {
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

fn well_known() -> Vec<String> {
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

/// Against libraries that scripts/peers.sh installs.
mod foreign {
    mod googleapis {
        use std::process::Command;

        use proptest::test_runner::{RngAlgorithm, TestRng};

        use super::super::*;

        /// Enough for every field of every type.
        const MESSAGES: usize = 10_000;

        #[test]
        #[ignore = "needs scripts/peers.sh"]
        fn requests_are_encoded_as_protobuf_for_python_does() {
            let peer = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("peers/grpcio");
            let packages = fs::read_dir(peer.join("lib")).unwrap().next().unwrap().unwrap();
            let folder = packages.path().join("site-packages");
            let imports = well_known().into_iter().chain(files_below(&folder, "google"));
            let types = Types::new(&imports.collect::<Vec<_>>(), &folder);
            let mut rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
            let mut lines = String::new();
            for _ in 0..MESSAGES {
                let (method, message, json) = types.random(&mut rng);
                let request =
                    method.request(json.as_bytes()).unwrap_or_else(|e| panic!("{e}: {json}"));
                let request = BASE64_STANDARD.encode(request);
                lines += &format!("{}\t{request}\t{json}\n", message.descriptor().full_name());
            }
            let own = tempfile::tempdir().unwrap();
            let (set, requests) = (own.path().join("set"), own.path().join("requests"));
            fs::write(&set, types.schema.to_protoset()).unwrap();
            fs::write(&requests, lines).unwrap();
            let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/json_peer.py");
            let mut python = Command::new(peer.join("bin/python"));
            let ended = python.arg(script).args([set, requests]).output().unwrap();
            let out = String::from_utf8_lossy(&ended.stdout);
            let err = String::from_utf8_lossy(&ended.stderr);
            assert_eq!(out, format!("{MESSAGES} alike\n"), "{err}");
        }

        /// `.proto` files of a package below a folder, as they are imported.
        fn files_below(folder: &Path, package: &str) -> Vec<String> {
            let mut found = Vec::new();
            for item in fs::read_dir(folder.join(package)).unwrap().flatten() {
                let name = format!("{package}/{}", item.file_name().to_str().unwrap());
                if item.path().is_dir() {
                    found.extend(files_below(folder, &name));
                } else if name.ends_with(".proto") {
                    found.push(name);
                }
            }
            found.sort();
            found
        }
    }
}
