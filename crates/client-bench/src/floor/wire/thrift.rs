//! Thrift: the framed transport and the binary protocol. `thrift-rpc.md` and `thrift-binary-protocol.md` of Apache
//! Thrift.

use super::{Numbers, Reply, Wire};
use crate::floor::FloorError;
use crate::floor::peer::Peer;

/// Bytes of a frame's length.
const LENGTH: usize = 4;
/// The version, with the kind of message in the last byte.
const CALL: [u8; 4] = [0x80, 1, 0, 1];
const REPLY: [u8; 4] = [0x80, 1, 0, 2];
/// A field that is a struct: the first argument, and the result.
const ARGUMENT: [u8; 3] = [12, 0, 1];
const RESULT: [u8; 3] = [12, 0, 0];
/// The end of a struct.
const STOP: u8 = 0;

pub(super) struct Thrift {
    /// The method, its length before it.
    name: Vec<u8>,
}

impl Thrift {
    pub fn new(name: &str) -> Self {
        let length = (name.len() as u32).to_be_bytes();
        Self { name: [&length, name.as_bytes()].concat() }
    }

    /// All of a message before the fields of its struct.
    fn head(&self, kind: [u8; 4], call: u32, field: [u8; 3]) -> Vec<u8> {
        [&kind, &self.name[..], &call.to_be_bytes(), &field].concat()
    }
}

impl Wire for Thrift {
    fn request(&self, call: u32, message: &[u8]) -> Vec<u8> {
        let content = [&self.head(CALL, call, ARGUMENT), message, &[STOP]].concat();
        [&(content.len() as u32).to_be_bytes(), &content[..]].concat()
    }

    fn numbers(&self) -> Numbers {
        Numbers { first: 0, step: 1, places: vec![LENGTH + CALL.len() + self.name.len()] }
    }

    fn reply(&self, peer: &mut Peer, call: u32) -> Result<Reply, FloorError> {
        let length = u32::from_be_bytes(peer.read_array::<LENGTH>()?) as usize;
        let content = peer.read(length)?;
        let message = content
            .strip_prefix(self.head(REPLY, call, RESULT).as_slice())
            .and_then(|rest| rest.strip_suffix(&[STOP]))
            .ok_or_else(|| FloorError::Opening("a message that is not the reply".to_owned()))?;
        Ok(Reply { size: LENGTH + length, message: message.to_vec() })
    }
}
