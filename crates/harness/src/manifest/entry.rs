//! One line of a comparison: a server, or one of its variants.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::iter;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Arc;

use rpcbench_record::{Build, Limits, PlannedServer, Protocol};

use super::{Server, Variant};

/// A server under one of its protocols, in one of its variants.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The server or client.
    pub server: Arc<Server>,
    /// Protocol of calls to it.
    pub protocol: Protocol,
    /// The variant. `None`: the plain server.
    pub variant: Option<String>,
    /// 1, or more for a repeated entry.
    pub copy: NonZeroU32,
    /// The build, if two builds are compared.
    pub build: Option<Build>,
    /// The server that a client calls. `None` for the reference server, and for servers.
    pub counterpart: Option<Arc<Self>>,
}

impl Entry {
    /// A server that the user runs.
    pub fn existing(name: String, protocol: Protocol) -> Self {
        let protocols = vec![protocol];
        let server = Server { name, tls: protocols.clone(), protocols, ..Server::default() };
        Self::alone(server.into(), protocol, None)
    }

    /// The entries of one server: one for each of its protocols and variants.
    pub(super) fn of(server: &Arc<Server>) -> Vec<Self> {
        let plain = server.plain.then_some(None);
        let variants: Vec<Option<String>> =
            plain.into_iter().chain(server.variants.keys().cloned().map(Some)).collect();
        let built = |variant: &Option<String>| {
            let own = variant.as_ref().and_then(|name| server.variants.get(name)?.server.as_ref());
            Arc::clone(own.unwrap_or(server))
        };
        let entry = |protocol, variant| Self::alone(built(variant), protocol, variant.clone());
        let protocols = server.protocols.iter();
        protocols.flat_map(|p| variants.iter().map(move |variant| entry(*p, variant))).collect()
    }

    /// An entry that is not repeated, without build and counterpart.
    fn alone(server: Arc<Server>, protocol: Protocol, variant: Option<String>) -> Self {
        let (copy, build, counterpart) = (NonZeroU32::MIN, None, None);
        Self { server, protocol, variant, copy, build, counterpart }
    }

    /// Server, protocol and variant without the copy: `java-grpc@zgc`. The name includes the protocol if the server speaks
    /// several: `go-connect:json`.
    pub fn base_name(&self) -> String {
        self.as_variant(self.without_variant())
    }

    /// Server and variant without the protocol, even if the server speaks several: `java-grpc@zgc`.
    pub fn without_protocol(&self) -> String {
        self.as_variant(self.server.name.clone())
    }

    fn as_variant(&self, name: String) -> String {
        match &self.variant {
            None => name,
            Some(variant) => format!("{name}@{variant}"),
        }
    }

    /// Server and protocol: `java-grpc`, `go-connect:json`.
    pub fn without_variant(&self) -> String {
        match self.server.protocols.len() {
            0 | 1 => self.server.name.clone(),
            _ => format!("{}:{}", self.server.name, self.protocol),
        }
    }

    /// Unique in a selection: `java-grpc@zgc`, `go-grpc#2`, `go-grpc#old`, `go-grpc+java-grpc@zgc`.
    pub fn name(&self) -> String {
        let copy = Some(self.copy.get()).filter(|copy| *copy > 1).map(|copy| copy.to_string());
        let build = self.build.as_ref().map(|build| build.age.to_string());
        let marks = copy.into_iter().chain(build).map(|mark| format!("#{mark}"));
        let called = self.counterpart.iter().map(|server| format!("+{}", server.base_name()));
        called.chain(marks).fold(self.base_name(), |name, mark| name + &mark)
    }

    /// The server or client itself, then the server that a client calls, if any.
    pub fn sides(&self) -> impl Iterator<Item = &Server> {
        let called = self.counterpart.iter().map(|called| &*called.server);
        iter::once(&*self.server).chain(called)
    }

    /// The settings of the variant.
    pub fn settings(&self) -> Option<&Variant> {
        self.variant.as_ref().and_then(|name| self.server.variants.get(name))
    }

    /// True if the entry represents its language and protocol when no servers are named. A server with several protocols
    /// represents only the first.
    pub fn is_representative(&self) -> bool {
        self.server.protocols.first() == Some(&self.protocol)
            && self.settings().map_or(self.server.representative, |variant| variant.representative)
    }

