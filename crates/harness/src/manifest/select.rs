//! From names and globs as typed to entries.

use std::num::NonZeroU32;

use globset::{Glob, GlobMatcher};

use super::Entry;
use super::error::ManifestError;
use crate::config::closest;

pub(super) fn select(all: &[Entry], patterns: &[String]) -> Result<Vec<Entry>, ManifestError> {
    if patterns.is_empty() {
        return Ok(all.to_vec());
    }
    let mut chosen: Vec<Choice<'_>> = Vec::new();
    for text in patterns {
        let pattern = Pattern::new(text)?;
        let matching: Vec<&Entry> = all.iter().filter(|entry| pattern.matches(entry)).collect();
        if matching.is_empty() {
            return Err(no_match(all, text));
        }
        for entry in matching {
            let known = chosen.iter().position(|choice| std::ptr::eq(choice.entry, entry));
            let at = known.unwrap_or_else(|| {
                chosen.push(Choice { entry, named: 0 });
                chosen.len() - 1
            });
            chosen[at].named += u32::from(pattern.glob.is_none());
        }
    }
    Ok(chosen.iter().flat_map(Choice::copies).collect())
}

/// An entry and how often it was named in full.
struct Choice<'a> {
    entry: &'a Entry,
    named: u32,
}

impl Choice<'_> {
    fn copies(&self) -> impl Iterator<Item = Entry> {
        (1..=self.named.max(1))
            .filter_map(NonZeroU32::new)
            .map(|copy| Entry { copy, ..self.entry.clone() })
    }
}

struct Pattern<'a> {
    text: &'a str,
    glob: Option<GlobMatcher>,
}

impl<'a> Pattern<'a> {
    fn new(text: &'a str) -> Result<Self, ManifestError> {
        if !text.contains(['*', '?', '[', '{']) {
            return Ok(Self { text, glob: None });
        }
        let glob = Glob::new(text).map_err(|error| ManifestError::BadPattern {
            pattern: text.to_owned(),
            message: error.kind().to_string(),
        })?;
        Ok(Self { text, glob: Some(glob.compile_matcher()) })
    }

    fn matches(&self, entry: &Entry) -> bool {
        let names = [entry.server.name.clone(), entry.without_variant(), entry.base_name()];
        names.iter().any(|name| match &self.glob {
            Some(glob) => glob.is_match(name),
            None => name == self.text,
        })
    }
}

fn no_match(all: &[Entry], pattern: &str) -> ManifestError {
    let known: Vec<String> = all.iter().map(Entry::base_name).collect();
    let servers = all.iter().map(|entry| entry.server.name.as_str());
    ManifestError::NoMatch {
        pattern: pattern.to_owned(),
        suggestion: closest(pattern, servers.chain(known.iter().map(String::as_str))),
        known,
    }
}
