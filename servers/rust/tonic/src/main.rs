//! The contract's gRPC service on tonic.
//!
//! `server current-thread` or `server multi-thread`; address and number of CPUs come from the environment.

use std::{env, error::Error, io, process::ExitCode, str::FromStr, time::Duration};

use tokio::{
    net::TcpListener,
    runtime::{Builder, Runtime},
    signal::unix::{SignalKind, signal},
    time::sleep,
};
use tonic::{
    Request, Response, Status,
    transport::{Server, server::TcpIncoming},
};

use pb::echo_server::{Echo, EchoServer};

mod pb {
    tonic::include_proto!("rpcbench.v1");
}

/// How long open connections may take to finish their calls after SIGTERM.
const DRAIN: Duration = Duration::from_secs(2);

struct EchoService;

#[tonic::async_trait]
impl Echo for EchoService {
    async fn text(
        &self,
        request: Request<pb::TextRequest>,
    ) -> Result<Response<pb::TextReply>, Status> {
        Ok(Response::new(pb::TextReply { echo: request.into_inner().text }))
    }

    async fn record(
        &self,
        request: Request<pb::RecordRequest>,
    ) -> Result<Response<pb::RecordReply>, Status> {
        Ok(Response::new(pb::RecordReply { echo: request.into_inner().record }))
    }

    async fn dto(
        &self,
        request: Request<pb::DtoRequest>,
    ) -> Result<Response<pb::DtoReply>, Status> {
        Ok(Response::new(pb::DtoReply { echo: request.into_inner().dto }))
    }

    async fn tree(
        &self,
        request: Request<pb::TreeRequest>,
    ) -> Result<Response<pb::TreeReply>, Status> {
        Ok(Response::new(pb::TreeReply { echo: request.into_inner().tree }))
    }
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("rust-tonic: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let host: String = setting("RPCBENCH_HOST")?;
    let port: u16 = setting("RPCBENCH_PORT")?;
    let cpus: usize = setting("RPCBENCH_CPUS")?;
    if cpus == 0 {
        return Err("RPCBENCH_CPUS: must be 1 or more".into());
    }
    runtime(env::args().nth(1).as_deref(), cpus)?.block_on(serve(&host, port))
}

fn setting<T: FromStr<Err: Error>>(name: &str) -> Result<T, String> {
    let text = env::var(name).map_err(|error| format!("{name}: {error}"))?;
    text.parse().map_err(|error| format!("{name}: {text:?}: {error}"))
}

fn runtime(kind: Option<&str>, cpus: usize) -> Result<Runtime, Box<dyn Error>> {
    let mut builder = match kind {
        Some("current-thread") => Builder::new_current_thread(),
        Some("multi-thread") => Builder::new_multi_thread(),
        other => {
            return Err(format!("runtime {other:?}: must be current-thread or multi-thread").into());
        }
    };
    Ok(builder.worker_threads(cpus).enable_all().build()?)
}

/// Serves until SIGTERM, then lets calls in flight finish for [`DRAIN`] at most.
///
/// The library's defaults stand: messages up to 4 MiB, no limit on streams per connection, windows of 1 MiB.
async fn serve(host: &str, port: u16) -> Result<(), Box<dyn Error>> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut overdue = signal(SignalKind::terminate())?;
    let listener = TcpListener::bind((host, port)).await.map_err(|error| {
        io::Error::new(error.kind(), format!("cannot listen on {host}:{port}: {error}"))
    })?;
    let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
    let server = Server::builder()
        .add_service(EchoServer::new(EchoService))
        .serve_with_incoming_shutdown(incoming, async move {
            terminate.recv().await;
        });
    tokio::select! {
        ended = server => Ok(ended?),
        () = async { overdue.recv().await; sleep(DRAIN).await } => Ok(()),
    }
}
