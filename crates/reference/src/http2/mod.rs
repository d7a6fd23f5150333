//! HTTP/2 frames, for the reference server, the floor, scripted peers, fuzz targets and tests.
//!
//! Shares no code with the engine, so that neither hides a bug of the other.

mod frame;
mod head;
pub mod hpack;
mod kind;

pub use frame::{Frame, FrameRef, flag, setting};
pub use head::Head;
pub use kind::FrameType;

/// The client's connection preface. RFC 9113, section 3.4.
pub const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// Maximum payload until SETTINGS allow more, bytes.
pub const DEFAULT_MAX_PAYLOAD: usize = 16_384;
/// Window until SETTINGS or WINDOW_UPDATE change it, bytes.
pub const DEFAULT_WINDOW: u32 = 65_535;
/// Largest window in bytes, and the highest stream number.
pub const MAX_WINDOW: u32 = 0x7fff_ffff;
