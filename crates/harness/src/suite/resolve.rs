//! Resolves a suite from its file and the options of the command line.

use std::path::Path;

use rpcbench_record::{Limits, Published, Workload};

use super::Suite;
use crate::config::{ConfigError, Given, SourceFile};
use crate::spec::{
    CAPACITY, RunSpec, SpecSource, SuiteSpec, WorkloadSpec, rate_shown, with_capacity,
};

/// The layers of a suite: its file, and options on top.
pub(super) struct Layers<'a> {
    pub file: &'a SourceFile,
    pub spec: &'a SuiteSpec,
    pub run: &'a RunSpec,
}

/// A table of a file with options on top.
struct Part<'a> {
    spec: WorkloadSpec,
    setting: SpecSource<'a>,
    workloads: Vec<Workload>,
}

impl<'a> Layers<'a> {
    pub(super) fn resolve(&self) -> Result<Suite, ConfigError> {
        let file = self.file;
        let spec = self.run.suite().layered_on(self.spec);
        let extent = spec.extent(file)?;
        let cpus = spec.limits.cpus.as_ref();
        let cpus = cpus.ok_or_else(|| file.missing::<SuiteSpec>(None, "limits.cpus"))?.value.0;
        let memory_bytes = spec.limits.memory.as_ref().map(|given| given.value.0);
        let is_on = |key: &Option<Given<bool>>| key.as_ref().is_some_and(|given| given.value);
        let log_calls = is_on(&spec.log_calls);
        let name = name_of(&file.path);
        let workloads = self.workloads(&name, log_calls)?;
        Ok(Suite {
            published: self.published(&name, &workloads)?,
            path: file.path.clone(),
            description: spec.description.clone(),
            processes: extent.processes,
            rounds: extent.rounds,
            stopping: extent.stopping,
            placement: spec.placement.as_ref().map(|given| given.value).unwrap_or_default(),
            protocols: spec.protocols.as_ref().map(|all| all.iter().map(|it| it.value.0).collect()),
            limits: Limits { cpus, memory_bytes },
            workloads,
            price: spec.price.as_ref().map(|given| given.value.clone()),
            log_calls,
            runtime_statistics: is_on(&spec.runtime_statistics),
            name,
            file: file.clone(),
            spec,
        })
    }

    fn workloads(&self, name: &str, log_calls: bool) -> Result<Vec<Workload>, ConfigError> {
        let options = self.run.workload();
        let parts = match options.has_arrivals() {
            false => self.parts(name, log_calls, &options)?,
            true => replaced(&self.parts(name, log_calls, &WorkloadSpec::default())?, &options)?,
        };
        if parts.is_empty() {
            let place = self.file.path.display().to_string();
            return Err(ConfigError::value(place, "a suite needs at least one [[workload]]"));
        }
        check(&parts)?;
        Ok(parts.into_iter().flat_map(|part| part.workloads).collect())
    }

    /// Each table of the file with options on top.
    fn parts(
        &self,
        name: &'a str,
        log_calls: bool,
        options: &WorkloadSpec,
    ) -> Result<Vec<Part<'a>>, ConfigError> {
        let file = self.file;
        let part = |table: &toml::Spanned<WorkloadSpec>| {
            let setting = SpecSource::Suite { name, file, table: table.span().start, log_calls };
            Part::of(options.layered_on(table.get_ref()), setting)
        };
        self.spec.workload.iter().map(part).collect()
    }

    /// The published figures whose workloads are still under the same load.
    fn published(&self, name: &str, workloads: &[Workload]) -> Result<Vec<Published>, ConfigError> {
        if self.spec.published.is_empty() {
            return Ok(Vec::new());
        }
        let none = RunSpec::default();
        let own = Layers { run: &none, ..*self }.workloads(name, false)?;
        let load = |all: &[Workload], name: &str| {
            let workload = all.iter().find(|workload| workload.name == name)?;
            let Workload { content, connections, in_flight, connection_life, .. } =
                workload.clone();
            Some((content, connections, in_flight, connection_life))
        };
        let mut published = Vec::new();
        for figure in &self.spec.published {
            let name = figure.workload.get_ref();
            let Some(wanted) = load(&own, name) else {
                let problem = "no workload has this name; write the name of one of this suite";
                return Err(self.file.bad(&figure.workload.span(), problem));
            };
            if load(workloads, name) == Some(wanted) {
                let (workload, entry) = (name.clone(), figure.entry.clone());
                let calls_per_s = f64::from(figure.calls_per_s);
                let source = figure.source.clone();
                published.push(Published { workload, entry, calls_per_s, source });
            }
        }
        Ok(published)
    }
}

