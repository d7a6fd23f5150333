//! The head of a reply: its status, its length, and whether the connection continues.

use std::mem::MaybeUninit;
use std::ops::Range;

use httparse::{Error, Header, ParserConfig, Response, Status};

use super::{MAX_LENGTH, Problem};

/// Maximum fields of a head.
const MAX_FIELDS: usize = 128;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    /// 100 to 999.
    pub status: u16,
    pub framing: Framing,
    /// Whether the peer says that the connection ends with this reply.
    pub closes: bool,
}

impl Head {
    /// Whether the connection ends with this reply.
    pub fn is_last(&self) -> bool {
        self.closes || self.framing == Framing::UntilClose
    }

    /// Whether another head follows for the same call.
    pub fn is_interim(&self) -> bool {
        self.status < 200
    }
}

/// How the end of a body is known. RFC 9112, section 6.3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Framing {
    /// By its length, bytes.
    Length(usize),
    Chunked,
    /// By the end of the connection.
    UntilClose,
}

/// Parses a whole head; also returns where the digits of its Content-Length are, if any. `see` gets the names and values of
/// its fields.
pub(super) fn parse(
    bytes: &[u8],
    see: &mut impl FnMut(&[u8], &[u8]),
) -> Result<(Head, Option<Range<usize>>), Problem> {
    let mut room = [const { MaybeUninit::<Header<'_>>::uninit() }; MAX_FIELDS];
    let mut response = Response::new(&mut []);
    let parsed = ParserConfig::default()
        .allow_obsolete_multiline_headers_in_responses(true)
        .parse_response_with_uninit_headers(&mut response, bytes, &mut room);
    match parsed {
        Ok(Status::Complete(length)) if length == bytes.len() => {}
        Err(Error::TooManyHeaders) => return Err("a head of more than 128 fields"),
        Ok(_) | Err(_) => return Err("a head that can't be read"),
    }
    let status = response.code.filter(|status| *status >= 100).ok_or("a status below 100")?;
    // Without allocating, since loads skip it.
    see(b":status", &[100, 10, 1].map(|unit| b'0' + (status / unit % 10) as u8));
    response.headers.iter().for_each(|field| see(field.name.as_bytes(), field.value));
    let is_1_0 = response.version == Some(0);
    let fields = Fields::of(response.headers)?;
    let framing = match status {
        101 => return Err("101 Switching Protocols, and no other protocol was asked for"),
        100..=199 | 204 | 304 => Framing::Length(0),
        _ => fields.framing(is_1_0)?,
    };
    let interim = status < 200;
    let ends = fields.close || is_1_0 && !fields.keep_alive;
    let digits = fields.length.map(|value| {
        let at = value.as_ptr().addr() - bytes.as_ptr().addr();
        at..at + value.len()
    });
    Ok((Head { status, framing, closes: ends && !interim }, digits))
}

/// The fields needed to read replies.
#[derive(Debug, Default)]
struct Fields<'a> {
    length: Option<&'a [u8]>,
    chunked: bool,
    close: bool,
    keep_alive: bool,
}

impl<'a> Fields<'a> {
    fn of(headers: &[Header<'a>]) -> Result<Self, Problem> {
        let mut fields = Self::default();
        for header in headers {
            if header.name.eq_ignore_ascii_case("content-length") {
                if fields.length.replace(header.value).is_some() {
                    return Err("more than one Content-Length");
                }
            } else if header.name.eq_ignore_ascii_case("transfer-encoding") {
                if !header.value.eq_ignore_ascii_case(b"chunked") || fields.chunked {
                    return Err("a Transfer-Encoding other than chunked");
                }
                fields.chunked = true;
            } else if header.name.eq_ignore_ascii_case("connection") {
                let mut options = header.value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
                fields.close |= options.clone().any(|it| it.eq_ignore_ascii_case(b"close"));
                fields.keep_alive |= options.any(|it| it.eq_ignore_ascii_case(b"keep-alive"));
            }
        }
        Ok(fields)
    }

    fn framing(&self, is_1_0: bool) -> Result<Framing, Problem> {
        match (self.length, self.chunked) {
            (Some(_), true) => Err("both Content-Length and Transfer-Encoding"),
            (None, true) if is_1_0 => Err("chunks in a reply of HTTP/1.0"),
            (None, true) => Ok(Framing::Chunked),
            (Some(digits), false) => Ok(Framing::Length(length(digits)?)),
            (None, false) => Ok(Framing::UntilClose),
        }
    }
}

/// The number of a Content-Length.
#[inline]
pub(crate) fn length(digits: &[u8]) -> Result<usize, Problem> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err("a Content-Length that is no number");
    }
    let append = |length: usize, digit: &u8| {
        length.saturating_mul(10).saturating_add(usize::from(digit - b'0'))
    };
    let length = digits.iter().fold(0, append);
    if length > MAX_LENGTH { Err("a body above 4 GiB") } else { Ok(length) }
}
