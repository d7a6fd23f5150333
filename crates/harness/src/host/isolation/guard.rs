//! Ends frozen servers when the harness is killed: under cgroup version 1 they don't die before they are thawed.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A shell that waits for the end of a pipe held by this process alone, which the kernel closes however the process ends.
/// Dropping it ends it without further action.
#[derive(Debug)]
pub(super) struct Guard(Child);

impl Guard {
    /// Guards groups whose names begin with `prefix`, in each of `hierarchies`; they are thawed in `freezer`.
    pub(super) fn start(prefix: &str, freezer: &Path, hierarchies: &[&Path]) -> io::Result<Self> {
        let mut shell = Command::new("sh");
        shell.args(["-c", include_str!("guard.sh"), "guard", prefix]).arg(freezer);
        shell.args(hierarchies).current_dir("/");
        // Ctrl-C is for the harness, which ends its servers itself.
        shell.process_group(0);
        shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().map(Self)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // It may have ended before.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
