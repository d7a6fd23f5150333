//! Numbers as people read them: three significant digits, one unit, never a false zero.

/// What stands where there is no number.
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

/// A plain quantity or rate: `184k`, `1.84M`, `12.3`.
#[must_use]
pub fn si(value: f64) -> String {
    scaled(value, &SI)
}

/// A length of time: `842 ns`, `12.3 ms`, `75.0 s`.
#[must_use]
pub fn duration_ns(nanoseconds: f64) -> String {
    if nanoseconds < 1000.0 {
        return format!("{:.0} ns", nanoseconds.max(0.0));
    }
    scaled(nanoseconds, &TIME)
}

/// A planned length of time, exact: `3s`, `1m 30s`, `250ms`.
#[must_use]
pub fn length_ms(milliseconds: u64) -> String {
    let (minutes, rest) = (milliseconds / 60_000, milliseconds % 60_000);
    let (seconds, millis) = (rest / 1000, rest % 1000);
    let parts = [(minutes, "m"), (seconds, "s"), (millis, "ms")];
    let shown: Vec<String> = parts
        .iter()
        .filter(|(amount, _)| *amount > 0)
        .map(|(amount, unit)| format!("{amount}{unit}"))
        .collect();
    if shown.is_empty() { "0s".to_owned() } else { shown.join(" ") }
}

/// An amount of memory in binary units: `512 MiB`, `48.3 MiB`.
#[must_use]
pub fn bytes(amount: u64) -> String {
    let exact = BYTES.iter().rev().find(|(unit, _)| {
        let unit = *unit as u64;
        amount >= unit && amount.is_multiple_of(unit)
    });
    match exact {
        Some((unit, name)) if amount / (*unit as u64) < 1024 => {
            format!("{}{name}", amount / (*unit as u64))
        }
        _ => scaled(amount as f64, &BYTES),
    }
}

/// A share of one: `98 %`, `4.2 %`, `0.03 %`, and `<0.01 %` rather than a zero that is none.
#[must_use]
pub fn percent(share: f64) -> String {
    let value = share * 100.0;
    match value.abs() {
        0.0 => "0 %".to_owned(),
        v if v < 0.01 => "<0.01 %".to_owned(),
        v if v < 0.995 => format!("{value:.2} %"),
        v if v < 9.95 => format!("{value:.1} %"),
        _ => format!("{value:.0} %"),
    }
}

/// A whole number with its thousands apart: `1,234,567`.
#[must_use]
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

/// `1 call`, `2 calls`.
#[must_use]
pub fn plural(number: u64, noun: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{} {noun}{ending}", count(number))
}

fn scaled(value: f64, units: &[(f64, &str)]) -> String {
    let fitting = units.iter().rposition(|(unit, _)| value >= *unit).unwrap_or(0);
    let (unit, name) = units[fitting];
    let digits = three_digits(value / unit);
    // 999.7 of one unit is 1.00 of the next.
    match units.get(fitting + 1) {
        Some((larger, name)) if digits.parse::<f64>().is_ok_and(|d| d * unit >= *larger) => {
            format!("{}{name}", three_digits(value.max(*larger) / larger))
        }
        _ => format!("{digits}{name}"),
    }
}

