//! Messages from JSON and back, and how methods are described.

mod common;

use common::{method, schema};
use proptest::prelude::*;

fn refusal(text: &str) -> String {
    let error = method("Orders/Put").request(text.as_bytes()).unwrap_err();
    format!("line {}: {error}", error.line.unwrap_or_default())
}

#[test]
fn json_becomes_the_message_it_describes() {
    let bytes = method("Orders/Get").request(br#"{"id": "a1"}"#).unwrap();
    assert_eq!(bytes, b"\x0a\x02a1");
    let text = r#"{
        "id": "a1", "state": "PAID", "prices": [{"currency": "EUR", "amount": 1.5}],
        "items": {"x": 2}, "phone": "12345678901234", "created": "2026-01-02T03:04:05Z",
        "note": "n", "image": "AQI=", "weight": 7,
        "extra": {"@type": "type.googleapis.com/shop.v1.Money", "currency": "USD"}
    }"#;
    let put = method("Orders/Put");
    let shown = put.request_json(&put.request(text.as_bytes()).unwrap()).unwrap();
    let [shown, given] =
        [&shown, text].map(|it| serde_json::from_str::<serde_json::Value>(it).unwrap());
    for (name, value) in given.as_object().unwrap() {
        let expected = if name == "weight" { &serde_json::json!("7") } else { value };
        if name != "extra" {
            assert_eq!(&shown[name], expected, "{name}");
        }
    }
    assert_eq!(shown["extra"]["currency"], "USD");
}

#[test]
fn value_that_does_not_fit_is_named_by_its_path() {
    insta::assert_snapshot!(refusal("{\"prices\": [{}, {\"amount\": \"x\"}]}"), @"line 1: $.prices[1].amount: invalid float literal; expected double");
    insta::assert_snapshot!(refusal("{\n \"idd\": 1}"), @"line 2: $: unrecognized field name 'idd'; expected one of id, state, prices, items, mail, phone, created, note, image, weight, extra");
    insta::assert_snapshot!(refusal("{\"state\": \"LOST\"}"), @"line 1: $.state: unrecognized enum value 'LOST'; expected OPEN, PAID");
    insta::assert_snapshot!(refusal("{\"items\": {\"a\": \"b\"}}"), @"line 1: $.items.a: invalid digit found in string; expected int32");
    insta::assert_snapshot!(refusal("{\"mail\": \"a\", \"phone\": 1}"), @"line 1: $: multiple fields provided for oneof 'contact'; expected shop.v1.Order");
    insta::assert_snapshot!(refusal("{\"id\": "), @"line 1: invalid JSON: EOF while parsing a value; expected a shop.v1.Order");
    insta::assert_snapshot!(refusal("{} x"), @"line 1: invalid JSON: trailing characters; expected a shop.v1.Order");
    insta::assert_snapshot!(refusal("7"), @"line 1: $: invalid type: integer `7`, expected a map");
    insta::assert_snapshot!(refusal("{\"extra\": {\"@type\": \"a/b.C\"}}"), @"line 1: $.extra: message 'b.C' not found; expected google.protobuf.Any");
}

#[test]
fn template_is_a_request() {
    for name in ["Orders/Get", "Orders/Put"] {
        let method = method(name);
        let template = method.template().replace("package.Message", "shop.v1.Money");
        method.request(template.as_bytes()).unwrap_or_else(|error| panic!("{error}: {template}"));
    }
    insta::assert_snapshot!(method("Orders/Put").template());
}

#[test]
fn method_is_described_with_all_its_types() {
    insta::assert_snapshot!(method("Orders/Put").describe());
}

#[test]
fn service_is_described_by_its_methods() {
    let names = |name: &str| {
        let methods = schema().described(name).unwrap();
        methods.iter().map(rpcbench_schema::Method::name).collect::<Vec<_>>()
    };
    assert_eq!(names("Carts"), ["shop.v1.Carts/Get"]);
    assert_eq!(names("shop.v1.Orders").len(), 3);
    assert_eq!(names("Orders/Put"), ["shop.v1.Orders/Put"]);
}

#[test]
fn reply_of_another_type_is_refused() {
    let get = method("Orders/Get");
    assert_eq!(get.check_reply(b"\x0a\x02a1"), Ok(()));
    assert!(get.check_reply(b"\x0a\x05a1").unwrap_err().starts_with("not a shop.v1.Order: "));
}

proptest! {
    #[test]
    fn any_text_is_survived(text in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = method("Orders/Put").request(&text);
    }
}
