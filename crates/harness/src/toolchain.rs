//! Compilers and runtimes: finds them and their versions.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use jiff::civil::Date;
use rpcbench_clock as clock;
use rpcbench_record::{Toolchain, printable};

use crate::build_env::BuildEnv;
use crate::interrupt::Interrupt;
use crate::manifest::{Server, ToolchainSpec};
use crate::task::{Output, Task};

/// Time limit for printing a version; long enough for a tool that first downloads its release.
const TIMEOUT: Duration = Duration::from_secs(90);

/// The result of looking for a toolchain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Probe {
    /// It exists and is new enough.
    Found(Toolchain),
    /// It can't be used.
    Missing(Missing),
}

/// A toolchain that can't be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// `go`.
    pub name: String,
    /// The reason: `not installed`, `1.21 is older than 1.25`.
    pub reason: String,
    /// The installed version, if it is too old.
    pub found: Option<String>,
    /// Minimum version, numbers and dots.
    pub minimum: Option<String>,
    /// How to install it.
    pub install: String,
    /// See [`ToolchainSpec::apt`].
    pub apt: Vec<String>,
}

impl Probe {
    /// The toolchain's name: `go`.
    pub fn name(&self) -> &str {
        match self {
            Self::Found(Toolchain { name, .. }) | Self::Missing(Missing { name, .. }) => name,
        }
    }

    /// The toolchain, if it can be used.
    pub fn found(&self) -> Option<&Toolchain> {
        match self {
            Self::Found(toolchain) => Some(toolchain),
            Self::Missing(_) => None,
        }
    }

    /// One line that says what is missing and what to install. `None` if it can be used.
    pub fn remedy(&self) -> Option<String> {
        match self {
            Self::Found(_) => None,
            Self::Missing(Missing { name, reason, install, .. }) => {
                Some(format!("{name}: {reason}; install {install}"))
            }
        }
    }
}

/// Versions of toolchains. Queried concurrently, each command once, in the folder of the first server that needs it.
#[derive(Debug)]
pub struct Versions<'a>(BTreeMap<&'a [String], Result<Output, String>>);

impl<'a> Versions<'a> {
    /// Maximum number of commands at once. They mostly wait for disks and start runtimes, which need memory.
    const AT_ONCE: usize = 16;

    /// Queries every toolchain of `servers`.
    pub fn ask(
        servers: impl IntoIterator<Item = &'a Server>,
        env: &BuildEnv,
        interrupt: &Interrupt,
    ) -> Self {
        let mut questions: BTreeMap<&[String], (&ToolchainSpec, &Path)> = BTreeMap::new();
        for server in servers {
            for spec in &server.toolchains {
                questions.entry(&spec.command).or_insert((spec, &server.folder));
            }
        }
        let count = questions.len().min(Self::AT_ONCE);
        let questions = Mutex::new(questions.into_iter());
        let next = || questions.lock().unwrap_or_else(PoisonError::into_inner).next();
        let worker = || {
            let asked = std::iter::from_fn(next);
            asked
                .map(|(key, (spec, folder))| (key, ask(spec, folder, env, interrupt)))
                .collect::<Vec<_>>()
        };
        let answers = thread::scope(|scope| {
            let workers: Vec<_> = (0..count).map(|_| scope.spawn(worker)).collect();
            workers.into_iter().filter_map(|worker| worker.join().ok()).flatten().collect()
        });
        Self(answers)
    }

    /// Every toolchain that `server` needs. They must have been queried by [`Self::ask`].
    pub fn of(&self, server: &Server) -> Vec<Probe> {
        server.toolchains.iter().filter_map(|spec| self.probe(spec)).collect()
    }

    /// One toolchain. `None` if it was not queried.
    pub(crate) fn probe(&self, spec: &ToolchainSpec) -> Option<Probe> {
        Some(judged(spec, self.0.get(spec.command.as_slice())?.as_ref()))
    }
}

/// The result of looking for a toolchain, from its output.
fn judged(spec: &ToolchainSpec, output: Result<&Output, &String>) -> Probe {
    let missing = |reason: String, found| {
        Probe::Missing(Missing {
            name: spec.name.clone(),
            reason,
            found,
            minimum: spec.minimum.clone(),
            install: spec.install.clone(),
            apt: spec.apt.clone(),
        })
    };
    let output = match output {
        Ok(output) => output,
        Err(reason) => return missing(reason.clone(), None),
    };
    let text = both(output);
    let group = spec.version.captures(&text).and_then(|found| found.get(1));
    let Some(version) = group.map(|group| printable(group.as_str()).into_owned()) else {
        return missing(no_version(spec, output.success, &text), None);
    };
    match &spec.minimum {
        Some(minimum) if numbers(&version) < numbers(minimum) => {
            missing(format!("{version} is older than {minimum}"), Some(version))
        }
        _ => Probe::Found(Toolchain { name: spec.name.clone(), version }),
    }
}

