//! A load as an HdrHistogram interval log.

use std::fmt::Write as _;

use super::Load;

/// An interval log in HdrHistogram's text format, version 1.3: one interval as long as the window for each measured tag of
/// `response`, `service` and `send_lag`. Values are nanoseconds; `Interval_Max` is in milliseconds, as in the format's own tools.
/// Ends in a line feed.
pub fn load_hdr(load: &Load) -> String {
    let started = load.started.as_millisecond() as f64 / 1e3;
    let length = load.measured.window_ns as f64 / 1e9;
    let mut out = format!(
        "#[Histogram log format version 1.3]\n\
         #[rpcbench {}: ok calls on {}; nanoseconds]\n\
         #[StartTime: {started:.3} (seconds since epoch), {}]\n\
         #[BaseTime: {started:.3} (seconds since epoch)]\n\
         \"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n",
        load.header.tool.version, load.address, load.started,
    );
    for (name, _, latency) in load.times() {
        let (Some(latency), tag) = (latency, name.replace(' ', "_")) else { continue };
        let max = latency.max_ns as f64 / 1e6;
        // Writing to a string can't fail.
        let _ = writeln!(out, "Tag={tag},0.000,{length:.3},{max:.3},{}", latency.histogram);
    }
    out
}
