//! Keeps the user's secrets out of replies, which a record keeps as examples of errors.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use base64::prelude::Engine as _;

use crate::call_header::{CallHeader, REDACTED};
use crate::plan::Plan;
use crate::preparation::{Preparation, Readiness};
use crate::trial::{Failure, Measured, Trial, TrialResult, Unmeasured};

/// Minimum length of a secret, and of a secret that is replaced inside a word: shorter ones occur in many words.
const MIN_LEN: usize = 2;
const MIN_PART: usize = 4;
/// Words in credentials that are not secrets.
const SCHEMES: [&str; 3] = ["Bearer", "Basic", "Digest"];

/// Base64, with or without padding, as in gRPC metadata.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Texts that records must not keep.
#[derive(Debug)]
pub struct Secrets {
    known: Vec<String>,
    later: LaterSecrets,
}

/// Secrets that appear during a run, such as renewed tokens. Clones share the list.
#[derive(Clone, Debug, Default)]
pub struct LaterSecrets(Arc<Mutex<Vec<String>>>);

impl LaterSecrets {
    /// Adds the value of a header.
    pub fn add(&self, header: &CallHeader) {
        self.lock().extend(worth(texts(header)));
    }

    /// Adds values that are themselves secrets.
    pub fn add_values<'a>(&self, values: impl Iterator<Item = &'a str>) {
        self.lock().extend(worth(values.map(str::to_owned).collect()));
    }

    fn lock(&self) -> MutexGuard<'_, Vec<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Secrets {
    /// The values of a plan's sensitive headers, and the parts of these values.
    pub fn of(plan: &Plan) -> Self {
        Self::of_headers(plan.workloads.iter().flat_map(|workload| &workload.headers))
    }

    /// The same for these headers. The password of basic authentication is a part as well.
    pub fn of_headers<'a>(headers: impl IntoIterator<Item = &'a CallHeader>) -> Self {
        let headers = headers.into_iter();
        let sensitive = headers.filter(|it| it.is_sensitive() && !it.is_redacted());
        let known = worth(sensitive.flat_map(texts).collect());
        Self { known, later: LaterSecrets::default() }
    }

    /// Adds secrets that appear later.
    #[must_use]
    pub fn and(self, later: LaterSecrets) -> Self {
        Self { later, ..self }
    }

    /// Removes secrets from a trial's texts that a server can influence.
    pub fn conceal_in_trial(&self, trial: &mut Trial) {
        if self.known.is_empty() && self.later.lock().is_empty() {
            return;
        }
        if let Some(Unmeasured { error_examples, .. }) = &mut trial.unmeasured {
            self.conceal_all(error_examples);
        }
        for step in trial.search.iter_mut().flat_map(|search| &mut search.steps) {
            step.windows.iter_mut().for_each(|window| self.conceal_in_window(window));
        }
        match &mut trial.result {
            TrialResult::Failed(failure) => self.conceal_in_failure(failure),
            TrialResult::Measured(measured) => self.conceal_in_window(Arc::make_mut(measured)),
        }
    }

    /// The same for a preparation.
    pub fn conceal_in_preparation(&self, preparation: &mut Preparation) {
        self.conceal_all(&mut preparation.check.failed);
        if let Readiness::Failed(failure) = &mut preparation.readiness {
            self.conceal_in_failure(failure);
        }
    }

    fn conceal_in_window(&self, measured: &mut Measured) {
        self.conceal_all(&mut measured.error_examples);
        for example in measured.failures.iter_mut().flat_map(|kind| &mut kind.examples) {
            self.conceal(&mut example.message);
            self.conceal_all(&mut example.details);
            example.reply.iter_mut().for_each(|reply| self.conceal(reply));
        }
        measured.connections.reason.iter_mut().for_each(|reason| self.conceal(reason));
    }

    fn conceal_in_failure(&self, failure: &mut Failure) {
        self.conceal(&mut failure.reason);
        self.conceal_all(&mut failure.log_tail);
    }

    fn conceal_all(&self, texts: &mut [String]) {
        texts.iter_mut().for_each(|text| self.conceal(text));
    }

    /// Removes secrets from a text.
    pub fn conceal(&self, text: &mut String) {
        let later = self.later.lock();
        let all = self.known.iter().chain(&*later);
        let mut found: Vec<&String> = all.filter(|secret| text.contains(&***secret)).collect();
        // Longest first: a secret may be the beginning of another.
        found.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        for secret in found {
            *text = match secret.len() < MIN_PART {
                true => replace_word(text, secret),
                false => text.replace(secret, REDACTED),
            };
        }
    }
}

/// Keeps only texts that count as secrets.
fn worth(mut texts: Vec<String>) -> Vec<String> {
    texts.retain(|text| text.len() >= MIN_LEN && !SCHEMES.contains(&text.as_str()));
    texts
}

/// Replaces a secret where it is a separate word.
fn replace_word(text: &str, secret: &str) -> String {
    let continues = |next: Option<char>| next.is_some_and(char::is_alphanumeric);
    let (mut replaced, mut done) = (String::new(), 0);
    for (at, _) in text.match_indices(secret) {
        let end = at + secret.len();
        if !continues(text[..at].chars().next_back()) && !continues(text[end..].chars().next()) {
            replaced.extend([&text[done..at], REDACTED]);
            done = end;
        }
    }
    replaced + &text[done..]
}

/// A header's value, its longer parts, the text that a binary value encodes, and the credentials of authentication (RFC 7617,
/// 6750).
fn texts(header: &CallHeader) -> Vec<String> {
    let value = header.value();
    let basic = value.strip_prefix("Basic ");
    let encoded = basic.or_else(|| header.name().ends_with("-bin").then_some(value));
    let decoded = encoded.and_then(|it| BASE64.decode(it).ok());
    let decoded = decoded.and_then(|it| String::from_utf8(it).ok());
    let password = decoded.as_ref().filter(|_| basic.is_some()).and_then(|it| it.split_once(':'));
    let password = password.map(|(_, password)| password.to_owned());
    let pairs = value.split([' ', ';', ',']).filter_map(|pair| pair.split_once('='));
    // Other short parts are likely names.
    let parts = value.split([' ', ';', ',', '=']).filter(|part| part.len() >= MIN_PART);
    let parts = parts.chain(pairs.map(|(_, value)| value));
    let credentials = value.split_once(' ').filter(|(scheme, _)| SCHEMES.contains(scheme));
    let credentials = credentials.map(|(_, credentials)| credentials);
    let own = parts.chain(credentials).chain([value]).map(str::to_owned);
    own.chain(decoded).chain(password).collect()
}
