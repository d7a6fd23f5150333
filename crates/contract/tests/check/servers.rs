//! Servers in memory: one that is right, and every way of being wrong that the cases must catch.

use prost::Message;
use rpcbench_contract::cases::{CallError, Caller};
use rpcbench_contract::{Method, pb};

/// A server behind a function.
pub struct Server<F>(pub F);

impl<F: FnMut(Method, &[u8]) -> Result<Vec<u8>, CallError>> Caller for Server<F> {
    fn call(&mut self, method: Method, body: &[u8]) -> Result<Vec<u8>, CallError> {
        (self.0)(method, body)
    }
}

pub fn status(code: u32, message: &str) -> CallError {
    CallError::Status { code, message: message.to_owned() }
}

fn decoded<M: Message + Default>(body: &[u8]) -> Result<M, CallError> {
    M::decode(body).map_err(|error| status(13, &error.to_string()))
}

/// Keeps the contract.
pub fn right(method: Method, body: &[u8]) -> Result<Vec<u8>, CallError> {
    Ok(match method {
        Method::Text => {
            pb::TextReply { echo: decoded::<pb::TextRequest>(body)?.text }.encode_to_vec()
        }
        Method::Record => {
            pb::RecordReply { echo: decoded::<pb::RecordRequest>(body)?.record }.encode_to_vec()
        }
        Method::Dto => pb::DtoReply { echo: decoded::<pb::DtoRequest>(body)?.dto }.encode_to_vec(),
        Method::Tree => {
            pb::TreeReply { echo: decoded::<pb::TreeRequest>(body)?.tree }.encode_to_vec()
        }
        Method::Missing | Method::MissingService => return Err(status(12, "no such method")),
    })
}

/// Keeps the contract in the way of libraries that copy absent messages as empty ones.
pub fn eager(method: Method, body: &[u8]) -> Result<Vec<u8>, CallError> {
    let reply = right(method, body)?;
    let copied = reply.is_empty() && method != Method::Text;
    Ok(if copied { vec![0x12, 0] } else { reply })
}

/// Wrong on every `every`th call, right elsewhere.
pub fn now_and_then(every: u32) -> impl FnMut(Method, &[u8]) -> Result<Vec<u8>, CallError> {
    let mut calls = 0;
    move |method, body| {
        calls += 1;
        let reply = right(method, body)?;
        if calls % every == 0 && method == Method::Text {
            let echo = pb::TextReply::decode(reply.as_slice()).map(|reply| reply.echo);
            let echo = echo.unwrap().chars().rev().collect::<String>() + "!";
            return Ok(pb::TextReply { echo }.encode_to_vec());
        }
        Ok(reply)
    }
}

/// Gives the reply to the first request of each method for ever.
pub fn canned() -> impl FnMut(Method, &[u8]) -> Result<Vec<u8>, CallError> {
    let mut replies = std::collections::HashMap::new();
    move |method, body| match right(method, body) {
        Ok(reply) => Ok(replies.entry(method).or_insert(reply).clone()),
        error => error,
    }
}

/// Sends every body back, whatever it is: what the floor is to do.
pub fn floor(_: Method, body: &[u8]) -> Result<Vec<u8>, CallError> {
    Ok(body.to_vec())
}
