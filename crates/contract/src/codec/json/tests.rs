use proptest::prelude::*;
use prost_reflect::{DeserializeOptions, DynamicMessage, SerializeOptions};

use super::*;
use crate::shape::Shape;
use crate::values::{Branch, Contact, FlatRecord, PropertyDto, Source, Status, TreeNode};

const SHAPES: [Shape; 4] = [Shape::Text(100), Shape::Record, Shape::Dto, Shape::Tree];

fn random(shape: Shape, seed: u64) -> Value {
    Value::random(shape, &mut Source::new(seed))
}

fn tree() -> TreeNode {
    match random(Shape::Tree, 11) {
        Value::Tree(tree) => *tree,
        other => panic!("{other:?}"),
    }
}

fn small_tree() -> TreeNode {
    TreeNode {
        name: "a\"b\n é".to_owned(),
        digest: vec![0, 255],
        balance: i64::MIN,
        serial: u64::MAX,
        score: 1.5,
        ratio: 0.1,
        status: Status::Closed as i32,
        contact: Some(Contact::Phone(0)),
        left: Some(Branch::default()),
        counters: [("k".to_owned(), 7)].into(),
        ..TreeNode::default()
    }
}

fn verify(value: &Value, reply: &str) -> Result<(), Mismatch> {
    let (shape, request) = (value.shape(), Json.request(value));
    let sent = Sent { shape, content: Some(value), request: &request, nested_unknown: false };
    Json.verify(sent, reply.as_bytes())
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

/// The mismatch of the reply to `small_tree` after one change in its text.
fn changed(from: &str, to: &str) -> String {
    let value = Value::Tree(Box::new(small_tree()));
    let right = text(Json.reply(&value));
    assert_eq!(right.matches(from).count(), 1, "{from} in {right}");
    match verify(&value, &right.replace(from, to)) {
        Ok(()) => "the same".to_owned(),
        Err(mismatch) => mismatch.to_string(),
    }
}

#[test]
fn requests_include_defaults() {
    let tree = text(Json.request(&Value::Tree(Box::new(small_tree()))));
    insta::assert_snapshot!(tree, @r#"{"tree":{"name":"a\"b\n é","digest":"AP8=","age":0,"balance":"-9223372036854775808","serial":"18446744073709551615","score":1.5,"ratio":0.10000000149011612,"active":false,"status":"STATUS_CLOSED","phone":"0","left":{"name":"","id":"0","tags":[]},"counters":{"k":"7"}}}"#);
    insta::assert_snapshot!(text(Json.request(&Value::Text(String::new()))), @r#"{"text":""}"#);
    let dto = PropertyDto {
        prop1: "a".into(),
        prop7: -0.0,
        prop8: 1e300,
        prop9: 15.0,
        ..PropertyDto::default()
    };
    insta::assert_snapshot!(text(Json.request(&Value::Dto(Box::new(dto)))), @r#"{"dto":{"prop1":"a","prop2":"","prop3":"","prop4":0,"prop5":0,"prop6":0,"prop7":-0.0,"prop8":1e+300,"prop9":15.0,"prop10":false,"prop11":false,"prop12":false}}"#);
    let record = FlatRecord { field5: vec![u64::MAX], ..FlatRecord::default() };
    let record = text(Json.request(&Value::Record(Box::new(record))));
    assert!(
        record.contains(r#""field5":["18446744073709551615"],"field6":0,"field7":"","#),
        "{record}"
    );
    assert_eq!(record.matches("\"field").count(), 40);
}

#[test]
fn non_canonical_requests_differ_from_what_encoders_write() {
    let dto = PropertyDto { prop1: "kept".into(), prop7: 15.0, ..PropertyDto::default() };
    let dto = Value::Dto(Box::new(dto));
    let odd = |value: &Value, variant| text(Json.non_canonical_request(value, value, variant));
    let written = |value: &Value, form| odd(value, NonCanonicalVariant::everywhere(form));
    insta::assert_snapshot!(written(&dto, NonCanonical::Overlong), @r#"{"\u0064to":{"\u0070rop1":"kept","\u0070rop2":"","\u0070rop3":"","\u0070rop4":0,"\u0070rop5":0,"\u0070rop6":0,"\u0070rop7":1.50e1,"\u0070rop8":0.0e0,"\u0070rop9":0.0e0,"\u0070rop10":false,"\u0070rop11":false,"\u0070rop12":false}}"#);
    insta::assert_snapshot!(written(&Value::Text("kept".into()), NonCanonical::Reordered).escape_debug(), @r#" \t\r\n { \t\r\n \"\\u0074ext\" \t\r\n : \t\r\n \"kept\" \t\r\n } \t\r\n"#);
    insta::assert_snapshot!(written(&Value::Text("kept".into()), NonCanonical::Unknown), @r#"{"\u0075nknownObject":{"\u0074ext":"\u006eot this one","\u0065cho":"\u006eor this one"},"\u0075nknownNull":null,"\u0075nknownFlag":true,"\u0075nknownCount":7,"\u0074ext":"kept","\u0075nknownShare":5.0e-1,"\u0075nknownText":"\u0066rom a later version","\u0075nknownList":[null,{}]}"#);
    let inside = |value: &Value, form, usual| odd(value, NonCanonicalVariant { form, usual });
    insta::assert_snapshot!(inside(&dto, NonCanonical::Overlong, 1), @r#"{"dto":{"\u0070rop1":"kept","\u0070rop2":"","\u0070rop3":"","\u0070rop4":0,"\u0070rop5":0,"\u0070rop6":0,"\u0070rop7":1.50e1,"\u0070rop8":0.0e0,"\u0070rop9":0.0e0,"\u0070rop10":false,"\u0070rop11":false,"\u0070rop12":false}}"#);
    let tree = Value::Tree(Box::new(small_tree()));
    insta::assert_snapshot!(inside(&tree, NonCanonical::Unknown, 2), @r#"{"tree":{"unknownObject":{"\u0074ext":"\u006eot this one","\u0065cho":"\u006eor this one"},"unknownNull":null,"unknownFlag":true,"unknownCount":7,"name":"a\"b\n é","digest":"\u0041P8=","age":0,"balance":"-\u0039223372036854775808","serial":"\u00318446744073709551615","score":1.50e0,"ratio":1.00000001490116120e-1,"active":false,"status":"\u0053TATUS_CLOSED","phone":"\u0030","left":{"\u0075nknownObject":{"\u0074ext":"\u006eot this one","\u0065cho":"\u006eor this one"},"\u0075nknownNull":null,"\u0075nknownFlag":true,"\u0075nknownCount":7,"\u006eame":"","\u0069d":"\u0030","\u0074ags":[],"\u0075nknownShare":5.0e-1,"\u0075nknownText":"\u0066rom a later version","\u0075nknownList":[null,{}]},"counters":{"\u006b":"\u0037"},"unknownShare":5.0e-1,"unknownText":"\u0066rom a later version","unknownList":[null,{}]}}"#);
    assert!(
        inside(&dto, NonCanonical::Reordered, 1).starts_with("{\"dto\":{ \t\r\n \"\\u0070rop12\"")
    );
    let reordered = written(&dto, NonCanonical::Reordered);
    let places: Vec<_> = (1..=12).map(|n| reordered.find(&format!("rop{n}\""))).collect();
    assert!(places.is_sorted_by(|one, next| one > next), "{reordered}");
}

#[test]
fn numbers_and_texts_are_compared_by_value() {
    for (from, to) in [
        (r#""balance":"-9223372036854775808""#, r#""balance":-9223372036854775808"#),
        (r#""serial":"18446744073709551615""#, r#""serial":18446744073709551615"#),
        (r#""k":"7""#, r#""k":7"#),
        (r#""k":"7""#, r#""k":7.0"#),
        (r#""phone":"0""#, r#""email":null,"phone":0"#),
        (r#""age":0"#, r#""age":0e0"#),
        (r#""age":0,"#, ""),
        (r#""age":0"#, r#""age":null"#),
        (r#""active":false,"#, ""),
        (r#""score":1.5"#, r#""score":15e-1"#),
        (r#""ratio":0.10000000149011612"#, r#""ratio":0.1"#),
        (r#""left":{"name":"","id":"0","tags":[]}"#, r#""left":{},"right":null"#),
        ("é", r"\u00e9"),
        (r"\n", r"\u000A"),
    ] {
        assert_eq!(changed(from, to), "the same", "{from} -> {to}");
    }
}

#[test]
fn difference_is_named_by_its_path() {
    insta::assert_snapshot!(changed(r#""age":0"#, r#""age":1"#), @"echo.age: expected 0, got 1");
    insta::assert_snapshot!(changed(r#""age":0"#, r#""age":"0""#), @r#"echo.age: expected an integer, got "0""#);
    insta::assert_snapshot!(changed(r#""age":0"#, r#""age":0.5"#), @"echo.age: expected an integer, got 0.5");
    insta::assert_snapshot!(changed(r#""balance":"-9223372036854775808""#, r#""balance":-9223372036854775809"#), @"echo.balance: expected an integer, or a string of its digits, got -9.223372036854776e18");
    insta::assert_snapshot!(changed(r#""serial":"18446744073709551615""#, r#""serial":18446744073709552000"#), @"echo.serial: expected an integer, or a string of its digits, got 1.8446744073709552e19");
    insta::assert_snapshot!(changed("STATUS_CLOSED", "STATUS_SHUT"), @r#"echo.status: expected the name of one of the enum's values, got "STATUS_SHUT""#);
    insta::assert_snapshot!(changed("AP8=", "AP8"), @r#"echo.digest: expected a string in base64, got "AP8""#);
    insta::assert_snapshot!(changed("AP8=", "AP7="), @r#"echo.digest: expected a string in base64, got "AP7=""#);
    insta::assert_snapshot!(changed(r#""k":"7""#, r#""k":null"#), @r#"echo.counters["k"]: expected an integer, or a string of its digits, got null"#);
    insta::assert_snapshot!(changed(r#""tags":[]"#, r#""tags":{}"#), @"echo.left.tags: expected an array, got an object");
    insta::assert_snapshot!(changed(r#""phone":"0","#, ""), @"echo.phone: expected 0, got nothing");
    insta::assert_snapshot!(changed(r#""left":{"name":"","id":"0","tags":[]}"#, r#""left":null"#), @"echo.left: expected a Branch, got nothing");
    insta::assert_snapshot!(changed(r#"{"echo":{"#, r#"{"text":"","echo":{"#), @"unknown field text in the reply");
    insta::assert_snapshot!(changed(r#""id":"0""#, r#""id":"0","extra":[1]"#), @"echo.left: unknown field extra in the reply");
}

#[test]
fn copied_encodings_are_refused() {
    insta::assert_snapshot!(changed(r#""age":0"#, r#""age":0,"age":0"#), @"echo.age occurs twice in the reply, which no encoder writes; decode every level of the request and encode its content again");
    insta::assert_snapshot!(changed(r#""k":"7""#, r#""k":"7","k":"7""#), @r#"echo.counters["k"] occurs twice in the reply, which no encoder writes; decode every level of the request and encode its content again"#);
    insta::assert_snapshot!(changed("age", r"\u0061ge"), @"byte 45 escapes a letter or a digit in the reply, which no encoder writes; decode every level of the request and encode its content again");
    insta::assert_snapshot!(changed("STATUS_CLOSED", r"STATUS_C\u004COSED"), @"byte 190 escapes a letter or a digit in the reply, which no encoder writes; decode every level of the request and encode its content again");
    insta::assert_snapshot!(changed(r#""age":0"#, "\t\"age\":0"), @"byte 44 is a tab, a carriage return or a needless space in the reply, which no encoder writes; decode every level of the request and encode its content again");
    insta::assert_snapshot!(changed(r#""age":0"#, "\"age\":\r\n0"), @"byte 50 is a tab, a carriage return or a needless space in the reply, which no encoder writes; decode every level of the request and encode its content again");
    insta::assert_snapshot!(changed(r#""age":0"#, "\"age\":  0"), @"byte 51 is a tab, a carriage return or a needless space in the reply, which no encoder writes; decode every level of the request and encode its content again");
    // As encoders do: escapes of other characters, a space after a colon, indented lines.
    assert_eq!(changed(r#""k":"7""#, "\n    \"k\" : \"7\"\n  "), "the same");
    assert_eq!(changed("é", r"\u00E9"), "the same");
}

#[test]
fn invalid_replies_are_refused() {
    let error = |reply: &str| verify(&Value::Text("ab".into()), reply).unwrap_err().to_string();
    insta::assert_snapshot!(error(""), @"the reply is not a valid rpcbench.v1.TextReply: EOF while parsing a value at line 1 column 0");
    insta::assert_snapshot!(error(r#"{"echo":"ab"}}"#), @"the reply is not a valid rpcbench.v1.TextReply: trailing characters at line 1 column 14");
    insta::assert_snapshot!(error(r#"{"echo":"ab"} x"#), @"the reply is not a valid rpcbench.v1.TextReply: trailing characters at line 1 column 15");
    insta::assert_snapshot!(error(r#"["ab"]"#), @"the reply: expected an object, got an array");
    insta::assert_snapshot!(error("null"), @"the reply: expected an object, got null");
    insta::assert_snapshot!(changed(r#"{"name":"","id":"0","tags":[]}"#, r#"["","0",[]]"#), @"echo.left: expected an object, got an array");
    insta::assert_snapshot!(error("{}"), @r#"echo: expected "ab", got """#);
    insta::assert_snapshot!(error(r#"{"text":"ab"}"#), @"the reply is the request, byte for byte; decode it and return its content as `echo`");
    insta::assert_snapshot!(error(&"[".repeat(1_000_000)), @"the reply is not a valid rpcbench.v1.TextReply: recursion limit exceeded at line 1 column 128");
    assert_eq!(verify(&Value::Text("ab".into()), "{\"echo\": \"ab\"}\n"), Ok(()));
    assert_eq!(verify(&Value::Text(String::new()), "{}"), Ok(()));
}

/// Decodes with prost-reflect, an independent implementation.
fn decoded(shape: Shape, json: &[u8]) -> DynamicMessage {
    let options = DeserializeOptions::new().deny_unknown_fields(false);
    let mut deserializer = serde_json::Deserializer::from_slice(json);
    let request = types::request(shape);
    DynamicMessage::deserialize_with_options(request, &mut deserializer, &options).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// The fast check compares typed messages, the full check uses descriptors.
    #[test]
    fn fast_and_the_full_check_agree(seed: u64, length in 0_u32..5000) {
        for shape in [Shape::Text(length), Shape::Record, Shape::Dto, Shape::Tree] {
            let (value, other) = (random(shape, seed), random(shape, !seed));
            for reply in [Json.reply(&value), Json.reply(&other)] {
                let sent = Sent { shape, content: Some(&value), request: b"", nested_unknown: false };
                prop_assert_eq!(plain::carries(&reply, &value), compare(sent, &reply).is_ok());
            }
            prop_assert!(plain::carries(&Json.reply(&value), &value));
        }
    }

    #[test]
    fn another_implementation_decodes_every_request_alike(seed: u64) {
        for shape in SHAPES {
            let value = random(shape, seed);
            let canonical = decoded(shape, &Json.request(&value));
            for form in [NonCanonical::Overlong, NonCanonical::Twice, NonCanonical::Reordered, NonCanonical::Unknown] {
                for usual in 0..3 {
                    let variant = NonCanonicalVariant { form, usual };
                    prop_assert_eq!(&decoded(shape, &Json.non_canonical_request(&value, &value, variant)), &canonical);
                }
            }
            prop_assert_eq!(&decoded(shape, &Json.with_unknown_fields(&value)), &canonical);
            for escapes in [Escapes::All, Escapes::Wide] {
                let style = Style { escapes, ..Style::default() };
                prop_assert_eq!(&decoded(shape, &style.write(&request(&value))), &canonical);
            }
        }
    }

    #[test]
    fn replies_of_another_implementation_are_right(seed: u64, strings: bool, sparse: bool) {
        for shape in SHAPES {
            for value in [random(shape, seed), Value::empty(shape)] {
                let request = decoded(shape, &Json.request(&value));
                let mut reply = DynamicMessage::new(types::reply(shape));
                if let Some((_, content)) = request.fields().next() {
                    reply.set_field_by_name("echo", content.clone());
                }
                let options = SerializeOptions::new().stringify_64_bit_integers(strings).skip_default_fields(sparse);
                let mut written = serde_json::Serializer::new(Vec::new());
                reply.serialize_with_options(&mut written, &options).unwrap();
                prop_assert_eq!(verify(&value, &text(written.into_inner())), Ok(()));
            }
        }
    }

    #[test]
    fn arbitrary_replies_are_refused(reply: Vec<u8>, at: prop::sample::Index, byte: u8) {
        let value = Value::Tree(Box::new(tree()));
        let sent = |request| Sent { shape: Shape::Tree, content: Some(&value), request, nested_unknown: false };
        prop_assert!(Json.verify(sent(b""), &reply).is_err());
        let right = Json.reply(&value);
        let mut broken = right.clone();
        broken[at.index(right.len())] = byte;
        prop_assume!(broken != right);
        // Only a change of whitespace would still be valid, and the reply contains none.
        prop_assert!(Json.verify(sent(b""), &broken).is_err(), "{}", String::from_utf8_lossy(&broken));
    }
}
