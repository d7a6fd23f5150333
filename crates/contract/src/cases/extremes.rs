//! Values at the limits of their ranges, and difficult text.

use super::probe::Probe;
use super::{Case, case};
use crate::profile::Need;
use crate::shape::Shape;
use crate::values::{Branch, Contact, FlatRecord, PropertyDto, Status, Tag, TreeNode, Value};

// What several cases verify. The contract's page has a single line for them.
const LENGTHS: &str = "texts of these lengths come back: the shortest; those around a longer length prefix, HTTP/2's default frame and its initial flow-control window; and 1 MiB";

#[rustfmt::skip]
pub(super) const CASES: &[Case] = &[
    case("text/length-1", &[], |probe| length(probe, 1),
        LENGTHS),
    case("text/length-127", &[], |probe| length(probe, 127),
        LENGTHS),
    case("text/length-128", &[], |probe| length(probe, 128),
        LENGTHS),
    case("text/length-16383", &[], |probe| length(probe, 16_383),
        LENGTHS),
    case("text/length-16384", &[], |probe| length(probe, 16_384),
        LENGTHS),
    case("text/length-65535", &[], |probe| length(probe, 65_535),
        LENGTHS),
    case("text/length-65536", &[], |probe| length(probe, 65_536),
        LENGTHS),
    case("text/length-1048576", &[], |probe| length(probe, 1 << 20),
        LENGTHS),
    case("text/unicode", &[Need::Decoding], text_unicode,
        "NUL, control, combining, right-to-left and four-byte characters, a byte-order mark and a joined emoji come back byte for byte"),
    case("record/extremes", &[Need::Decoding], record_extremes,
        "integers of every width come back exactly: smallest, largest, -1, and above 2^53"),
    case("record/unicode", &[Need::Decoding], record_unicode,
        "the texts of `text/unicode` come back in all eight string fields"),
    case("record/long-strings", &[], record_long_strings,
        "strings of 65,536, 70,000 and 100,000 bytes come back"),
    case("dto/extremes", &[Need::Decoding], dto_extremes,
        "the smallest and largest doubles and int32 come back, and negative zero, or 0.0 in its place"),
    case("dto/non-finite", &[Need::Decoding, Need::NonFinite], dto_non_finite,
        "NaN and both infinities come back"),
    case("tree/extremes", &[Need::Decoding, Need::EmptyMembers], tree_extremes,
        "extreme scalars and map values, a oneof member at its default, empty children and tags, and an empty map key come back, all present"),
    case("tree/non-finite", &[Need::Decoding, Need::NonFinite], tree_non_finite,
        "NaN and both infinities come back, as float and as double"),
    case("tree/unicode", &[Need::Decoding], tree_unicode,
        "the texts of `text/unicode` come back as names, tags and map keys, and all 256 byte values as bytes"),
];

/// NUL, characters that need escaping, a byte-order mark, combining marks, right-to-left text, the first and last
/// characters of two, three and four bytes, a joined emoji.
const STRINGS: [&str; 10] = [
    "\0",
    "a\0b\0",
    "\t\r\n\u{1b}\u{7f}\"\\/<&>'",
    "\u{feff}byte-order mark",
    "e\u{301}\u{323} \u{e9}",
    "שלום \u{202e}עולם",
    "\u{80}\u{7ff}\u{800}\u{d7ff}\u{e000}\u{ffff}",
    "\u{10000}\u{10ffff}",
    "👩\u{200d}👩\u{200d}👧\u{200d}👦🏽",
    "\u{fffd}",
];

fn length(probe: &mut Probe<'_>, bytes: u32) -> Result<(), String> {
    probe.echoes(&probe.value(Shape::Text(bytes), 0))
}

fn text_unicode(probe: &mut Probe<'_>) -> Result<(), String> {
    STRINGS.iter().try_for_each(|text| probe.echoes(&Value::Text((*text).to_owned())))
}

fn record_extremes(probe: &mut Probe<'_>) -> Result<(), String> {
    for (int, long) in [(i32::MIN, i64::MIN), (i32::MAX, i64::MAX), (-1, -1)] {
        let record = FlatRecord {
            field2: int,
            field5: vec![0, 1, u64::MAX, 1 << 53 | 1, 1 << 63],
            field16: int,
            field22: long,
            field128: int,
            field280: int,
            ..FlatRecord::default()
        };
        probe.echoes(&Value::Record(Box::new(record)))?;
    }
    // Doubles cannot represent 2^53 + 1.
    let record = FlatRecord { field22: (1 << 53) + 1, ..FlatRecord::default() };
    probe.echoes(&Value::Record(Box::new(record)))
}

