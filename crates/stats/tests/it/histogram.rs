//! The histogram against HdrHistogram, and against exact arithmetic.

use proptest::prelude::*;
use rpcbench_stats::{Histogram, HistogramError};

type Oracle = hdrhistogram::Histogram<u64>;

const TOP: u64 = (1 << 42) - 1;
const QUANTILES: [f64; 12] =
    [1e-9, 0.01, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999, 0.99999, 1.0];

fn filled(values: &[u64]) -> Histogram {
    let mut histogram = Histogram::new();
    values.iter().for_each(|value| histogram.record(*value));
    histogram
}

fn oracle(values: &[u64]) -> Oracle {
    let mut oracle =
        Oracle::new_with_bounds(Histogram::LOWEST, Histogram::HIGHEST, Histogram::DIGITS).unwrap();
    values.iter().for_each(|value| oracle.record(*value).unwrap());
    oracle
}

fn close(one: f64, two: f64) -> bool {
    (one - two).abs() <= 1e-9 * one.abs().max(two.abs()).max(1.0)
}

/// Values of every magnitude.
fn value() -> impl Strategy<Value = u64> {
    (0_u32..42, any::<u64>()).prop_map(|(bits, value)| value & ((2 << bits) - 1))
}

fn values() -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec(value(), 1..300)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn quantiles_are_hdr_histograms_capped_at_the_maximum(values in values()) {
        let (ours, theirs) = (filled(&values), oracle(&values));
        let max = *values.iter().max().unwrap();
        for q in QUANTILES {
            prop_assert_eq!(ours.quantile(q), Some(theirs.value_at_quantile(q).min(max)), "q {}", q);
        }
    }

    #[test]
    fn quantiles_are_the_nearest_ranks_to_three_digits(mut values in values()) {
        let ours = filled(&values);
        values.sort_unstable();
        for q in QUANTILES {
            let rank = ((q * values.len() as f64).ceil() as usize).max(1);
            let (exact, got) = (values[rank - 1], ours.quantile(q).unwrap());
            prop_assert!(got >= exact && (got - exact) * 1000 <= exact, "{got} for {exact}");
        }
    }

    #[test]
    fn count_ends_and_mean_are_exact(values in values()) {
        let ours = filled(&values);
        prop_assert_eq!(ours.count(), values.len() as u64);
        prop_assert_eq!(ours.min(), values.iter().min().copied());
        prop_assert_eq!(ours.max(), values.iter().max().copied());
        let sum: u128 = values.iter().map(|value| u128::from(*value)).sum();
        prop_assert_eq!(ours.mean(), Some(sum as f64 / values.len() as f64));
        prop_assert!((ours.mean().unwrap() - oracle(&values).mean()).abs() <= sum as f64 / 1000.0);
    }

    #[test]
    fn standard_deviation_is_hdr_histograms(values in values()) {
        let (ours, theirs) = (filled(&values).stddev().unwrap(), oracle(&values).stdev());
        prop_assert!(close(ours, theirs), "{ours} is not {theirs}");
    }

    #[test]
    fn standard_deviation_is_the_exact_one_within_the_resolution(values in values()) {
        let n = values.len() as f64;
        let mean = values.iter().sum::<u64>() as f64 / n;
        let squares: f64 = values.iter().map(|value| (*value as f64 - mean).powi(2)).sum();
        let exact = (squares / n).sqrt();
        let ours = filled(&values).stddev().unwrap();
        let largest = *values.iter().max().unwrap() as f64;
        prop_assert!((ours - exact).abs() <= largest / 1000.0, "{ours} for {exact}");
    }

    #[test]
    fn merge_equals_recording_both(one in values(), two in values()) {
        let mut merged = filled(&one);
        merged.merge(&filled(&two));
        prop_assert_eq!(merged, filled(&[one, two].concat()));
    }

    #[test]
    fn histogram_text_keeps_every_count(values in values()) {
        let ours = filled(&values);
        let read = Histogram::from_base64(&ours.to_base64()).unwrap();
        prop_assert_eq!(read.count(), ours.count());
        for q in QUANTILES {
            let (got, exact) = (read.quantile(q).unwrap(), ours.quantile(q).unwrap());
            prop_assert!(got >= exact && (got - exact) * 1000 <= exact);
        }
        prop_assert_eq!(read.stddev(), ours.stddev());
        prop_assert_eq!(Histogram::count_in_base64(&ours.to_base64()).unwrap(), ours.count());
        let mut twice = read.clone();
        twice.merge_base64(&ours.to_base64()).unwrap();
        let mut sum = read.clone();
        sum.merge(&read);
        prop_assert_eq!(twice, sum);
        // Once in terms of slots, nothing changes any more.
        prop_assert_eq!(Histogram::from_base64(&read.to_base64()).unwrap(), read);
    }

    #[test]
    fn hdrhistogram_reads_our_text(values in values()) {
        use base64::Engine as _;
        let bytes = base64::engine::general_purpose::STANDARD.decode(filled(&values).to_base64());
        let read: Oracle = hdrhistogram::serialization::Deserializer::new()
            .deserialize(&mut bytes.unwrap().as_slice())
            .unwrap();
        prop_assert_eq!(read, oracle(&values));
    }

    #[test]
    fn arbitrary_histogram_text_is_safe(text in "[A-Za-z0-9+/]{0,200}", seed: u64, at: prop::sample::Index) {
        let _ = Histogram::from_base64(&text);
        let mut valid = filled(&[seed >> 22, 5, 1_000_000]).to_base64().into_bytes();
        let at = at.index(valid.len());
        valid[at] = text.bytes().next().unwrap_or(b'=');
        let _ = Histogram::from_base64(&String::from_utf8(valid).unwrap());
    }
}

