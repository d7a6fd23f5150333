//! Builds servers whose sources changed.

mod candidates;
pub(crate) mod stamp;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use rpcbench_record::{Failure, Toolchain, printable, regular, units};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::build_env::BuildEnv;
use crate::host::marked::kill_marked;
use crate::host::orphans::Adoption;
use crate::log;
use crate::manifest::Server;
use crate::task::Task;

pub use candidates::{
    BuildEvent, BuildObserver, BuildState, BuildWatch, Builder, Building, Candidate, ServerBuilder,
};

/// A build that takes longer hangs.
pub const BUILD_TIMEOUT: Duration = Duration::from_secs(3600);

/// Interval between calls of `keep_waiting`.
const TICK: Duration = Duration::from_millis(200);

/// Maximum size of a lock file or a stamp, bytes. The largest of ours has 200 KB.
const MAX_LOCK: u64 = 64 << 20;
/// Environment variable with the build folder.
const BUILD_DIR: &str = "RPCBENCH_BUILD_DIR";
const STAMP: &str = ".rpcbench-stamp";
pub(crate) const LOG: &str = "build.log";
const LAST_LINES: usize = 20;

/// Why a server can't be built, and the remedy, in one line. The following lines are the end of the build's log.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct BuildError(pub(crate) String);

impl BuildError {
    pub(crate) fn of(server: &Server, problem: impl Display) -> Self {
        Self(format!("{}: {problem}", server.name))
    }

    /// For `map_err`: the error for a file or folder that can't be read or created.
    pub(crate) fn file(path: &Path) -> impl Fn(io::Error) -> Self {
        move |source| Self(format!("{}: {source}", path.display()))
    }
}

impl From<BuildError> for Failure {
    fn from(BuildError(text): BuildError) -> Self {
        let mut lines = text.lines().map(str::to_owned);
        let reason = lines.next().unwrap_or_default();
        Self { reason, log_tail: lines.collect() }
    }
}

/// A built server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Built {
    /// True if it was built now, false if it was up to date.
    pub rebuilt: bool,
    /// The build command as executed.
    pub command: String,
    /// Names of the user's environment variables that the build saw.
    pub env: Vec<String>,
    /// Library versions from the lock file.
    pub versions: BTreeMap<String, String>,
    /// blake3 of the lock file, hex.
    pub lock_hash: String,
    /// blake3 of everything that it was built from, hex.
    pub source_hash: String,
    /// Path of the build's output.
    pub log: PathBuf,
}

/// Written to the build folder by a successful build.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Stamp {
    hash: String,
}

/// True if nothing that the server is built from has changed.
pub fn is_current(server: &Server, toolchains: &[Toolchain]) -> Result<bool, BuildError> {
    Ok(left_stamp(server) == Some(Stamp { hash: stamp::hash(server, toolchains)? }))
}

/// Builds a server with the toolchains found, unless it is up to date.
///
/// The command runs in the server's folder with `env`, `RPCBENCH_BUILD_DIR` and `RPCBENCH_CONTRACT`. Its output goes to
/// `build.log` in the build folder. `keep_waiting` is called several times a second; returning false stops the build. Fails if
/// the lock file lacks a version that the manifest names.
pub fn build(
    server: &Server,
    toolchains: &[Toolchain],
    env: &BuildEnv,
    keep_waiting: &mut dyn FnMut() -> bool,
) -> Result<Built, BuildError> {
    let hash = stamp::hash(server, toolchains)?;
    let log = server.build_folder.join(LOG);
    let rebuilt = left_stamp(server).is_none_or(|stamp| stamp.hash != hash);
    if rebuilt {
        if !server.lock.starts_with(&server.build_folder) {
            // Reports a wrong lock file before a long build.
            read_lock(server)?;
        }
        forget_stamp(server)?;
        run(server, &server.build_command(), env, keep_waiting)?;
    }
    let (versions, lock_hash) = read_lock(server)?;
    if rebuilt {
        leave_stamp(server, hash.clone())?;
    }
    let command = server.build_command().join(" ");
    Ok(Built { rebuilt, command, env: env.names(), versions, lock_hash, source_hash: hash, log })
}

/// The last lines of the server's build log, at most `lines`.
pub fn log_tail(server: &Server, lines: usize) -> Vec<String> {
    log::tail(&server.build_folder.join(LOG), lines)
}

/// Rewrites the lock file of a server with its language's lock command, which runs like a build.
pub fn lock(
    server: &Server,
    env: &BuildEnv,
    keep_waiting: &mut dyn FnMut() -> bool,
) -> Result<(), BuildError> {
    let command = server.lock_command();
    if !command.is_empty() {
        return run(server, &command, env, keep_waiting);
    }
    let problem = match server.lock.starts_with(&server.build_folder) {
        true => format!(
            "there is nothing to lock: its libraries are the system's, such as Debian packages; each build writes the \
             versions it found to {}",
            server.lock.display()
        ),
        false => format!(
            "no command writes its lock file; add one to {}/{}/_language.toml, such as build.lock = [\"sh\", \
             \"../build.sh\", \"lock\"]",
            server.role.plural(),
            server.language
        ),
    };
    Err(BuildError::of(server, problem))
}

