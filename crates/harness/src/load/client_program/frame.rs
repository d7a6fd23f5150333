//! Frames of the control socket: length, kind and content.

use std::io::{self, Read, Write};

/// Maximum size of a frame's content, bytes.
const MAX: usize = 65_536;
const MESSAGE: u32 = 1;
const RECORDS: u32 = 2;

/// Why a frame can't be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum FrameError {
    #[error("it closed its control socket")]
    Closed,
    #[error("its control socket ended within a frame")]
    Truncated,
    #[error("a frame of {0} bytes; expected at most {MAX}")]
    TooLong(usize),
    #[error("a frame of kind {0}; expected {MESSAGE}, a message, or {RECORDS}, records")]
    UnknownKind(u32),
    #[error("its control socket can't be read: {0}")]
    System(io::Error),
}

/// The kind of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Message,
    Records,
}

/// Reads a frame into `content` and returns its kind.
pub(super) fn read(from: &mut impl Read, content: &mut Vec<u8>) -> Result<Kind, FrameError> {
    let mut head = [0; 8];
    match from.read(&mut head[..1]) {
        Ok(0) => return Err(FrameError::Closed),
        Ok(_) => {}
        // Killing a program that has unread messages resets the connection.
        Err(error) if error.kind() == io::ErrorKind::ConnectionReset => {
            return Err(FrameError::Closed);
        }
        Err(error) => return Err(FrameError::System(error)),
    }
    from.read_exact(&mut head[1..]).map_err(broken)?;
    let [l1, l2, l3, l4, k1, k2, k3, k4] = head;
    let length = u32::from_le_bytes([l1, l2, l3, l4]) as usize;
    if length > MAX {
        return Err(FrameError::TooLong(length));
    }
    content.resize(length, 0);
    from.read_exact(content).map_err(broken)?;
    match u32::from_le_bytes([k1, k2, k3, k4]) {
        MESSAGE => Ok(Kind::Message),
        RECORDS => Ok(Kind::Records),
        other => Err(FrameError::UnknownKind(other)),
    }
}

fn broken(error: io::Error) -> FrameError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset => FrameError::Truncated,
        _ => FrameError::System(error),
    }
}

/// Writes a message.
pub(super) fn write(to: &mut impl Write, message: &[u8]) -> io::Result<()> {
    let length = u32::try_from(message.len()).map_err(io::Error::other)?;
    let frame = [&length.to_le_bytes()[..], &MESSAGE.to_le_bytes(), message].concat();
    to.write_all(&frame)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(bytes: &[u8]) -> String {
        read(&mut &*bytes, &mut Vec::new()).unwrap_err().to_string()
    }

    #[test]
    fn frames_read_back_and_broken_ones_are_named() {
        let mut bytes = Vec::new();
        write(&mut bytes, b"{}").unwrap();
        let mut content = Vec::new();
        assert_eq!(read(&mut &*bytes, &mut content).unwrap(), Kind::Message);
        assert_eq!(content, b"{}");
        let records = [&[0, 0, 0, 0, 2, 0, 0, 0][..]].concat();
        assert_eq!(read(&mut &*records, &mut content).unwrap(), Kind::Records);
        assert_eq!(error(b""), "it closed its control socket");
        assert_eq!(error(&bytes[..9]), "its control socket ended within a frame");
        assert_eq!(error(b"\x01\0"), "its control socket ended within a frame");
        let long = error(b"\0\0\x10\0\x01\0\0\0");
        assert_eq!(long, "a frame of 1048576 bytes; expected at most 65536");
        let odd = error(b"\0\0\0\0\x07\0\0\0");
        assert_eq!(odd, "a frame of kind 7; expected 1, a message, or 2, records");
    }
}
