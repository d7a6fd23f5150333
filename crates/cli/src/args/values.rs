//! Option values that are not part of a workload.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use rpcbench_record::MAX_SEED;

/// A file for a log of calls, with the format given by its extension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallsFile {
    pub path: PathBuf,
    pub format: CallsFormat,
}

/// The format of a log of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallsFormat {
    Csv,
    Parquet,
}

impl FromStr for CallsFile {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let path = PathBuf::from(text);
        let format = match path.extension().and_then(|ending| ending.to_str()) {
            Some("csv") => CallsFormat::Csv,
            Some("parquet") => CallsFormat::Parquet,
            _ => return Err("its ending names the format; use .parquet or .csv".to_owned()),
        };
        Ok(Self { path, format })
    }
}

pub(super) fn seed(text: &str) -> Result<u64, String> {
    let seed = text.parse().ok().filter(|seed| *seed <= MAX_SEED);
    seed.ok_or_else(|| format!("must be a whole number from 0 to {MAX_SEED}"))
}

pub(super) fn port(text: &str) -> Result<u16, String> {
    whole(text, u16::MAX)
}

/// Parses a process id.
pub(super) fn process(text: &str) -> Result<u32, String> {
    whole(text, i32::MAX as u32)
}

fn whole<N: Copy + FromStr + PartialOrd + From<u8> + fmt::Display>(
    text: &str,
    largest: N,
) -> Result<N, String> {
    let number = text.parse().ok().filter(|number| (N::from(1)..=largest).contains(number));
    number.ok_or_else(|| format!("must be a whole number from 1 to {largest}"))
}
