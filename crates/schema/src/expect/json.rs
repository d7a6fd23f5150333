//! Finds a value in JSON (RFC 8259) without decoding it.

use std::str::Chars;

use memchr::{memchr, memchr2};

use super::syntax::Step;
use super::value::Value;

/// Maximum nesting accepted, as in serde_json.
const MAX_DEPTH: u32 = 127;

/// A path to a value in JSON.
#[derive(Clone, Debug)]
pub(super) struct JsonPath(Vec<Step>);

/// Why a text is not JSON.
type Problem = &'static str;

const INVALID: Problem = "the reply is no JSON";

impl JsonPath {
    pub fn new(steps: Vec<Step>) -> Self {
        Self(steps)
    }

    /// The value at the path; if a key occurs several times, the last one counts.
    pub fn find<'a>(&self, text: &'a [u8]) -> Result<Value<'a>, Problem> {
        let text = std::str::from_utf8(text).map_err(|_| INVALID)?;
        let mut scanner = Scanner { text, at: 0 };
        let mut found = Value::Missing;
        scanner.find(&self.0, &mut found, 0)?;
        scanner.space();
        if scanner.at == text.len() { Ok(found) } else { Err(INVALID) }
    }
}

/// True if a text with escapes stands for `expected`.
pub(super) fn is_text(escaped: &str, expected: &str) -> bool {
    if memchr(b'\\', escaped.as_bytes()).is_none() {
        return escaped == expected;
    }
    Unescaped(escaped.chars()).eq(expected.chars())
}

/// The characters that a text with escapes stands for.
struct Unescaped<'a>(Chars<'a>);

impl Unescaped<'_> {
    fn code_unit(&mut self) -> Option<u32> {
        let digits = self.0.as_str().get(..4)?;
        self.0 = self.0.as_str().get(4..)?.chars();
        u32::from_str_radix(digits, 16).ok()
    }
}

