//! Removes containers of killed runs.

use std::io;

use super::engine::Engine;
use crate::host::guard::Guard;
use crate::host::isolation::Owner;
use crate::placement::PlacementError;

/// Label of all containers that a harness starts. The value is the prefix of their names.
pub(super) const OWNER: &str = "dev.rpcbench.owner";

/// Removes this harness's containers when it is killed.
pub(super) fn guard(engine: &Engine, owner: Owner) -> io::Result<Guard> {
    let label = format!("{OWNER}={}", owner.prefix());
    Guard::start(include_str!("guard.sh"), [engine.program(), &label])
}

/// Removes the containers of dead harnesses. Returns their names.
pub(super) fn sweep(engine: &Engine, this: Owner) -> Result<Vec<String>, PlacementError> {
    let filter = format!("label={OWNER}");
    let names = engine.run(&["ps", "-a", "--filter", &filter, "--format", "{{.Names}}"])?;
    let is_left = |name: &&str| Owner::from_name(name).is_some_and(|owner| owner.is_dead(this));
    let left: Vec<String> = names.lines().filter(is_left).map(str::to_owned).collect();
    for name in &left {
        engine.run(&["rm", "-f", "-v", name])?;
    }
    Ok(left)
}
