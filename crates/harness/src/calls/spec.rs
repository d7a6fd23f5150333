//! Options that say what a load calls.

use std::path::PathBuf;

use clap::Args;
use rpcbench_record::{CallHeader, Protocol};
use rpcbench_schema::Expectation;

use super::messages::size;
use super::{HttpMethod, LoadAddress, MessageSpec, TokenSpec};
use crate::config::{ConfigError, NonZeroLength};
use crate::setup::Address;

/// What a load calls, as typed. Without any of it, the service of rpcbench's contract.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Calls of your own service")]
pub struct CallSpec {
    /// Method of a gRPC service, such as shop.v1.Orders/Get; an end of its name that no other has is enough. The server describes
    /// it by reflection, unless --proto or --protoset does
    #[arg(long, value_name = "METHOD")]
    pub call: Option<String>,
    /// File that describes the service; repeatable
    #[arg(long, value_name = "FILE")]
    pub proto: Vec<PathBuf>,
    /// Folder with files that others import; repeatable [default: the current one, and those above each file]
    #[arg(short = 'I', long, value_name = "DIR")]
    pub import_path: Vec<PathBuf>,
    /// File with descriptors, as protoc --include_imports --descriptor_set_out and buf build write it; repeatable
    #[arg(long, value_name = "FILE")]
    pub protoset: Vec<PathBuf>,
    /// Header for reflection alone, instead of one of --header with its name; repeatable
    #[arg(long, value_name = "NAME: VALUE")]
    pub reflect_header: Vec<CallHeader>,
    /// Data of every call: a body, or JSON for a gRPC method; @FILE is a file's content, @- standard input
    #[arg(short, long, value_name = "DATA", allow_hyphen_values = true)]
    pub data: Option<String>,
    /// File with the data of calls. FILE.jsonl has a request in each line, FILE.bin encoded messages, each after its length in
    /// four bytes, or one without; they are sent in turn. - is standard input
    #[arg(short = 'D', long, value_name = "FILE")]
    pub data_file: Option<PathBuf>,
    /// Send random bodies of this size, such as 64k
    #[arg(long, value_name = "SIZE", value_parser = data_size)]
    pub data_size: Option<u64>,
    /// Field of a form (multipart/form-data), NAME=VALUE or NAME=@FILE; repeatable
    #[arg(long, value_name = "FIELD")]
    pub form: Vec<String>,
    /// Method of a URL's requests [default: GET, with data POST]
    #[arg(short = 'X', long, value_name = "METHOD")]
    pub method: Option<HttpMethod>,
    /// Version of HTTP for a URL, 1.1 or 2; 2 is without TLS, with prior knowledge [default: 1.1]
    #[arg(long, value_name = "VERSION", value_parser = http_version)]
    pub http: Option<Protocol>,
    /// User and password of every call (basic authentication); the record omits them
    #[arg(short, long, value_name = "USER:PASSWORD")]
    pub user: Option<String>,
    /// Connect to this Unix socket instead of the URL's host
    #[arg(long, value_name = "PATH")]
    pub unix_socket: Option<PathBuf>,
    /// List the services and methods that the server offers, and make no load
    #[arg(long)]
    pub list: bool,
    /// Describe a service or a method, with a request to fill in, and make no load
    #[arg(long, value_name = "NAME")]
    pub describe: Option<String>,
    /// Make one call and show it, and make no load
    #[arg(long)]
    pub once: bool,
    /// Show what would be sent, and send nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Wait this long for the server: until it accepts connections, and of gRPC its health service, if it has one, says so
    #[arg(long, value_name = "LENGTH")]
    pub wait: Option<NonZeroLength>,
    /// Statuses that count as success, such as 2xx,404 or OK,NOT_FOUND [default: 2xx of HTTP, OK of gRPC]
    #[arg(long, value_name = "STATUSES")]
    pub ok: Option<String>,
    /// When servers should give up a call, in grpc-timeout or connect-timeout-ms [default: --timeout]
    #[arg(long, value_name = "LENGTH", allow_hyphen_values = true)]
    pub deadline: Option<NonZeroLength>,
    /// What every reply must have, such as '$.state in ["OPEN", "PAID"]', with ==, !=, in or exists; repeatable
    #[arg(long, value_name = "EXPR")]
    pub expect: Vec<String>,
    /// Write the service's description to this file, for --protoset; with --list of all services, with --call of that of the
    /// method
    #[arg(long, value_name = "FILE")]
    pub protoset_out: Option<PathBuf>,
    /// Where tokens come from.
    #[command(flatten)]
    pub token: TokenSpec,
    /// How messages travel.
    #[command(flatten)]
    pub messages: MessageSpec,
}

