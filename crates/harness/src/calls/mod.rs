//! Calls of any service, as `rpcbench load` makes them: what users say of them, and what is sent.

mod data;
mod form;
mod http;
mod method_name;
mod payload;
mod spec;
mod statuses;
mod url;

use std::sync::Arc;

use rpcbench_record::{CallHeader, DescribedCall};

pub use method_name::HttpMethod;
pub use payload::CallPayload;
pub use spec::{CallKind, CallSpec, HttpVersion};
pub use url::{LoadAddress, Url};

/// Calls that are ready to be sent.
#[derive(Clone, Debug)]
pub struct Calls {
    /// Their requests.
    pub payload: Arc<CallPayload>,
    /// What a record says of them.
    pub described: DescribedCall,
    /// Their header fields.
    pub headers: Vec<CallHeader>,
}

impl Calls {
    /// `target`: what a record says that they address; `ok`: which statuses count as success.
    fn new(payload: CallPayload, target: String, ok: String, headers: Vec<CallHeader>) -> Self {
        let described = payload.described(target, ok);
        Self { payload: Arc::new(payload), described, headers }
    }
}
