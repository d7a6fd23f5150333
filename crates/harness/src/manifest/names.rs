//! Strings in manifests that follow a rule.

use std::str::FromStr;
use std::sync::LazyLock;

use regex::Regex;

use crate::config::from_text;

static NAME: LazyLock<Regex> = LazyLock::new(|| pattern(r"^[a-z0-9][a-z0-9._+-]*$"));
static NUMBERS: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\d+(\.\d+)*$"));
static PACKAGES: LazyLock<Regex> = LazyLock::new(|| {
    let one = r"[a-z0-9][a-z0-9.+-]+( \(>= [0-9][A-Za-z0-9.+:~-]*\))?";
    pattern(&format!(r"^{one}( \| {one})*$"))
});

#[expect(clippy::expect_used, reason = "the patterns are constants, and tests use each of them")]
fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a constant pattern")
}

/// The name of a language, a library's folder or a variant.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Name(pub String);

/// A version, numbers and dots.
#[derive(Clone, Debug)]
pub(super) struct VersionNumber(pub String);

/// One element of a Debian dependency: a package, perhaps with its minimum version, or alternatives.
#[derive(Clone, Debug)]
pub(super) struct Packages(pub String);

/// A regular expression with a group.
#[derive(Clone, Debug)]
pub(super) struct Pattern(pub Regex);

from_text!(Name, VersionNumber, Packages, Pattern);

/// True if a text is valid as the name of a language, a library's folder or a variant.
pub(crate) fn is_name(text: &str) -> bool {
    NAME.is_match(text)
}

/// The rule for a [`Name`].
pub(crate) const NAME_RULE: &str =
    "use lower-case letters, digits, '-', '_', '.' and '+', a letter or digit first";

/// Implements `FromStr` for types whose text must match a pattern.
macro_rules! from_matching {
    ($($name:ident: $pattern:ident, $rule:expr;)+) => {
        $(impl FromStr for $name {
            type Err = &'static str;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                if $pattern.is_match(text) { Ok(Self(text.to_owned())) } else { Err($rule) }
            }
        })+
    };
}

from_matching! {
    Name: NAME, NAME_RULE;
    VersionNumber: NUMBERS, "write numbers and dots, such as 1.25";
    Packages: PACKAGES, "write a package's name, such as \"maven\", \"nodejs (>= 18)\" or \"default-jdk | openjdk-21-jdk\"";
}

impl FromStr for Pattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let regex = Regex::new(text).map_err(|error| {
            let lines = error.to_string();
            let problem = lines.lines().last().unwrap_or_default().trim();
            format!("not a regular expression: {problem}")
        })?;
        match regex.captures_len() {
            0 | 1 => Err(
                "it has no group; put the part to read in parentheses, such as 'go(\\d+\\.\\d+)'"
                    .to_owned(),
            ),
            _ => Ok(Self(regex)),
        }
    }
}
