//! The contract's gRPC service on volo-grpc.
//!
//! `server current-thread`, `server multi-thread` or `server runtime-per-cpu`; address and number of CPUs come from the environment.

mod utf8;

use std::process::ExitCode;

use service::{Failure, tls};
use tokio::net::TcpListener;
use volo::net::{
    DefaultIncoming,
    tls::{ServerTlsConfig, TlsAcceptor},
};
use volo_grpc::{
    Request, Response, Status,
    server::{Server, ServiceBuilder},
};

use utf8::Utf8;
use volo_gen::rpcbench::v1::{
    DtoReply, DtoRequest, Echo, EchoServer, RecordReply, RecordRequest, TextReply, TextRequest,
    TreeReply, TreeRequest,
};

include!(concat!(env!("OUT_DIR"), "/volo_gen.rs"));

struct EchoService;

impl Echo for EchoService {
    async fn text(&self, request: Request<TextRequest>) -> Result<Response<TextReply>, Status> {
        answer(request.into_inner().text, |echo| TextReply { echo })
    }

    async fn record(
        &self,
        request: Request<RecordRequest>,
    ) -> Result<Response<RecordReply>, Status> {
        answer(request.into_inner().record, |echo| RecordReply { echo })
    }

    async fn dto(&self, request: Request<DtoRequest>) -> Result<Response<DtoReply>, Status> {
        answer(request.into_inner().dto, |echo| DtoReply { echo })
    }

    async fn tree(&self, request: Request<TreeRequest>) -> Result<Response<TreeReply>, Status> {
        answer(request.into_inner().tree, |echo| TreeReply { echo })
    }
}

#[expect(clippy::result_large_err, reason = "the library's trait requires a Status")]
fn answer<T: Utf8, R>(content: T, reply: impl FnOnce(T) -> R) -> Result<Response<R>, Status> {
    if !content.is_utf8() {
        return Err(Status::invalid_argument("a string is not UTF-8"));
    }
    Ok(Response::new(reply(content)))
}

fn main() -> ExitCode {
    service::run("rust-volo-grpc", serve)
}

/// The library's defaults: no limit on messages or on streams per connection, windows of 1 MiB, TCP_NODELAY. Its own
/// listener would share the port with a second server unnoticed.
async fn serve(listener: TcpListener) -> Result<(), Failure> {
    let echo = ServiceBuilder::new(EchoServer::new(EchoService)).build();
    let terminated = service::terminated()?;
    let stopped = async {
        terminated.await;
        Ok(())
    };
    let mut server = Server::new();
    if let Some(pem) = service::certificate()? {
        // The library's own configuration of rustls has no ALPN.
        let acceptor = TlsAcceptor::from(tls::config(&pem, &["h2"])?);
        server = server.tls_config(ServerTlsConfig { acceptor });
    }
    server.add_service(echo).run_with_shutdown(DefaultIncoming::from(listener), stopped).await
}
