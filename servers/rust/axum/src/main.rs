//! The contract's service as JSON on axum, over HTTP/1.1 or, in the package axum-http2, over HTTP/2.
//!
//! `server current-thread`, `server multi-thread` or `server runtime-per-cpu`; address and number of CPUs come from the environment.

use std::process::ExitCode;

use axum::{
    Json, Router, extract::DefaultBodyLimit, http::StatusCode, routing::post, serve::ListenerExt,
};
use messages::{
    DtoRequest, FlatRecord, PropertyDto, RecordRequest, Reply, TextRequest, TreeNode, TreeRequest,
};
use service::Failure;
use tls::TlsListener;
use tokio::net::TcpListener;

mod tls;

/// The version of HTTP that this package enables in axum.
const ALPN: &str = if cfg!(feature = "http2") { "h2" } else { "http/1.1" };

/// Maximum size of a request in bytes: twice the contract's longest text. axum's default is 2 MB.
const MAX_BODY: usize = 8 * 1024 * 1024;

async fn text(Json(request): Json<TextRequest>) -> Json<Reply<String>> {
    Json(Reply { echo: request.text })
}

async fn record(Json(request): Json<RecordRequest>) -> Json<Reply<FlatRecord>> {
    Json(Reply { echo: request.record })
}

async fn dto(Json(request): Json<DtoRequest>) -> Json<Reply<PropertyDto>> {
    Json(Reply { echo: request.dto })
}

async fn tree(
    Json(request): Json<TreeRequest>,
) -> Result<Json<Reply<TreeNode>>, (StatusCode, &'static str)> {
    if !request.tree.has_one_contact() {
        return Err((StatusCode::UNPROCESSABLE_ENTITY, "tree: email and phone exclude each other"));
    }
    Ok(Json(Reply { echo: request.tree }))
}

fn main() -> ExitCode {
    service::run(env!("CARGO_PKG_NAME"), serve)
}

async fn serve(listener: TcpListener) -> Result<(), Failure> {
    let app = Router::new()
        .route("/rpcbench.v1.Echo/Text", post(text))
        .route("/rpcbench.v1.Echo/Record", post(record))
        .route("/rpcbench.v1.Echo/Dto", post(dto))
        .route("/rpcbench.v1.Echo/Tree", post(tree))
        .layer(DefaultBodyLimit::max(MAX_BODY));
    if let Some(pem) = service::certificate()? {
        let listener = TlsListener::new(listener, &pem, &[ALPN])?;
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
