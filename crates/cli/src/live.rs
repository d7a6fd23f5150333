//! A line that is redrawn on a terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use rpcbench_record::units;

use crate::context::Context;

/// How often the spinner moves.
const TICK: Duration = Duration::from_millis(200);

/// A line with an indicatif template. Hidden if standard error is not a terminal.
pub fn line(context: &Context, template: &str) -> ProgressBar {
    if !context.live {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new_spinner();
    let style =
        ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner());
    bar.set_style(if context.style.ascii { style.tick_chars("|/-\\ ") } else { style });
    bar
}

/// The same, with a moving spinner.
pub fn ticking(context: &Context, template: &str) -> ProgressBar {
    let bar = line(context, template);
    if context.live {
        bar.enable_steady_tick(TICK);
    }
    bar
}

/// `, about 40s left`, from the mean time so far. Empty until the first is done.
pub fn left(done: usize, all: usize, taken: Duration) -> String {
    let Some(each) = u32::try_from(done).ok().and_then(|done| taken.checked_div(done)) else {
        return String::new();
    };
    let left = each * u32::try_from(all - done).unwrap_or(u32::MAX);
    format!(", about {} left", units::length(Duration::from_secs(left.as_secs() + 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_left_follows_from_the_mean_so_far() {
        let seconds = Duration::from_secs;
        assert_eq!(left(0, 12, seconds(9)), "");
        assert_eq!(left(3, 12, seconds(30)), ", about 1m 31s left");
        assert_eq!(left(12, 12, seconds(30)), ", about 1s left");
    }
}
