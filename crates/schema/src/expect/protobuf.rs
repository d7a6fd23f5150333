//! Finds a value in an encoded protobuf message without decoding it.
//!
//! As in protobuf, the last of several occurrences counts, messages are merged, and a field of a oneof clears the others.

use prost_reflect::{FieldDescriptor, Kind, MessageDescriptor};

use super::field;
use super::syntax::{MAX_STEPS, Step};
use super::value::{Literal, Value};
use super::wire::{self, Content, Malformed};

/// A path to a value in a message.
#[derive(Clone, Debug)]
pub(super) struct FieldPath {
    /// At least one step; at most [`MAX_STEPS`], and one more for the value of a wrapper.
    steps: Vec<FieldStep>,
    /// True if the type can't tell an unset value from the default.
    has_default: bool,
}

#[derive(Clone, Debug)]
struct FieldStep {
    number: u32,
    /// Kind of the field; for a list or a map, of its elements or values.
    kind: Kind,
    select: Select,
    /// The other fields of its oneof.
    others: Box<[u32]>,
}

/// The part of a field that the path selects.
#[derive(Clone, Debug)]
enum Select {
    Only,
    Element(u32),
    /// The value of the map entry with this key, of this type.
    Entry(Kind, Literal),
    /// The whole list or map.
    All,
}

/// Number of elements skipped in the list at each step.
type Passed = [u32; MAX_STEPS + 1];

const MALFORMED: &str = "the reply is not a message of its type";

impl FieldPath {
    /// The path of `steps` from `message`. `compares`: whether the value will be compared.
    pub fn new(
        message: &MessageDescriptor,
        steps: &[Step],
        compares: bool,
    ) -> Result<Self, String> {
        let mut path = Self { steps: Vec::new(), has_default: false };
        let mut within = Some(message.clone());
        let mut steps = steps.iter().peekable();
        while let Some(step) = steps.next() {
            let Step::Key(name) = step else {
                return Err("only a list has elements; a name must follow".to_owned());
            };
            let Some(message) = within.take() else {
                return Err(format!(
                    "'{name}' has nothing to be in: what precedes it is no message"
                ));
            };
            let field = named(&message, name)?;
            let subscript = steps.next_if(|_| field.is_list() || field.is_map());
            let step = FieldStep::new(&field, subscript)?;
            path.has_default = matches!(step.select, Select::Only) && !field.supports_presence()
                || matches!(step.select, Select::Entry(..));
            within =
                step.kind.as_message().cloned().filter(|_| !matches!(step.select, Select::All));
            path.steps.push(step);
        }
        if path.steps.is_empty() {
            return Err("name a field: $.field".to_owned());
        }
        if compares {
            path.lead_to_scalar()?;
        }
        Ok(path)
    }

    /// Leads on to the value of a wrapper such as `google.protobuf.StringValue`. Refuses other messages, and lists.
    fn lead_to_scalar(&mut self) -> Result<(), String> {
        let Some(FieldStep { kind, select, .. }) = self.steps.last() else { return Ok(()) };
        if matches!(select, Select::All) {
            return Err(
                "it is a list or a map; name an element, such as [0] or [\"key\"]".to_owned()
            );
        }
        let Kind::Message(message) = kind.clone() else { return Ok(()) };
        let is_wrapper =
            message.package_name() == "google.protobuf" && message.name().ends_with("Value");
        let value = message.get_field_by_name("value").filter(|_| is_wrapper);
        let Some(value) = value else {
            let fields: Vec<String> =
                message.fields().map(|field| field.json_name().to_owned()).collect();
            return Err(format!(
                "it is a {}; name one of its fields: {}",
                message.full_name(),
                fields.join(", ")
            ));
        };
        self.steps.push(FieldStep::new(&value, None)?);
        self.has_default = true;
        Ok(())
    }

    /// Converts JSON to the type that the value is compared with.
    pub fn literal(&self, value: &serde_json::Value) -> Result<Literal, String> {
        self.steps.last().map_or(Ok(Literal::Null), |step| field::literal(&step.kind, value))
    }

    /// True if the field is set; without presence, if it is not the default.
    pub fn is_set(&self, value: &Value<'_>) -> bool {
        match self.has_default {
            true => !value.is_default(),
            false => !matches!(value, Value::Missing),
        }
    }

    /// The name of an enum's value.
    pub fn enum_name(&self, value: &Value<'_>) -> Option<String> {
        let (Kind::Enum(kind), Value::Int(number)) = (&self.steps.last()?.kind, value) else {
            return None;
        };
        let value = kind.get_value(i32::try_from(*number).ok()?)?;
        Some(format!("\"{}\"", value.name()))
    }

