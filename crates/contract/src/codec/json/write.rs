//! Writes JSON in canonical or other valid forms.

use std::collections::HashSet;

use super::node::Node;

/// How to write JSON. The default is canonical.
#[derive(Default)]
pub(crate) struct Style {
    pub escapes: Escapes,
    /// Puts all of JSON's whitespace characters between tokens.
    pub spread: bool,
    /// Adds an exponent and a redundant digit to doubles: `1.50e1`.
    pub exponents: bool,
    /// Values, not keys, that are never escaped.
    pub kept: HashSet<String>,
    /// Number of outer levels in canonical form: with 1, the outermost object but not its contents.
    pub usual: usize,
}

/// Characters that are escaped needlessly: `\u0065`.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Escapes {
    #[default]
    None,
    /// The first letter or digit of each key and string.
    First,
    /// All letters and digits of each key and string.
    All,
    /// All characters beyond ASCII, with surrogate pairs if necessary.
    Wide,
}

const WHITESPACE: &str = " \t\r\n ";

impl Style {
    pub(crate) fn write(&self, node: &Node) -> Vec<u8> {
        let mut out = String::new();
        self.gap(0, &mut out);
        self.node(node, 0, &mut out);
        self.gap(0, &mut out);
        out.into_bytes()
    }

    fn node(&self, node: &Node, level: usize, out: &mut String) {
        match node {
            Node::Null => out.push_str("null"),
            Node::Bool(value) => out.push_str(&value.to_string()),
            Node::Integer(value) => out.push_str(&value.to_string()),
            Node::Double(value) if self.exponents && level >= self.usual => {
                out.push_str(&longer(format!("{value:e}")))
            }
            Node::Double(value) => out.push_str(&plain(value)),
            Node::Literal(number) => out.push_str(number),
            Node::Text(text) if self.kept.contains(text) => out.push_str(&plain(text)),
            Node::Text(text) => self.text(text, level, out),
            Node::List(items) => {
                let written = |item: &Node| {
                    let mut out = String::new();
                    self.node(item, level, &mut out);
                    out
                };
                self.sequence(b"[]", items.iter().map(written), level, out);
            }
            Node::Object(entries) => {
                let written = |(key, value): &(String, Node)| {
                    let mut out = String::new();
                    self.text(key, level, &mut out);
                    self.gap(level, &mut out);
                    out.push(':');
                    self.gap(level, &mut out);
                    self.node(value, level + 1, &mut out);
                    out
                };
                self.sequence(b"{}", entries.iter().map(written), level, out);
            }
        }
    }

    fn sequence(
        &self,
        [open, close]: &[u8; 2],
        items: impl Iterator<Item = String>,
        level: usize,
        out: &mut String,
    ) {
        out.push((*open).into());
        for (at, item) in items.enumerate() {
            if at > 0 {
                out.push(',');
            }
            self.gap(level, out);
            out.push_str(&item);
            self.gap(level, out);
        }
        out.push((*close).into());
    }

    fn text(&self, text: &str, level: usize, out: &mut String) {
        let mut first = true;
        let escapes = if level < self.usual { Escapes::None } else { self.escapes };
        let mut escape = |char: char| match escapes {
            Escapes::None => false,
            Escapes::First => char.is_ascii_alphanumeric() && std::mem::take(&mut first),
            Escapes::All => char.is_ascii_alphanumeric(),
            Escapes::Wide => !char.is_ascii(),
        };
        let pieces = text
            .split_inclusive(|_: char| true)
            .map(|char| if char.chars().any(&mut escape) { escaped(char) } else { inner(char) });
        let written = if escapes == Escapes::None { inner(text) } else { pieces.collect() };
        out.push('"');
        out.push_str(&written);
        out.push('"');
    }

    fn gap(&self, level: usize, out: &mut String) {
        if self.spread && level >= self.usual {
            out.push_str(WHITESPACE);
        }
    }
}

/// Canonical form. Numbers are finite and texts are Unicode, so writing can't fail.
fn plain<T: serde::Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// A text in canonical form, without the quotes.
fn inner(text: &str) -> String {
    let quoted = plain(text);
    quoted.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or_default().to_owned()
}

fn escaped(text: &str) -> String {
    text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect()
}

/// Adds a redundant digit: `1.50e1` for `1.5e1`, `2.0e0` for `2e0`.
fn longer(scientific: String) -> String {
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let zero = if digits.contains('.') { "0" } else { ".0" };
    format!("{digits}{zero}e{exponent}")
}
