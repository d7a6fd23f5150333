//! Calls that come one after the other on a connection: each is answered before the next one is looked at.

use std::io;

use bytes::Bytes;
use tokio::net::TcpStream;

use super::Dialect;
use crate::fault::write;
use crate::plan::Fault;
use crate::serve::Site;

const READ: usize = 64 << 10;

/// A request that came whole.
pub(crate) struct Request {
    /// As the protocol writes it; empty where it has none.
    pub(super) method: String,
    /// The call's number, where the protocol gives it one.
    pub(super) id: u32,
    pub(super) body: Vec<u8>,
}

/// What is sent back for a request.
pub(crate) struct Answer {
    pub(super) bytes: Vec<u8>,
    /// Whether the connection ends with it.
    pub(super) last: bool,
}

/// A protocol whose requests are answered in their order.
pub(crate) trait InOrder: Dialect {
    /// Takes the request that `input` begins with, if it is whole.
    fn take(&self, input: &mut Vec<u8>) -> io::Result<Option<Request>>;

    fn write(&self, request: &Request, reply: Result<Bytes, Self::Failure>) -> Answer;
}

/// Answers calls until the connection ends, or until a fault strikes, which is returned.
pub(crate) async fn converse(
    dialect: &impl InOrder,
    stream: &TcpStream,
    site: &Site,
) -> io::Result<Option<Fault>> {
    let mut strikes = site.strikes();
    let mut input = Vec::new();
    // Without it replies wait for more to send; a peer that is gone shows when it is read from.
    let _ = stream.set_nodelay(true);
    loop {
        let request = tokio::select! {
            biased;
            fault = strikes.wait_for(Option::is_some) => return Ok(fault.ok().and_then(|it| *it)),
            request = next_request(dialect, stream, &mut input) => request?,
        };
        let Some(request) = request else { return Ok(None) };
        // A fault that strikes instead of an answer is seen in the next turn.
        if let Some(number) = site.admit() {
            site.spend(number).await;
            let Request { method, body, .. } = &request;
            let reply = site.answerer().answer(dialect, method, body, number);
            let Answer { bytes, last } = dialect.write(&request, reply);
            write(stream, &bytes).await?;
            if last {
                return Ok(None);
            }
        }
    }
}

/// Nothing if the peer has closed. What has come of a request stays in `input` if nobody waits any longer.
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

/// A request that can't be read.
pub(super) fn invalid() -> io::Error {
    io::ErrorKind::InvalidData.into()
}
