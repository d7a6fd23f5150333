//! Calls the contract's service with tonic.

mod codec;

use std::{error::Error, iter, process::ExitCode, time::Duration};

use driver::{Failure, Library, Outcome, Target, Unary};
use prost::Message;
use tokio::time;
use tonic::{
    Code, Request, Response, Status, TimeoutExpired,
    transport::{Channel, Endpoint},
};

use pb::echo_client::EchoClient;

mod pb {
    tonic::include_proto!("rpcbench.v1");
}

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// A channel has one connection.
#[derive(Clone)]
struct Client {
    echo: EchoClient<Channel>,
    timeout: Duration,
}

impl Client {
    fn new(channel: Channel, target: &Target) -> Self {
        Self { echo: EchoClient::new(channel), timeout: target.timeout }
    }
}

/// The library's defaults.
fn endpoint(target: &Target) -> Result<Endpoint, Failure> {
    let url = format!("http://{}", target.address);
    Ok(Endpoint::from_shared(url)?.connect_timeout(CONNECT_TIMEOUT))
}

impl Library for Client {
    const NAME: &str = "tonic";
    const POOLED: bool = false;
    type Text = Text;
    type Record = Record;
    type Dto = Dto;
    type Tree = Tree;

    async fn connect(target: &Target) -> Result<Self, Failure> {
        Ok(Self::new(endpoint(target)?.connect().await?, target))
    }

    fn reconnect(target: &Target) -> Result<Self, Failure> {
        Ok(Self::new(endpoint(target)?.connect_lazy(), target))
    }
}

/// Separates the server's statuses from the library's, which have a source. Unavailable may be either.
fn outcome(status: &Status) -> Outcome {
    let first = status.source();
    let mut causes = iter::successors(first, |&cause: &&(dyn Error + 'static)| cause.source());
    if status.code() == Code::DeadlineExceeded || causes.any(|cause| cause.is::<TimeoutExpired>()) {
        Outcome::Timeout
    } else if first.is_some_and(|cause| cause.is::<codec::Undecodable>()) {
        Outcome::WrongAnswer
    } else if first.is_some() || status.code() == Code::Unavailable {
        Outcome::Transport
    } else {
        Outcome::Status(status.code() as u16)
    }
}

/// Content of a message, with the nonce in one field.
trait Content: PartialEq {
    fn nonce(&self) -> Option<&String>;
    fn nonce_mut(&mut self) -> Option<&mut String>;
}

impl Content for String {
    fn nonce(&self) -> Option<&String> {
        Some(self)
    }

    fn nonce_mut(&mut self) -> Option<&mut String> {
        Some(self)
    }
}

macro_rules! content {
    ($message:ident . $field:ident) => {
        impl Content for Option<pb::$message> {
            fn nonce(&self) -> Option<&String> {
                self.as_ref().map(|message| &message.$field)
            }

            fn nonce_mut(&mut self) -> Option<&mut String> {
                self.as_mut().map(|message| &mut message.$field)
            }
        }
    };
}

content!(FlatRecord.field1);
content!(PropertyDto.prop1);
content!(TreeNode.name);

macro_rules! method {
    ($name:ident, $call:ident, $request:ident . $content:ident -> $reply:ident) => {
        struct $name;

        impl Unary<Client> for $name {
            type Request = pb::$request;
            type Reply = pb::$reply;

            fn decode(encoded: &[u8]) -> Result<Self::Request, Failure> {
                Ok(pb::$request::decode(encoded)?)
            }

            fn sent(request: &mut Self::Request) -> Option<&mut String> {
                request.$content.nonce_mut()
            }

            fn echoed(reply: &Self::Reply) -> Option<&str> {
                reply.echo.nonce().map(String::as_str)
            }

            fn equal(request: &Self::Request, reply: &Self::Reply) -> bool {
                request.$content == reply.echo
            }

            async fn call(
                client: &Client,
                message: &Self::Request,
            ) -> Result<Self::Reply, Outcome> {
                let mut request = Request::new(message.clone());
                request.set_timeout(client.timeout);
                // The library's timeout covers a reply only up to its head.
                let mut echo = client.echo.clone();
                let answer = time::timeout(client.timeout, echo.$call(request)).await;
                let answer = answer.map_err(|_| Outcome::Timeout)?;
                answer.map(Response::into_inner).map_err(|status| outcome(&status))
            }
        }
    };
}

method!(Text, text, TextRequest.text -> TextReply);
method!(Record, record, RecordRequest.record -> RecordReply);
method!(Dto, dto, DtoRequest.dto -> DtoReply);
method!(Tree, tree, TreeRequest.tree -> TreeReply);

fn main() -> ExitCode {
    driver::run::<Client>(include_str!("../Cargo.lock"))
}
