//! Accepts connections and answers calls, with the faults of the plan.

use std::cell::{Cell, RefCell, RefMut};
use std::future::poll_fn;
use std::io;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use h2::server::{Connection, SendResponse};
use h2::{Reason, RecvStream};
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode};
use rpcbench_record::Protocol;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::spawn_local;

use crate::answer::Answerer;
use crate::clock;
use crate::cost::Spender;
use crate::dialect::{self, Json, Protobuf, Reply, TcpEcho};
use crate::echo::{self, Status};
use crate::fault::{self, SharedStream};
use crate::plan::{Fault, FaultAfter, Opening, Plan};
use crate::thrift::Form;

const WINDOW: u32 = 16 << 20;

type Http2 = Connection<SharedStream, Bytes>;

#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) calls: AtomicU64,
    pub(crate) connections: AtomicU64,
    pub(crate) open: AtomicU64,
    /// Calls answered from memory.
    pub(crate) recalled: AtomicU64,
}

/// The state shared by the connections of a server.
pub(crate) struct ServerState {
    answerer: RefCell<Answerer>,
    spender: Spender,
    fault: Option<FaultAfter>,
    opening: Opening,
    token: bool,
    idle_limit: Option<Duration>,
    /// When the last call arrived, if idle time is limited.
    last_call: Cell<Option<Duration>>,
    protocol: Protocol,
    counters: Arc<Counters>,
    triggered: watch::Sender<Option<Fault>>,
}

impl ServerState {
    /// The number of a call whose request is complete. `None` if the server breaks instead of answering.
    pub(crate) fn admit(&self) -> Option<u64> {
        if let Some(FaultAfter { calls, fault }) = self.fault
            && self.counters.calls.load(Ordering::Relaxed) >= calls
        {
            self.triggered.send_replace(Some(fault));
            return None;
        }
        if let Some(limit) = self.idle_limit {
            let now = clock::monotonic();
            if self.last_call.replace(Some(now)).is_some_and(|last| now - last > limit) {
                self.triggered.send_replace(Some(Fault::Reset));
                return None;
            }
        }
        Some(self.counters.calls.fetch_add(1, Ordering::Relaxed) + 1)
    }

    pub(crate) async fn spend(&self, number: u64) {
        self.spender.spend(number).await;
    }

    pub(crate) fn answerer(&self) -> RefMut<'_, Answerer> {
        self.answerer.borrow_mut()
    }

    pub(crate) fn fault_signal(&self) -> watch::Receiver<Option<Fault>> {
        self.triggered.subscribe()
    }
}

/// Serves until the fault `Exit` is triggered. Other faults leave the server running. Must run inside a `LocalSet`.
pub(crate) async fn serve(
    listener: TcpListener,
    plan: &Plan,
    counters: Arc<Counters>,
) -> io::Result<()> {
    let (triggered, mut faults) = watch::channel(None);
    let state = Rc::new(ServerState {
        answerer: RefCell::new(Answerer::new(plan.answer, Arc::clone(&counters))),
        spender: Spender::start(plan.cost)?,
        fault: plan.fault,
        opening: plan.opening,
        token: plan.token,
        idle_limit: plan.idle_limit,
        last_call: Cell::new(None),
        protocol: plan.protocol,
        counters,
        triggered,
    });
    let mut exit = pin!(faults.wait_for(|fault| *fault == Some(Fault::Exit)));
    loop {
        tokio::select! {
            biased;
            _ = &mut exit => return Ok(()),
            accepted = listener.accept() => {
                let (stream, _) = accepted?;
                state.counters.connections.fetch_add(1, Ordering::Relaxed);
                spawn_local(count_open(stream, Rc::clone(&state)));
            }
        }
    }
}

async fn count_open(stream: TcpStream, state: Rc<ServerState>) {
    state.counters.open.fetch_add(1, Ordering::Relaxed);
    attend(stream, Rc::clone(&state)).await;
    state.counters.open.fetch_sub(1, Ordering::Relaxed);
}

/// Serves one connection. Ignores why it ends, as others are not affected.
async fn attend(stream: TcpStream, state: Rc<ServerState>) {
    let stream = Rc::new(stream);
    if state.opening == Opening::NeverReady {
        return std::future::pending().await;
    }
    let fault = match state.protocol {
        Protocol::Grpc | Protocol::JsonH2c => converse(Rc::clone(&stream), &state).await.ok(),
        Protocol::Json => dialect::converse(&Json, &stream, &state).await.ok(),
        Protocol::Connect => dialect::converse(&Protobuf::Connect, &stream, &state).await.ok(),
        Protocol::Thrift
        | Protocol::ThriftCompact
        | Protocol::ThriftBuffered
        | Protocol::ThriftBufferedCompact => match Form::of(state.protocol) {
            Some(form) => dialect::converse(&form, &stream, &state).await.ok(),
            None => None,
        },
        Protocol::TcpEcho => dialect::converse(&TcpEcho, &stream, &state).await.ok(),
        Protocol::Http | Protocol::Http2 => None,
    };
    if let Some(fault) = fault.flatten() {
        // The peer may be gone.
        let _ = fault::trigger(fault, stream, state.protocol).await;
    }
}

