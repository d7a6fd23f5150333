//! Servers of gRPC that answer as a test says, on a library of HTTP/2.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread;

use h2::server::SendResponse;

/// What a server has received.
pub struct Request {
    pub path: String,
    pub headers: http::HeaderMap,
    /// With the five bytes before the message.
    pub body: Vec<u8>,
}

impl Request {
    /// The message, if it is not compressed.
    pub fn message(&self) -> &[u8] {
        &self.body[5..]
    }
}

/// What it answers.
#[derive(Default)]
pub struct Reply {
    pub headers: Vec<(&'static str, &'static str)>,
    pub body: Vec<u8>,
    pub status: u32,
}

impl Reply {
    /// A message, compressed or not.
    pub fn message(compressed: bool, message: &[u8]) -> Self {
        let length = u32::try_from(message.len()).expect("a length").to_be_bytes();
        let body = [&[compressed.into()][..], &length, message].concat();
        Self { body, ..Self::default() }
    }
}

type Answer = dyn Fn(&Request) -> Reply + Send + Sync;

/// A server that answers each call like this.
pub fn serve(answer: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> SocketAddr {
    serve_at("127.0.0.1:0", answer)
}

/// The same at an address.
pub fn serve_at(
    address: &str,
    answer: impl Fn(&Request) -> Reply + Send + Sync + 'static,
) -> SocketAddr {
    let listener = TcpListener::bind(address).expect("a port");
    let address = listener.local_addr().expect("an address");
    listener.set_nonblocking(true).expect("not blocking");
    let answer: Arc<Answer> = Arc::new(answer);
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(async move {
            let listener = tokio::net::TcpListener::from_std(listener).expect("a listener");
            while let Ok((socket, _)) = listener.accept().await {
                let _ = socket.set_nodelay(true);
                tokio::spawn(connection(socket, Arc::clone(&answer)));
            }
        });
    });
    address
}

async fn connection(socket: tokio::net::TcpStream, answer: Arc<Answer>) -> Result<(), h2::Error> {
    let mut connection = h2::server::handshake(socket).await?;
    while let Some(received) = connection.accept().await {
        let (request, respond) = received?;
        tokio::spawn(call(request, respond, Arc::clone(&answer)));
    }
    Ok(())
}

async fn call(
    request: http::Request<h2::RecvStream>,
    mut respond: SendResponse<bytes::Bytes>,
    answer: Arc<Answer>,
) -> Result<(), h2::Error> {
    let (head, mut incoming) = request.into_parts();
    let mut body = Vec::new();
    while let Some(piece) = incoming.data().await {
        let piece = piece?;
        incoming.flow_control().release_capacity(piece.len())?;
        body.extend_from_slice(&piece);
    }
    let path = head.uri.path().to_owned();
    let Reply { headers, body, status } = answer(&Request { path, headers: head.headers, body });
    let mut reply = http::Response::builder().header("content-type", "application/grpc");
    for (name, value) in headers {
        reply = reply.header(name, value);
    }
    let mut stream = respond.send_response(reply.body(()).expect("a reply"), false)?;
    stream.send_data(body.into(), false)?;
    let mut trailers = http::HeaderMap::new();
    trailers.insert("grpc-status", status.to_string().parse().expect("a status"));
    stream.send_trailers(trailers)
}
