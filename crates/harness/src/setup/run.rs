//! Runs of servers that rpcbench starts.

use std::collections::BTreeSet;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use rpcbench_record::{Labels, MAX_SEED, Plan, Role, Writer, printable};

use super::{PreparedRun, Setup, SetupError, folders, room, time};
use crate::build::{Building, Candidate};
use crate::manifest::{Entry, Selection};
use crate::placement::site;
use crate::run::{CurrentSetup, resumable};
use crate::spec::RunSpec;
use crate::suite::{Suite, fit, plan};

/// A run to start.
#[derive(Clone, Debug, Default)]
pub struct RunRequest {
    /// The selected entries.
    pub selection: Selection,
    /// Names of the servers that clients call; if empty, servers of their language. `None`: the reference server.
    pub servers: Option<Vec<String>>,
    /// The old build and the new one, if builds are compared.
    pub builds: Option<[String; 2]>,
    /// Name or file of the suite.
    pub suite: String,
    /// Options that replace the suite's values.
    pub spec: RunSpec,
    /// Whether to lower servers' CPUs if the machine has fewer than the suite needs.
    pub scale_to_machine: bool,
    /// `None`: random.
    pub seed: Option<u64>,
    /// The user's labels.
    pub labels: Labels,
    /// The folder in which the run's folder is created.
    pub results: PathBuf,
    /// Which servers to build.
    pub building: Building,
}

impl Setup<'_> {
    /// Prepares a new run.
    pub fn run(mut self, request: &RunRequest) -> Result<PreparedRun, SetupError> {
        let suite = Suite::named(&self.root, &request.suite)?;
        let mut entries = self.compared(request)?;
        let planned: Vec<_> = entries.iter().map(Entry::planned).collect();
        let placement = suite.with(&request.spec)?.placement;
        let site = site(placement)?;
        let capacity = site.capacity()?;
        let spec = fit(&suite, &request.spec, capacity.cpus, request.scale_to_machine)?;
        let seed = request.seed.unwrap_or_else(|| rand::random::<u64>() & MAX_SEED);
        let plan = plan(&suite, &spec, &planned, seed)?;
        let plan = Plan { labels: request.labels.clone(), ..plan };
        capacity.check(&plan.limits)?;
        ensure_any_tls(&plan, &entries)?;
        room::check(&plan, &[SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into()])?;
        room::keep_alives(&plan).into_iter().for_each(|line| self.warn(line));
        folders::check_results(&request.results)?;
        entries.retain(|entry| plan.servers.iter().any(|server| server.entry == entry.name()));
        if plan.has_pairs() {
            self.notice(time::of_matrix(&plan, &entries)?);
        }
        let candidates = self.build(&*site, &entries, request.building)?;
        ensure_any_runnable(plan.role(), &candidates)?;
        expansions(&request.selection, &entries).into_iter().for_each(|line| self.notice(line));
        if !plan.has_pairs() {
            time::shortage(&plan, &candidates).into_iter().for_each(|line| self.notice(line));
        }
        self.call_log = self.call_log.filter(|_| plan.log_calls);
        let folder = folders::new_run(&request.results)?;
        let begun = self.begin(plan, (&*site, &candidates), Some(folder.clone()));
        // Removes the folder if it is empty.
        begun.inspect_err(|_| drop(fs::remove_dir(folder)))
    }

    /// Prepares an interrupted run to continue.
    pub fn resume(
        mut self,
        folder: PathBuf,
        building: Building,
    ) -> Result<PreparedRun, SetupError> {
        let run = rpcbench_record::read(&folder)?;
        let plan = &run.header.plan;
        let refused = |why: String| SetupError::Refused(format!("{}: {why}", folder.display()));
        if !plan.placement.starts_servers() {
            return Err(refused(
                "this is the record of a load, which can't be resumed; `rpcbench report` shows it"
                    .to_owned(),
            ));
        }
        if let Some(withheld) = plan.withheld() {
            return Err(refused(format!(
                "the record has no {withheld}, so this run can't be resumed; start a new one"
            )));
        }
        let names = plan.workloads.iter().map(|load| &load.name);
        let mut names = names.chain(plan.servers.iter().map(|server| &server.entry));
        if let Some(name) = names.find(|name| name.contains('/') || name.starts_with('.')) {
            return Err(refused(format!("'{}' can't be the name of a file", printable(name))));
        }
        let entries = self.planned(plan)?;
        let site = site(plan.placement)?;
        // Before the builds: they take long, and this may fail.
        let writer = Some(Writer::resume(&folder)?);
        let candidates = self.build(&*site, &entries, building)?;
        self.call_log = self.call_log.filter(|_| plan.log_calls);
        let (machines, servers) = self.open_for(plan, &*site, &candidates)?;
        let (tool, machine, subjects) = (&self.tool, &machines.client, &servers.subjects);
        resumable(&run, &CurrentSetup { tool, machine, subjects })?;
        let (existing, renewer) = (None, None);
        Ok(PreparedRun { servers, run, writer, existing, renewer, folder: Some(folder) })
    }
}

