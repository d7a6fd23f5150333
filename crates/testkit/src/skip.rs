//! Tests that can't run on this machine.

use std::fmt::Display;

/// Reports on standard error why the calling test does nothing, or leaves out a part. `make test` lists these reasons at its end, and in
/// CI fails if a test is not on the list in `.config/skips.txt`.
#[expect(clippy::print_stderr, reason = "the test runner collects it")]
pub fn skip(reason: impl Display) {
    eprintln!("SKIPPED: {reason}");
}
