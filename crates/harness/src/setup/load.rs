//! Loads on a server that the user runs.

use std::path::PathBuf;
use std::time::Duration;

use rpcbench_engine::ServerAddress;
use rpcbench_record::{Content, Limits, Plan, Protocol, Threshold, Workload};

use super::{Address, PreparedRun, Setup, SetupError, room};
use crate::build::Building;
use crate::calls::{CallSpec, LoadAddress};
use crate::manifest::Entry;
use crate::placement::{Endpoint, Site as _, Unmanaged};
use crate::reach::reach_unless;
use crate::suite::plan_load;

/// A load to make.
#[derive(Clone, Debug)]
pub struct LoadRequest {
    /// What to load.
    pub address: LoadAddress,
    /// What calls are, if not those of the contract.
    pub call: CallSpec,
    /// How calls travel.
    pub protocol: Protocol,
    /// The server's process, to watch it.
    pub pid: Option<u32>,
    /// Seed of payloads and random arrivals.
    pub seed: u64,
    /// The loads, in order.
    pub workloads: Vec<Workload>,
    /// What must not become true of a window.
    pub fail_if: Vec<Threshold>,
    /// The folder of the record. `None`: it has none.
    pub out: Option<PathBuf>,
}

impl Setup<'_> {
    /// Prepares a load: a run of one server that runs already.
    pub fn load(mut self, mut request: LoadRequest) -> Result<PreparedRun, SetupError> {
        self.describe_calls(&mut request)?;
        let LoadRequest { address, protocol, call, .. } = request;
        let (address, authority) = call.server(&address);
        let addresses = address.resolve()?;
        let endpoint = Endpoint { address: addresses[0].clone(), authority };
        let site = Unmanaged::new(endpoint, request.pid)?;
        let entry = Entry::existing(address.to_string(), protocol);
        let limits = Limits { cpus: site.capacity()?.cpus, memory_bytes: None };
        let plan = plan_load(request.workloads, limits, entry.planned(), request.seed)?;
        let plan = Plan { fail_if: request.fail_if, ..plan };
        room::check(&plan)?;
        let number = addresses.len();
        let within = Duration::from_millis(plan.workloads[0].connect_timeout_ms);
        let used = reach_unless(&self.interrupt, addresses, protocol, within)?;
        chosen(&address, number, &used).into_iter().for_each(|line| self.notice(line));
        let site = site.at(used.clone());
        let candidates = self.build(&site, &[entry], Building::Never)?;
        let run = self.begin(plan, (&site, &candidates), request.out);
        let run = run.map_err(|error| match error {
            SetupError::Store(error) => {
                SetupError::Refused(format!("--out: the record can't be written: {error}"))
            }
            other => other,
        })?;
        Ok(PreparedRun { existing: Some(used), ..run })
    }
}

impl Setup<'_> {
    /// Puts the user's calls into all workloads.
    fn describe_calls(&mut self, request: &mut LoadRequest) -> Result<(), SetupError> {
        let LoadRequest { address, call, protocol, seed, workloads, .. } = request;
        let headers = workloads.first().map(|workload| workload.headers.clone());
        let headers = headers.unwrap_or_default();
        let calls = match address {
            LoadAddress::Url(url) => call.http_calls(url, *protocol, &headers, *seed)?,
            LoadAddress::Server(_) => return Ok(()),
        };
        for workload in workloads {
            workload.content = Content::Call(calls.described.clone());
            workload.headers.clone_from(&calls.headers);
        }
        self.calls = Some(calls.payload);
        if let Some(secret) = &call.user {
            for argument in &mut self.arguments {
                *argument = argument.replace(secret, "[redacted]");
            }
        }
        Ok(())
    }
}

/// Which of several addresses of a host all connections go to. `None` if it has only one.
fn chosen(host: &Address, addresses: usize, used: &ServerAddress) -> Option<String> {
    (addresses > 1)
        .then(|| format!("{host} has {addresses} addresses; all connections go to {used}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chosen_address_is_named_if_there_are_several() {
        let host: Address = "api.example:50051".parse().unwrap();
        let used = ServerAddress::from("[::1]:50051".parse::<std::net::SocketAddr>().unwrap());
        assert_eq!(chosen(&host, 1, &used), None);
        insta::assert_snapshot!(chosen(&host, 2, &used).unwrap(), @"api.example:50051 has 2 addresses; all connections go to [::1]:50051");
    }
}
