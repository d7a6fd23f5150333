//! In-memory servers: right ones, and every fault that the cases must catch.

use std::sync::LazyLock;

use prost::Message;
use prost_reflect::{DescriptorPool, DynamicMessage, FieldDescriptor, MessageDescriptor, Value};
use rpcbench_contract::cases::{CallError, Caller};
use rpcbench_contract::{Method, pb};

/// A server behind a function.
pub struct Server<F>(pub F);

impl<F: FnMut(Method, &[u8]) -> Result<Vec<u8>, CallError>> Caller for Server<F> {
    fn call(&mut self, method: Method, body: &[u8]) -> Result<Vec<u8>, CallError> {
        (self.0)(method, body)
    }
}

pub fn status(code: u32, message: &str) -> CallError {
    CallError::Status { code, message: message.to_owned() }
}

fn decoded<M: Message + Default>(body: &[u8]) -> Result<M, CallError> {
    M::decode(body).map_err(|error| status(13, &error.to_string()))
}

/// Keeps the contract.
pub fn right(method: Method, body: &[u8]) -> Result<Vec<u8>, CallError> {
    Ok(match method {
        Method::Text => {
            pb::TextReply { echo: decoded::<pb::TextRequest>(body)?.text }.encode_to_vec()
        }
        Method::Record => {
            pb::RecordReply { echo: decoded::<pb::RecordRequest>(body)?.record }.encode_to_vec()
        }
        Method::Dto => pb::DtoReply { echo: decoded::<pb::DtoRequest>(body)?.dto }.encode_to_vec(),
        Method::Tree => {
            pb::TreeReply { echo: decoded::<pb::TreeRequest>(body)?.tree }.encode_to_vec()
        }
        Method::Missing | Method::MissingService => return Err(status(12, "no such method")),
    })
}

/// Right, like libraries that copy absent messages as empty ones.
pub fn eager(method: Method, body: &[u8]) -> Result<Vec<u8>, CallError> {
    let reply = right(method, body)?;
    let copied = reply.is_empty() && method != Method::Text;
    Ok(if copied { vec![0x12, 0] } else { reply })
}

/// Right, like libraries that keep unknown fields.
pub fn keeping(method: Method, body: &[u8]) -> Result<Vec<u8>, CallError> {
    right(method, body)?;
    let request = DynamicMessage::decode(message(method, "Request"), body).unwrap();
    let mut reply = DynamicMessage::new(message(method, "Reply"));
    let content: Option<(FieldDescriptor, &Value)> = request.fields().next();
    if let Some((_, content)) = content {
        reply.set_field_by_name("echo", content.clone());
    }
    Ok(reply.encode_to_vec())
}

/// Request or reply type of a method.
pub fn message(method: Method, kind: &str) -> MessageDescriptor {
    static POOL: LazyLock<DescriptorPool> =
        LazyLock::new(|| DescriptorPool::decode(rpcbench_contract::DESCRIPTORS).unwrap());
    POOL.get_message_by_name(&format!("rpcbench.v1.{}{kind}", method.name())).unwrap()
}

/// Copies the content after parsing the field boundaries of the request and the content, without decoding values.
pub fn skim(method: Method, body: &[u8]) -> Result<Vec<u8>, CallError> {
    right(method, &[])?;
    let contents: Vec<&[u8]> =
        fields(body)?.into_iter().filter(|f| f.0 == 1).map(|f| f.1).collect();
    let content = match (contents.split_last(), method) {
        (None, _) => return Ok(Vec::new()),
        (Some((last, _)), Method::Text) => last.to_vec(),
        (Some(_), _) => contents.concat(),
    };
    if method != Method::Text {
        fields(&content)?;
    }
    let mut reply = vec![0x12];
    prost::encode_length_delimiter(content.len(), &mut reply).unwrap();
    Ok([reply, content].concat())
}

