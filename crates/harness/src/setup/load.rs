//! Loads on a server that the user runs.

use std::path::PathBuf;
use std::time::Duration;

use rpcbench_engine::{ConnectionOptions, Scheme, ServerAddress, TlsClient};
use rpcbench_record::{Content, Labels, Limits, Plan, Protocol, Threshold, Workload};

use super::{Address, PreparedRun, Setup, SetupError, room};
use crate::build::Building;
use crate::calls::{CallContext, CallSpec, Calls, LoadAddress};
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
    /// For TLS. `None`: without.
    pub tls: Option<TlsClient>,
    /// The server's process, to watch it.
    pub pid: Option<u32>,
    /// Seed of payloads and random arrivals.
    pub seed: u64,
    /// The loads, in order.
    pub workloads: Vec<Workload>,
    /// Conditions that fail a load.
    pub fail_if: Vec<Threshold>,
    /// Conditions that end a window early.
    pub stop_if: Vec<Threshold>,
    /// The user's labels.
    pub labels: Labels,
    /// The folder of the record. `None`: it has none.
    pub out: Option<PathBuf>,
}

impl LoadRequest {
    fn context(&self) -> CallContext<'_> {
        let headers = self.workloads.first().map_or(&[][..], |workload| &workload.headers);
        let &Self { protocol, seed, .. } = self;
        CallContext {
            address: &self.address,
            protocol,
            scheme: Scheme::of(self.tls.is_some()),
            headers,
            seed,
            timeout_ms: self.timeout().as_millis() as u64,
        }
    }

    /// The plan with what is not part of its workloads.
    fn labelled(&self, plan: Plan) -> Plan {
        let Self { fail_if, stop_if, labels, .. } = self.clone();
        Plan { fail_if, stop_if, labels, ..plan }
    }

    /// Time limit for connecting.
    pub(super) fn connect_timeout(&self) -> Duration {
        let of_first = self.workloads.first().map(|workload| workload.connect_timeout_ms);
        Duration::from_millis(of_first.unwrap_or(Workload::CONNECT_TIMEOUT_MS))
    }

    /// Time limit for a call.
    pub(super) fn timeout(&self) -> Duration {
        self.workloads
            .first()
            .map_or(Duration::from_secs(10), |it| Duration::from_millis(it.timeout_ms))
    }

    /// Connection options of single calls to the server at `address`.
    pub(super) fn connection(&self, address: ServerAddress) -> ConnectionOptions {
        let given = self.workloads.first().and_then(|workload| workload.authority.as_ref());
        let (_, own) = self.call.server(&self.address);
        let authority = given.map_or(own, |host| host.as_str().to_owned());
        ConnectionOptions { protocol: self.protocol, address, authority, tls: self.tls.clone() }
    }
}

impl Setup<'_> {
    /// Prepares a load: a run of one server that runs already.
    pub fn load(mut self, mut request: LoadRequest) -> Result<PreparedRun, SetupError> {
        let tls = request.tls.as_ref().map(TlsClient::mode).unwrap_or_default();
        request.workloads.iter_mut().for_each(|workload| workload.tls = tls);
        let calls = request.calls_of_files()?;
        let (address, authority) = request.call.server(&request.address);
        let addresses = address.resolve()?;
        let endpoint =
            Endpoint { address: addresses[0].clone(), authority, tls: request.tls.clone() };
        let site = Unmanaged::new(endpoint, request.pid)?;
        let mut entry = Entry::existing(address.to_string(), request.protocol);
        let limits = Limits { cpus: site.capacity()?.cpus, memory_bytes: None };
        let plan = plan_load(request.workloads.clone(), limits, entry.planned(), request.seed)?;
        let mut plan = request.labelled(plan);
        room::check(&plan)?;
        let used = self.reach(&request)?;
        let calls = match calls {
            None if request.call.is_method() => Some(request.calls_by_reflection(&used)?),
            calls => calls,
        };
        if let Some(calls) = calls {
            // The target is part of the entry's name: other calls of the server have their own history.
            entry.variant = Some(calls.described.target.clone());
            plan = plan_load(request.workloads.clone(), limits, entry.planned(), request.seed)?;
            plan = request.labelled(plan);
            self.carry(&mut plan, &request.call, calls);
        }
        let server = request.connection(used.clone());
        let site = site.at(used);
        let candidates = self.build(&site, &[entry], Building::Never)?;
        let run = self.begin(plan, (&site, &candidates), request.out);
        let run = run.map_err(|error| match error {
            SetupError::Store(error) => {
                SetupError::Refused(format!("--out: the record can't be written: {error}"))
            }
            other => other,
        })?;
        Ok(PreparedRun { existing: Some(server), ..run })
    }

    /// The server's address that accepts connections.
    pub(super) fn reach(&mut self, request: &LoadRequest) -> Result<ServerAddress, SetupError> {
        let (address, _) = request.call.server(&request.address);
        let addresses = address.resolve()?;
        let number = addresses.len();
        let within = request.connect_timeout();
        let used = match request.call.wait {
            None => reach_unless(
                &self.interrupt,
                addresses.clone(),
                request.connection(addresses[0].clone()),
                within,
            )?,
            Some(wait) => {
                self.await_server(request, &addresses, Duration::from_millis(wait.ms()))?
            }
        };
        chosen(&address, number, &used).into_iter().for_each(|line| self.notice(line));
        Ok(used)
    }

    /// Puts the user's calls into all workloads.
    fn carry(&mut self, plan: &mut Plan, call: &CallSpec, calls: Calls) {
        calls.notice(call).into_iter().for_each(|line| self.notice(line));
        for workload in &mut plan.workloads {
            workload.content = Content::Call(calls.described.clone());
            workload.headers.clone_from(&calls.headers);
        }
        self.calls = Some(calls.payload);
        if let Some(secret) = &call.user {
            for argument in &mut self.arguments {
                *argument = argument.replace(secret, "[redacted]");
            }
        }
    }
}

impl LoadRequest {
    /// The calls of a method that the server describes.
    pub(super) fn calls_by_reflection(&self, used: &ServerAddress) -> Result<Calls, SetupError> {
        let server = self.connection(used.clone());
        let schema = self.call.schema_by_reflection(&server, self.connect_timeout())?;
        Ok(self.call.method_calls(&schema, &self.context())?)
    }

    /// The calls, if no server has to describe them.
    pub(super) fn calls_of_files(&self) -> Result<Option<Calls>, SetupError> {
        Ok(self.call.without_server(&self.context())?)
    }

    /// All calls, by reflection if no file describes them. `None` for those of the contract.
    pub(super) fn calls(&self, used: &ServerAddress) -> Result<Option<Calls>, SetupError> {
        match self.calls_of_files()? {
            None if self.call.is_method() => self.calls_by_reflection(used).map(Some),
            calls => Ok(calls),
        }
    }
}

/// The address that all connections go to, of several of a host. `None` if it has only one.
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
