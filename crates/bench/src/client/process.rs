//! Starts the servers and runs the clients, each on its own CPU.

use std::collections::BTreeMap;
use std::io::{self, Read, Seek};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::Context as _;
use rpcbench_harness::host::isolation::{GroupLimits, Isolation};
use rpcbench_harness::host::process::{ServerProcess, Spec};
use rpcbench_testkit::children_cpu;

#[derive(Debug)]
pub struct Finished {
    pub output: String,
    /// User and system time of all its threads, from start to exit.
    pub cpu: Duration,
}

/// Runs a client to its end, on the CPUs of the calling thread. No other child may end at the same time: its CPU time would
/// count for the client.
pub fn run(mut command: Command) -> anyhow::Result<Finished> {
    let program = command.get_program().to_string_lossy().into_owned();
    // A file never blocks the writer, unlike a pipe without a reader.
    let mut errors = tempfile::tempfile().context("a temporary file")?;
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(errors.try_clone()?);
    let before = children_cpu().total();
    let mut child = command.spawn().with_context(|| format!("{program} could not be started"))?;
    let mut output = String::new();
    let read = child.stdout.take().map_or(Ok(0), |mut out| out.read_to_string(&mut output));
    let status = child.wait().with_context(|| program.clone())?;
    let cpu = children_cpu().total().saturating_sub(before);
    read.with_context(|| format!("{program}: its output can't be read"))?;
    if !status.success() {
        let mut text = String::new();
        errors.rewind()?;
        errors.read_to_string(&mut text)?;
        let last = [text.as_str(), &output].into_iter().find_map(|it| it.trim().lines().last());
        anyhow::bail!("{program} ended with {status}: {}", last.unwrap_or("no output"));
    }
    Ok(Finished { output, cpu })
}

/// A server, killed when it is dropped.
#[derive(Debug)]
pub struct Target {
    pub address: SocketAddr,
    _process: ServerProcess,
}

impl Target {
    /// Starts a server that takes its address from the environment, on a free port of the loopback interface, and waits
    /// until it accepts connections, at most ten seconds.
    pub fn start(
        program: &Path,
        arguments: &[&str],
        cpu: u32,
        logs: &Path,
    ) -> anyhow::Result<Self> {
        const PAUSE: Duration = Duration::from_millis(10);
        let address = free_address().context("a free port")?;
        let arguments = arguments.iter().map(|it| (*it).to_owned());
        let spec = Spec {
            command: std::iter::once(program.to_string_lossy().into_owned())
                .chain(arguments)
                .collect(),
            env: BTreeMap::from([
                ("RPCBENCH_HOST".to_owned(), address.ip().to_string()),
                ("RPCBENCH_PORT".to_owned(), address.port().to_string()),
                ("RPCBENCH_CPUS".to_owned(), "1".to_owned()),
            ]),
            cwd: std::env::current_dir().context("the working directory")?,
            log: logs.join(format!("{}.log", address.port())),
            stop_timeout: Duration::from_secs(5),
        };
        let limits = GroupLimits { cpus: vec![cpu], memory_bytes: None };
        let group = Isolation::affinity("not needed").create("bench", limits)?;
        let mut process = ServerProcess::spawn(&spec, group)?;
        for _ in 0..1000 {
            if TcpStream::connect(address).is_ok() {
                return Ok(Self { address, _process: process });
            }
            if let Some(exit) = process.wait(PAUSE)? {
                let last = process.log_tail(1).concat();
                anyhow::bail!("{} {exit}: {last}", program.display());
            }
        }
        anyhow::bail!("{} accepts no connections on {address}", program.display())
    }
}

fn free_address() -> io::Result<SocketAddr> {
    TcpListener::bind("127.0.0.1:0")?.local_addr()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_client_is_charged_for_its_own_work() {
        let idle = run(shell("echo out; echo err >&2")).unwrap();
        assert_eq!(idle.output, "out\n");
        let busy = run(shell("i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done")).unwrap();
        assert!(busy.cpu > 5 * idle.cpu, "{:?} and {:?}", busy.cpu, idle.cpu);
    }

    #[test]
    fn a_client_that_fails_is_quoted() {
        let message = |command| format!("{:#}", run(command).unwrap_err());
        assert_eq!(
            message(shell("echo one >&2; echo two >&2; exit 3")),
            "sh ended with exit status: 3: two"
        );
        assert_eq!(message(shell("kill -9 $$")), "sh ended with signal: 9 (SIGKILL): no output");
        assert!(message(Command::new("/nowhere")).starts_with("/nowhere could not be started: "));
    }

    #[test]
    fn a_server_runs_on_its_cpu_and_one_that_ends_is_not_waited_for() {
        let logs = tempfile::tempdir().unwrap();
        let cpu = rpcbench_harness::host::cpus::Topology::read().unwrap().cpus()[0];
        let script = "grep Cpus_allowed_list /proc/self/status";
        let error =
            Target::start(Path::new("/bin/sh"), &["-c", script], cpu, logs.path()).unwrap_err();
        let expected = format!("/bin/sh exited with code 0: Cpus_allowed_list: {cpu}");
        assert_eq!(error.to_string(), expected);
    }
}
