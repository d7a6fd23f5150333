//! Requests as templates: bytes made once, copied for each call, a sequence id and a nonce patched.

use std::ops::Range;

use super::encoding::Encoding;
use super::transport::Transport;
use crate::payload::Payload;

/// The end of a struct.
const STOP: u8 = 0;

/// Every request of a payload as a whole message.
#[derive(Debug)]
pub(crate) struct Templates {
    messages: Vec<Message>,
    /// Where the sequence id is in all of them.
    sequence_id: usize,
    /// The name of the method, which replies must have too.
    pub method: &'static str,
}

#[derive(Debug)]
struct Message {
    bytes: Vec<u8>,
    nonce: Range<usize>,
}

impl Templates {
    pub fn new<T: Transport>(payload: &dyn Payload) -> Self {
        let method = payload.method().name();
        let mut head = Vec::new();
        let sequence_id = T::Encoding::put_call(&mut head, method);
        head.extend(T::Encoding::ARGUMENT);
        let message = |index| {
            let request = payload.request(index);
            let bytes = T::framed(&[&head, request, &[STOP]].concat());
            // Behind the request is but the end of the arguments.
            let start = bytes.len() - 1 - request.len();
            let nonce = payload.nonce(index);
            Message { bytes, nonce: start + nonce.start..start + nonce.end }
        };
        let prefix = T::framed(&[]).len();
        let messages = (0..payload.len()).map(message).collect();
        Self { messages, sequence_id: prefix + sequence_id, method }
    }

    /// The bytes of a request, where its sequence id is in them, four bytes, and where its nonce is.
    #[inline]
    pub fn message(&self, request: u32) -> (&[u8], Range<usize>, Range<usize>) {
        let Message { bytes, nonce } = &self.messages[request as usize];
        (bytes, self.sequence_id..self.sequence_id + 4, nonce.clone())
    }
}
