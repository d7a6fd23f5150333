//! The first calls of a connection, one after another and checked: they show how large a reply is.

use std::io::{BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};

use rpcbench_contract::Corpus;

use super::FloorError;
use super::requests::{FRAME_HEADER, Requests, frame, wire};

/// Calls made before the connection is handed over.
pub(super) const CALLS: u32 = 3;
/// Largest window of flow control, and the one that a connection starts with. RFC 9113, section 6.9.
const MAX_WINDOW: u32 = 0x7fff_ffff;
const DEFAULT_WINDOW: u32 = 65_535;
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// SETTINGS_ENABLE_PUSH off, SETTINGS_INITIAL_WINDOW_SIZE the largest.
const SETTINGS: [(u16, u32); 2] = [(2, 0), (4, MAX_WINDOW)];
/// Bytes before the protobuf message in DATA.
const PREFIX: usize = 5;

/// A connection that has made [`CALLS`] calls, and the size of its replies.
pub(super) struct Opened {
    pub stream: TcpStream,
    pub reply: usize,
}

struct Frame {
    kind: u8,
    flags: u8,
    stream: u32,
    payload: Vec<u8>,
}

/// Connects, shakes hands, and makes the first calls.
pub(super) fn open(
    address: SocketAddr,
    requests: &Requests,
    corpus: &Corpus,
) -> Result<Opened, FloorError> {
    let refused = |source| FloorError::Connect { address, source };
    let stream = TcpStream::connect(address).map_err(refused)?;
    stream.set_nodelay(true).map_err(refused)?;
    let mut reader = BufReader::new(stream);
    write(&mut reader, &greeting())?;
    loop {
        let frame = read(&mut reader)?;
        if frame.kind == wire::SETTINGS && frame.flags & wire::ACK != 0 {
            break;
        }
    }
    let mut out = Vec::new();
    frame(&mut out, wire::SETTINGS, wire::ACK, 0, &[]);
    out.extend(requests.first(1, corpus, 0));
    write(&mut reader, &out)?;
    call(&mut reader, 1, corpus, 0)?;
    let mut sizes = Vec::new();
    for entry in 1..CALLS {
        let (id, entry) = (2 * entry + 1, entry as usize);
        write(&mut reader, &requests.later(id, corpus, entry))?;
        sizes.push(call(&mut reader, id, corpus, entry)?);
    }
    sizes.dedup();
    let ([reply], []) = (sizes.as_slice(), reader.buffer()) else {
        return Err(FloorError::Opening(format!("replies of {sizes:?} bytes")));
    };
    let reply = *reply;
    let stream = reader.into_inner();
    stream.set_nonblocking(true).map_err(refused)?;
    Ok(Opened { stream, reply })
}

fn greeting() -> Vec<u8> {
    let mut out = PREFACE.to_vec();
    let mut settings = Vec::new();
    for (id, value) in SETTINGS {
        settings.extend_from_slice(&id.to_be_bytes());
        settings.extend_from_slice(&value.to_be_bytes());
    }
    frame(&mut out, wire::SETTINGS, 0, 0, &settings);
    let raise = MAX_WINDOW - DEFAULT_WINDOW;
    frame(&mut out, wire::WINDOW_UPDATE, 0, 0, &raise.to_be_bytes());
    out
}

/// Reads the reply to request `entry`, checks it, and returns its size.
fn call(
    reader: &mut BufReader<TcpStream>,
    stream: u32,
    corpus: &Corpus,
    entry: usize,
) -> Result<usize, FloorError> {
    let mut size = 0;
    let mut data = Vec::new();
    loop {
        let frame = read(reader)?;
        if frame.stream != stream || !matches!(frame.kind, wire::DATA | wire::HEADERS) {
            let (kind, of) = (frame.kind, frame.stream);
            let problem = format!("a frame of type {kind} on stream {of} within a reply");
            return Err(FloorError::Opening(problem));
        }
        size += FRAME_HEADER + frame.payload.len();
        if frame.kind == wire::DATA {
            data.extend_from_slice(&frame.payload);
        }
        if frame.flags & wire::END_STREAM != 0 {
            break;
        }
    }
    corpus
        .verify(entry, None, data.get(PREFIX..).unwrap_or_default())
        .map_err(|mismatch| FloorError::Opening(mismatch.to_string()))?;
    Ok(size)
}

fn write(reader: &mut BufReader<TcpStream>, bytes: &[u8]) -> Result<(), FloorError> {
    let written = reader.get_mut().write_all(bytes);
    written.map_err(|source| FloorError::Kernel { call: "send", source })
}

fn read(reader: &mut BufReader<TcpStream>) -> Result<Frame, FloorError> {
    let failed = |source| FloorError::Kernel { call: "recv", source };
    let mut head = [0; FRAME_HEADER];
    reader.read_exact(&mut head).map_err(failed)?;
    let [l1, l2, l3, kind, flags, s1, s2, s3, s4] = head;
    let mut payload = vec![0; u32::from_be_bytes([0, l1, l2, l3]) as usize];
    reader.read_exact(&mut payload).map_err(failed)?;
    Ok(Frame { kind, flags, stream: u32::from_be_bytes([s1, s2, s3, s4]), payload })
}
