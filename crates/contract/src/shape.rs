//! The kinds of content that calls carry.

use std::fmt;
use std::str::FromStr;

use rpcbench_record::ParseError;

use crate::method::Method;

/// The kind of content of a call, written `text:100`, `record`, `dto` or `tree`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// One UTF-8 string of this many bytes, at most [`Shape::MAX_TEXT`].
    Text(u32),
    /// 40 flat fields, about 580 bytes.
    Record,
    /// Strings, integers, doubles and booleans, three of each.
    Dto,
    /// Scalars, an enum, a oneof, nested messages with repeated children, a map.
    Tree,
}

impl Shape {
    /// Longest text, bytes. gRPC libraries refuse messages above 4 MiB by default.
    pub const MAX_TEXT: u32 = 4_000_000;

    /// The method for this shape.
    pub fn method(&self) -> Method {
        match self {
            Self::Text(_) => Method::Text,
            Self::Record => Method::Record,
            Self::Dto => Method::Dto,
            Self::Tree => Method::Tree,
        }
    }
}

impl FromStr for Shape {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        match text {
            "record" => Ok(Self::Record),
            "dto" => Ok(Self::Dto),
            "tree" => Ok(Self::Tree),
            _ => text.strip_prefix("text:").and_then(parse_length).ok_or_else(|| {
                let max = Self::MAX_TEXT;
                ParseError(match text.split(':').next() {
                    Some("text") => format!(
                        "shape `{text}` has no valid length; write `text:N` with N from 0 to {max} bytes"
                    ),
                    _ => format!("unknown shape `{text}`; use `text:N`, `record`, `dto` or `tree`"),
                })
            }),
        }
    }
}

fn parse_length(digits: &str) -> Option<Shape> {
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok().filter(|bytes| *bytes <= Shape::MAX_TEXT).map(Shape::Text)
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(bytes) => f.pad(&format!("text:{bytes}")),
            Self::Record => f.pad("record"),
            Self::Dto => f.pad("dto"),
            Self::Tree => f.pad("tree"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_read_back_as_written() {
        for text in ["text:0", "text:100", "text:4000000", "record", "dto", "tree"] {
            assert_eq!(text.parse::<Shape>().map(|shape| shape.to_string()), Ok(text.to_owned()));
        }
    }

    #[test]
    fn errors_name_the_valid_shapes() {
        let refusal = |text: &str| text.parse::<Shape>().unwrap_err().to_string();
        insta::assert_snapshot!(refusal("Record"), @"unknown shape `Record`; use `text:N`, `record`, `dto` or `tree`");
        insta::assert_snapshot!(refusal(""), @"unknown shape ``; use `text:N`, `record`, `dto` or `tree`");
        insta::assert_snapshot!(refusal("text"), @"shape `text` has no valid length; write `text:N` with N from 0 to 4000000 bytes");
        insta::assert_snapshot!(refusal("text:4000001"), @"shape `text:4000001` has no valid length; write `text:N` with N from 0 to 4000000 bytes");
        for text in ["text:", "text:-1", "text:+1", "text: 1", "text:1k", "text:99999999999"] {
            assert!(refusal(text).contains("has no valid length"), "{text}");
        }
    }

    #[test]
    fn widths_apply() {
        assert_eq!(format!("{:>9}|{:<7}|", Shape::Text(10), Shape::Dto), "  text:10|dto    |");
    }
}
