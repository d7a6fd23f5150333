//! Shared by the contract's servers in Rust; client programs use its settings, runtimes and shutdown. The feature `tls` adds TLS by
//! rustls. Otherwise depends on tokio only.

use std::{
    env, error::Error, fs, io, net, process::ExitCode, str::FromStr, thread, time::Duration,
};

use tokio::{
    net::TcpListener,
    runtime::{Builder, Runtime},
    signal::unix::{SignalKind, signal},
    time::sleep,
};

#[cfg(feature = "tls")]
pub mod tls;

/// How long calls in flight may take after SIGTERM.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(2);

/// An error in one line.
pub type Failure = Box<dyn Error + Send + Sync>;

/// Listens at the address in the environment, within its limits, on the runtime named by the first argument
/// (`current-thread`, `multi-thread` or `runtime-per-cpu`). An error is printed in one line that begins with the name.
pub fn run<S: Future<Output = Result<(), Failure>>>(
    name: &str,
    serve: impl Fn(TcpListener) -> S + Copy + Send,
) -> ExitCode {
    report(name, Settings::from_env().and_then(|settings| try_run(&settings, serve)))
}

/// Returns the exit code of a server. An error is printed in one line that begins with the name.
pub fn report(name: &str, result: Result<(), Failure>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{name}: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The address to listen on and the number of CPUs, at least 1.
pub struct Settings {
    pub host: String,
    pub port: u16,
    pub cpus: usize,
}

impl Settings {
    /// # Errors
    /// If a setting is missing or wrong.
    pub fn from_env() -> Result<Self, Failure> {
        let settings = Self {
            host: setting("RPCBENCH_HOST")?,
            port: setting("RPCBENCH_PORT")?,
            cpus: setting("RPCBENCH_CPUS")?,
        };
        if settings.cpus == 0 {
            return Err("RPCBENCH_CPUS: must be 1 or more".into());
        }
        Ok(settings)
    }

    /// The error of a server that could not listen, with the address.
    pub fn cannot_listen(&self, error: &io::Error) -> io::Error {
        let Self { host, port, .. } = self;
        io::Error::new(error.kind(), format!("cannot listen on {host}:{port}: {error}"))
    }
}

/// Certificate and key of a server with TLS, both in PEM. `None` without TLS.
///
/// # Errors
/// If a file can't be read.
pub fn certificate() -> Result<Option<[Vec<u8>; 2]>, Failure> {
    let read = |name: &str| -> Result<Vec<u8>, Failure> {
        let path: String = setting(name)?;
        Ok(fs::read(&path).map_err(|error| format!("{name}: {path}: {error}"))?)
    };
    match env::var_os("RPCBENCH_TLS_CERT") {
        None => Ok(None),
        Some(_) => Ok(Some([read("RPCBENCH_TLS_CERT")?, read("RPCBENCH_TLS_KEY")?])),
    }
}

fn try_run<S: Future<Output = Result<(), Failure>>>(
    settings: &Settings,
    serve: impl Fn(TcpListener) -> S + Copy + Send,
) -> Result<(), Failure> {
    let runtimes = runtimes(env::args().nth(1).as_deref(), settings.cpus)?;
    let listen = TcpListener::bind((settings.host.as_str(), settings.port));
    let listener = runtimes[0]
        .block_on(listen)
        .and_then(TcpListener::into_std)
        .map_err(|error| settings.cannot_listen(&error))?;
    let (first, others) = (&runtimes[0], &runtimes[1..]);
    thread::scope(|scope| {
        let listener = &listener;
        let answer = move |runtime| serve_on(runtime, listener.try_clone()?, serve);
        let threads: Vec<_> =
            others.iter().map(|runtime| scope.spawn(move || answer(runtime))).collect();
        answer(first)?;
        threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| "a thread panicked")?)
    })
}

/// Serves on one runtime until SIGTERM.
fn serve_on<S: Future<Output = Result<(), Failure>>>(
    runtime: &Runtime,
    listener: net::TcpListener,
    serve: impl FnOnce(TcpListener) -> S,
) -> Result<(), Failure> {
    runtime.block_on(async {
        let mut terminate = signal(SignalKind::terminate())?;
        tokio::select! {
            result = serve(TcpListener::from_std(listener)?) => result,
            () = async { terminate.recv().await; sleep(DRAIN_TIMEOUT).await } => Ok(()),
        }
    })
}

/// Reads a variable of the environment.
///
/// # Errors
/// If it is missing or wrong.
pub fn setting<T: FromStr<Err: Error>>(name: &str) -> Result<T, String> {
    let text = env::var(name).map_err(|error| format!("{name}: {error}"))?;
    text.parse().map_err(|error| format!("{name}: {text:?}: {error}"))
}

/// Builds the runtimes that a program's first argument names, for this many CPUs.
///
/// # Errors
/// If the name is unknown, or the system refuses.
pub fn runtimes(kind: Option<&str>, cpus: usize) -> Result<Vec<Runtime>, Failure> {
    let (mut builder, count) = match kind {
        Some("current-thread") => (Builder::new_current_thread(), 1),
        Some("multi-thread") => (Builder::new_multi_thread(), 1),
        Some("runtime-per-cpu") => (Builder::new_current_thread(), cpus),
        other => {
            let known = "current-thread, multi-thread or runtime-per-cpu";
            let kind = other.unwrap_or_default();
            return Err(format!("unknown runtime '{kind}'; expected {known}").into());
        }
    };
    builder.worker_threads(cpus).enable_all();
    Ok((0..count).map(|_| builder.build()).collect::<io::Result<_>>()?)
}

/// Resolves at SIGTERM, when the server must stop accepting calls.
///
/// # Errors
/// If signals can't be handled.
pub fn terminated() -> io::Result<impl Future<Output = ()> + Send + 'static> {
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        terminate.recv().await;
    })
}
