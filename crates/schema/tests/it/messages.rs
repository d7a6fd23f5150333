//! Messages from JSON and back, and how methods are described.

use proptest::prelude::*;

use crate::common::{method, proto2, schema};

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
    insta::assert_snapshot!(refusal("{\"prices\": [{}, {\"amount\": \"x\"}]}"), @r#"line 1: $.prices[1].amount: "x" is no double"#);
    insta::assert_snapshot!(refusal("{\n \"idd\": 1}"), @"line 2: $: unrecognized field name 'idd'; expected one of id, state, prices, items, mail, phone, created, note, image, weight, extra, floors");
    insta::assert_snapshot!(refusal("{\"state\": \"LOST\"}"), @r#"line 1: $.state: "LOST" is no shop.v1.Order.State; expected one of OPEN, PAID"#);
    insta::assert_snapshot!(refusal("{\"items\": {\"a\": \"b\"}}"), @r#"line 1: $.items.a: "b" is no int32"#);
    insta::assert_snapshot!(refusal("{\"mail\": \"a\", \"phone\": 1}"), @"line 1: $: mail, phone are set; oneof 'contact' takes one");
    insta::assert_snapshot!(refusal("{\"id\": "), @"line 1: invalid JSON: EOF while parsing a value; expected a shop.v1.Order");
    insta::assert_snapshot!(refusal("{} x"), @"line 1: invalid JSON: trailing characters; expected a shop.v1.Order");
    insta::assert_snapshot!(refusal("{\"weight\": 1e30}"), @"line 1: $.weight: 1e+30 is out of the range of uint64");
    insta::assert_snapshot!(refusal("{\"id\": 3}"), @"line 1: $.id: 3 is no string");
    insta::assert_snapshot!(refusal("{\"image\": \"***\"}"), @r#"line 1: $.image: "***" is no base64, in which bytes are written"#);
    insta::assert_snapshot!(refusal("{\"created\": \"today\"}"), @"line 1: $.created: invalid rfc3339 timestamp: invalid date; expected google.protobuf.Timestamp");
    insta::assert_snapshot!(refusal("{\"floors\": {\"x\": {}}}"), @r#"line 1: $.floors: key "x" is no int32"#);
    insta::assert_snapshot!(refusal("{\"prices\": {}}"), @"line 1: $.prices: an object is no list of shop.v1.Money");
    insta::assert_snapshot!(refusal("{\"prices\": [{\"currency\": []}]}"), @"line 1: $.prices[0].currency: a list is no string");
    insta::assert_snapshot!(refusal("[]"), @"line 1: $: a list is no shop.v1.Order");
    insta::assert_snapshot!(refusal("7"), @"line 1: $: 7 is no shop.v1.Order");
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
    insta::assert_snapshot!(schema().describe("Orders/Put").unwrap().text);
}

#[test]
fn service_is_described_by_its_methods_and_each_type_once() {
    let described = schema().describe("Orders").unwrap();
    assert_eq!(described.methods.len(), 3);
    assert!(described.text.starts_with(
        "service shop.v1.Orders {\n  rpc Get(shop.v1.GetRequest) returns (shop.v1.Order);\n"
    ));
    assert_eq!(described.text.matches("message shop.v1.Order {").count(), 1);
}

#[test]
fn type_is_described_by_its_name() {
    for name in ["shop.v1.Money", "Money", ".shop.v1.Money"] {
        let described = schema().describe(name).unwrap();
        assert!(described.text.starts_with("message shop.v1.Money {\n"), "{}", described.text);
        assert!(described.methods.is_empty());
    }
    assert!(schema().describe("State").unwrap().text.starts_with("enum shop.v1.Order.State {"));
    let unknown = schema().describe("Monney").unwrap_err().to_string();
    assert!(unknown.starts_with("unknown method 'Monney'"), "{unknown}");
}

#[test]
fn proto2_is_described_with_labels_and_defaults() {
    let method = proto2().method("Parts/Put").unwrap();
    insta::assert_snapshot!(proto2().describe("Parts/Put").unwrap().text, @r#"
    rpc Put(Part) returns (Part);

    message Part {
      required string name = 1;
      optional int32 size = 2 [default = 7];
      optional Part.Kind kind = 3 [default = NUT];
      optional string unit = 4 [default = "mm"];
      repeated Part parts = 5;
      optional group Part.Origin origin = 6;
      int64 year = 7; // one of made
      bool used = 8; // one of made
    }

    enum Part.Kind {
      BOLT = 1;
      NUT = 2;
    }

    message Part.Origin {
      optional string country = 1;
    }
    "#);
    insta::assert_snapshot!(method.template(), @r#"
    {
      "kind": "NUT",
      "name": "",
      "origin": {
        "country": ""
      },
      "parts": [],
      "size": 7,
      "unit": "mm",
      "year": "0"
    }
    "#);
    method.request(method.template().as_bytes()).unwrap();
}

#[test]
fn missing_required_field_is_refused() {
    let refusal = |text: &str| proto2().method("Parts/Put").unwrap().request(text.as_bytes());
    let path = |text: &str| refusal(text).unwrap_err().to_string();
    assert_eq!(path("{}"), "$.name: required field is missing");
    assert_eq!(
        path(r#"{"name": "a", "parts": [{"name": "b"}, {}]}"#),
        "$.parts[1].name: required field is missing"
    );
    assert!(refusal(r#"{"name": "a", "parts": [{"name": "b"}]}"#).is_ok());
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
