use proptest::prelude::*;

use super::*;
use crate::values::{Branch, Contact, Source, TreeNode};

const WIRES: [&Thrift; 2] = [&BINARY, &COMPACT];
const SHAPES: [Shape; 4] = [Shape::Text(100), Shape::Record, Shape::Dto, Shape::Tree];
const FORMS: [NonCanonical; 4] =
    [NonCanonical::Overlong, NonCanonical::Twice, NonCanonical::Reordered, NonCanonical::Unknown];

fn tree() -> TreeNode {
    match Value::random(Shape::Tree, &mut Source::new(11)) {
        Value::Tree(tree) => TreeNode { contact: Some(Contact::Phone(5)), ..*tree },
        other => panic!("{other:?}"),
    }
}

fn value(tree: TreeNode) -> Value {
    Value::Tree(Box::new(tree))
}

fn verify(codec: &Thrift, value: &Value, reply: &[u8]) -> Result<(), Mismatch> {
    let request = codec.request(value);
    let (shape, content) = (value.shape(), Some(value));
    codec.verify(Sent { shape, content, request: &request, nested_unknown: false }, reply)
}

/// The encoding of a codec.
fn encoding(codec: &Thrift) -> Encoding {
    if codec.0 == Wire::Binary { Encoding::ThriftBinary } else { Encoding::ThriftCompact }
}

/// Expected bytes come from Thrift's Python package.
#[test]
fn bytes_match_the_python_library() {
    let text = Value::Text("abc".to_owned());
    assert_eq!(BINARY.request(&text), b"\x0b\0\x01\0\0\0\x03abc\0");
    assert_eq!(BINARY.reply(&text), b"\x0b\0\x02\0\0\0\x03abc\0");
    assert_eq!(COMPACT.request(&text), b"\x18\x03abc\0");
    assert_eq!(COMPACT.reply(&text), b"\x28\x03abc\0");
    let small = TreeNode {
        name: "n".to_owned(),
        digest: vec![0xff],
        age: -1,
        active: true,
        score: 0.5,
        status: 3,
        contact: Some(Contact::Phone(u64::MAX)),
        right: Some(Branch { id: 1, ..Branch::default() }),
        counters: [("k".to_owned(), -2)].into(),
        ..TreeNode::default()
    };
    let expected: [&[u8]; 16] = [
        b"\x0c\0\x01",
        b"\x0b\0\x01\0\0\0\x01n",
        b"\x0b\0\x02\0\0\0\x01\xff",
        b"\x08\0\x03\xff\xff\xff\xff",
        b"\x0a\0\x04\0\0\0\0\0\0\0\0",
        b"\x0a\0\x05\0\0\0\0\0\0\0\0",
        b"\x04\0\x06\x3f\xe0\0\0\0\0\0\0",
        b"\x04\0\x07\0\0\0\0\0\0\0\0",
        b"\x02\0\x08\x01",
        b"\x08\0\x09\0\0\0\x03",
        b"\x0c\0\x0a\x0a\0\x0b\xff\xff\xff\xff\xff\xff\xff\xff\0",
        b"\x0c\0\x0d\x0b\0\x01\0\0\0\0",
        b"\x0a\0\x02\0\0\0\0\0\0\0\x01",
        b"\x0f\0\x03\x0c\0\0\0\0\0",
        b"\x0d\0\x0e\x0b\x0a\0\0\0\x01\0\0\0\x01k\xff\xff\xff\xff\xff\xff\xff\xfe",
        b"\0\0",
    ];
    assert_eq!(BINARY.request(&value(small.clone())), expected.concat());
    let expected: [&[u8]; 10] = [
        b"\x1c",
        b"\x18\x01n\x18\x01\xff\x15\x01\x16\0\x16\0",
        b"\x17\0\0\0\0\0\0\xe0\x3f\x17\0\0\0\0\0\0\0\0",
        b"\x11\x15\x06",
        b"\x1c\xb6\x01\0",
        b"\x3c\x18\0\x16\x02\x19\x0c\0",
        b"\x1b\x01\x86\x01k\x03",
        b"\0\0",
        b"",
        b"",
    ];
    assert_eq!(COMPACT.request(&value(small)), expected.concat());
}

