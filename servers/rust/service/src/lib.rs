//! Shared by the contract's servers in Rust: settings, runtime, listening, shutdown. Depends on tokio only.

use std::{env, error::Error, io, net, process::ExitCode, str::FromStr, thread, time::Duration};

use tokio::{
    net::TcpListener,
    runtime::{Builder, Runtime},
    signal::unix::{SignalKind, signal},
    time::sleep,
};

/// How long open connections may take to finish their calls after SIGTERM.
const DRAIN: Duration = Duration::from_secs(2);

/// An error in one line.
pub type Failure = Box<dyn Error + Send + Sync>;

/// Listens at the address in the environment, within its limits, on the runtime named by the first argument
/// (`current-thread`, `multi-thread` or `runtime-per-cpu`). An error is printed in one line that begins with the name.
pub fn run<S: Future<Output = Result<(), Failure>>>(
    name: &str,
    serve: impl Fn(TcpListener) -> S + Copy + Send,
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
    serve: impl Fn(TcpListener) -> S + Copy + Send,
) -> Result<(), Failure> {
    let host: String = setting("RPCBENCH_HOST")?;
    let port: u16 = setting("RPCBENCH_PORT")?;
    let cpus: usize = setting("RPCBENCH_CPUS")?;
    if cpus == 0 {
        return Err("RPCBENCH_CPUS: must be 1 or more".into());
    }
    let runtimes = runtimes(env::args().nth(1).as_deref(), cpus)?;
    let listen = TcpListener::bind((host.as_str(), port));
    let listener =
        runtimes[0].block_on(listen).and_then(TcpListener::into_std).map_err(|error| {
            io::Error::new(error.kind(), format!("cannot listen on {host}:{port}: {error}"))
        })?;
    let (own, others) = (&runtimes[0], &runtimes[1..]);
    thread::scope(|scope| {
        let listener = &listener;
        let answer = move |runtime| answer(runtime, listener.try_clone()?, serve);
        let threads: Vec<_> =
            others.iter().map(|runtime| scope.spawn(move || answer(runtime))).collect();
        answer(own)?;
        threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| "a thread panicked")?)
    })
}

/// Serves on one runtime until SIGTERM.
fn answer<S: Future<Output = Result<(), Failure>>>(
    runtime: &Runtime,
    listener: net::TcpListener,
    serve: impl FnOnce(TcpListener) -> S,
) -> Result<(), Failure> {
    runtime.block_on(async {
        let mut overdue = signal(SignalKind::terminate())?;
        tokio::select! {
            ended = serve(TcpListener::from_std(listener)?) => ended,
            () = async { overdue.recv().await; sleep(DRAIN).await } => Ok(()),
        }
    })
}

fn setting<T: FromStr<Err: Error>>(name: &str) -> Result<T, String> {
    let text = env::var(name).map_err(|error| format!("{name}: {error}"))?;
    text.parse().map_err(|error| format!("{name}: {text:?}: {error}"))
}

fn runtimes(kind: Option<&str>, cpus: usize) -> Result<Vec<Runtime>, Failure> {
    let (mut builder, count) = match kind {
        Some("current-thread") => (Builder::new_current_thread(), 1),
        Some("multi-thread") => (Builder::new_multi_thread(), 1),
        Some("runtime-per-cpu") => (Builder::new_current_thread(), cpus),
        other => {
            let known = "current-thread, multi-thread or runtime-per-cpu";
            return Err(format!("runtime {other:?}: must be {known}").into());
        }
    };
    builder.worker_threads(cpus).enable_all();
    Ok((0..count).map(|_| builder.build()).collect::<io::Result<_>>()?)
}

/// Resolves at SIGTERM, when the server must accept no further calls.
///
/// # Errors
/// If signals can't be handled.
pub fn terminated() -> io::Result<impl Future<Output = ()> + Send + 'static> {
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        terminate.recv().await;
    })
}
