//! What the contract's servers in Rust share: settings, runtime, listening, ending. It knows no library but tokio.

use std::{env, error::Error, io, process::ExitCode, str::FromStr, time::Duration};

use tokio::{
    net::TcpListener,
    runtime::{Builder, Runtime},
    signal::unix::{SignalKind, signal},
    time::sleep,
};

/// How long open connections may take to finish their calls after SIGTERM.
const DRAIN: Duration = Duration::from_secs(2);

/// What goes wrong, in one line.
pub type Failure = Box<dyn Error + Send + Sync>;

/// Listens where the environment says, within the limits that it names, on the runtime that the first argument names
/// (`current-thread` or `multi-thread`). What goes wrong is printed in one line that begins with the name.
pub fn run<S: Future<Output = Result<(), Failure>>>(
    name: &str,
    serve: impl FnOnce(TcpListener) -> S,
) -> ExitCode {
    match try_run(serve) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{name}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn try_run<S: Future<Output = Result<(), Failure>>>(
    serve: impl FnOnce(TcpListener) -> S,
) -> Result<(), Failure> {
    let host: String = setting("RPCBENCH_HOST")?;
    let port: u16 = setting("RPCBENCH_PORT")?;
    let cpus: usize = setting("RPCBENCH_CPUS")?;
    if cpus == 0 {
        return Err("RPCBENCH_CPUS: must be 1 or more".into());
    }
    runtime(env::args().nth(1).as_deref(), cpus)?.block_on(async {
        let listener = TcpListener::bind((host.as_str(), port)).await.map_err(|error| {
            io::Error::new(error.kind(), format!("cannot listen on {host}:{port}: {error}"))
        })?;
        let mut overdue = signal(SignalKind::terminate())?;
        tokio::select! {
            ended = serve(listener) => ended,
            () = async { overdue.recv().await; sleep(DRAIN).await } => Ok(()),
        }
    })
}

fn setting<T: FromStr<Err: Error>>(name: &str) -> Result<T, String> {
    let text = env::var(name).map_err(|error| format!("{name}: {error}"))?;
    text.parse().map_err(|error| format!("{name}: {text:?}: {error}"))
}

fn runtime(kind: Option<&str>, cpus: usize) -> Result<Runtime, Failure> {
    let mut builder = match kind {
        Some("current-thread") => Builder::new_current_thread(),
        Some("multi-thread") => Builder::new_multi_thread(),
        other => {
            return Err(format!("runtime {other:?}: must be current-thread or multi-thread").into());
        }
    };
    Ok(builder.worker_threads(cpus).enable_all().build()?)
}

/// Resolves when the server is to take no further calls, which is at SIGTERM.
///
/// # Errors
/// When signals can't be handled.
pub fn terminated() -> io::Result<impl Future<Output = ()> + Send + 'static> {
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        terminate.recv().await;
    })
}