#[test]
fn non_canonical_requests_differ_in_bytes_but_not_in_meaning() {
    for codec in WIRES {
        for (shape, form) in SHAPES.into_iter().flat_map(|s| FORMS.map(|o| (s, o))) {
            let [value, other] = [1, 2].map(|seed| Value::random(shape, &mut Source::new(seed)));
            for variant in
                [0, 1, 2, 3].map(|number| NonCanonicalVariant::numbered(form, shape, number))
            {
                let request = codec.non_canonical_request(&value, &other, variant);
                let nothing_to_lengthen = (codec.0, form) == (Wire::Binary, NonCanonical::Overlong);
                let is_usual = request == codec.request(&value);
                assert_eq!(is_usual, nothing_to_lengthen, "{shape} {variant:?}");
                let reply = thrift_reply(encoding(codec), shape.method(), &request).unwrap();
                assert_eq!(reply, codec.reply(&value), "{shape} {variant:?}");
            }
        }
    }
}

#[test]
fn unknown_fields_of_any_type_are_skipped() {
    for (codec, shape) in WIRES.into_iter().flat_map(|codec| SHAPES.map(|shape| (codec, shape))) {
        let value = Value::random(shape, &mut Source::new(1));
        let request = codec.with_unknown_fields(&value);
        assert!(request.len() > codec.request(&value).len() + 100);
        let reply = thrift_reply(encoding(codec), shape.method(), &request).unwrap();
        assert_eq!(reply, codec.reply(&value));
    }
}

/// The mismatch of a reply that contains a non-canonical request's content, as if copied.
fn copied(codec: &Thrift, form: NonCanonical) -> String {
    let [value, other] = [1, 2].map(|seed| Value::random(Shape::Dto, &mut Source::new(seed)));
    let mut writer = Writer::new(codec.0, Some(NonCanonicalVariant::everywhere(form)));
    let of = schema::reply(Shape::Dto);
    let message =
        |value: &Value| Message::of(of.name, vec![Field::new("echo", Some(value.content()))]);
    writer.structure(of, &message(&value), &message(&other));
    verify(codec, &value, &writer.out).unwrap_err().to_string()
}

#[test]
fn copies_of_non_canonical_requests_are_refused() {
    insta::assert_snapshot!(copied(&BINARY, NonCanonical::Twice), @"echo occurs twice in the reply, which no encoder writes; decode every level of the request and encode its content again");
    insta::assert_snapshot!(copied(&COMPACT, NonCanonical::Twice), @"echo occurs twice in the reply, which no encoder writes; decode every level of the request and encode its content again");
    insta::assert_snapshot!(copied(&COMPACT, NonCanonical::Overlong), @"a field header takes more bytes than it needs in the reply, which no encoder writes; decode every level of the request and encode its content again");
    insta::assert_snapshot!(copied(&BINARY, NonCanonical::Unknown), @"echo: unknown field 1001 in the reply");
    insta::assert_snapshot!(copied(&COMPACT, NonCanonical::Reordered), @"echo: unknown field 1001 in the reply");
}

/// The mismatch of a tree after one change.
fn changed(codec: &Thrift, change: impl Fn(&mut TreeNode)) -> String {
    let mut got = tree();
    change(&mut got);
    match verify(codec, &value(tree()), &codec.reply(&value(got))) {
        Ok(()) => "the same".to_owned(),
        Err(mismatch) => mismatch.to_string(),
    }
}

