//! Protobuf that is legal and that no library writes: what was decoded at every level comes back in the usual form, and
//! what was copied does not. And texts that are no UTF-8.

use crate::cases::Case;
use crate::cases::probe::Probe;
use crate::codec::{Encoding, Oddity, Sent};
use crate::profile::Need;
use crate::shape::Shape;

const TEXT: Shape = Shape::Text(100);
const PROTOBUF: &[Need] = &[Need::Wire(Encoding::Protobuf)];

pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        name: "text/overlong",
        verifies: "tags and lengths in more bytes than they need are understood",
        needs: PROTOBUF,
        run: |probe| odd(probe, TEXT, Oddity::Overlong),
    },
    Case {
        name: "record/overlong",
        verifies: "numbers in more bytes than they need, at every level, are understood and written anew",
        needs: PROTOBUF,
        run: |probe| odd(probe, Shape::Record, Oddity::Overlong),
    },
    Case {
        name: "dto/overlong",
        verifies: "numbers in more bytes than they need, at every level, are understood and written anew",
        needs: PROTOBUF,
        run: |probe| odd(probe, Shape::Dto, Oddity::Overlong),
    },
    Case {
        name: "tree/overlong",
        verifies: "numbers in more bytes than they need, at every level, are understood and written anew",
        needs: PROTOBUF,
        run: |probe| odd(probe, Shape::Tree, Oddity::Overlong),
    },
    Case {
        name: "record/twice",
        verifies: "of fields that come twice, at every level, the later value counts and comes back once",
        needs: PROTOBUF,
        run: |probe| odd(probe, Shape::Record, Oddity::Twice),
    },
    Case {
        name: "dto/twice",
        verifies: "of fields that come twice, at every level, the later value counts and comes back once",
        needs: PROTOBUF,
        run: |probe| odd(probe, Shape::Dto, Oddity::Twice),
    },
    Case {
        name: "tree/twice",
        verifies: "of fields and map keys that come twice, at every level, the later value counts and comes back once",
        needs: PROTOBUF,
        run: |probe| odd(probe, Shape::Tree, Oddity::Twice),
    },
    Case {
        name: "record/reordered",
        verifies: "fields in falling order and a list in pieces are understood and written anew",
        needs: PROTOBUF,
        run: |probe| odd(probe, Shape::Record, Oddity::Reordered),
    },
    Case {
        name: "dto/reordered",
        verifies: "fields in falling order are understood and written anew",
        needs: PROTOBUF,
        run: |probe| odd(probe, Shape::Dto, Oddity::Reordered),
    },
    Case {
        name: "tree/reordered",
        verifies: "fields in falling order, at every level and in map entries, are understood and written anew",
        needs: PROTOBUF,
        run: |probe| odd(probe, Shape::Tree, Oddity::Reordered),
    },
    Case {
        name: "record/unknown-inside",
        verifies: "a record with fields that its type does not have is understood and written anew",
        needs: PROTOBUF,
        run: |probe| odd(probe, Shape::Record, Oddity::Unknown),
    },
    Case {
        name: "dto/unknown-inside",
        verifies: "a dto with fields that its type does not have is understood and written anew",
        needs: PROTOBUF,
        run: |probe| odd(probe, Shape::Dto, Oddity::Unknown),
    },
    Case {
        name: "tree/unknown-inside",
        verifies: "fields that the types do not have, at every level, are tolerated, and the rest is written anew",
        needs: PROTOBUF,
        run: |probe| odd(probe, Shape::Tree, Oddity::Unknown),
    },
    Case {
        name: "text/invalid-utf8",
        verifies: "a text that is no UTF-8 is refused",
        needs: PROTOBUF,
        run: |probe| invalid_utf8(probe, TEXT),
    },
    Case {
        name: "record/invalid-utf8",
        verifies: "a record with a string that is no UTF-8 is refused",
        needs: PROTOBUF,
        run: |probe| invalid_utf8(probe, Shape::Record),
    },
    Case {
        name: "dto/invalid-utf8",
        verifies: "a dto with a string that is no UTF-8 is refused",
        needs: PROTOBUF,
        run: |probe| invalid_utf8(probe, Shape::Dto),
    },
    Case {
        name: "tree/invalid-utf8",
        verifies: "a tree with a string or a map key that is no UTF-8, at any level, is refused",
        needs: PROTOBUF,
        run: |probe| invalid_utf8(probe, Shape::Tree),
    },
];

/// Values tried of each oddity.
const VALUES: u64 = 4;

/// A byte that never occurs, a continuation without a beginning, a character cut short, a NUL in two bytes, half of a
/// surrogate pair, a number past the last character. Unicode 17, table 3-7.
const INVALID: [&[u8]; 6] =
    [b"\xff", b"\x80", b"\xe2\x82\x41", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80"];

fn odd(probe: &mut Probe<'_>, shape: Shape, oddity: Oddity) -> Result<(), String> {
    (0..VALUES).try_for_each(|number| {
        let (value, other) = (probe.value(shape, number), probe.value(shape, number + VALUES));
        let request = probe.codec().odd_request(&value, &other, oddity);
        probe.answers(Sent {
            shape,
            content: Some(&value),
            request: &request,
            unknown_inside: oddity == Oddity::Unknown,
        })
    })
}

/// Each text of the value in turn, with bytes at its beginning that are no UTF-8.
fn invalid_utf8(probe: &mut Probe<'_>, shape: Shape) -> Result<(), String> {
    let value = probe.value(shape, 0);
    let request = probe.codec().request(&value);
    for (number, (path, text)) in value.texts().into_iter().enumerate() {
        let invalid = INVALID[number % INVALID.len()];
        let at = request.windows(text.len()).position(|bytes| bytes == text.as_bytes());
        let at = at.ok_or_else(|| format!("{path} is not in the request; please report this"))?;
        let mut broken = request.clone();
        broken[at..at + invalid.len()].copy_from_slice(invalid);
        probe.refuses(shape, &broken, &format!("{path} with bytes that are no UTF-8"))?;
    }
    let next = probe.value(shape, 1);
    probe.echoes(&next).map_err(|reason| format!("after a text that is no UTF-8, {reason}"))
}
