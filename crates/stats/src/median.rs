/// Standard deviation of a normal distribution divided by its median absolute deviation.
pub const DEVIATION_PER_MAD: f64 = 1.4826;

/// The median: the middle value, or the mean of the two in the middle. `None` without values.
pub fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let upper = *values.get(values.len() / 2)?;
    let lower = values[(values.len() - 1) / 2];
    Some(f64::midpoint(lower, upper))
}
