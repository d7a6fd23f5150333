//! The fast path for checking replies: compares typed messages.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, Deserializer, MapAccess, Visitor};

use crate::values::{Branch, Contact, FlatRecord, PropertyDto, Status, Tag, TreeNode, Value};

/// True if `reply` has `value` under exactly the expected keys. A reply that fails may still be right, for example with
/// omitted defaults or numbers in another notation.
pub(super) fn carries(reply: &[u8], value: &Value) -> bool {
    match value {
        Value::Text(text) => echo::<String>(reply, |got| got == *text),
        Value::Record(record) => echo::<Object<FlatRecord>>(reply, |got| got.0 == **record),
        Value::Dto(dto) => echo::<Object<PropertyDto>>(reply, |got| got.0 == **dto),
        Value::Tree(tree) => echo::<Object<Tree>>(reply, |got| got.0.is(tree)),
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

/// [`TreeNode`] with the members of its oneof as keys.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tree {
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

impl Tree {
    fn is(self, value: &TreeNode) -> bool {
        let contact = match (self.email, self.phone) {
            (Some(email), None) => Some(Contact::Email(email)),
            (None, Some(phone)) => Some(Contact::Phone(phone.0)),
            (None, None) => None,
            (Some(_), Some(_)) => return false,
        };
        let status = Status::from_str_name(&self.status).map(i32::from);
        self.name == value.name
            && BASE64.decode(&self.digest).is_ok_and(|digest| digest == value.digest)
            && self.age == value.age
            && self.balance.0 == value.balance
            && self.serial.0 == value.serial
            && self.score == value.score
            && self.ratio as f32 == value.ratio
            && self.active == value.active
            && status == Some(value.status)
            && contact == value.contact
            && self.left.map(|left| left.0) == value.left
            && self.right.map(|right| right.0) == value.right
            && self.counters == value.counters
    }
}

/// A 64-bit integer, as a string or a number.
pub(crate) fn wide<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    Wide<T>: Deserialize<'de>,
{
    Wide::deserialize(deserializer).map(|number| number.0)
}

pub(crate) fn wide_list<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u64>, D::Error> {
    let numbers = Vec::<Wide<u64>>::deserialize(deserializer)?;
    Ok(numbers.into_iter().map(|number| number.0).collect())
}

pub(crate) fn objects<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Tag>, D::Error> {
    let tags = Vec::<Object<Tag>>::deserialize(deserializer)?;
    Ok(tags.into_iter().map(|tag| tag.0).collect())
}

/// Requires an object: serde also accepts structs as arrays of their fields.
struct Object<T>(T);

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
pub(crate) struct Wide<T>(T);

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
        // With the same number of entries and every key found, there are no duplicates.
        let found = |key| self.0.iter().find(|(name, _)| name == key);
        self.0.len() == value.len()
            && value.iter().all(|(key, number)| found(key).is_some_and(|(_, got)| got.0 == *number))
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
