//! Types of frames (RFC 9113, section 6).

/// The kind of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameType {
    /// Body bytes.
    Data,
    /// The start of a header block.
    Headers,
    /// A stream's priority.
    Priority,
    /// The immediate end of a stream.
    RstStream,
    /// Settings or their acknowledgement.
    Settings,
    /// The start of a stream by the server.
    PushPromise,
    /// A ping or its acknowledgement.
    Ping,
    /// The announced end of a connection.
    GoAway,
    /// Permission to send more body bytes.
    WindowUpdate,
    /// More of a header block.
    Continuation,
    /// Any other type byte.
    Unknown(u8),
}

impl FrameType {
    /// Converts a type byte.
    #[inline]
    pub fn from_byte(byte: u8) -> Self {
        match byte {
            0 => Self::Data,
            1 => Self::Headers,
            2 => Self::Priority,
            3 => Self::RstStream,
            4 => Self::Settings,
            5 => Self::PushPromise,
            6 => Self::Ping,
            7 => Self::GoAway,
            8 => Self::WindowUpdate,
            9 => Self::Continuation,
            other => Self::Unknown(other),
        }
    }

    /// The type byte.
    #[inline]
    pub fn to_byte(self) -> u8 {
        match self {
            Self::Data => 0,
            Self::Headers => 1,
            Self::Priority => 2,
            Self::RstStream => 3,
            Self::Settings => 4,
            Self::PushPromise => 5,
            Self::Ping => 6,
            Self::GoAway => 7,
            Self::WindowUpdate => 8,
            Self::Continuation => 9,
            Self::Unknown(other) => other,
        }
    }
}
