//! Error codes, RFC 9113, section 7.

pub(crate) const NO_ERROR: u32 = 0;
/// The stream was not processed.
pub(crate) const REFUSED_STREAM: u32 = 7;
/// The stream is no longer wanted.
pub(crate) const CANCEL: u32 = 8;

const NAMES: [&str; 14] = [
    "NO_ERROR",
    "PROTOCOL_ERROR",
    "INTERNAL_ERROR",
    "FLOW_CONTROL_ERROR",
    "SETTINGS_TIMEOUT",
    "STREAM_CLOSED",
    "FRAME_SIZE_ERROR",
    "REFUSED_STREAM",
    "CANCEL",
    "COMPRESSION_ERROR",
    "CONNECT_ERROR",
    "ENHANCE_YOUR_CALM",
    "INADEQUATE_SECURITY",
    "HTTP_1_1_REQUIRED",
];

/// The name of an error code; unknown ones by number.
pub(crate) fn error_name(code: u32) -> String {
    NAMES.get(code as usize).map_or_else(|| format!("error {code}"), |name| (*name).to_owned())
}
