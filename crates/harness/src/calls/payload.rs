//! Encoded requests to one target.

use std::num::NonZeroU32;
use std::sync::Arc;

use rpcbench_engine::{Payload, Renewal, ReplyCheck, Target};
use rpcbench_record::{CallHeader, DescribedCall};
use rpcbench_schema::{Expectation, Method};

use super::CallSpec;

/// One of this many replies is decoded.
const DECODED_ONE_IN: NonZeroU32 = NonZeroU32::new(1000).expect("not 0");

/// Maximum size of a reply that examples show as JSON, bytes.
const MAX_SHOWN: usize = 64 << 10;

/// Encoded requests to one target, sent in turn.
#[derive(Clone, Debug)]
pub struct CallPayload {
    /// What they address.
    pub target: Target,
    /// The encoded requests; at least one.
    pub requests: Arc<Vec<Vec<u8>>>,
    /// The method that the requests belong to. `None` for HTTP bodies.
    pub method: Option<Method>,
    /// Deadline that calls send to the server, milliseconds from their start. `None`: calls send none.
    pub deadline_ms: Option<u64>,
    /// Conditions that every reply must meet.
    pub expectations: Vec<Expectation>,
    /// Maximum size of a reply, bytes.
    pub max_reply: usize,
    /// True if the user sets the maximum, so that compressed replies are decompressed to check it.
    pub limits_content: bool,
    /// Renews the token during a load. `None` if there is no token to renew.
    pub renewal: Option<Renewal>,
}

impl CallPayload {
    /// A payload without a method, with the options that apply to all calls.
    pub(super) fn new(
        spec: &CallSpec,
        (target, requests): (Target, Vec<Vec<u8>>),
        expectations: Vec<Expectation>,
        headers: &[CallHeader],
    ) -> Self {
        Self {
            target,
            requests: Arc::new(requests),
            method: None,
            deadline_ms: None,
            expectations,
            max_reply: spec.messages.max_reply(),
            limits_content: spec.messages.limits_content(headers),
            renewal: spec.token.token_command.as_ref().map(|_| Renewal::default()),
        }
    }

    /// Sizes of the smallest and largest request, bytes.
    pub(super) fn sizes(&self) -> (u64, u64) {
        let sizes = || self.requests.iter().map(|request| request.len() as u64);
        (sizes().min().unwrap_or_default(), sizes().max().unwrap_or_default())
    }

    /// Their description in a record.
    pub(super) fn described(&self, target: String, ok: String) -> DescribedCall {
        let (bytes_min, bytes_max) = self.sizes();
        let mut hasher = blake3::Hasher::new();
        for request in &*self.requests {
            hasher.update(&(request.len() as u64).to_le_bytes()).update(request);
        }
        DescribedCall {
            target,
            requests: self.requests.len() as u64,
            bytes_min,
            bytes_max,
            digest: hasher.finalize().to_hex().to_string(),
            ok,
            coding: None,
            decoded_one_in: self.method.as_ref().map(|_| DECODED_ONE_IN.get()),
            deadline_ms: self.deadline_ms,
            expect: self.expectations.iter().map(|it| it.text().to_owned()).collect(),
        }
    }
}

impl Payload for CallPayload {
    fn target(&self, _: usize) -> &Target {
        &self.target
    }

    fn len(&self) -> usize {
        self.requests.len()
    }

    fn request(&self, index: usize) -> &[u8] {
        &self.requests[index]
    }

    fn reply_check(&self) -> ReplyCheck {
        let sample = self.method.as_ref().map(|_| DECODED_ONE_IN);
        match sample {
            _ if !self.expectations.is_empty() => ReplyCheck::Expect(sample),
            Some(every) => ReplyCheck::Sample(every),
            None => ReplyCheck::Status,
        }
    }

    fn renewal(&self) -> Option<&Renewal> {
        self.renewal.as_ref()
    }

    fn max_reply(&self) -> usize {
        self.max_reply
    }

    fn limits_content(&self) -> bool {
        self.limits_content
    }

    fn reply_text(&self, reply: &[u8]) -> Option<String> {
        let method = self.method.as_ref().filter(|_| reply.len() <= MAX_SHOWN)?;
        let json = method.reply_json(reply)?;
        Some(json.lines().map(str::trim_start).collect::<Vec<_>>().join(" "))
    }

    fn expect(&self, _index: usize, reply: &[u8]) -> Result<(), String> {
        Expectation::check_all(&self.expectations, reply)
    }

    fn verify(&self, _index: usize, _sent: &[u8], reply: &[u8]) -> Result<(), String> {
        self.method.as_ref().map_or(Ok(()), |method| method.check_reply(reply))
    }
}
