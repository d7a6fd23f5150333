//! Building a server, once for each state of what it is built from.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use rpcbench_record::{Toolchain, printable, units};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::build_env::BuildEnv;
use crate::log;
use crate::manifest::Server;
use crate::stamp;
use crate::task::Task;

/// No build takes this long; one that does hangs.
pub const BUILD_TIMEOUT: Duration = Duration::from_secs(3600);

const STAMP: &str = ".rpcbench-stamp";
const LOG: &str = "build.log";
const LAST_LINES: usize = 20;

/// Why a server can't be built.
#[derive(Debug, Error)]
pub enum BuildError {
    /// A file or folder can't be read or made.
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
        /// Where.
        folder: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The build command failed.
    #[error("{server}: '{command}' {ended}; the whole log is {}; its last lines:\n{}", log.display(), tail.join("\n"))]
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
    /// The lock file is not there.
    #[error("{server}: the lock file {} does not exist; commit it, or name the right one as 'lock' in {}", lock.display(), manifest.display())]
    NoLock {
        /// The server.
        server: String,
        /// The lock file.
        lock: PathBuf,
        /// The manifest that names it.
        manifest: PathBuf,
    },
    /// The lock file does not tell a library's version.
    #[error("{server}: '{pattern}' ('versions.{library}' in {}) matches nothing in {}", manifest.display(), lock.display())]
    NoVersion {
        /// The server.
        server: String,
        /// The library.
        library: String,
        /// The pattern.
        pattern: String,
        /// The lock file.
        lock: PathBuf,
        /// The manifest with the pattern.
        manifest: PathBuf,
    },
}

/// A server that is built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Built {
    /// Whether it was built now; `false` where it was already.
    pub rebuilt: bool,
    /// The build command as run.
    pub command: String,
    /// Names of the user's environment variables that the build sees.
    pub env: Vec<String>,
    /// Library versions from the lock file.
    pub versions: BTreeMap<String, String>,
    /// blake3 of the lock file, hex.
    pub lock_hash: String,
    /// What the build wrote.
    pub log: PathBuf,
}

/// Left in the build folder by a build that succeeded.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Stamp {
    hash: String,
}

/// Whether a build would do nothing: all that the server is built from is as it was.
///
/// # Errors
/// If something that it is built from can't be read.
pub fn is_current(server: &Server, toolchains: &[Toolchain]) -> Result<bool, BuildError> {
    Ok(left_stamp(server) == Some(Stamp { hash: stamp::hash(server, toolchains)? }))
}

/// Builds a server with the toolchains found, unless that is done already.
///
/// The command runs in the server's folder with `env`, and with `RPCBENCH_BUILD_DIR` and `RPCBENCH_CONTRACT`. What it writes goes to `build.log` in the build folder.
///
/// # Errors
/// If the build fails, or its lock file does not tell what the manifest says it does.
pub fn build(
    server: &Server,
    toolchains: &[Toolchain],
    env: &BuildEnv,
) -> Result<Built, BuildError> {
    let hash = stamp::hash(server, toolchains)?;
    let log = server.build_folder.join(LOG);
    let rebuilt = left_stamp(server).is_none_or(|stamp| stamp.hash != hash);
    if rebuilt {
        if !server.lock.starts_with(&server.build_folder) {
            // Wrong before the build is wrong after it.
            read_lock(server)?;
        }
        run(server, env, &log)?;
    }
    let (versions, lock_hash) = read_lock(server)?;
    if rebuilt {
        leave_stamp(server, hash)?;
    }
    let command = server.build_command().join(" ");
    Ok(Built { rebuilt, command, env: env.names(), versions, lock_hash, log })
}

fn run(server: &Server, env: &BuildEnv, log: &Path) -> Result<(), BuildError> {
    let folder = &server.build_folder;
    fs::create_dir_all(folder).map_err(|source| file_error(folder, source))?;
    forget_stamp(server)?;
    let out = File::create(log).map_err(|source| file_error(log, source))?;
    let err = out.try_clone().map_err(|source| file_error(log, source))?;
    let words = server.build_command();
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
    let status = task.wait(Some(BUILD_TIMEOUT)).map_err(start_error)?;
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

fn read_lock(server: &Server) -> Result<(BTreeMap<String, String>, String), BuildError> {
    let manifest = || server.folder.join("server.toml");
    let bytes = fs::read(&server.lock).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => BuildError::NoLock {
            server: server.name.clone(),
            lock: server.lock.clone(),
            manifest: manifest(),
        },
        _ => file_error(&server.lock, source),
    })?;
    let text = String::from_utf8_lossy(&bytes);
    let version = |(library, pattern): &(String, regex::Regex)| {
        let group = pattern.captures(&text).and_then(|found| found.get(1));
        let version = group.ok_or_else(|| BuildError::NoVersion {
            server: server.name.clone(),
            library: library.clone(),
            pattern: pattern.to_string(),
            lock: server.lock.clone(),
            manifest: manifest(),
        })?;
        Ok((library.clone(), printable(version.as_str()).into_owned()))
    };
    let versions = server.versions.iter().map(version).collect::<Result<_, _>>()?;
    Ok((versions, blake3::hash(&bytes).to_hex().to_string()))
}

/// A stamp that can't be read is none.
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
