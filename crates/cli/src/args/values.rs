//! Values that are more than a word or a number.

use std::ffi::OsStr;
use std::fmt;
use std::net::Ipv6Addr;
use std::path::PathBuf;
use std::str::FromStr;

use clap::builder::TypedValueParser;
use clap::error::ErrorKind;
use clap::{Arg, Command};
use rpcbench_engine::ServerAddress;
use rpcbench_harness::{suite, units};
use rpcbench_record::{Arrivals, ArrivalsError, MAX_SEED, Rate, WarmUp};

/// Where a server listens: `HOST:PORT`, with an IPv6 address in brackets, or `unix:PATH`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A port of a host.
    Host {
        /// A name or an address, without brackets.
        host: String,
        /// The port.
        port: u16,
    },
    /// A socket in the file system.
    Unix(PathBuf),
}

/// Most bytes of a socket's path (unix(7): 108 with the zero at its end).
const MOST_PATH: usize = 107;

impl Address {
    /// What requests name as their host: the address as typed, if it is one of the network.
    pub fn authority(&self) -> String {
        match self {
            Self::Host { .. } => self.to_string(),
            Self::Unix(path) => ServerAddress::Unix(path.clone()).authority(),
        }
    }

    fn unix(path: &str) -> Result<Self, String> {
        match path.len() {
            0 => Err("the path is missing; write unix:PATH, such as unix:/run/app.sock".to_owned()),
            1..=MOST_PATH => Ok(Self::Unix(path.into())),
            long => Err(format!(
                "a socket's path has at most {MOST_PATH} bytes, this one has {long}; give a shorter one, such as one relative to the current folder"
            )),
        }
    }
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const REMEDY: &str =
            "write HOST:PORT, such as 127.0.0.1:50051 or [::1]:50051, or unix:PATH";
        if let Some(path) = text.strip_prefix("unix:") {
            return Self::unix(path.strip_prefix("//").unwrap_or(path));
        }
        if let Some((scheme, _)) = text.split_once("://") {
            return Err(format!("leave '{scheme}://' out; {REMEDY}"));
        }
        let (host, port) = text.rsplit_once(':').ok_or(format!("the port is missing; {REMEDY}"))?;
        let bare = host.strip_prefix('[').and_then(|h| h.strip_suffix(']'));
        let host = match bare {
            Some(inner) if inner.parse::<Ipv6Addr>().is_ok() => inner,
            None if !host.is_empty() && !host.contains([':', '[', ']', '/']) => host,
            _ => return Err(format!("'{host}' is not a host; {REMEDY}")),
        };
        match port.parse() {
            Ok(0) | Err(_) => Err(format!("'{port}' is not a port from 1 to 65535; {REMEDY}")),
            Ok(port) => Ok(Self::Host { host: host.to_owned(), port }),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host { host, port } if host.contains(':') => write!(f, "[{host}]:{port}"),
            Self::Host { host, port } => write!(f, "{host}:{port}"),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

/// `--arrivals`: arrivals with their rate, or a kind that still needs `--rate`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrivalsArg {
    /// All there is to say.
    Whole(Arrivals),
    /// What kind of arrivals, without a rate.
    Kind(Kind),
}

/// A kind of arrivals that has one rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// At equal distances.
    Constant,
    /// At exponentially distributed ones.
    Poisson,
}

impl FromStr for ArrivalsArg {
    type Err = ArrivalsError;

    fn from_str(text: &str) -> Result<Self, ArrivalsError> {
        match text {
            "constant" => Ok(Self::Kind(Kind::Constant)),
            "poisson" => Ok(Self::Kind(Kind::Poisson)),
            _ => text.parse().map(Self::Whole),
        }
    }
}

impl Kind {
    /// The arrival process with that rate.
    pub(super) fn at(self, rate: Rate) -> Arrivals {
        match self {
            Self::Constant => Arrivals::Constant { rate },
            Self::Poisson => Arrivals::Poisson { rate },
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Constant => "constant",
            Self::Poisson => "poisson",
        })
    }
}

/// A file for a log of calls, and the format that its ending names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallsFile {
    /// The file.
    pub path: PathBuf,
    /// How calls are written.
    pub format: CallsFormat,
}

/// How a log of calls is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallsFormat {
    /// A line for each call.
    Csv,
    /// Apache Parquet.
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

/// A name that an option had before; it takes no value any more, and names the new one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Renamed(pub &'static str);

impl TypedValueParser for Renamed {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        option: Option<&Arg>,
        _value: &OsStr,
    ) -> Result<String, clap::Error> {
        let option = option.map(ToString::to_string).unwrap_or_default();
        let old = option.split(' ').next().unwrap_or_default();
        let message = format!("{old} is {} now\n", self.0);
        Err(clap::Error::raw(ErrorKind::UnknownArgument, message).with_cmd(command))
    }
}

/// Calls a second, or a share of the capacity.
pub(super) fn rate(text: &str) -> Result<Rate, String> {
    text.parse().map_err(|_: ArrivalsError| {
        "write calls a second such as 500 or 20k, or a share of the measured capacity such as 40%"
            .to_owned()
    })
}

/// A length of time of at least one millisecond, in milliseconds.
pub(super) fn length(text: &str) -> Result<u64, String> {
    let duration = units::duration(text).map_err(|error| error.to_string())?;
    match u64::try_from(duration.as_millis()) {
        Ok(0) => Err("must be at least 1ms".to_owned()),
        Ok(milliseconds) => Ok(milliseconds),
        Err(_) => Err("is longer than any run can be".to_owned()),
    }
}

/// Memory for a server, bytes. Less than this is meant to be something else.
pub(super) fn memory(text: &str) -> Result<u64, String> {
    const LEAST: u64 = 1 << 20;
    match units::memory(text) {
        Ok(bytes) if bytes < LEAST => Err(format!(
            "no server starts in {}; write a number and a unit, such as 512M or 2G",
            units::bytes(bytes)
        )),
        read => read.map_err(|error| error.to_string()),
    }
}

/// A seed.
pub(super) fn seed(text: &str) -> Result<u64, String> {
    let seed = text.parse().ok().filter(|seed| *seed <= MAX_SEED);
    seed.ok_or_else(|| format!("must be a whole number from 0 to {MAX_SEED}"))
}

/// A number of things, at least one.
pub(super) fn count(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(0) => Err("must be more than zero".to_owned()),
        _ => whole(text, u32::MAX),
    }
}

/// A number of calls, at least one.
pub(super) fn calls(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(0) => Err("must be more than zero".to_owned()),
        _ => whole(text, u64::MAX),
    }
}

/// A port.
pub(super) fn port(text: &str) -> Result<u16, String> {
    whole(text, u16::MAX)
}

/// The id of a process.
pub(super) fn process(text: &str) -> Result<u32, String> {
    whole(text, i32::MAX as u32)
}

fn whole<N: Copy + FromStr + PartialOrd + From<u8> + fmt::Display>(
    text: &str,
    most: N,
) -> Result<N, String> {
    let number = text.parse().ok().filter(|number| (N::from(1)..=most).contains(number));
    number.ok_or_else(|| format!("must be a whole number from 1 to {most}"))
}

/// `until-steady`, `none`, or a length of time.
pub(super) fn warm_up(text: &str) -> Result<WarmUp, String> {
    suite::warm_up(text).map_err(|error| format!("{error}; or until-steady, or none"))
}
