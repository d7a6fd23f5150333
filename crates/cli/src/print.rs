//! Printing that never panics: the reader may be gone, or a disk may be full.

use std::fmt::Arguments;
use std::io::{self, Write as _};

/// Standard output failed.
#[derive(Debug, thiserror::Error)]
#[error("standard output: {0}")]
pub struct Unprinted(io::Error);

impl Unprinted {
    /// True if the reader closed the pipe, as `head` does.
    pub fn is_pipe_closed(&self) -> bool {
        self.0.kind() == io::ErrorKind::BrokenPipe
    }
}

/// Writes a result to standard output.
pub fn print(text: &str) -> Result<(), Unprinted> {
    let mut stdout = anstream::stdout().lock();
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(Unprinted)
}

/// The width of lists if standard output is not a terminal.
pub const FILE_WIDTH: usize = 80;

/// Formats `text` after `head`, in lines of at most `width` characters that break between words, with a hanging indent. If the
/// head takes more than half of the width, the text starts below it.
pub fn hanging(head: &str, text: &str, width: usize) -> String {
    /// Indent of a text below its head.
    const BELOW: usize = 6;
    let taken = head.chars().count();
    let (mut lines, indent) = match taken > width / 2 {
        true => (format!("{}\n{:BELOW$}", head.trim_end(), ""), BELOW),
        false => (head.to_owned(), taken),
    };
    let mut column = indent;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if column > indent && column + 1 + length > width {
            lines.push_str(&format!("\n{:indent$}", ""));
            column = indent;
        } else if column > indent {
            lines.push(' ');
            column += 1;
        }
        lines.push_str(word);
        column += length;
    }
    lines.push('\n');
    lines
}

/// Prints a line to standard output; see [`out!`].
pub fn line(text: Arguments<'_>) -> Result<(), Unprinted> {
    print(&format!("{text}\n"))
}

/// Prints a line to standard error and ignores errors. See [`note!`].
pub fn remark(text: Arguments<'_>) {
    let _ = writeln!(anstream::stderr(), "{text}");
}

/// Prints a line of the result.
macro_rules! out {
    ($($text:tt)*) => { $crate::print::line(format_args!($($text)*)) };
}

/// Prints a line about progress or a problem.
macro_rules! note {
    ($($text:tt)*) => { $crate::print::remark(format_args!($($text)*)) };
}

pub(crate) use {note, out};

#[cfg(test)]
mod tests {
    use super::hanging;

    #[test]
    fn lines_break_between_words_below_the_text() {
        assert_eq!(hanging("  a  ", "one two three", 80), "  a  one two three\n");
        assert_eq!(hanging("  a  ", "one two three", 12), "  a  one two\n     three\n");
        assert_eq!(hanging("  a  ", "longer-than-that b", 11), "  a  longer-than-that\n     b\n");
        assert_eq!(hanging("  a-long-name  ", "one two", 14), "  a-long-name\n      one two\n");
        assert_eq!(hanging("a", "", 14), "a\n");
    }
}
