//! Requests as whole messages, each with room for its sequence id.

use super::encoding::Encoding;
use super::transport::Transport;
use crate::payload::Payload;
use crate::protocol::Call;
use crate::protocol::template::{self, Layout};

/// The end of a struct.
const STOP: u8 = 0;

/// Every request of a payload as a whole message.
#[derive(Debug)]
pub(crate) struct Templates {
    messages: template::Templates,
    /// Position of the sequence id, the same in all of them.
    sequence_id: usize,
    /// The method's name, which replies must repeat.
    pub method: String,
}

impl Templates {
    pub fn new<T: Transport>(payload: &dyn Payload) -> Self {
        let method = payload.target(0).name.clone();
        let mut head = Vec::new();
        let sequence_id = T::Encoding::put_call(&mut head, &method);
        head.extend(T::Encoding::ARGUMENT);
        let messages = template::Templates::new(payload, |index, out| {
            let request = payload.request(index);
            let bytes = T::framed(&[&head, request, &[STOP]].concat());
            out.extend_from_slice(&bytes);
            // Only the end of the arguments follows the request.
            let message = bytes.len() - 1 - request.len();
            Layout { body: message, message, last_frame: 0 }
        });
        let prefix = T::framed(&[]).len();
        Self { messages, sequence_id: prefix + sequence_id, method }
    }

    /// Writes a call with its sequence id, encoded.
    #[inline]
    pub fn put(&self, call: Call, sequence_id: [u8; 4], out: &mut Vec<u8>) {
        let sent = self.messages.put(call.request, call.nonce, out);
        sent[self.sequence_id..self.sequence_id + 4].copy_from_slice(&sequence_id);
    }
}
