//! Reads and writes quantities: times, rates, sizes, shares and counts.
//!
//! Measured quantities are written with three significant digits, and never round to zero. Next to a limit (`_near`), they get
//! enough digits to show which side of it they are on, so that the output never contradicts the decision. Planned quantities are
//! written exactly.

mod parse;

#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::time::Duration;

pub use parse::{ParseError, decimal, duration, memory, percentage, rate, share, time_ns};

/// Shown in place of a missing number.
pub const NOTHING: &str = "-";

const SI: [(f64, &str); 4] = [(1.0, ""), (1e3, "k"), (1e6, "M"), (1e9, "G")];
const TIME: [(f64, &str); 4] = [(1.0, " ns"), (1e3, " us"), (1e6, " ms"), (1e9, " s")];
const BYTES: [(f64, &str); 5] = [
    (1.0, " B"),
    (1024.0, " KiB"),
    (1_048_576.0, " MiB"),
    (1_073_741_824.0, " GiB"),
    (1_099_511_627_776.0, " TiB"),
];

/// Maximum decimals of a number next to a limit.
const MAX_DECIMALS: usize = 12;
/// Two numbers are equal if they differ by less than this share: rounding in arithmetic alone makes shares differ by that much.
const SAME: f64 = 1e-12;

/// A plain quantity or rate: `184k`, `1.84M`, `12.3`.
pub fn si(value: f64) -> String {
    si_near(value, &[])
}

/// The same next to limits: 1.0036 with the limit 1 is `1.004`.
pub fn si_near(value: f64, limits: &[f64]) -> String {
    scaled(value, &SI, limits)
}

/// A measured time: `842 ns`, `12.3 ms`, `75.0 s`.
pub fn duration_ns(nanoseconds: f64) -> String {
    duration_near(nanoseconds, &[])
}

/// The same next to limits in nanoseconds.
pub fn duration_near(nanoseconds: f64, limits: &[f64]) -> String {
    if nanoseconds < 1000.0 {
        return format!("{} ns", near(nanoseconds.max(0.0), 0, limits));
    }
    scaled(nanoseconds, &TIME, limits)
}

/// A planned time, exact: `3s`, `1m 30s`, `250ms`, `48h`.
pub fn length_ms(milliseconds: u64) -> String {
    let (minutes, rest) = (milliseconds / 60_000, milliseconds % 60_000);
    let (hours, minutes) = (minutes / 60, minutes % 60);
    let (seconds, millis) = (rest / 1000, rest % 1000);
    let parts = [(hours, "h"), (minutes, "m"), (seconds, "s"), (millis, "ms")];
    let shown: Vec<String> = parts
        .iter()
        .filter(|(amount, _)| *amount > 0)
        .map(|(amount, unit)| format!("{amount}{unit}"))
        .collect();
    if shown.is_empty() { "0s".to_owned() } else { shown.join(" ") }
}

/// Like [`length_ms`], rounded down to milliseconds.
pub fn length(length: Duration) -> String {
    length_ms(u64::try_from(length.as_millis()).unwrap_or(u64::MAX))
}

/// A time as a user types it, exact: `30s`, `1.5s`, `250us`. [`time_ns`] reads it back.
pub fn exact_ns(nanoseconds: u64) -> String {
    let fitting = parse::TIME.iter().rfind(|(_, unit)| nanoseconds as f64 >= *unit);
    let (name, unit) = fitting.unwrap_or(&parse::TIME[0]);
    format!("{}{name}", nanoseconds as f64 / unit)
}

/// A size of memory in binary units: `512 MiB`, `48.3 MiB`.
pub fn bytes(amount: u64) -> String {
    let exact = BYTES.iter().rev().find(|(unit, _)| {
        let unit = *unit as u64;
        amount >= unit && amount.is_multiple_of(unit)
    });
    match exact {
        Some((unit, name)) if amount / (*unit as u64) < 1024 => {
            format!("{}{name}", amount / (*unit as u64))
        }
        _ => scaled(amount as f64, &BYTES, &[]),
    }
}

/// Money without its currency: `0.0000655`, `12.3`.
pub fn money(amount: f64) -> String {
    if amount == 0.0 {
        return "0".to_owned();
    }
    let magnitude = amount.abs().log10().floor() as i32;
    format!("{amount:.*}", (2 - magnitude).max(0) as usize)
}

/// A share as a percentage: `98 %`, `4.2 %`, `0.03 %`, and `<0.01 %` instead of rounding to zero.
pub fn percent(share: f64) -> String {
    percent_near(share, &[])
}

/// The same next to limits: 0.010_04 with the limit 0.01 is `1.004 %`.
pub fn percent_near(share: f64, limits: &[f64]) -> String {
    const MIN: f64 = 0.01;
    let (value, limits) = (share * 100.0, limits.iter().map(|limit| limit * 100.0));
    let limits: Vec<f64> = limits.collect();
    let decimals = match value.abs() {
        0.0 => 0,
        v if v < MIN && limits.iter().all(|limit| *limit <= 0.0 || *limit >= MIN) => {
            return "<0.01 %".to_owned();
        }
        v if v < 0.995 => 2,
        v if v < 9.95 => 1,
        _ => 0,
    };
    format!("{} %", near(value, decimals, &limits))
}

/// A number with this many decimals, or with as many more as needed to show which side of each limit it is on.
pub fn near(value: f64, decimals: usize, limits: &[f64]) -> String {
    let side = |of: f64, limit: f64| match (of - limit).abs() <= SAME * limit.abs() {
        true => Some(Ordering::Equal),
        false => of.partial_cmp(&limit),
    };
    let shows = |text: &String| {
        let shown = text.parse().unwrap_or(value);
        limits.iter().all(|limit| side(shown, *limit) == side(value, *limit))
    };
    let texts = (decimals..=MAX_DECIMALS).map(|decimals| format!("{value:.decimals$}"));
    texts.into_iter().find(shows).unwrap_or_else(|| value.to_string())
}

/// A whole number with thousands separators: `1,234,567`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 call`, `2 calls`, `3 processes`.
pub fn plural(number: u64, noun: &str) -> String {
    let ending = match number {
        1 => "",
        _ if noun.ends_with('s') => "es",
        _ => "s",
    };
    format!("{} {noun}{ending}", count(number))
}

fn scaled(value: f64, units: &[(f64, &str)], limits: &[f64]) -> String {
    let fitting = units.iter().rposition(|(unit, _)| value >= *unit).unwrap_or(0);
    let (unit, name) = units[fitting];
    let three_digits = |value: f64, unit: f64| {
        three_digits(value / unit, &limits.iter().map(|limit| limit / unit).collect::<Vec<_>>())
    };
    let digits = three_digits(value, unit);
    // 999.7 of one unit is 1.00 of the next unit.
    match units.get(fitting + 1) {
        Some((larger, name)) if digits.parse::<f64>().is_ok_and(|d| d * unit >= *larger) => {
            format!("{}{name}", three_digits(value.max(*larger), *larger))
        }
        _ => format!("{digits}{name}"),
    }
}

fn three_digits(value: f64, limits: &[f64]) -> String {
    if !value.is_finite() {
        return NOTHING.to_owned();
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    let decimals = |v: f64| (2 - v.abs().log10().floor() as i32).clamp(0, 6) as usize;
    let text = format!("{value:.*}", decimals(value));
    // Rounding may have added a digit: 9.999 is 10.0.
    let rounded: f64 = text.parse().unwrap_or(value);
    near(value, decimals(if rounded == 0.0 { value } else { rounded }), limits)
}
