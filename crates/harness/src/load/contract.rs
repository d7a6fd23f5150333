//! The contract on top of the load engine: its requests as a payload, its cases over the one-call client.

use std::time::Duration;

use rpcbench_contract::cases::{CallError, Caller, SpotChecks};
use rpcbench_contract::{Corpus, Encoding, Method, Profile, Shape};
use rpcbench_engine::{
    CallPosition, Client, ConnectionOptions, Patch, Payload, ReplyCheck, Scheme, Target, Transcript,
};
use rpcbench_record::{CallHeader, Protocol, Tls};

use super::Requests;

/// The target of calls of a method.
fn target(protocol: Protocol, method: Method) -> Target {
    match Profile::of(protocol).encoding {
        Encoding::ThriftBinary | Encoding::ThriftCompact => Target::new(method.name()),
        Encoding::Protobuf | Encoding::Json | Encoding::Opaque => {
            Target::new(format!("/{}/{}", method.service(), method.name()))
        }
    }
}

/// The requests of a shape as a load sends them, followed by spot checks, if any.
pub struct EchoPayload {
    corpus: Corpus,
    patches: Vec<Patch>,
    spot_checks: SpotChecks,
    pub(super) target: Target,
}

impl EchoPayload {
    /// Generates many different requests from `seed`.
    pub fn new(protocol: Protocol, shape: &Shape, seed: u64, requests: Requests) -> Self {
        let profile = Profile::of(protocol);
        let corpus = match requests {
            Requests::Usual | Requests::WithSpotChecks => {
                Corpus::generate(shape, seed, profile.encoding)
            }
            Requests::Passes(passes) => Corpus::of_passes(shape, seed, profile.encoding, passes),
        };
        let spot_checks = match requests {
            Requests::WithSpotChecks => SpotChecks::generate(shape, seed, profile),
            Requests::Usual | Requests::Passes(_) => SpotChecks::none(shape, profile),
        };
        let patch = |index| Patch::nonce(corpus.nonce(index).clone());
        let patches = (0..corpus.len()).map(patch).collect();
        Self { target: target(protocol, corpus.method()), patches, corpus, spot_checks }
    }

    /// The index of a spot check. `None` for a request of the load.
    fn spot_check(&self, index: usize) -> Option<usize> {
        index.checked_sub(self.corpus.len())
    }
}

impl Payload for EchoPayload {
    fn target(&self, _: usize) -> &Target {
        &self.target
    }

    fn len(&self) -> usize {
        self.corpus.len() + self.spot_checks.len()
    }

    fn request(&self, index: usize) -> &[u8] {
        match self.spot_check(index) {
            Some(number) => self.spot_checks.request(number),
            None => self.corpus.request(index),
        }
    }

    fn patches(&self, index: usize) -> &[Patch] {
        self.patches.get(index).map_or(&[], std::slice::from_ref)
    }

    fn spot_checks(&self) -> Option<&dyn rpcbench_engine::SpotChecks> {
        Some(self)
    }

    fn reply_check(&self) -> ReplyCheck {
        ReplyCheck::Echo
    }

    fn verify(&self, index: usize, sent: &[u8], reply: &[u8]) -> Result<(), String> {
        match self.spot_check(index) {
            Some(number) => self.spot_checks.verify(number, reply),
            None => self.corpus.verify(index, sent, reply).map_err(|it| it.to_string()),
        }
    }
}

impl rpcbench_engine::SpotChecks for EchoPayload {
    fn count(&self) -> usize {
        self.spot_checks.len()
    }

    fn accepts_status(&self, index: usize, code: u32) -> bool {
        let number = self.spot_check(index);
        number.is_some_and(|number| self.spot_checks.accepts_status(number, code))
    }
}

/// Calls the methods of the contract, one call at a time.
pub struct EchoClient {
    client: Client,
    protocol: Protocol,
    scheme: Scheme,
    headers: Vec<CallHeader>,
}

impl EchoClient {
    /// A client of a server. Every call carries `headers`, and takes at most `timeout`, connecting included.
    pub fn new(server: ConnectionOptions, headers: Vec<CallHeader>, timeout: Duration) -> Self {
        let (protocol, scheme) = (server.protocol, Scheme::of(server.tls.is_some()));
        Self { protocol, scheme, client: Client::new(server, timeout), headers }
    }

    /// Makes a call of a shape and returns everything that came back.
    pub fn transcript(&mut self, shape: &Shape) -> Transcript {
        let encoding = Profile::of(self.protocol).encoding;
        let corpus = Corpus::canonical(shape, 1, encoding);
        self.client.transcript(&self.target(corpus.method()), corpus.request(0))
    }

    fn call_at(
        &mut self,
        method: Method,
        body: &[u8],
        position: CallPosition,
    ) -> Result<Vec<u8>, CallError> {
        self.client.call(&self.target(method), body, position)
    }

    fn target(&self, method: Method) -> Target {
        let headers = self.headers.clone();
        Target { headers, scheme: self.scheme, ..target(self.protocol, method) }
    }
}

impl Caller for EchoClient {
    fn call(&mut self, method: Method, body: &[u8]) -> Result<Vec<u8>, CallError> {
        self.call_at(method, body, CallPosition::Any)
    }

    fn call_last(&mut self, method: Method, body: &[u8]) -> Result<Vec<u8>, CallError> {
        self.call_at(method, body, CallPosition::Last)
    }

    fn disconnect(&mut self) {
        self.client.disconnect();
    }

    fn tls(&self) -> Option<Tls> {
        self.client.tls().cloned()
    }
}
