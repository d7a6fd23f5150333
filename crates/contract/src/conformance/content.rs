//! Messages that are full, empty, or not there.

use super::Case;
use super::bench::Bench;
use super::encode::delimited;
use crate::payload::Payload;
use crate::shape::Shape;

const TEXT: Shape = Shape::Text(100);

pub(super) const CASES: &[Case] = &[
    Case {
        name: "text/filled",
        verifies: "a text of 100 bytes comes back",
        run: |bench| filled(bench, TEXT),
    },
    Case {
        name: "record/filled",
        verifies: "all 40 fields of a record come back",
        run: |bench| filled(bench, Shape::Record),
    },
    Case {
        name: "dto/filled",
        verifies: "strings, integers, doubles and booleans come back",
        run: |bench| filled(bench, Shape::Dto),
    },
    Case {
        name: "tree/filled",
        verifies: "scalars, enum, both arms of the oneof, nested lists and the map come back",
        run: |bench| filled(bench, Shape::Tree),
    },
    Case {
        name: "text/empty",
        verifies: "an empty text comes back, whether the request leaves it out or spells it out",
        run: text_empty,
    },
    Case {
        name: "record/empty",
        verifies: "a record with every field at its default comes back as one that is there",
        run: |bench| bench.echoes(&Payload::Record(Box::default())),
    },
    Case {
        name: "dto/empty",
        verifies: "a dto with every field at its default comes back as one that is there",
        run: |bench| bench.echoes(&Payload::Dto(Box::default())),
    },
    Case {
        name: "tree/empty",
        verifies: "a tree with nothing in it comes back as one that is there",
        run: |bench| bench.echoes(&Payload::Tree(Box::default())),
    },
    Case {
        name: "record/absent",
        verifies: "a request without a record is answered without one, or with an empty one",
        run: |bench| absent(bench, &Payload::Record(Box::default())),
    },
    Case {
        name: "dto/absent",
        verifies: "a request without a dto is answered without one, or with an empty one",
        run: |bench| absent(bench, &Payload::Dto(Box::default())),
    },
    Case {
        name: "tree/absent",
        verifies: "a request without a tree is answered without one, or with an empty one",
        run: |bench| absent(bench, &Payload::Tree(Box::default())),
    },
];

/// Enough payloads that both arms of the oneof and every value of the enum are among them.
fn filled(bench: &mut Bench<'_>, shape: Shape) -> Result<(), String> {
    (0..16).try_for_each(|number| bench.echoes(&bench.payload(shape, number)))
}

fn text_empty(bench: &mut Bench<'_>) -> Result<(), String> {
    let empty = Payload::Text(String::new());
    bench.echoes(&empty)?;
    bench.replies(empty.shape(), &delimited(1, b""), &[empty.reply()])
}

/// Libraries differ in whether they copy a message that is not there, and both are right.
fn absent(bench: &mut Bench<'_>, empty: &Payload) -> Result<(), String> {
    bench.replies(empty.shape(), &[], &[Vec::new(), empty.reply()])
}
