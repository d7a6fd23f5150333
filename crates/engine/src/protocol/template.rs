//! Requests as templates: bytes made once, copied for each call, and patched.

use std::ops::Range;

use crate::nonce::{self, Digits, Nonce};
use crate::payload::Payload;

/// Every request of a payload as bytes on the wire.
#[derive(Debug)]
pub(crate) struct Templates {
    /// All of them, far fewer than 4 GiB.
    bytes: Vec<u8>,
    extents: Vec<Extent>,
    /// Patch points of requests other than those with a single full nonce.
    listed: Vec<Box<[Range<u32>]>>,
}

/// One request. A payload has one target; with several, this would have the index of the request's head.
#[derive(Debug)]
struct Extent {
    bytes: Range<u32>,
    /// Where its body begins, within its bytes.
    body: u32,
    patches: PatchPoints,
}

/// Where a call's nonce goes in its request.
#[derive(Clone, Copy, Debug)]
enum PatchPoints {
    /// One nonce of full width, from this byte on: the usual case.
    Full(u32),
    /// Any other patch points: an index into the lists.
    Listed(u32),
}

/// The parts of a request, as ranges of its bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    /// The body: the message, with what the protocol puts before it.
    pub body: usize,
    /// The message, which the payload's patch points count from.
    pub message: usize,
}

/// A request, still to be patched.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Template<'a> {
    pub bytes: &'a [u8],
    /// Where its body begins in them.
    pub body: usize,
    patches: Patches<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Patches<'a> {
    Full(usize),
    Listed(&'a [Range<u32>]),
}

impl Templates {
    /// `write` appends the request around a message.
    pub fn new(payload: &dyn Payload, write: impl Fn(&[u8], &mut Vec<u8>) -> Layout) -> Self {
        let (mut bytes, mut extents, mut listed) = (Vec::new(), Vec::new(), Vec::new());
        for request in 0..payload.len() {
            let start = bytes.len() as u32;
            let Layout { body, message } = write(payload.request(request), &mut bytes);
            let patches = match payload.patches(request) {
                [one] if one.len() == Nonce::DIGITS => {
                    PatchPoints::Full((message + one.start) as u32)
                }
                any => {
                    let at = |patch: &Range<usize>| {
                        (message + patch.start) as u32..(message + patch.end) as u32
                    };
                    listed.push(any.iter().map(at).collect());
                    PatchPoints::Listed(listed.len() as u32 - 1)
                }
            };
            extents.push(Extent { bytes: start..bytes.len() as u32, body: body as u32, patches });
        }
        Self { bytes, extents, listed }
    }

    #[inline]
    pub fn get(&self, request: u32) -> Template<'_> {
        let Extent { bytes, body, patches } = &self.extents[request as usize];
        Template {
            bytes: &self.bytes[bytes.start as usize..bytes.end as usize],
            body: *body as usize,
            patches: match *patches {
                PatchPoints::Full(at) => Patches::Full(at as usize),
                PatchPoints::Listed(list) => Patches::Listed(&self.listed[list as usize]),
            },
        }
    }

    /// Appends the request of a call, and returns it.
    #[inline]
    pub fn put<'a>(&self, request: u32, nonce: Nonce, out: &'a mut Vec<u8>) -> &'a mut [u8] {
        let template = self.get(request);
        let at = out.len();
        out.extend_from_slice(template.bytes);
        let sent = &mut out[at..];
        template.patch(&nonce.digits(), sent);
        sent
    }
}

impl<'a> Template<'a> {
    /// Writes a call's nonce into `sent`, a copy of the bytes.
    #[inline]
    pub fn patch(&self, digits: &Digits, sent: &mut [u8]) {
        match self.patches {
            Patches::Full(at) => sent[at..at + Nonce::DIGITS].copy_from_slice(digits),
            Patches::Listed(list) => patch_all(list, digits, sent),
        }
    }

    /// The body before it is patched.
    pub fn body(&self) -> &'a [u8] {
        &self.bytes[self.body..]
    }

    /// Writes a call's nonce into a piece of the body that begins `start` bytes into it.
    pub fn patch_piece(&self, digits: &Digits, start: usize, piece: &mut [u8]) {
        let full;
        let list = match self.patches {
            Patches::Full(at) => {
                full = at as u32..(at + Nonce::DIGITS) as u32;
                std::slice::from_ref(&full)
            }
            Patches::Listed(list) => list,
        };
        let from = self.body + start;
        for patch in list {
            let digits = &digits[Nonce::DIGITS - patch.len()..];
            for (at, digit) in patch.clone().zip(digits) {
                let at = (at as usize).checked_sub(from);
                if let Some(byte) = at.and_then(|at| piece.get_mut(at)) {
                    *byte = *digit;
                }
            }
        }
    }
}

#[cold]
fn patch_all(list: &[Range<u32>], digits: &Digits, sent: &mut [u8]) {
    for patch in list {
        nonce::put(digits, &mut sent[patch.start as usize..patch.end as usize]);
    }
}
