//! Suggests what to type for a server without the contract's service, found out with one call before the load.

use std::time::Duration;

use rpcbench_contract::Shape;
use rpcbench_engine::{ConnectionOptions, ServerAddress, Transcript};
use rpcbench_record::{CallError, Content, Protocol};
use rpcbench_schema::{Method, Reflection};

use super::{LoadRequest, SetupError};
use crate::load::EchoClient;
use crate::reach::{commands_for_url, explain_failed_calls};

/// Time limit of the call, and of each query to the server.
const TIMEOUT: Duration = Duration::from_secs(1);
/// Maximum number of services listed.
const MAX_NAMED: usize = 5;
/// Services that many servers have in addition to their own.
const COMMON: [&str; 4] =
    ["grpc.health.", "grpc.channelz.", "grpc.reflection.", "envoy.service.status."];
/// Status for unknown methods in gRPC and Connect; the exception in Thrift.
const UNIMPLEMENTED: u32 = 12;
const UNKNOWN_METHOD: u32 = 1;

/// If a server lacks the contract's methods, fails with a suggestion of what to type instead. Any other answer, or none in time,
/// is accepted.
pub(super) fn check(request: &LoadRequest, used: &ServerAddress) -> Result<(), SetupError> {
    let shape = request.workloads.first().and_then(|workload| match &workload.content {
        Content::Shape(shape) => shape.parse::<Shape>().ok(),
        Content::Call(_) => None,
    });
    let Some(shape) = shape else { return Ok(()) };
    let server = request.connection(used.clone());
    let (_, authority) = request.call.server(&request.address);
    let typed = ConnectionOptions { authority, ..server.clone() };
    let headers = request.headers().to_vec();
    let answer = EchoClient::new(server, headers, TIMEOUT).transcript(&shape);
    refusal(request, &typed, &answer).map_or(Ok(()), |problem| Err(SetupError::Refused(problem)))
}

fn refusal(
    request: &LoadRequest,
    server: &ConnectionOptions,
    answer: &Transcript,
) -> Option<String> {
    let (name, protocol) = (&request.address, request.protocol);
    match (protocol, &answer.reply) {
        (Protocol::Grpc, Err(_)) if is_page(answer) => Some(format!(
            "{name} speaks HTTP/2, not gRPC. To call a URL of it:\n\n{}",
            commands_for_url(server, true)
        )),
        (Protocol::Grpc | Protocol::Connect, Err(CallError::Status { code, .. }))
            if *code == UNIMPLEMENTED =>
        {
            Some(of_grpc(request, server))
        }
        (Protocol::Json | Protocol::JsonH2c, Err(CallError::Status { code, .. }))
            if matches!(*code, 300..400 | 404 | 405 | 501) =>
        {
            Some(format!(
                "{name} does not have rpcbench's contract. To call a URL of it:\n\n{}",
                commands_for_url(server, protocol == Protocol::JsonH2c)
            ))
        }
        (_, Err(CallError::Status { code: UNKNOWN_METHOD, .. })) if protocol.is_thrift() => {
            Some(format!(
                "{name} does not have rpcbench's contract, and other Thrift services can't be loaded"
            ))
        }
        (_, Err(CallError::Transport(_) | CallError::Closed(_))) if protocol != Protocol::Grpc => {
            explain_failed_calls(server)
        }
        _ => None,
    }
}

/// True if the answer is a plain HTTP page and not gRPC. A server that is busy or asks for credentials may still have gRPC behind
/// it.
fn is_page(answer: &Transcript) -> bool {
    let is_grpc =
        answer.header("content-type").is_some_and(|it| it.starts_with("application/grpc"));
    let is_final = |status| status < 500 && ![401, 403, 407, 429].contains(&status);
    !is_grpc && answer.http_status().is_some_and(is_final)
}

/// The services that a server offers instead, if it lists them.
fn of_grpc(request: &LoadRequest, server: &ConnectionOptions) -> String {
    let name = &request.address;
    let mut typed = format!("  rpcbench load {name}");
    let rest = if request.tls.is_some() { " (add your options for TLS)" } else { "" };
    if request.tls.is_some() && !name.is_tls() {
        typed.push_str(" --tls");
    }
    if request.protocol != Protocol::Grpc {
        typed.push_str(&format!(" --protocol {}", request.protocol));
    }
    let mut reflection = request.call.reflection(server, request.headers(), TIMEOUT);
    let services = reflection.services().unwrap_or_default();
    if services.is_empty() {
        return format!(
            "{name} does not have rpcbench's contract, and offers no reflection. To call one of its methods, give the file that \
             describes it:\n\n\
             {typed} --proto FILE --list\n\
             {typed} --proto FILE --describe SERVICE/METHOD\n\
             {typed} --proto FILE --call SERVICE/METHOD -d JSON"
        );
    }
    let (method, data) = match example(&mut reflection, &services) {
        Some(method) => (method.name(), one_line(&method.template())),
        None => ("SERVICE/METHOD".to_owned(), "JSON".to_owned()),
    };
    format!(
        "{name} does not have rpcbench's contract, but offers {}. To call one of its methods{rest}:\n\n\
         {typed} --list\n\
         {typed} --describe {method}\n\
         {typed} --call {method} -d '{data}'",
        listed(&services)
    )
}

/// A unary method, preferably of a service that is specific to this server.
fn example(reflection: &mut Reflection, services: &[String]) -> Option<Method> {
    let is_common = |name: &&String| COMMON.iter().any(|common| name.starts_with(common));
    let own = services.iter().filter(|name| !is_common(name));
    own.chain(services.iter().filter(is_common)).find_map(|service| {
        let schema = reflection.schema(Some(&format!("{service}/"))).ok()?;
        let methods = schema.describe(service).ok()?.methods;
        methods.into_iter().find(|method| method.not_unary().is_none())
    })
}

/// JSON without line breaks. Strings in templates have none.
fn one_line(json: &str) -> String {
    json.lines().map(str::trim).collect::<Vec<_>>().join(" ")
}

fn listed(services: &[String]) -> String {
    let named = services.iter().take(MAX_NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    match services.len().saturating_sub(MAX_NAMED) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}
