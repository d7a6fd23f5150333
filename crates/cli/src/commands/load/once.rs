//! A single call: its request and everything that comes back.

use std::time::Duration;

use anyhow::bail;
use rpcbench_engine::{CallError, Payload as _};
use rpcbench_harness::setup::{LoadRequest, OneCall, Setup};
use rpcbench_record::{CallHeader, LaterSecrets, Protocol, REDACTED, Secrets, printable, units};

use super::inspect::{NOTHING, sent, text};
use crate::Verdict;
use crate::print::out;

/// Makes one call and shows it. Conceals the user's secrets, and header fields that may carry secrets of the server.
pub fn once(setup: &mut Setup<'_>, request: &LoadRequest) -> anyhow::Result<Verdict> {
    let Some(call) = setup.one_call(request)? else { bail!(NOTHING) };
    let of_url = LaterSecrets::default();
    of_url.add_values(request.address.secrets());
    let secrets = Secrets::of_headers(&call.calls.headers).and(of_url);
    let concealed = |mut text: String| {
        secrets.conceal(&mut text);
        text
    };
    out!("{}", sent(&call.calls, request.protocol))?;
    for line in head(&call, request.protocol) {
        out!("{}", concealed(line))?;
    }
    let mut is_right = call.is_ok(request.protocol);
    if let Ok(reply) = &call.transcript.reply {
        out!("{}", concealed(body(&call, reply)))?;
        if let (true, Err(problem)) = (is_right, call.calls.payload.expect(0, reply)) {
            out!("Not as expected: {}", concealed(problem))?;
            is_right = false;
        }
    }
    for line in tail(&call) {
        out!("{}", concealed(line))?;
    }
    Ok(if is_right { Verdict::Done } else { Verdict::ChecksFailed })
}

/// The status and the header fields.
fn head(call: &OneCall, protocol: Protocol) -> Vec<String> {
    let took = units::duration_ns(Duration::as_nanos(&call.took) as f64);
    let first = match (call.status, &call.transcript.reply) {
        (Some(status), Err(CallError::Status { message, .. })) if !message.is_empty() => {
            format!("{} after {took}: {}", named(status, protocol), printable(message))
        }
        (Some(status), Ok(_) | Err(CallError::Status { .. })) => {
            format!("{} after {took}", named(status, protocol))
        }
        (Some(status), Err(CallError::Transport(problem))) => {
            format!("{} after {took}, with {}", named(status, protocol), printable(problem))
        }
        (_, Err(error)) => {
            let began = if call.transcript.headers.is_empty() { "No reply" } else { "Failed" };
            format!("{began} after {took}: {}", printable(&error.to_string()))
        }
        (None, Ok(_)) => format!("Reply after {took}"),
    };
    // The HTTP status is in the first line, or is 200, which says nothing.
    let is_shown = |(name, value): &&(String, String)| {
        name != ":status" || call.status != value.parse().ok() && value != "200"
    };
    let headers = call.transcript.headers.iter().filter(is_shown);
    std::iter::once(first).chain(headers.map(field)).collect()
}

fn named(status: u32, protocol: Protocol) -> String {
    let name = protocol.status_name(status).map(|name| format!(" {name}"));
    format!("Status {status}{}", name.unwrap_or_default())
}

/// The message.
fn body(call: &OneCall, reply: &[u8]) -> String {
    let size = units::bytes(reply.len() as u64);
    let compressed = match call.received == reply.len() {
        true => String::new(),
        false => format!(", compressed to {}", units::bytes(call.received as u64)),
    };
    let decoded = call.calls.payload.method.as_ref().and_then(|method| method.reply_json(reply));
    let shown = decoded.unwrap_or_else(|| text(reply));
    format!("Reply, {size}{compressed}\n{shown}").trim_end().to_owned()
}

/// Details of a status, and trailers.
fn tail(call: &OneCall) -> Vec<String> {
    let title = |text: &str, is_empty: bool| (!is_empty).then(|| text.to_owned());
    let details = &call.transcript.details;
    let trailers = &call.transcript.trailers;
    let details = title("Details", details.is_empty())
        .into_iter()
        .chain(details.iter().map(|detail| format!("  {}", printable(detail))));
    let trailers =
        title("Trailers", trailers.is_empty()).into_iter().chain(trailers.iter().map(field));
    details.chain(trailers).collect()
}

/// A field of a reply, with secrets of the server concealed.
fn field((name, value): &(String, String)) -> String {
    let value = if CallHeader::is_sensitive_name(name) { REDACTED } else { value };
    format!("  {}: {}", printable(name), printable(value))
}
