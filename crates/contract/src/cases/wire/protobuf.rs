//! Valid protobuf that only a decoding server answers correctly.

use prost::Message as _;

use crate::cases::probe::Probe;
use crate::cases::{Case, SHAPES, TEXT, case};
use crate::codec::Encoding;
use crate::codec::protobuf::wire::{delimited, fixed64};
use crate::profile::Need;
use crate::values::{FlatRecord, Value};

const PROTOBUF: &[Need] = &[Need::Wire(Encoding::Protobuf)];

#[rustfmt::skip]
pub(in crate::cases) const CASES: &[Case] = &[
    case("wire/reply-is-not-request", PROTOBUF, reply_is_not_request,
        "the reply holds field 1, even if the request also has a field 2, in each method"),
    case("wire/last-value-wins", PROTOBUF, last_value_wins,
        "if field 1 of `Text` occurs twice, the second value comes back"),
    case("wire/any-order", PROTOBUF, any_order,
        "a record with its fields out of order and an unpacked list comes back"),
];

/// A server that returns the bytes of the request also returns field 2, which it should ignore.
fn reply_is_not_request(probe: &mut Probe<'_>) -> Result<(), String> {
    for shape in SHAPES {
        let (wanted, decoy) = (probe.value(shape, 0), probe.value(shape, 1));
        let request = [probe.codec().request(&wanted), probe.codec().reply(&decoy)].concat();
        probe.returns(&wanted, &request)?;
    }
    Ok(())
}

/// Texts only: libraries differ in how they merge a message that occurs twice.
fn last_value_wins(probe: &mut Probe<'_>) -> Result<(), String> {
    let (early, late) = (probe.value(TEXT, 0), probe.value(TEXT, 1));
    let request = [probe.codec().request(&early), probe.codec().request(&late)].concat();
    probe.returns(&late, &request)
}

fn any_order(probe: &mut Probe<'_>) -> Result<(), String> {
    let late = FlatRecord { field280: 280, field129: "129".to_owned(), ..FlatRecord::default() };
    let early =
        FlatRecord { field1: "1".to_owned(), field2: -2, field30: true, ..FlatRecord::default() };
    let list = [1, u64::MAX, 3];
    let unpacked = list.map(|bits| fixed64(5, bits)).concat();
    let content = [late.encode_to_vec(), unpacked, early.encode_to_vec()].concat();
    let whole = FlatRecord {
        field280: late.field280,
        field129: late.field129,
        field5: list.into(),
        ..early
    };
    probe.returns(&Value::Record(Box::new(whole)), &delimited(1, &content))
}
