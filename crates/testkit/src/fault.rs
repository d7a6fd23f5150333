//! How a connection fails when the server breaks.

use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use rpcbench_record::{Protocol, Transport};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use crate::plan::Fault;
use crate::thrift::{Form, Message, exception, kind};

/// A TCP stream that outlives the HTTP/2 connection on it.
pub(crate) struct SharedStream(pub(crate) Rc<TcpStream>);

impl AsyncRead for SharedStream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            ready!(self.0.poll_read_ready(cx))?;
            match self.0.try_read(buffer.initialize_unfilled()) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                result => return Poll::Ready(result.map(|length| buffer.advance(length))),
            }
        }
    }
}

impl AsyncWrite for SharedStream {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.0.poll_write_ready(cx))?;
            match self.0.try_write(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                result => return Poll::Ready(result),
            }
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// Triggers the fault on this connection. Returns when the connection has ended.
pub(crate) async fn trigger(
    fault: Fault,
    stream: Rc<TcpStream>,
    protocol: Protocol,
) -> io::Result<()> {
    match fault {
        // The connection closes when the process ends.
        Fault::Exit | Fault::Hang => std::future::pending().await,
        Fault::Garbage => {
            write(&stream, &garbage()).await?;
            std::future::pending().await
        }
        Fault::Reset => stream.set_zero_linger(),
        Fault::Truncate => truncate(&stream, protocol).await,
    }
}

/// Half of a HEADERS frame on stream 1: its header announces 20 bytes, but only 10 follow.
const HALF_A_FRAME: [u8; 19] =
    [0, 0, 20, 1, 4, 0, 0, 0, 1, 0x88, 0, 7, b'h', b'a', b'l', b'f', b' ', b'o', b'f'];

/// Half of an HTTP/1.1 reply: its head announces 20 bytes, but only 8 follow.
const HALF_A_REPLY: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n{\"echo\":";

/// Half of a tcp-echo reply: its length announces 20 bytes, but only 7 follow.
const HALF_AN_ECHO: &[u8] = b"\0\0\0\x14half of";

fn half_a_message(form: Form) -> Vec<u8> {
    let body = form.exception(exception::INTERNAL_ERROR, "half of it");
    let message = Message { kind: kind::REPLY, name: b"Text", sequence_id: 1, body: &body };
    let mut bytes = form.write(&message);
    bytes.truncate(bytes.len() / 2);
    bytes
}

/// Half of a reply.
fn half(protocol: Protocol) -> Vec<u8> {
    match protocol.spec().transport {
        Transport::Http2 => HALF_A_FRAME.to_vec(),
        Transport::Http1 => HALF_A_REPLY.to_vec(),
        Transport::Raw => HALF_AN_ECHO.to_vec(),
        Transport::ThriftFramed | Transport::ThriftBuffered => {
            Form::of(protocol).map_or_else(Vec::new, half_a_message)
        }
    }
}

async fn truncate(stream: &Rc<TcpStream>, protocol: Protocol) -> io::Result<()> {
    write(stream, &half(protocol)).await?;
    let mut end = SharedStream(Rc::clone(stream));
    rustix::net::shutdown(stream, rustix::net::Shutdown::Write)?;
    // Closing with unread bytes would send a reset, but the peer must see a normal end.
    tokio::io::copy(&mut end, &mut tokio::io::sink()).await?;
    Ok(())
}

pub(crate) async fn write(stream: &TcpStream, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        stream.writable().await?;
        match stream.try_write(bytes) {
            Ok(length) => bytes = &bytes[length..],
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Fixed bytes without structure. Interpreted as a frame, they are longer than any peer allows.
fn garbage() -> [u8; 1024] {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    std::array::from_fn(|index| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        if index == 0 { 0xDB } else { state.to_le_bytes()[3] }
    })
}
