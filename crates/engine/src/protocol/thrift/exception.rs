//! `TApplicationException`, which a server sends instead of a result.

use super::encoding::{Encoding, Kind};
use super::scanner::Scanner;

/// Field numbers.
const MESSAGE: i16 = 1;
const TYPE: i16 = 2;
/// Characters kept of the message.
const MAX_LEN: usize = 1000;

/// Type and message; `None` if it can't be read.
pub(super) fn read<E: Encoding>(mut rest: &[u8]) -> Option<(u32, String)> {
    let (mut code, mut message, mut last) = (0, String::new(), 0);
    loop {
        let field = E::field(rest, last).ok()??;
        rest = rest.get(field.length..)?;
        last = field.number;
        let Some(kind) = field.kind else { return Some((code, message)) };
        let end = Scanner::<E>::new(kind, 0).end(rest).ok()??;
        let value = rest.split_off(..end)?;
        match (field.number, kind) {
            (MESSAGE, Kind::Binary) => {
                let (size, _) = E::size(value).ok()??;
                let text = String::from_utf8_lossy(&value[value.len() - size as usize..]);
                message = text.chars().take(MAX_LEN).collect();
            }
            (TYPE, Kind::Fixed(4) | Kind::Varint) => code = E::i32(value).ok()??.cast_unsigned(),
            _ => {}
        }
    }
}
