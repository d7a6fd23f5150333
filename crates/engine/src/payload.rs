//! What calls carry, and remembered replies, which make checking every reply cheap.

#[cfg(any(test, feature = "fuzzing"))]
mod filler;

use std::num::NonZeroU32;
use std::ops::Range;

use crate::call::Call;
use crate::failures::{start_of, start_of_reply};
use crate::gzip::{Gunzip, content};
use crate::nonce::{Digits, Nonce, NonceWriter, put};
use crate::patch::{Patch, PatchSource, PatchValues};
use crate::plan::PlanError;
use crate::recorder::Recorder;
use crate::renewal::Renewal;
use crate::target::Target;
use rpcbench_record::{Protocol, Transport, units};

#[cfg(any(test, feature = "fuzzing"))]
pub(crate) use filler::Filler;

/// Longest reply accepted unless a payload says otherwise, bytes.
pub const MAX_REPLY: usize = 64 << 20;

/// Encoded requests, what they address, and how to check their replies.
pub trait Payload: Send + Sync {
    /// Target of request number `index`.
    fn target(&self, index: usize) -> &Target;

    /// The number of requests; at least one.
    fn len(&self) -> usize;

    /// True if there are no requests.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Request number `index`, encoded.
    fn request(&self, index: usize) -> &[u8];

    /// Bytes of request number `index` that each call overwrites.
    fn patches(&self, _index: usize) -> &[Patch] {
        &[]
    }

    /// Requests that only [`Session::spot_check`](crate::Session::spot_check) sends.
    fn spot_checks(&self) -> Option<&dyn SpotChecks> {
        None
    }

    /// How replies with a success status are judged.
    fn reply_check(&self) -> ReplyCheck {
        ReplyCheck::Each
    }

    /// Longest reply accepted, compressed or not, bytes.
    fn max_reply(&self) -> usize {
        MAX_REPLY
    }

    /// Source of new headers for its calls during a load. `None`: headers never change.
    fn renewal(&self) -> Option<&Renewal> {
        None
    }

    /// True if replies are decompressed to judge their size, even if nothing else looks into them.
    fn limits_content(&self) -> bool {
        false
    }

    /// A reply in readable form, if it is not text itself.
    fn reply_text(&self, _reply: &[u8]) -> Option<String> {
        None
    }

    /// Checks every reply under [`ReplyCheck::Expect`]. Must not allocate if it is right.
    ///
    /// # Errors
    /// One line that says what is wrong.
    fn expect(&self, _index: usize, _reply: &[u8]) -> Result<(), String> {
        Ok(())
    }

    /// Checks a reply to request number `index`; `sent` is the request with its patches.
    ///
    /// # Errors
    /// One line that says what is wrong.
    fn verify(&self, index: usize, sent: &[u8], reply: &[u8]) -> Result<(), String>;
}

/// The last requests of a payload, which are not part of its load.
pub trait SpotChecks {
    /// How many there are.
    fn count(&self) -> usize;

    /// True if calls with request number `index` of the payload must end with this status and without a reply.
    fn accepts_status(&self, index: usize, code: u32) -> bool;
}

/// How the replies of a load are judged. Chosen once, so that no reply costs memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplyCheck {
    /// The status alone decides.
    Status,
    /// [`Payload::verify`] judges every reply.
    Each,
    /// `verify` judges one reply in this many, starting with the first.
    Sample(NonZeroU32),
    /// [`Payload::expect`] judges every reply, and `verify` one in this many, starting with the first. `None`: `verify` judges
    /// none.
    Expect(Option<NonZeroU32>),
    /// `verify` judges the first reply to each request. Right replies differ only in the request's nonce, if at all. So later
    /// ones are compared with the first, and judged only if they differ.
    Echo,
}

/// Replies that exceed their request by more bytes than this are not remembered.
const MAX_LONGER: usize = 1024;

