//! Points and their intervals on one scale, in characters.

use rpcbench_stats::Range;

use crate::figures::Estimate;

/// Characters of the scale.
const WIDTH: usize = 24;

/// A line per value: `*` marks the value, `-` its interval. The scale spans all intervals. Lines of unknown values are empty.
pub(super) fn plot(estimates: &[Option<Estimate>]) -> Vec<String> {
    let known = || estimates.iter().flatten().map(ends);
    let low = known().map(|range| range.low).fold(f64::INFINITY, f64::min);
    let high = known().map(|range| range.high).fold(f64::NEG_INFINITY, f64::max);
    let place = |value: f64| {
        let share = if high > low { (value - low) / (high - low) } else { 0.5 };
        (share * (WIDTH - 1) as f64).round() as usize
    };
    let line = |estimate: &Estimate| {
        let Range { low, high } = ends(estimate);
        let (low, at, high) = (place(low), place(estimate.value), place(high));
        let mark = |column| match column {
            _ if column == at => '*',
            _ if (low..=high).contains(&column) => '-',
            _ => ' ',
        };
        (0..=high.max(at)).map(mark).collect()
    };
    estimates.iter().map(|it| it.as_ref().map(line).unwrap_or_default()).collect()
}

fn ends(estimate: &Estimate) -> Range {
    estimate.own.unwrap_or(Range { low: estimate.value, high: estimate.value })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(low: f64, value: f64, high: f64) -> Option<Estimate> {
        Some(Estimate { value, raw: value, range: None, own: Some(Range { low, high }) })
    }

    #[test]
    fn plot_has_one_scale_for_values_and_intervals() {
        let lines = plot(&[estimate(100.0, 105.0, 110.0), None, estimate(115.0, 119.0, 123.0)]);
        assert_eq!(lines, ["-----*-----", "", "               ----*----"]);
    }

    #[test]
    fn plot_without_intervals_has_points() {
        let point = |value| Some(Estimate::raw(value));
        assert_eq!(plot(&[point(1.0), point(2.0)]), ["*".to_owned(), " ".repeat(23) + "*"]);
        assert_eq!(plot(&[point(7.0)]), [" ".repeat(12) + "*"]);
        assert_eq!(plot(&[]), [""; 0]);
    }
}
