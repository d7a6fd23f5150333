//! The first calls on a connection. They are checked, and show the size of a reply.

use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;

use anyhow::{Context as _, ensure};
use rpcbench_contract::Corpus;
use rustls::ClientConfig;

use super::peer::Peer;
use super::tls::Records;
use super::wire::{Reply, Wire};

/// Calls made before the load takes over the connection.
pub(super) const CALLS: u32 = 3;

/// A connection that has made [`CALLS`] calls, and the size of its replies.
pub(super) struct Opened {
    pub stream: TcpStream,
    /// `None` without TLS.
    pub records: Option<Records>,
    pub reply: usize,
}

pub(super) fn open(
    address: SocketAddr,
    tls: Option<&Arc<ClientConfig>>,
    wire: &dyn Wire,
    corpus: &Corpus,
) -> anyhow::Result<Opened> {
    let mut peer = Peer::connect(address, tls)?;
    calls(&mut peer, wire, corpus)
        .and_then(|reply| {
            let (stream, records) = peer.into_parts()?;
            Ok(Opened { stream, records, reply })
        })
        .context("first calls on a connection; the floor needs the null server of its protocol")
}

fn calls(peer: &mut Peer, wire: &dyn Wire, corpus: &Corpus) -> anyhow::Result<usize> {
    wire.greet(peer)?;
    // In HTTP/2 the first reply may enter fields into the header table, which makes it longer than the others.
    call(peer, wire, corpus, 0)?;
    let later = (1..CALLS).map(|number| call(peer, wire, corpus, number));
    let sizes = later.collect::<anyhow::Result<Vec<usize>>>()?;
    ensure!(sizes.iter().all(|size| *size == sizes[0]), "replies of {sizes:?} bytes");
    Ok(sizes[0])
}

/// Makes call `number` on the connection, checks the reply, and returns its size.
fn call(peer: &mut Peer, wire: &dyn Wire, corpus: &Corpus, number: u32) -> anyhow::Result<usize> {
    let entry = number as usize;
    peer.write(&wire.request(number, corpus.request(entry)))?;
    let Reply { size, message } = wire.reply(peer, number)?;
    corpus
        .verify(entry, corpus.request(entry), &message)
        .map_err(|mismatch| anyhow::anyhow!("{mismatch}"))?;
    Ok(size)
}
