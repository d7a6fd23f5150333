use proptest::prelude::*;

use super::*;

#[test]
fn three_significant_digits_in_the_fitting_unit() {
    let shown: Vec<String> =
        [0.0, 0.5, 9.999, 99.95, 987.0, 999.7, 1000.0, 184_210.0, 999_950.0, 1_840_000.0]
            .iter()
            .map(|v| si(*v))
            .collect();
    let expected = ["0", "0.500", "10.0", "100", "987", "1.00k", "1.00k", "184k", "1.00M", "1.84M"];
    assert_eq!(shown, expected);
}

#[test]
fn money_has_three_significant_digits_without_a_unit() {
    let amounts = [0.0, 1.234e-10, 0.0000655, 0.11249, 12.34, 1234.5];
    let shown = ["0", "0.000000000123", "0.0000655", "0.112", "12.3", "1234"];
    assert_eq!(amounts.map(money), shown);
}

#[test]
fn durations_pick_their_unit() {
    let shown: Vec<String> =
        [0.0, 842.0, 1000.0, 12_345.0, 999_999.0, 5_430_000.0, 1e9, 75e9, 5e12]
            .iter()
            .map(|v| duration_ns(*v))
            .collect();
    let expected = [
        "0 ns", "842 ns", "1.00 us", "12.3 us", "1.00 ms", "5.43 ms", "1.00 s", "75.0 s", "5000 s",
    ];
    assert_eq!(shown, expected);
}

#[test]
fn planned_lengths_are_exact() {
    let shown: Vec<String> =
        [0, 250, 3000, 90_000, 120_000, 61_005, 3_600_000, 356_400_000, 5_400_001]
            .iter()
            .map(|v| length_ms(*v))
            .collect();
    assert_eq!(
        shown,
        ["0s", "250ms", "3s", "1m 30s", "2m", "1m 1s 5ms", "1h", "99h", "1h 30m 1ms"]
    );
}

#[test]
fn whole_memory_sizes_are_exact() {
    let shown: Vec<String> =
        [0, 1, 1023, 1024, 536_870_912, 1_073_741_824, 50_646_221, 1_073_741_823]
            .iter()
            .map(|v| bytes(*v))
            .collect();
    let expected = ["0 B", "1 B", "1023 B", "1 KiB", "512 MiB", "1 GiB", "48.3 MiB", "1.00 GiB"];
    assert_eq!(shown, expected);
}

#[test]
fn nonzero_share_never_prints_zero() {
    let shown: Vec<String> = [0.0, 0.000_001, 0.000_3, 0.0099, 0.00996, 0.042, 0.0999, 0.98, 1.0]
        .iter()
        .map(|v| percent(*v))
        .collect();
    let expected =
        ["0 %", "<0.01 %", "0.03 %", "0.99 %", "1.0 %", "4.2 %", "10 %", "98 %", "100 %"];
    assert_eq!(shown, expected);
}

