//! The contract's service on Connect and axum, whose port speaks Connect and JSON over HTTP/1.1 and HTTP/2.
//!
//! `server current-thread`, `server multi-thread` or `server runtime-per-cpu`; address and number of CPUs come from the environment.

use std::{process::ExitCode, sync::Arc};

use axum::serve::ListenerExt;
use connectrpc::{RequestContext, Response, Router, ServiceRequest, ServiceResult};
use service::Failure;
use tls::TlsListener;
use tokio::net::TcpListener;

use pb::{
    DtoReply, DtoRequest, Echo, RecordReply, RecordRequest, TextReply, TextRequest, TreeReply,
    TreeRequest,
};

#[path = "../../axum/src/tls.rs"]
mod tls;

mod generated {
    connectrpc::include_generated!();
}

use generated::rpcbench::v1 as pb;

struct EchoService;

/// Replies can't borrow from requests, so each takes the content of an owned copy, as in the library's guide.
#[expect(
    refining_impl_trait,
    reason = "the trait allows several types of reply; the guide names one"
)]
impl Echo for EchoService {
    async fn text(
        &self,
        _: RequestContext,
        request: ServiceRequest<'_, TextRequest>,
    ) -> ServiceResult<TextReply> {
        let echo = request.to_owned_message().text;
        Response::ok(TextReply { echo, ..TextReply::default() })
    }

    async fn record(
        &self,
        _: RequestContext,
        request: ServiceRequest<'_, RecordRequest>,
    ) -> ServiceResult<RecordReply> {
        let echo = request.to_owned_message().record;
        Response::ok(RecordReply { echo, ..RecordReply::default() })
    }

    async fn dto(
        &self,
        _: RequestContext,
        request: ServiceRequest<'_, DtoRequest>,
    ) -> ServiceResult<DtoReply> {
        let echo = request.to_owned_message().dto;
        Response::ok(DtoReply { echo, ..DtoReply::default() })
    }

    async fn tree(
        &self,
        _: RequestContext,
        request: ServiceRequest<'_, TreeRequest>,
    ) -> ServiceResult<TreeReply> {
        let echo = request.to_owned_message().tree;
        Response::ok(TreeReply { echo, ..TreeReply::default() })
    }
}

fn main() -> ExitCode {
    service::run("rust-connect", serve)
}

/// The library's defaults: messages up to 4 MiB.
async fn serve(listener: TcpListener) -> Result<(), Failure> {
    let app = Router::new().add_service(Arc::new(EchoService)).into_axum_router();
    if let Some(pem) = service::certificate()? {
        let listener = TlsListener::new(listener, &pem, &["h2", "http/1.1"])?;
        return Ok(axum::serve(listener, app)
            .with_graceful_shutdown(service::terminated()?)
            .await?);
    }
    // If TCP_NODELAY can't be set, the connection is gone, as its first read will report.
    let listener = listener.tap_io(|connection| {
        let _ = connection.set_nodelay(true);
    });
    axum::serve(listener, app).with_graceful_shutdown(service::terminated()?).await?;
    Ok(())
}
