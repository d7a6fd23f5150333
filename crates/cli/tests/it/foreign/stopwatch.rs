//! An unknown service: from the installed program to a figure, by the three commands of the guide.

use std::fs;
use std::process::Command;

use rpcbench_clock as clock;

use super::peer;
use crate::bench::{repository, rpcbench};
use crate::program::{Ended, Program};
use crate::serve::port;

/// The arguments of the guide's commands, by what they do.
const OF_THE_GUIDE: [&str; 3] =
    ["--list", "--describe Orders/Get", "--call Orders/Get -d '{\"id\": \"7\"}'"];

/// `rpcbench load ADDRESS` as a shell runs it.
fn shell(line: &str) -> Ended {
    let words = line.strip_prefix("rpcbench ").unwrap_or_else(|| panic!("{line}"));
    let program = rpcbench(&[]).get_program().to_str().unwrap().to_owned();
    Program::start(Command::new("sh").args(["-c", &format!("exec {program} {words}")])).finish()
}

#[test]
#[ignore = "needs scripts/peers.sh"]
fn unknown_service_has_a_figure_after_three_commands() {
    let guide = fs::read_to_string(repository().join("docs/guide.md")).unwrap();
    for arguments in OF_THE_GUIDE {
        assert!(
            guide.contains(&format!("\nrpcbench load 127.0.0.1:50051 {arguments}")),
            "{arguments}"
        );
    }
    let port = port();
    let mut command = Command::new(peer("grpc-go-reflection"));
    let _server = Program::start(command.args(["-port", &port.to_string()]));
    let load = format!("rpcbench load 127.0.0.1:{port}");
    // What a person would wait for, too.
    shell(&format!("{load} --list --wait 60s")).expect(0);

    let began = clock::now();
    let listed = shell(&format!("{load} --list")).expect(0).out;
    let method = listed.lines().map(str::trim).find(|line| line.ends_with("/SayHello")).unwrap();
    let described = shell(&format!("{load} --describe {method}")).expect(0).out;
    let (_, command) = described.split_once("To call it:\n\n").unwrap();
    assert!(command.starts_with(&format!("{load} --call {method} -d '{{")), "{command}");
    let ended = shell(command).expect_ok_or_late();
    let took = clock::now() - began;
    say(&format!("from the first command to the figure: {:.1} s", took.as_secs_f64()));
    for part in ["ok calls/s", "verdict", "checked      status of all calls;", "p99.9", "Outcomes"]
    {
        assert!(ended.out.contains(part), "{part}: {}", ended.out);
    }
}

#[expect(clippy::print_stdout, reason = "what the test has measured")]
fn say(line: &str) {
    println!("{line}");
}
