//! The contract's service on volo-thrift: framed transport, binary protocol.
//!
//! `server current-thread`, `server multi-thread` or `server runtime-per-cpu`; address and number of CPUs come from the environment.

mod tls;

use std::process::ExitCode;

use service::Failure;
use tls::TlsIncoming;
use tokio::net::TcpListener;
use volo::net::DefaultIncoming;
use volo_thrift::ServerError;

use volo_gen::rpcbench::v1::{
    DtoReply, DtoRequest, Echo, EchoServer, RecordReply, RecordRequest, TextReply, TextRequest,
    TreeReply, TreeRequest,
};

include!(concat!(env!("OUT_DIR"), "/volo_gen.rs"));

struct EchoService;

impl Echo for EchoService {
    async fn text(&self, request: TextRequest) -> Result<TextReply, ServerError> {
        Ok(TextReply { echo: request.text })
    }

    async fn record(&self, request: RecordRequest) -> Result<RecordReply, ServerError> {
        Ok(RecordReply { echo: request.record })
    }

    async fn dto(&self, request: DtoRequest) -> Result<DtoReply, ServerError> {
        Ok(DtoReply { echo: request.dto })
    }

    async fn tree(&self, request: TreeRequest) -> Result<TreeReply, ServerError> {
        Ok(TreeReply { echo: request.tree })
    }
}

fn main() -> ExitCode {
    service::run("rust-volo-thrift", serve)
}

/// The library's defaults: frames up to 16 MiB and its own headers, detected by their first bytes; TCP_NODELAY. It handles
/// SIGTERM. Its own listener would share the port with a second server unnoticed.
async fn serve(listener: TcpListener) -> Result<(), Failure> {
    let echo = EchoServer::new(EchoService);
    match service::certificate()? {
        None => echo.run(DefaultIncoming::from(listener)).await,
        Some(pem) => echo.run(TlsIncoming::new(listener, &pem)?).await,
    }
}
