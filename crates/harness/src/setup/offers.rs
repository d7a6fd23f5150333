//! The offer of a server that lacks the contract's service.

use std::time::Duration;

use rpcbench_engine::ConnectionOptions;
use rpcbench_record::{Content, Protocol, Run, Trial};
use rpcbench_schema::{Reflection, SchemaError};

/// gRPC's code of methods that a server does not have.
const UNIMPLEMENTED: u32 = 12;
/// Time limit for the server to answer.
const TIMEOUT: Duration = Duration::from_secs(1);
/// Services named at most.
const MAX_NAMED: usize = 5;

/// The command to type instead, if a server of gRPC refused all calls of the contract because it lacks them.
pub(super) fn instead(run: &Run, server: &ConnectionOptions) -> Option<String> {
    let plan = &run.header.plan;
    let entry = plan.servers.first()?;
    let is_contract = plan.loads().all(|load| matches!(load.content, Content::Shape(_)));
    let lacks_it = |trial: &Trial| {
        let outcomes = trial.measured().map(|measured| &measured.outcomes);
        outcomes.is_some_and(|all| all.status.get(&UNIMPLEMENTED) == Some(&all.total()))
    };
    if entry.protocol != Protocol::Grpc || !is_contract || !run.trials.iter().all(lacks_it) {
        return None;
    }
    let name = &entry.server;
    match Reflection::new(server.clone(), Vec::new(), TIMEOUT).services() {
        Ok(services) if !services.is_empty() => Some(format!(
            "{name} does not have rpcbench's contract, but offers {}; `rpcbench load {name} --list` shows their methods, and --call \
             calls one",
            listed(&services)
        )),
        Ok(_) | Err(SchemaError::NoReflection { .. }) => Some(format!(
            "{name} does not have rpcbench's contract, and offers no reflection; name a method with --call, and the file that \
             describes it with --proto"
        )),
        Err(_) => None,
    }
}

fn listed(services: &[String]) -> String {
    let named = services.iter().take(MAX_NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    match services.len().saturating_sub(MAX_NAMED) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}
