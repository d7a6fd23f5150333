//! Requests as templates: bytes made once, copied for each call, a nonce patched.

use std::ops::Range;

use crate::payload::Payload;
use crate::protocol::Call;
use crate::protocol::path::path;

const USER_AGENT: &str = concat!("rpcbench/", env!("CARGO_PKG_VERSION"));

/// Every request of a payload, and where its nonce goes.
#[derive(Debug)]
pub(crate) struct Templates(Vec<(Vec<u8>, Range<usize>)>);

impl Templates {
    pub fn new(payload: &dyn Payload, authority: &str) -> Self {
        let path = path(payload.method());
        let request = |index| {
            let body = payload.request(index);
            let head = format!(
                "POST {path} HTTP/1.1\r\nHost: {authority}\r\nUser-Agent: {USER_AGENT}\r\n\
                 Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
                body.len()
            );
            let nonce = payload.nonce(index);
            let nonce = head.len() + nonce.start..head.len() + nonce.end;
            ([head.as_bytes(), body].concat(), nonce)
        };
        Self((0..payload.len()).map(request).collect())
    }

    /// Writes the request of `call`.
    #[inline]
    pub fn put(&self, call: Call, out: &mut Vec<u8>) {
        let (request, nonce) = &self.0[call.request as usize];
        let at = out.len();
        out.extend_from_slice(request);
        call.nonce.write(&mut out[at + nonce.start..at + nonce.end]);
    }
}
