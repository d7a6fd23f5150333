//! Printing that never panics: the reader may be gone, and a disk may be full.

use std::fmt::Arguments;
use std::io::{self, Write as _};

/// Standard output took no more.
#[derive(Debug, thiserror::Error)]
#[error("standard output: {0}")]
pub struct Unprinted(io::Error);

impl Unprinted {
    /// Whether the reader closed the pipe, as `head` does.
    pub fn is_pipe_closed(&self) -> bool {
        self.0.kind() == io::ErrorKind::BrokenPipe
    }
}

/// Writes a result to standard output.
pub fn print(text: &str) -> Result<(), Unprinted> {
    let mut stdout = anstream::stdout().lock();
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(Unprinted)
}

/// A line on standard output; see [`out!`].
pub fn line(text: Arguments<'_>) -> Result<(), Unprinted> {
    print(&format!("{text}\n"))
}

/// A line on standard error; errors are ignored. See [`note!`].
pub fn remark(text: Arguments<'_>) {
    let _ = writeln!(anstream::stderr(), "{text}");
}

/// A line of the result.
macro_rules! out {
    ($($text:tt)*) => { $crate::print::line(format_args!($($text)*)) };
}

/// A line about progress or a problem.
macro_rules! note {
    ($($text:tt)*) => { $crate::print::remark(format_args!($($text)*)) };
}

pub(crate) use {note, out};
