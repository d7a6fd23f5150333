//! What a user can inspect before a load: `--list`, `--describe`, `--dry-run` and `--once`.

use anyhow::bail;
use rpcbench_engine::{Gunzip, Payload as _};
use rpcbench_harness::calls::{Calls, Inspection};
use rpcbench_harness::setup::{LoadRequest, Setup};
use rpcbench_record::{Protocol, printable, units};

use super::once;
use crate::Verdict;
use crate::print::out;

/// Bytes to show of a body that is not text.
const MAX_SHOWN: usize = 256;
/// Bytes to show of a text.
const MAX_TEXT: usize = 64 << 10;

/// Shows what `inspection` asks for.
pub fn inspect(
    setup: &mut Setup<'_>,
    request: &LoadRequest,
    inspection: &Inspection,
) -> anyhow::Result<Verdict> {
    match inspection {
        Inspection::List => list(setup, request),
        Inspection::Describe(name) => describe(setup, request, name),
        Inspection::DryRun => {
            let Some(calls) = setup.described(request)? else { bail!(NOTHING) };
            out!("{}", sent(&calls, request.protocol).trim_end())?;
            Ok(Verdict::Done)
        }
        Inspection::Once => once::once(setup, request),
    }
}

pub(super) const NOTHING: &str =
    "the contract's calls are not a single request; give a URL, or a method with --call";

fn list(setup: &mut Setup<'_>, request: &LoadRequest) -> anyhow::Result<Verdict> {
    let schema = setup.schema(request)?;
    for service in schema.services() {
        out!("{}", service.full_name())?;
        for method in service.methods() {
            let streams = match (method.is_client_streaming(), method.is_server_streaming()) {
                (false, false) => "",
                (true, false) => "   (streams requests)",
                (false, true) => "   (streams replies)",
                (true, true) => "   (streams requests and replies)",
            };
            out!("  {}/{}{streams}", service.full_name(), method.name())?;
        }
    }
    Ok(Verdict::Done)
}

fn describe(setup: &mut Setup<'_>, request: &LoadRequest, name: &str) -> anyhow::Result<Verdict> {
    let schema = setup.schema(request)?;
    let described = schema.describe(name)?;
    out!("{}", described.text)?;
    for method in described.methods {
        if let Some(problem) = method.not_unary() {
            out!("{problem}\n")?;
            continue;
        }
        let (name, template) = (method.name(), method.template());
        out!("To call it:\n\nrpcbench load {} --call {name} -d '{template}'\n", request.address)?;
    }
    Ok(Verdict::Done)
}

/// The first request, as sent.
pub(super) fn sent(calls: &Calls, protocol: Protocol) -> String {
    let Calls { payload, described, .. } = calls;
    let sent = payload.request(0);
    let mut gunzip = Gunzip::default();
    let (body, compressed) = match payload.target.gzip {
        true => {
            let content = gunzip.content(sent, usize::MAX - 1).unwrap_or(sent);
            (content, format!(", {} before compression", units::bytes(content.len() as u64)))
        }
        false => (sent, String::new()),
    };
    let mut lines = vec![format!("{protocol} {}", described.target)];
    lines.extend(payload.target.headers.iter().map(|header| format!("  {header}")));
    if payload.target.has_body {
        let size = units::bytes(sent.len() as u64);
        let number = Some(described.requests).filter(|number| *number > 1);
        let number = number.map(|all| format!(", the first of {}", units::count(all)));
        lines.push(format!("Data, {size}{compressed}{}", number.unwrap_or_default()));
        let json = payload.method.as_ref().and_then(|method| method.request_json(body));
        lines.push(json.unwrap_or_else(|| text(body)));
    }
    lines.join("\n") + "\n"
}

/// Bytes as text, or in hexadecimal if they are not text.
pub(super) fn text(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => {
            let shown: String = text.chars().take(MAX_TEXT).collect();
            let lines: Vec<_> = shown.lines().map(printable).collect();
            lines.join("\n")
        }
        Err(_) => {
            let shown = bytes.iter().take(MAX_SHOWN);
            let hex: Vec<String> = shown.map(|byte| format!("{byte:02x}")).collect();
            let more = bytes.len().saturating_sub(MAX_SHOWN);
            let more = if more > 0 { format!(" and {more} more bytes") } else { String::new() };
            format!("{}{more}", hex.join(" "))
        }
    }
}
