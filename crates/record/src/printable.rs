//! Makes untrusted text safe to show on a terminal.
//!
//! Text from servers, tools and files may contain escape sequences, line ends that forge lines, and marks that change the
//! writing direction. Views escape a whole run before showing it. Text shown during a run is escaped where it enters: the
//! engine escapes what servers send, the harness what tools and logs write.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::Arc;

use crate::machine::{Machine, ServerMachine};
use crate::preparation::{Preparation, Readiness};
use crate::run::{Header, Run};
use crate::trial::{Failure, Measured, Trial, TrialResult};

/// True if a terminal shows the character and does nothing else.
pub fn is_printable(c: char) -> bool {
    !c.is_control()
        && !matches!(
            c,
            // Direction marks, line separators and characters without width.
            '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
                | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}'
        )
}

/// The text with every character that is not printable escaped: `\u{1b}[31m` becomes visible.
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

fn escape_all<'a>(texts: impl IntoIterator<Item = &'a mut String>) {
    texts.into_iter().for_each(escape);
}

impl Run {
    /// The run with all text that views show made [printable](crate::printable()), as a record may come from anywhere.
    pub fn printable(&self) -> Self {
        let mut run = self.clone();
        header(&mut run.header);
        run.preparations.iter_mut().for_each(preparation);
        run.trials.iter_mut().for_each(trial);
        run.interim_analyses.iter_mut().for_each(|look| escape(&mut look.workload));
        run
    }
}

fn header(Header { tool, machines, plan, .. }: &mut Header) {
    escape_all([&mut tool.version, &mut tool.profile, &mut plan.suite]);
    machine(&mut machines.client);
    if let ServerMachine::Own(own) = &mut machines.server {
        machine(own);
    }
    for workload in &mut plan.workloads {
        escape_all([&mut workload.name, &mut workload.shape]);
    }
    for server in &mut plan.servers {
        escape_all([&mut server.entry, &mut server.server]);
        escape_all([&mut server.language, &mut server.library]);
        escape_all(&mut server.variant);
        escape_all(
            server
                .build
                .iter_mut()
                .flat_map(|it| std::iter::once(&mut it.origin).chain(&mut it.commit)),
        );
    }
    for planned in &mut plan.order {
        escape_all([&mut planned.entry, &mut planned.workload]);
    }
}

fn machine(machine: &mut Machine) {
    escape_all([&mut machine.kernel, &mut machine.os, &mut machine.cpu.model, &mut machine.cgroup]);
}

fn preparation(prepared: &mut Preparation) {
    escape_all([&mut prepared.entry, &mut prepared.workload]);
    for (library, mut version) in std::mem::take(&mut prepared.versions) {
        escape(&mut version);
        prepared.versions.insert(printable(&library).into_owned(), version);
    }
    escape_all(prepared.toolchains.iter_mut().flat_map(|it| [&mut it.name, &mut it.version]));
    escape_all(&mut prepared.isolation.notes);
    escape_all(&mut prepared.check.failed);
    match &mut prepared.readiness {
        Readiness::Ready => {}
        Readiness::Skipped { reason } => escape(reason),
        Readiness::Failed(failed) => failure(failed),
    }
}

fn failure(failure: &mut Failure) {
    escape(&mut failure.reason);
    escape_all(&mut failure.log_tail);
}

fn trial(trial: &mut Trial) {
    escape_all([&mut trial.entry, &mut trial.workload]);
    if let Some(before) = &mut trial.unmeasured {
        escape_all(&mut before.error_examples);
    }
    match &mut trial.result {
        TrialResult::Failed(failed) => failure(failed),
        TrialResult::Measured(measured) if has_text(measured) => {
            let measured = Arc::make_mut(measured);
            escape_all(&mut measured.error_examples);
            escape_all(&mut measured.connections.reason);
        }
        // Most windows have no text, and stay shared with the record.
        TrialResult::Measured(_) => {}
    }
}

fn has_text(measured: &Measured) -> bool {
    !measured.error_examples.is_empty() || measured.connections.reason.is_some()
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
