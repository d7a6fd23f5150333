//! Expectations of replies.

use proptest::prelude::*;
use rpcbench_schema::{Expectation, Method, Schema};
use serde_json::{Value, json};

use crate::common::method;

const ALL: &str = r#"
syntax = "proto3";
package all;
service S { rpc Get(M) returns (M); }
message M {
  int32 i32 = 1; sint64 s64 = 2; fixed32 f32 = 3; uint64 u64 = 4; bool flag = 5; string text = 6; double d = 7;
  optional int32 maybe = 8; M inner = 9; repeated int32 packed = 10; repeated M list = 11; map<string, M> by_name = 12;
  map<int32, string> names = 13; oneof one { string a = 14; M b = 15; } float f = 16; repeated string texts = 17;
}
"#;

fn all() -> Method {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("all.proto");
    std::fs::write(&file, ALL).unwrap();
    Schema::read(&[file], &[], &[]).unwrap().method("S/Get").unwrap()
}

fn of_order(text: &str, reply: &str) -> Result<(), String> {
    let put = method("Orders/Put");
    let reply = put.request(reply.as_bytes()).unwrap();
    Expectation::of_reply(text, &method("Orders/Get")).expect(text).check(&reply)
}

#[test]
fn fields_of_a_message_are_compared_by_their_types() {
    let reply = r#"{"id": "a1", "state": "PAID", "prices": [{}, {"currency": "EUR", "amount": 1.5}],
        "items": {"x": 2}, "phone": "7", "created": "2026-01-02T03:04:05Z", "note": "n", "image": "AQI="}"#;
    for text in [
        r#"$.id == "a1""#,
        r#"$.state in ["OPEN", "PAID"]"#,
        "$.state == 1",
        r#"$.prices[1].currency == "EUR""#,
        "$.prices[1].amount != 2",
        "$.prices[0].amount == 0",
        "$.prices exists",
        r#"$.items["x"] == 2"#,
        r#"$.phone == "7""#,
        "$.mail != \"x\"",
        "$.created exists",
        "$.created.nanos == 0",
        "$.note == \"n\"",
        "$.image == \"AQI=\"",
        "$.weight != 0",
    ] {
        assert_eq!(of_order(text, reply), Ok(()), "{text}");
    }
    let failed = |text: &str| of_order(text, reply).unwrap_err();
    insta::assert_snapshot!(failed("$.state == \"OPEN\""), @r#"$.state is "PAID""#);
    insta::assert_snapshot!(failed("$.prices[2].amount == 0"), @"$.prices[2].amount is missing");
    insta::assert_snapshot!(failed("$.weight exists"), @"$.weight is missing");
    insta::assert_snapshot!(failed("$.id != \"a1\""), @r#"$.id is "a1""#);
    let get = method("Orders/Get");
    let wrong = Expectation::of_reply("$.id exists", &get).unwrap().check(b"\x0a\x05a");
    assert_eq!(wrong.unwrap_err(), "$.id: the reply is not a message of its type");
}

#[test]
fn expectation_that_does_not_fit_the_reply_is_refused() {
    let refusal = |text: &str| Expectation::of_reply(text, &method("Orders/Get")).unwrap_err();
    insta::assert_snapshot!(refusal("$.idd == \"a\""), @"shop.v1.Order has no field 'idd'; expected one of id, state, prices, items, mail, phone, created, note, image, weight, extra, floors");
    insta::assert_snapshot!(refusal("$.id == 7"), @"$.id: 7 does not fit; expected a text in quotes");
    insta::assert_snapshot!(refusal("$.state == \"LOST\""), @"$.state: shop.v1.Order.State has no value 'LOST'; expected one of OPEN, PAID");
    insta::assert_snapshot!(refusal("$.created == \"2026\""), @"it is a google.protobuf.Timestamp; name one of its fields: seconds, nanos");
    insta::assert_snapshot!(refusal("$.prices == 1"), @r#"it is a list or a map; name an element, such as [0] or ["key"]"#);
    insta::assert_snapshot!(refusal("$.id.x exists"), @"'x' has nothing to be in: what precedes it is no message");
    insta::assert_snapshot!(refusal("$ exists"), @"name a field: $.field");
}

#[test]
fn values_of_json_are_compared_without_decoding() {
    let reply =
        br#" {"a": {"b\u0062": [1, {"c": "x\ny"}, 2.50, true, null]}, "a.b": -0, "n": 1e2} "#;
    let check = |text: &str| Expectation::of_json(text).unwrap().check(reply);
    for text in [
        r#"$.a.bb[1].c == "x\ny""#,
        "$.a.bb[2] == 2.5",
        "$.a.bb[3] == true",
        "$.a.bb[4] == null",
        "$.a.bb[4] exists",
        "$[\"a.b\"] == 0",
        "$.n == 100",
        "$.missing != 1",
        "$.a exists",
    ] {
        assert_eq!(check(text), Ok(()), "{text}");
    }
    insta::assert_snapshot!(check("$.a.bb[0] in [2, 3]").unwrap_err(), @"$.a.bb[0] is 1");
    insta::assert_snapshot!(check("$.a.bb[7] exists").unwrap_err(), @"$.a.bb[7] is missing");
    insta::assert_snapshot!(check("$.a == 1").unwrap_err(), @"$.a is a message, an object or a list");
    let wrong = Expectation::of_json("$.a exists").unwrap().check(b"<html>");
    assert_eq!(wrong.unwrap_err(), "$.a: the reply is no JSON");
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-c]{0,2}", any::<String>()]
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3_i64..3).prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((text(), inner), 0..4)
                .prop_map(|fields| fields.into_iter().collect()),
        ]
    })
}

