//! The steps of a script, on one connection.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use crate::http2::{Frame, FrameType, Head, PREFACE, flag};

/// Longest wait of a step, so that failing tests end.
const TIMEOUT: Duration = Duration::from_secs(20);

/// A failed step.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// An unexpected frame.
    #[error("expected {expected}, got {got:?}")]
    Frame {
        /// What the script expects.
        expected: String,
        /// The frame received.
        got: Frame,
    },
    /// Unexpected bytes.
    #[error("expected {expected}, got {got:?}")]
    Bytes {
        /// What the script expects.
        expected: &'static str,
        /// The bytes received.
        got: Vec<u8>,
    },
    /// The connection failed, ended too early, or sent nothing for 20 s.
    #[error("waiting for {expected}: {source}")]
    Io {
        /// What the script expects.
        expected: String,
        /// The error.
        source: io::Error,
    },
    /// The test never resumed the script.
    #[error("waiting for the test to resume: {0}")]
    Stalled(#[from] RecvTimeoutError),
    /// The script panicked; the panic's own message is in the test's output.
    #[error("the script panicked")]
    Panicked,
}

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
        Err(ScriptError::Bytes { expected: "the connection preface", got: got.to_vec() })
    }

    /// Reads the preface and the client's SETTINGS, and sends SETTINGS with `values` and the acknowledgement. Returns the
    /// client's SETTINGS. Its acknowledgement of `values` is still to come.
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
        if matches(&frame) {
            Ok(frame)
        } else {
            Err(ScriptError::Frame { expected: expected.to_owned(), got: frame })
        }
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

    /// Waits until the peer has closed or reset the connection, ignoring all bytes before.
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
        Ok(resume.recv_timeout(TIMEOUT)?)
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

/// A failed step that waited for this.
pub(super) fn failed(expected: &str) -> impl Fn(io::Error) -> ScriptError {
    move |source| ScriptError::Io { expected: expected.to_owned(), source }
}

/// `None` if the client has closed or reset the connection.
pub(super) fn or_end<T>(came: Result<T, ScriptError>) -> Result<Option<T>, ScriptError> {
    match came {
        Ok(came) => Ok(Some(came)),
        Err(ScriptError::Io { source, .. })
            if matches!(
                source.kind(),
                io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset
            ) =>
        {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}
