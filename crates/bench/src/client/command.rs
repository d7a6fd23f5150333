//! The command lines of the clients.

use std::ffi::OsString;
use std::path::PathBuf;

use rpcbench_contract::{Corpus, Encoding, Shape};

use super::lineup::{Client, Load, Row};

/// The payload of every call: 100 bytes of text.
pub const SHAPE: Shape = Shape::Text(100);

/// The clients' programs and the files they read.
#[derive(Clone, Debug, clap::Args)]
pub struct Programs {
    /// Compare only with the rpcbench in this folder, another build
    #[arg(long, value_name = "DIR")]
    pub against: Option<PathBuf>,
    /// Folder with rpcbench, rpcbench-bench and rpcbench-testkit
    #[arg(long = "programs", value_name = "DIR", default_value = "target/release")]
    pub folder: PathBuf,
    /// The contract
    #[arg(long, value_name = "FILE", default_value = "contract/echo.proto")]
    pub proto: PathBuf,
    /// h2load; without it, its lines are left out
    #[arg(long, value_name = "FILE")]
    pub h2load: Option<PathBuf>,
    /// ghz; without it, its lines are left out
    #[arg(long, value_name = "FILE")]
    pub ghz: Option<PathBuf>,
    /// wrk; without it, its lines are left out
    #[arg(long, value_name = "FILE")]
    pub wrk: Option<PathBuf>,
    /// The script that makes wrk's requests
    #[arg(long, value_name = "FILE", default_value = "crates/bench/wrk.lua")]
    pub wrk_script: PathBuf,
    /// The file that h2load sends: see [`message`].
    #[arg(skip)]
    pub body: PathBuf,
}

impl Programs {
    /// The program of a client. `None` if it is not installed.
    pub fn program(&self, client: Client) -> Option<PathBuf> {
        match client {
            Client::Ghz => self.ghz.clone(),
            Client::H2load => self.h2load.clone(),
            Client::Wrk => self.wrk.clone(),
            Client::Floor => Some(self.folder.join("rpcbench-bench")),
            Client::Baseline => self.against.as_ref().map(|folder| folder.join("rpcbench")),
            Client::Rpcbench => Some(self.folder.join("rpcbench")),
        }
    }

    /// The arguments that make `client` load `address` as `row` says, for `seconds`.
    pub fn arguments(
        &self,
        client: Client,
        row: Row,
        address: &str,
        seconds: u64,
    ) -> Vec<OsString> {
        let Row { protocol, load: Load { connections, in_flight }, .. } = row;
        let all = connections * in_flight;
        let line = match client {
            Client::Rpcbench | Client::Baseline => format!(
                "load {address} --protocol {protocol} --shape {SHAPE} -c {connections} -m {in_flight} -z {seconds}s \
                 --warmup none --quiet --format json"
            ),
            Client::Floor => format!(
                "floor {address} --protocol {protocol} --shape {SHAPE} -c {connections} -m {in_flight} -z {seconds}"
            ),
            Client::H2load => format!("-c {connections} -m {in_flight} -D {seconds}"),
            // It has one call in flight per connection.
            Client::Wrk => format!("-t 1 -c {connections} -d {seconds}s"),
            Client::Ghz => format!(
                "--insecure --call rpcbench.v1.Echo.Text -c {all} --connections {connections} \
                 -z {seconds}s --duration-stop wait"
            ),
        };
        let mut arguments: Vec<OsString> = line.split_whitespace().map(Into::into).collect();
        arguments.extend(self.own_arguments(client, address));
        arguments
    }

    fn own_arguments(&self, client: Client, address: &str) -> Vec<OsString> {
        let method = SHAPE.method();
        let url = format!("http://{address}/{}/{}", method.service(), method.name());
        match client {
            Client::Rpcbench | Client::Baseline | Client::Floor => Vec::new(),
            Client::H2load => vec![
                "-H".into(),
                "content-type: application/grpc".into(),
                "-H".into(),
                "te: trailers".into(),
                "-d".into(),
                self.body.clone().into(),
                url.into(),
            ],
            Client::Wrk => vec!["-s".into(), self.wrk_script.clone().into(), url.into()],
            Client::Ghz => vec![
                "--proto".into(),
                self.proto.clone().into(),
                "-d".into(),
                format!(r#"{{"text":"{}"}}"#, "a".repeat(100)).into(),
                address.into(),
            ],
        }
    }
}

/// A request of [`SHAPE`] with gRPC's prefix of five bytes.
pub fn message() -> Vec<u8> {
    let corpus = Corpus::canonical(&SHAPE, 1, Encoding::Protobuf);
    let request = corpus.request(0);
    let mut message = vec![0];
    message.extend_from_slice(&(request.len() as u32).to_be_bytes());
    message.extend_from_slice(request);
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEPS: [(&str, Client); 7] = [
        ("tonic-50x20", Client::Ghz),
        ("tonic-50x20", Client::H2load),
        ("null-50x20", Client::Floor),
        ("null-50x20", Client::Rpcbench),
        ("json-50x1", Client::Wrk),
        ("json-50x1", Client::Floor),
        ("json-50x1", Client::Rpcbench),
    ];

    /// What a user would type for two seconds of a row.
    fn line((row, client): (&str, Client)) -> String {
        let programs = Programs {
            folder: "".into(),
            against: None,
            h2load: Some("h2load".into()),
            ghz: Some("ghz".into()),
            proto: "contract/echo.proto".into(),
            wrk: Some("wrk".into()),
            wrk_script: "crates/bench/wrk.lua".into(),
            body: "BODY".into(),
        };
        let row = Row::named(row).unwrap();
        let quoted = programs.arguments(client, row, "ADDRESS", 2).into_iter().map(|argument| {
            let argument = argument.into_string().unwrap();
            if argument.contains([' ', '{']) {
                format!(" '{argument}'")
            } else {
                format!(" {argument}")
            }
        });
        let program = programs.program(client).unwrap().display().to_string();
        let line = format!("{program}{}", quoted.collect::<String>());
        line.replace(&"a".repeat(100), "aaa...")
    }

    #[test]
    fn each_client_makes_the_same_load() {
        insta::assert_snapshot!(STEPS.map(|step| line(step) + "\n").concat());
    }

    #[test]
    fn the_documentation_shows_these_command_lines() {
        let page = include_str!("../../../../docs/performance.md").replace(" \\\n    ", " ");
        for step in STEPS {
            let line = line(step);
            assert!(page.lines().any(|it| it == line), "docs/performance.md lacks: {line}");
        }
    }

    #[test]
    fn the_message_is_as_long_as_its_prefix_says() {
        let message = message();
        assert_eq!(message.len(), 5 + 102);
        assert_eq!(message[..6], [0, 0, 0, 0, 102, 0x0a]);
    }
}
