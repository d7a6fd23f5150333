//! Types and numbers in Thrift's two encodings. Sources: `thrift-binary-protocol.md` and
//! `thrift-compact-protocol.md` of Apache Thrift.

use super::schema::Kind;

/// One of Thrift's encodings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wire {
    Binary,
    Compact,
}

/// Type of a value on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Bool,
    I8,
    I16,
    I32,
    I64,
    Double,
    /// Text or bytes.
    Binary,
    List,
    Set,
    Map,
    Struct,
}

/// Types with their numbers in the binary and the compact protocol. The compact protocol encodes the value of boolean fields in
/// the type: 1 is true, 2 is false.
const TYPES: [(Type, u8, u8); 11] = [
    (Type::Bool, 2, 1),
    (Type::I8, 3, 3),
    (Type::I16, 6, 4),
    (Type::I32, 8, 5),
    (Type::I64, 10, 6),
    (Type::Double, 4, 7),
    (Type::Binary, 11, 8),
    (Type::List, 15, 9),
    (Type::Set, 14, 10),
    (Type::Map, 13, 11),
    (Type::Struct, 12, 12),
];

/// Type of a boolean field that is false, in the compact protocol.
pub(super) const COMPACT_FALSE: u8 = 2;
/// Longest list whose length the compact protocol stores in the byte with its type.
pub(super) const SHORT_LIST: usize = 14;

impl Type {
    pub fn of(kind: Kind) -> Self {
        match kind {
            Kind::Bool => Self::Bool,
            Kind::I32 => Self::I32,
            Kind::I64 | Kind::U64 => Self::I64,
            Kind::Double => Self::Double,
            Kind::Text | Kind::Bytes => Self::Binary,
            Kind::Struct(_) | Kind::Union(_) => Self::Struct,
            Kind::List(_) => Self::List,
            Kind::Map => Self::Map,
        }
    }

    pub fn number(self, wire: Wire) -> u8 {
        let (_, binary, compact) = TYPES[self as usize];
        if wire == Wire::Binary { binary } else { compact }
    }

    pub fn numbered(number: u8, wire: Wire) -> Option<Self> {
        let known = |(of, _, _): &(Self, u8, u8)| {
            of.number(wire) == number
                || (*of, wire, number) == (Self::Bool, Wire::Compact, COMPACT_FALSE)
        };
        TYPES.iter().find(|entry| known(entry)).map(|(of, _, _)| *of)
    }
}

/// Maps signed numbers so that small ones are short: 0, -1, 1, -2 become 0, 1, 2, 3.
pub(super) fn zigzag(number: i64) -> u64 {
    (number << 1 ^ number >> 63).cast_unsigned()
}

/// The inverse of [`zigzag`].
pub(super) fn unzigzag(number: u64) -> i64 {
    (number >> 1).cast_signed() ^ -(number & 1).cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::varint;

    #[test]
    fn types_are_found_by_their_numbers() {
        for (at, (of, binary, compact)) in TYPES.into_iter().enumerate() {
            assert_eq!(of as usize, at);
            assert_eq!(Type::numbered(binary, Wire::Binary), Some(of));
            assert_eq!(Type::numbered(compact, Wire::Compact), Some(of));
        }
        assert_eq!(Type::numbered(2, Wire::Compact), Some(Type::Bool));
        assert_eq!(Type::numbered(5, Wire::Binary), None);
        assert_eq!(
            (Type::numbered(0, Wire::Compact), Type::numbered(15, Wire::Compact)),
            (None, None)
        );
    }

    #[test]
    fn small_numbers_are_short_with_either_sign() {
        assert_eq!([0, -1, 1, -2].map(zigzag), [0, 1, 2, 3]);
        for number in [0, 7, -7, i64::MIN, i64::MAX] {
            assert_eq!(unzigzag(zigzag(number)), number);
        }
        assert_eq!(varint(zigzag(i64::MIN)).len(), 10);
        assert_eq!(varint(300), [0xac, 2]);
    }
}