/// Replaces invalid UTF-8 instead of refusing it.
pub fn replacing(method: Method, body: &[u8]) -> Result<Vec<u8>, CallError> {
    match (method, right(method, body), fields(body)) {
        (Method::Text, Err(CallError::Status { .. }), Ok(fields)) => {
            let text = fields.iter().rfind(|field| field.0 == 1).map(|field| field.1);
            let echo = String::from_utf8_lossy(text.unwrap_or_default()).into_owned();
            Ok(pb::TextReply { echo }.encode_to_vec())
        }
        (_, reply, _) => reply,
    }
}

/// Number and bytes of each field.
fn fields(mut rest: &[u8]) -> Result<Vec<(u64, &[u8])>, CallError> {
    let broken = || status(13, "malformed");
    let mut fields = Vec::new();
    while !rest.is_empty() {
        let tag = prost::encoding::decode_varint(&mut rest).map_err(|_| broken())?;
        let length = match tag & 7 {
            0 => rest.iter().position(|byte| *byte < 0x80).ok_or_else(broken)? + 1,
            1 => 8,
            2 => prost::encoding::decode_varint(&mut rest).map_err(|_| broken())? as usize,
            5 => 4,
            _ => return Err(broken()),
        };
        fields.push((tag >> 3, rest.split_off(..length).ok_or_else(broken)?));
    }
    Ok(fields)
}

/// A tree whose children stay encoded.
#[derive(Clone, PartialEq, Message)]
struct LazyTree {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(bytes, tag = "2")]
    digest: Vec<u8>,
    #[prost(int32, tag = "3")]
    age: i32,
    #[prost(int64, tag = "4")]
    balance: i64,
    #[prost(uint64, tag = "5")]
    serial: u64,
    #[prost(double, tag = "6")]
    score: f64,
    #[prost(float, tag = "7")]
    ratio: f32,
    #[prost(bool, tag = "8")]
    active: bool,
    #[prost(int32, tag = "9")]
    status: i32,
    #[prost(oneof = "pb::tree_node::Contact", tags = "10, 11")]
    contact: Option<pb::tree_node::Contact>,
    #[prost(bytes, optional, tag = "12")]
    left: Option<Vec<u8>>,
    #[prost(bytes, optional, tag = "13")]
    right: Option<Vec<u8>>,
    #[prost(map = "string, int64", tag = "14")]
    counters: std::collections::HashMap<String, i64>,
}

#[derive(Clone, PartialEq, Message)]
struct LazyRequest {
    #[prost(message, optional, tag = "1")]
    tree: Option<LazyTree>,
}

#[derive(Clone, PartialEq, Message)]
struct LazyReply {
    #[prost(message, optional, tag = "2")]
    echo: Option<LazyTree>,
}

/// Decodes everything except the children of a tree, which it copies.
pub fn lazy(method: Method, body: &[u8]) -> Result<Vec<u8>, CallError> {
    match method {
        Method::Tree => Ok(LazyReply { echo: decoded::<LazyRequest>(body)?.tree }.encode_to_vec()),
        _ => right(method, body),
    }
}

/// Wrong on every `every`th call if it is to `Text`, otherwise right.
pub fn now_and_then(every: u32) -> impl FnMut(Method, &[u8]) -> Result<Vec<u8>, CallError> {
    let mut calls = 0;
    move |method, body| {
        calls += 1;
        let reply = right(method, body)?;
        if calls % every == 0 && method == Method::Text {
            let echo = pb::TextReply::decode(reply.as_slice()).map(|reply| reply.echo);
            let echo = echo.unwrap().chars().rev().collect::<String>() + "!";
            return Ok(pb::TextReply { echo }.encode_to_vec());
        }
        Ok(reply)
    }
}

/// Returns the reply to the first request of each method to all later ones.
pub fn canned() -> impl FnMut(Method, &[u8]) -> Result<Vec<u8>, CallError> {
    let mut replies = std::collections::HashMap::new();
    move |method, body| match right(method, body) {
        Ok(reply) => Ok(replies.entry(method).or_insert(reply).clone()),
        error => error,
    }
}

/// Returns every body unchanged: right for the floor.
pub fn floor(_: Method, body: &[u8]) -> Result<Vec<u8>, CallError> {
    Ok(body.to_vec())
}
