//! A gRPC client over a real socket, one call after the other.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use h2::client::SendRequest;
use http::Request;
use tokio::net::TcpStream;
use tokio::runtime::Runtime;

pub struct Client {
    runtime: Runtime,
    sender: SendRequest<Bytes>,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Reply {
    pub http_status: u16,
    pub grpc_status: Option<u32>,
    pub body: Bytes,
}

impl Reply {
    /// The one message of the body.
    pub fn message(&self) -> &[u8] {
        assert_eq!(self.body[0], 0, "not compressed");
        let length = u32::from_be_bytes(self.body[1..5].try_into().unwrap());
        assert_eq!(self.body.len(), 5 + length as usize);
        &self.body[5..]
    }
}

impl Client {
    pub fn connect(address: SocketAddr) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let sender = runtime.block_on(async {
            let stream = TcpStream::connect(address).await.unwrap();
            let (sender, connection) = h2::client::handshake(stream).await.unwrap();
            tokio::spawn(connection);
            sender
        });
        Self { runtime, sender }
    }

    pub fn call(&self, method: &str, message: &[u8]) -> Result<Reply, h2::Error> {
        self.send(method, &framed(message))
    }

    pub fn text(&self, text: &str) -> Result<Reply, h2::Error> {
        self.call("Text", &field(0x0a, text.as_bytes()))
    }

    /// Sends a body as it is.
    pub fn send(&self, method: &str, body: &[u8]) -> Result<Reply, h2::Error> {
        self.runtime.block_on(exchange(self.sender.clone(), method, Bytes::copy_from_slice(body)))
    }

    /// All these texts in flight at once; replies in the order of the texts.
    pub fn texts(&self, texts: &[String]) -> Vec<Result<Reply, h2::Error>> {
        self.runtime.block_on(async {
            let calls: Vec<_> = texts
                .iter()
                .map(|text| {
                    let body = Bytes::from(framed(&field(0x0a, text.as_bytes())));
                    let sender = self.sender.clone();
                    tokio::spawn(async move { exchange(sender, "Text", body).await })
                })
                .collect();
            let mut replies = Vec::new();
            for call in calls {
                replies.push(call.await.unwrap());
            }
            replies
        })
    }

    /// The outcome of a call. `None` after `timeout`.
    pub fn text_within(&self, text: &str, timeout: Duration) -> Option<Result<Reply, h2::Error>> {
        let body = Bytes::from(framed(&field(0x0a, text.as_bytes())));
        let call = exchange(self.sender.clone(), "Text", body);
        self.runtime.block_on(async { tokio::time::timeout(timeout, call).await.ok() })
    }
}

async fn exchange(
    sender: SendRequest<Bytes>,
    method: &str,
    body: Bytes,
) -> Result<Reply, h2::Error> {
    let request = Request::post(format!("http://testkit/rpcbench.v1.Echo/{method}"))
        .header("content-type", "application/grpc")
        .header("te", "trailers")
        .body(())
        .unwrap();
    let (response, mut stream) = sender.ready().await?.send_request(request, false)?;
    stream.send_data(body, true)?;
    let (head, mut incoming) = response.await?.into_parts();
    let mut body = BytesMut::new();
    while let Some(chunk) = incoming.data().await {
        let chunk = chunk?;
        incoming.flow_control().release_capacity(chunk.len())?;
        body.extend_from_slice(&chunk);
    }
    let trailers = incoming.trailers().await?.unwrap_or_default();
    let grpc_status = trailers.get("grpc-status").or(head.headers.get("grpc-status"));
    Ok(Reply {
        http_status: head.status.as_u16(),
        grpc_status: grpc_status.map(|status| status.to_str().unwrap().parse().unwrap()),
        body: body.freeze(),
    })
}

/// A message with its gRPC prefix.
pub fn framed(message: &[u8]) -> Vec<u8> {
    let mut framed = vec![0];
    framed.extend(u32::try_from(message.len()).unwrap().to_be_bytes());
    framed.extend(message);
    framed
}

/// A protobuf field of the length-delimited kind.
pub fn field(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut field = vec![tag];
    let mut length = content.len();
    while length >= 0x80 {
        field.push((length & 0x7f) as u8 | 0x80);
        length >>= 7;
    }
    field.push(length as u8);
    field.extend(content);
    field
}
