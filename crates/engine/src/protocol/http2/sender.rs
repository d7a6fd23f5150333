//! The sending half of a connection: forms of header blocks, flow control, bodies held back.

use std::collections::VecDeque;
use std::sync::Arc;

use super::request::{MAX_TABLE, Request, Templates};
use super::{PeerSettings, frame, hpack};
use crate::nonce::NonceWriter;
use crate::protocol::Broken;

/// Largest flow-control window. RFC 9113, section 6.9.1.
pub(super) const MAX_WINDOW: u32 = 0x7fff_ffff;
/// A connection's initial window. RFC 9113, section 6.9.2.
pub(super) const DEFAULT_WINDOW: u32 = 65_535;

/// The form of the next request's head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HeadForm {
    Inserting,
    Indexed,
    Literal,
}

/// A body held back by flow control. The queue is in stream order.
#[derive(Debug)]
struct Stalled {
    stream: u32,
    request: Request,
    sent: usize,
    window: i64,
}

/// Writes requests within the peer's limits.
#[derive(Debug)]
pub(super) struct Sender {
    templates: Arc<Templates>,
    nonces: NonceWriter,
    peer: PeerSettings,
    head_form: HeadForm,
    table_size: usize,
    /// The lowest and the last table size, if they must be announced to the peer.
    table_update: Option<(usize, usize)>,
    pub(super) window: i64,
    /// Bytes by which the peer has opened `window`.
    opened: u64,
    stalled: VecDeque<Stalled>,
    /// Streams whose body was held back and was sent since the last flush.
    pub(super) completed: Vec<u32>,
}

impl Sender {
    pub fn new(templates: Arc<Templates>) -> Self {
        Self {
            templates,
            nonces: NonceWriter::default(),
            peer: PeerSettings::default(),
            head_form: HeadForm::Inserting,
            table_size: MAX_TABLE,
            table_update: None,
            window: i64::from(DEFAULT_WINDOW),
            opened: 0,
            stalled: VecDeque::new(),
            completed: Vec::new(),
        }
    }

    /// Maximum open streams that the peer allows.
    #[inline]
    pub fn max_concurrent(&self) -> u32 {
        self.peer.max_concurrent
    }

    /// Switches to the requests of another target. No body may be held back.
    pub fn switch(&mut self, templates: Arc<Templates>) {
        self.templates = templates;
        self.choose_head_form();
    }

    fn choose_head_form(&mut self) {
        let fits = self.table_size >= self.templates.table_bytes;
        self.head_form = if fits { HeadForm::Inserting } else { HeadForm::Literal };
    }

    /// Writes a request on a new stream, or the part of it that flow control allows.
    #[inline(always)]
    pub fn send(&mut self, stream: u32, request: Request, out: &mut Vec<u8>) {
        let template = self.templates.get(request.index);
        let body = template.bytes.len() - template.body;
        let free = self.stalled.is_empty()
            && body as i64 <= self.window.min(self.peer.initial_window)
            && body <= self.peer.max_payload;
        if self.head_form != HeadForm::Indexed || !free {
            return self.send_slowly(stream, request, out);
        }
        let at = out.len();
        out.extend_from_slice(template.bytes);
        let sent = &mut out[at..];
        for begin in [0, template.last_frame] {
            let at = begin + frame::STREAM_OFFSET;
            sent[at..at + 4].copy_from_slice(&stream.to_be_bytes());
        }
        let call = (request.index, request.nonce);
        template.patch(call, || *self.nonces.digits(request.nonce), sent);
        self.window -= body as i64;
    }

    #[cold]
    fn send_slowly(&mut self, stream: u32, request: Request, out: &mut Vec<u8>) {
        self.put_head(stream, request.index, out);
        let window = self.peer.initial_window;
        let mut stalled = Stalled { stream, request, sent: 0, window };
        // Bodies ahead of it wait for their own windows or, like this one, for the connection's.
        if !self.push(&mut stalled, out) {
            self.stalled.push_back(stalled);
        }
    }

    fn position(&self, stream: u32) -> Option<usize> {
        self.stalled.binary_search_by_key(&stream, |stalled| stalled.stream).ok()
    }

    fn put_head(&mut self, stream: u32, request: u32, out: &mut Vec<u8>) {
        let at = out.len();
        let has_body = self.templates.get(request).last_frame > 0;
        let flags = frame::END_HEADERS | if has_body { 0 } else { frame::END_STREAM };
        frame::put_head(out, 0, frame::HEADERS, flags, stream);
        if let Some((lowest, last)) = self.table_update.take() {
            if lowest < last {
                hpack::size_update(out, lowest);
            }
            hpack::size_update(out, last);
        }
        let head = self.templates.head(request);
        out.extend_from_slice(match self.head_form {
            HeadForm::Inserting => &head.inserting,
            HeadForm::Indexed => &head.indexed,
            HeadForm::Literal => &head.literal,
        });
        out.extend_from_slice(self.templates.own_fields(request));
        if self.head_form == HeadForm::Inserting {
            self.head_form = HeadForm::Indexed;
        }
        frame::set_length(out, at);
    }

