//! Calls that failed, by kind, in bounded memory.

use rpcbench_record::{FailedCall, FailureKind, OutcomeKind, printable};
use rpcbench_stats::Histogram;

use crate::outcome::Outcome;

/// Maximum kinds with separate figures.
const MAX_KINDS: usize = 16;
/// Maximum examples of a kind.
const MAX_EXAMPLES: usize = 3;
/// Longest text of an example, characters.
const MAX_TEXT: usize = 300;
/// Bytes shown of the start of a reply that is not text.
const MAX_BYTES: usize = 32;

/// How a call ended, and the code if that is a status.
type Kind = (OutcomeKind, Option<u32>);

/// Calls that failed, by kind.
#[derive(Clone, Debug, Default)]
pub struct Failures(Vec<Group>);

#[derive(Clone, Debug)]
struct Group {
    kind: Kind,
    /// Response times, nanoseconds.
    times: Histogram,
    examples: Vec<FailedCall>,
}

impl Failures {
    /// Counts a call that ended after `ns`.
    pub(crate) fn record(&mut self, outcome: &Outcome, ns: u64) {
        self.group(outcome.kind()).times.record(ns);
    }

    /// True if more examples of calls that end like this are wanted.
    pub(crate) fn wants_example(&mut self, outcome: &Outcome) -> bool {
        self.group(outcome.kind()).examples.len() < MAX_EXAMPLES
    }

    /// Keeps an example, unless there are enough of its kind. True if it is kept.
    pub(crate) fn explain(&mut self, outcome: &Outcome, example: FailedCall) -> bool {
        self.group(outcome.kind()).add(example)
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        for Group { kind, times, examples } in &other.0 {
            let group = self.group(*kind);
            group.times.merge(times);
            for example in examples {
                group.add(example.clone());
            }
        }
    }

    /// Converts to records, most frequent kinds first.
    pub fn into_record(self) -> Vec<FailureKind> {
        let kinds =
            self.0.into_iter().filter_map(|Group { kind: (outcome, status), times, examples }| {
                Some(FailureKind {
                    outcome,
                    status,
                    calls: times.count(),
                    p50_ns: times.quantile(0.5)?,
                    p99_ns: times.quantile(0.99)?,
                    max_ns: times.max()?,
                    examples,
                })
            });
        let mut kinds: Vec<FailureKind> = kinds.collect();
        kinds.sort_by_key(|kind| (std::cmp::Reverse(kind.calls), kind.status));
        kinds
    }

    /// The group of a kind. Statuses beyond the limit share one.
    fn group(&mut self, (outcome, status): Kind) -> &mut Group {
        let is_new = |kind: Kind| move |group: &Group| group.kind == kind;
        let full = self.0.len() >= MAX_KINDS && !self.0.iter().any(is_new((outcome, status)));
        let kind = (outcome, status.filter(|_| !full));
        let at = self.0.iter().position(is_new(kind)).unwrap_or_else(|| {
            self.0.push(Group { kind, times: Histogram::new(), examples: Vec::new() });
            self.0.len() - 1
        });
        &mut self.0[at]
    }
}

impl Group {
    fn add(&mut self, example: FailedCall) -> bool {
        let wanted = self.examples.len() < MAX_EXAMPLES && !self.examples.contains(&example);
        if wanted {
            self.examples.push(example);
        }
        wanted
    }
}

/// The start of a text, safe to show.
pub(crate) fn start_of(text: &str) -> String {
    printable(text).chars().take(MAX_TEXT).collect()
}

/// The start of a reply: as text, or in hexadecimal if it is not text.
pub(crate) fn start_of_reply(reply: &[u8]) -> String {
    let text = std::str::from_utf8(&reply[..reply.len().min(MAX_TEXT)]);
    let whole = match text {
        Ok(text) => Some(text),
        // The cut may split a character.
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&reply[..error.valid_up_to()]).ok()
        }
        Err(_) => None,
    };
    let is_text = |text: &&str| text.chars().all(|c| !c.is_control() || c.is_whitespace());
    match whole.filter(is_text) {
        Some(text) => start_of(text.trim()),
        None => {
            let bytes = reply.iter().take(MAX_BYTES).map(|byte| format!("{byte:02x}"));
            let more = if reply.len() > MAX_BYTES { " ..." } else { "" };
            format!("{}{more}", bytes.collect::<Vec<_>>().join(" "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(code: u32, message: &str) -> Outcome {
        Outcome::Status { code, message: message.to_owned(), details: Vec::new() }
    }

    fn failures(outcomes: impl IntoIterator<Item = Outcome>) -> Vec<FailureKind> {
        let mut failures = Failures::default();
        for (ns, outcome) in (1..).zip(outcomes) {
            failures.record(&outcome, ns);
            failures.explain(&outcome, outcome.failed_call());
        }
        let mut both = Failures::default();
        both.merge(&failures);
        both.into_record()
    }

    #[test]
    fn each_kind_has_times_and_a_few_different_examples() {
        let all = (0..10).flat_map(|n| [status(5, &format!("order {}", n / 2)), Outcome::Timeout]);
        let kinds = failures(all.chain([status(13, "upstream")]));
        let words: Vec<_> =
            kinds.iter().map(|kind| (kind.outcome, kind.status, kind.calls)).collect();
        let statuses = (OutcomeKind::Status, Some(13), 1);
        assert_eq!(
            words,
            [(OutcomeKind::Timeout, None, 10), (OutcomeKind::Status, Some(5), 10), statuses]
        );
        let said: Vec<_> = kinds[1].examples.iter().map(ToString::to_string).collect();
        assert_eq!(said, ["order 0", "order 1", "order 2"]);
        assert_eq!((kinds[0].p50_ns, kinds[0].max_ns), (10, 20));
    }

    #[test]
    fn surplus_statuses_share_the_last_group() {
        let kinds = failures((200..900).map(|code| status(code, "")));
        assert_eq!((kinds.len(), kinds[0].status, kinds[0].calls), (17, None, 684));
    }

    #[test]
    fn start_of_a_reply_is_text_or_hexadecimal() {
        assert_eq!(start_of_reply(b"{\n  \"a\": 1\n}"), "{\\n  \"a\": 1\\n}");
        assert_eq!(start_of_reply(&[0x0a, 0x03, 1, 2, 3]), "0a 03 01 02 03");
        assert_eq!(start_of_reply("ä".repeat(400).as_bytes()).chars().count(), 150);
    }
}