fn record_unicode(probe: &mut Probe<'_>) -> Result<(), String> {
    let [field1, field4, field7, field9, field18, field102, field103, field129, ..] =
        STRINGS.map(str::to_owned);
    let record = FlatRecord {
        field1,
        field4,
        field7,
        field9,
        field18,
        field102,
        field103,
        field129,
        ..FlatRecord::default()
    };
    probe.echoes(&Value::Record(Box::new(record)))
}

fn record_long_strings(probe: &mut Probe<'_>) -> Result<(), String> {
    let text = |number: u64, bytes| match probe.value(Shape::Text(bytes), number) {
        Value::Text(text) => text,
        _ => String::new(),
    };
    let record = FlatRecord {
        field1: text(1, 65_536),
        field18: text(2, 70_000),
        field129: text(3, 100_000),
        ..FlatRecord::default()
    };
    probe.echoes(&Value::Record(Box::new(record)))
}

fn dto_extremes(probe: &mut Probe<'_>) -> Result<(), String> {
    let doubles = [
        [f64::MIN, f64::MAX, f64::EPSILON],
        [f64::MIN_POSITIVE, -f64::MIN_POSITIVE, f64::from_bits(1)],
    ];
    for [prop7, prop8, prop9] in doubles {
        let ints =
            PropertyDto { prop4: i32::MIN, prop5: i32::MAX, prop6: -1, ..PropertyDto::default() };
        probe.echoes(&Value::Dto(Box::new(PropertyDto { prop7, prop8, prop9, ..ints })))?;
    }
    let negative_zero = PropertyDto { prop7: -0.0, ..PropertyDto::default() };
    probe.echoes(&Value::Dto(Box::new(negative_zero)))
}

fn dto_non_finite(probe: &mut Probe<'_>) -> Result<(), String> {
    let [prop7, prop8, prop9] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
    let dto = PropertyDto { prop4: 1, prop7, prop8, prop9, ..PropertyDto::default() };
    probe.echoes(&Value::Dto(Box::new(dto)))
}

fn tree_extremes(probe: &mut Probe<'_>) -> Result<(), String> {
    let tree = TreeNode {
        age: i32::MIN,
        balance: i64::MIN,
        serial: u64::MAX,
        score: f64::MAX,
        ratio: f32::MAX,
        status: Status::Closed as i32,
        contact: Some(Contact::Phone(0)),
        left: Some(Branch::default()),
        counters: [
            (String::new(), 0),
            ("lowest".to_owned(), i64::MIN),
            ("highest".to_owned(), i64::MAX),
            ("zero".to_owned(), 0),
        ]
        .into(),
        ..TreeNode::default()
    };
    probe.echoes(&Value::Tree(Box::new(tree.clone())))?;
    let other = TreeNode {
        age: i32::MAX,
        balance: i64::MAX,
        score: f64::MIN,
        ratio: f32::MIN_POSITIVE,
        contact: Some(Contact::Email(String::new())),
        right: Some(Branch { id: u64::MAX, tags: vec![Tag::default(); 3], ..Branch::default() }),
        left: None,
        ..tree
    };
    probe.echoes(&Value::Tree(Box::new(other)))
}

fn tree_non_finite(probe: &mut Probe<'_>) -> Result<(), String> {
    for (score, ratio) in [(f64::NAN, f32::INFINITY), (f64::NEG_INFINITY, f32::NAN)] {
        let tree = TreeNode { score, ratio, ..TreeNode::default() };
        probe.echoes(&Value::Tree(Box::new(tree)))?;
    }
    Ok(())
}

fn tree_unicode(probe: &mut Probe<'_>) -> Result<(), String> {
    let tags = STRINGS.map(|text| Tag { key: text.to_owned(), value: text.repeat(3) });
    let tree = TreeNode {
        name: STRINGS.concat(),
        digest: (0..=u8::MAX).collect(),
        contact: Some(Contact::Email(STRINGS[8].to_owned())),
        left: Some(Branch { name: STRINGS[1].to_owned(), id: 1, tags: tags.into() }),
        counters: STRINGS.iter().zip(1..).map(|(key, value)| ((*key).to_owned(), value)).collect(),
        ..TreeNode::default()
    };
    probe.echoes(&Value::Tree(Box::new(tree)))
}
