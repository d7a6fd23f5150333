//! Loads against a server that the user runs.

use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use rpcbench_engine::{ConnectionOptions, Scheme, ServerAddress, TlsClient};
use rpcbench_record::{
    CallHeader, Content, Labels, Limits, Plan, Protocol, REDACTED, Threshold, Workload, units,
};

use super::{Address, PreparedRun, Setup, SetupError, offers, room};
use crate::build::Building;
use crate::calls::{CallContext, CallSpec, Calls, ConnectSpec, LoadAddress, Renewer};
use crate::interrupt::Interrupt;
use crate::manifest::Entry;
use crate::placement::{Endpoint, Site as _, Unmanaged};
use crate::reach::{Reached, reach_unless};
use crate::suite::plan_load;

/// A load to run.
#[derive(Clone, Debug)]
pub struct LoadRequest {
    /// What to load.
    pub address: LoadAddress,
    /// The calls, unless they are the contract's.
    pub call: CallSpec,
    /// Where connections go, and how they are kept alive.
    pub connect: ConnectSpec,
    /// Protocol of the calls.
    pub protocol: Protocol,
    /// TLS settings. `None` without TLS.
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
    /// The folder of the record. `None`: no record.
    pub out: Option<PathBuf>,
}

impl LoadRequest {
    /// Adds the credentials of `--user` or `--token-command` to the headers of all calls.
    ///
    /// # Errors
    /// If the command fails or is interrupted, or the calls already have an authorization.
    pub fn authorize(&mut self, interrupt: &Interrupt) -> Result<(), SetupError> {
        let header = self.call.authorization(self.headers(), interrupt);
        interrupt.check()?;
        let header = header?;
        for workload in &mut self.workloads {
            workload.headers.extend(header.clone());
        }
        Ok(())
    }

    /// The header fields of calls.
    pub(super) fn headers(&self) -> &[CallHeader] {
        self.workloads.first().map_or(&[], |workload| &workload.headers)
    }

    fn context(&self) -> CallContext<'_> {
        let headers = self.headers();
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

    /// Adds conditions and labels to a plan.
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
        let tls = self.tls.clone();
        ConnectionOptions { authority, tls, ..ConnectionOptions::new(self.protocol, address) }
    }
}

impl Setup<'_> {
    /// Prepares a load: a run with one server that is already running.
    pub fn load(mut self, mut request: LoadRequest) -> Result<PreparedRun, SetupError> {
        let tls = request.tls.as_ref().map(TlsClient::mode).unwrap_or_default();
        let keepalive = request.connect.keepalive(request.protocol)?;
        for workload in &mut request.workloads {
            (workload.tls, workload.keepalive) = (tls, keepalive);
        }
        let threads = request.workloads.iter().map(|workload| workload.client_threads).max();
        let cpus = thread::available_parallelism().map_or(u32::MAX, |cpus| cpus.get() as u32);
        let crowded = threads.and_then(|threads| crowded(threads, cpus));
        let notices = crowded.into_iter().chain(request.connect.notice());
        notices.for_each(|line| self.warn(line));
        let calls = request.calls_of_files(&self.interrupt)?;
        let (address, authority) = request.call.server(&request.address);
        let addresses = of_one_family(self.addresses(&request)?);
        let first = addresses[0].clone();
        let (others, tls) = (Vec::new(), request.tls.clone());
        let endpoint = Endpoint { address: first, others, authority, tls };
        let site = Unmanaged::new(endpoint, request.pid)?;
        let mut entry = Entry::existing(address.to_string(), request.protocol);
        let limits = Limits { cpus: site.capacity()?.cpus, memory_bytes: None };
        let plan = plan_load(request.workloads.clone(), limits, entry.planned(), request.seed)?;
        let mut plan = request.labelled(plan);
        room::check(&plan, &addresses)?;
        let Reached { address: used, others, .. } = self.reach(&request)?;
        let calls = match calls {
            None if request.call.is_method() => {
                Some(request.calls_by_reflection(&used, &self.interrupt)?)
            }
            None => {
                offers::check(&request, &used)?;
                None
            }
            calls => calls,
        };
        let mut payload = None;
        if let Some(calls) = calls {
            // The target is part of the entry's name, so that different calls of a server have separate histories.
            entry.variant = Some(calls.described.target.clone());
            plan = plan_load(request.workloads.clone(), limits, entry.planned(), request.seed)?;
            plan = request.labelled(plan);
            payload = Some(Arc::clone(&calls.payload));
            self.carry(&mut plan, &request, calls);
        }
        let server = request.connection(used.clone());
        let site = site.at(used, others);
        let candidates = self.build(&site, &[entry], Building::Never)?;
        let run = self.begin(plan, (&site, &candidates), request.out);
        let run = run.map_err(|error| match error {
            SetupError::Store(error) => {
                SetupError::Refused(format!("--out: the record can't be written: {error}"))
            }
            other => other,
        })?;
        let secrets = run.servers.environment.secrets.clone();
        secrets.add_values(request.address.secrets());
        let renewer =
            payload.and_then(|calls| Renewer::start(&request.call.token, &calls, secrets));
        Ok(PreparedRun { existing: Some(server), renewer, ..run })
    }

    fn addresses(&self, request: &LoadRequest) -> Result<Vec<ServerAddress>, SetupError> {
        let (address, _) = request.call.server(&request.address);
        let connect = request.connect.clone();
        self.interrupt.wait_for(move || address.resolve(&connect))?
    }

    /// Finds the server's addresses that accept connections.
    pub(super) fn reach(&mut self, request: &LoadRequest) -> Result<Reached, SetupError> {
        let (address, _) = request.call.server(&request.address);
        let addresses = self.addresses(request)?;
        let within = request.connect_timeout();
        let reached = match request.call.wait {
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
        match spread(&address, &reached) {
            Some(line) if reached.missing.is_empty() => self.notice(line),
            line => line.into_iter().for_each(|line| self.warn(line)),
        }
        Ok(reached)
    }

    /// Puts the user's calls into all workloads of a plan.
    fn carry(&mut self, plan: &mut Plan, request: &LoadRequest, calls: Calls) {
        let LoadRequest { call, address, .. } = request;
        calls.notice(call).into_iter().for_each(|line| self.warn(line));
        for workload in &mut plan.workloads {
            workload.content = Content::Call(calls.described.clone());
            workload.headers.clone_from(&calls.headers);
        }
        self.calls = Some(calls.payload);
        let secrets: Vec<&String> = call.user.iter().chain(&call.token.token_command).collect();
        for argument in &mut self.arguments {
            let without = |text: String, secret: &&String| text.replace(*secret, REDACTED);
            *argument = secrets.iter().fold(address.redact(argument), without);
        }
    }
}

