//! Builds servers whose sources changed.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use rpcbench_record::{Failure, Toolchain, printable, units};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::build_env::BuildEnv;
use crate::log;
use crate::manifest::Server;
use crate::stamp;
use crate::task::Task;

/// A build that takes this long hangs.
pub const BUILD_TIMEOUT: Duration = Duration::from_secs(3600);

/// How often a caller that waits for a build is called.
const TICK: Duration = Duration::from_millis(200);

const STAMP: &str = ".rpcbench-stamp";
pub(crate) const LOG: &str = "build.log";
const LAST_LINES: usize = 20;

/// Why a server can't be built.
#[derive(Debug, Error)]
pub enum BuildError {
    /// A file or folder can't be read or created.
    #[error("{}: {source}", path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// An input named in a manifest does not exist.
    #[error("{server}: the build input {} does not exist; correct 'build.inputs' in its manifest", path.display())]
    NoInput {
        /// The server.
        server: String,
        /// The input.
        path: PathBuf,
    },
    /// The build command can't be started.
    #[error("{server}: '{command}' can't be started in {}: {source}", folder.display())]
    Start {
        /// The server.
        server: String,
        /// The command line.
        command: String,
        /// Its working directory.
        folder: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The build command failed.
    #[error("{server}: '{command}' {ended}; full log: {}; its last lines:\n{}", log.display(), tail.join("\n"))]
    Failed {
        /// The server.
        server: String,
        /// The command line.
        command: String,
        /// How it ended: `exit status: 1`, `was stopped after 1h`.
        ended: String,
        /// The log.
        log: PathBuf,
        /// Last lines of the log.
        tail: Vec<String>,
    },
    /// The lock file does not exist.
    #[error("{server}: the lock file {} does not exist; commit it, or name the right one as 'lock' in {}", lock.display(), manifest.display())]
    NoLock {
        /// The server.
        server: String,
        /// The lock file.
        lock: PathBuf,
        /// The manifest that names it.
        manifest: PathBuf,
    },
    /// Its language has no command that writes lock files.
    #[error(
        "{server}: no command writes its lock file; add one to servers/{language}/_language.toml, such as build.lock = [\"sh\", \"../build.sh\", \"lock\"]"
    )]
    NoLockCommand {
        /// The server.
        server: String,
        /// Its language's folder.
        language: String,
    },
    /// Its build writes its lock file.
    #[error(
        "{server}: there is nothing to lock: its libraries are the system's, such as Debian packages; each build writes the versions it found to {}",
        lock.display()
    )]
    LockedByBuild {
        /// The server.
        server: String,
        /// The lock file.
        lock: PathBuf,
    },
    /// Its image can't be made or used.
    #[error("{server}: {reason}")]
    Image {
        /// The server.
        server: String,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// The run stops.
    #[error("{server}: the build was stopped before it was over")]
    Stopped {
        /// The server.
        server: String,
    },
    /// The lock file has several versions of one library, only one of which runs.
    #[error("{wanted} matches {} in {}; write a pattern that matches the linked one only", found.join(" and "), wanted.lock.display())]
    Versions {
        /// What was looked for.
        wanted: Box<Wanted>,
        /// Each version.
        found: Vec<String>,
    },
    /// The lock file has no version of a library.
    #[error("{0} matches nothing in {lock}", lock = .0.lock.display())]
    NoVersion(Box<Wanted>),
}

/// The first line is the reason, the others are the log.
impl From<BuildError> for Failure {
    fn from(error: BuildError) -> Self {
        let text = error.to_string();
        let mut lines = text.lines().map(str::to_owned);
        let reason = lines.next().unwrap_or_default();
        Self { reason, log_tail: lines.collect() }
    }
}

/// A version to find in a lock file.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// The server.
    pub server: String,
    /// The library.
    pub library: String,
    /// The pattern with the version as group 1.
    pub pattern: String,
    /// The lock file.
    pub lock: PathBuf,
    /// The manifest with the pattern.
    pub manifest: PathBuf,
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { server, library, pattern, manifest, .. } = self;
        write!(f, "{server}: '{pattern}' ('versions.{library}' in {})", manifest.display())
    }
}

/// A built server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Built {
    /// True if it was built now, false if it was up to date.
    pub rebuilt: bool,
    /// The build command as run.
    pub command: String,
    /// Names of the user's environment variables that the build saw.
    pub env: Vec<String>,
    /// Library versions from the lock file.
    pub versions: BTreeMap<String, String>,
    /// blake3 of the lock file, hex.
    pub lock_hash: String,
    /// The build's output.
    pub log: PathBuf,
}

/// Written to the build folder by a successful build.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Stamp {
    hash: String,
}

/// True if nothing that the server is built from has changed.
///
/// # Errors
/// If something that it is built from can't be read.
pub fn is_current(server: &Server, toolchains: &[Toolchain]) -> Result<bool, BuildError> {
    Ok(left_stamp(server) == Some(Stamp { hash: stamp::hash(server, toolchains)? }))
}

/// Builds a server with the toolchains found, unless it is up to date.
///
/// The command runs in the server's folder with `env`, `RPCBENCH_BUILD_DIR` and `RPCBENCH_CONTRACT`. Its output goes to
/// `build.log` in the build folder. `keep_waiting` is called several times a second; the build ends when it returns false.
///
/// # Errors
/// If the build fails, or its lock file lacks a version that the manifest names.
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
            // A wrong lock file should fail before a long build.
            read_lock(server)?;
        }
        forget_stamp(server)?;
        run(server, &server.build_command(), env, keep_waiting)?;
    }
    let (versions, lock_hash) = read_lock(server)?;
    if rebuilt {
        leave_stamp(server, hash)?;
    }
    let command = server.build_command().join(" ");
    Ok(Built { rebuilt, command, env: env.names(), versions, lock_hash, log })
}

