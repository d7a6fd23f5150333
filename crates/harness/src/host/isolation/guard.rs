//! Ends frozen servers when the harness is killed: under cgroup version 1 they would wait for somebody to thaw them first.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A shell that waits for the end of a pipe whose other end this process alone holds: the kernel closes it, however this
/// process ends. Dropping it is the end in good order, and leaves it nothing to do.
#[derive(Debug)]
pub(super) struct Guard(Child);

impl Guard {
    /// Watches over groups whose names begin with `prefix`. They are in each of `hierarchies`, and are thawed in `freezer`.
    ///
    /// # Errors
    /// If there is no shell.
    pub(super) fn start(prefix: &str, freezer: &Path, hierarchies: &[&Path]) -> io::Result<Self> {
        let mut shell = Command::new("sh");
        shell.args(["-c", include_str!("guard.sh"), "guard", prefix]).arg(freezer);
        shell.args(hierarchies).current_dir("/");
        // Ctrl-C is for the harness, which ends its servers by itself.
        shell.process_group(0);
        shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().map(Self)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // It may have been killed before: then too there is nothing left of it.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
