//! Makes untrusted text safe to show on a terminal.
//!
//! Text from servers, tools and files may contain escape sequences, line breaks that forge lines, and marks that change the
//! writing direction. Views escape a whole run before showing it. Text shown during a run is escaped at its source: the engine
//! escapes what servers send, and the harness what tools and logs write.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::run::Run;
use crate::trial::{Measured, Trial, TrialResult};

/// True if a terminal only displays the character.
pub fn is_printable(c: char) -> bool {
    !c.is_control()
        && !matches!(
            c,
            // Direction marks, line separators and zero-width characters.
            '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
                | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}'
        )
}

/// Escapes every character that is not printable, so that `\u{1b}[31m` becomes visible.
pub fn printable(text: &str) -> Cow<'_, str> {
    if text.chars().all(is_printable) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_printable(c) {
            escaped.push(c);
        } else {
            // Writing to a string can't fail.
            let _ = match c {
                '\t' | '\r' | '\n' => write!(escaped, "{}", c.escape_default()),
                _ => write!(escaped, "{}", c.escape_unicode()),
            };
        }
    }
    Cow::Owned(escaped)
}

fn escape(text: &mut String) {
    if let Cow::Owned(escaped) = printable(text) {
        *text = escaped;
    }
}

/// Escapes every text in a part of a record, keys of maps included.
fn escape_within<T: Serialize + DeserializeOwned>(part: &mut T) {
    let is_plain = |json: String| json.chars().all(|c| c != '\\' && is_printable(c));
    if serde_json::to_string(part).is_ok_and(is_plain) {
        return;
    }
    let escaped = serde_json::to_value(&*part).map(escaped).and_then(serde_json::from_value);
    // Parsed text, such as a rate, is printable, so it reads back.
    if let Ok(escaped) = escaped {
        *part = escaped;
    }
}

fn escaped(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(printable(&text).into_owned()),
        Value::Array(items) => items.into_iter().map(escaped).collect(),
        Value::Object(fields) => {
            let fields = fields.into_iter();
            fields.map(|(key, value)| (printable(&key).into_owned(), escaped(value))).collect()
        }
        other => other,
    }
}

impl Run {
    /// The run with all text shown by views made [printable](crate::printable()), as a record may come from anywhere.
    pub fn printable(&self) -> Self {
        let mut run = self.clone();
        escape_within(&mut run.header);
        run.preparations.iter_mut().for_each(escape_within);
        run.trials.iter_mut().for_each(trial);
        run.interim_analyses.iter_mut().for_each(|it| escape(&mut it.workload));
        run
    }
}

fn trial(trial: &mut Trial) {
    escape(&mut trial.entry);
    escape(&mut trial.workload);
    escape_within(&mut trial.unmeasured);
    match &mut trial.result {
        TrialResult::Failed(failure) => escape_within(failure),
        TrialResult::Measured(measured) if has_text(measured) => {
            let measured = Arc::make_mut(measured);
            escape_within(&mut measured.error_examples);
            escape_within(&mut measured.failures);
            escape_within(&mut measured.connections);
            escape_within(&mut measured.runtime);
            escape_within(&mut measured.counterpart_runtime);
        }
        // Most windows have no text, and remain shared with the record.
        TrialResult::Measured(_) => {}
    }
}

fn has_text(measured: &Measured) -> bool {
    let runtime = measured.runtime.iter().chain(&measured.counterpart_runtime);
    let mut of_runtime = runtime.flat_map(|it| it.refused.iter().chain(it.pauses.keys()));
    !measured.error_examples.is_empty()
        || measured.connections.reason.is_some()
        || of_runtime.any(|text| !text.chars().all(is_printable))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_and_direction_marks_are_escaped() {
        for (text, shown) in [
            ("\u{1b}[2Jgone", "\\u{1b}[2Jgone"),
            ("ok\r\nverdict  ok", "ok\\r\\nverdict  ok"),
            ("\u{202e}live\u{2066}", "\\u{202e}live\\u{2066}"),
            ("\u{9b}31m\u{7f}\u{7}\t", "\\u{9b}31m\\u{7f}\\u{7}\\t"),
            ("a\u{2028}b\u{200b}", "a\\u{2028}b\\u{200b}"),
        ] {
            assert_eq!(printable(text), shown);
            assert!(printable(text).chars().all(is_printable));
        }
        for plain in ["", "go-grpc", "Größe 5 µs ± 2 %", "日本語", "C:\\path"] {
            assert!(matches!(printable(plain), Cow::Borrowed(same) if same == plain));
        }
    }
}
