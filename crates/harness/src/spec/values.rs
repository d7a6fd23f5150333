//! Values of a workload as written.

use std::str::FromStr;

use rpcbench_record::{Arrivals, ParseError, Rate, WarmUp};

use crate::config::Length;

/// The name of a workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkloadName(pub String);

impl FromStr for WorkloadName {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        match !text.is_empty() && text.chars().all(plain) {
            true => Ok(Self(text.to_owned())),
            false => Err("use small letters, digits and '-'"),
        }
    }
}

/// `until-steady`, `none`, `calls:N/CLIENTS`, or a length of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WarmUpValue(pub WarmUp);

impl FromStr for WarmUpValue {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let warm_up = match text {
            "until-steady" => WarmUp::UntilSteady { least_ms: 0, cap_ms: None },
            "none" => WarmUp::Fixed { length_ms: 0 },
            _ if text.starts_with("calls:") => warm_up_calls(text)?,
            _ => match text.parse::<Length>() {
                Ok(length) => WarmUp::Fixed { length_ms: length.ms() },
                Err(error) => return Err(format!("{error}; or until-steady, or none")),
            },
        };
        Ok(Self(warm_up))
    }
}

/// Reads `calls:2000/100`: 2,000 calls by 100 clients; one client without the second number.
fn warm_up_calls(text: &str) -> Result<WarmUp, String> {
    let numbers = text.trim_start_matches("calls:");
    let (calls, clients) = numbers.split_once('/').unwrap_or((numbers, "1"));
    let read = calls.parse().ok().zip(clients.parse().ok());
    match read.filter(|(calls, clients)| *calls >= u64::from(*clients) && *clients > 0) {
        Some((calls, clients)) => Ok(WarmUp::Calls { calls, clients }),
        None => Err(format!(
            "'{text}' is not a warm-up by calls; expected calls:N/CLIENTS, such as calls:2000/100, with at least a call \
             for each client"
        )),
    }
}

/// Arrivals with their rate, or only their kind if another key sets the rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrivalsValue {
    /// Complete, with a rate if it needs one.
    Whole(Arrivals),
    /// Evenly spaced.
    Constant,
    /// At exponentially distributed intervals.
    Poisson,
}

impl FromStr for ArrivalsValue {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        match text {
            "constant" => Ok(Self::Constant),
            "poisson" => Ok(Self::Poisson),
            _ => text.parse().map(Self::Whole),
        }
    }
}

/// Calls per second, or a share of the capacity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateValue(pub Rate);

impl FromStr for RateValue {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let problem = match text.split_once(':') {
            Some(("constant" | "poisson" | "ramp" | "steps", _)) => {
                let problem = text.parse::<Arrivals>().err().map(|error| format!("{error}; "));
                format!(
                    "{}a rate is one number; give an arrival process by --arrivals, or the key of that name",
                    problem.unwrap_or_default()
                )
            }
            _ => "write calls a second such as 500 or 20k, or a share of the measured capacity such as 40%"
                .to_owned(),
        };
        text.parse().map(Self).map_err(|_: ParseError| problem)
    }
}
