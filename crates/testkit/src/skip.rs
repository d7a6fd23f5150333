//! Tests that can't run on this machine.

use std::fmt::Display;

/// Reports on standard error why the calling test does nothing, or leaves out a part. `make test` lists these reasons at the end.
/// In CI it fails if a test is not listed in `.config/skips.txt`.
#[expect(clippy::print_stderr, reason = "the test runner collects it")]
pub fn skip(reason: impl Display) {
    eprintln!("SKIPPED: {reason}");
}