/// Judges replies.
#[derive(Debug)]
pub(crate) struct Checker {
    reply_check: ReplyCheck,
    /// By request, with [`ReplyCheck::Echo`]; else empty.
    right: Vec<CachedReply>,
    /// Difference between the nonces of successive calls with a request.
    nonce_step: u32,
    nonces: NonceWriter,
    /// True if a target rejects the protocol's own success.
    rejects_success: bool,
    /// True if no reply with that success is judged, or only a sample.
    passes_over: bool,
    /// Replies to skip before the next of the sample.
    unjudged: u32,
    /// Request of the call being judged.
    sent: Vec<u8>,
    /// Longest reply that is right, compressed or not, bytes.
    max_reply: usize,
    /// True if replies are decompressed to judge that.
    limits_content: bool,
    /// Decompresses replies; `None` until one is looked into.
    gunzip: Option<Box<Gunzip>>,
}

/// The right reply to a call with a request; empty before the first.
#[derive(Clone, Debug, Default)]
struct CachedReply {
    bytes: Box<[u8]>,
    /// Nonce of that call.
    nonce: Nonce,
    /// Position of the nonce in `bytes`.
    nonce_at: u32,
    nonce_length: u32,
    /// False before the first reply.
    is_known: bool,
}

impl CachedReply {
    fn new(reply: &[u8], nonce: Nonce, place: &Range<usize>) -> Self {
        let (nonce_at, nonce_length) = (place.start as u32, place.len() as u32);
        Self { bytes: reply.into(), nonce, nonce_at, nonce_length, is_known: true }
    }

    /// Turns it into the right reply to the call with this nonce.
    #[inline(always)]
    fn patch_nonce(&mut self, nonce: Nonce, nonces: &mut NonceWriter) {
        let start = self.nonce_at as usize;
        let place = &mut self.bytes[start..start + self.nonce_length as usize];
        put(nonces.digits(nonce), place);
        self.nonce = nonce;
    }
}

impl Checker {
    /// A checker for calls whose nonces increase by `nonce_step` between calls with the same request.
    pub fn new(payload: &dyn Payload, nonce_step: u32) -> Self {
        let reply_check = payload.reply_check();
        let remembered = if reply_check == ReplyCheck::Echo { payload.len() } else { 0 };
        let rejects_success = (0..payload.len()).any(|it| payload.target(it).rejects_success);
        Self {
            reply_check,
            right: vec![CachedReply::default(); remembered],
            nonce_step,
            nonces: NonceWriter::default(),
            rejects_success,
            passes_over: !rejects_success
                && !payload.limits_content()
                && matches!(reply_check, ReplyCheck::Status | ReplyCheck::Sample(_)),
            unjudged: 0,
            sent: Vec::new(),
            max_reply: payload.max_reply(),
            limits_content: payload.limits_content(),
            gunzip: None,
        }
    }

    /// True if a reply with the protocol's own success is right without being judged: it equals the known one, or it is not
    /// in the sample.
    #[inline(always)]
    pub fn is_right(&mut self, call: &Call, reply: &[u8]) -> bool {
        if self.passes_over && self.unjudged > 0 && reply.len() <= self.max_reply {
            self.unjudged -= 1;
            return true;
        }
        let Some(right) = self.right.get_mut(call.request as usize) else { return false };
        if right.nonce != call.nonce {
            if !right.is_known {
                return false;
            }
            right.patch_nonce(call.nonce, &mut self.nonces);
        }
        if *right.bytes != *reply || reply.is_empty() && !right.is_known {
            return false;
        }
        // Written now: a comparison right after the write would stall on the store.
        right.patch_nonce(call.nonce.plus(self.nonce_step), &mut self.nonces);
        true
    }

    /// Judges a reply with the protocol's own success.
    pub fn judge_success(
        &mut self,
        payload: &dyn Payload,
        (call, reply): (Call, &[u8]),
        recorder: &mut Recorder,
    ) -> Result<(), String> {
        if self.rejects_success && payload.target(call.request as usize).rejects_success {
            return Err(String::new()); // The status says why.
        }
        self.judge(payload, (call, reply), recorder)
    }

