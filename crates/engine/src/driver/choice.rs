//! Which driver moves the bytes.

use std::io;

use rpcbench_record::Driver;
use rustix::io::Errno;

use crate::plan::LoadPlan;

/// Connections of a load thread from which on io_uring does it with less CPU time.
const MANY: u32 = 32;
/// Calls in flight on each of them up to which it does.
const FEW: u32 = 4;

/// What needs the least CPU time for this load.
///
/// io_uring saves system calls, so it gains where many connections have little to say each. Calls per
/// client CPU-second with io_uring over those with epoll, median of eleven interleaved rounds in a
/// closed loop with 100 B against the null server, connections x calls in flight on each:
///
/// | 1x100 | 5x5 | 20x4 | 50x20 | 100x20 | 50x1 | 100x1 | 100x4 | 250x2 | 250x8 | 1000x1 | 1000x4 |
/// |---|---|---|---|---|---|---|---|---|---|---|---|
/// | 0.98 | 1.00 | 1.02 | 0.97 | 0.98 | 1.03 | 1.08 | 1.03 | 1.08 | 0.99 | 1.15 | 1.11 |
///
/// By a schedule (20,000 calls a second) it is 1.01 with 50 connections and 1.05 with 250. Where it gains
/// nothing, epoll tells more exactly when each call was written: one by one, not a turn's calls together.
fn best(plan: &LoadPlan) -> Driver {
    let many = plan.connections / plan.threads.max(1) >= MANY;
    let few = plan.in_flight <= plan.connections.saturating_mul(FEW);
    if many && few && !plan.arrivals.is_open() { Driver::IoUring } else { Driver::Epoll }
}

/// The driver that the plan wants, or the best one that is possible here. `probe` says whether io_uring
/// is possible.
///
/// # Errors
/// When io_uring is wanted by name and is not possible: why, and what helps.
pub(crate) fn choose(
    plan: &LoadPlan,
    probe: impl FnOnce() -> io::Result<()>,
) -> Result<Driver, String> {
    match plan.driver.unwrap_or_else(|| best(plan)) {
        Driver::Epoll => Ok(Driver::Epoll),
        Driver::IoUring => match probe() {
            Ok(()) => Ok(Driver::IoUring),
            Err(_) if plan.driver.is_none() => Ok(Driver::Epoll),
            Err(error) => Err(reason(&error)),
        },
    }
}

fn reason(error: &io::Error) -> String {
    let why = match Errno::from_io_error(error) {
        Some(Errno::PERM | Errno::ACCESS) => {
            "it is forbidden here: see kernel.io_uring_disabled (sysctl), and a container's seccomp profile"
        }
        Some(Errno::NOSYS) => "this kernel was built without it",
        Some(Errno::INVAL) => "this kernel's is too old: Linux 6.1 or later is needed",
        Some(Errno::NOMEM) => "the kernel has no memory for it: see ulimit -l",
        _ => return format!("{error}"),
    };
    format!("{why} ({error})")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Nanos;

    fn refuse(errno: Errno) -> impl FnOnce() -> io::Result<()> {
        move || Err(errno.into())
    }

    fn plan(driver: Option<Driver>, connections: u32, in_flight: u32, arrivals: &str) -> LoadPlan {
        LoadPlan {
            address: ([127, 0, 0, 1], 1).into(),
            authority: String::new(),
            connections,
            in_flight,
            arrivals: arrivals.parse().unwrap(),
            seed: 1,
            driver,
            threads: 2,
            cpus: Vec::new(),
            timeout: Nanos::NEVER,
            grace: Nanos::NEVER,
            connect_timeout: Nanos::NEVER,
            first_entry: 0,
        }
    }

    #[test]
    fn what_is_asked_for_by_name_is_taken_or_refused_with_the_reason() {
        let epoll = plan(Some(Driver::Epoll), 1000, 1000, "closed");
        assert_eq!(choose(&epoll, refuse(Errno::PERM)), Ok(Driver::Epoll));
        let io_uring = plan(Some(Driver::IoUring), 2, 2, "closed");
        assert_eq!(choose(&io_uring, || Ok(())), Ok(Driver::IoUring));
        for (errno, word) in [
            (Errno::PERM, "io_uring_disabled"),
            (Errno::NOSYS, "without"),
            (Errno::INVAL, "Linux 6.1"),
            (Errno::NOMEM, "ulimit -l"),
            (Errno::IO, "os error 5"),
        ] {
            let error = choose(&io_uring, refuse(errno)).unwrap_err();
            assert!(error.contains(word), "{error}");
        }
    }

    #[test]
    fn what_is_not_asked_for_is_the_best_that_is_possible() {
        for (connections, in_flight, arrivals, best) in [
            (63, 63, "closed", Driver::Epoll),
            (64, 64, "closed", Driver::IoUring),
            (64, 4 * 64, "closed", Driver::IoUring),
            (64, 4 * 64 + 1, "closed", Driver::Epoll),
            (1000, 1000, "constant:100", Driver::Epoll),
        ] {
            let plan = plan(None, connections, in_flight, arrivals);
            assert_eq!(choose(&plan, || Ok(())), Ok(best), "{connections} {in_flight} {arrivals}");
            assert_eq!(choose(&plan, refuse(Errno::PERM)), Ok(Driver::Epoll));
        }
    }
}
