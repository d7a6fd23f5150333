//! Sizes and lengths of time as people write them.

use std::time::Duration;

use thiserror::Error;

/// A size or a length of time that can't be read.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum UnitError {
    /// Not a size of memory.
    #[error(
        "'{0}' is not a size of memory; write a number and a unit, such as 512M, 512MiB or 2G (M means MiB)"
    )]
    Memory(String),
    /// Not a length of time.
    #[error("'{0}' is not a length of time; write a number and a unit, such as 500ms, 10s or 2m")]
    Duration(String),
}

/// Reads a size of memory in bytes. Units are powers of 1024 whatever their spelling: `512M`, `512MB`
/// and `512MiB` are one size, as a memory limit is with Docker, systemd and the JVM.
///
/// # Errors
/// If `text` is not a positive number with a unit known.
pub fn memory(text: &str) -> Result<u64, UnitError> {
    let refused = || UnitError::Memory(text.to_owned());
    match parse_size::Config::new().with_binary().parse_size(text) {
        Ok(0) | Err(_) => Err(refused()),
        Ok(bytes) => Ok(bytes),
    }
}

/// Reads a length of time: `500ms`, `10s`, `1m 30s`.
///
/// # Errors
/// If `text` is not a number with a unit known.
pub fn duration(text: &str) -> Result<Duration, UnitError> {
    humantime::parse_duration(text).map_err(|_| UnitError::Duration(text.to_owned()))
}

/// A size as people read it, in the largest binary unit that leaves at least 1: `512 MiB`, `1.5 GiB`.
#[must_use]
pub fn show_memory(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let power = (bytes.ilog2() / 10).min(UNITS.len() as u32);
    let value = bytes as f64 / (1u64 << (10 * power)) as f64;
    let unit = UNITS[power as usize - 1];
    if value.fract() < 0.05 { format!("{value:.0} {unit}") } else { format!("{value:.1} {unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn m_means_mib_however_it_is_spelt() {
        for text in ["512M", "512m", "512MB", "512MiB", "512 MiB", "0.5G"] {
            assert_eq!(memory(text), Ok(512 << 20), "{text}");
        }
        assert_eq!(memory("1048576"), Ok(1 << 20));
    }

    #[test]
    fn refusals_teach() {
        insta::assert_snapshot!(memory("lots").unwrap_err(), @"'lots' is not a size of memory; write a number and a unit, such as 512M, 512MiB or 2G (M means MiB)");
        insta::assert_snapshot!(duration("10").unwrap_err(), @"'10' is not a length of time; write a number and a unit, such as 500ms, 10s or 2m");
        assert!(memory("0").is_err());
        assert!(memory("-5M").is_err());
    }

    #[test]
    fn shows_memory_in_the_largest_unit() {
        assert_eq!(show_memory(512 << 20), "512 MiB");
        assert_eq!(show_memory(3 << 29), "1.5 GiB");
        assert_eq!(show_memory(1), "1 B");
        assert_eq!(show_memory(1024), "1 KiB");
    }
}
