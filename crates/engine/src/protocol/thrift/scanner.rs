//! Finds the end of a struct that arrives in parts.

use std::marker::PhantomData;

use super::encoding::{Encoding, Entries, Kind};
use super::{MAX_MESSAGE, Problem};

/// Deepest nesting accepted.
const DEEPEST: usize = 64;

/// Scans a value once, however it is cut: bytes already scanned are not read again.
#[derive(Debug)]
pub(super) struct Scanner<E> {
    /// The enclosing values, outermost first.
    levels: Vec<Level>,
    /// The next value, if its head was read.
    next: Option<Kind>,
    /// Where to continue; may be past the bytes received.
    at: usize,
    encoding: PhantomData<E>,
}

#[derive(Debug)]
enum Level {
    Struct,
    /// This many values are left, alternating between these kinds.
    Entries {
        kinds: [Kind; 2],
        left: u64,
    },
}

impl<E: Encoding> Scanner<E> {
    /// A scanner for a value that begins at byte `at`.
    pub fn new(kind: Kind, at: usize) -> Self {
        let (levels, encoding) = (Vec::new(), PhantomData);
        Self { levels, next: Some(kind), at, encoding }
    }

    /// Starts again, reusing its memory.
    pub fn restart(&mut self, kind: Kind, at: usize) {
        self.levels.clear();
        (self.next, self.at) = (Some(kind), at);
    }

    /// The end of the value; `None` if it is incomplete. `bytes` must be those of the previous call, and more.
    #[inline]
    pub fn end(&mut self, bytes: &[u8]) -> Result<Option<usize>, Problem> {
        loop {
            if self.at > MAX_MESSAGE {
                return Err("a message longer than 64 MiB");
            }
            let Some(rest) = bytes.get(self.at..) else { return Ok(None) };
            let advanced = match (self.next, self.levels.last_mut()) {
                (Some(kind), _) => self.value(kind, rest)?,
                (None, None) => return Ok(Some(self.at)),
                (None, Some(Level::Struct)) => self.field(rest)?,
                (None, Some(Level::Entries { left: 0, .. })) => {
                    self.levels.pop();
                    true
                }
                (None, Some(Level::Entries { kinds, left })) => {
                    self.next = Some(kinds[usize::from(*left % 2 == 1)]);
                    *left -= 1;
                    true
                }
            };
            if !advanced {
                return Ok(None);
            }
        }
    }

    #[inline]
    fn field(&mut self, rest: &[u8]) -> Result<bool, Problem> {
        // Field numbers do not matter here.
        let Some(field) = E::field(rest, 0)? else { return Ok(false) };
        self.at += field.length;
        self.next = field.kind;
        if field.kind.is_none() {
            self.levels.pop();
        }
        Ok(true)
    }

    /// Skips a value, or the head of a container. False if it is incomplete.
    #[inline]
    fn value(&mut self, kind: Kind, rest: &[u8]) -> Result<bool, Problem> {
        let passed = match kind {
            Kind::Fixed(length) => Some(length),
            Kind::Varint => super::encoding::varint(rest)?.map(|(_, length)| length),
            Kind::Binary => E::size(rest)?.map(|(size, length)| length + size as usize),
            Kind::Struct => {
                self.enter(Level::Struct)?;
                Some(0)
            }
            Kind::List => E::list(rest)?.map(|list| self.entries(&list, 1)).transpose()?,
            Kind::Map => E::map(rest)?.map(|map| self.entries(&map, 2)).transpose()?,
        };
        let Some(passed) = passed else { return Ok(false) };
        self.at += passed;
        // The contents of a list, a map or a struct are next, one level down.
        self.next = None;
        Ok(true)
    }

    /// Skips the head of a list or a map, and its entries if all have a fixed length.
    fn entries(&mut self, head: &Entries, values: u64) -> Result<usize, Problem> {
        let count = u64::from(head.count);
        if let [Kind::Fixed(key), Kind::Fixed(value)] = head.kinds {
            let each = if values == 1 { key } else { key + value };
            return Ok(head.length + each * count as usize);
        }
        self.enter(Level::Entries { kinds: head.kinds, left: count * values })?;
        Ok(head.length)
    }

    fn enter(&mut self, level: Level) -> Result<(), Problem> {
        if self.levels.len() == DEEPEST {
            return Err("values nested more than 64 deep");
        }
        self.levels.push(level);
        Ok(())
    }
}
