//! The limit on open files, which bounds the number of connections.

use std::fs;
use std::sync::OnceLock;

use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::plan::LoadPlan;

/// Open files of a load thread besides its connections: epoll, waker, alarm, and its statistics in /proc.
const EACH_THREAD: u64 = 4;
/// Files that the rest of the process may open meanwhile.
const RESERVE: u64 = 64;

/// The plan needs more open files than the process may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{connections} connections need {needed} open files, and this process may have {limit}: allow more (ulimit -n {needed}), or give fewer connections"
)]
pub struct FileLimit {
    /// Planned connections.
    pub connections: u32,
    /// Open files needed in total, including those already open and a reserve.
    pub needed: u64,
    /// The highest limit possible.
    pub limit: u64,
}

/// The limit before it was raised for the first time.
static GIVEN: OnceLock<Rlimit> = OnceLock::new();

/// The limit on open files that this process was started with. Other programs must be started with this limit, even after it
/// was raised for connections.
pub fn given() -> Rlimit {
    *GIVEN.get_or_init(|| getrlimit(Resource::Nofile))
}

/// Raises the limit if it is too low for the plan; see [`reserve`].
pub(crate) fn make_room(plan: &LoadPlan) -> Result<(), FileLimit> {
    reserve(plan.connections, plan.threads)
}

/// Raises the limit if it is too low for this many connections and load threads: up to the hard limit, or beyond if the
/// process is privileged.
///
/// # Errors
/// If it can't be raised far enough.
pub fn reserve(connections: u32, threads: u32) -> Result<(), FileLimit> {
    let open = fs::read_dir("/proc/self/fd").map_or(RESERVE, |files| files.count() as u64);
    let threads = u64::from(threads) * EACH_THREAD;
    let needed = open + u64::from(connections) + threads + RESERVE;
    GIVEN.get_or_init(|| getrlimit(Resource::Nofile));
    let limit = getrlimit(Resource::Nofile);
    raise(limit, needed, |raised| setrlimit(Resource::Nofile, raised)).map_err(|limit| FileLimit {
        connections,
        needed,
        limit,
    })
}

/// Raises `limit` to at least `needed`, or returns how far it can be raised.
fn raise(
    limit: Rlimit,
    needed: u64,
    mut set: impl FnMut(Rlimit) -> Result<(), Errno>,
) -> Result<(), u64> {
    // `None`: unlimited.
    let (Some(soft), hard) = (limit.current, limit.maximum) else { return Ok(()) };
    if soft >= needed {
        return Ok(());
    }
    if hard.is_none_or(|hard| hard >= needed) {
        return set(Rlimit { current: Some(hard.unwrap_or(needed)), maximum: hard })
            .map_err(|_| soft);
    }
    set(Rlimit { current: Some(needed), maximum: Some(needed) }).map_err(|_| hard.unwrap_or(soft))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(current: u64, maximum: u64) -> Rlimit {
        Rlimit { current: Some(current), maximum: Some(maximum) }
    }

    /// What `raise` sets, if the hard limit may be raised up to `most`.
    fn raised(from: Rlimit, needed: u64, most: u64) -> (Result<(), u64>, Option<Rlimit>) {
        let mut set = None;
        let result = raise(from, needed, |new| {
            if new.maximum.is_some_and(|new| new > most.max(from.maximum.unwrap_or(0))) {
                return Err(Errno::PERM);
            }
            set = Some(new);
            Ok(())
        });
        (result, set)
    }

    #[test]
    fn limit_that_is_high_enough_stays() {
        assert_eq!(raised(limit(1024, 4096), 1024, 0), (Ok(()), None));
        let none = Rlimit { current: None, maximum: None };
        assert_eq!(raised(none, 1 << 40, 0), (Ok(()), None));
    }

    #[test]
    fn soft_limit_is_raised_to_the_hard_one() {
        assert_eq!(raised(limit(1024, 4096), 1025, 0), (Ok(()), Some(limit(4096, 4096))));
        let open_end = Rlimit { current: Some(1024), maximum: None };
        let raised_to = Rlimit { current: Some(5000), maximum: None };
        assert_eq!(raised(open_end, 5000, 0), (Ok(()), Some(raised_to)));
    }

    #[test]
    fn hard_limit_is_raised_where_that_is_allowed() {
        assert_eq!(
            raised(limit(1024, 4096), 10_500, 1 << 20),
            (Ok(()), Some(limit(10_500, 10_500)))
        );
    }

    #[test]
    fn limit_that_can_not_be_raised_is_named_with_the_remedy() {
        assert_eq!(raised(limit(1024, 4096), 10_500, 0), (Err(4096), None));
        let error = FileLimit { connections: 10_000, needed: 10_500, limit: 4096 }.to_string();
        assert_eq!(
            error,
            "10000 connections need 10500 open files, and this process may have 4096: allow more (ulimit -n 10500), or give fewer connections"
        );
    }
}
