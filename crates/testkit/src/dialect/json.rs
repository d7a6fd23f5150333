//! JSON over HTTP/1.1. Messages are converted to protobuf and back, unless a cheat copies them.

use std::io;

use bytes::Bytes;

use super::in_order::{Answer, InOrder, Request};
use super::{Dialect, http1};
use crate::echo::{self, Truth};
use crate::transcode::Types;
use crate::{skim, swap};

pub(crate) struct Json;

/// An HTTP status with JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) body: Bytes,
}

impl Reply {
    pub(crate) fn error(status: u16, message: &str) -> Self {
        let body = serde_json::json!({ "message": message });
        Self { status, body: body.to_string().into() }
    }

    pub(crate) fn of(reply: Result<Bytes, Self>) -> Self {
        reply.map_or_else(|failure| failure, |body| Self { status: 200, body })
    }
}

impl Dialect for Json {
    type Failure = Reply;

    fn echo(&self, method: &str, message: &[u8], truth: Truth) -> Result<Bytes, Reply> {
        let types = Types::of(method).ok_or_else(|| Reply::error(404, "unknown method"))?;
        let request =
            types.request(message).map_err(|error| Reply::error(400, &error.to_string()))?;
        let reply = echo::reply(method, &request, truth)
            .map_err(|status| Reply::error(500, &status.message))?;
        let json = types.reply(&reply);
        json.map(Bytes::from).ok_or_else(|| Reply::error(500, "the reply can't be written"))
    }

    fn skim(&self, _method: &str, message: &[u8]) -> Result<Bytes, Reply> {
        skim::json(message)
    }

    fn swap(&self, message: &[u8]) -> Bytes {
        swap::json(message)
    }

    fn looks_usual(&self, message: &[u8]) -> bool {
        swap::is_usual_json(message)
    }

    fn error_as_reply(&self, words: &str) -> Bytes {
        Reply::error(200, words).body
    }

    fn nothing(&self) -> Bytes {
        Bytes::from_static(b"{}")
    }

    fn failure(&self, words: String) -> Reply {
        Reply::error(500, &words)
    }

    fn is_malformed(failure: &Reply) -> bool {
        failure.status == 400
    }
}

impl InOrder for Json {
    fn take(&self, input: &mut Vec<u8>) -> io::Result<Option<Request>> {
        http1::take(input)
    }

    fn write(&self, _request: &Request, reply: Result<Bytes, Reply>) -> Answer {
        let Reply { status, body } = Reply::of(reply);
        Answer { bytes: http1::reply(status, "application/json", &body), last: false }
    }
}
