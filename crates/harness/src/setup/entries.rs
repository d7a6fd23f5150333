//! Resolves the entries that a request names.

use std::collections::BTreeSet;

use rpcbench_record::{Age, Build, Plan};

use super::{RunRequest, Setup, SetupError};
use crate::manifest::{Catalog, Entry, Partners, Selection, Tree, pairs};

impl Setup<'_> {
    /// The selected entries. Broken manifests are reported and left out.
    pub(super) fn entries(&mut self, selection: &Selection) -> Result<Vec<Entry>, SetupError> {
        let catalog = Catalog::of(&self.root, selection.role())?;
        catalog.broken().iter().for_each(|broken| self.notice(broken.to_string()));
        Ok(catalog.into_selected(selection)?)
    }

    /// The entries of a new run, for each of its builds.
    pub(super) fn compared(&mut self, request: &RunRequest) -> Result<Vec<Entry>, SetupError> {
        let Some([old, new]) = &request.builds else {
            let entries = self.entries(&request.selection)?;
            return match &request.servers {
                None => Ok(entries),
                Some(servers) => self.paired(entries, servers),
            };
        };
        let mut entries = Vec::new();
        for (age, origin) in [(Age::Old, old), (Age::New, new)] {
            let tree = Tree::find(&self.root, age, origin, &self.interrupt)?;
            entries.extend(tree.entries(&request.selection)?);
        }
        Ok(entries)
    }

    /// Pairs clients with the servers that `patterns` name; without patterns, with servers of their language.
    fn paired(
        &mut self,
        clients: Vec<Entry>,
        patterns: &[String],
    ) -> Result<Vec<Entry>, SetupError> {
        let all = patterns.is_empty();
        let named = Selection::named(patterns.to_vec());
        let mut servers = self.entries(&Selection { all, ..named })?;
        servers.retain(|server| server.copy.get() == 1);
        let partners = if all { Partners::OfLanguage(&servers) } else { Partners::Each(&servers) };
        let (pairs, alone) = pairs(clients, partners)?;
        let called = |server: &Entry| pairs.iter().any(|pair| pair.protocol == server.protocol);
        for server in servers.iter().filter(|server| !all && !called(server)) {
            let (name, protocol) = (server.name(), server.protocol);
            self.notice(format!("{name} is left out: no client here speaks {protocol}"));
        }
        for client in alone {
            let (name, protocol) = (client.name(), client.protocol);
            self.notice(format!("{name} is left out: no server for it here speaks {protocol}"));
        }
        Ok(pairs)
    }

    /// The clients of a plan, paired with their servers.
    fn planned_pairs(&mut self, plan: &Plan) -> Result<Vec<Entry>, SetupError> {
        let (mut clients, mut servers) = (BTreeSet::new(), BTreeSet::new());
        for planned in &plan.servers {
            let Some(server) = &planned.counterpart else { continue };
            let (pair, copy) = planned.entry.split_once('#').unwrap_or((&planned.entry, ""));
            let client = pair.strip_suffix(server.as_str()).and_then(|it| it.strip_suffix('+'));
            clients.insert((client.unwrap_or(pair).to_owned(), copy));
            servers.insert(server.clone());
        }
        let names = clients.into_iter().map(|(name, _)| name).collect();
        let clients = self.entries(&Selection::of(plan.role(), names))?;
        let pairs = self.paired(clients, &Vec::from_iter(servers))?;
        let is_planned =
            |pair: &Entry| plan.servers.iter().any(|planned| planned.entry == pair.name());
        Ok(pairs.into_iter().filter(is_planned).collect())
    }

    /// The entries of a plan, for each of its builds.
    pub(super) fn planned(&mut self, plan: &Plan) -> Result<Vec<Entry>, SetupError> {
        if plan.has_pairs() {
            return self.planned_pairs(plan);
        }
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
                Some(build) => {
                    Tree::again(&self.root, build, &self.interrupt)?.entries(&selection)?
                }
                None => self.entries(&selection)?,
            });
        }
        Ok(entries)
    }
}
