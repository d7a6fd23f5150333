//! Requests of the cases, sent on a load's connections, where many calls are in flight at once.

use super::applicable;
use super::probe::Probe;
use crate::codec::{Encoding, Sent};
use crate::method::Method;
use crate::profile::{AfterRefusal, Profile};
use crate::shape::Shape;
use crate::values::{Source, Value};

/// Minimum spot checks of a load.
const MIN_COUNT: usize = 256;
/// Longest request, bytes. A few hundred of them take little of a run's time.
const MAX_LEN: usize = 16 * 1024;

/// Requests of one method with a certain outcome: the valid ones of all cases, mixed with many usual ones, and malformed ones if
/// connections survive them.
#[derive(Clone, Debug)]
pub struct SpotChecks {
    method: Method,
    profile: &'static Profile,
    checks: Vec<SpotCheck>,
}

#[derive(Clone, Debug)]
struct SpotCheck {
    request: Vec<u8>,
    expected: Expected,
}

#[derive(Clone, Debug)]
enum Expected {
    /// See [`Sent`].
    Reply { shape: Shape, content: Option<Value>, nested_unknown: bool },
    /// An error, for this fault of the request.
    Refusal(String),
}

impl SpotChecks {
    /// No spot checks, for a load whose server need not prove itself: generating them takes about 40 ms of CPU time.
    pub fn none(shape: &Shape, profile: &'static Profile) -> Self {
        Self { method: shape.method(), profile, checks: Vec::new() }
    }

    /// The spot checks of a load with `shape`, in random order. Empty if servers do not decode.
    pub fn generate(shape: &Shape, seed: u64, profile: &'static Profile) -> Self {
        let mut spot_checks = Self::none(shape, profile);
        if profile.encoding == Encoding::Opaque {
            return spot_checks;
        }
        let mut source = Source::new(seed);
        while spot_checks.checks.len() < MIN_COUNT {
            let values = source.below(u32::MAX);
            let mut probe = Probe::keeping(&mut spot_checks, profile, values.into());
            for case in applicable(profile) {
                // Cases that judge replies themselves end at once.
                let _ = (case.run)(&mut probe);
            }
        }
        let checks = &mut spot_checks.checks;
        for at in (1..checks.len()).rev() {
            checks.swap(at, source.below(at as u32 + 1) as usize);
        }
        spot_checks
    }

    /// Number of spot checks.
    pub fn len(&self) -> usize {
        self.checks.len()
    }

    /// True without spot checks.
    pub fn is_empty(&self) -> bool {
        self.checks.is_empty()
    }

    /// Request `index`, encoded.
    pub fn request(&self, index: usize) -> &[u8] {
        &self.checks[index].request
    }

    /// True if request `index` must be refused, and this status is a refusal.
    pub fn accepts_status(&self, index: usize, code: u32) -> bool {
        matches!(self.checks[index].expected, Expected::Refusal(_))
            && self.profile.refusals.contains(&code)
    }

    /// Checks the reply to request `index`.
    ///
    /// # Errors
    /// What is wrong, in one line.
    pub fn verify(&self, index: usize, reply: &[u8]) -> Result<(), String> {
        let SpotCheck { request, expected } = &self.checks[index];
        match expected {
            Expected::Reply { shape, content, nested_unknown } => {
                let (shape, nested_unknown) = (*shape, *nested_unknown);
                let sent = Sent { shape, content: content.as_ref(), request, nested_unknown };
                let verified = self.profile.encoding.codec().verify(sent, reply);
                verified.map_err(|mismatch| mismatch.to_string())
            }
            Expected::Refusal(what) => Err(format!(
                "{what} was answered with OK (reply: {} B); expected an error status",
                reply.len()
            )),
        }
    }

    pub(super) fn keep_valid(&mut self, sent: Sent<'_>) {
        let Sent { shape, content, request, nested_unknown } = sent;
        let content = content.cloned();
        self.keep(shape, request, Expected::Reply { shape, content, nested_unknown });
    }

    pub(super) fn keep_malformed(&mut self, shape: Shape, request: &[u8], what: &str) {
        if self.profile.after_refusal == AfterRefusal::KeepsConnection {
            self.keep(shape, request, Expected::Refusal(what.to_owned()));
        }
    }

    fn keep(&mut self, shape: Shape, request: &[u8], expected: Expected) {
        if shape.method() == self.method && request.len() <= MAX_LEN {
            self.checks.push(SpotCheck { request: request.to_vec(), expected });
        }
    }
}
