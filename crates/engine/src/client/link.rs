//! A connection for one call at a time.

use std::sync::Arc;
use std::{io, mem};

use super::{CallError, CallPosition, Transcript};
use crate::driver::{Blocking, EpollDriver, TlsDriver};
use crate::plan::ConnectionOptions;
use crate::protocol::{Allowance, Call, Connection, End, Events};
use crate::target::Target;
use rpcbench_clock::Nanos;

/// Name of the status field.
const STATUS: &[u8] = b":status";

pub(super) struct Link<C> {
    pub socket: Blocking<TlsDriver<EpollDriver>>,
    pub connection: C,
    pub out: Vec<u8>,
}

/// Collects the reply.
#[derive(Debug, Default)]
pub(super) struct Answer<'a> {
    target: Option<&'a Target>,
    headers: Vec<(String, String)>,
    trailers: Vec<(String, String)>,
    /// True if the headers end the stream.
    has_one_block: bool,
    message: Option<Vec<u8>>,
    problem: Option<String>,
    pub end: Option<End>,
}

impl Events for Answer<'_> {
    fn target(&self, _call: Call) -> Option<&Target> {
        self.target
    }

    fn verify(&mut self, _call: &Call, message: &[u8]) -> bool {
        self.message = Some(message.to_vec());
        true
    }

    fn malformed(&mut self, _request: u32, problem: &str) {
        self.problem = Some(problem.to_owned());
    }

    fn field(&mut self, is_trailer: bool, name: &[u8], value: &[u8]) {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        if name == STATUS {
            // Any earlier headers were those of a 1xx reply.
            self.headers.clear();
            self.has_one_block = is_trailer;
        }
        let is_trailer = is_trailer && !self.has_one_block;
        let fields = if is_trailer { &mut self.trailers } else { &mut self.headers };
        fields.push((text(name), text(value)));
    }

    fn ended(&mut self, _call: &Call, end: End) {
        self.end = Some(end);
    }
}

impl Answer<'_> {
    pub fn into_transcript(mut self) -> Transcript {
        let (headers, trailers) = (mem::take(&mut self.headers), mem::take(&mut self.trailers));
        let details = match &self.end {
            Some(End::Status { details, .. }) => details.clone(),
            _ => Vec::new(),
        };
        Transcript { headers, trailers, details, reply: self.into_reply() }
    }

    fn into_reply(self) -> Result<Vec<u8>, CallError> {
        match (self.end, self.message) {
            (
                Some(End::Answered { right: true } | End::Accepted { right: true }),
                Some(message),
            ) => Ok(message),
            (Some(End::Status { code, message, .. }), _) => {
                Err(CallError::Status { code, message })
            }
            (Some(End::Aborted { reason }), _) => Err(CallError::Transport(reason)),
            (Some(End::Answered { .. } | End::Accepted { .. } | End::Refused) | None, _) => {
                Err(CallError::Transport(self.problem.unwrap_or_default()))
            }
        }
    }
}

impl<C: Connection> Link<C> {
    /// Connects without sending the protocol's opening bytes yet.
    pub fn connect(
        server: &ConnectionOptions,
        templates: Arc<C::Templates>,
        allowance: &Arc<Allowance>,
        deadline: Nanos,
    ) -> io::Result<Self> {
        let socket = Blocking::connect(&server.address, server.tls.as_ref(), deadline)?;
        let mut out = Vec::new();
        let connection = C::new(templates, 1, allowance, &mut out);
        Ok(Self { socket, connection, out })
    }

    /// Connects, and sends the protocol's opening bytes.
    pub fn open(
        server: &ConnectionOptions,
        templates: Arc<C::Templates>,
        allowance: &Arc<Allowance>,
        deadline: Nanos,
    ) -> Result<Self, CallError> {
        let mut link = Self::connect(server, templates, allowance, deadline).map_err(describe)?;
        link.flush(deadline).map_err(describe)?;
        Ok(link)
    }

    pub fn flush(&mut self, deadline: Nanos) -> io::Result<()> {
        let sent = self.socket.send(&self.out, deadline);
        self.out.clear();
        sent?;
        self.connection.flushed(self.socket.now());
        Ok(())
    }

    /// Sends the only request of `templates` and waits until its call has ended.
    pub fn exchange<'a>(
        &mut self,
        templates: &Arc<C::Templates>,
        target: &'a Target,
        position: CallPosition,
        deadline: Nanos,
    ) -> Result<Answer<'a>, CallError> {
        let mut answer = Answer { target: Some(target), ..Answer::default() };
        self.connection.switch(Arc::clone(templates));
        self.connection.send(Call::default(), &mut self.out);
        let sent = self.flush(deadline).map_err(describe);
        if position == CallPosition::Last {
            // If the peer is gone, reading its answer shows it.
            let _ = self.socket.finish();
        }
        while answer.end.is_none() {
            // A peer that stopped reading may have sent the reason.
            self.turn(&mut answer, deadline)
                .map_err(|error| sent.clone().err().unwrap_or(error))?;
        }
        Ok(answer)
    }

    /// Reads what was received since the last call. False if the peer has closed the connection.
    pub fn take_pending(&mut self, deadline: Nanos) -> Result<bool, CallError> {
        loop {
            match self.receive(&mut Answer::default(), Nanos(0)) {
                Ok(()) => self.flush(deadline).map_err(describe)?,
                Err(CallError::Timeout) => return Ok(true),
                Err(CallError::Closed(_)) => return Ok(false),
                Err(error) => return Err(error),
            }
        }
    }

    /// Waits until a call can be sent. False if the connection takes no more calls.
    pub fn await_room(&mut self, deadline: Nanos) -> Result<bool, CallError> {
        while !self.connection.can_send() {
            if !self.connection.is_open() && !self.connection.is_handshaking() {
                return Ok(false);
            }
            self.turn(&mut Answer::default(), deadline)?;
        }
        Ok(true)
    }

    /// Reads once, and sends what the connection responds, such as acknowledgements.
    fn turn(&mut self, answer: &mut Answer<'_>, deadline: Nanos) -> Result<(), CallError> {
        self.receive(answer, deadline)?;
        self.flush(deadline).map_err(describe)
    }

    fn receive(&mut self, answer: &mut Answer<'_>, deadline: Nanos) -> Result<(), CallError> {
        let Self { socket, connection, out } = self;
        let received = socket.receive(deadline, |bytes| {
            if bytes.is_empty() {
                connection.closed(answer);
                let whole = answer.end.is_some();
                return if whole {
                    Ok(())
                } else {
                    Err(CallError::Closed(connection.close_reason()))
                };
            }
            let received = connection.receive(bytes, out, answer);
            received.map_err(|broken| CallError::Transport(broken.to_string()))
        });
        received.map_err(describe)?
    }
}

fn describe(error: io::Error) -> CallError {
    match error.kind() {
        io::ErrorKind::TimedOut => CallError::Timeout,
        // `UnexpectedEof`: without TLS's close_notify.
        io::ErrorKind::ConnectionReset
        | io::ErrorKind::BrokenPipe
        | io::ErrorKind::UnexpectedEof => CallError::Closed(error.to_string()),
        _ => CallError::Transport(error.to_string()),
    }
}
