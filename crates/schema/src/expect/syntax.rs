//! Parses expressions: a path, an operator, and what to compare with.

use serde_json::Value;

/// Maximum steps in a path.
pub(super) const MAX_STEPS: usize = 16;

/// A part of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// A field, or a key of a map.
    Key(String),
    /// An element of a list, from 0.
    Index(u32),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Operator {
    Exists,
    /// `==` and `in`.
    In(Vec<Value>),
    /// `!=`.
    NotIn(Vec<Value>),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Expression {
    /// As written.
    pub path: String,
    pub steps: Vec<Step>,
    pub operator: Operator,
}

const EXAMPLE: &str = "write an expectation such as '$.state == \"OPEN\"', '$.items[0].id != 7', \
                       '$.state in [\"OPEN\", \"PAID\"]' or '$.id exists'";

impl Expression {
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let (steps, rest) = path(text)?;
        if steps.len() > MAX_STEPS {
            return Err(format!("a path has at most {MAX_STEPS} steps"));
        }
        let path = text[..text.len() - rest.len()].to_owned();
        Ok(Self { path, steps, operator: operator(rest.trim())? })
    }
}

/// Parses the steps of a path; also returns the rest of the text.
fn path(text: &str) -> Result<(Vec<Step>, &str), String> {
    let mut rest = text.strip_prefix('$').ok_or(EXAMPLE)?;
    let mut steps = Vec::new();
    loop {
        let (step, after) = match rest.as_bytes().first() {
            Some(b'.') => name(&rest[1..])?,
            Some(b'[') => subscript(&rest[1..])?,
            _ => return Ok((steps, rest)),
        };
        steps.push(step);
        rest = after;
    }
}

fn name(text: &str) -> Result<(Step, &str), String> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    let end = text.find(|c| !is_part(c)).unwrap_or(text.len());
    match end {
        0 => Err("a name must follow '.'; other keys are written [\"a key\"]".to_owned()),
        _ => Ok((Step::Key(text[..end].to_owned()), &text[end..])),
    }
}

/// Parses the content of brackets, after the opening one: an index, or a key in quotes.
fn subscript(text: &str) -> Result<(Step, &str), String> {
    const PROBLEM: &str = "an index or a key must be in brackets: [0], [\"a key\"]";
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let step = match values.next() {
        Some(Ok(Value::String(key))) => Step::Key(key),
        Some(Ok(Value::Number(index))) => {
            let index = index.as_u64().and_then(|index| u32::try_from(index).ok());
            Step::Index(index.ok_or(PROBLEM)?)
        }
        _ => return Err(PROBLEM.to_owned()),
    };
    let rest = text[values.byte_offset()..].trim_start();
    Ok((step, rest.strip_prefix(']').ok_or(PROBLEM)?))
}

fn operator(text: &str) -> Result<Operator, String> {
    if text == "exists" {
        return Ok(Operator::Exists);
    }
    if let Some(rest) = text.strip_prefix("==") {
        return Ok(Operator::In(vec![scalar(rest)?]));
    }
    if let Some(rest) = text.strip_prefix("!=") {
        return Ok(Operator::NotIn(vec![scalar(rest)?]));
    }
    let list = text.strip_prefix("in").filter(|rest| rest.starts_with([' ', '[']));
    let Some(list) = list else {
        return Err(format!("expected ==, !=, in or exists after the path; {EXAMPLE}"));
    };
    match serde_json::from_str(list) {
        Ok(Value::Array(values)) if !values.is_empty() => {
            values.iter().try_for_each(check)?;
            Ok(Operator::In(values))
        }
        _ => Err("'in' needs a list, such as [\"OPEN\", \"PAID\"]".to_owned()),
    }
}

fn scalar(text: &str) -> Result<Value, String> {
    let text = text.trim();
    let value: Value = serde_json::from_str(text).map_err(|_| {
        format!("'{text}' is no value; write a number, true, false, null or \"{text}\"")
    })?;
    check(&value)?;
    Ok(value)
}

fn check(value: &Value) -> Result<(), String> {
    match value {
        Value::Array(_) | Value::Object(_) => {
            Err("lists and objects can't be compared; name a value in them".to_owned())
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expression_is_a_path_an_operator_and_values() {
        let key = |key: &str| Step::Key(key.to_owned());
        let parsed = Expression::parse(r#" $.a_b["c d"][3].e in ["x", 7] "#).unwrap();
        assert_eq!(parsed.steps, [key("a_b"), key("c d"), Step::Index(3), key("e")]);
        assert_eq!(parsed.path, r#"$.a_b["c d"][3].e"#);
        assert_eq!(parsed.operator, Operator::In(vec!["x".into(), 7.into()]));
        let operator = |text| Expression::parse(text).unwrap().operator;
        assert_eq!(operator("$ exists"), Operator::Exists);
        assert_eq!(operator("$.a==null"), Operator::In(vec![Value::Null]));
        assert_eq!(operator("$.a != -1.5"), Operator::NotIn(vec![(-1.5).into()]));
    }

    #[test]
    fn unreadable_expression_is_refused_with_the_remedy() {
        let refusal = |text| Expression::parse(text).unwrap_err();
        insta::assert_snapshot!(refusal("state == 1"), @r#"write an expectation such as '$.state == "OPEN"', '$.items[0].id != 7', '$.state in ["OPEN", "PAID"]' or '$.id exists'"#);
        insta::assert_snapshot!(refusal("$.a == OPEN"), @r#"'OPEN' is no value; write a number, true, false, null or "OPEN""#);
        insta::assert_snapshot!(refusal("$.a > 5"), @r#"expected ==, !=, in or exists after the path; write an expectation such as '$.state == "OPEN"', '$.items[0].id != 7', '$.state in ["OPEN", "PAID"]' or '$.id exists'"#);
        insta::assert_snapshot!(refusal("$.a in 5"), @r#"'in' needs a list, such as ["OPEN", "PAID"]"#);
        insta::assert_snapshot!(refusal("$..a == 5"), @r#"a name must follow '.'; other keys are written ["a key"]"#);
        insta::assert_snapshot!(refusal("$[-1] == 5"), @r#"an index or a key must be in brackets: [0], ["a key"]"#);
        insta::assert_snapshot!(refusal("$.a == {}"), @"lists and objects can't be compared; name a value in them");
        insta::assert_snapshot!(refusal(&format!("${} exists", ".a".repeat(17))), @"a path has at most 16 steps");
    }
}
