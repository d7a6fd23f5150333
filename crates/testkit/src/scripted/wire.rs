//! The steps of a script, on one connection.

use std::fmt::Debug;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::mpsc::Receiver;
use std::time::Duration;

use crate::http2::{Frame, FrameType, Head, PREFACE, flag};

/// Maximum wait of a step, so that failing tests end.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Why a step failed: what it waited for, and what it got instead.
pub type ScriptError = io::Error;

/// A connection from the peer under test.
#[derive(Debug)]
pub struct Wire {
    stream: TcpStream,
}

impl Wire {
    pub(super) fn new(stream: TcpStream) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(TIMEOUT))?;
        stream.set_write_timeout(Some(TIMEOUT))?;
        Ok(Self { stream })
    }

    /// Reads the client's connection preface.
    pub fn expect_preface(&mut self) -> Result<(), ScriptError> {
        let mut got = [0; PREFACE.len()];
        self.fill("the connection preface", &mut got)?;
        if got == PREFACE {
            return Ok(());
        }
        Err(unexpected("the connection preface", got))
    }

    /// Reads the preface and the client's SETTINGS, and sends SETTINGS with `values` and the acknowledgement. Returns the
    /// client's SETTINGS. The client has not acknowledged `values` yet.
    pub fn handshake(&mut self, values: &[(u16, u32)]) -> Result<Frame, ScriptError> {
        self.expect_preface()?;
        let settings = self.expect(FrameType::Settings)?;
        self.send(&Frame::settings(values))?;
        self.send(&Frame::settings_ack())?;
        Ok(settings)
    }

    /// Reads the next frame.
    pub fn receive(&mut self) -> Result<Frame, ScriptError> {
        self.receive_for("a frame")
    }

    /// Reads the next frame. `None` if the client has closed or reset the connection.
    pub fn receive_or_end(&mut self) -> Result<Option<Frame>, ScriptError> {
        or_end(self.receive())
    }

    /// Reads the next frame, which must have this type.
    pub fn expect(&mut self, kind: FrameType) -> Result<Frame, ScriptError> {
        self.expect_that(&format!("{kind:?}"), |frame| frame.kind == kind)
    }

    /// Reads the next frame, which must satisfy `matches`; `expected` describes it.
    pub fn expect_that(
        &mut self,
        expected: &str,
        matches: impl Fn(&Frame) -> bool,
    ) -> Result<Frame, ScriptError> {
        let frame = self.receive_for(expected)?;
        if matches(&frame) { Ok(frame) } else { Err(unexpected(expected, frame)) }
    }

    /// Skips frames until one satisfies `matches`.
    pub fn skip_until(
        &mut self,
        expected: &str,
        matches: impl Fn(&Frame) -> bool,
    ) -> Result<Frame, ScriptError> {
        loop {
            let frame = self.receive_for(expected)?;
            if matches(&frame) {
                return Ok(frame);
            }
        }
    }

    /// Skips frames until the client's acknowledgement of SETTINGS.
    pub fn skip_until_settings_ack(&mut self) -> Result<(), ScriptError> {
        self.skip_until("the acknowledgement of SETTINGS", |frame| {
            frame.kind == FrameType::Settings && frame.has(flag::ACK)
        })
        .map(drop)
    }

    /// Waits until the peer closes or resets the connection. Ignores all bytes before that.
    pub fn expect_close(&mut self) -> Result<(), ScriptError> {
        match io::copy(&mut self.stream, &mut io::sink()) {
            Ok(_) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Ok(()),
            Err(error) => Err(failed("the end of the connection")(error)),
        }
    }

    /// Sends one frame.
    pub fn send(&mut self, frame: &Frame) -> Result<(), ScriptError> {
        self.send_bytes(&frame.encode())
    }

    /// Sends frames in one write.
    pub fn send_all(&mut self, frames: &[Frame]) -> Result<(), ScriptError> {
        self.send_bytes(&frames.iter().flat_map(Frame::encode).collect::<Vec<u8>>())
    }

    /// Sends bytes.
    pub fn send_bytes(&mut self, bytes: &[u8]) -> Result<(), ScriptError> {
        self.stream.write_all(bytes).map_err(failed("room to write"))
    }

    /// Sends frames in segments of one byte each.
    pub fn send_bytewise(&mut self, frames: &[Frame]) -> Result<(), ScriptError> {
        for byte in frames.iter().flat_map(Frame::encode) {
            self.send_bytes(&[byte])?;
        }
        Ok(())
    }

    /// Waits until the test sends on the channel, without reading.
    pub fn stall(&mut self, resume: &Receiver<()>) -> Result<(), ScriptError> {
        let failed = |error| io::Error::other(format!("waiting for the test to resume: {error}"));
        resume.recv_timeout(TIMEOUT).map_err(failed)
    }

    /// Closes the sending side. The peer can still send.
    pub fn half_close(&mut self) -> Result<(), ScriptError> {
        self.stream.shutdown(Shutdown::Write).map_err(failed("to close"))
    }

    /// Closes the sending side and waits for the peer to close its own, so that the peer sees no reset.
    pub fn close(&mut self) -> Result<(), ScriptError> {
        self.half_close()?;
        self.expect_close()
    }

    /// Makes the connection end with a TCP reset when the script ends.
    pub fn reset(&mut self) -> Result<(), ScriptError> {
        let reset = rustix::net::sockopt::set_socket_linger(&self.stream, Some(Duration::ZERO));
        reset.map_err(|error| failed("to reset")(error.into()))
    }

    fn receive_for(&mut self, expected: &str) -> Result<Frame, ScriptError> {
        let mut head = [0; Head::SIZE];
        self.fill(expected, &mut head)?;
        let head = Head::from_bytes(head);
        let mut payload = vec![0; head.length];
        self.fill(expected, &mut payload)?;
        Ok(head.frame(payload))
    }

    pub(super) fn fill(&mut self, expected: &str, buffer: &mut [u8]) -> Result<(), ScriptError> {
        self.stream.read_exact(buffer).map_err(failed(expected))
    }
}

/// The error of a step that waited for `expected`.
pub(super) fn failed(expected: &str) -> impl Fn(io::Error) -> ScriptError {
    move |source| io::Error::new(source.kind(), format!("waiting for {expected}: {source}"))
}

/// The error of a step that got something else.
pub(super) fn unexpected(expected: &str, got: impl Debug) -> ScriptError {
    io::Error::other(format!("expected {expected}, got {got:?}"))
}

/// `None` if the client has closed or reset the connection.
pub(super) fn or_end<T>(came: Result<T, ScriptError>) -> Result<Option<T>, ScriptError> {
    use io::ErrorKind::{ConnectionReset, UnexpectedEof};
    match came {
        Ok(came) => Ok(Some(came)),
        Err(error) if matches!(error.kind(), UnexpectedEof | ConnectionReset) => Ok(None),
        Err(error) => Err(error),
    }
}
