//! Calls of any service that `rpcbench load` makes: their options, and what is sent.

mod connecting;
mod data;
mod form;
mod grpc;
mod http;
mod messages;
mod method_name;
mod payload;
mod spec;
mod statuses;
mod tls;
mod token;
mod url;

use std::sync::Arc;

use rpcbench_engine::Scheme;
use rpcbench_record::{CallHeader, DescribedCall, Protocol};
use rpcbench_schema::Method;

use crate::config::{ConfigError, Length};

pub use connecting::{ConnectSpec, ConnectTo, Resolve};
pub use messages::{Coding, MessageSpec};
pub use method_name::HttpMethod;
pub use payload::CallPayload;
pub use spec::{CallKind, CallSpec, Inspection};
pub use tls::TlsSpec;
pub(crate) use tls::{host, needed_alpn};
pub(crate) use token::Renewer;
pub use token::TokenSpec;
pub use url::{LoadAddress, Url};

/// Calls ready to be sent.
#[derive(Clone, Debug)]
pub struct Calls {
    /// Their requests.
    pub payload: Arc<CallPayload>,
    /// Their description in a record.
    pub described: DescribedCall,
    /// Their header fields.
    pub headers: Vec<CallHeader>,
}

/// What calls depend on in addition to their own options.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallContext<'a> {
    /// What to load.
    pub address: &'a LoadAddress,
    /// Protocol of the calls.
    pub protocol: Protocol,
    /// Scheme of the URLs that requests name.
    pub scheme: Scheme,
    /// The user's header fields.
    pub headers: &'a [CallHeader],
    /// Seed of random data.
    pub seed: u64,
    /// Timeout of a call, milliseconds.
    pub timeout_ms: u64,
}

impl CallSpec {
    /// The calls, if they can be built without asking the server. `None` for the contract's calls, and if the server has to
    /// describe the method.
    pub(crate) fn without_server(
        &self,
        context: &CallContext<'_>,
    ) -> Result<Option<Calls>, ConfigError> {
        match (self.kind(context.address), context.address) {
            (CallKind::Http, LoadAddress::Url(url)) => self.http_calls(url, context).map(Some),
            (CallKind::Method, _) => match self.schema_of_files()? {
                Some(schema) => self.method_calls(&schema, context).map(Some),
                None => Ok(None),
            },
            (CallKind::Contract | CallKind::Http, _) => Ok(None),
        }
    }
}

impl Calls {
    /// A hint at something the user may have forgotten.
    pub(crate) fn notice(&self, spec: &CallSpec) -> Option<String> {
        let is_empty = spec.data.is_none() && spec.data_file.is_none();
        let has_fields = |method: &&Method| method.template() != "{}";
        if let Some(method) = self.payload.method.as_ref().filter(|_| is_empty).filter(has_fields) {
            return Some(format!(
                "no --data: all calls of {} send an empty message",
                method.name()
            ));
        }
        let data = spec.data.as_deref().unwrap_or_default();
        if data.parse::<Length>().is_ok() {
            return Some(format!(
                "-d {data}: sent as the body of each request; -z {data} is the length of a load"
            ));
        }
        // Template syntax of ghz, k6 and Go.
        data.contains("{{").then(|| {
            "'{{' in the data is sent as it is: there are no templates; -D FILE.jsonl sends different requests in turn"
                .to_owned()
        })
    }

    /// `payload`: not compressed yet. `target`: its name in a record. `ok`: the statuses that count as success.
    fn new(
        mut payload: CallPayload,
        messages: &MessageSpec,
        (target, ok): (String, String),
        headers: Vec<CallHeader>,
    ) -> Result<Self, ConfigError> {
        messages.check(&headers)?;
        let mut described = payload.described(target, ok);
        messages.compress(&mut payload);
        described.coding = messages.compress.map(|coding| coding.to_string());
        (described.bytes_min, described.bytes_max) = payload.sizes();
        Ok(Self { payload: Arc::new(payload), described, headers })
    }
}
