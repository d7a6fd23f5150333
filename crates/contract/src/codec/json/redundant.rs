//! Finds JSON that decoders accept but no encoder writes: a reply that contains it was copied from a request.

use crate::values::Mismatch;

/// Refuses whitespace between tokens other than a space or a newline with indentation, and escaped letters and digits. The reply
/// must be valid JSON.
pub(super) fn refuse(reply: &[u8]) -> Result<(), Mismatch> {
    let mut at = 0;
    while let Some(byte) = reply.get(at) {
        let end = match byte {
            b'"' => string(reply, at)?,
            b' ' | b'\n' | b'\t' | b'\r' => gap(reply, at)?,
            _ => at + 1,
        };
        at = end;
    }
    Ok(())
}

/// End of the string that begins at `at`.
fn string(reply: &[u8], at: usize) -> Result<usize, Mismatch> {
    let mut at = at + 1;
    while let Some(byte) = reply.get(at) {
        match byte {
            b'"' => return Ok(at + 1),
            b'\\' if is_needless(&reply[at + 1..]) => {
                return Err(found(at, "escapes a letter or a digit"));
            }
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    Ok(reply.len())
}

/// True if these bytes after a backslash escape a letter or digit.
fn is_needless(escape: &[u8]) -> bool {
    let Some((b'u', [b'0', b'0', high, low, ..])) = escape.split_first() else { return false };
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let code = digit(*high).zip(digit(*low)).map(|(high, low)| high << 4 | low);
    code.is_some_and(|code| code.is_ascii_alphanumeric())
}

/// End of the whitespace that begins at `at`: at most a space, a newline and indentation.
fn gap(reply: &[u8], at: usize) -> Result<usize, Mismatch> {
    let spaces = |from: usize| reply[from..].iter().take_while(|byte| **byte == b' ').count();
    let one = at + spaces(at).min(1);
    let end = match reply.get(one) {
        Some(b'\n') => one + 1 + spaces(one + 1),
        _ => one,
    };
    match reply.get(end) {
        Some(b' ' | b'\n' | b'\t' | b'\r') => {
            Err(found(end, "is a tab, a carriage return or a needless space"))
        }
        _ => Ok(end),
    }
}

fn found(at: usize, how: &'static str) -> Mismatch {
    Mismatch::Redundant { field: format!("byte {at}"), how }
}