impl Iterator for Unescaped<'_> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        let c = self.0.next()?;
        if c != '\\' {
            return Some(c);
        }
        Some(match self.0.next()? {
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => {
                let first = self.code_unit()?;
                let is_pair =
                    (0xd800..0xdc00).contains(&first) && self.0.as_str().starts_with("\\u");
                let code = if is_pair {
                    self.0 = self.0.as_str()[2..].chars();
                    let second = self.code_unit()?;
                    0x10000 + ((first - 0xd800) << 10) + second.wrapping_sub(0xdc00) % 0x400
                } else {
                    first
                };
                char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
            }
            other => other,
        })
    }
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scanner<'a> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// Skips space, and takes this byte if it comes next.
    fn takes(&mut self, byte: u8) -> bool {
        self.space();
        let comes = self.peek() == Some(byte);
        self.at += usize::from(comes);
        comes
    }

    fn expect(&mut self, byte: u8) -> Result<(), Problem> {
        if self.takes(byte) { Ok(()) } else { Err(INVALID) }
    }

    /// Takes a value, and finds the one at `steps` within it.
    fn find(&mut self, steps: &[Step], found: &mut Value<'a>, depth: u32) -> Result<(), Problem> {
        self.space();
        match (steps.split_first(), self.peek()) {
            (None, _) => *found = self.value(depth)?,
            (Some((Step::Key(wanted), rest)), Some(b'{')) => {
                self.at += 1;
                let mut more = !self.takes(b'}');
                while more {
                    self.space();
                    let is_wanted = is_text(self.string()?, wanted);
                    self.expect(b':')?;
                    if is_wanted {
                        *found = Value::Missing;
                        self.find(rest, found, depth + 1)?;
                    } else {
                        self.value(depth + 1)?;
                    }
                    more = self.another(b'}')?;
                }
            }
            (Some((Step::Index(wanted), rest)), Some(b'[')) => {
                self.at += 1;
                let (mut more, mut index) = (!self.takes(b']'), 0);
                while more {
                    match index == *wanted {
                        true => self.find(rest, found, depth + 1)?,
                        false => self.value(depth + 1).map(drop)?,
                    }
                    index += 1;
                    more = self.another(b']')?;
                }
            }
            _ => self.value(depth).map(drop)?,
        }
        Ok(())
    }

    /// True if a comma follows, false if `end` does.
    fn another(&mut self, end: u8) -> Result<bool, Problem> {
        match self.takes(b',') {
            true => Ok(true),
            false => self.expect(end).map(|()| false),
        }
    }

    /// Takes a value at this depth.
    fn value(&mut self, depth: u32) -> Result<Value<'a>, Problem> {
        self.space();
        match self.peek() {
            Some(b'{' | b'[') => self.composite(depth).map(|()| Value::Composite),
            Some(b'"') => self.string().map(Value::Escaped),
            Some(b'-' | b'0'..=b'9') => self.number().map(Value::Number),
            _ => {
                let words = [
                    ("true", Value::Bool(true)),
                    ("false", Value::Bool(false)),
                    ("null", Value::Null),
                ];
                let rest = &self.text[self.at..];
                let word = words.into_iter().find(|(word, _)| rest.starts_with(word));
                let (word, value) = word.ok_or(INVALID)?;
                self.at += word.len();
                Ok(value)
            }
        }
    }

    /// Takes an object or a list without recursion. One bit per open container says which it is.
    fn composite(&mut self, outer: u32) -> Result<(), Problem> {
        let (mut objects, mut depth) = (0_u128, 0_u32);
        loop {
            self.space();
            let opens = match self.peek() {
                Some(b'{') => Some(true),
                Some(b'[') => Some(false),
                _ => None,
            };
            match opens {
                Some(is_object) => {
                    self.at += 1;
                    depth += 1;
                    if outer + depth > MAX_DEPTH {
                        return Err("the reply is nested too deeply");
                    }
                    objects = objects << 1 | u128::from(is_object);
                    if !self.takes(if is_object { b'}' } else { b']' }) {
                        self.key(is_object)?;
                        continue;
                    }
                    (objects, depth) = (objects >> 1, depth - 1);
                }
                None => self.value(0).map(drop)?,
            }
            loop {
                if depth == 0 {
                    return Ok(());
                }
                let is_object = objects & 1 == 1;
                if self.another(if is_object { b'}' } else { b']' })? {
                    self.key(is_object)?;
                    break;
                }
                (objects, depth) = (objects >> 1, depth - 1);
            }
        }
    }

    /// If the container is an object, takes the key before a value.
    fn key(&mut self, is_object: bool) -> Result<(), Problem> {
        if is_object {
            self.space();
            self.string()?;
            self.expect(b':')?;
        }
        Ok(())
    }

    /// Takes a string, and returns what is between its quotes.
    fn string(&mut self) -> Result<&'a str, Problem> {
        if self.peek() != Some(b'"') {
            return Err(INVALID);
        }
        self.at += 1;
        let start = self.at;
        loop {
            let rest = &self.text.as_bytes()[self.at..];
            let plain = memchr2(b'"', b'\\', rest).ok_or(INVALID)?;
            // No early exit, so that many bytes are checked at a time.
            if rest[..plain].iter().fold(false, |found, byte| found | (*byte < 0x20)) {
                return Err(INVALID);
            }
            self.at += plain;
            if rest[plain] == b'"' {
                self.at += 1;
                return Ok(&self.text[start..self.at - 1]);
            }
            self.escape()?;
        }
    }

    fn escape(&mut self) -> Result<(), Problem> {
        let rest = &self.text.as_bytes()[self.at + 1..];
        let length = match rest.first() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => 2,
            Some(b'u') if rest.len() > 4 && rest[1..5].iter().all(u8::is_ascii_hexdigit) => 6,
            _ => return Err(INVALID),
        };
        self.at += length;
        Ok(())
    }

    fn number(&mut self) -> Result<&'a str, Problem> {
        let start = self.at;
        self.at += usize::from(self.peek() == Some(b'-'));
        let leading_zero = self.peek() == Some(b'0');
        let digits = self.digits()?;
        if leading_zero && digits > 1 {
            return Err(INVALID);
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            self.at += usize::from(matches!(self.peek(), Some(b'+' | b'-')));
            self.digits()?;
        }
        Ok(&self.text[start..self.at])
    }

    fn digits(&mut self) -> Result<usize, Problem> {
        let digits = self.text.as_bytes()[self.at..].iter().take_while(|it| it.is_ascii_digit());
        let count = digits.count();
        self.at += count;
        if count == 0 { Err(INVALID) } else { Ok(count) }
    }
}