    #[inline(always)]
    pub fn find<'a>(&self, message: &'a [u8]) -> Result<Value<'a>, &'static str> {
        let found = match &self.steps[..] {
            [step] if matches!(step.select, Select::Only) && step.others.is_empty() => {
                self.own_field(step, message)
            }
            steps => self.find_within(steps, message),
        };
        found.map_err(|Malformed| MALFORMED)
    }

    /// The usual path: a field of the message itself, not in a oneof.
    #[inline(always)]
    fn own_field<'a>(&self, step: &FieldStep, message: &'a [u8]) -> Result<Value<'a>, Malformed> {
        let (mut rest, mut found) = (message, None);
        while let Some((number, content)) = wire::next(&mut rest)? {
            if number == step.number {
                found = Some(field::value(&step.kind, content)?);
            }
        }
        Ok(match found {
            Some(value) => value,
            None if self.has_default => field::default(&step.kind),
            None => Value::Missing,
        })
    }

    #[inline(never)]
    fn find_within<'a>(
        &self,
        steps: &[FieldStep],
        message: &'a [u8],
    ) -> Result<Value<'a>, Malformed> {
        let (mut found, mut passed) = (Value::Missing, [0; MAX_STEPS + 1]);
        self.walk(steps, message, &mut passed, &mut found)?;
        Ok(found)
    }

    /// Follows `steps` in a message, which may be one part of several that are merged.
    fn walk<'a>(
        &self,
        steps: &[FieldStep],
        message: &'a [u8],
        passed: &mut Passed,
        found: &mut Value<'a>,
    ) -> Result<(), Malformed> {
        let Some(step) = steps.first() else { return Ok(()) };
        let is_last = steps.len() == 1;
        if is_last
            && self.has_default
            && matches!((&step.select, &found), (Select::Only, Value::Missing))
        {
            *found = field::default(&step.kind);
        }
        let mut rest = message;
        while let Some((number, content)) = wire::next(&mut rest)? {
            if step.others.contains(&number) {
                *found = Value::Missing;
            }
            if number == step.number {
                self.take(steps, content, passed, found)?;
            }
        }
        Ok(())
    }

    /// Takes an occurrence of the first step's field.
    #[inline]
    fn take<'a>(
        &self,
        steps: &[FieldStep],
        content: Content<'a>,
        passed: &mut Passed,
        found: &mut Value<'a>,
    ) -> Result<(), Malformed> {
        let Some(FieldStep { kind, select, .. }) = steps.first() else { return Ok(()) };
        match select {
            Select::All => *found = Value::Composite,
            Select::Only => self.enter(steps, content, passed, found)?,
            Select::Element(wanted) => {
                let at = self.steps.len() - steps.len();
                let mut element = |content, passed: &mut Passed| {
                    let index = passed[at];
                    passed[at] += 1;
                    let is_wanted = index == *wanted;
                    if is_wanted { self.enter(steps, content, passed, found) } else { Ok(()) }
                };
                match content {
                    Content::Bytes(mut list) if field::may_be_packed(kind) => {
                        while !list.is_empty() {
                            element(field::packed(kind, &mut list)?, passed)?;
                        }
                    }
                    content => element(content, passed)?,
                }
            }
            Select::Entry(of_key, wanted) => {
                let (key, value) = entry(of_key, content)?;
                if key.equals(wanted) {
                    *found = if steps.len() == 1 { field::default(kind) } else { Value::Missing };
                    let value = match (value, kind) {
                        (None, Kind::Message(_)) => Some(Content::Bytes(b"")),
                        (value, _) => value,
                    };
                    value.map_or(Ok(()), |value| self.enter(steps, value, passed, found))?;
                }
            }
        }
        Ok(())
    }

    /// Takes the first step's value, or looks into it.
    #[inline(always)]
    fn enter<'a>(
        &self,
        steps: &[FieldStep],
        content: Content<'a>,
        passed: &mut Passed,
        found: &mut Value<'a>,
    ) -> Result<(), Malformed> {
        let Some((step, rest)) = steps.split_first() else { return Ok(()) };
        match (rest, content) {
            ([], content) => *found = field::value(&step.kind, content)?,
            (rest, Content::Bytes(message) | Content::Group(message)) => {
                self.walk(rest, message, passed, found)?;
            }
            _ => return Err(Malformed),
        }
        Ok(())
    }
}

/// Key and value of a map entry.
fn entry<'a>(
    of_key: &Kind,
    content: Content<'a>,
) -> Result<(Value<'a>, Option<Content<'a>>), Malformed> {
    let Content::Bytes(mut rest) = content else { return Err(Malformed) };
    let (mut key, mut value) = (field::default(of_key), None);
    while let Some((number, content)) = wire::next(&mut rest)? {
        match number {
            1 => key = field::value(of_key, content)?,
            2 => value = Some(content),
            _ => {}
        }
    }
    Ok((key, value))
}

impl FieldStep {
    fn new(field: &FieldDescriptor, subscript: Option<&Step>) -> Result<Self, String> {
        let name = field.json_name();
        let (kind, select) = match (subscript, field.kind()) {
            (None, Kind::Message(entry)) if field.is_map() => {
                (entry.map_entry_value_field().kind(), Select::All)
            }
            (Some(step), Kind::Message(entry)) if field.is_map() => {
                let of_key = entry.map_entry_key_field().kind();
                let key = match (step, &of_key) {
                    (Step::Key(key), Kind::String) => key.clone().into(),
                    (Step::Key(key), _) => serde_json::from_str(key).unwrap_or_default(),
                    (Step::Index(index), _) => (*index).into(),
                };
                let key = field::literal(&of_key, &key)?;
                (entry.map_entry_value_field().kind(), Select::Entry(of_key, key))
            }
            (None, kind) if field.is_list() => (kind, Select::All),
            (Some(Step::Index(index)), kind) => (kind, Select::Element(*index)),
            (Some(Step::Key(_)), _) => {
                return Err(format!("{name} is a list; name an element, such as {name}[0]"));
            }
            (None, kind) => (kind, Select::Only),
        };
        let oneof = field.containing_oneof();
        let others = oneof.iter().flat_map(|oneof| oneof.fields()).map(|other| other.number());
        let others = others.filter(|number| *number != field.number()).collect();
        Ok(Self { number: field.number(), kind, select, others })
    }
}

/// The field with this name, as written in JSON or in `.proto` files.
fn named(message: &MessageDescriptor, name: &str) -> Result<FieldDescriptor, String> {
    let field = message.get_field_by_json_name(name).or_else(|| message.get_field_by_name(name));
    field.ok_or_else(|| {
        let known: Vec<String> = message.fields().map(|it| it.json_name().to_owned()).collect();
        format!(
            "{} has no field '{name}'; expected one of {}",
            message.full_name(),
            known.join(", ")
        )
    })
}
