//! Cleans up when the harness is killed.

use std::ffi::OsStr;
use std::io;
use std::mem::ManuallyDrop;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};

/// A shell that waits for the end of a pipe held by this process alone, which the kernel closes however the process ends, and
/// then cleans up. Dropping it ends it without further action.
#[derive(Debug)]
pub(crate) struct Guard(Child);

impl Guard {
    /// A shell that runs `script`, which reads its standard input first.
    pub(crate) fn start<A: AsRef<OsStr>>(
        script: &str,
        arguments: impl IntoIterator<Item = A>,
    ) -> io::Result<Self> {
        let mut shell = Command::new("sh");
        shell.args(["-c", script, "guard"]).args(arguments).current_dir("/");
        // Ctrl-C is for the harness, which ends its servers itself.
        shell.process_group(0);
        shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().map(Self)
    }

    /// Lets it clean up now, and end after this process.
    pub(crate) fn release(self) {
        let mut guard = ManuallyDrop::new(self);
        drop(guard.0.stdin.take());
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // It may have ended before.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
