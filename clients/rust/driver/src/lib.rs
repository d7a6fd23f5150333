//! Shared by the client programs in Rust: everything in contract/clients.md except the calls.

mod clock;
mod connection;
mod control;
mod load;
mod method;
mod run;
mod wire;

use std::{env, os::unix::net::UnixStream, process::ExitCode, thread};

pub use connection::{Life, Target};
pub use method::Unary;
pub use service::Failure;

use control::Control;
use wire::{Answer, Wire};

const CHECKS: &str = "text: the whole string; others: the field with the nonce, and on every 16th call the whole message";

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Ok,
    WrongAnswer,
    /// With the protocol's status.
    Status(u16),
    Timeout,
    Transport,
    NotSent,
}

impl Outcome {
    /// Its number in a record, and the status.
    fn code(self) -> (u8, u16) {
        match self {
            Self::Ok => (0, 0),
            Self::WrongAnswer => (1, 0),
            Self::Status(status) => (2, status),
            Self::Timeout => (3, 0),
            Self::Transport => (4, 0),
            Self::NotSent => (5, 0),
        }
    }
}

/// A client library: it makes the calls of one connection, or of the whole pool if connections are pooled. Clones share them.
pub trait Library: Clone + Send + Sync + 'static {
    /// Its name in the manifest.
    const NAME: &str;
    /// True if the library has a pool: it opens connections with its first calls, and each carries one call at a time. Otherwise
    /// a connection carries several.
    const POOLED: bool;
    type Text: Unary<Self>;
    type Record: Unary<Self>;
    type Dto: Unary<Self>;
    type Tree: Unary<Self>;

    /// Opens a connection, or makes a pool.
    fn connect(target: &Target) -> impl Future<Output = Result<Self, Failure>> + Send;

    /// Replaces a connection that has reached its number of calls. The new one opens with its first call.
    fn reconnect(target: &Target) -> Result<Self, Failure>;
}

/// Executes rpcbench's commands until it closes the socket or sends SIGTERM. `lock_file` has the library's version. The first
/// argument names the runtime: `current-thread` or `multi-thread`.
pub fn run<L: Library>(lock_file: &str) -> ExitCode {
    service::report(&format!("rust-{}", L::NAME), serve::<L>(lock_file))
}

fn serve<L: Library>(lock_file: &str) -> Result<(), Failure> {
    let path = env::var_os("RPCBENCH_SOCKET")
        .ok_or("RPCBENCH_SOCKET is not set; rpcbench starts this program")?;
    let cpus = service::setting("RPCBENCH_CPUS")?;
    let kind = env::args().nth(1);
    let runtimes = service::runtimes(kind.as_deref(), cpus)?;
    let [runtime] = runtimes.as_slice() else {
        return Err("a client has one runtime: current-thread or multi-thread".into());
    };
    let socket = UnixStream::connect(path)?;
    let wire = Wire::new(socket.try_clone()?);
    wire.send(&Answer::Hello {
        version: 1,
        language: "Rust",
        library: L::NAME,
        library_version: version(lock_file, L::NAME),
        runtime: &format!("tokio {}, {}", version(lock_file, "tokio"), kind.unwrap_or_default()),
        checks: CHECKS,
        clock_ns: clock::now(),
    });
    let control = Control::<L>::new(wire, runtime.handle().clone());
    thread::spawn(move || control.obey_until_closed(socket));
    runtime.block_on(async {
        service::terminated()?.await;
        Ok(())
    })
}

/// The version of a crate in a lock file.
fn version<'a>(lock_file: &'a str, name: &str) -> &'a str {
    let name = format!("name = \"{name}\"");
    let mut lines = lock_file.lines().skip_while(|line| *line != name).skip(1);
    let version = lines.next().and_then(|line| line.strip_prefix("version = \""));
    version.map_or("unknown", |version| version.trim_end_matches('"'))
}
