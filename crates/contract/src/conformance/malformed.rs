//! Requests that must be refused, after which the server must go on.

use super::bench::Bench;
use super::encode::{Wire, delimited, tag, varint};
use super::{CallError, Case};
use crate::shape::Shape;

const SHAPES: [Shape; 4] = [Shape::Text(100), Shape::Record, Shape::Dto, Shape::Tree];
/// gRPC's status for a method that is not there.
const UNIMPLEMENTED: u32 = 12;

pub(super) const CASES: &[Case] = &[
    Case {
        name: "text/truncated",
        verifies: "a text request cut short is refused",
        run: |bench| truncated(bench, Shape::Text(100)),
    },
    Case {
        name: "record/truncated",
        verifies: "a record request cut short, or with a record cut short inside, is refused",
        run: |bench| truncated(bench, Shape::Record),
    },
    Case {
        name: "dto/truncated",
        verifies: "a dto request cut short, or with a dto cut short inside, is refused",
        run: |bench| truncated(bench, Shape::Dto),
    },
    Case {
        name: "tree/truncated",
        verifies: "a tree request cut short, or with a tree cut short inside, is refused",
        run: |bench| truncated(bench, Shape::Tree),
    },
    Case {
        name: "malformed/wire-type",
        verifies: "a field of a wire type that does not exist is refused",
        run: |bench| malformed(bench, "a field of wire type 7", &invalid_wire_type()),
    },
    Case {
        name: "malformed/length-past-end",
        verifies: "a length that reaches past the message's end is refused",
        run: length_past_end,
    },
    Case {
        name: "malformed/unfinished-tag",
        verifies: "a message that ends within a field's tag is refused",
        run: |bench| malformed(bench, "a tag without its last byte", &[0x8a]),
    },
    Case {
        name: "method/unknown",
        verifies: "a method that the service does not have gets status 12 (UNIMPLEMENTED)",
        run: |bench| unimplemented(bench, "/rpcbench.v1.Echo/Missing"),
    },
    Case {
        name: "method/unknown-service",
        verifies: "a service that is not there gets status 12 (UNIMPLEMENTED)",
        run: |bench| unimplemented(bench, "/rpcbench.v1.Missing/Text"),
    },
];

/// Cut after the tag, in the middle, and before the last byte; and, where the content is a message,
/// with a length that fits around content without its last byte, which is always amid a field.
fn truncated(bench: &mut Bench<'_>, shape: Shape) -> Result<(), String> {
    let whole = bench.payload(shape, 0).request();
    for end in [1, whole.len() / 2, whole.len() - 1] {
        let what = format!("a request cut to {end} of {} bytes", whole.len());
        bench.refuses(shape.method(), &whole[..end], &what)?;
    }
    if !matches!(shape, Shape::Text(_)) {
        let content = &whole[content_start(&whole)..whole.len() - 1];
        let what = "a request whose content lacks its last byte";
        bench.refuses(shape.method(), &delimited(1, content), what)?;
    }
    still_serves(bench, shape)
}

/// Where the content of field 1 begins: behind a tag of one byte and the length.
fn content_start(request: &[u8]) -> usize {
    2 + request[1..].iter().take_while(|byte| **byte >= 0x80).count()
}

/// Followed by what no decoder takes for a value of field 1 either.
fn invalid_wire_type() -> Vec<u8> {
    [tag(1, Wire::Invalid), varint(127), vec![b'a']].concat()
}

fn length_past_end(bench: &mut Bench<'_>) -> Result<(), String> {
    for length in [2, 1 << 20, i32::MAX as usize] {
        let request = [tag(1, Wire::Length), varint(length), vec![b'a']].concat();
        malformed(bench, &format!("a field of 1 byte that claims {length}"), &request)?;
    }
    Ok(())
}

fn malformed(bench: &mut Bench<'_>, what: &str, request: &[u8]) -> Result<(), String> {
    SHAPES.into_iter().try_for_each(|shape| {
        let what = format!("{what}, sent to {},", shape.method());
        bench.refuses(shape.method(), request, &what)?;
        still_serves(bench, shape)
    })
}

fn still_serves(bench: &mut Bench<'_>, shape: Shape) -> Result<(), String> {
    let payload = bench.payload(shape, 2);
    bench.echoes(&payload).map_err(|reason| format!("after a malformed request, {reason}"))
}

fn unimplemented(bench: &mut Bench<'_>, path: &str) -> Result<(), String> {
    let request = bench.payload(Shape::Text(100), 0).request();
    match bench.call(path, &request) {
        Err(CallError::Status { code: UNIMPLEMENTED, .. }) => Ok(()),
        Err(error) => Err(format!("{path}: {error}; expected status {UNIMPLEMENTED}")),
        Ok(reply) => Err(format!(
            "{path}: answered with OK (reply: {} B); expected status {UNIMPLEMENTED}",
            reply.len()
        )),
    }
}
