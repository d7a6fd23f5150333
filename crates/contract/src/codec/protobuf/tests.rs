use proptest::prelude::*;

use super::*;
use crate::codec::Sent;
use crate::shape::Shape;
use crate::values::{Branch, Contact, Source, Tag};

fn tree() -> TreeNode {
    match Value::random(Shape::Tree, &mut Source::new(11)) {
        Value::Tree(tree) => TreeNode { contact: Some(Contact::Phone(5)), ..*tree },
        other => panic!("{other:?}"),
    }
}

fn value(tree: TreeNode) -> Value {
    Value::Tree(Box::new(tree))
}

fn encoded(tree: TreeNode) -> Vec<u8> {
    Protobuf.reply(&value(tree))
}

fn compare(expected: &Value, got: &[u8]) -> Result<(), Mismatch> {
    values::compare(expected.shape(), Some(expected), &read::reply(expected.shape(), got)?)
}

/// The mismatch of a tree after one change.
fn changed(change: impl Fn(&mut TreeNode)) -> String {
    let mut got = tree();
    change(&mut got);
    match compare(&value(tree()), &encoded(got)) {
        Ok(()) => "the same".to_owned(),
        Err(mismatch) => mismatch.to_string(),
    }
}

#[test]
fn difference_is_named_by_its_path() {
    insta::assert_snapshot!(changed(|_| ()), @"the same");
    insta::assert_snapshot!(changed(|tree| tree.age = 0), @"echo.age: expected 937894830, got 0");
    insta::assert_snapshot!(changed(|tree| tree.active = false), @"echo.active: expected true, got false");
    insta::assert_snapshot!(changed(|tree| tree.status = 77), @"echo.status: expected 2, got 77");
    insta::assert_snapshot!(changed(|tree| tree.digest.truncate(3)), @"echo.digest: expected 32 bytes be4cb9ab2825fab858aef2626e98e8d7d816b089.., got 3 bytes be4cb9");
    insta::assert_snapshot!(changed(|tree| tree.contact = None), @"echo.phone: expected 5, got nothing");
    insta::assert_snapshot!(changed(|tree| tree.contact = Some(Contact::Email("a@b".into()))), @r#"echo.email: expected nothing, got "a@b""#);
    insta::assert_snapshot!(changed(|tree| tree.right = None), @"echo.right: expected a Branch, got nothing");
    insta::assert_snapshot!(changed(|tree| tree.left = Some(Branch::default())), @r#"echo.left.name: expected "ZurGIXGJiWeUoeuj", got """#);
    insta::assert_snapshot!(changed(|tree| tree.name = "x".repeat(99)), @r#"echo.name: expected "typQ한GSrVLZILBY🚀CxN", got "xxxxxxxxxxxxxxxxxxxx".."xxxxxxxxxxxxxxxxxxxx" (99 bytes)"#);
    insta::assert_snapshot!(changed(|tree| {
        tree.left.iter_mut().for_each(|left| left.tags[1].value = "no".into());
    }), @r#"echo.left.tags[1].value: expected "NKLkXعbW한WVGxaf", got "no""#);
    insta::assert_snapshot!(changed(|tree| {
        tree.left.iter_mut().for_each(|left| left.tags.push(Tag::default()));
    }), @"echo.left.tags: expected 2 entries, got 3 entries");
}

#[test]
fn map_entries_are_compared_by_key() {
    insta::assert_snapshot!(changed(|tree| drop(tree.counters.pop_first())), @r#"echo.counters["KAskdMtV"]: expected 2294546927244192271, got nothing"#);
    insta::assert_snapshot!(changed(|tree| tree.counters.extend([("!".to_owned(), 3)])), @r#"echo.counters["!"]: expected nothing, got 3"#);
    insta::assert_snapshot!(changed(|tree| tree.counters.values_mut().for_each(|v| *v = 1)), @r#"echo.counters["KAskdMtV"]: expected 2294546927244192271, got 1"#);
}

#[test]
fn order_of_map_entries_and_of_fields_does_not_matter() {
    let whole = tree();
    let entry = |(key, value): (&String, &i64)| {
        let counters = [(key.clone(), *value)].into();
        encoded_tree(&TreeNode { counters, ..TreeNode::default() })
    };
    let mut entries: Vec<_> = whole.counters.iter().map(entry).collect();
    entries.reverse();
    let rest = encoded_tree(&TreeNode { counters: [].into(), ..whole.clone() });
    let reply = delimited(REPLY_FIELD, &[entries.concat(), rest].concat());
    assert_ne!(reply, encoded(whole.clone()));
    assert_eq!(compare(&value(whole.clone()), &reply), Ok(()));
    assert!(matches_exactly(&value(whole), &reply));
}

#[test]
fn nan_equals_nan_and_zero_equals_negative_zero() {
    let nan = |bits| TreeNode { score: f64::from_bits(bits), ratio: f32::NAN, ..tree() };
    let (quiet, other) = (nan(0x7ff8 << 48), nan(0xfff8 << 48 | 7));
    assert_eq!(compare(&value(quiet), &encoded(other)), Ok(()));
    let explicit = [0x12, 9, 0x31, 0, 0, 0, 0, 0, 0, 0, 0x80];
    assert_eq!(compare(&value(TreeNode::default()), &explicit), Ok(()));
}

#[test]
fn negative_zeros_are_sent_and_may_lose_their_sign() {
    let dto = PropertyDto { prop8: -0.0, prop10: true, ..PropertyDto::default() };
    let dto = Value::Dto(Box::new(dto));
    assert_eq!(Protobuf.request(&dto), b"\x0a\x0b\x50\x01\x41\0\0\0\0\0\0\0\x80");
    let tree = TreeNode { score: -0.0, ratio: -0.0, ..TreeNode::default() };
    assert_eq!(encoded(tree), b"\x12\x0e\x31\0\0\0\0\0\0\0\x80\x3d\0\0\0\x80");
    for right in [&Protobuf.reply(&dto)[..], b"\x12\x02\x50\x01"] {
        assert_eq!(Protobuf.verify(Sent::new(&dto, b""), right), Ok(()));
    }
}

#[test]
fn defaults_may_be_explicit() {
    let explicit = [0x12, 6, 0x0a, 0, 0x20, 0, 0x50, 0];
    assert_eq!(compare(&Value::empty(Shape::Dto), &explicit), Ok(()));
}

#[test]
fn unknown_fields_and_junk_are_refused() {
    let right = encoded(tree());
    let error = |junk: &[u8]| {
        let reply = [&right, junk].concat();
        assert!(!matches_exactly(&value(tree()), &reply));
        compare(&value(tree()), &reply).unwrap_err().to_string()
    };
    insta::assert_snapshot!(error(&[0x0a, 1, b'x']), @"unknown field 1 in the reply");
    insta::assert_snapshot!(error(&[0]), @"the reply is not a valid rpcbench.v1.TreeReply: failed to decode Protobuf message: invalid tag value: 0");
    insta::assert_snapshot!(error(b"\x7f"), @"the reply is not a valid rpcbench.v1.TreeReply: failed to decode Protobuf message: invalid wire type value: 7");
    let left = TreeNode { left: Some(Branch::default()), ..TreeNode::default() };
    let nested = compare(&value(left), &[0x12, 4, 0x62, 2, 0x28, 1]);
    insta::assert_snapshot!(nested.unwrap_err(), @"echo.left: unknown field 5 in the reply");
}

#[test]
fn absent_message_is_not_an_empty_one() {
    let empty = Value::empty(Shape::Tree);
    insta::assert_snapshot!(compare(&empty, b"").unwrap_err(), @"echo: expected a TreeNode, got nothing");
}

#[test]
fn replies_to_absent_content_are_absent_or_empty() {
    let verify = |reply: &[u8]| {
        Protobuf.verify(
            Sent { shape: Shape::Tree, content: None, request: b"", nested_unknown: false },
            reply,
        )
    };
    assert_eq!(verify(b""), Ok(()));
    assert_eq!(verify(&encoded(TreeNode::default())), Ok(()));
    let aged = encoded(TreeNode { age: 1, ..TreeNode::default() });
    insta::assert_snapshot!(verify(&aged).unwrap_err(), @"echo.age: expected 0, got 1");
}

#[test]
fn request_is_not_a_reply() {
    let (value, request) = (value(tree()), Protobuf.request(&value(tree())));
    assert_eq!(
        Protobuf.verify(Sent::new(&value, &request), &request),
        Err(Mismatch::RequestReturned)
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The fast check compares typed messages, the full check uses descriptors.
    #[test]
    fn fast_and_the_full_check_agree(seed: u64, length in 0_u32..5000) {
        for shape in [Shape::Text(length), Shape::Record, Shape::Dto, Shape::Tree] {
            let value = Value::random(shape, &mut Source::new(seed));
            let reply = Protobuf.reply(&value);
            prop_assert!(matches_exactly(&value, &reply));
            prop_assert_eq!(compare(&value, &reply), Ok(()));
        }
    }
}