/// Answers calls until the connection ends or a fault is triggered. Returns the fault.
async fn converse(
    stream: Rc<TcpStream>,
    state: &Rc<ServerState>,
) -> Result<Option<Fault>, h2::Error> {
    let mut faults = state.fault_signal();
    let mut triggered = pin!(faults.wait_for(Option::is_some));
    // Otherwise small replies are delayed. If the peer is gone, the handshake fails.
    let _ = stream.set_nodelay(true);
    let mut connection = h2::server::Builder::new()
        .initial_window_size(WINDOW)
        .initial_connection_window_size(WINDOW)
        .handshake(SharedStream(stream))
        .await?;
    loop {
        tokio::select! {
            biased;
            fault = &mut triggered => {
                flush(&mut connection).await;
                return Ok(fault.ok().and_then(|fault| *fault));
            }
            request = connection.accept() => match request {
                None => return Ok(None),
                Some(request) => {
                    let (request, respond) = request?;
                    spawn_local(call(request, respond, Rc::clone(state)));
                }
            },
        }
    }
}

/// Writes the replies from before the fault, ignoring new requests.
async fn flush(connection: &mut Http2) {
    let mut ignored = Vec::new();
    poll_fn(|cx| {
        while let Poll::Ready(Some(Ok(request))) = connection.poll_accept(cx) {
            ignored.push(request);
        }
        Poll::Ready(())
    })
    .await;
}

async fn call(
    request: Request<RecvStream>,
    respond: SendResponse<Bytes>,
    state: Rc<ServerState>,
) -> Result<(), h2::Error> {
    let (head, body) = request.into_parts();
    let is_json = state.protocol == Protocol::JsonH2c;
    if !is_json && !is_grpc(&head.headers) {
        return refuse(respond);
    }
    let body = collect(body).await?;
    let authorized = |token: &HeaderValue| token == "token";
    if state.token && !head.headers.get(http::header::AUTHORIZATION).is_some_and(authorized) {
        return send(respond, Err(Status { code: 16, message: "no token".to_owned() }));
    }
    let Some(number) = state.admit() else {
        return std::future::pending().await;
    };
    state.spend(number).await;
    let (path, mut answerer) = (head.uri.path(), state.answerer());
    if is_json {
        send_json(respond, Reply::of(answerer.answer(&Json, path, &body, number)))
    } else {
        send(respond, answerer.answer(&Protobuf::Grpc, path, &body, number))
    }
}

fn is_grpc(headers: &HeaderMap) -> bool {
    headers
        .get(http::header::CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().starts_with(b"application/grpc"))
}

async fn collect(mut body: RecvStream) -> Result<BytesMut, h2::Error> {
    let mut bytes = BytesMut::new();
    while let Some(chunk) = body.data().await {
        let chunk = chunk?;
        body.flow_control().release_capacity(chunk.len())?;
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

fn refuse(mut respond: SendResponse<Bytes>) -> Result<(), h2::Error> {
    let mut response = Response::new(());
    *response.status_mut() = StatusCode::UNSUPPORTED_MEDIA_TYPE;
    respond.send_response(response, true)?;
    respond.send_reset(Reason::NO_ERROR);
    Ok(())
}

fn send(mut respond: SendResponse<Bytes>, reply: Result<Bytes, Status>) -> Result<(), h2::Error> {
    let mut response = Response::new(());
    response
        .headers_mut()
        .insert(http::header::CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
    let mut stream = respond.send_response(response, false)?;
    let mut trailers = HeaderMap::new();
    match reply {
        Ok(message) => {
            stream.send_data(echo::frame(&message).into(), false)?;
            trailers.insert("grpc-status", HeaderValue::from_static("0"));
        }
        Err(status) => {
            trailers.insert("grpc-status", HeaderValue::from(status.code));
            if let Ok(message) = HeaderValue::from_str(&percent_encode(&status.message)) {
                trailers.insert("grpc-message", message);
            }
        }
    }
    stream.send_trailers(trailers)
}

fn send_json(mut respond: SendResponse<Bytes>, reply: Reply) -> Result<(), h2::Error> {
    let mut response = Response::new(());
    *response.status_mut() =
        StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    headers.insert(http::header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(http::header::CONTENT_LENGTH, HeaderValue::from(reply.body.len()));
    respond.send_response(response, false)?.send_data(reply.body, true)
}

fn percent_encode(text: &str) -> String {
    use std::fmt::Write;
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if matches!(byte, b' '..=b'~') && byte != b'%' {
            encoded.push(char::from(byte));
        } else {
            // Writing to a String can't fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::percent_encode;

    #[test]
    fn status_message_is_percent_encoded() {
        assert_eq!(percent_encode("50 % of caf\u{e9}\n"), "50 %25 of caf%C3%A9%0A");
    }
}
