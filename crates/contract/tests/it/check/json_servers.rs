//! In-memory JSON servers: right ones that behave like different libraries, and cheats.

use prost_reflect::{DeserializeOptions, DynamicMessage, SerializeOptions, Value};
use rpcbench_contract::Method;
use rpcbench_contract::cases::CallError;
use serde_json::{Map, Value as Json};

use super::servers::{message, status};

const BAD_REQUEST: u32 = 400;
const NOT_FOUND: u32 = 404;

type Answer = Result<Vec<u8>, CallError>;

fn bad(reason: impl ToString) -> CallError {
    status(BAD_REQUEST, &reason.to_string())
}

/// Right, like protobuf's libraries: omits defaults and writes 64-bit integers as strings.
pub fn protobuf(method: Method, body: &[u8]) -> Answer {
    mapped(method, body, &SerializeOptions::new())
}

/// Right, like plain JSON libraries: writes every key, and integers as numbers.
pub fn plain(method: Method, body: &[u8]) -> Answer {
    let options = SerializeOptions::new().skip_default_fields(false);
    let reply = mapped(method, body, &options.stringify_64_bit_integers(false))?;
    // Keys in another order, indented.
    let reply: Json = serde_json::from_slice(&reply).unwrap();
    Ok(serde_json::to_vec_pretty(&reply).unwrap())
}

/// Uses prost-reflect, an independent implementation of the mapping.
fn mapped(method: Method, body: &[u8], options: &SerializeOptions) -> Answer {
    known(method)?;
    let lenient = DeserializeOptions::new().deny_unknown_fields(false);
    let mut reader = serde_json::Deserializer::from_slice(body);
    let request =
        DynamicMessage::deserialize_with_options(message(method, "Request"), &mut reader, &lenient)
            .map_err(bad)?;
    reader.end().map_err(bad)?;
    let mut reply = DynamicMessage::new(message(method, "Reply"));
    let content: Option<(_, &Value)> = request.fields().next();
    if let Some((_, content)) = content {
        reply.set_field_by_name("echo", content.clone());
    }
    let mut writer = serde_json::Serializer::new(Vec::new());
    reply.serialize_with_options(&mut writer, options).unwrap();
    Ok(writer.into_inner())
}

fn known(method: Method) -> Result<(), CallError> {
    match method {
        Method::Missing | Method::MissingService => Err(status(NOT_FOUND, "no such path")),
        _ => Ok(()),
    }
}

/// Right, like a library that replaces invalid text, ignores bytes after the first value, and reads unknown enum names
/// as unspecified.
pub fn lenient(method: Method, body: &[u8]) -> Answer {
    let text = String::from_utf8_lossy(body).replace("\\ud800", "?").replace("\\udfff", "?");
    let mut values = serde_json::Deserializer::from_str(&text).into_iter::<Json>();
    let mut first = values.next().ok_or_else(|| bad("empty"))?.map_err(bad)?;
    if let Some(status) =
        first.pointer_mut("/tree/status").filter(|status| **status == "STATUS_NOWHERE")
    {
        *status = "STATUS_UNSPECIFIED".into();
    }
    protobuf(method, first.to_string().as_bytes())
}

/// Parses JSON but validates no value, like a server without types or a schema.
pub fn untyped(method: Method, body: &[u8]) -> Answer {
    known(method)?;
    let mut request: Map<String, Json> = serde_json::from_slice(body).map_err(bad)?;
    let content = request.remove(&method.name().to_lowercase()).ok_or_else(|| bad("no content"))?;
    Ok(serde_json::json!({ "echo": content }).to_string().into_bytes())
}

/// Parses only the outer object and copies the bytes of its value.
pub fn skim(method: Method, body: &[u8]) -> Answer {
    protobuf(method, body)?;
    let text = str::from_utf8(body).map_err(bad)?.trim();
    let (_, content) = text.split_once(':').ok_or_else(|| bad("no colon"))?;
    let content = content.strip_suffix('}').ok_or_else(|| bad("no end"))?;
    Ok(format!("{{\"echo\":{}}}", content.trim()).into_bytes())
}

/// Replaces the key without parsing.
pub fn key_swap(method: Method, body: &[u8]) -> Answer {
    known(method)?;
    let key = format!("\"{}\"", method.name().to_lowercase());
    let text = String::from_utf8_lossy(body).replacen(&key, "\"echo\"", 1);
    Ok(text.into_bytes())
}

/// Answers OK with an error in the body.
pub fn error_in_body(method: Method, body: &[u8]) -> Answer {
    Ok(protobuf(method, body).unwrap_or_else(|error| {
        serde_json::json!({ "error": error.to_string() }).to_string().into_bytes()
    }))
}

/// Stores integers as doubles.
pub fn floating(method: Method, body: &[u8]) -> Answer {
    protobuf(method, body)?;
    let mut request: Map<String, Json> = serde_json::from_slice(body).map_err(bad)?;
    let mut content = request.remove(&method.name().to_lowercase()).unwrap_or_default();
    if let Some(wide) = content.pointer_mut("/field22") {
        let number: f64 = wide.as_str().unwrap_or("0").parse().map_err(bad)?;
        *wide = Json::from(number as i64);
    }
    Ok(serde_json::json!({ "echo": content }).to_string().into_bytes())
}

/// Caches replies by the first `bytes` bytes of their requests.
pub fn memo(bytes: usize) -> impl FnMut(Method, &[u8]) -> Answer {
    let mut replies = std::collections::HashMap::new();
    move |method, body| {
        let key = (method, body[..body.len().min(bytes)].to_vec());
        match replies.get(&key) {
            Some(reply) => Ok(Vec::clone(reply)),
            None => {
                protobuf(method, body).inspect(|reply| drop(replies.insert(key, reply.clone())))
            }
        }
    }
}