/// What a load calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallKind {
    /// The service of rpcbench's contract.
    Contract,
    /// A URL.
    Http,
    /// A method of a gRPC service.
    Method,
}

/// What to show instead of running a load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inspection {
    /// Services and methods.
    List,
    /// A service or a method.
    Describe(String),
    /// One call.
    Once,
    /// What would be sent.
    DryRun,
}

impl Inspection {
    /// The option that requests it.
    pub fn option(&self) -> &'static str {
        match self {
            Self::List => "--list",
            Self::Describe(_) => "--describe",
            Self::Once => "--once",
            Self::DryRun => "--dry-run",
        }
    }
}

/// The protocol of a URL's calls over this version of HTTP.
fn http_version(text: &str) -> Result<Protocol, &'static str> {
    match text {
        "1" | "1.1" => Ok(Protocol::Http),
        "2" => Ok(Protocol::Http2),
        _ => Err("expected 1.1 or 2"),
    }
}

fn data_size(text: &str) -> Result<u64, String> {
    size(text, 64 << 20, "64M, such as 64k")
}

impl CallSpec {
    /// The kind of its calls.
    pub fn kind(&self, address: &LoadAddress) -> CallKind {
        match address {
            _ if self.is_method() => CallKind::Method,
            LoadAddress::Url(url) if !url.grpc => CallKind::Http,
            LoadAddress::Url(_) | LoadAddress::Server(_) => CallKind::Contract,
        }
    }

    /// True if it is about a method of a gRPC service.
    pub(crate) fn is_method(&self) -> bool {
        self.call.is_some() || self.list || self.describe.is_some()
    }

    /// What to show instead of running a load.
    pub fn inspection(&self) -> Result<Option<Inspection>, ConfigError> {
        let all = [
            self.list.then_some(Inspection::List),
            self.describe.clone().map(Inspection::Describe),
            self.once.then_some(Inspection::Once),
            self.dry_run.then_some(Inspection::DryRun),
        ];
        let mut given = all.into_iter().flatten();
        match (given.next(), given.next()) {
            (Some(first), Some(second)) => {
                let [first, second] = [first, second].map(|it| it.option().to_owned());
                let remedy = "each shows something else; leave one of them out";
                Err(ConfigError::contradiction(first, second, remedy))
            }
            (first, _) => Ok(first),
        }
    }

    /// True if only the server can describe the method.
    pub(crate) fn needs_server(&self) -> bool {
        self.is_method() && self.proto.is_empty() && self.protoset.is_empty()
    }

    /// The protocol of its calls. `given`: `--protocol`. Fails if options contradict each other or the target.
    pub fn protocol(
        &self,
        address: &LoadAddress,
        given: Option<Protocol>,
    ) -> Result<Protocol, ConfigError> {
        let kind = self.kind(address);
        self.check(kind)?;
        if let (LoadAddress::Url(url), Some(given)) = (address, given)
            && url.grpc
            && given != Protocol::Grpc
        {
            let remedy = "its calls are gRPC; leave --protocol out, or give HOST:PORT";
            let url = url.to_string();
            return Err(ConfigError::contradiction(format!("--protocol {given}"), url, remedy));
        }
        match (kind, given) {
            (CallKind::Method, given) => method_protocol(address, given.unwrap_or_default()),
            (CallKind::Contract, given) => contract(address, given.unwrap_or_default()),
            (CallKind::Http, given) => self.http_protocol(given),
        }
    }

    fn http_protocol(&self, given: Option<Protocol>) -> Result<Protocol, ConfigError> {
        match (given, self.http) {
            (None, version) => Ok(version.unwrap_or(Protocol::Http)),
            (Some(given), Some(version)) if given != version => {
                let version = if version == Protocol::Http2 { "--http 2" } else { "--http 1.1" };
                let (given, version) = (format!("--protocol {given}"), version.to_owned());
                let remedy = "leave --protocol out; a URL is called over the version of --http";
                Err(ConfigError::contradiction(given, version, remedy))
            }
            (Some(given @ (Protocol::Http | Protocol::Http2)), _) => Ok(given),
            (Some(given), _) => Err(ConfigError::value(
                format!("--protocol {given}"),
                "a URL is called over plain HTTP; leave the option out, or give HOST:PORT",
            )),
        }
    }

