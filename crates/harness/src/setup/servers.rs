//! Servers that are started without a plan, to be checked or for the user to load.

use std::net::{Ipv4Addr, TcpListener};

use rpcbench_record::{Limits, PlacementKind, Readiness, TlsMode};

use super::{PreparedServers, Setup, SetupError};
use crate::build::{Building, Candidate};
use crate::manifest::{Entry, Selection};
use crate::placement::{SiteOptions, site};

/// Limits of checks: one CPU, and enough memory for the largest messages in the hungriest runtime.
const CHECK_LIMITS: Limits = Limits { cpus: 1, memory_bytes: Some(1 << 30) };
/// Every check sends the same payloads. A served server gets no load.
const SEED: u64 = 1;

/// A server to start for the user.
#[derive(Clone, Debug)]
pub struct ServeRequest {
    /// Name of the server, or a pattern.
    pub server: String,
    /// Placement of the server.
    pub placement: PlacementKind,
    /// Whether to build it.
    pub building: Building,
    /// Limits of the server.
    pub limits: Limits,
    /// Port of the server.
    pub port: u16,
    /// TLS of the server.
    pub tls: TlsMode,
}

impl Setup<'_> {
    /// Builds servers.
    pub fn candidates(
        &mut self,
        selection: &Selection,
        placement: PlacementKind,
        building: Building,
    ) -> Result<Vec<Candidate>, SetupError> {
        let entries = self.entries(selection)?;
        self.build(&*site(placement)?, &entries, building)
    }

    /// Prepares servers for checks.
    pub fn check(
        mut self,
        selection: &Selection,
        placement: PlacementKind,
        building: Building,
        tls: TlsMode,
    ) -> Result<PreparedServers, SetupError> {
        let candidates = self.candidates(selection, placement, building)?;
        let options =
            SiteOptions { limits: CHECK_LIMITS, tls: tls.is_on(), ..SiteOptions::default() };
        Ok(self.open(&*site(placement)?, &candidates, options, SEED)?.1)
    }

    /// Prepares one server for the user.
    pub fn serve(mut self, request: &ServeRequest) -> Result<PreparedServers, SetupError> {
        let entries = self.entries(&Selection::named(vec![request.server.clone()]))?;
        let entry = only(&request.server, entries)?;
        let site = site(request.placement)?;
        site.capacity()?.check(&request.limits)?;
        ensure_free(request.port)?;
        let candidates = self.build(&*site, &[entry], request.building)?;
        let (limits, port) = (request.limits, Some(request.port));
        let tls = request.tls.is_on();
        let options = SiteOptions { limits, port, tls, ..SiteOptions::default() };
        let (_, servers) = self.open(&*site, &candidates, options, SEED)?;
        match servers.subjects.iter().find(|subject| subject.readiness != Readiness::Ready) {
            None => Ok(servers),
            Some(subject) => Err(SetupError::Refused(format!(
                "{} can't run here; the lines above say why",
                subject.entry
            ))),
        }
    }
}

/// The only entry, or else the only representative one.
fn only(typed: &str, mut entries: Vec<Entry>) -> Result<Entry, SetupError> {
    if entries.len() > 1 && entries.iter().any(Entry::is_representative) {
        entries.retain(Entry::is_representative);
    }
    match <[Entry; 1]>::try_from(entries) {
        Ok([entry]) => Ok(entry),
        Err(several) => {
            let names: Vec<String> = several.iter().map(Entry::name).collect();
            Err(SetupError::Refused(format!(
                "'{typed}' matches several entries: {}; name one of them",
                names.join(", ")
            )))
        }
    }
}

/// Fails if a port is in use.
fn ensure_free(port: u16) -> Result<(), SetupError> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map(drop).map_err(|error| {
        SetupError::Refused(format!("--port {port} can't be used; give another: {error}"))
    })
}
