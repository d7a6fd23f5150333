//! The contract's service as JSON on actix-web. Address and number of CPUs come from the environment.

use std::{process::ExitCode, time::Duration};

use actix_web::{
    App, HttpServer,
    error::{Error, ErrorUnprocessableEntity},
    post,
    web::{Json, JsonConfig},
};
use messages::{
    DtoRequest, FlatRecord, PropertyDto, RecordRequest, Reply, TextRequest, TreeNode, TreeRequest,
};
use service::{Failure, Settings, tls};

/// Maximum size of a request in bytes: twice the contract's longest text. The library's default is 2 MB.
const MAX_BODY: usize = 8 * 1024 * 1024;

/// How long a connection may be idle: longer than any pause between calls, since the client decides how long connections live.
const IDLE_TIMEOUT: Duration = Duration::from_secs(3600);

/// How long calls in flight may take after SIGTERM.
const DRAIN_SECONDS: u64 = 2;

#[post("/rpcbench.v1.Echo/Text")]
async fn text(Json(request): Json<TextRequest>) -> Json<Reply<String>> {
    Json(Reply { echo: request.text })
}

#[post("/rpcbench.v1.Echo/Record")]
async fn record(Json(request): Json<RecordRequest>) -> Json<Reply<FlatRecord>> {
    Json(Reply { echo: request.record })
}

#[post("/rpcbench.v1.Echo/Dto")]
async fn dto(Json(request): Json<DtoRequest>) -> Json<Reply<PropertyDto>> {
    Json(Reply { echo: request.dto })
}

#[post("/rpcbench.v1.Echo/Tree")]
async fn tree(Json(request): Json<TreeRequest>) -> Result<Json<Reply<TreeNode>>, Error> {
    if !request.tree.has_one_contact() {
        return Err(ErrorUnprocessableEntity("tree: email and phone exclude each other"));
    }
    Ok(Json(Reply { echo: request.tree }))
}

#[actix_web::main]
async fn main() -> ExitCode {
    service::report(env!("CARGO_PKG_NAME"), serve().await)
}

/// Serves on a thread per CPU, each with its own event loop, until SIGTERM, which the library handles.
async fn serve() -> Result<(), Failure> {
    let settings = Settings::from_env()?;
    let server = HttpServer::new(|| {
        App::new()
            .app_data(JsonConfig::default().limit(MAX_BODY))
            .service(text)
            .service(record)
            .service(dto)
            .service(tree)
    })
    .workers(settings.cpus)
    .tcp_nodelay(true)
    .keep_alive(IDLE_TIMEOUT)
    // Also limits the time from accepting a connection to its first request.
    .client_request_timeout(IDLE_TIMEOUT)
    .shutdown_timeout(DRAIN_SECONDS);
    let address = (settings.host.as_str(), settings.port);
    let bound = match service::certificate()? {
        None => server.bind(address),
        Some(pem) => server.bind_rustls_0_23(address, tls::config(&pem, &["http/1.1"])?),
    };
    bound.map_err(|error| settings.cannot_listen(&error))?.run().await?;
    Ok(())
}
