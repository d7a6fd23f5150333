//! Comparison of what a program reports and was asked for with what its reference server has seen.

use rpcbench_reference::Counted;

use super::records::LoadCounts;
use crate::load::LoadError;

/// Connections that a program may open.
#[derive(Clone, Copy, Debug)]
pub(super) struct Allowed {
    pub connections: u32,
    /// Calls after which a connection ends. 0: it lives as long as the load.
    pub calls_per_connection: u64,
}

impl Allowed {
    /// Checks that a program has opened no more, after `ended` calls. Each of those that `failed` may have broken a connection.
    pub fn check(self, seen: Counted, ended: u64, failed: u64) -> Result<(), LoadError> {
        // Pools such as hyper's open a connection while another one becomes free.
        let spare = self.connections.div_ceil(2);
        let asked = u64::from(self.connections + spare) + failed;
        let (opened, most, when) = match ended.checked_div(self.calls_per_connection) {
            None => (seen.most_open, asked, " at a time"),
            // Ends of these may be seen after the beginnings of those that replace them.
            Some(replaced) => (seen.connections, asked + replaced, ""),
        };
        match opened <= most {
            true => Ok(()),
            false => Err(LoadError::Failed(format!(
                "it had {opened} connections{when}; expected at most {most}, which has half more for pools and one for each failed call"
            ))),
        }
    }
}

/// Checks that program, records and reference server count alike. A server under test does not count: `None`.
pub(super) fn agree(
    calls: u64,
    counts: LoadCounts,
    answered: Option<u64>,
) -> Result<(), LoadError> {
    let LoadCounts { ended, not_sent, .. } = counts;
    let refused = |problem: String| Err(LoadError::Failed(problem));
    if calls != ended {
        return refused(format!("it reported {ended} calls, and stopped after {calls}"));
    }
    let Some(answered) = answered else { return Ok(()) };
    if counts.answered > answered {
        let claimed = counts.answered;
        return refused(format!(
            "it reported {claimed} answered calls, and the reference server answered {answered}"
        ));
    }
    if answered > ended - not_sent {
        let sent = ended - not_sent;
        return refused(format!(
            "it reported {sent} calls that were sent, and the reference server answered {answered}"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use rpcbench_clock::Nanos;

    use super::*;

    fn problem(calls: u64, ended: u64, answered: u64, by_server: u64) -> Option<String> {
        let counts = LoadCounts { ended, answered, not_sent: 0, last: Nanos(0) };
        agree(calls, counts, Some(by_server)).err().map(|error| error.to_string())
    }

    #[test]
    fn counts_of_program_and_server_must_agree() {
        assert_eq!(problem(10, 10, 10, 10), None);
        assert_eq!(problem(10, 10, 8, 9), None, "of two that timed out, one was answered late");
        assert_eq!(problem(11, 10, 10, 10).unwrap(), "it reported 10 calls, and stopped after 11");
        let more = problem(10, 10, 10, 9).unwrap();
        assert_eq!(more, "it reported 10 answered calls, and the reference server answered 9");
        let fewer = problem(10, 10, 10, 11).unwrap();
        assert_eq!(
            fewer,
            "it reported 10 calls that were sent, and the reference server answered 11"
        );
    }

    #[test]
    fn connections_beyond_those_asked_for_are_refused_unless_calls_failed() {
        let check = |calls_per_connection, (connections, most_open), failed| {
            let seen = Counted { calls: 20, connections, most_open };
            let allowed = Allowed { connections: 2, calls_per_connection };
            allowed.check(seen, 20, failed).err().map(|error| error.to_string())
        };
        assert_eq!(check(0, (9, 2), 0), None, "those that ended were replaced");
        assert_eq!(
            check(0, (4, 4), 0).unwrap(),
            "it had 4 connections at a time; expected at most 3, which has half more for pools and one for each failed call"
        );
        assert_eq!(check(0, (4, 4), 1), None);
        assert_eq!(check(4, (8, 8), 0), None);
        assert!(
            check(4, (9, 2), 0).unwrap().starts_with("it had 9 connections; expected at most 8,")
        );
    }
}
