//! One scripted connection: the steps that a script is made of.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::AsRawFd;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use crate::http2::{Frame, FrameType, Head, PREFACE, flag};

/// Nothing a script waits for may take longer: a test that fails must end.
const PATIENCE: Duration = Duration::from_secs(20);

/// The step of a script that failed.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// Another frame came than the script says.
    #[error("expected {expected}, got {got:?}")]
    Frame {
        /// What the script says.
        expected: String,
        /// The frame that came.
        got: Frame,
    },
    /// Other bytes came than the script says.
    #[error("expected {expected}, got {got:?}")]
    Bytes {
        /// What the script says.
        expected: &'static str,
        /// The bytes that came.
        got: Vec<u8>,
    },
    /// The connection failed, ended too early, or nothing came for 20 s.
    #[error("waiting for {expected}: {source}")]
    Io {
        /// What the script was at.
        expected: String,
        /// What the kernel said.
        source: io::Error,
    },
    /// The test never said to go on.
    #[error("waiting for the test to say go on: {0}")]
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
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(Self { stream })
    }

    /// Takes the client's connection preface.
    pub fn expect_preface(&mut self) -> Result<(), ScriptError> {
        let mut got = [0; PREFACE.len()];
        self.fill("the connection preface", &mut got)?;
        if got == PREFACE {
            return Ok(());
        }
        Err(ScriptError::Bytes { expected: "the connection preface", got: got.to_vec() })
    }

    /// Takes the preface and the client's SETTINGS, sends SETTINGS with `values` and the answer to the client's.
    /// Returns the client's SETTINGS; its answer to `values` is still to come.
    pub fn handshake(&mut self, values: &[(u16, u32)]) -> Result<Frame, ScriptError> {
        self.expect_preface()?;
        let settings = self.expect(FrameType::Settings)?;
        self.send(&Frame::settings(values))?;
        self.send(&Frame::settings_ack())?;
        Ok(settings)
    }

    /// Takes the next frame, whatever it is.
    pub fn receive(&mut self) -> Result<Frame, ScriptError> {
        self.receive_for("a frame")
    }

    /// Takes the next frame, whatever it is. Nothing if the client has closed its side; a reset is such an end too.
    pub fn receive_or_end(&mut self) -> Result<Option<Frame>, ScriptError> {
        or_end(self.receive())
    }

    /// Takes the next frame, which must be of this type.
    pub fn expect(&mut self, kind: FrameType) -> Result<Frame, ScriptError> {
        self.expect_that(&format!("{kind:?}"), |frame| frame.kind == kind)
    }

    /// Takes the next frame, which must satisfy `matches`; `expected` says what that means.
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

    /// Takes frames and drops them until one satisfies `matches`.
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

    /// Drops frames until the client's answer to SETTINGS has come.
    pub fn skip_until_settings_ack(&mut self) -> Result<(), ScriptError> {
        self.skip_until("the answer to SETTINGS", |frame| {
            frame.kind == FrameType::Settings && frame.has(flag::ACK)
        })
        .map(drop)
    }

    /// Waits until the peer has closed its side, dropping what comes before; a reset is such an end too.
    pub fn expect_close(&mut self) -> Result<(), ScriptError> {
        match io::copy(&mut self.stream, &mut io::sink()) {
            Ok(_) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Ok(()),
            Err(source) => {
                Err(ScriptError::Io { expected: "the end of the connection".to_owned(), source })
            }
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

    /// Sends bytes as they are.
    pub fn send_bytes(&mut self, bytes: &[u8]) -> Result<(), ScriptError> {
        self.stream
            .write_all(bytes)
            .map_err(|source| ScriptError::Io { expected: "room to write".to_owned(), source })
    }

    /// Sends frames in segments of one byte each.
    pub fn send_bytewise(&mut self, frames: &[Frame]) -> Result<(), ScriptError> {
        for byte in frames.iter().flat_map(Frame::encode) {
            self.send_bytes(&[byte])?;
        }
        Ok(())
    }

    /// Does nothing until the test sends on the channel's other end; reads nothing meanwhile.
    pub fn stall(&mut self, go_on: &Receiver<()>) -> Result<(), ScriptError> {
        Ok(go_on.recv_timeout(PATIENCE)?)
    }

    /// Closes the sending side; the peer can go on sending.
    pub fn half_close(&mut self) -> Result<(), ScriptError> {
        self.shut_down(Shutdown::Write)
    }

    /// Closes the sending side and waits for the peer to close its own, so that the peer sees an end and no reset.
    pub fn close(&mut self) -> Result<(), ScriptError> {
        self.half_close()?;
        self.expect_close()
    }

    /// Makes the connection end with a TCP reset when the script ends.
    pub fn reset(&mut self) -> Result<(), ScriptError> {
        let linger = libc::linger { l_onoff: 1, l_linger: 0 };
        let length = size_of::<libc::linger>() as libc::socklen_t;
        // SAFETY: the descriptor is open as long as `self.stream`; `linger` is a valid option value of that length.
        let result = unsafe {
            let option = (&raw const linger).cast();
            libc::setsockopt(
                self.stream.as_raw_fd(),
                libc::SOL_SOCKET,
                libc::SO_LINGER,
                option,
                length,
            )
        };
        if result == 0 {
            return Ok(());
        }
        Err(ScriptError::Io { expected: "to reset".to_owned(), source: io::Error::last_os_error() })
    }

    fn shut_down(&mut self, side: Shutdown) -> Result<(), ScriptError> {
        self.stream
            .shutdown(side)
            .map_err(|source| ScriptError::Io { expected: "to close".to_owned(), source })
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
        self.stream
            .read_exact(buffer)
            .map_err(|source| ScriptError::Io { expected: expected.to_owned(), source })
    }
}

/// Nothing where the client has closed its side, or reset the connection.
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
