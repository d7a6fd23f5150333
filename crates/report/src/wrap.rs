//! Wraps lines to the width of a terminal.

/// Breaks a line between words, so that no part exceeds `width` characters unless a single word does. Parts after the first are
/// indented like the line plus two spaces.
pub(crate) fn wrap(line: &str, width: Option<usize>) -> Vec<String> {
    let indent = line.len() - line.trim_start().len();
    let width = width.unwrap_or(usize::MAX);
    let mut lines: Vec<String> = vec![" ".repeat(indent)];
    let mut room = width.saturating_sub(indent);
    let mut begins = true;
    for word in line.split_whitespace() {
        let length = word.chars().count() + usize::from(!begins);
        if length > room && !begins {
            lines.push(" ".repeat(indent + 2));
            room = width.saturating_sub(indent + 2);
            begins = true;
        }
        if let Some(last) = lines.last_mut() {
            if !begins {
                last.push(' ');
            }
            last.push_str(word);
        }
        room = room.saturating_sub(word.chars().count() + usize::from(!begins));
        begins = false;
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_wrap_between_words_with_indent() {
        let line = "  go-grpc: calls per CPU-second";
        assert_eq!(wrap(line, None), [line]);
        assert_eq!(wrap(line, Some(31)), [line]);
        assert_eq!(wrap(line, Some(30)), ["  go-grpc: calls per", "    CPU-second"]);
        assert_eq!(
            wrap("  a longer-than-that b", Some(8)),
            ["  a", "    longer-than-that", "    b"]
        );
        assert_eq!(wrap("", Some(8)), [""]);
    }
}
