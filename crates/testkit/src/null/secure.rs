//! TLS around a null server's connection.

use std::io::{self, Read as _, Write as _};
use std::sync::Arc;

use rpcbench_reference::{Close, Session};
use rustls::ServerConnection;

use crate::tls::{Records, Secured};

pub(super) struct Secure<S> {
    /// `None` if no session could be created.
    tls: Option<ServerConnection>,
    records: Records,
    session: S,
    /// Decrypted requests that the session has not consumed.
    requests: Vec<u8>,
    replies: Vec<u8>,
    calls: u64,
}

impl<S: Session> Secure<S> {
    pub fn new(Secured { config, records }: &Secured, session: S) -> Self {
        let tls = ServerConnection::new(Arc::clone(config)).ok().map(|mut tls| {
            tls.set_buffer_limit(None);
            tls
        });
        let (requests, replies) = (Vec::new(), Vec::new());
        Self { tls, records: *records, session, requests, replies, calls: 0 }
    }

    /// Answers the requests received. The replies wait in the session.
    fn answer(&mut self) -> Result<(), Close> {
        let Some(tls) = &mut self.tls else { return Err(Close::Now) };
        let answered = self.session.receive(&self.requests, &mut self.replies);
        let calls = self.session.take_calls();
        self.calls += calls;
        let parts = match self.records {
            Records::Shared => 1,
            Records::PerReply => calls.max(1) as usize,
        };
        for part in self.replies.chunks(self.replies.len().div_ceil(parts).max(1)) {
            tls.writer().write_all(part).map_err(|_| Close::Now)?;
        }
        self.replies.clear();
        self.requests.drain(..answered?);
        Ok(())
    }
}

impl<S: Session> Session for Secure<S> {
    fn receive(&mut self, input: &[u8], output: &mut Vec<u8>) -> Result<usize, Close> {
        let opened = match &mut self.tls {
            Some(tls) => open(tls, input, &mut self.requests).map_err(|_| Close::Now),
            None => Err(Close::Now),
        };
        let answered = opened.and_then(|()| self.answer());
        // Includes handshake messages and alerts.
        while let Some(tls) = self.tls.as_mut().filter(|tls| tls.wants_write()) {
            tls.write_tls(output).map_err(|_| Close::Now)?;
        }
        answered.map(|()| input.len())
    }

    fn take_calls(&mut self) -> u64 {
        std::mem::take(&mut self.calls)
    }
}

/// Appends the plaintext of records.
fn open(tls: &mut ServerConnection, mut records: &[u8], plaintext: &mut Vec<u8>) -> io::Result<()> {
    while !records.is_empty() {
        tls.read_tls(&mut records)?;
        let state = tls.process_new_packets().map_err(io::Error::other)?;
        let begin = plaintext.len();
        plaintext.resize(begin + state.plaintext_bytes_to_read(), 0);
        tls.reader().read_exact(&mut plaintext[begin..])?;
    }
    Ok(())
}
