//! `contract/openapi.yaml` is generated from the types of `contract/echo.proto`.

use prost_reflect::{DescriptorPool, EnumDescriptor, FieldDescriptor, Kind, MessageDescriptor};

const COMMITTED: &str = include_str!("../../../../contract/openapi.yaml");

const HEAD: &str = r#"# Derived from echo.proto; `cargo test -p rpcbench-contract --test it openapi::derive -- --ignored` writes it.
openapi: 3.1.0
info:
  title: rpcbench.v1.Echo
  version: "1"
  description: >-
    Four operations, each of which returns what its request carried, under another key. Requests have every key that is
    listed as required; a reply may leave out those at their defaults. README.md in this folder says which replies are right.
  license:
    name: Apache-2.0
    identifier: Apache-2.0
servers:
  - url: http://127.0.0.1:8080
security: []
paths:
"#;

/// Generates the document from the service and the messages.
fn document() -> String {
    let pool = DescriptorPool::decode(rpcbench_contract::DESCRIPTORS).unwrap();
    let service = pool.get_service_by_name("rpcbench.v1.Echo").unwrap();
    let paths = service.methods().map(|method| {
        let (input, output) = (method.input(), method.output());
        operation(
            &format!("{}/{}", service.full_name(), method.name()),
            input.name(),
            output.name(),
        )
    });
    let messages = pool.all_messages().filter(|message| !message.is_map_entry());
    let schemas = messages.map(|message| schema(&message));
    let enums = pool.all_enums().map(|names| enumeration(&names));
    let paths: String = paths.collect();
    format!("{HEAD}{paths}components:\n  schemas:\n{}", schemas.chain(enums).collect::<String>())
}

fn operation(path: &str, request: &str, reply: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or_default().to_lowercase();
    let content = |schema: &str| {
        format!("application/json: {{schema: {{$ref: \"#/components/schemas/{schema}\"}}}}")
    };
    [
        format!("  /{path}:"),
        "    post:".to_owned(),
        format!("      operationId: {name}"),
        "      requestBody:".to_owned(),
        "        required: true".to_owned(),
        "        content:".to_owned(),
        format!("          {}", content(request)),
        "      responses:".to_owned(),
        "        \"200\":".to_owned(),
        "          description: What the request carried.".to_owned(),
        "          content:".to_owned(),
        format!("            {}", content(reply)),
        "        4XX: {description: The request cannot be decoded.}".to_owned(),
        "        5XX: {description: The request cannot be decoded.}\n".to_owned(),
    ]
    .join("\n")
}

/// A message as an object. Only messages and members of a oneof are optional.
fn schema(message: &MessageDescriptor) -> String {
    let mut lines = vec![format!("    {}:", message.name()), "      type: object".to_owned()];
    let required = message.fields().filter(|field| !field.supports_presence() || is_content(field));
    let required: Vec<_> = required.map(|field| field.json_name().to_owned()).collect();
    lines.extend(wrapped("required", &required));
    for oneof in message.oneofs() {
        let members: Vec<_> = oneof.fields().map(|field| field.json_name().to_owned()).collect();
        lines.push(format!("      not: {{required: [{}]}}", members.join(", ")));
    }
    lines.push("      properties:".to_owned());
    for field in message.fields() {
        lines.push(format!("        {}: {}", field.json_name(), property(&field)));
    }
    lines.join("\n") + "\n"
}

/// True for the content of a request or reply.
fn is_content(field: &FieldDescriptor) -> bool {
    let message = field.parent_message().name().to_owned();
    message.ends_with("Request") || message.ends_with("Reply")
}

/// A list, wrapped after ten items.
fn wrapped(key: &str, items: &[String]) -> Vec<String> {
    let rows = items.chunks(10).map(|row| format!("        {}", row.join(", ")));
    let rows: Vec<_> = rows.collect();
    match &rows[..] {
        [row] => vec![format!("      {key}: [{}]", row.trim())],
        rows => vec![format!("      {key}: ["), rows.join(",\n"), "      ]".to_owned()],
    }
}

fn property(field: &FieldDescriptor) -> String {
    match field.kind() {
        Kind::Message(entry) if field.is_map() => {
            let value = value(&entry.map_entry_value_field().kind());
            format!("{{type: object, additionalProperties: {value}}}")
        }
        kind if field.is_list() => format!("{{type: array, items: {}}}", value(&kind)),
        kind => value(&kind),
    }
}

fn value(kind: &Kind) -> String {
    match kind {
        Kind::Message(message) => format!("{{$ref: \"#/components/schemas/{}\"}}", message.name()),
        Kind::Enum(names) => format!("{{$ref: \"#/components/schemas/{}\"}}", names.name()),
        Kind::String => "{type: string}".to_owned(),
        Kind::Bytes => "{type: string, contentEncoding: base64}".to_owned(),
        Kind::Bool => "{type: boolean}".to_owned(),
        Kind::Int32 => "{type: integer, format: int32}".to_owned(),
        Kind::Int64 => "{type: string, format: int64, pattern: \"^-?[0-9]+$\"}".to_owned(),
        Kind::Uint64 | Kind::Fixed64 => {
            "{type: string, format: uint64, pattern: \"^[0-9]+$\"}".to_owned()
        }
        Kind::Double => "{type: number, format: double}".to_owned(),
        Kind::Float => "{type: number, format: float}".to_owned(),
        other => panic!("{other:?} is not in the contract"),
    }
}

fn enumeration(names: &EnumDescriptor) -> String {
    let values: Vec<_> = names.values().map(|value| value.name().to_owned()).collect();
    format!("    {}:\n      type: string\n      enum: [{}]\n", names.name(), values.join(", "))
}

#[test]
fn document_is_current() {
    assert_eq!(COMMITTED, document(), "out of date: its first line has the command that writes it");
}

#[test]
#[ignore = "writes contract/openapi.yaml"]
fn derive_the_document() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../contract/openapi.yaml");
    std::fs::write(path, document()).unwrap();
}