fn three_digits(value: f64) -> String {
    if !value.is_finite() {
        return NOTHING.to_owned();
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    let decimals = |v: f64| (2 - v.abs().log10().floor() as i32).clamp(0, 6) as usize;
    let text = format!("{value:.*}", decimals(value));
    // Rounding may have made one digit more: 9.999 is 10.0.
    let rounded: f64 = text.parse().unwrap_or(value);
    if rounded == 0.0 { text } else { format!("{value:.*}", decimals(rounded)) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn three_significant_digits_in_the_fitting_unit() {
        let shown: Vec<String> =
            [0.0, 0.5, 9.999, 99.95, 987.0, 999.7, 1000.0, 184_210.0, 999_950.0, 1_840_000.0]
                .iter()
                .map(|v| si(*v))
                .collect();
        let expected =
            ["0", "0.500", "10.0", "100", "987", "1.00k", "1.00k", "184k", "1.00M", "1.84M"];
        assert_eq!(shown, expected);
    }

    #[test]
    fn durations_pick_their_unit() {
        let shown: Vec<String> =
            [0.0, 842.0, 1000.0, 12_345.0, 999_999.0, 5_430_000.0, 1e9, 75e9, 5e12]
                .iter()
                .map(|v| duration_ns(*v))
                .collect();
        let expected = [
            "0 ns", "842 ns", "1.00 us", "12.3 us", "1.00 ms", "5.43 ms", "1.00 s", "75.0 s",
            "5000 s",
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn planned_lengths_are_exact() {
        let shown: Vec<String> =
            [0, 250, 3000, 90_000, 120_000, 61_005].iter().map(|v| length_ms(*v)).collect();
        assert_eq!(shown, ["0s", "250ms", "3s", "1m 30s", "2m", "1m 1s 5ms"]);
    }

    #[test]
    fn memory_is_exact_where_it_is_whole() {
        let shown: Vec<String> =
            [0, 1, 1023, 1024, 536_870_912, 1_073_741_824, 50_646_221, 1_073_741_823]
                .iter()
                .map(|v| bytes(*v))
                .collect();
        let expected =
            ["0 B", "1 B", "1023 B", "1 KiB", "512 MiB", "1 GiB", "48.3 MiB", "1.00 GiB"];
        assert_eq!(shown, expected);
    }

    #[test]
    fn a_share_that_is_not_zero_never_reads_as_zero() {
        let shown: Vec<String> =
            [0.0, 0.000_001, 0.000_3, 0.0099, 0.00996, 0.042, 0.0999, 0.98, 1.0]
                .iter()
                .map(|v| percent(*v))
                .collect();
        let expected =
            ["0 %", "<0.01 %", "0.03 %", "0.99 %", "1.0 %", "4.2 %", "10 %", "98 %", "100 %"];
        assert_eq!(shown, expected);
    }

    #[test]
    fn one_is_singular() {
        assert_eq!(plural(1, "call"), "1 call");
        assert_eq!(plural(0, "call"), "0 calls");
        assert_eq!(plural(1000, "call"), "1,000 calls");
    }

    fn read_back(text: &str, units: &[(f64, &str)]) -> f64 {
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (number, name) = text.split_at(end);
        let unit = units.iter().find(|(_, n)| *n == name).expect("a known unit").0;
        number.parse::<f64>().expect("a number") * unit
    }

    proptest! {
        #[test]
        fn a_rate_reads_back_within_half_a_percent(value in 1e-2_f64..9e11) {
            let text = si(value);
            let back = read_back(&text, &SI);
            prop_assert!((back - value).abs() <= value * 0.005_01, "{value} -> {text}");
            prop_assert!(text.len() <= 6, "{value} -> {text}");
        }

        #[test]
        fn a_duration_reads_back_within_half_a_percent(value in 100.0_f64..9e11) {
            let text = duration_ns(value);
            let back = read_back(&text, &TIME);
            prop_assert!((back - value).abs() <= value * 0.005_01, "{value} -> {text}");
        }

        #[test]
        fn memory_reads_back_within_half_a_percent(value in 1_u64..1 << 48) {
            let text = bytes(value);
            let back = read_back(&text, &BYTES);
            prop_assert!((back - value as f64).abs() <= value as f64 * 0.005_01, "{value} -> {text}");
        }

        #[test]
        fn a_larger_rate_never_reads_smaller(a in 1.0_f64..1e11, factor in 1.0_f64..100.0) {
            let (small, large) = (read_back(&si(a), &SI), read_back(&si(a * factor), &SI));
            prop_assert!(small <= large * (1.0 + 1e-12));
        }

        #[test]
        fn thousands_only_add_commas(number: u64) {
            let text = count(number);
            prop_assert_eq!(text.replace(',', ""), number.to_string());
            let mut groups = text.split(',');
            prop_assert!((1..=3).contains(&groups.next().unwrap_or_default().len()));
            prop_assert!(groups.all(|g| g.len() == 3));
        }

        #[test]
        fn planned_lengths_read_back(milliseconds in 0_u64..100_000_000) {
            let sum: u64 = length_ms(milliseconds)
                .split(' ')
                .map(|part| {
                    let end = part.find(|c: char| !c.is_ascii_digit()).expect("a unit");
                    let (n, unit) = part.split_at(end);
                    let each = match unit { "m" => 60_000, "s" => 1000, _ => 1 };
                    n.parse::<u64>().expect("a number") * each
                })
                .sum();
            prop_assert_eq!(sum, milliseconds);
        }
    }
}
