//! Proves that a server or a client is correct before it is measured.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use rpcbench_contract::cases::{self, Caller, CheckReport};
use rpcbench_contract::{Method, Profile};
use rpcbench_engine::TlsVersion;
use rpcbench_record::{Failure, units};

use super::{LoadedServer, READY_PAUSE, StepError, failure};
use crate::host::control_socket::ControlSocket;
use crate::load::{Program, check_client};
use crate::placement::Endpoint;
use crate::run::fault::{ReadyTime, SharedRetries};

/// Time limit of a call of the conformance check.
const CHECK_CALL: Duration = Duration::from_secs(5);

impl LoadedServer<'_> {
    /// What a client checks in replies, as it reports. `None` for a server.
    pub fn reply_checks(&self) -> Option<String> {
        Some(self.program.as_ref()?.hello().ok()??.checks)
    }

    /// Waits until a client has connected and introduced itself.
    pub(super) fn await_hello(&mut self, limit: Duration) -> Result<(), StepError> {
        let context = self.context;
        let mut time = ReadyTime::begin(limit, &mut *self.running, context.now());
        loop {
            self.alive("before it had connected")?;
            match &self.program {
                None => self.program = self.accept()?.map(Arc::new),
                Some(program) => match program.hello() {
                    Ok(None) => {}
                    Ok(Some(_)) => return Ok(()),
                    Err(error) => return Err(self.blame(error.to_string()).into()),
                },
            }
            let now = context.now();
            if time.is_over(now) && !time.extend(&mut *self.running, now) {
                let (limit, variable) = (units::length(limit), ControlSocket::VARIABLE);
                let reason = match &self.program {
                    None => format!("not connected to {variable} within {limit}"),
                    Some(_) => format!("connected to {variable}, but no `hello` within {limit}"),
                };
                return Err(self.explain(reason + &time.extension()).into());
            }
            context.interrupt().wait_until(context.now() + READY_PAUSE)?;
        }
    }

    /// The client program, if it has connected to the control socket.
    fn accept(&self) -> Result<Option<Program>, Failure> {
        let broken = |error: io::Error| failure(format!("its control socket failed: {error}"));
        let control = self.running.control().ok_or_else(|| failure("it has no control socket"))?;
        let Some(stream) = control.accept().map_err(broken)? else { return Ok(None) };
        Program::start(stream, control).map(Some).map_err(broken)
    }

    /// Tries the conformance cases: for a client, those of [`crate::load::check_client`]; for a server, all, but those with many
    /// requests only for these methods.
    pub fn check(&mut self, methods: &[Method]) -> Result<CheckReport, StepError> {
        let interrupt = self.context.interrupt();
        if let Some(program) = &self.program {
            let seed = self.context.environment.seed;
            let report = check_client(program, self.subject.protocol, methods, seed, interrupt)?;
            self.running.reset_peak()?;
            return Ok(report);
        }
        let (protocol, seed) = (self.subject.protocol, self.context.environment.seed);
        let (caller, endpoint) = (self.caller(CHECK_CALL), self.running.endpoint().clone());
        let retries = SharedRetries::new(interrupt, &mut *self.running);
        let mut report =
            cases::check_methods(&mut retries.wrap(caller), Profile::of(protocol), seed, methods);
        if let Some(client) = &endpoint.tls {
            let (generator, options) = (&self.subject.generator, &self.call_options);
            let dial = |version| -> Box<dyn Caller + '_> {
                // The client already uses these settings, so limiting them does not fail.
                let tls = client.limited_to(offered(version)).ok();
                let endpoint = Endpoint { tls, ..endpoint.clone() };
                let caller = generator.caller(&endpoint, protocol, options, CHECK_CALL);
                Box::new(retries.wrap(caller))
            };
            let of_tls = cases::check_tls(&dial, protocol, client.mode(), seed);
            report.passed += of_tls.passed;
            report.failed.extend(of_tls.failed);
        }
        interrupt.check()?;
        self.check_port(true)?;
        self.alive("during the conformance check")?;
        // The check's messages are larger than those of most loads.
        self.running.reset_peak()?;
        Ok(report)
    }
}

fn offered(version: cases::TlsVersion) -> TlsVersion {
    match version {
        cases::TlsVersion::V1_2 => TlsVersion::V1_2,
        cases::TlsVersion::V1_3 => TlsVersion::V1_3,
    }
}