#[test]
fn empty_histogram_has_no_figures() {
    let mut histogram = Histogram::new();
    for _ in 0..2 {
        assert_eq!(histogram.count(), 0);
        assert_eq!((histogram.min(), histogram.max()), (None, None));
        assert_eq!((histogram.mean(), histogram.stddev()), (None, None));
        assert_eq!(histogram.quantile(0.5), None);
        assert_eq!(histogram, Histogram::from_base64(&histogram.to_base64()).unwrap());
        histogram.record(123_456);
        histogram.clear();
    }
}

#[test]
fn zero_is_recorded() {
    let histogram = filled(&[0, 0, 0]);
    assert_eq!((histogram.min(), histogram.max()), (Some(0), Some(0)));
    assert_eq!((histogram.mean(), histogram.stddev()), (Some(0.0), Some(0.0)));
    assert_eq!(histogram.quantile(1.0), Some(0));
    assert_eq!(Histogram::from_base64(&histogram.to_base64()).unwrap(), histogram);
}

#[test]
fn values_above_the_layout_keep_maximum_mean_and_count() {
    let histogram = filled(&[1, TOP, TOP + 1, u64::MAX, u64::MAX]);
    assert_eq!(histogram.count(), 5);
    assert_eq!(histogram.max(), Some(u64::MAX));
    assert_eq!(histogram.quantile(1.0), Some(u64::MAX));
    assert_eq!(histogram.quantile(0.2), Some(1));
    let sum = 1 + u128::from(TOP) * 2 + 1 + u128::from(u64::MAX) * 2;
    assert_eq!(histogram.mean(), Some(sum as f64 / 5.0));
    let read = Histogram::from_base64(&histogram.to_base64()).unwrap();
    assert_eq!((read.count(), read.max()), (5, Some(TOP)));
}

#[test]
fn quantiles_outside_the_range_are_moved_into_it() {
    let histogram = filled(&[10, 20, 30]);
    for q in [0.0, -1.0, f64::NEG_INFINITY, f64::NAN] {
        assert_eq!(histogram.quantile(q), Some(10), "{q}");
    }
    for q in [1.0, 2.0, f64::INFINITY] {
        assert_eq!(histogram.quantile(q), Some(30), "{q}");
    }
}

