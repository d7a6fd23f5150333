//! Laws that every trial must obey.

/// By how much a closed-loop trial misses Little's law `N = X x R`, as a signed fraction of `N`: 0 where
/// it holds, -0.1 where rate times response time accounts for nine tenths of the calls in flight.
/// (J. D. C. Little, *A Proof for the Queuing Formula L = λW*, Operations Research 9, 1961.)
///
/// `rate_per_s` counts calls a second, `mean_response_s` is in seconds. Without calls in flight the result
/// is 0 where the product is 0 too, and infinite elsewhere.
#[must_use]
pub fn littles_law(in_flight: u32, rate_per_s: f64, mean_response_s: f64) -> f64 {
    let accounted = rate_per_s * mean_response_s;
    let missing = accounted - f64::from(in_flight);
    if missing == 0.0 { 0.0 } else { missing / f64::from(in_flight) }
}
