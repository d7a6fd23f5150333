//! Little's law.

/// How far a closed-loop trial is from Little's law `N = X x R`, as a signed fraction of `N`: 0 if it holds, -0.1 if rate
/// times response time accounts for nine tenths of the calls in flight.
/// (J. D. C. Little, *A Proof for the Queuing Formula L = λW*, Operations Research 9, 1961.)
///
/// `rate_per_s` is in calls per second, `mean_response_s` in seconds. Without calls in flight the result is 0 if the product is
/// 0, and infinite otherwise.
pub fn littles_law(in_flight: u32, rate_per_s: f64, mean_response_s: f64) -> f64 {
    let accounted = rate_per_s * mean_response_s;
    let missing = accounted - f64::from(in_flight);
    if missing == 0.0 { 0.0 } else { missing / f64::from(in_flight) }
}
