//! HTTP/2 frames, for the reference server, the floor, scripted peers, fuzz targets and tests.
//!
//! Nothing here is shared with the engine, so that neither hides a bug of the other.

mod frame;
mod head;
pub mod hpack;
mod kind;

pub use frame::{Frame, FrameRef, flag, setting};
pub use head::Head;
pub use kind::FrameType;

/// The client's connection preface. RFC 9113, section 3.4.
pub const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// Bytes of the longest payload until SETTINGS allow more.
pub const DEFAULT_MAX_PAYLOAD: usize = 16_384;
/// Bytes of a window until SETTINGS or WINDOW_UPDATE change it.
pub const DEFAULT_WINDOW: u32 = 65_535;
/// Bytes of the largest window, and the highest stream number.
pub const MAX_WINDOW: u32 = 0x7fff_ffff;
