use prost::Message as _;

use super::*;
use crate::payload::Payload;
use crate::pb::{Branch, Tag, TreeNode, TreeReply, tree_node::Contact};
use crate::source::Source;

fn tree() -> TreeNode {
    match Payload::random(Shape::Tree, &mut Source::new(11)) {
        Payload::Tree(tree) => TreeNode { contact: Some(Contact::Phone(5)), ..*tree },
        other => panic!("{other:?}"),
    }
}

fn encoded(echo: TreeNode) -> Vec<u8> {
    TreeReply { echo: Some(echo) }.encode_to_vec()
}

/// What is said of a tree with one change.
fn changed(change: impl Fn(&mut TreeNode)) -> String {
    let mut got = tree();
    change(&mut got);
    match compare(Shape::Tree, &encoded(tree()), &encoded(got)) {
        Ok(()) => "the same".to_owned(),
        Err(mismatch) => mismatch.to_string(),
    }
}

#[test]
fn a_difference_is_named_by_its_path() {
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
fn the_order_of_map_entries_and_of_fields_does_not_matter() {
    let whole = tree();
    let mut entries: Vec<_> = whole
        .counters
        .iter()
        .map(|(key, value)| TreeNode {
            counters: [(key.clone(), *value)].into(),
            ..TreeNode::default()
        })
        .map(|one| one.encode_to_vec())
        .collect();
    entries.reverse();
    let rest = TreeNode { counters: [].into(), ..whole.clone() }.encode_to_vec();
    let content = [entries.concat(), rest].concat();
    let mut reply = vec![0x12];
    prost::encode_length_delimiter(content.len(), &mut reply).unwrap();
    reply.extend(content);
    assert_ne!(reply, encoded(whole.clone()));
    assert_eq!(compare(Shape::Tree, &encoded(whole.clone()), &reply), Ok(()));
    assert!(Payload::Tree(Box::new(whole)).is_plainly(&reply));
}

#[test]
fn nan_equals_nan_and_zero_equals_negative_zero() {
    let nan = |bits| encoded(TreeNode { score: f64::from_bits(bits), ratio: f32::NAN, ..tree() });
    let (quiet, other) = (nan(0x7ff8 << 48), nan(0xfff8 << 48 | 7));
    assert_eq!(compare(Shape::Tree, &quiet, &other), Ok(()));
    let spelled = [0x12, 9, 0x31, 0, 0, 0, 0, 0, 0, 0, 0x80];
    assert_eq!(compare(Shape::Tree, &encoded(TreeNode::default()), &spelled), Ok(()));
}

#[test]
fn defaults_may_be_spelled_out() {
    let left_out = Payload::Dto(Box::default()).reply();
    let spelled = [0x12, 6, 0x0a, 0, 0x20, 0, 0x50, 0];
    assert_eq!(compare(Shape::Dto, &left_out, &spelled), Ok(()));
}

#[test]
fn unknown_fields_and_junk_are_refused() {
    let right = encoded(tree());
    let said = |junk: &[u8]| {
        let reply = [&right, junk].concat();
        assert!(!Payload::Tree(Box::new(tree())).is_plainly(&reply));
        compare(Shape::Tree, &right, &reply).unwrap_err().to_string()
    };
    insta::assert_snapshot!(said(&[0x0a, 1, b'x']), @"unknown field 1 in the reply");
    insta::assert_snapshot!(said(&[0]), @"the reply is no rpcbench.v1.TreeReply: failed to decode Protobuf message: invalid tag value: 0");
    insta::assert_snapshot!(said(b"\x7f"), @"the reply is no rpcbench.v1.TreeReply: failed to decode Protobuf message: invalid wire type value: 7");
    let nested = compare(Shape::Tree, &[0x12, 2, 0x62, 0], &[0x12, 4, 0x62, 2, 0x28, 1]);
    insta::assert_snapshot!(nested.unwrap_err(), @"echo.left: unknown field 5 in the reply");
}

#[test]
fn an_absent_message_is_not_an_empty_one() {
    let (absent, empty) = (Vec::new(), encoded(TreeNode::default()));
    assert!(compare(Shape::Tree, &absent, &empty).is_err());
    insta::assert_snapshot!(compare(Shape::Tree, &empty, &absent).unwrap_err(), @"echo: expected a TreeNode, got nothing");
}
