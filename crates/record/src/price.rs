//! What servers' CPU time and memory cost.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::{ParseError, decimal};

const EXAMPLES: &str = "write prices such as 0.04/cpu-hour or 0.04/cpu-hour,0.005/GiB-hour";

/// Price of CPU time and memory, in one currency. Either may be missing and then costs nothing. Written
/// `$0.04/cpu-hour,$0.005/GiB-hour`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(into = "String", try_from = "String")]
#[schemars(with = "String")]
pub struct Price {
    /// The symbol before each amount; may be empty.
    pub currency: String,
    /// Price of an hour of CPU time.
    pub cpu_hour: Option<f64>,
    /// Price of a GiB of memory for an hour.
    pub gib_hour: Option<f64>,
}

impl FromStr for Price {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        const AMOUNT: &str =
            "must be a number above zero, after a currency such as $ or EUR if you like";
        let refused = |why: String| ParseError(format!("{why}; {EXAMPLES}"));
        let mut price = Self::default();
        for part in text.split(',').map(str::trim) {
            let parts = part.split_once('/');
            let (amount, unit) = parts.ok_or_else(|| refused(format!("'{part}' has no unit")))?;
            let read = read_amount(amount);
            let (currency, number) = read.ok_or_else(|| refused(format!("'{amount}' {AMOUNT}")))?;
            let slot = match unit {
                "cpu-hour" => &mut price.cpu_hour,
                "GiB-hour" => &mut price.gib_hour,
                _ => return Err(refused(format!("unknown unit '/{unit}'"))),
            };
            if slot.replace(number).is_some() {
                return Err(refused(format!("/{unit} is given twice")));
            }
            // An amount without a currency takes that of the other amount.
            if currency.is_empty() {
                continue;
            }
            if !price.currency.is_empty() && currency != price.currency {
                return Err(refused(format!("'{text}' has two currencies")));
            }
            currency.clone_into(&mut price.currency);
        }
        Ok(price)
    }
}

/// Splits `0.04`, `$0.04` or `EUR0.04` into currency and number.
fn read_amount(text: &str) -> Option<(&str, f64)> {
    let (currency, number) = text.split_at(text.find(|c: char| c.is_ascii_digit())?);
    // The Unicode block of currency symbols, and symbols outside it.
    let is_symbol =
        |c: char| c.is_ascii_alphabetic() || matches!(c, '$' | '£' | '¥' | '\u{20a0}'..='\u{20c1}');
    // Codes have three letters.
    let is_currency = currency.chars().count() <= 3 && currency.chars().all(is_symbol);
    let number = decimal(number).filter(|number| *number > 0.0 && number.is_finite())?;
    is_currency.then_some((currency, number))
}

impl fmt::Display for Price {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [(self.cpu_hour, "cpu-hour"), (self.gib_hour, "GiB-hour")].into_iter();
        let known = parts.filter_map(|(it, unit)| Some(format!("{}{}/{unit}", self.currency, it?)));
        f.write_str(&known.collect::<Vec<_>>().join(","))
    }
}

serialize_as_text!(Price);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn price_round_trips_as_text() {
        let both = |currency: &str| Price {
            currency: currency.to_owned(),
            cpu_hour: Some(0.04),
            gib_hour: Some(0.005),
        };
        let cpu = Price { gib_hour: None, ..both("") };
        for (text, price, shown) in [
            ("0.04/cpu-hour", cpu, "0.04/cpu-hour"),
            ("0.04/cpu-hour,0.005/GiB-hour", both(""), "0.04/cpu-hour,0.005/GiB-hour"),
            ("$0.005/GiB-hour, $0.04/cpu-hour", both("$"), "$0.04/cpu-hour,$0.005/GiB-hour"),
            ("$0.04/cpu-hour,0.005/GiB-hour", both("$"), "$0.04/cpu-hour,$0.005/GiB-hour"),
            ("0.04/cpu-hour,$0.005/GiB-hour", both("$"), "$0.04/cpu-hour,$0.005/GiB-hour"),
            ("€0.04/cpu-hour,€0.005/GiB-hour", both("€"), "€0.04/cpu-hour,€0.005/GiB-hour"),
            (
                "EUR0.04/cpu-hour,EUR0.005/GiB-hour",
                both("EUR"),
                "EUR0.04/cpu-hour,EUR0.005/GiB-hour",
            ),
        ] {
            assert_eq!(text.parse(), Ok(price.clone()));
            assert_eq!(price.to_string(), shown);
            assert_eq!(shown.parse(), Ok(price));
        }
    }

    #[test]
    fn invalid_price_is_refused_with_remedy() {
        let amount = "must be a number above zero, after a currency such as $ or EUR if you like";
        for (text, why) in [
            ("4", "'4' has no unit".to_owned()),
            ("", "'' has no unit".to_owned()),
            ("0,04/cpu-hour", "'0' has no unit".to_owned()),
            ("/hour", format!("'' {amount}")),
            ("0.04/hour", "unknown unit '/hour'".to_owned()),
            ("0.04/GB-hour", "unknown unit '/GB-hour'".to_owned()),
            ("-0.04/cpu-hour", format!("'-0.04' {amount}")),
            ("0/cpu-hour", format!("'0' {amount}")),
            ("$ 4/cpu-hour", format!("'$ 4' {amount}")),
            ("4e3/cpu-hour", format!("'4e3' {amount}")),
            ("\u{202e}4/cpu-hour", format!("'\u{202e}4' {amount}")),
            ("1/cpu-hour,2/cpu-hour", "/cpu-hour is given twice".to_owned()),
            ("$1/cpu-hour,€2/GiB-hour", "'$1/cpu-hour,€2/GiB-hour' has two currencies".to_owned()),
        ] {
            let refused = text.parse::<Price>().unwrap_err().to_string();
            assert_eq!(refused, format!("{why}; {EXAMPLES}"));
        }
    }
}