impl LoadRequest {
    /// The calls of a method that the server describes by reflection.
    pub(super) fn calls_by_reflection(
        &self,
        used: &ServerAddress,
        interrupt: &Interrupt,
    ) -> Result<Calls, SetupError> {
        let own = self.clone();
        let server = self.connection(used.clone());
        interrupt.wait_for(move || {
            let timeout = own.connect_timeout();
            let schema = own.call.schema_by_reflection(&server, own.headers(), timeout)?;
            Ok(own.call.method_calls(&schema, &own.context())?)
        })?
    }

    /// The calls, if they can be built without asking the server.
    pub(super) fn calls_of_files(
        &self,
        interrupt: &Interrupt,
    ) -> Result<Option<Calls>, SetupError> {
        let own = self.clone();
        let calls = interrupt.wait_for(move || own.call.without_server(&own.context()))?;
        Ok(calls?)
    }

    /// The calls, using reflection if no file describes them. `None` for the contract's calls.
    pub(super) fn calls(
        &self,
        used: &ServerAddress,
        interrupt: &Interrupt,
    ) -> Result<Option<Calls>, SetupError> {
        match self.calls_of_files(interrupt)? {
            None if self.call.is_method() => self.calls_by_reflection(used, interrupt).map(Some),
            calls => Ok(calls),
        }
    }
}

/// The addresses of the same family as the first.
fn of_one_family(mut addresses: Vec<ServerAddress>) -> Vec<ServerAddress> {
    let is_ipv4 = |address: &ServerAddress| match address {
        ServerAddress::Tcp(address) => Some(address.is_ipv4()),
        ServerAddress::Unix(_) => None,
    };
    let first = addresses.first().and_then(is_ipv4);
    addresses.retain(|address| is_ipv4(address) == first);
    addresses
}

/// A warning if client threads have to share CPUs.
fn crowded(threads: u32, cpus: u32) -> Option<String> {
    (threads > cpus).then(|| {
        format!(
            "-t {threads}: {threads} client threads share {}, so each is slower; --timeout limits the time of a call",
            units::plural(cpus.into(), "CPU")
        )
    })
}

/// Which of a host's addresses connections go to. `None` if the host has only one.
fn spread(host: &Address, reached: &Reached) -> Option<String> {
    let Reached { address, others, missing } = reached;
    let missing = missing.join("; ");
    match (others.is_empty(), missing.is_empty()) {
        (true, true) => None,
        (true, false) => Some(format!("{host}: all connections go to {address} ({missing})")),
        (false, _) => {
            let all: Vec<String> =
                std::iter::once(address).chain(others).map(ToString::to_string).collect();
            let missing = if missing.is_empty() { missing } else { format!(" ({missing})") };
            Some(format!("{host}: connections are spread over {}{missing}", all.join(", ")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_threads_than_cpus_are_remarked_on() {
        assert_eq!(crowded(2, 2), None);
        insta::assert_snapshot!(crowded(20, 2).unwrap(), @"-t 20: 20 client threads share 2 CPUs, so each is slower; --timeout limits the time of a call");
    }

    #[test]
    fn addresses_are_named_if_there_are_several() {
        let host: Address = "api.example:50051".parse().unwrap();
        let address =
            |text: &str| ServerAddress::from(text.parse::<std::net::SocketAddr>().unwrap());
        let shown = |others: &[&str], missing: &[&str]| {
            let others = others.iter().map(|it| address(it)).collect();
            let missing = missing.iter().map(|&it| it.to_owned()).collect();
            spread(&host, &Reached { address: address("10.0.0.1:50051"), others, missing })
        };
        assert_eq!(shown(&[], &[]), None);
        insta::assert_snapshot!(shown(&["10.0.0.2:50051"], &[]).unwrap(), @"api.example:50051: connections are spread over 10.0.0.1:50051, 10.0.0.2:50051");
        insta::assert_snapshot!(shown(&[], &["10.0.0.2:50051: nothing listens there"]).unwrap(), @"api.example:50051: all connections go to 10.0.0.1:50051 (10.0.0.2:50051: nothing listens there)");
    }
}
