//! Log files: their maximum size and their last lines.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use rpcbench_record::{is_printable, regular};

/// Maximum size of a log, bytes. A server or build that writes more is stopped.
pub(crate) const MAX_LOG: u64 = 256 << 20;

/// True if an open log exceeds [`MAX_LOG`], even if it was moved.
pub(crate) fn is_flooded(log: &File) -> bool {
    log.metadata().is_ok_and(|about| about.len() > MAX_LOG)
}

/// The last lines of a file, at most `lines`, from its last 64 KiB, each cut to 500 characters. Empty if the file can't be read.
pub(crate) fn tail(path: &Path, lines: usize) -> Vec<String> {
    regular::open(path).ok().and_then(|file| end_of(file).ok()).map_or_else(Vec::new, |text| {
        let all: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        all[all.len().saturating_sub(lines)..].iter().map(|line| clean(line)).collect()
    })
}

/// The last bytes of a file.
pub(crate) fn end(path: &Path, bytes: u64) -> std::io::Result<Vec<u8>> {
    last(regular::open(path)?, bytes)
}

fn end_of(file: File) -> std::io::Result<String> {
    const MAX: u64 = 64 * 1024;
    Ok(String::from_utf8_lossy(&last(file, MAX)?).into_owned())
}

fn last(mut file: File, max: u64) -> std::io::Result<Vec<u8>> {
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(max)))?;
    let mut bytes = Vec::new();
    file.take(max).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Removes colours and other characters that affect a terminal.
fn clean(line: &str) -> String {
    const MAX_LEN: usize = 500;
    let mut text = String::new();
    let mut escape = false;
    for c in line.chars() {
        match c {
            '\u{1b}' => escape = true,
            c if escape => escape = !c.is_ascii_alphabetic(),
            '\t' => text.push(' '),
            c if is_printable(c) => text.push(c),
            _ => {}
        }
        if text.len() >= MAX_LEN {
            text.push('…');
            break;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tail_has_the_last_lines_of_a_regular_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let text: String = (0..20_000).map(|i| format!("line {i}\n\n")).collect();
        std::fs::write(&path, text).unwrap();
        assert_eq!(tail(&path, 2), ["line 19998", "line 19999"]);
        assert!(tail(Path::new("/nowhere/log"), 2).is_empty());
        std::fs::remove_file(&path).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        assert!(tail(&path, 2).is_empty(), "a pipe has no last lines");
    }

    #[test]
    fn control_characters_are_left_out() {
        assert_eq!(clean("\u{1b}[31mred\u{1b}[0m\tend\u{7}\u{202e}\r"), "red end");
        assert!(clean(&"x".repeat(10_000)).chars().count() <= 501);
    }
}