/// A message of [`ALL`] as protobuf's JSON.
fn any_message() -> impl Strategy<Value = Value> {
    let leaf = || (-2_i32..3, text(), any::<bool>(), prop::collection::vec(0_i32..3, 0..3));
    let base = leaf().prop_map(|(n, text, flag, packed)| {
        json!({"i32": n, "s64": n, "u64": n.unsigned_abs(), "f32": n.unsigned_abs(), "text": text, "flag": flag,
               "d": f64::from(n) / 2.0, "f": f64::from(n) / 4.0, "packed": packed, "texts": [text.clone()]})
    });
    base.prop_recursive(3, 12, 2, |inner| {
        (inner.clone(), inner, 0..5).prop_map(|(mut one, other, way)| {
            let name = ["inner", "list", "byName", "b", "maybe"][way as usize];
            one[name] = match way {
                1 => json!([other, {}]),
                2 => json!({"a": other, "b": {}}),
                4 => json!(0),
                _ => other,
            };
            one
        })
    })
}

/// Paths that lead to every scalar of a JSON value, each with the value.
fn leaves(value: &Value, path: &str, found: &mut Vec<(String, Value)>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                leaves(value, &format!("{path}[{}]", json!(key)), found);
            }
        }
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                leaves(value, &format!("{path}[{index}]"), found);
            }
        }
        scalar => found.push((path.to_owned(), scalar.clone())),
    }
}

proptest! {
    #[test]
    fn json_values_are_those_of_serde_json(value in any_json(), pretty: bool) {
        let text = if pretty { format!("{value:#}") } else { value.to_string() };
        let mut found = Vec::new();
        leaves(&value, "$", &mut found);
        for (path, scalar) in found.into_iter().filter(|(path, _)| path.matches('[').count() <= 16) {
            let check = |operator: &str| {
                Expectation::of_json(&format!("{path} {operator} {scalar}")).unwrap().check(text.as_bytes())
            };
            prop_assert_eq!(check("=="), Ok(()));
            prop_assert!(check("!=").is_err());
        }
    }

    #[test]
    fn texts_that_serde_json_refuses_are_no_json(mut text in any_json().prop_map(|it| it.to_string().into_bytes()), at: prop::sample::Index, byte in prop::sample::select(b"{}[]\",:\\01e-.x\x01 \x80".to_vec())) {
        if !text.is_empty() {
            let at = at.index(text.len());
            text[at] = byte;
        }
        let is_json = serde_json::from_slice::<Value>(&text).is_ok();
        let ours = Expectation::of_json("$.a.b[0] != \"never\"").unwrap().check(&text).is_ok();
        prop_assert!(ours || !is_json, "{}", String::from_utf8_lossy(&text));
    }

    #[test]
    fn values_of_messages_are_those_of_their_decoder(value in any_message()) {
        let method = all();
        let bytes = method.request(value.to_string().as_bytes()).unwrap();
        let decoded: Value = serde_json::from_str(&method.reply_json(&bytes).unwrap()).unwrap();
        let mut found = Vec::new();
        leaves(&decoded, "$", &mut found);
        for (path, scalar) in found {
            let path = path.replace("[\"", ".").replace("\"]", "").replace(".byName.a", ".byName[\"a\"]").replace(".byName.b", ".byName[\"b\"]");
            if scalar.is_null() || path.ends_with("maybe") || path.matches(['.', '[']).count() > 16 {
                continue;
            }
            let check = |operator: &str| {
                let text = format!("{path} {operator} {scalar}");
                Expectation::of_reply(&text, &method).expect(&text).check(&bytes)
            };
            prop_assert_eq!(check("=="), Ok(()));
            prop_assert!(check("!=").is_err(), "{path} {scalar}");
        }
    }

    #[test]
    fn messages_in_parts_are_merged_as_their_decoder_does(one in any_message(), other in any_message()) {
        let method = all();
        let [one, other] = [one, other].map(|it| method.request(it.to_string().as_bytes()).unwrap());
        let bytes = [one, other].concat();
        let decoded: Value = serde_json::from_str(&method.reply_json(&bytes).unwrap()).unwrap();
        for path in ["$.i32", "$.text", "$.inner.i32", "$.inner.inner.text", "$.list[1].i32", "$.packed[2]", "$.b.i32", "$.b.b.i32", "$.byName[\"a\"].text", "$.maybe"] {
            let pointer = path.replace("$", "").replace(".", "/").replace("[\"", "/").replace("\"]", "").replace('[', "/").replace(']', "");
            match decoded.pointer(&pointer).filter(|it| !it.is_null()) {
                Some(scalar) => {
                    let text = format!("{path} == {scalar}");
                    prop_assert_eq!(Expectation::of_reply(&text, &method).unwrap().check(&bytes), Ok(()));
                }
                None => {
                    let text = format!("{path} exists");
                    prop_assert!(Expectation::of_reply(&text, &method).unwrap().check(&bytes).is_err(), "{}", text);
                }
            }
        }
    }

    #[test]
    fn bytes_that_the_decoder_takes_are_never_malformed(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
        let method = all();
        let ours = Expectation::of_reply("$.inner.list[0].i32 != 12345", &method).unwrap().check(&bytes);
        prop_assert!(ours.is_ok() || method.check_reply(&bytes).is_err());
    }
}
