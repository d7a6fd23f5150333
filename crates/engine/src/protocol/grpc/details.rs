//! Details of a gRPC status: a `google.rpc.Status` in the `grpc-status-details-bin` trailer.
//!
//! Servers put messages of any type into it, so each is shown as its type and the texts in it.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use rpcbench_record::is_printable;

/// Maximum details shown.
pub(crate) const MAX_DETAILS: usize = 8;
/// Maximum texts shown per detail, and characters of all of them.
const MAX_TEXTS: usize = 8;
const MAX_CHARS: usize = 200;
/// Maximum nesting searched for texts.
const MAX_DEPTH: u32 = 4;

/// Metadata may lack padding.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Decodes the details in the trailer. Empty if it can't be read.
pub(super) fn of_trailer(value: &[u8]) -> Vec<String> {
    let status = decode(value);
    let details = fields(&status).filter(|(number, _)| *number == 3);
    details.take(MAX_DETAILS).map(|(_, any)| of_any(any)).collect()
}

/// Decodes base64. Empty if it is invalid.
pub(crate) fn decode(base64: &[u8]) -> Vec<u8> {
    BASE64.decode(base64).unwrap_or_default()
}

/// Formats a `google.protobuf.Any`: `google.rpc.ErrorInfo (NO_STOCK, shop.v1)`.
fn of_any(any: &[u8]) -> String {
    let field = |wanted| fields(any).filter(|(number, _)| *number == wanted).last();
    let url = field(1).map(|(_, url)| String::from_utf8_lossy(url)).unwrap_or_default();
    described(&url, field(2).map_or(&[], |(_, value)| value))
}

/// Formats a detail: its type, and the texts in its value.
pub(crate) fn described(url: &str, value: &[u8]) -> String {
    let mut texts = Vec::new();
    collect(value, MAX_DEPTH, &mut texts);
    let name: String = url.rsplit('/').next().unwrap_or_default().chars().take(MAX_CHARS).collect();
    let texts: String = texts.join(", ").chars().take(MAX_CHARS).collect();
    let name = rpcbench_record::printable(&name).into_owned();
    if texts.is_empty() { name } else { format!("{name} ({texts})") }
}

/// Collects the texts in a message. Anything printable counts as text; the tag of a nested message's field is not printable.
fn collect(message: &[u8], depth: u32, texts: &mut Vec<String>) {
    for (_, bytes) in fields(message) {
        let text = std::str::from_utf8(bytes).ok();
        let text = text.filter(|text| !text.is_empty() && text.chars().all(is_printable));
        match text {
            _ if texts.len() == MAX_TEXTS => return,
            Some(text) => texts.push(text.to_owned()),
            None if depth > 1 => collect(bytes, depth - 1, texts),
            None => {}
        }
    }
}

/// The length-delimited fields: number and content. Ends at the first invalid byte.
fn fields(message: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    let mut rest = message;
    let next = move || -> Option<(u64, Option<&[u8]>)> {
        let tag = varint(&mut rest)?;
        let content = match tag & 7 {
            0 => varint(&mut rest).map(|_| None)?,
            1 => rest.split_off(..8).map(|_| None)?,
            5 => rest.split_off(..4).map(|_| None)?,
            2 => {
                let length = usize::try_from(varint(&mut rest)?).ok()?;
                Some(rest.split_off(..length)?)
            }
            _ => return None,
        };
        Some((tag >> 3, content))
    };
    std::iter::from_fn(next).filter_map(|(number, content)| Some((number, content?)))
}

fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = *rest.split_off_first()?;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(number: u8, content: &[u8]) -> Vec<u8> {
        [&[number << 3 | 2, content.len() as u8], content].concat()
    }

    #[test]
    fn details_are_shown_as_types_and_texts() {
        let info = [field(1, b"NO_STOCK"), field(2, b"shop.v1")].concat();
        let violation = field(1, &[field(1, b"id"), field(2, b"not a number")].concat());
        let any = |name: &str, value: &[u8]| {
            let url = format!("type.googleapis.com/google.rpc.{name}");
            field(3, &[field(1, url.as_bytes()), field(2, value)].concat())
        };
        let status = [
            vec![0x08, 9],
            field(2, b"message"),
            any("ErrorInfo", &info),
            any("BadRequest", &violation),
            any("RetryInfo", &[0x0a, 2, 0x08, 3]),
        ];
        let trailer = BASE64.encode(status.concat());
        let details = of_trailer(trailer.trim_end_matches('=').as_bytes());
        assert_eq!(
            details,
            [
                "google.rpc.ErrorInfo (NO_STOCK, shop.v1)",
                "google.rpc.BadRequest (id, not a number)",
                "google.rpc.RetryInfo"
            ]
        );
    }

    #[test]
    fn unreadable_details_are_left_out() {
        for trailer in [&b""[..], b"!", b"////", b"GgX/////"] {
            assert_eq!(of_trailer(trailer), Vec::<String>::new(), "{trailer:?}");
        }
    }
}