    /// The address to connect to, and the host that requests name.
    pub fn server(&self, address: &LoadAddress) -> (Address, String) {
        match (address, &self.unix_socket) {
            (LoadAddress::Server(address), _) => (address.clone(), address.authority()),
            (LoadAddress::Url(url), Some(path)) => {
                (Address::Unix(path.clone()), url.authority.clone())
            }
            (LoadAddress::Url(url), None) => (url.address.clone(), url.authority.clone()),
        }
    }

    /// Refuses options that this kind of call does not support.
    fn check(&self, kind: CallKind) -> Result<(), ConfigError> {
        let mut bodies = self.bodies().into_iter();
        if let (Some(first), Some(second)) = (bodies.next(), bodies.next()) {
            let remedy = "calls have one source of data; leave one of them out";
            return Err(ConfigError::contradiction(first.to_owned(), second.to_owned(), remedy));
        }
        let (stray, problem) = match kind {
            CallKind::Contract => (
                [self.of_urls(), self.of_data(), self.of_methods()].concat(),
                "calls of rpcbench's contract don't have it; give a URL such as http://127.0.0.1:8080/path, or --call METHOD",
            ),
            CallKind::Http => {
                (self.of_methods(), "requests to a URL don't have it; give --call METHOD")
            }
            CallKind::Method => (
                self.of_urls(),
                "calls of a gRPC method don't have it; leave it out, or give a URL without --call",
            ),
        };
        stray.first().map_or(Ok(()), |option| Err(ConfigError::value(option, problem)))
    }

    /// The data sources that are given.
    fn bodies(&self) -> Vec<&'static str> {
        given([
            (self.data.is_some(), "--data"),
            (self.data_file.is_some(), "--data-file"),
            (self.data_size.is_some(), "--data-size"),
            (!self.form.is_empty(), "--form"),
        ])
    }

    /// The given options that apply only to URLs.
    fn of_urls(&self) -> Vec<&'static str> {
        given([
            (self.method.is_some(), "--method"),
            (self.http.is_some(), "--http"),
            (self.data_size.is_some(), "--data-size"),
            (!self.form.is_empty(), "--form"),
            (self.unix_socket.is_some(), "--unix-socket"),
        ])
    }

    /// The given options that apply to URLs and methods.
    fn of_data(&self) -> Vec<&'static str> {
        given([
            (self.data.is_some(), "--data"),
            (self.data_file.is_some(), "--data-file"),
            (self.user.is_some(), "--user"),
            (self.ok.is_some(), "--ok"),
            (!self.expect.is_empty(), "--expect"),
            (self.token.token_command.is_some(), "--token-command"),
            (self.token.token_every.is_some(), "--token-every"),
            (self.messages.compress.is_some(), "--compress"),
            (self.messages.max_message.is_some(), "--max-message"),
        ])
    }

    /// The given options that apply only to methods.
    fn of_methods(&self) -> Vec<&'static str> {
        given([
            (!self.proto.is_empty(), "--proto"),
            (!self.import_path.is_empty(), "--import-path"),
            (!self.protoset.is_empty(), "--protoset"),
            (!self.reflect_header.is_empty(), "--reflect-header"),
            (self.deadline.is_some(), "--deadline"),
            (self.protoset_out.is_some(), "--protoset-out"),
        ])
    }

    /// Compiles its expectations.
    pub(super) fn expectations(
        &self,
        compile: impl Fn(&str) -> Result<Expectation, String>,
    ) -> Result<Vec<Expectation>, ConfigError> {
        let one = |text: &String| {
            compile(text)
                .map_err(|problem| ConfigError::value(format!("--expect '{text}'"), problem))
        };
        self.expect.iter().map(one).collect()
    }
}

fn given<const N: usize>(options: [(bool, &'static str); N]) -> Vec<&'static str> {
    options.into_iter().filter(|(given, _)| *given).map(|(_, name)| name).collect()
}

fn method_protocol(address: &LoadAddress, protocol: Protocol) -> Result<Protocol, ConfigError> {
    match address {
        LoadAddress::Url(url) if url.path != "/" => {
            let problem = "the method is the path; leave the URL's path out";
            Err(ConfigError::value(address, problem))
        }
        _ if matches!(protocol, Protocol::Grpc | Protocol::Connect) => Ok(protocol),
        _ => Err(ConfigError::value(
            format!("--protocol {protocol}"),
            "a method with a schema is called over grpc or connect; give one of them",
        )),
    }
}

fn contract(address: &LoadAddress, protocol: Protocol) -> Result<Protocol, ConfigError> {
    if protocol.spec().carries_contract {
        return Ok(protocol);
    }
    Err(ConfigError::value(
        format!("--protocol {protocol}"),
        format!("its calls need a URL; write http://{address}/PATH"),
    ))
}
