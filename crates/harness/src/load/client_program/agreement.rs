//! Compares what a program reports, and was asked for, with what its reference server counted.

use rpcbench_reference::Counted;

use super::records::LoadCounts;
use crate::load::LoadError;

/// The connections that a program may open.
#[derive(Clone, Copy, Debug)]
pub(super) struct Allowed {
    pub connections: u32,
    /// Number of calls after which a connection ends. 0: never during the load.
    pub calls_per_connection: u64,
    /// Extra connections that the library's pool may open while others are busy.
    spare: u32,
}

impl Allowed {
    pub const fn new(connections: u32, calls_per_connection: u64) -> Self {
        Self { connections, calls_per_connection, spare: 0 }
    }

    /// Takes into account how many connections a program reports as open. A pool opens them with its first calls and reports 0;
    /// pools such as hyper's open half as many more while others are busy.
    pub fn opened(self, opened: u32) -> Self {
        let spare = if opened == 0 { self.connections.div_ceil(2) } else { 0 };
        Self { spare, ..self }
    }

    /// Fails if a program opened too many connections for `ended` calls. Each of the `failed` calls may have broken one.
    pub fn check(self, seen: Counted, ended: u64, failed: u64) -> Result<(), LoadError> {
        let asked = u64::from(self.connections + self.spare) + failed;
        let (opened, most, when) = match ended.checked_div(self.calls_per_connection) {
            None => (seen.most_open, asked, " at a time"),
            // A connection may be seen to end after its replacement has started.
            Some(replaced) => (seen.connections, asked + replaced, ""),
        };
        let pool = if self.spare > 0 { "half more for its pool, and " } else { "" };
        match opened <= most {
            true => Ok(()),
            false => Err(LoadError::Failed(format!(
                "it had {opened} connections{when}; expected at most {most}, which has {pool}one more for each failed call"
            ))),
        }
    }
}

/// Checks that program, records and reference server count the same. `answered` is `None` for a server under test, which does not
/// count.
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

    fn excess(
        allowed: Allowed,
        (connections, most_open): (u64, u64),
        failed: u64,
    ) -> Option<String> {
        let seen = Counted { calls: 20, connections, most_open };
        allowed.check(seen, 20, failed).err().map(|error| error.to_string())
    }

    #[test]
    fn connections_beyond_those_asked_for_are_refused_unless_calls_failed() {
        let long = Allowed::new(2, 0).opened(2);
        assert_eq!(excess(long, (9, 2), 0), None, "those that ended were replaced");
        assert_eq!(
            excess(long, (3, 3), 0).unwrap(),
            "it had 3 connections at a time; expected at most 2, which has one more for each failed call"
        );
        assert_eq!(excess(long, (3, 3), 1), None);
        let short = Allowed::new(2, 4).opened(2);
        assert_eq!(excess(short, (7, 7), 0), None);
        let more = excess(short, (8, 2), 0).unwrap();
        assert!(more.starts_with("it had 8 connections; expected at most 7,"), "{more}");
    }

    #[test]
    fn pool_may_have_half_more_connections() {
        let pool = Allowed::new(2, 0).opened(0);
        assert_eq!(excess(pool, (3, 3), 0), None);
        assert_eq!(
            excess(pool, (4, 4), 0).unwrap(),
            "it had 4 connections at a time; expected at most 3, which has half more for its pool, and one more for each failed call"
        );
    }
}