#[test]
fn digits_show_side_of_limit() {
    let one = |value| si_near(value, &[1.0]);
    assert_eq!(
        [one(1.0036), one(0.9996), one(1.0), one(1.62)],
        ["1.004", "0.9996", "1.00", "1.62"]
    );
    assert_eq!(si_near(999.7, &[1000.0]), "999.7");
    assert_eq!(si_near(19_999.6, &[20_000.0]), "19.9996k");
    assert_eq!(si_near(1.0497, &[1.0, 1.05]), "1.0497");
    let hundredth = |share| percent_near(share, &[0.01]);
    assert_eq!(
        [hundredth(61.0 / 6075.0), hundredth(0.01), hundredth(0.009_96), hundredth(0.02)],
        ["1.004 %", "1.0 %", "0.996 %", "2.0 %"]
    );
    assert_eq!([percent_near(0.8999, &[0.9]), percent_near(0.9, &[0.9])], ["89.99 %", "90 %"]);
    assert_eq!(percent_near(0.000_052, &[0.000_05]), "0.01 %");
    assert_eq!(duration_near(10_000_001.0, &[10e6]), "10.000001 ms");
    assert_eq!(duration_near(999_999_999.0, &[1e9]), "999.999999 ms");
    assert_eq!(near(7.000_000_000_000_001, 1, &[0.07 * 100.0]), "7.0");
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
    fn printed_value_is_on_measured_side_of_limit(
        limit in 1e-3_f64..1e4,
        part in -1.0_f64..1.0,
        size in 1_i32..10,
    ) {
        // From 10 % down to 1e-10 off the limit.
        let value = limit * (1.0 + part * 10_f64.powi(-size));
        prop_assume!((value - limit).abs() > limit * 1e-11);
        let text = si_near(value, &[limit]);
        let back = read_back(&text, &SI);
        prop_assert_eq!(back > limit, value > limit, "{} -> {}, limit {}", value, text, limit);
        let text = percent_near(value, &[limit]);
        let back: f64 = text.trim_end_matches(" %").parse().expect("a number");
        prop_assert_eq!(back > limit * 100.0, value > limit, "{} -> {}", value, text);
    }

    #[test]
    fn rate_round_trips_within_half_a_percent(value in 1e-2_f64..9e11) {
        let text = si(value);
        let back = read_back(&text, &SI);
        prop_assert!((back - value).abs() <= value * 0.005_01, "{value} -> {text}");
        prop_assert!(text.len() <= 6, "{value} -> {text}");
    }

    #[test]
    fn duration_round_trips_within_half_a_percent(value in 100.0_f64..9e11) {
        let text = duration_ns(value);
        let back = read_back(&text, &TIME);
        prop_assert!((back - value).abs() <= value * 0.005_01, "{value} -> {text}");
    }

    #[test]
    fn memory_round_trips_within_half_a_percent(value in 1_u64..1 << 48) {
        let text = bytes(value);
        let back = read_back(&text, &BYTES);
        prop_assert!((back - value as f64).abs() <= value as f64 * 0.005_01, "{value} -> {text}");
    }

    #[test]
    fn printed_rates_keep_their_order(a in 1.0_f64..1e11, factor in 1.0_f64..100.0) {
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
    fn planned_lengths_round_trip(milliseconds in 0_u64..100_000_000) {
        let sum: u64 = length_ms(milliseconds)
            .split(' ')
            .map(|part| {
                let end = part.find(|c: char| !c.is_ascii_digit()).expect("a unit");
                let (n, unit) = part.split_at(end);
                let each = match unit {
                    "h" => 3_600_000,
                    "m" => 60_000,
                    "s" => 1000,
                    _ => 1,
                };
                n.parse::<u64>().expect("a number") * each
            })
            .sum();
        prop_assert_eq!(sum, milliseconds);
    }
}

#[test]
fn every_spelling_of_m_means_mib() {
    for text in ["512M", "512m", "512MB", "512MiB", "512 MiB", "0.5G"] {
        assert_eq!(memory(text), Ok(512 << 20), "{text}");
    }
    assert_eq!(memory("1048576"), Ok(1 << 20));
}

#[test]
fn quantity_errors_show_valid_forms() {
    let memory_refused = memory("lots").unwrap_err().to_string();
    assert_eq!(
        memory_refused,
        "'lots' is not a size of memory; write a number and a unit, such as 512M, 512MiB or 2G (M means MiB)"
    );
    let duration_refused = duration("10").unwrap_err().to_string();
    assert_eq!(
        duration_refused,
        "'10' is not a length of time; write a number and a unit, such as 500ms, 10s or 2m"
    );
    assert!(memory("0").is_err());
    assert!(memory("-5M").is_err());
}

#[test]
fn durations_parse_in_every_form() {
    for (text, milliseconds) in
        [("500ms", 500), ("1.5s", 1500), ("10s", 10_000), ("2m", 120_000), ("1m 30s", 90_000)]
    {
        assert_eq!(duration(text), Ok(Duration::from_millis(milliseconds)), "{text}");
    }
    for text in ["", "s", "-1s", "1.5", ".5s", "1e3s", "1 parsec"] {
        assert!(duration(text).is_err(), "{text}");
    }
}

#[test]
fn share_is_limited_to_0_to_100_percent() {
    assert_eq!([share("5%"), share("0.5%")], [Ok(0.05), Ok(0.005)]);
    for text in ["0%", "100%", "-1%", "5", "", "%"] {
        let refused =
            format!("'{text}' is not a percentage between 0 and 100; write one such as 5%");
        assert_eq!(share(text).unwrap_err().to_string(), refused);
    }
}

#[test]
fn rates_and_percentages_are_plain_numbers() {
    assert_eq!([rate("500"), rate("20k"), rate("1.5M")], [Some(500.0), Some(20e3), Some(1.5e6)]);
    assert_eq!([percentage("40%"), percentage("0.1%")], [Some(40.0), Some(0.1)]);
    for text in ["", "k", "-1", "inf", "nan", "10kk", "1k%"] {
        assert_eq!((rate(text), percentage(text)), (None, None), "{text}");
    }
}

#[test]
fn durations_need_their_unit() {
    assert_eq!(length(Duration::from_secs(90)), "1m 30s");
    assert_eq!(length(Duration::from_micros(1500)), "1ms");
}

proptest! {
    #[test]
    fn exact_times_round_trip(nanoseconds in 0_u64..1_000_000_000_000_000) {
        prop_assert_eq!(time_ns(&exact_ns(nanoseconds)), Some(nanoseconds));
    }
}
