//! Requests as templates: bytes made once, copied for each call, and patched.

use std::ops::Range;

use crate::nonce::{Digits, Nonce};
use crate::patch::{Patch, PatchSource, PatchValues};
use crate::payload::Payload;

/// Every request of a payload as bytes on the wire.
#[derive(Debug)]
pub(crate) struct Templates {
    /// All requests, far smaller than 4 GiB.
    bytes: Vec<u8>,
    extents: Vec<Extent>,
    /// Patch points of requests other than those with a single full nonce.
    listed: Vec<Box<[Patch]>>,
}

/// One request.
#[derive(Debug)]
struct Extent {
    bytes: Range<u32>,
    /// Offset of the body in the request.
    body: u32,
    last_frame: u32,
    patches: PatchPoints,
}

/// The parts of a request that differ from call to call.
#[derive(Clone, Copy, Debug)]
enum PatchPoints {
    None,
    /// One nonce of full width, at this offset: the usual case.
    Full(u32),
    /// Any other patches: an index into the lists.
    Listed(u32),
}

/// Offsets of the parts of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    /// The body: the message, with what the protocol puts before it.
    pub body: usize,
    /// The message; the payload's patches count from its start.
    pub message: usize,
    /// HTTP/2's last frame: the body's, or if there is no body, the first one.
    pub last_frame: usize,
}

/// A request before patching.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Template<'a> {
    pub bytes: &'a [u8],
    /// Offsets of the body, and of HTTP/2's last frame.
    pub body: usize,
    pub last_frame: usize,
    patches: PatchPoints,
    /// The templates it belongs to.
    templates: &'a Templates,
}

impl Templates {
    /// Makes all templates; `write` appends the request with the given number.
    pub fn new(
        payload: &dyn Payload,
        mut write: impl FnMut(usize, &mut Vec<u8>) -> Layout,
    ) -> Self {
        let (mut bytes, mut extents, mut listed) = (Vec::new(), Vec::new(), Vec::new());
        for request in 0..payload.len() {
            let start = bytes.len() as u32;
            let Layout { body, message, last_frame } = write(request, &mut bytes);
            let patches = match payload.patches(request) {
                [] => PatchPoints::None,
                [Patch { at, source: PatchSource::Nonce }] if at.len() == Nonce::DIGITS => {
                    PatchPoints::Full((message + at.start) as u32)
                }
                any => {
                    let moved = |Patch { at, source }: &Patch| {
                        let at = message + at.start..message + at.end;
                        Patch { at, source: source.clone() }
                    };
                    listed.push(any.iter().map(moved).collect());
                    PatchPoints::Listed(listed.len() as u32 - 1)
                }
            };
            let (body, last_frame) = (body as u32, last_frame as u32);
            extents.push(Extent { bytes: start..bytes.len() as u32, body, last_frame, patches });
        }
        Self { bytes, extents, listed }
    }

    #[inline]
    pub fn get(&self, request: u32) -> Template<'_> {
        let Extent { bytes, body, last_frame, patches } = &self.extents[request as usize];
        Template {
            bytes: &self.bytes[bytes.start as usize..bytes.end as usize],
            body: *body as usize,
            last_frame: *last_frame as usize,
            patches: *patches,
            templates: self,
        }
    }

    /// Appends the request of a call, and returns it.
    #[inline]
    pub fn put<'a>(&self, request: u32, nonce: Nonce, out: &'a mut Vec<u8>) -> &'a mut [u8] {
        let template = self.get(request);
        let at = out.len();
        out.extend_from_slice(template.bytes);
        let sent = &mut out[at..];
        template.patch((request, nonce), || nonce.digits(), sent);
        sent
    }
}

impl<'a> Template<'a> {
    /// Patches `sent`, a copy of the bytes, for a call with this request and nonce; `digits` returns the nonce's.
    #[inline]
    pub fn patch(&self, call: (u32, Nonce), digits: impl FnOnce() -> Digits, sent: &mut [u8]) {
        match self.patches {
            PatchPoints::None => {}
            PatchPoints::Full(at) => {
                let at = at as usize;
                sent[at..at + Nonce::DIGITS].copy_from_slice(&digits());
            }
            PatchPoints::Listed(list) => self.patch_all(list, call, sent),
        }
    }

    #[cold]
    fn patch_all(&self, list: u32, call: (u32, Nonce), sent: &mut [u8]) {
        let values = self.values(call);
        for Patch { at, source } in &self.templates.listed[list as usize] {
            source.write(&values, &mut sent[at.clone()]);
        }
    }

    fn values(&self, (request, nonce): (u32, Nonce)) -> PatchValues {
        PatchValues::new(request, self.templates.extents.len(), nonce)
    }

    /// The body before patching.
    pub fn body(&self) -> &'a [u8] {
        &self.bytes[self.body..]
    }

    /// Patches a piece of the body that begins `start` bytes into it.
    pub fn patch_piece(&self, call: (u32, Nonce), start: usize, piece: &mut [u8]) {
        let full;
        let list = match self.patches {
            PatchPoints::None => &[],
            PatchPoints::Full(at) => {
                let at = at as usize;
                full = Patch::nonce(at..at + Nonce::DIGITS);
                std::slice::from_ref(&full)
            }
            PatchPoints::Listed(list) => &self.templates.listed[list as usize][..],
        };
        let (from, values) = (self.body + start, self.values(call));
        for Patch { at, source } in list {
            let mut bytes = [0; Patch::MAX_BYTES];
            source.write(&values, &mut bytes[..at.len()]);
            for (at, byte) in at.clone().zip(bytes) {
                let at = at.checked_sub(from);
                if let Some(place) = at.and_then(|at| piece.get_mut(at)) {
                    *place = byte;
                }
            }
        }
    }
}
