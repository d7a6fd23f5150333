//! JSON over HTTP/1.1.

use crate::http1::{self, Dialect};
use crate::rewrite;

const CONTENT_TYPE: &str = "application/json";

/// Sends a request's content back without decoding it.
pub const JSON: Dialect = Dialect {
    content_type: CONTENT_TYPE,
    answer,
    refuse: |code, output| put(&format!("{code} On purpose"), &[b"{}"], output),
    empty: b"{}",
    malformed: b"{\"echo\":",
};

fn answer(key: Option<&'static str>, body: &[u8], output: &mut Vec<u8>) {
    let Some(key) = key else { return put("404 Not Found", &[b"{}"], output) };
    match rewrite::json(key, body) {
        Some(parts) => JSON.put(&parts, output),
        None => put("400 Bad Request", &[b"{}"], output),
    }
}

/// Appends a JSON reply with a body in parts.
pub fn put(status: &str, body: &[&[u8]], output: &mut Vec<u8>) {
    http1::put(status, CONTENT_TYPE, body, output);
}
