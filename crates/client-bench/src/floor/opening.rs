//! The first calls of a connection, one after another and checked: they show how large a reply is.

use std::net::{SocketAddr, TcpStream};

use rpcbench_contract::Corpus;

use super::FloorError;
use super::peer::Peer;
use super::wire::{Reply, Wire};

/// Calls made before the connection is handed over.
pub(super) const CALLS: u32 = 3;

/// A connection that has made [`CALLS`] calls, and the size of its replies.
pub(super) struct Opened {
    pub stream: TcpStream,
    pub reply: usize,
}

/// Connects, shakes hands, and makes the first calls.
pub(super) fn open(
    address: SocketAddr,
    wire: &dyn Wire,
    corpus: &Corpus,
) -> Result<Opened, FloorError> {
    let mut peer = Peer::connect(address)?;
    wire.greet(&mut peer)?;
    // In HTTP/2 the first reply may enter fields into the header table, so that it is longer than the others.
    call(&mut peer, wire, corpus, 0)?;
    let later = (1..CALLS).map(|number| call(&mut peer, wire, corpus, number));
    let mut sizes = later.collect::<Result<Vec<usize>, _>>()?;
    sizes.dedup();
    let &[reply] = sizes.as_slice() else {
        return Err(FloorError::Opening(format!("replies of {sizes:?} bytes")));
    };
    Ok(Opened { stream: peer.into_stream()?, reply })
}

/// Makes the connection's call `number`, checks the reply, and returns its size.
fn call(
    peer: &mut Peer,
    wire: &dyn Wire,
    corpus: &Corpus,
    number: u32,
) -> Result<usize, FloorError> {
    let entry = number as usize;
    peer.write(&wire.request(number, corpus.request(entry)))?;
    let Reply { size, message } = wire.reply(peer, number)?;
    corpus
        .verify(entry, corpus.request(entry), &message)
        .map_err(|mismatch| FloorError::Opening(mismatch.to_string()))?;
    Ok(size)
}