    /// True if it can be reached over TLS.
    pub fn offers_tls(&self) -> bool {
        self.server.tls.contains(&self.protocol)
    }

    /// Why it can't be reached over TLS. `None` if it can.
    pub fn without_tls(&self) -> Option<String> {
        let reason = self.server.no_tls.as_ref().map_or_else(
            || "it has no TLS; `rpcbench list --matrix` shows servers with TLS".to_owned(),
            |reason| format!("it has no TLS: {reason}"),
        );
        (!self.offers_tls()).then_some(reason)
    }

    /// The entry as recorded in a plan.
    pub fn planned(&self) -> PlannedServer {
        PlannedServer {
            entry: self.name(),
            server: self.server.name.clone(),
            protocol: self.protocol,
            variant: self.variant.clone(),
            language: self.server.language.clone(),
            library: self.server.library.clone(),
            role: self.server.role,
            counterpart: self.counterpart.as_ref().map(|server| server.base_name()),
            build: self.build.clone(),
        }
    }

    /// The command line, placeholders expanded.
    pub fn command(&self) -> Vec<String> {
        let args = self.settings().map_or(&[][..], |variant| &variant.args);
        let mut words = Vec::new();
        for word in &self.server.command {
            match word.as_str() {
                "{args}" => words.extend(args.iter().map(|arg| self.server.expand(arg))),
                word => words.push(self.server.expand(word)),
            }
        }
        words
    }

    /// The manifest's environment, the variant's on top of it, placeholders expanded.
    pub fn env(&self) -> BTreeMap<String, String> {
        let above = self.settings().into_iter().flat_map(|variant| &variant.env);
        let all = self.server.env.iter().chain(above);
        all.map(|(key, value)| (key.clone(), self.server.expand(value))).collect()
    }

    /// The whole environment of the process: `base` (the harness's own `PATH` and the like), then [`Entry::env`], then the
    /// process contract. `address` is `None` for a client.
    pub fn environment(
        &self,
        base: &BTreeMap<String, String>,
        address: Option<SocketAddr>,
        limits: &Limits,
    ) -> BTreeMap<String, String> {
        let mut env = base.clone();
        env.extend(self.env());
        if let Some(address) = address {
            env.insert("RPCBENCH_HOST".into(), address.ip().to_string());
            env.insert("RPCBENCH_PORT".into(), address.port().to_string());
        }
        env.insert("RPCBENCH_PROTOCOL".into(), self.protocol.to_string());
        env.insert("RPCBENCH_CPUS".into(), limits.cpus.to_string());
        if let Some(bytes) = limits.memory_bytes {
            env.insert("RPCBENCH_MEMORY".into(), bytes.to_string());
        }
        env
    }
}

impl Server {
    /// Identifies a build of the server: `go-grpc`, `go-grpc@pgo`.
    pub fn build_name(&self) -> Cow<'_, str> {
        self.build_folder.file_name().unwrap_or_default().to_string_lossy()
    }

    /// The folder that contains `contract/` and `servers/`.
    pub fn root(&self) -> &Path {
        self.contract.parent().unwrap_or(&self.contract)
    }

    /// Name of its manifest: `server.toml`.
    pub fn manifest(&self) -> String {
        format!("{}.toml", self.role)
    }

    /// Why a [container-only](super::BuildSpec::container_only) server can't run as a process on this machine.
    pub const CONTAINER_ONLY: &str = "container only: use --in docker or --in podman";

    /// The build command, placeholders expanded.
    pub fn build_command(&self) -> Vec<String> {
        self.build.command.iter().map(|word| self.expand(word)).collect()
    }

    /// The command that writes the lock file, placeholders expanded. Empty if none does.
    pub fn lock_command(&self) -> Vec<String> {
        self.build.lock.iter().map(|word| self.expand(word)).collect()
    }

    fn expand(&self, text: &str) -> String {
        let path = |path: &Path| path.to_string_lossy().into_owned();
        text.replace("{build}", &path(&self.build_folder)).replace("{server}", &path(&self.folder))
    }
}
