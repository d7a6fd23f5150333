//! Valid encodings that only a server which decodes gets right.

use super::Case;
use super::bench::Bench;
use super::encode::{delimited, fixed64, unknown_fields};
use crate::payload::Payload;
use crate::pb::FlatRecord;
use crate::shape::Shape;
use prost::Message as _;

const SHAPES: [Shape; 4] = [Shape::Text(100), Shape::Record, Shape::Dto, Shape::Tree];

pub(super) const CASES: &[Case] = &[
    Case {
        name: "wire/reply-is-not-request",
        verifies: "the reply holds what field 1 carried, even when the request has a field 2 as well",
        run: reply_is_not_request,
    },
    Case {
        name: "wire/unknown-fields",
        verifies: "fields that the contract does not know are tolerated and not returned",
        run: unknown_fields_are_tolerated,
    },
    Case {
        name: "wire/last-value-wins",
        verifies: "of a field that comes twice, the later value counts",
        run: last_value_wins,
    },
    Case {
        name: "wire/any-order",
        verifies: "fields out of order and a list that is not packed are understood",
        run: any_order,
    },
];

/// A server that returns the request's bytes hands field 2, which it should not even look at, back.
fn reply_is_not_request(bench: &mut Bench<'_>) -> Result<(), String> {
    for shape in SHAPES {
        let (wanted, decoy) = (bench.payload(shape, 0), bench.payload(shape, 1));
        let request = [wanted.request(), decoy.reply()].concat();
        bench.replies(shape, &request, &[wanted.reply()])?;
    }
    Ok(())
}

fn unknown_fields_are_tolerated(bench: &mut Bench<'_>) -> Result<(), String> {
    for shape in SHAPES {
        let payload = bench.payload(shape, 0);
        let request = [unknown_fields(), payload.request(), unknown_fields()].concat();
        bench.replies(shape, &request, &[payload.reply()])?;
    }
    Ok(())
}

/// Of texts only: libraries differ in how they join a message that comes twice.
fn last_value_wins(bench: &mut Bench<'_>) -> Result<(), String> {
    let shape = Shape::Text(100);
    let (early, late) = (bench.payload(shape, 0), bench.payload(shape, 1));
    bench.replies(shape, &[early.request(), late.request()].concat(), &[late.reply()])
}

fn any_order(bench: &mut Bench<'_>) -> Result<(), String> {
    let late = FlatRecord { field280: 280, field129: "129".to_owned(), ..FlatRecord::default() };
    let early =
        FlatRecord { field1: "1".to_owned(), field2: -2, field30: true, ..FlatRecord::default() };
    let list = [1, u64::MAX, 3];
    let unpacked = list.map(|bits| fixed64(5, bits)).concat();
    let request = delimited(1, &[late.encode_to_vec(), unpacked, early.encode_to_vec()].concat());
    let whole = FlatRecord {
        field280: late.field280,
        field129: late.field129,
        field5: list.into(),
        ..early
    };
    bench.replies(Shape::Record, &request, &[Payload::Record(Box::new(whole)).reply()])
}
