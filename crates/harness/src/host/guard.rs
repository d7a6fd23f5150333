//! Cleans up when the harness is killed.

use std::ffi::OsStr;
use std::io;
use std::mem::ManuallyDrop;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};

/// A shell that waits for the end of a pipe that only this process holds, and then cleans up. The kernel closes the pipe no
/// matter how the process ends. Dropping the guard ends the shell without a cleanup.
#[derive(Debug)]
pub(crate) struct Guard(Child);

impl Guard {
    /// Starts a shell that runs `script`, which must first read its standard input.
    pub(crate) fn start<A: AsRef<OsStr>>(
        script: &str,
        arguments: impl IntoIterator<Item = A>,
    ) -> io::Result<Self> {
        let mut shell = Command::new("sh");
        shell.args(["-c", script, "guard"]).args(arguments).current_dir("/");
        // Ctrl-C is for the harness, which stops its servers itself.
        shell.process_group(0);
        shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().map(Self)
    }

    /// Starts the cleanup now. The shell may outlive this process.
    pub(crate) fn release(self) {
        let mut guard = ManuallyDrop::new(self);
        drop(guard.0.stdin.take());
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // The shell may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