#[test]
fn difference_is_named_by_its_path() {
    for codec in WIRES {
        insta::allow_duplicates! {
            insta::assert_snapshot!(changed(codec, |_| ()), @"the same");
            insta::assert_snapshot!(changed(codec, |tree| tree.serial = 0), @"echo.serial: expected 12772675790885127200, got 0");
            insta::assert_snapshot!(changed(codec, |tree| tree.contact = None), @"echo.phone: expected 5, got nothing");
            insta::assert_snapshot!(changed(codec, |tree| tree.contact = Some(Contact::Email("a".into()))), @r#"echo.email: expected nothing, got "a""#);
            insta::assert_snapshot!(changed(codec, |tree| tree.right = None), @"echo.right: expected a Branch, got nothing");
            insta::assert_snapshot!(changed(codec, |tree| tree.left = Some(Branch::default())), @r#"echo.left.name: expected "ZurGIXGJiWeUoeuj", got """#);
            insta::assert_snapshot!(changed(codec, |tree| drop(tree.counters.pop_first())), @r#"echo.counters["KAskdMtV"]: expected 2294546927244192271, got nothing"#);
        }
    }
}

#[test]
fn order_does_not_matter_and_defaults_may_be_left_out() {
    let value = Value::empty(Shape::Dto);
    assert_eq!(verify(&BINARY, &value, b"\x0c\0\x02\0\0"), Ok(()));
    assert_eq!(verify(&COMPACT, &value, b"\x2c\0\0"), Ok(()));
    assert_eq!(verify(&COMPACT, &value, b"\x2c\xc2\x02\x14\x05\x08\0\0\0"), Ok(()));
    assert!(verify(&COMPACT, &value, b"\0").is_err(), "an absent struct is not an empty one");
}

#[test]
fn invalid_replies_are_described() {
    let text = Value::Text("abc".to_owned());
    let error = |codec: &Thrift, reply: &[u8]| verify(codec, &text, reply).unwrap_err().to_string();
    insta::assert_snapshot!(error(&BINARY, b"\x0b\0\x02\0\0\0\x04abc\0"), @"the reply is not a valid TextReply: cut off in a field header");
    insta::assert_snapshot!(error(&BINARY, b"\x0b\0\x02\0\0\0\x05abc\0"), @"the reply is not a valid TextReply: echo claims 5 bytes or entries, 4 follow");
    insta::assert_snapshot!(error(&BINARY, b"\x0b\0\x02\xff\xff\xff\xffabc\0"), @"the reply is not a valid TextReply: echo claims 4294967295 bytes or entries, 4 follow");
    insta::assert_snapshot!(error(&BINARY, b"\x0b\0\x02\0\0\0\x03abc"), @"the reply is not a valid TextReply: cut off in a field header");
    insta::assert_snapshot!(error(&BINARY, b"\x0b\0\x02\0\0\0\x03abc\0\0"), @"the reply is not a valid TextReply: 1 trailing bytes");
    insta::assert_snapshot!(error(&BINARY, b"\x08\0\x02\0\0\0\x03\0"), @"the reply is not a valid TextReply: echo has type 8; expected Binary");
    insta::assert_snapshot!(error(&BINARY, b"\x05\0\x03\0"), @"the reply is not a valid TextReply: unknown type 5");
    insta::assert_snapshot!(error(&COMPACT, b"\x28\x03abc\x18\x03abc\0"), @"unknown field 3 in the reply");
    insta::assert_snapshot!(error(&COMPACT, b"\x28\x03a\xffc\0"), @"the reply is not a valid TextReply: echo: invalid utf-8 sequence of 1 bytes from index 1");
    insta::assert_snapshot!(error(&COMPACT, b"\x18\x03abc\0"), @"the reply is the request, byte for byte; decode it and return its content as `echo`");
    insta::assert_snapshot!(error(&COMPACT, b"\x28\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), @"the reply is not a valid TextReply: echo has a number of more than 10 bytes");
}

#[test]
fn float_in_a_double_keeps_its_value() {
    for (codec, ratio) in WIRES.into_iter().zip([f32::NAN, f32::MIN_POSITIVE]) {
        let expected = value(TreeNode { ratio, ..tree() });
        assert_eq!(verify(codec, &expected, &codec.reply(&expected)), Ok(()));
    }
    let reply = BINARY.reply(&value(TreeNode { ratio: 0.1, ..TreeNode::default() }));
    let exact = f64::from(0.1_f32).to_be_bytes();
    let at = reply.windows(8).position(|bytes| bytes == exact).unwrap();
    let rounded = [&reply[..at], &0.1_f64.to_be_bytes(), &reply[at + 8..]].concat();
    let expected = value(TreeNode { ratio: 0.1, ..TreeNode::default() });
    insta::assert_snapshot!(verify(&BINARY, &expected, &rounded).unwrap_err(), @"echo.ratio: expected 0.10000000149011612, got 0.1");
}

proptest! {
        #[test]
    fn arbitrary_bytes_are_refused(bytes in prop::collection::vec(0_u8..30, 0..60)) {
        for (codec, shape) in WIRES.into_iter().flat_map(|codec| SHAPES.map(|shape| (codec, shape))) {
            let value = Value::random(shape, &mut Source::new(3));
            prop_assert!(verify(codec, &value, &bytes).is_err());
            let _ = thrift_reply(encoding(codec), shape.method(), &bytes);
        }
    }
}
