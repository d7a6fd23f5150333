//! The contract's gRPC service on tonic.
//!
//! `server current-thread`, `server multi-thread` or `server runtime-per-cpu`; address and number of CPUs come from the environment.

use std::process::ExitCode;

use service::Failure;
use tokio::net::TcpListener;
use tonic::{
    Request, Response, Status,
    transport::{Identity, Server, ServerTlsConfig, server::TcpIncoming},
};

use pb::echo_server::{Echo, EchoServer};

mod pb {
    tonic::include_proto!("rpcbench.v1");
}

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
    service::run("rust-tonic", serve)
}

/// The library's defaults: messages up to 4 MiB, no limit on streams per connection, windows of 1 MiB.
async fn serve(listener: TcpListener) -> Result<(), Failure> {
    let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
    let mut server = Server::builder();
    if let Some([certificate, key]) = service::certificate()? {
        let identity = Identity::from_pem(certificate, key);
        server = server.tls_config(ServerTlsConfig::new().identity(identity))?;
    }
    server
        .add_service(EchoServer::new(EchoService))
        .serve_with_incoming_shutdown(incoming, service::terminated()?)
        .await?;
    Ok(())
}