fn ask(
    spec: &ToolchainSpec,
    folder: &Path,
    env: &BuildEnv,
    interrupt: &Interrupt,
) -> Result<Output, String> {
    let (program, arguments) = spec.command.split_first().ok_or("it has no command")?;
    let mut command = Command::new(program);
    env.set(&mut command);
    command.args(arguments).current_dir(folder);
    let running = Task::ask(&mut command).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => "not installed".to_owned(),
        _ => format!("'{program}' can't be started: {error}"),
    })?;
    let output = running.output(TIMEOUT, || interrupt.check().is_ok());
    let output = output.map_err(|error| error.to_string())?;
    output.ok_or_else(|| {
        let seconds = TIMEOUT.as_secs();
        format!("'{}' did not answer within {seconds} s", spec.command.join(" "))
    })
}

/// Standard output, then standard error.
fn both(output: &Output) -> String {
    format!("{}\n{}", output.out, output.err)
}

/// Why there is no version. If a command fails with one line, that line is the reason.
fn no_version(spec: &ToolchainSpec, success: bool, text: &str) -> String {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    match (lines.next(), lines.next()) {
        // From a shell that can't find the program.
        (Some(reason), None) if !success && reason.ends_with(": not found") => {
            "not installed".to_owned()
        }
        (Some(reason), None) if !success => printable(reason).into_owned(),
        (first, _) => {
            let first = printable(first.unwrap_or("nothing"));
            format!("no version in the output of '{}' ({first})", spec.command.join(" "))
        }
    }
}

/// The toolchains whose support has ended by `today`, one line each.
pub fn unsupported(server: &Server, found: &[Toolchain], today: Date) -> Vec<String> {
    let ended = |tool: &Toolchain| {
        let spec = server.toolchains.iter().find(|spec| spec.name == tool.name)?;
        let mut releases = spec.end_of_support.iter();
        let (_, day) = releases.find(|(release, _)| is_of(&tool.version, release))?;
        let Toolchain { name, version } = tool;
        (*day < today).then(|| {
            format!("{name} {version} has had no fixes since {day}: install a newer release")
        })
    };
    found.iter().filter_map(ended).collect()
}

/// True if a version belongs to a release: `3.0.7` to `3.0`, but `3.10.1` not to `3.1`.
fn is_of(version: &str, release: &str) -> bool {
    let rest = version.strip_prefix(release);
    rest.is_some_and(|rest| !rest.starts_with(|next: char| next.is_ascii_digit()))
}

/// The date in UTC.
pub fn today() -> Date {
    clock::wall().to_zoned(jiff::tz::TimeZone::UTC).date()
}

/// The numbers of a version, to compare one by one: `1.9` is older than `1.10`. A suffix such as `-rc1` does not count.
fn numbers(version: &str) -> Vec<u64> {
    let mut numbers = Vec::new();
    for part in version.split(['.', '_', '+', '-']) {
        let digits: String = part.chars().take_while(char::is_ascii_digit).collect();
        match digits.parse() {
            Ok(number) => numbers.push(number),
            Err(_) => break,
        }
        if digits.len() < part.len() {
            break;
        }
    }
    while numbers.last() == Some(&0) {
        numbers.pop();
    }
    numbers
}

#[cfg(test)]
mod tests {
    use regex::Regex;

    use super::*;

    fn probe(spec: &ToolchainSpec, folder: &Path, env: &BuildEnv) -> Probe {
        judged(spec, ask(spec, folder, env, &Interrupt::default()).as_ref())
    }