    /// Judges a reply that equals no known one; `recorder` counts those judged for services other than the contract's.
    #[inline(always)]
    pub fn judge(
        &mut self,
        payload: &dyn Payload,
        (call, reply): (Call, &[u8]),
        recorder: &mut Recorder,
    ) -> Result<(), String> {
        if reply.len() > self.max_reply {
            return Err(format!(
                "a reply of {}; --max-message is {}",
                units::bytes(reply.len() as u64),
                units::bytes(self.max_reply as u64)
            ));
        }
        let index = call.request as usize;
        match self.reply_check {
            ReplyCheck::Status => {
                self.limit_content(reply)?;
                self.unjudged = u32::MAX;
                return Ok(());
            }
            ReplyCheck::Sample(every) => {
                self.limit_content(reply)?;
                if !self.takes(every) {
                    return Ok(());
                }
                recorder.checked(call.due, |checks| checks.decoded += 1);
            }
            ReplyCheck::Expect(every) => {
                recorder.checked(call.due, |checks| checks.expected += 1);
                payload.expect(index, content(&mut self.gunzip, reply, self.max_reply)?)?;
                if !every.is_some_and(|every| self.takes(every)) {
                    return Ok(());
                }
                recorder.checked(call.due, |checks| checks.decoded += 1);
            }
            ReplyCheck::Each | ReplyCheck::Echo => {}
        }
        let (patches, sent) = (payload.patches(index), &mut self.sent);
        let values = PatchValues::new(call.request, payload.len(), call.nonce);
        sent.clear();
        sent.extend_from_slice(payload.request(index));
        patches.iter().for_each(|it| it.source.write(&values, &mut sent[it.at.clone()]));
        match self.reply_check {
            ReplyCheck::Each => payload.verify(index, sent, reply),
            ReplyCheck::Echo => {
                payload.verify(index, sent, reply)?;
                self.remember(patches, call, reply);
                Ok(())
            }
            _ => {
                let reply = content(&mut self.gunzip, reply, self.max_reply)?;
                payload.verify(index, sent, reply)
            }
        }
    }

    /// Refuses a reply whose content is too large. For replies that nothing else may look into.
    fn limit_content(&mut self, reply: &[u8]) -> Result<(), String> {
        if self.limits_content {
            content(&mut self.gunzip, reply, self.max_reply)?;
        }
        Ok(())
    }

    /// True if this reply belongs to the sample, one in `every`.
    fn takes(&mut self, every: NonZeroU32) -> bool {
        let is_taken = self.unjudged == 0;
        self.unjudged = if is_taken { every.get() - 1 } else { self.unjudged - 1 };
        is_taken
    }

    /// The start of a reply as text: decompressed, unless it is the contract's.
    #[cold]
    pub fn shown(&mut self, payload: &dyn Payload, reply: &[u8]) -> String {
        let content = match self.reply_check {
            ReplyCheck::Each | ReplyCheck::Echo => reply,
            _ => content(&mut self.gunzip, reply, self.max_reply).unwrap_or(reply),
        };
        let text = payload.reply_text(content);
        text.map_or_else(|| start_of_reply(content), |text| start_of(&text))
    }

    fn remember(&mut self, patches: &[Patch], call: Call, reply: &[u8]) {
        let place = match patches {
            [] => Some(0..0),
            [Patch { at, source: PatchSource::Nonce }] => {
                find_nonce(&call.nonce.digits(), at.len(), reply)
            }
            _ => None,
        };
        let short = reply.len() <= self.sent.len() + MAX_LONGER;
        if let Some(place) = place.filter(|_| short) {
            self.right[call.request as usize] = CachedReply::new(reply, call.nonce, &place);
        }
    }
}

/// Position of the last `length` digits of a nonce in a right reply. `None` unless they occur exactly once: with several, it
/// is unknown which would differ in another call's reply.
fn find_nonce(digits: &Digits, length: usize, reply: &[u8]) -> Option<Range<usize>> {
    if length == 0 {
        return Some(0..0);
    }
    let digits = &digits[Nonce::DIGITS - length..];
    let mut places = reply.windows(length).enumerate().filter(|(_, bytes)| *bytes == digits);
    let (at, _) = places.next()?;
    places.next().is_none().then(|| at..at + length)
}

/// Refuses targets of a payload that `protocol` can't call.
pub(crate) fn check_targets(payload: &dyn Payload, protocol: Protocol) -> Result<(), PlanError> {
    let first = payload.target(0);
    let over_http = matches!(protocol.spec().transport, Transport::Http1 | Transport::Http2);
    for target in (0..payload.len()).map(|index| payload.target(index)) {
        target.check(protocol)?;
        if !over_http && target != first {
            return Err(PlanError(format!("all {protocol} calls of a load have one method")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