impl<'a> Part<'a> {
    fn of(spec: WorkloadSpec, setting: SpecSource<'a>) -> Result<Self, ConfigError> {
        let workloads = spec.resolve(setting)?;
        Ok(Self { spec, setting, workloads })
    }

    fn shares_process(&self, other: &Self) -> bool {
        self.workloads[0].shares_process(&other.workloads[0])
    }

    fn named(&self, name: &str) -> String {
        match &self.spec.name {
            Some(given) => self.setting.shown(given),
            None => format!("{}: workload '{name}'", self.setting.place()),
        }
    }
}

/// Replaces the suite's loads by those of the command line: one per group of workloads that share a process. A closed loop comes
/// first if a rate is a share of the capacity.
fn replaced<'a>(parts: &[Part<'a>], options: &WorkloadSpec) -> Result<Vec<Part<'a>>, ConfigError> {
    let mut groups: Vec<Vec<&Part<'a>>> = Vec::new();
    for part in parts {
        match groups.iter_mut().find(|group| group[0].shares_process(part)) {
            Some(group) => group.push(part),
            None => groups.push(vec![part]),
        }
    }
    let alone = groups.len() == 1;
    let replace = |group: Vec<&Part<'a>>| {
        let first = group[0];
        let is_open = |part: &&Part<'_>| part.workloads[0].arrivals.is_open();
        let like = group.iter().copied().find(is_open).unwrap_or(first);
        // A single group is named after the suite.
        let name = if alone { None } else { first.spec.name.clone() };
        let with_options = |part: &Part<'a>| {
            let spec = WorkloadSpec { name: name.clone(), ..part.spec.clone() };
            Part::of(options.layered_on(&spec), first.setting)
        };
        let mut part = with_options(like)?;
        let closed = with_options(first)?.workloads.swap_remove(0);
        let base = first.workloads[0].name.as_str();
        let name = if alone { CAPACITY.to_owned() } else { format!("{base}-{CAPACITY}") };
        part.workloads = with_capacity(part.workloads, Workload { name, ..closed });
        Ok(part)
    };
    groups.into_iter().map(replace).collect()
}

/// Refuses duplicate names, and shares of a capacity that no earlier workload measures.
fn check(parts: &[Part<'_>]) -> Result<(), ConfigError> {
    let mut all: Vec<&Workload> = Vec::new();
    for part in parts {
        for workload in &part.workloads {
            if all.iter().any(|before| before.name == workload.name) {
                let problem = "two workloads have this name; give each a different one";
                return Err(ConfigError::value(part.named(&workload.name), problem));
            }
            let measures = |w: &&&Workload| !w.arrivals.is_open() && w.shares_process(workload);
            if workload.arrivals.needs_capacity() && !all.iter().any(|w| measures(&w)) {
                let given = rate_shown(&part.spec, part.setting).unwrap_or_default();
                let problem = "nothing measures the capacity that this is a share of; put a closed-loop workload \
                               before it that differs only in name, arrivals and duration";
                return Err(ConfigError::value(given, problem));
            }
            all.push(workload);
        }
    }
    Ok(())
}

fn name_of(path: &Path) -> String {
    path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}
