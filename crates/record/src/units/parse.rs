//! Reads quantities as users type them.

use std::time::Duration;

/// Reason why text can't be parsed: what is wrong with it, and what is expected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ParseError(pub String);

/// Units of time and their lengths in nanoseconds, shortest first.
pub(super) const TIME: [(&str, f64); 4] = [("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)];

/// The longest time that [`time_ns`] reads, nanoseconds: about 11 days.
const MAX_NS: f64 = 1e15;

/// Reads a size of memory in bytes. All units are powers of 1024: `512M`, `512MB` and `512MiB` are the same, as in memory
/// limits of Docker, systemd and the JVM.
///
/// # Errors
/// If `text` is not a positive number with a known unit.
pub fn memory(text: &str) -> Result<u64, ParseError> {
    match parse_size::Config::new().with_binary().parse_size(text) {
        Ok(0) | Err(_) => Err(ParseError(format!(
            "'{text}' is not a size of memory; write a number and a unit, such as 512M, 512MiB or 2G (M means MiB)"
        ))),
        Ok(bytes) => Ok(bytes),
    }
}

/// Reads a length of time: `500ms`, `1.5s`, `10s`, `1m 30s`.
///
/// # Errors
/// If `text` is not a number with a known unit.
pub fn duration(text: &str) -> Result<Duration, ParseError> {
    match time_ns(text) {
        Some(nanoseconds) => Ok(Duration::from_nanos(nanoseconds)),
        None => humantime::parse_duration(text).map_err(|_| {
            ParseError(format!(
                "'{text}' is not a length of time; write a number and a unit, such as 500ms, 10s or 2m"
            ))
        }),
    }
}

/// Reads a time in one unit, from ns to s, to the nanosecond: `250us`, `1.5s`. `None` for other text.
pub fn time_ns(text: &str) -> Option<u64> {
    let unit = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, unit) = text.split_at(unit);
    let unit = if unit == "µs" { "us" } else { unit };
    let (_, length) = TIME.iter().find(|(name, _)| *name == unit)?;
    let ns = (decimal(number)? * length).round();
    (0.0..=MAX_NS).contains(&ns).then_some(ns as u64)
}

/// Reads a rate: `500`, `20k`, `1.5M`, `1e6`. `None` for other text.
pub fn rate(text: &str) -> Option<f64> {
    let (number, unit) = match (text.strip_suffix('k'), text.strip_suffix('M')) {
        (Some(number), _) => (number, 1e3),
        (_, Some(number)) => (number, 1e6),
        _ => (text, 1.0),
    };
    let number = Some(number).filter(|n| n.starts_with(|c: char| c.is_ascii_digit()))?;
    Some(number.parse::<f64>().ok()? * unit)
}

/// Reads a percentage: 0.1 from `0.1%`. `None` for other text.
pub fn percentage(text: &str) -> Option<f64> {
    decimal(text.strip_suffix('%')?)
}

/// Reads a percentage as a fraction: 0.05 from `5%`.
///
/// # Errors
/// If `text` is not a percentage above 0 and below 100.
pub fn share(text: &str) -> Result<f64, ParseError> {
    let share = percentage(text).map(|percent| percent / 100.0);
    share.filter(|s| *s > 0.0 && *s < 1.0).ok_or_else(|| {
        ParseError(format!("'{text}' is not a percentage between 0 and 100; write one such as 5%"))
    })
}

/// Reads digits with an optional decimal point. Signs, exponents and other notations are refused.
pub fn decimal(text: &str) -> Option<f64> {
    let plain = text.starts_with(|c: char| c.is_ascii_digit())
        && text.chars().all(|c| c.is_ascii_digit() || c == '.');
    text.parse().ok().filter(|_| plain)
}