pub(crate) fn run(
    server: &Server,
    words: &[String],
    env: &BuildEnv,
    keep_waiting: &mut dyn FnMut() -> bool,
) -> Result<(), BuildError> {
    let folder = &server.build_folder;
    fs::create_dir_all(folder).map_err(BuildError::file(folder))?;
    let log = &folder.join(LOG);
    let out = regular::recreate(log).map_err(BuildError::file(log))?;
    let [err, written] = [out.try_clone(), out.try_clone()];
    let (err, written) =
        (err.map_err(BuildError::file(log))?, written.map_err(BuildError::file(log))?);
    let line = words.join(" ");
    let start_error = |source: io::Error| {
        let folder = server.folder.display();
        BuildError::of(server, format!("'{line}' can't be started in {folder}: {source}"))
    };
    let (program, arguments) =
        words.split_first().ok_or_else(|| start_error(io::ErrorKind::InvalidInput.into()))?;
    let mut command = Command::new(program);
    env.set(&mut command);
    command
        .args(arguments)
        .current_dir(&server.folder)
        .env(BUILD_DIR, folder)
        .env("RPCBENCH_CONTRACT", &server.contract)
        .stdin(Stdio::null())
        .stdout(out)
        .stderr(err);
    // Processes left behind by a build, such as a compiler daemon, would run next to the servers.
    let _adoption = Adoption::begin();
    let task = Task::start(&mut command).map_err(start_error)?;
    let (mut stopped, mut flooded) = (false, false);
    let mut ask = || {
        (stopped, flooded) = (!keep_waiting(), log::is_flooded(&written));
        !stopped && !flooded
    };
    let status = task.wait_while(BUILD_TIMEOUT, TICK, &mut ask).map_err(start_error);
    // Right away, even if other builds are running.
    kill_marked(BUILD_DIR, &folder.to_string_lossy());
    let status = status?;
    if stopped {
        return Err(BuildError::of(server, "the build was stopped before it finished"));
    }
    let ended = match status {
        _ if flooded => format!("wrote more than {} to its log", units::bytes(log::MAX_LOG)),
        Some(status) if status.success() => return Ok(()),
        Some(status) => format!("failed ({status})"),
        None => format!("was stopped after {}", units::length(BUILD_TIMEOUT)),
    };
    let (path, tail) = (log.display(), log::tail(log, LAST_LINES).join("\n"));
    let problem = format!("'{line}' {ended}; full log: {path}; its last lines:\n{tail}");
    Err(BuildError::of(server, problem))
}

/// Library versions in the lock file, and its blake3. Fails unless each pattern of the manifest matches exactly one version.
pub fn read_lock(server: &Server) -> Result<(BTreeMap<String, String>, String), BuildError> {
    let (lock, manifest) = (server.lock.display(), server.folder.join(server.manifest()));
    let manifest = manifest.display();
    if leads_out(server) {
        let problem = "is a link to a file outside of the server's folder; replace it by the file";
        return Err(BuildError::of(server, format!("the lock file {lock} {problem}")));
    }
    let bytes =
        regular::read_bytes(&server.lock, MAX_LOCK).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => BuildError::of(
                server,
                format!(
                    "the lock file {lock} does not exist; commit it, or name the right one as 'lock' in {manifest}"
                ),
            ),
            _ => BuildError::file(&server.lock)(source),
        })?;
    let text = String::from_utf8_lossy(&bytes);
    let version = |(library, pattern): &(String, regex::Regex)| {
        let groups = pattern.captures_iter(&text).filter_map(|found| found.get(1));
        let found: BTreeSet<String> =
            groups.map(|group| printable(group.as_str()).into_owned()).collect();
        let found = Vec::from_iter(found);
        let problem = match found.as_slice() {
            [version] => return Ok((library.clone(), version.clone())),
            [] => format!("nothing in {lock}"),
            several => format!(
                "{} in {lock}; write a pattern that matches the linked one only",
                several.join(" and ")
            ),
        };
        let wanted = format!("'{pattern}' ('versions.{library}' in {manifest})");
        Err(BuildError::of(server, format!("{wanted} matches {problem}")))
    };
    let versions = server.versions.iter().map(version).collect::<Result<_, _>>()?;
    Ok((versions, blake3::hash(&bytes).to_hex().to_string()))
}

/// True if the lock file is a link out of the server's folders. Errors and the record quote the file, so that is refused.
fn leads_out(server: &Server) -> bool {
    let Ok(lock) = server.lock.canonicalize() else { return false };
    let folders = [&server.folder, &server.build_folder];
    !folders.into_iter().any(|it| it.canonicalize().is_ok_and(|folder| lock.starts_with(folder)))
}

/// The stamp of the last build. `None` if it can't be read.
fn left_stamp(server: &Server) -> Option<Stamp> {
    let text = regular::read_text(&server.build_folder.join(STAMP), MAX_LOCK).ok()?;
    serde_json::from_str(&text).ok()
}

fn forget_stamp(server: &Server) -> Result<(), BuildError> {
    let file = server.build_folder.join(STAMP);
    match fs::remove_file(&file) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(BuildError::file(&file)(source))
        }
        _ => Ok(()),
    }
}

fn leave_stamp(server: &Server, hash: String) -> Result<(), BuildError> {
    let file = server.build_folder.join(STAMP);
    let text = serde_json::to_string(&Stamp { hash }).map_err(io::Error::from);
    text.and_then(|text| regular::replace(&file, text)).map_err(BuildError::file(&file))
}
