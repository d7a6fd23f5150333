//! The shape of a distribution, drawn in characters.

use rpcbench_record::Latency;
use rpcbench_stats::Histogram;

use crate::format;

/// Maximum number of bars.
const BARS: u32 = 12;
/// Length of the longest bar, characters.
const MAX_LEN: usize = 40;

/// A range of times, and the calls in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bar {
    /// Largest time of the range, nanoseconds. The range starts above the end of the previous bar.
    pub to_ns: u64,
    /// Calls, to the histogram's resolution at the edges (0.1 %).
    pub count: u64,
}

/// Divides a distribution into at most twelve ranges that grow by a constant factor. Their counts add up to the histogram's.
/// Empty for an empty distribution, or if the histogram can't be read.
pub fn spectrum(latency: &Latency) -> Vec<Bar> {
    let Ok(histogram) = Histogram::from_base64(&latency.histogram) else { return Vec::new() };
    let mut bars: Vec<Bar> = Vec::new();
    let mut below = 0;
    for to_ns in edges(latency.min_ns, latency.max_ns) {
        let upto = match to_ns == latency.max_ns {
            true => histogram.count(),
            false => histogram.count_up_to(to_ns),
        };
        bars.push(Bar { to_ns, count: upto - below });
        below = upto;
    }
    if histogram.count() == 0 { Vec::new() } else { bars }
}

/// Upper ends, ascending. The last one is `max`.
fn edges(min: u64, max: u64) -> Vec<u64> {
    let first = min.max(1) as f64;
    let ratio = max as f64 / first;
    let mut edges: Vec<u64> = (1..BARS)
        .map(|bar| (first * ratio.powf(f64::from(bar) / f64::from(BARS))) as u64)
        .filter(|edge| (min..max).contains(edge))
        .collect();
    edges.dedup();
    edges.push(max);
    edges
}

/// A line per bar: its upper end, its calls, the share of calls up to it, and a bar proportional to its count. A dot is less than
/// half a mark.
pub fn draw(bars: &[Bar]) -> Vec<String> {
    let all: u64 = bars.iter().map(|bar| bar.count).sum();
    let most = bars.iter().map(|bar| bar.count).max().unwrap_or_default().max(1);
    let mut upto = 0;
    let columns: Vec<[String; 4]> = bars
        .iter()
        .map(|bar| {
            upto += bar.count;
            [
                format::duration_ns(bar.to_ns as f64),
                format::count(bar.count),
                share(upto, all),
                marks(bar.count, most),
            ]
        })
        .collect();
    let width = |column: usize| columns.iter().map(|c| c[column].len()).max().unwrap_or_default();
    let widths = [width(0), width(1), width(2)];
    columns
        .iter()
        .map(|[to, count, share, marks]| {
            let [a, b, c] = widths;
            format!("<= {to:>a$}  {count:>b$}  {share:>c$}  {marks}").trim_end().to_owned()
        })
        .collect()
}

/// Rounded down, so that it stays below 100 % until the last call.
fn share(part: u64, whole: u64) -> String {
    let hundredths = (u128::from(part) * 10_000 / u128::from(whole.max(1))) as u64;
    format!("{}.{:02} %", hundredths / 100, hundredths % 100)
}

fn marks(count: u64, most: u64) -> String {
    let marks = (count as f64 / most as f64 * MAX_LEN as f64).round() as usize;
    match (count, marks) {
        (0, _) => String::new(),
        (_, 0) => ".".to_owned(),
        (_, marks) => "#".repeat(marks),
    }
}
