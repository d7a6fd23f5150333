//! A mean that is robust against outliers.

use crate::median;

/// Standard deviation of a normal distribution divided by its median absolute deviation.
const NORMAL: f64 = 1.4826;
/// Distance beyond which a value counts less, in these standard deviations.
const BEND: f64 = 1.5;
/// Maximum steps, and the change at which they end. It usually takes a handful.
const STEPS: usize = 50;
const CLOSE: f64 = 1e-9;

/// The Huber mean (P. J. Huber, *Robust Estimation of a Location Parameter*, Annals of Mathematical Statistics
/// 35, 1964), by weighted means. `None` without values.
pub(super) fn huber_mean(values: &[f64]) -> Option<f64> {
    let mut centre = median(values.to_vec())?;
    let scale = median(values.iter().map(|value| (value - centre).abs()).collect())?;
    let bend = BEND * NORMAL * scale;
    if bend == 0.0 {
        return Some(centre);
    }
    for _ in 0..STEPS {
        let (mut sum, mut weights) = (0.0, 0.0);
        for value in values {
            let weight = (bend / (value - centre).abs()).min(1.0);
            sum += weight * value;
            weights += weight;
        }
        let next = sum / weights;
        let step = (next - centre).abs();
        centre = next;
        if step < CLOSE {
            break;
        }
    }
    Some(centre)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_mean_of_even_values_and_ignores_an_outlier() {
        assert_eq!(huber_mean(&[]), None);
        assert_eq!(huber_mean(&[2.0, 2.0, 2.0, 9.0]), Some(2.0));
        let even = [-2.0, -1.0, 0.0, 1.0, 2.0];
        assert!(huber_mean(&even).unwrap().abs() < 1e-9);
        let far = [-2.0, -1.0, 0.0, 1.0, 100.0];
        // Four at full weight and one at the bend: their sum about the centre is 0.
        let (centre, bend) = (huber_mean(&far).unwrap(), BEND * NORMAL);
        assert!((-2.0 - 4.0 * centre + bend).abs() < 1e-6, "{centre}");
    }
}
