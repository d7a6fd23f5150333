//! Calls the contract's service as JSON with reqwest.

use std::{process::ExitCode, sync::Arc};

use driver::{Failure, Library, Life, Outcome, Target, Unary};
use messages::{
    DtoRequest, FlatRecord, PropertyDto, RecordRequest, Reply, TextRequest, TreeNode, TreeRequest,
};
use reqwest::{Response, header::CONNECTION, retry};
use serde::{Serialize, de::DeserializeOwned};
use tokio::sync::Semaphore;

/// A pool in which calls wait for a connection, since the library's has no limit.
#[derive(Clone)]
struct Client(Arc<Pool>);

struct Pool {
    http: reqwest::Client,
    url: String,
    connections: Semaphore,
    life: Life,
}

impl Library for Client {
    const NAME: &str = "reqwest";
    const POOLED: bool = true;
    type Text = Text;
    type Record = Record;
    type Dto = Dto;
    type Tree = Tree;

    async fn connect(target: &Target) -> Result<Self, Failure> {
        Self::reconnect(target)
    }

    /// The library's defaults, except that idle connections stay open and no call is repeated.
    fn reconnect(target: &Target) -> Result<Self, Failure> {
        let http = reqwest::Client::builder()
            .no_proxy()
            .pool_idle_timeout(None)
            .retry(retry::never())
            .timeout(target.timeout);
        Ok(Self(Arc::new(Pool {
            http: http.build()?,
            url: format!("http://{}/rpcbench.v1.Echo/", target.address),
            connections: Semaphore::new(target.connections),
            life: Life::new(target),
        })))
    }
}

impl Client {
    async fn post<T: DeserializeOwned>(
        &self,
        method: &str,
        request: &(impl Serialize + Sync),
    ) -> Result<Reply<T>, Outcome> {
        let Self(pool) = self;
        let _connection = pool.connections.acquire().await.map_err(|_| Outcome::Transport)?;
        let mut post = pool.http.post(format!("{}{method}", pool.url)).json(request);
        if pool.life.ends() {
            post = post.header(CONNECTION, "close");
        }
        let response = post.send().await.and_then(Response::error_for_status);
        let response = response.map_err(|error| outcome(&error))?;
        response.json().await.map_err(|error| outcome(&error))
    }
}

fn outcome(error: &reqwest::Error) -> Outcome {
    match error.status() {
        Some(status) => Outcome::Status(status.as_u16()),
        None if error.is_timeout() => Outcome::Timeout,
        None if error.is_decode() => Outcome::WrongAnswer,
        None => Outcome::Transport,
    }
}

macro_rules! method {
    ($name:ident, $request:ident . $content:ident: $type:ty, $($nonce:ident)?) => {
        struct $name;

        impl Unary<Client> for $name {
            type Request = $request;
            type Reply = Reply<$type>;

            fn decode(encoded: &[u8]) -> Result<Self::Request, Failure> {
                Ok(serde_json::from_slice(encoded)?)
            }

            fn sent(request: &mut Self::Request) -> Option<&mut String> {
                Some(&mut request.$content$(.$nonce)?)
            }

            fn echoed(reply: &Self::Reply) -> Option<&str> {
                Some(&reply.echo$(.$nonce)?)
            }

            fn equal(request: &Self::Request, reply: &Self::Reply) -> bool {
                request.$content == reply.echo
            }

            async fn call(client: &Client, request: &Self::Request) -> Result<Self::Reply, Outcome> {
                client.post(stringify!($name), request).await
            }
        }
    };
}

method!(Text, TextRequest.text: String,);
method!(Record, RecordRequest.record: FlatRecord, field1);
method!(Dto, DtoRequest.dto: PropertyDto, prop1);
method!(Tree, TreeRequest.tree: TreeNode, name);

fn main() -> ExitCode {
    driver::run::<Client>(include_str!("../Cargo.lock"))
}