/// A line for each name that means several entries. Builds and copies of an entry are one.
fn expansions(selection: &Selection, entries: &[Entry]) -> Vec<String> {
    let is_matrix = entries.iter().any(|entry| entry.counterpart.is_some());
    let expansion = |typed: &String| {
        let of_server = entries.iter().filter(|entry| entry.server.name == *typed);
        let names: BTreeSet<String> = of_server.map(Entry::base_name).collect();
        (names.len() > 1 && !is_matrix).then(|| {
            let (count, all) = (names.len(), Vec::from_iter(names).join(", "));
            format!("{typed} is {count} entries: {all}; name one of them for fewer")
        })
    };
    selection.patterns().iter().filter_map(expansion).collect()
}

fn ensure_any_runnable(role: Role, candidates: &[Candidate]) -> Result<(), SetupError> {
    match candidates.iter().any(Candidate::is_built) {
        true => Ok(()),
        false => Err(SetupError::Refused(format!(
            "none of these {} can run here; the lines above say why",
            role.plural()
        ))),
    }
}

/// Fails if a plan needs TLS throughout and no entry has it.
fn ensure_any_tls(plan: &Plan, entries: &[Entry]) -> Result<(), SetupError> {
    let needs_tls = plan.workloads.iter().all(|workload| workload.tls.is_on());
    let problem = match plan.role() {
        Role::Client => "client programs have no TLS yet; leave out --tls",
        Role::Server => {
            "none of these servers has TLS; `rpcbench list --matrix` shows servers with TLS"
        }
    };
    match needs_tls && !entries.iter().any(Entry::offers_tls) {
        false => Ok(()),
        true => Err(SetupError::Refused(problem.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use rpcbench_record::{PlannedServer, Protocol, TlsMode, Workload};

    use super::*;
    use crate::manifest::Catalog;

    #[test]
    fn name_of_several_entries_is_expanded() {
        let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let expanded = |names: &[&str]| {
            let selection = Selection::named(names.iter().map(|name| (*name).to_owned()).collect());
            let catalog = Catalog::load(&repository).unwrap();
            expansions(&selection, &catalog.into_selected(&selection).unwrap())
        };
        assert_eq!(expanded(&["go-grpc", "go-grpc", "java-grpc@zgc", "java-grpc*"]), [""; 0]);
        let java = expanded(&["java-grpc"]);
        assert!(java[0].starts_with("java-grpc is 4 entries: java-grpc"), "{java:?}");
        assert!(java[0].ends_with("; name one of them for fewer"), "{java:?}");
    }

    #[test]
    fn tls_of_client_programs_is_refused_with_its_own_message() {
        let refused = |role| {
            let entry = Entry::existing("go-grpc".to_owned(), Protocol::Grpc);
            let plan = Plan {
                servers: vec![PlannedServer { role, ..entry.planned() }],
                workloads: vec![Workload { tls: TlsMode::On, ..rpcbench_testkit::workload() }],
                ..Plan::default()
            };
            ensure_any_tls(&plan, &[]).unwrap_err().to_string()
        };
        assert_eq!(refused(Role::Client), "client programs have no TLS yet; leave out --tls");
        assert!(refused(Role::Server).starts_with("none of these servers has TLS"));
    }
}
