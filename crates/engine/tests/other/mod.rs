//! A server in another process, with a separate memory and limit on open files.

use std::io::{self, BufRead, BufReader, Lines, Read, Write};
use std::net::SocketAddr;
use std::process::{Child, ChildStdout, Command, Stdio};

use rpcbench_testkit::{Server, raise_file_limit};

/// The process; it ends with this. The test binary has an ignored test that calls [`serve`].
pub struct Other {
    process: Child,
    /// It writes there when it ends.
    _output: Lines<BufReader<ChildStdout>>,
    pub address: SocketAddr,
}

impl Other {
    /// Runs the ignored test `name` of this binary.
    pub fn start(name: &str) -> Self {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "--nocapture", name])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(process.stdout.take().unwrap()).lines();
        let address = output.find_map(|line| {
            let line = line.unwrap();
            line.split_once("listens on ").map(|(_, address)| address.parse().unwrap())
        });
        Self { process, _output: output, address: address.unwrap() }
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        self.process.wait().unwrap();
    }
}

/// Serves until standard input ends.
pub fn serve(behaviour: &str) {
    raise_file_limit().unwrap();
    let server = Server::start(behaviour.parse().unwrap()).unwrap();
    let mut output = io::stdout();
    writeln!(output, "listens on {}", server.address()).unwrap();
    io::stdin().read_to_end(&mut Vec::new()).unwrap();
}
