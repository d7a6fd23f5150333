//! Connections that answer one call after another, in order.

use std::io;

use bytes::Bytes;
use tokio::net::TcpStream;

use super::Dialect;
use crate::fault::write;
use crate::plan::Fault;
use crate::serve::ServerState;

const READ: usize = 64 << 10;

pub(crate) struct Request {
    /// The method as the protocol writes it. Empty if the protocol has no methods.
    pub(super) method: String,
    /// The call's number. 0 if the protocol has none.
    pub(super) id: u32,
    pub(super) body: Vec<u8>,
}

pub(crate) struct Answer {
    pub(super) bytes: Vec<u8>,
    /// True if the connection ends after this answer.
    pub(super) last: bool,
}

/// A protocol whose requests are answered in order.
pub(crate) trait InOrder: Dialect {
    /// Takes the request at the start of `input`, if it is complete.
    fn take(&self, input: &mut Vec<u8>) -> io::Result<Option<Request>>;

    fn write(&self, request: &Request, reply: Result<Bytes, Self::Failure>) -> Answer;
}

/// Answers calls until the connection ends or a fault is triggered. Returns the fault.
pub(crate) async fn converse(
    dialect: &impl InOrder,
    stream: &TcpStream,
    state: &ServerState,
) -> io::Result<Option<Fault>> {
    let mut faults = state.fault_signal();
    let mut input = Vec::new();
    // Otherwise small replies are delayed. If the peer is gone, reading fails.
    let _ = stream.set_nodelay(true);
    loop {
        let request = tokio::select! {
            biased;
            fault = faults.wait_for(Option::is_some) => return Ok(fault.ok().and_then(|it| *it)),
            request = next_request(dialect, stream, &mut input) => request?,
        };
        let Some(request) = request else { return Ok(None) };
        // If a fault is triggered instead, the next iteration sees it.
        if let Some(number) = state.admit() {
            state.spend(number).await;
            let Request { method, body, .. } = &request;
            let reply = state.answerer().answer(dialect, method, body, number);
            let Answer { bytes, last } = dialect.write(&request, reply);
            write(stream, &bytes).await?;
            if last {
                return Ok(None);
            }
        }
    }
}

/// Reads the next request. `None` if the peer has closed. Cancel safe: a partial request stays in `input`.
async fn next_request(
    dialect: &impl InOrder,
    stream: &TcpStream,
    input: &mut Vec<u8>,
) -> io::Result<Option<Request>> {
    loop {
        if let Some(request) = dialect.take(input)? {
            return Ok(Some(request));
        }
        stream.readable().await?;
        input.reserve(READ);
        match stream.try_read_buf(input) {
            Ok(0) => return Ok(None),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
}

/// The error for a request that can't be read.
pub(super) fn invalid() -> io::Error {
    io::ErrorKind::InvalidData.into()
}
