//! Folders with servers, and builds whose calls cost more.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::Context as _;

use super::design::{Costlier, Experiment};

/// Makes each call of the Go server that it is built into costlier.
const COSTLIER_GO: &str = include_str!("costlier.go");
/// In it, the percentage.
const PERCENT: &str = "const percent = 5";

/// Folders that have `servers/`.
#[derive(Clone, Debug)]
pub struct BuildPair {
    pub real: PathBuf,
    pub testkit: PathBuf,
    pub costlier_testkit: PathBuf,
    /// Costlier copies of `real` are made here.
    pub made: PathBuf,
}

impl BuildPair {
    /// A costlier build's folder.
    pub fn costlier(&self, build: Costlier) -> PathBuf {
        match build {
            Costlier::Testkit => self.costlier_testkit.clone(),
            Costlier::Real(percent) => self.made.join(format!("costlier-{percent}")),
        }
    }

    /// Makes the costlier copy that a design needs.
    pub fn make(&self, design: Experiment) -> anyhow::Result<()> {
        let Some(Costlier::Real(percent)) = design.spec().build else { return Ok(()) };
        let to = self.costlier(Costlier::Real(percent));
        fs::create_dir_all(&to).with_context(|| to.display().to_string())?;
        let copied = Command::new("cp")
            .arg("-a")
            .args(["servers", "contract"].map(|it| self.real.join(it)))
            .arg(&to)
            .status()?;
        anyhow::ensure!(copied.success(), "cp to {} ended with {copied}", to.display());
        let source = COSTLIER_GO.replace(PERCENT, &format!("const percent = {percent}"));
        fs::write(to.join("servers/go/grpc/costlier.go"), source)?;
        Ok(())
    }
}
