//! The entries that a request names.

use rpcbench_record::{Age, Build, Plan};

use super::{RunRequest, Setup, SetupError};
use crate::manifest::{Catalog, Entry, Selection, Tree};

impl Setup<'_> {
    /// The selected entries. A broken manifest is reported and left out.
    pub(super) fn entries(&mut self, selection: &Selection) -> Result<Vec<Entry>, SetupError> {
        let catalog = Catalog::of(&self.root, selection.role())?;
        catalog.broken().iter().for_each(|broken| self.notice(broken.to_string()));
        Ok(catalog.into_selected(selection)?)
    }

    /// The entries of a new run, of each of its builds.
    pub(super) fn compared(&mut self, request: &RunRequest) -> Result<Vec<Entry>, SetupError> {
        let Some([old, new]) = &request.builds else { return self.entries(&request.selection) };
        let mut entries = Vec::new();
        for (age, origin) in [(Age::Old, old), (Age::New, new)] {
            entries.extend(Tree::find(&self.root, age, origin)?.entries(&request.selection)?);
        }
        Ok(entries)
    }

    /// The entries of a plan, of each of its builds.
    pub(super) fn planned(&mut self, plan: &Plan) -> Result<Vec<Entry>, SetupError> {
        let mut builds: Vec<Option<&Build>> = Vec::new();
        for server in &plan.servers {
            if !builds.contains(&server.build.as_ref()) {
                builds.push(server.build.as_ref());
            }
        }
        let mut entries = Vec::new();
        for build in builds {
            let servers = plan.servers.iter().filter(|server| server.build.as_ref() == build);
            let names = servers.map(|server| server.entry.split('#').next().unwrap_or_default());
            let selection = Selection::of(plan.role(), names.map(str::to_owned).collect());
            entries.extend(match build {
                Some(build) => Tree::again(&self.root, build)?.entries(&selection)?,
                None => self.entries(&selection)?,
            });
        }
        Ok(entries)
    }
}