#[test]
fn equal_values_have_no_deviation() {
    assert_eq!(filled(&[987_654_321; 1000]).stddev(), Some(0.0));
}

/// Half the time stalled: with open-loop latencies of a stop of 1 s in a run of 10 s, every
/// millisecond one call.
#[test]
fn stall_of_1_s_in_10_shows_in_quantiles() {
    let mut histogram = Histogram::new();
    (0..9_000).for_each(|_| histogram.record(100_000));
    (1..=1_000_u64).for_each(|ms| histogram.record(ms * 1_000_000));
    let seconds = |q| histogram.quantile(q).unwrap() as f64 / 1e9;
    assert!((seconds(0.95) - 0.5).abs() < 0.005);
    assert!((seconds(0.99) - 0.9).abs() < 0.005);
}

#[test]
fn other_layouts_are_refused_with_reason() {
    use base64::Engine as _;
    use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
    let mut bytes = Vec::new();
    let other = Oracle::new_with_bounds(1, 1_000_000, 2).unwrap();
    V2DeflateSerializer::new().serialize(&other, &mut bytes).unwrap();
    let text = base64::engine::general_purpose::STANDARD.encode(bytes);
    let refusal = Histogram::from_base64(&text).unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "histogram covers 1..1000000 with 2 digits; expected 1..3600000000000 with 3"
    );
    assert!(matches!(Histogram::from_base64("#"), Err(HistogramError::Base64(_))));
    assert!(matches!(Histogram::from_base64(""), Err(HistogramError::Encoding(_))));
}

#[test]
fn counts_beyond_64_bits_are_refused() {
    use base64::Engine as _;
    use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
    let mut theirs =
        Oracle::new_with_bounds(Histogram::LOWEST, Histogram::HIGHEST, Histogram::DIGITS).unwrap();
    for value in [1, 2, 3] {
        theirs.record_n(value, u64::MAX / 2).unwrap();
    }
    let mut bytes = Vec::new();
    V2DeflateSerializer::new().serialize(&theirs, &mut bytes).unwrap();
    let text = base64::engine::general_purpose::STANDARD.encode(bytes);
    assert!(matches!(Histogram::from_base64(&text), Err(HistogramError::Count)));
}

#[test]
fn histogram_claiming_gigabytes_is_refused_unread() {
    use base64::Engine as _;
    use std::io::Write as _;
    let mut inner = vec![0x1c, 0x84, 0x93, 0x03];
    inner.extend(u32::MAX.to_be_bytes());
    inner.extend([0; 32]);
    let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    zlib.write_all(&inner).unwrap();
    let bytes =
        [&[0x1c, 0x84, 0x93, 0x14, 0, 0, 0, 99], zlib.finish().unwrap().as_slice()].concat();
    let text = base64::engine::general_purpose::STANDARD.encode(bytes);
    assert_eq!(
        Histogram::from_base64(&text).unwrap_err().to_string(),
        "histogram is not HdrHistogram V2 with DEFLATE: claims 4294967295 bytes of at most 304128"
    );
}

proptest! {
    #[test]
    fn record_times_equals_repeated_record(values in prop::collection::vec((any::<u64>(), 1_u64..50), 1..40)) {
        let (mut at_once, mut single) = (Histogram::new(), Histogram::new());
        for (value, times) in values {
            at_once.record_times(value, times);
            (0..times).for_each(|_| single.record(value));
        }
        prop_assert!(at_once == single);
        prop_assert!(at_once.clone() == single);
        at_once.clear();
        prop_assert!(at_once == Histogram::new());
    }
}

#[test]
fn since_returns_the_values_recorded_after_the_earlier_state() {
    let (mut all, mut later) = (Histogram::new(), Histogram::new());
    (1..500).for_each(|value| all.record(value * 7));
    let earlier = all.clone();
    for value in 1..300_u64 {
        all.record(value * value);
        later.record(value * value);
    }
    let since = all.since(&earlier);
    assert_eq!(since.count(), later.count());
    assert!(since.slots().eq(later.slots()));
    assert_eq!(all.since(&all).count(), 0);
}
