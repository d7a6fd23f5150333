//! The requests of the JSON mapping, and replies as peers print them.

use std::net::SocketAddr;
use std::process::{Command, Output};

use rpcbench_record::Protocol;
use serde_json::{Value, json};

use super::servers;

/// A call that JSON can write down.
pub struct Request {
    pub method: String,
    /// What is sent, and must come back.
    content: Value,
    pub body: String,
}

/// Asserts that every server of the protocol gives the right replies to a client that is a command for each call.
pub fn answered_by_all(protocol: Protocol, client: impl Fn(SocketAddr, &Request) -> Command) {
    servers::each(
        |entry| entry.protocol == protocol,
        |entry, address| {
            for request in all() {
                let mut command = client(address, &request);
                let printed = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
                request.answered(&entry.name(), &printed);
            }
        },
    );
}

/// Some of each method.
fn all() -> Vec<Request> {
    let rows: Vec<(String, String, Value)> =
        serde_json::from_str(include_str!("requests.json")).unwrap();
    let request = |(method, key, content): (String, String, Value)| {
        let body = json!({ &key: &content }).to_string();
        Request { method, content, body }
    };
    rows.into_iter().map(request).collect()
}

impl Request {
    /// Asserts that what a client printed is the right reply to it.
    fn answered(&self, server: &str, printed: &Output) {
        let (out, err) = (&printed.stdout, String::from_utf8_lossy(&printed.stderr));
        let said = format!("{server}, {}: {}{err}", self.method, String::from_utf8_lossy(out));
        assert!(printed.status.success(), "{said}");
        let reply: Value = serde_json::from_slice(out).unwrap_or_else(|e| panic!("{said}: {e}"));
        assert_eq!(plain(&reply), plain(&json!({ "echo": self.content })), "{said}");
    }
}

/// Without what replies may leave out, and with numbers as they all may be written.
fn plain(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let members = members.iter().filter(|(_, member)| !is_default(member));
            Value::Object(members.map(|(key, member)| (key.clone(), plain(member))).collect())
        }
        Value::Array(items) => items.iter().map(plain).collect(),
        Value::Number(number) => Value::String(match number.as_f64() {
            Some(double) if number.is_f64() => double.to_string(),
            _ => number.to_string(),
        }),
        Value::Null | Value::Bool(_) | Value::String(_) => value.clone(),
    }
}

fn is_default(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(yes) => !yes,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty() || text == "0" || text == "STATUS_UNSPECIFIED",
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
    }
}