    /// Sends as much of the bodies held back as flow control allows, oldest first.
    fn pump(&mut self, out: &mut Vec<u8>) {
        let mut waiting = std::mem::take(&mut self.stalled);
        let held_back = waiting.iter_mut().position(|stalled| !self.release(stalled, out));
        waiting.drain(..held_back.unwrap_or(waiting.len()));
        if self.window > 0 {
            waiting.retain_mut(|stalled| !self.release(stalled, out));
        }
        self.stalled = waiting;
    }

    /// Sends as much of a body held back as flow control allows. True if all of it is sent.
    fn release(&mut self, stalled: &mut Stalled, out: &mut Vec<u8>) -> bool {
        let whole = self.push(stalled, out);
        if whole {
            self.completed.push(stalled.stream);
        }
        whole
    }

    /// Sends as much of a body as flow control allows. True if all of it is sent.
    fn push(&mut self, stalled: &mut Stalled, out: &mut Vec<u8>) -> bool {
        let templates = Arc::clone(&self.templates);
        let template = templates.get(stalled.request.index);
        let body = template.body();
        if body.is_empty() && template.last_frame > 0 {
            frame::put(out, frame::DATA, frame::END_STREAM, stalled.stream, body);
        }
        while stalled.sent < body.len() {
            let window = self.window.min(stalled.window).max(0) as usize;
            let length = window.min(self.peer.max_payload).min(body.len() - stalled.sent);
            if length == 0 {
                return false;
            }
            let piece = &body[stalled.sent..stalled.sent + length];
            stalled.sent += length;
            let flags = if stalled.sent == body.len() { frame::END_STREAM } else { 0 };
            frame::put(out, frame::DATA, flags, stalled.stream, piece);
            let call = (stalled.request.index, stalled.request.nonce);
            let piece_at = out.len() - length;
            template.patch_piece(call, stalled.sent - length, &mut out[piece_at..]);
            stalled.window -= length as i64;
            self.window -= length as i64;
        }
        true
    }

    /// True if no part of a request is held back, or was at the last flush.
    #[inline]
    pub fn has_sent_all(&self) -> bool {
        self.stalled.is_empty() && self.completed.is_empty()
    }

    /// True if part of the request is held back.
    #[inline]
    pub fn holds_back(&self, stream: u32) -> bool {
        !self.stalled.is_empty() && self.position(stream).is_some()
    }

    /// Number of requests held back in part.
    #[cfg(any(test, feature = "fuzzing"))]
    pub fn held_back(&self) -> usize {
        self.stalled.len()
    }

    /// Drops the rest of this request.
    pub fn forget(&mut self, stream: u32) {
        if let Some(position) = self.position(stream) {
            self.stalled.remove(position);
        }
    }

    /// Applies the peer's settings.
    pub fn settings(&mut self, payload: &[u8], out: &mut Vec<u8>) -> Result<(), Broken> {
        let old_window = self.peer.initial_window;
        let least_table = self.peer.apply(payload)?;
        for stalled in &mut self.stalled {
            stalled.window += self.peer.initial_window - old_window;
            if stalled.window > i64::from(MAX_WINDOW) {
                return Err(Broken::Http2(
                    "SETTINGS_INITIAL_WINDOW_SIZE opens a stream past 2^31-1",
                ));
            }
        }
        self.follow_table_size(least_table);
        frame::put(out, frame::SETTINGS, frame::ACK, 0, &[]);
        self.pump(out);
        Ok(())
    }

    /// RFC 7541, section 4.2: a new table size must be announced, and so must the lowest of several.
    fn follow_table_size(&mut self, least: usize) {
        let least = least.min(MAX_TABLE);
        let size = self.peer.header_table_size.min(MAX_TABLE);
        if least == self.table_size && size == self.table_size {
            return;
        }
        let lowest = self.table_update.map_or(least, |(lowest, _)| lowest.min(least));
        self.table_update = Some((lowest, size));
        self.table_size = size;
        self.choose_head_form();
    }

    /// True if a body is held back by the window of the connection (0) or of this stream.
    pub fn awaits_window(&self, stream: u32) -> bool {
        if stream == 0 {
            return !self.stalled.is_empty() && self.window <= 0;
        }
        self.holds_back(stream)
    }

    /// Bytes of bodies sent so far.
    pub fn sent(&self) -> u64 {
        (i64::from(DEFAULT_WINDOW) - self.window).saturating_add_unsigned(self.opened) as u64
    }

    /// Opens the connection's window, or that of a stream.
    pub fn open_window(
        &mut self,
        stream: u32,
        increment: u32,
        out: &mut Vec<u8>,
    ) -> Result<(), Broken> {
        if stream == 0 {
            open(&mut self.window, increment)?;
            self.opened += u64::from(increment);
            self.pump(out);
            return Ok(());
        }
        // A stream outside the queue has sent its body.
        let Some(position) = self.position(stream) else { return Ok(()) };
        let Some(mut stalled) = self.stalled.remove(position) else { return Ok(()) };
        open(&mut stalled.window, increment)?;
        if !self.release(&mut stalled, out) {
            self.stalled.insert(position, stalled);
        }
        Ok(())
    }
}

fn open(window: &mut i64, increment: u32) -> Result<(), Broken> {
    *window += i64::from(increment);
    if increment == 0 || *window > i64::from(MAX_WINDOW) {
        return Err(Broken::Http2("WINDOW_UPDATE by nothing, or past 2^31-1"));
    }
    Ok(())
}