    fn here() -> BuildEnv {
        BuildEnv::new([("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned())])
    }

    fn spec(command: &[&str], pattern: &str, minimum: Option<&str>) -> ToolchainSpec {
        ToolchainSpec {
            name: "tool".to_owned(),
            command: command.iter().map(|word| (*word).to_owned()).collect(),
            version: Regex::new(pattern).unwrap(),
            minimum: minimum.map(str::to_owned),
            install: "the tool from its home page".to_owned(),
            apt: Vec::new(),
            end_of_support: BTreeMap::new(),
        }
    }

    fn ask_shell(script: &str, minimum: Option<&str>) -> Result<String, String> {
        match probe(&spec(&["sh", "-c", script], r"v(\d\S*)", minimum), Path::new("/"), &here()) {
            Probe::Found(tool) => Ok(tool.version),
            missing => Err(missing.remedy().unwrap()),
        }
    }

    #[test]
    fn versions_compare_by_number() {
        for (older, newer) in
            [("1.9", "1.10"), ("1.25", "2"), ("21", "25.0.1"), ("1.2.3", "1.2.4-rc1")]
        {
            assert!(numbers(older) < numbers(newer), "{older} {newer}");
        }
        for (one, other) in [("1.25", "1.25.0"), ("25", "25-ea"), ("3.12", "3.12.0rc2")] {
            assert_eq!(numbers(one), numbers(other));
        }
    }

    #[test]
    fn version_on_either_output_is_found() {
        assert_eq!(ask_shell("echo tool v1.2.3", Some("1.2")), Ok("1.2.3".to_owned()));
        assert_eq!(ask_shell("echo tool v1.2.3 >&2; exit 1", None), Ok("1.2.3".to_owned()));
    }

    #[test]
    fn missing_toolchain_is_one_line() {
        let remedy = |spec: ToolchainSpec| probe(&spec, Path::new("/"), &here()).remedy().unwrap();
        insta::assert_snapshot!(remedy(spec(&["no-such-tool"], "(x)", None)), @"tool: not installed; install the tool from its home page");
        insta::assert_snapshot!(ask_shell("echo v1.9", Some("1.10")).unwrap_err(), @"tool: 1.9 is older than 1.10; install the tool from its home page");
        insta::assert_snapshot!(ask_shell("echo; echo no source has the tool; exit 1", None).unwrap_err(), @"tool: no source has the tool; install the tool from its home page");
        insta::assert_snapshot!(ask_shell("exec no-such-tool --version", None).unwrap_err(), @"tool: not installed; install the tool from its home page");
        insta::assert_snapshot!(ask_shell("echo; echo broken", None).unwrap_err(), @"tool: no version in the output of 'sh -c echo; echo broken' (broken); install the tool from its home page");
    }

    #[test]
    fn missing_toolchain_has_the_found_version_and_packages() {
        let old = ToolchainSpec {
            apt: vec!["tool (>= 2)".to_owned()],
            ..spec(&["echo", "v1.9"], r"v(\S+)", Some("2"))
        };
        let Probe::Missing(missing) = probe(&old, Path::new("/"), &here()) else {
            panic!("1.9 is older than 2");
        };
        assert_eq!(
            (missing.found.as_deref(), missing.minimum.as_deref()),
            (Some("1.9"), Some("2"))
        );
        assert_eq!(missing.apt, ["tool (>= 2)"]);
    }

    #[test]
    fn ended_release_is_reported_from_the_day_after_its_last_fix() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let catalog = crate::manifest::Catalog::load(&root).unwrap();
        let lines = |server: &str, tool: &str, version: &str, day: &str| {
            let server = catalog.servers().iter().find(|other| other.name == server).unwrap();
            let tool = Toolchain { name: tool.to_owned(), version: version.to_owned() };
            unsupported(server, &[tool], day.parse().unwrap()).join("")
        };
        assert_eq!(lines("node-http", "node", "18.20.4", "2025-04-30"), "");
        insta::assert_snapshot!(lines("node-http", "node", "18.20.4", "2025-05-01"), @"node 18.20.4 has had no fixes since 2025-04-30: install a newer release");
        assert_eq!(lines("node-http", "node", "180.1.0", "2025-05-01"), "");
        assert_eq!(lines("ruby-sinatra", "ruby", "3.4.1", "2025-05-01"), "");
        for server in ["java-grpc", "kotlin-grpc", "scala-pekko-grpc"] {
            let late = lines(server, "jdk", "24.0.2", "2025-10-01");
            assert!(late.starts_with("jdk 24.0.2 has had no fixes since 2025-09-30: "), "{late}");
        }
    }

    #[test]
    fn commands_run_side_by_side_and_once() {
        let folder = tempfile::tempdir().unwrap();
        let (here_is, log) = (folder.path().display(), folder.path().join("log"));
        // Each answers only once both are running.
        let meet = |own: &str, other: &str| {
            format!(
                "cd {here_is}; echo {own} >>log; : >{own}; until [ -e {other} ]; do sleep 0.01; done; echo v1"
            )
        };
        let mut server = crate::manifest::Catalog::load(
            &Path::new(env!("CARGO_MANIFEST_DIR")).join("../testkit/root"),
        )
        .map(|catalog| Server::clone(&catalog.servers()[0]))
        .unwrap();
        let scripts = [meet("a", "b"), meet("b", "a"), meet("a", "b")];
        server.toolchains =
            scripts.iter().map(|script| spec(&["sh", "-c", script], r"v(\d)", None)).collect();
        let versions = Versions::ask([&server, &server], &here(), &Interrupt::default());
        assert!(versions.of(&server).iter().all(|probe| probe.found().is_some()), "{versions:?}");
        assert_eq!(versions.of(&server).len(), 3);
        let mut asked: Vec<_> =
            std::fs::read_to_string(log).unwrap().lines().map(str::to_owned).collect();
        asked.sort();
        assert_eq!(asked, ["a", "b"]);
    }

    #[test]
    fn much_output_does_not_block() {
        let script = "i=0; while [ $i -lt 20000 ]; do echo filler; i=$((i+1)); done; echo v7";
        assert_eq!(ask_shell(script, None), Ok("7".to_owned()));
    }
}
