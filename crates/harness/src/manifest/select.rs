//! Resolves names and globs as typed to entries.

use std::collections::BTreeSet;
use std::num::NonZeroU32;

use clap::Args;
use globset::{Glob, GlobMatcher};
use rpcbench_record::{ContractProtocol, Role};

use super::Entry;
use crate::config::{ConfigError, did_you_mean, hint, near};

/// Which entries to use, as options of commands.
///
/// Patterns name entries, protocols and languages narrow them down; an empty list allows all. Languages are named by
/// their folder or as people write them, in any case. An empty selection means the representative entries, or all if
/// none is marked.
#[derive(Args, Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Servers by name or glob; NAME@VARIANT is a variant, NAME:PROTOCOL one protocol of several [default: up to twelve,
    /// one for each language and protocol]
    #[arg(value_name = "SERVER")]
    pub patterns: Vec<String>,
    /// Client libraries in place of servers, by name or glob [default: one for each language and protocol]
    #[arg(long, value_name = "CLIENT", num_args = 0.., conflicts_with = "patterns")]
    pub clients: Option<Vec<String>>,
    /// Only entries of this protocol; repeatable
    #[arg(long = "protocol", value_name = "PROTOCOL")]
    pub protocols: Vec<ContractProtocol>,
    /// Only servers in this language; repeatable
    #[arg(long = "language", value_name = "LANGUAGE")]
    pub languages: Vec<String>,
    /// Every server, in all its variants
    #[arg(long, conflicts_with = "patterns")]
    pub all: bool,
}

impl Selection {
    /// All entries.
    pub const ALL: Self = Self {
        patterns: Vec::new(),
        clients: None,
        protocols: Vec::new(),
        languages: Vec::new(),
        all: true,
    };

    /// The entries that `patterns` name.
    pub fn named(patterns: Vec<String>) -> Self {
        Self { patterns, ..Self::default() }
    }

    /// The entries of a role that `patterns` name.
    pub fn of(role: Role, patterns: Vec<String>) -> Self {
        match role {
            Role::Server => Self::named(patterns),
            Role::Client => Self { clients: Some(patterns), ..Self::default() },
        }
    }

    /// The role of the selection: servers or clients.
    pub fn role(&self) -> Role {
        if self.clients.is_some() { Role::Client } else { Role::Server }
    }

    /// The names and globs of its role.
    pub fn patterns(&self) -> &[String] {
        self.clients.as_deref().unwrap_or(&self.patterns)
    }

    fn says_nothing(&self) -> bool {
        let narrows = !self.protocols.is_empty() || !self.languages.is_empty();
        self.patterns().is_empty() && !narrows && !self.all
    }

    fn takes(&self, entry: &Entry) -> bool {
        let mut languages = self.languages.iter();
        (self.protocols.is_empty() || self.protocols.contains(&ContractProtocol(entry.protocol)))
            && (self.languages.is_empty() || languages.any(|language| is_in(entry, language)))
    }
}

fn is_in(entry: &Entry, language: &str) -> bool {
    let names = [&entry.server.language, &entry.server.language_title];
    names.iter().any(|name| name.eq_ignore_ascii_case(language))
}

pub(super) fn select(all: &[Entry], selection: &Selection) -> Result<Vec<Entry>, ConfigError> {
    if selection.says_nothing() {
        let any = all.iter().any(Entry::is_representative);
        let meant = all.iter().filter(|entry| entry.is_representative() || !any);
        return Ok(meant.cloned().collect());
    }
    if let Some(language) =
        selection.languages.iter().find(|language| !all.iter().any(|entry| is_in(entry, language)))
    {
        return Err(no_language(all, selection.role(), language));
    }
    let mut chosen = match selection.patterns() {
        [] => all.to_vec(),
        patterns => named(all, selection.role(), patterns)?,
    };
    chosen.retain(|entry| selection.takes(entry));
    if chosen.is_empty() {
        let role = selection.role();
        return Err(ConfigError(format!(
            "no {role}{}{}; `rpcbench list {}` shows which there are",
            clause(" in ", &selection.languages),
            clause(" speaks ", &selection.protocols),
            match role {
                Role::Server => "--matrix",
                Role::Client => "clients",
            }
        )));
    }
    Ok(chosen)
}

fn named(all: &[Entry], role: Role, patterns: &[String]) -> Result<Vec<Entry>, ConfigError> {
    let mut chosen: Vec<Choice<'_>> = Vec::new();
    for text in patterns {
        let pattern = Pattern::new(text)?;
        let mut matching: Vec<&Entry> = all.iter().filter(|entry| pattern.matches(entry)).collect();
        if matching.iter().any(|entry| entry.base_name() == *text) {
            matching.retain(|entry| entry.base_name() == *text);
        }
        if matching.is_empty() {
            return Err(no_match(all, role, text));
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
    fn new(text: &'a str) -> Result<Self, ConfigError> {
        if !text.contains(['*', '?', '[', '{']) {
            return Ok(Self { text, glob: None });
        }
        let glob = Glob::new(text).map_err(|error| {
            let remedy = "write a server's name, or a glob such as 'java-*' or 'java-grpc@*'";
            ConfigError(format!("'{text}' is not a pattern: {}; {remedy}", error.kind()))
        })?;
        Ok(Self { text, glob: Some(glob.compile_matcher()) })
    }

    fn matches(&self, entry: &Entry) -> bool {
        let server = entry.server.name.clone();
        let names = [server, entry.without_variant(), entry.without_protocol(), entry.base_name()];
        names.iter().any(|name| match &self.glob {
            Some(glob) => glob.is_match(name),
            None => name == self.text,
        })
    }
}

fn no_match(all: &[Entry], role: Role, pattern: &str) -> ConfigError {
    /// Maximum names to suggest.
    const MAX_SIMILAR: usize = 4;
    // Variants and protocols are suggested only if one was named.
    let names: BTreeSet<String> = match pattern.contains(['@', ':']) {
        true => all.iter().map(Entry::base_name).collect(),
        false => all.iter().map(|entry| entry.server.name.clone()).collect(),
    };
    let mut similar = near(pattern, names.iter().map(String::as_str));
    similar.truncate(MAX_SIMILAR);
    let hint = hint((!similar.is_empty()).then(|| similar.join("' or '")).as_deref());
    let list = role.plural();
    ConfigError(format!("no {role} matches '{pattern}'{hint}; `rpcbench list {list}` shows all"))
}

fn no_language(all: &[Entry], role: Role, language: &str) -> ConfigError {
    let mut known: Vec<String> = all.iter().map(|entry| entry.server.language.clone()).collect();
    known.dedup();
    let hint = did_you_mean(language, known.iter().map(String::as_str));
    let known = known.join(", ");
    ConfigError(format!("no {role} is written in '{language}'{hint}; there are: {known}"))
}

/// ` in go or java`; empty without names.
fn clause(begin: &str, names: &[impl ToString]) -> String {
    let names: Vec<String> = names.iter().map(ToString::to_string).collect();
    if names.is_empty() { String::new() } else { format!("{begin}{}", names.join(" or ")) }
}
