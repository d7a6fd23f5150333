//! Removes containers of runs that were killed.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};

use super::engine::Engine;
use crate::host::isolation::Owner;
use crate::placement::PlacementError;

/// Label of every container that a harness starts: the beginning of the names of its containers.
pub(super) const OWNER: &str = "dev.rpcbench.owner";

/// A shell that waits for the end of a pipe held by this process alone, which the kernel closes however the process ends, and
/// then removes its containers. Dropping it ends it without further action.
#[derive(Debug)]
pub(super) struct Guard(Child);

impl Guard {
    pub(super) fn start(engine: &Engine, owner: Owner) -> io::Result<Self> {
        let mut shell = Command::new("sh");
        shell.args(["-c", include_str!("guard.sh"), "guard", engine.program()]);
        shell.arg(format!("{OWNER}={}", owner.prefix())).current_dir("/");
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

/// Removes the containers of dead harnesses. Returns their names.
pub(super) fn sweep(engine: &Engine, this: Owner) -> Result<Vec<String>, PlacementError> {
    let filter = format!("label={OWNER}");
    let names = engine.run(&["ps", "-a", "--filter", &filter, "--format", "{{.Names}}"])?;
    let is_left = |name: &&str| Owner::from_name(name).is_some_and(|owner| owner.is_dead(this));
    let left: Vec<String> = names.lines().filter(is_left).map(str::to_owned).collect();
    for name in &left {
        engine.run(&["rm", "-f", name])?;
    }
    Ok(left)
}
