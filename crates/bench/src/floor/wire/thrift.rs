//! Thrift in its framed transport.

use anyhow::Context as _;
use rpcbench_contract::Encoding;
use rpcbench_record::Transport;
use rpcbench_testkit::thrift::{Form, Message, kind};

use super::{Numbers, Reply, Wire};
use crate::floor::peer::Peer;

/// Bytes of a frame's length.
const LENGTH: usize = 4;
/// Bytes of the version and the name's length in the binary protocol.
const BEFORE_NAME: usize = 8;

pub(super) struct Thrift {
    form: Form,
    name: String,
}

impl Thrift {
    pub fn new(name: &str) -> Self {
        let form = Form { transport: Transport::ThriftFramed, encoding: Encoding::ThriftBinary };
        Self { form, name: name.to_owned() }
    }
}

impl Wire for Thrift {
    fn request(&self, call: u32, message: &[u8]) -> Vec<u8> {
        let body = self.form.wrap(1, message);
        let name = self.name.as_bytes();
        self.form.write(&Message { kind: kind::CALL, name, sequence_id: call, body: &body })
    }

    fn numbers(&self) -> Numbers {
        Numbers { first: 0, step: 1, offsets: vec![LENGTH + BEFORE_NAME + self.name.len()] }
    }

    fn reply(&self, peer: &mut Peer, call: u32) -> anyhow::Result<Reply> {
        let length = peer.read_array::<LENGTH>()?;
        let content = peer.read(u32::from_be_bytes(length) as usize)?;
        let bytes = [&length, &content[..]].concat();
        let read = self.form.read(&bytes).ok().flatten();
        let message = read
            .filter(|(reply, _)| (reply.kind, reply.sequence_id) == (kind::REPLY, call))
            .and_then(|(reply, _)| self.form.unwrap(0, reply.body))
            .context("a message that is not the reply")?;
        Ok(Reply { size: bytes.len(), message: message.to_vec() })
    }
}
