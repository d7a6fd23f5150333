//! What is drawn on a terminal while something goes on.

use std::iter;
use std::net::SocketAddr;
use std::process::Command;

use rustix::net::{self, AddressFamily, SocketType};

use crate::bench::{Bench, rpcbench};
use crate::program::{Ended, Program};
use crate::testkit;

/// A command line on a terminal, which `script` gives it.
fn on_terminal(inner: &Command, variables: &[(&str, &str)]) -> Ended {
    let words = iter::once(inner.get_program()).chain(inner.get_args());
    let line: Vec<String> = words.map(|word| format!("'{}'", word.display())).collect();
    let mut command = Command::new("script");
    command.args(["--quiet", "--return", "--command", &line.join(" "), "/dev/null"]);
    command.env("RPCBENCH_TESTKIT", testkit::program());
    command.env("TERM", "xterm").env("LC_ALL", "C.UTF-8").envs(variables.iter().copied());
    inner.get_current_dir().map(|folder| command.current_dir(folder));
    Program::start(&mut command).finish()
}

/// What a command of a bench shows.
fn shown(bench: &Bench, words: &str, variables: &[(&str, &str)]) -> String {
    on_terminal(&bench.command(words), variables).expect(0).out
}

#[test]
fn run_shows_the_time_left_and_figures_so_far() {
    let bench = Bench::new();
    let words = "run @honest @busy --rounds 3";
    let live = shown(&bench, words, &[]);
    for part in ["1/6 trials", "5/6 trials", " s left", "so far: testkit-liar@honest "] {
        assert!(live.contains(part), "no '{part}' in:\n{live}");
    }
    assert!(live.contains("starting and checking") && !live.is_ascii(), "{live}");
    let dumb = shown(&bench, words, &[("TERM", "dumb")]);
    assert!(!dumb.contains('\u{1b}') && !dumb.contains("so far: "), "{dumb}");
    let ascii = shown(&bench, words, &[("LC_ALL", "C")]);
    assert!(ascii.is_ascii() && ascii.contains("so far: "), "{ascii}");
}

#[test]
fn build_and_check_show_progress_and_time_left() {
    let bench = Bench::new();
    let built = shown(&bench, "build testkit-liar testkit-json", &[]);
    assert!(built.contains("building 1 of 2: testkit-"), "{built}");
    let live = shown(&bench, "check @honest @busy", &[]);
    for part in ["checking 1 of 2: testkit-liar@", "checking 2 of 2: testkit-liar@", ", about "] {
        assert!(live.contains(part), "no '{part}' in:\n{live}");
    }
}

/// The peer accepts no connections: the kernel takes as many as fit in its queue.
#[test]
fn load_shows_open_connections_and_keeps_its_time_limit() {
    let queue = net::socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    net::bind(&queue, &SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
    net::listen(&queue, 4).unwrap();
    let address = SocketAddr::try_from(net::getsockname(&queue).unwrap()).unwrap();
    let words = ["--protocol", "thrift", "--connections", "50", "--connect-timeout", "2s"];
    let mut command = rpcbench(&["load", &address.to_string()]);
    let ended = on_terminal(command.args(words), &[]).expect(2);
    assert!(ended.out.contains("connecting ") && ended.out.contains("/50"), "{}", ended.out);
    assert!(ended.out.contains("of 50 connections"), "{}", ended.out);
}
