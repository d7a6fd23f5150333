//! The fast path of checking replies: compares typed messages.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, Deserializer, MapAccess, Visitor};

use crate::values::{self, Contact, Value, status};

/// True if `reply` has `value` under exactly the expected keys. A reply that fails may still be right, for example with
/// omitted defaults or numbers in another notation.
pub(super) fn carries(reply: &[u8], value: &Value) -> bool {
    match value {
        Value::Text(text) => echo::<String>(reply, |got| got == *text),
        Value::Record(record) => echo::<Object<FlatRecord>>(reply, |got| got == **record),
        Value::Dto(dto) => echo::<Object<PropertyDto>>(reply, |got| got == **dto),
        Value::Tree(tree) => echo::<Object<TreeNode>>(reply, |got| got == **tree),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Reply<T> {
    echo: T,
}

fn echo<T: DeserializeOwned>(reply: &[u8], same: impl FnOnce(T) -> bool) -> bool {
    serde_json::from_slice::<Object<Reply<T>>>(reply).is_ok_and(|reply| same(reply.0.echo))
}

/// Declares a message that requires all its keys and compares with the value of the same name.
macro_rules! message {
    ($name:ident { $($field:ident: $type:ty,)* }) => {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct $name {
            $($field: $type,)*
        }

        impl PartialEq<values::$name> for $name {
            fn eq(&self, value: &values::$name) -> bool {
                $(self.$field == value.$field)&&*
            }
        }
    };
}

message! {
    FlatRecord {
        field1: String,
        field2: i32,
        field3: i32,
        field4: String,
        field5: Vec<Wide<u64>>,
        field6: i32,
        field7: String,
        field9: String,
        field12: bool,
        field13: bool,
        field14: bool,
        field16: i32,
        field17: bool,
        field18: String,
        field22: Wide<i64>,
        field23: i32,
        field24: bool,
        field25: i32,
        field29: i32,
        field30: bool,
        field59: bool,
        field60: i32,
        field67: i32,
        field68: i32,
        field78: bool,
        field80: bool,
        field81: bool,
        field100: i32,
        field101: i32,
        field102: String,
        field103: String,
        field104: i32,
        field128: i32,
        field129: String,
        field130: i32,
        field131: i32,
        field150: i32,
        field271: i32,
        field272: i32,
        field280: i32,
    }
}

message! {
    PropertyDto {
        prop1: String,
        prop2: String,
        prop3: String,
        prop4: i32,
        prop5: i32,
        prop6: i32,
        prop7: f64,
        prop8: f64,
        prop9: f64,
        prop10: bool,
        prop11: bool,
        prop12: bool,
    }
}

message! {
    Tag {
        key: String,
        value: String,
    }
}

message! {
    Branch {
        name: String,
        id: Wide<u64>,
        tags: Vec<Object<Tag>>,
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TreeNode {
    name: String,
    digest: String,
    age: i32,
    balance: Wide<i64>,
    serial: Wide<u64>,
    score: f64,
    ratio: f64,
    active: bool,
    status: String,
    email: Option<String>,
    phone: Option<Wide<u64>>,
    left: Option<Object<Branch>>,
    right: Option<Object<Branch>>,
    counters: Counters,
}

impl PartialEq<values::TreeNode> for TreeNode {
    fn eq(&self, value: &values::TreeNode) -> bool {
        let (email, phone) = match &value.contact {
            Some(Contact::Email(email)) => (Some(email), None),
            Some(Contact::Phone(phone)) => (None, Some(phone)),
            None => (None, None),
        };
        self.name == value.name
            && BASE64.decode(&self.digest).is_ok_and(|digest| digest == value.digest)
            && self.age == value.age
            && self.balance == value.balance
            && self.serial == value.serial
            && self.score == value.score
            && self.ratio as f32 == value.ratio
            && self.active == value.active
            && STATUSES.contains(&(self.status.as_str(), value.status))
            && self.email.as_ref() == email
            && same(self.phone.as_ref(), phone)
            && same(self.left.as_ref(), value.left.as_ref())
            && same(self.right.as_ref(), value.right.as_ref())
            && self.counters == value.counters
    }
}

const STATUSES: [(&str, i32); 3] = [
    ("STATUS_ACTIVE", status::ACTIVE),
    ("STATUS_SUSPENDED", status::SUSPENDED),
    ("STATUS_CLOSED", status::CLOSED),
];

fn same<T: PartialEq<U>, U>(got: Option<&T>, expected: Option<&U>) -> bool {
    match (got, expected) {
        (Some(got), Some(expected)) => got == expected,
        (None, None) => true,
        _ => false,
    }
}

/// Requires an object: serde also accepts structs as arrays of their fields.
struct Object<T>(T);

impl<T: PartialEq<U>, U> PartialEq<U> for Object<T> {
    fn eq(&self, value: &U) -> bool {
        self.0 == *value
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ObjectVisitor(PhantomData))
    }
}

struct ObjectVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
    type Value = Object<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<Object<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(entries)).map(Object)
    }
}

/// A 64-bit integer, as a string or a number.
struct Wide<T>(T);

impl<T: PartialEq> PartialEq<T> for Wide<T> {
    fn eq(&self, value: &T) -> bool {
        self.0 == *value
    }
}

impl<'de, T: FromStr + TryFrom<i64> + TryFrom<u64>> Deserialize<'de> for Wide<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(WideVisitor(PhantomData))
    }
}

struct WideVisitor<T>(PhantomData<T>);

impl<T: FromStr + TryFrom<i64> + TryFrom<u64>> Visitor<'_> for WideVisitor<T> {
    type Value = Wide<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a 64-bit integer")
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Wide<T>, E> {
        value.try_into().map(Wide).map_err(|_| E::custom("out of range"))
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Wide<T>, E> {
        value.try_into().map(Wide).map_err(|_| E::custom("out of range"))
    }

    fn visit_str<E: serde::de::Error>(self, digits: &str) -> Result<Wide<T>, E> {
        digits.parse().map(Wide).map_err(|_| E::custom("not an integer"))
    }
}

/// All entries of a map, including duplicate keys.
struct Counters(Vec<(String, Wide<i64>)>);

impl PartialEq<BTreeMap<String, i64>> for Counters {
    fn eq(&self, value: &BTreeMap<String, i64>) -> bool {
        // The same number of entries and every key: there are no duplicates.
        let found = |key| self.0.iter().find(|(name, _)| name == key);
        self.0.len() == value.len()
            && value.iter().all(|(key, number)| found(key).is_some_and(|(_, got)| got == number))
    }
}

impl<'de> Deserialize<'de> for Counters {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(CountersVisitor)
    }
}

struct CountersVisitor;

impl<'de> Visitor<'de> for CountersVisitor {
    type Value = Counters;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map of integers")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Counters, A::Error> {
        let mut counters = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            counters.push(entry);
        }
        Ok(Counters(counters))
    }
}
