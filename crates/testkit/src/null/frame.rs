//! Frames as they come, and the small ones that go.

/// The longest frame payload that is taken; also the longest that is sent.
pub(super) const MAX_FRAME: usize = 16_384;
/// The largest window, and the largest stream number.
pub(super) const MAX_WINDOW: u32 = 0x7fff_ffff;

/// Type bytes.
pub(super) mod kind {
    pub(in crate::null) const DATA: u8 = 0;
    pub(in crate::null) const HEADERS: u8 = 1;
    pub(in crate::null) const RST_STREAM: u8 = 3;
    pub(in crate::null) const SETTINGS: u8 = 4;
    pub(in crate::null) const PUSH_PROMISE: u8 = 5;
    pub(in crate::null) const PING: u8 = 6;
    pub(in crate::null) const GOAWAY: u8 = 7;
    pub(in crate::null) const WINDOW_UPDATE: u8 = 8;
    pub(in crate::null) const CONTINUATION: u8 = 9;
}

pub(super) const ACK: u8 = 0x1;
pub(super) const END_STREAM: u8 = 0x1;
pub(super) const END_HEADERS: u8 = 0x4;
pub(super) const PADDED: u8 = 0x8;

/// An error of the whole connection, by its HTTP/2 code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fatal {
    Protocol = 1,
    FlowControl = 3,
    FrameSize = 6,
}

/// A frame and what it borrows from the input.
#[derive(Clone, Copy)]
pub(super) struct Frame<'a> {
    pub(super) kind: u8,
    pub(super) flags: u8,
    pub(super) stream: u32,
    pub(super) payload: &'a [u8],
}

impl<'a> Frame<'a> {
    /// The first frame of `input`, if it is whole.
    #[inline]
    pub(super) fn parse(input: &'a [u8]) -> Result<Option<Self>, Fatal> {
        let Some((&[l1, l2, l3, kind, flags, s1, s2, s3, s4], rest)) =
            input.split_first_chunk::<9>()
        else {
            return Ok(None);
        };
        let length = u32::from_be_bytes([0, l1, l2, l3]) as usize;
        if length > MAX_FRAME {
            return Err(Fatal::FrameSize);
        }
        let stream = u32::from_be_bytes([s1, s2, s3, s4]) & MAX_WINDOW;
        Ok(rest.get(..length).map(|payload| Self { kind, flags, stream, payload }))
    }

    pub(super) fn length(&self) -> usize {
        9 + self.payload.len()
    }

    /// The payload of DATA without its padding.
    pub(super) fn data(&self) -> Result<&'a [u8], Fatal> {
        if self.flags & PADDED == 0 {
            return Ok(self.payload);
        }
        let (&padding, rest) = self.payload.split_first().ok_or(Fatal::Protocol)?;
        let end = rest.len().checked_sub(usize::from(padding)).ok_or(Fatal::Protocol)?;
        Ok(&rest[..end])
    }

    pub(super) fn number(&self) -> Result<u32, Fatal> {
        self.payload.try_into().map(u32::from_be_bytes).map_err(|_| Fatal::FrameSize)
    }
}

/// The nine bytes before a payload of `length` bytes.
#[inline]
pub(super) fn frame_header(out: &mut Vec<u8>, length: u32, kind: u8, flags: u8, stream: u32) {
    let [_, l1, l2, l3] = length.to_be_bytes();
    let [s1, s2, s3, s4] = stream.to_be_bytes();
    out.extend_from_slice(&[l1, l2, l3, kind, flags, s1, s2, s3, s4]);
}

/// Says goodbye for this reason.
pub(super) fn goaway(out: &mut Vec<u8>, error: Fatal) {
    frame_header(out, 8, kind::GOAWAY, 0, 0);
    out.extend_from_slice(&MAX_WINDOW.to_be_bytes());
    out.extend_from_slice(&(error as u32).to_be_bytes());
}

pub(super) fn window_update(out: &mut Vec<u8>, bytes: u32) {
    frame_header(out, 4, kind::WINDOW_UPDATE, 0, 0);
    out.extend_from_slice(&bytes.to_be_bytes());
}

pub(super) fn rst_stream(out: &mut Vec<u8>, stream: u32, code: u32) {
    frame_header(out, 4, kind::RST_STREAM, 0, stream);
    out.extend_from_slice(&code.to_be_bytes());
}
