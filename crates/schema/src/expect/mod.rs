//! Expectations of replies, such as `$.state in ["OPEN", "PAID"]`: compiled once, then checked on encoded replies without
//! decoding or allocating.

mod field;
mod json;
mod protobuf;
mod syntax;
mod value;
mod wire;

use crate::Method;
use json::JsonPath;
use protobuf::FieldPath;
use syntax::{Expression, Operator};
use value::{Literal, Value};

/// What a reply must contain.
#[derive(Clone, Debug)]
pub struct Expectation {
    text: String,
    /// As written: `$.state`.
    path: String,
    place: Place,
    test: Test,
}

/// The path to the value.
#[derive(Clone, Debug)]
enum Place {
    Json(JsonPath),
    Message(FieldPath),
}

/// What must be true of the value.
#[derive(Clone, Debug)]
enum Test {
    Exists,
    /// It equals one of these.
    In(Vec<Literal>),
    /// It equals none of these, or is missing.
    NotIn(Vec<Literal>),
}

impl Expectation {
    /// An expectation of replies in JSON.
    ///
    /// # Errors
    /// If the text is not an expectation: why, and what to write.
    pub fn of_json(text: &str) -> Result<Self, String> {
        let Expression { path, steps, operator } = Expression::parse(text)?;
        let test = Test::of(operator, Literal::of_json)?;
        let place = Place::Json(JsonPath::new(steps));
        Ok(Self { text: text.trim().to_owned(), path, place, test })
    }

    /// An expectation of the replies of a method.
    ///
    /// # Errors
    /// If the text is not an expectation, or does not fit the reply's type: why.
    pub fn of_reply(text: &str, method: &Method) -> Result<Self, String> {
        let Expression { path, steps, operator } = Expression::parse(text)?;
        let compares = !matches!(operator, Operator::Exists);
        let place = FieldPath::new(&method.output(), &steps, compares)?;
        let test = Test::of(operator, |value| place.literal(value))
            .map_err(|problem| format!("{path}: {problem}"))?;
        Ok(Self { text: text.trim().to_owned(), path, place: Place::Message(place), test })
    }

    /// As written: `$.state`.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// As written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Checks an encoded reply. Does not allocate if it is as expected.
    ///
    /// # Errors
    /// If the reply is not as expected: what it is instead, in one line.
    pub fn check(&self, reply: &[u8]) -> Result<(), String> {
        Self::check_all(std::slice::from_ref(self), reply)
    }

    /// Checks an encoded reply against several expectations. Does not allocate if it is as expected.
    ///
    /// # Errors
    /// The first one that is not met, as in [`Self::check`].
    pub fn check_all(expectations: &[Self], reply: &[u8]) -> Result<(), String> {
        match expectations.iter().find(|expectation| !expectation.is_met(reply)) {
            None => Ok(()),
            Some(unmet) => Err(unmet.problem(reply)),
        }
    }

    #[inline(always)]
    fn is_met(&self, reply: &[u8]) -> bool {
        self.find(reply).is_ok_and(|value| self.holds(&value))
    }

    #[inline(always)]
    fn find<'a>(&self, reply: &'a [u8]) -> Result<Value<'a>, &'static str> {
        match &self.place {
            Place::Json(path) => path.find(reply),
            Place::Message(path) => path.find(reply),
        }
    }

    #[cold]
    fn problem(&self, reply: &[u8]) -> String {
        match self.find(reply) {
            Ok(value) => format!("{} is {}", self.path, self.shown(&value)),
            Err(problem) => format!("{}: {problem}", self.path),
        }
    }

    #[inline]
    fn holds(&self, value: &Value<'_>) -> bool {
        match &self.test {
            Test::Exists => match &self.place {
                Place::Json(_) => !matches!(value, Value::Missing),
                Place::Message(path) => path.is_set(value),
            },
            Test::In(literals) => literals.iter().any(|literal| value.equals(literal)),
            Test::NotIn(literals) => !literals.iter().any(|literal| value.equals(literal)),
        }
    }

    fn shown(&self, value: &Value<'_>) -> String {
        let name = match &self.place {
            Place::Json(_) => None,
            Place::Message(path) => path.enum_name(value),
        };
        name.unwrap_or_else(|| value.to_string())
    }
}

impl Test {
    fn of(
        operator: Operator,
        literal: impl Fn(&serde_json::Value) -> Result<Literal, String>,
    ) -> Result<Self, String> {
        let all = |values: &[serde_json::Value]| -> Result<Vec<Literal>, String> {
            values.iter().map(&literal).collect()
        };
        Ok(match operator {
            Operator::Exists => Self::Exists,
            Operator::In(values) => Self::In(all(&values)?),
            Operator::NotIn(values) => Self::NotIn(all(&values)?),
        })
    }
}
