//! Entries with a server that they call.

use rpcbench_clock::Nanos;
use rpcbench_record::Trial;

use super::load::Answer;
use super::slices::{sliced, slices};

#[test]
fn entry_and_the_server_that_it_calls_are_thawed_frozen_and_stopped_together() {
    const PAIRS: [&str; 2] = ["freezes a+freezes s", "freezes b+freezes t"];
    let made = sliced(|_, _| Answer::After(Nanos(1000)), &PAIRS, (1, 4));
    assert_eq!(slices(&made.run), [Some(10); 8]);
    for pair in PAIRS {
        let (_, called) = pair.split_once('+').unwrap();
        let of = |name: &str, what: &str| {
            let line = format!("{name} {what}");
            let lines = made.log.iter().enumerate().filter(|(_, it)| **it == line);
            lines.map(|(at, _)| at).collect::<Vec<_>>()
        };
        let [thawed, frozen, stopped] = ["wakes", "freezes", "stops"].map(|it| of(pair, it));
        let [answers, rests, ended] = ["wakes", "freezes", "stops"].map(|it| of(called, it));
        assert!(frozen.len() >= 24 && stopped.len() == 1, "{frozen:?}");
        // The server wakes first, and is frozen and stopped last.
        assert_eq!(answers, thawed.iter().map(|at| at - 1).collect::<Vec<_>>());
        assert_eq!(rests, frozen.iter().map(|at| at + 1).collect::<Vec<_>>());
        assert_eq!(ended, stopped.iter().map(|at| at + 1).collect::<Vec<_>>());
        let client =
            made.run.trials.first().and_then(Trial::measured).map(|window| window.client.cpu_ns);
        assert!(client.is_some_and(|ns| ns > 0), "the counterpart's CPU time is the client's");
    }
}