/// The last lines of its build's log, at most `lines`.
pub fn log_tail(server: &Server, lines: usize) -> Vec<String> {
    log::tail(&server.build_folder.join(LOG), lines)
}

/// Rewrites the lock file of a server with its language's command for it, which runs as a build does.
///
/// # Errors
/// If there is no such command, or it fails.
pub fn lock(
    server: &Server,
    env: &BuildEnv,
    keep_waiting: &mut dyn FnMut() -> bool,
) -> Result<(), BuildError> {
    let command = server.lock_command();
    if command.is_empty() && server.lock.starts_with(&server.build_folder) {
        let (server, lock) = (server.name.clone(), server.lock.clone());
        return Err(BuildError::LockedByBuild { server, lock });
    }
    if command.is_empty() {
        return Err(BuildError::NoLockCommand {
            server: server.name.clone(),
            language: server.language.clone(),
        });
    }
    run(server, &command, env, keep_waiting)
}

pub(crate) fn run(
    server: &Server,
    words: &[String],
    env: &BuildEnv,
    keep_waiting: &mut dyn FnMut() -> bool,
) -> Result<(), BuildError> {
    let folder = &server.build_folder;
    fs::create_dir_all(folder).map_err(|source| file_error(folder, source))?;
    let log = &folder.join(LOG);
    let out = File::create(log).map_err(|source| file_error(log, source))?;
    let err = out.try_clone().map_err(|source| file_error(log, source))?;
    let start_error = |source| BuildError::Start {
        server: server.name.clone(),
        command: words.join(" "),
        folder: server.folder.clone(),
        source,
    };
    let (program, arguments) =
        words.split_first().ok_or_else(|| start_error(io::ErrorKind::InvalidInput.into()))?;
    let mut command = Command::new(program);
    env.set(&mut command);
    command
        .args(arguments)
        .current_dir(&server.folder)
        .env("RPCBENCH_BUILD_DIR", folder)
        .env("RPCBENCH_CONTRACT", &server.contract)
        .stdin(Stdio::null())
        .stdout(out)
        .stderr(err);
    let task = Task::start(&mut command).map_err(start_error)?;
    let mut stopped = false;
    let mut ask = || {
        stopped = !keep_waiting();
        !stopped
    };
    let status = task.wait_while(BUILD_TIMEOUT, TICK, &mut ask).map_err(start_error)?;
    if stopped {
        return Err(BuildError::Stopped { server: server.name.clone() });
    }
    let ended = match status {
        Some(status) if status.success() => return Ok(()),
        Some(status) => format!("failed ({status})"),
        None => format!("was stopped after {}", units::length(BUILD_TIMEOUT)),
    };
    Err(BuildError::Failed {
        server: server.name.clone(),
        command: words.join(" "),
        ended,
        log: log.to_owned(),
        tail: log::tail(log, LAST_LINES),
    })
}

/// Library versions in the lock file, and its blake3.
///
/// # Errors
/// If there is no lock file, or a pattern of the manifest matches no version in it, or several.
pub fn read_lock(server: &Server) -> Result<(BTreeMap<String, String>, String), BuildError> {
    let lock = &server.lock;
    let manifest = || server.folder.join("server.toml");
    let bytes =
        rpcbench_record::read_bytes(&server.lock).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => BuildError::NoLock {
                server: server.name.clone(),
                lock: server.lock.clone(),
                manifest: manifest(),
            },
            _ => file_error(&server.lock, source),
        })?;
    let text = String::from_utf8_lossy(&bytes);
    let version = |(library, pattern): &(String, regex::Regex)| {
        let groups = pattern.captures_iter(&text).filter_map(|found| found.get(1));
        let mut found: Vec<String> =
            groups.map(|group| printable(group.as_str()).into_owned()).collect();
        found.sort();
        found.dedup();
        let wanted = Wanted {
            server: server.name.clone(),
            library: library.clone(),
            pattern: pattern.to_string(),
            lock: lock.clone(),
            manifest: manifest(),
        };
        match found.as_slice() {
            [version] => Ok((library.clone(), version.clone())),
            [] => Err(BuildError::NoVersion(Box::new(wanted))),
            _ => Err(BuildError::Versions { wanted: Box::new(wanted), found }),
        }
    };
    let versions = server.versions.iter().map(version).collect::<Result<_, _>>()?;
    Ok((versions, blake3::hash(&bytes).to_hex().to_string()))
}

/// `None` if it can't be read.
fn left_stamp(server: &Server) -> Option<Stamp> {
    let text = fs::read_to_string(server.build_folder.join(STAMP)).ok()?;
    serde_json::from_str(&text).ok()
}

fn forget_stamp(server: &Server) -> Result<(), BuildError> {
    let file = server.build_folder.join(STAMP);
    match fs::remove_file(&file) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => Err(file_error(&file, source)),
        _ => Ok(()),
    }
}

fn leave_stamp(server: &Server, hash: String) -> Result<(), BuildError> {
    let file = server.build_folder.join(STAMP);
    let text = serde_json::to_string(&Stamp { hash }).map_err(io::Error::from);
    text.and_then(|text| fs::write(&file, text)).map_err(|source| file_error(&file, source))
}

fn file_error(path: &Path, source: io::Error) -> BuildError {
    BuildError::File { path: path.to_owned(), source }
}
