//! How each client is told to make a load.

use std::ffi::OsString;
use std::path::PathBuf;

use rpcbench_contract::{Corpus, Shape};

use crate::plan::{Client, Load};

/// The payload of every call: one hundred bytes of text.
pub const SHAPE: Shape = Shape::Text(100);

/// Where the clients are, and what they are given. A client without a program is not measured.
#[derive(Clone, Debug)]
pub struct Clients {
    /// `rpcbench`.
    pub rpcbench: PathBuf,
    /// `rpcbench-floor`.
    pub floor: PathBuf,
    /// `h2load`.
    pub h2load: Option<PathBuf>,
    /// `ghz`.
    pub ghz: Option<PathBuf>,
    /// The contract, `echo.proto`, for ghz.
    pub proto: PathBuf,
    /// A file with the message that h2load sends: see [`message`].
    pub body: PathBuf,
}

impl Clients {
    /// The program of a client, where there is one.
    #[must_use]
    pub fn program(&self, client: Client) -> Option<&PathBuf> {
        match client {
            Client::Ghz => self.ghz.as_ref(),
            Client::H2load => self.h2load.as_ref(),
            Client::Floor => Some(&self.floor),
            Client::Rpcbench => Some(&self.rpcbench),
        }
    }

    /// The arguments with which `client` keeps up `load` against `address` for so many seconds.
    #[must_use]
    pub fn arguments(
        &self,
        client: Client,
        load: Load,
        address: &str,
        seconds: u64,
    ) -> Vec<OsString> {
        let Load { connections, in_flight } = load;
        let all = connections * in_flight;
        let line = match client {
            Client::Rpcbench => format!(
                "load {address} --shape {SHAPE} -c {connections} -n {all} -d {seconds}s --warmup none --quiet --format json"
            ),
            Client::Floor => {
                format!("{address} --shape {SHAPE} -c {connections} -m {in_flight} -d {seconds}")
            }
            Client::H2load => format!("-c {connections} -m {in_flight} -D {seconds}"),
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
        match client {
            Client::Rpcbench | Client::Floor => Vec::new(),
            Client::H2load => vec![
                "-H".into(),
                "content-type: application/grpc".into(),
                "-H".into(),
                "te: trailers".into(),
                "-d".into(),
                self.body.clone().into(),
                format!("http://{address}{}", SHAPE.method()).into(),
            ],
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

/// A request of [`SHAPE`] with gRPC's five bytes before it.
#[must_use]
pub fn message() -> Vec<u8> {
    let corpus = Corpus::generate(&SHAPE, 1);
    let request = corpus.request(0);
    let mut message = vec![0];
    message.extend_from_slice(&(request.len() as u32).to_be_bytes());
    message.extend_from_slice(request);
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(client: Client) -> String {
        let clients = Clients {
            rpcbench: "rpcbench".into(),
            floor: "rpcbench-floor".into(),
            h2load: Some("h2load".into()),
            ghz: None,
            proto: "echo.proto".into(),
            body: "body".into(),
        };
        let load = Load { connections: 50, in_flight: 20 };
        let arguments = clients.arguments(client, load, "127.0.0.1:1", 2);
        let arguments: Vec<_> = arguments.iter().map(|it| it.to_string_lossy()).collect();
        arguments.join(" ").replace(&"a".repeat(100), "aa")
    }

    #[test]
    fn each_client_is_told_the_same_load_in_its_own_words() {
        insta::assert_snapshot!(
            [Client::Ghz, Client::H2load, Client::Floor, Client::Rpcbench]
                .map(|client| format!("{client} {}\n", line(client)))
                .concat()
        );
    }

    #[test]
    fn the_message_is_as_long_as_its_prefix_says() {
        let message = message();
        assert_eq!(message.len(), 5 + 102);
        assert_eq!(message[..6], [0, 0, 0, 0, 102, 0x0a]);
    }
}
