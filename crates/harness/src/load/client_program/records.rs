//! Records of finished calls: rejects impossible ones, and counts the rest.

use rpcbench_clock::{Nanos, Span};
use rpcbench_engine::{CallCounter, CallLog, Ended, EndedCall};
use rpcbench_record::Protocol;

use crate::host::freezes::Freezes;

/// Size of a record, bytes.
const RECORD: usize = 24;
/// Tolerance for instants in a record.
const TOLERANCE: Nanos = Nanos::from_millis(1);

/// Why records are impossible.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum RecordError {
    #[error("{0} bytes, which are not whole records of {RECORD}")]
    Size(usize),
    #[error("outcome {0}; expected 0 to 5")]
    Outcome(u8),
    #[error("a call of slot {slot}, of {slots}")]
    Slot { slot: u32, slots: usize },
    #[error("a call that ended before it began")]
    Backwards,
    #[error("a call that ends in the future; instants are of CLOCK_MONOTONIC")]
    Future,
    #[error("a call from before the load began")]
    Past,
    #[error("calls of slot {0} overlap, but a slot makes one at a time")]
    Overlap(u32),
    #[error("a call while no load is running")]
    NoLoad,
    #[error("more than {0} calls, as many as were asked for")]
    TooMany(u64),
    #[error("call {call} of the schedule, which has {calls}")]
    NotPlanned { call: u32, calls: usize },
    #[error("call {0} of the schedule twice")]
    Twice(u32),
    #[error(
        "a start other than the due time of call {0} of the schedule; report `at_ns` plus its entry"
    )]
    NotDue(u32),
}

/// The kind of loop, and its state for checking calls.
#[derive(Debug)]
pub(super) enum Loop {
    /// When the latest call of each slot ended, in own time.
    Closed(Vec<Nanos>),
    /// Due times on the machine's clock. `None` once the call has ended.
    Open(Vec<Option<Nanos>>),
}

impl Loop {
    pub fn closed(slots: u32) -> Self {
        Self::Closed(vec![Nanos(0); slots as usize])
    }

    pub fn open(due: Vec<Nanos>) -> Self {
        Self::Open(due.into_iter().map(Some).collect())
    }
}

/// Counts the calls of a program since a load was opened. Arguments are instants on the machine's clock; counting is in the
/// load's own time.
#[derive(Debug)]
pub(super) struct Counted {
    pub counter: CallCounter,
    pub freezes: Freezes,
    /// Maximum own time of a call; a longer one counts as a timeout. [`Nanos::NEVER`]: the program itself enforces the limit.
    timeout: Nanos,
    /// Finished calls.
    pub ended: u64,
    /// Calls with another outcome than `ok`.
    pub failed: u64,
    /// Counts of the current or latest load.
    pub load: LoadCounts,
    kind: Loop,
    /// When the load began. `None` if no load is running.
    began: Option<Nanos>,
    /// Maximum number of calls of the load.
    limit: Option<u64>,
}

/// Calls of one load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LoadCounts {
    /// Finished calls.
    pub ended: u64,
    /// Calls that a server answered, correctly or not.
    pub answered: u64,
    /// Calls that were not sent.
    pub not_sent: u64,
    /// When the latest call ended, on the machine's clock.
    pub last: Nanos,
}

impl Counted {
    pub fn new(protocol: Protocol, log: Option<CallLog>, timeout: Nanos) -> Self {
        Self {
            counter: CallCounter::new(protocol, log),
            freezes: Freezes::default(),
            timeout,
            ended: 0,
            failed: 0,
            load: LoadCounts::default(),
            kind: Loop::closed(0),
            began: None,
            limit: None,
        }
    }

    /// Begins a load at `at`, with at most `limit` calls.
    pub fn begin(&mut self, at: Nanos, kind: Loop, limit: Option<u64>) {
        (self.began, self.kind, self.limit) = (Some(at), kind, limit);
        self.load = LoadCounts::default();
    }

    /// Ends the load.
    pub fn end(&mut self) {
        self.began = None;
    }

    /// Measures the calls that come due in `span`.
    pub fn measure(&mut self, span: Span) {
        self.counter.measure(self.freezes.own_span(span));
    }

    /// Like [`Self::measure`], for a part of a window.
    pub fn measure_part(&mut self, span: Span, is_last: bool) {
        self.counter.measure_part(self.freezes.own_span(span), is_last);
    }

    /// Moves the end of the span to `end`.
    pub fn end_at(&mut self, end: Nanos) {
        self.counter.end_at(self.freezes.own(end));
    }

    /// True if all calls that came due before `end` are known.
    pub fn is_complete(&self, end: Nanos) -> bool {
        match &self.kind {
            Loop::Closed(slots) => slots.iter().all(|last| *last >= self.freezes.own(end)),
            Loop::Open(due) => due.iter().flatten().all(|due| *due >= end),
        }
    }

    /// Own time from `began` to the end of the latest call of the load.
    pub fn took(&self, began: Nanos) -> Nanos {
        self.freezes.own(self.load.last) - self.freezes.own(began)
    }

    /// Counts a frame of records, read at `now`.
    pub fn read(&mut self, frame: &[u8], now: Nanos) -> Result<(), RecordError> {
        let (records, []) = frame.as_chunks::<RECORD>() else {
            return Err(RecordError::Size(frame.len()));
        };
        records.iter().try_for_each(|record| self.count(record, now))
    }

    fn count(&mut self, record: &[u8; RECORD], now: Nanos) -> Result<(), RecordError> {
        let Fields { start, done, call, ended } = Fields::of(record)?;
        let began = self.began.ok_or(RecordError::NoLoad)?;
        if done < start {
            return Err(RecordError::Backwards);
        }
        if done > now + TOLERANCE {
            return Err(RecordError::Future);
        }
        if start + TOLERANCE < began {
            return Err(RecordError::Past);
        }
        let last = done;
        let done = self.freezes.own(done);
        let (due, start) = self.due(call, start, done)?;
        let is_late = ended == Ended::Ok && done - start > self.timeout;
        let ended = if is_late { Ended::Timeout } else { ended };
        self.load.ended += 1;
        if let Some(limit) = self.limit.filter(|limit| self.load.ended > *limit) {
            return Err(RecordError::TooMany(limit));
        }
        self.load.last = self.load.last.max(last);
        match ended {
            Ended::Ok | Ended::WrongAnswer | Ended::Status(_) => self.load.answered += 1,
            Ended::NotSent => self.load.not_sent += 1,
            Ended::Timeout | Ended::Transport => {}
        }
        self.ended += 1;
        self.failed += u64::from(ended != Ended::Ok);
        self.counter.record(EndedCall { due, written: start, done, ended });
        Ok(())
    }

    /// When a call came due and when it started, in own time. In a closed loop a call comes due when the previous one in its slot
    /// ends; in an open loop both are as planned.
    fn due(&mut self, call: u32, start: Nanos, done: Nanos) -> Result<(Nanos, Nanos), RecordError> {
        match &mut self.kind {
            Loop::Closed(slots) => {
                let (start, count) = (self.freezes.own(start), slots.len());
                let last = slots
                    .get_mut(call as usize)
                    .ok_or(RecordError::Slot { slot: call, slots: count })?;
                if start < *last {
                    return Err(RecordError::Overlap(call));
                }
                let due = if *last == Nanos(0) { start } else { *last };
                *last = done;
                Ok((due, start))
            }
            Loop::Open(due) => {
                let calls = due.len();
                let due =
                    due.get_mut(call as usize).ok_or(RecordError::NotPlanned { call, calls })?;
                let due = due.take().ok_or(RecordError::Twice(call))?;
                if start + TOLERANCE < due || due + TOLERANCE < start {
                    return Err(RecordError::NotDue(call));
                }
                let due = self.freezes.own(due);
                Ok((due, due))
            }
        }
    }
}

/// The fields of a record.
struct Fields {
    start: Nanos,
    done: Nanos,
    call: u32,
    ended: Ended,
}

impl Fields {
    fn of(record: &[u8; RECORD]) -> Result<Self, RecordError> {
        let [s @ .., d0, d1, d2, d3, d4, d5, d6, d7, c0, c1, c2, c3, outcome, _, t0, t1] = *record;
        let status = u32::from(u16::from_le_bytes([t0, t1]));
        let ended = match outcome {
            0 => Ended::Ok,
            1 => Ended::WrongAnswer,
            2 => Ended::Status(status),
            3 => Ended::Timeout,
            4 => Ended::Transport,
            5 => Ended::NotSent,
            other => return Err(RecordError::Outcome(other)),
        };
        Ok(Self {
            start: Nanos(u64::from_le_bytes(s)),
            done: Nanos(u64::from_le_bytes([d0, d1, d2, d3, d4, d5, d6, d7])),
            call: u32::from_le_bytes([c0, c1, c2, c3]),
            ended,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(start: u64, done: u64, call: u32, outcome: u8) -> Vec<u8> {
        let (start, done) = (start * 1_000_000, done * 1_000_000);
        let head = [&start.to_le_bytes()[..], &done.to_le_bytes(), &call.to_le_bytes()].concat();
        [&head[..], &[outcome, 0, 13, 0]].concat()
    }

    fn counted(limit: Option<u64>) -> Counted {
        let mut counted = Counted::new(Protocol::Grpc, None, Nanos::NEVER);
        counted.begin(Nanos::from_millis(100), Loop::closed(2), limit);
        counted
    }

    const NOW: Nanos = Nanos::from_millis(1000);

    #[test]
    fn calls_are_due_when_their_slot_is_free_and_a_window_is_complete_when_all_slots_passed_it() {
        let mut counted = counted(None);
        let (start, end) = (Nanos::from_millis(200), Nanos::from_millis(400));
        counted.measure(Span { start, end });
        let first = [record(100, 250, 0, 0), record(110, 300, 1, 1), record(260, 350, 0, 2)];
        counted.read(&first.concat(), NOW).unwrap();
        assert!(!counted.is_complete(end));
        let second = [record(310, 450, 1, 3), record(360, 500, 0, 4), record(510, 600, 0, 5)];
        counted.read(&second.concat(), NOW).unwrap();
        assert!(counted.is_complete(end));
        let load = LoadCounts { ended: 6, answered: 3, not_sent: 1, last: Nanos::from_millis(600) };
        assert_eq!((counted.ended, counted.failed, counted.load), (6, 5, load));
        let tally = counted.counter.take().unwrap().calls;
        let outcomes = tally.outcomes;
        assert_eq!((outcomes.total(), outcomes.status.get(&13)), (3, Some(&1)));
        assert_eq!((outcomes.timeout, outcomes.transport), (1, 1));
        assert_eq!(counted.counter.outside().outcomes.total(), 3);
        counted.end();
        assert_eq!(counted.read(&record(700, 701, 0, 0), NOW), Err(RecordError::NoLoad));
    }

    #[test]
    fn calls_of_a_program_that_takes_turns_count_in_its_own_time() {
        let ms = Nanos::from_millis;
        let mut counted = Counted::new(Protocol::Grpc, None, ms(300));
        counted.begin(ms(100), Loop::closed(2), None);
        counted.measure_part(Span { start: ms(200), end: ms(300) }, false);
        counted.read(&[record(110, 250, 0, 0), record(120, 290, 1, 0)].concat(), NOW).unwrap();
        counted.freezes.begin(ms(310));
        counted.freezes.end(ms(610));
        // Own time is 300 ms behind from here on.
        counted.measure_part(Span { start: ms(620), end: ms(720) }, true);
        assert!(!counted.is_complete(ms(720)));
        let later = [record(250, 650, 0, 0), record(290, 900, 1, 0), record(650, 800, 0, 0)];
        counted.read(&later.concat(), NOW).unwrap();
        assert!(counted.is_complete(ms(720)));
        let tally = counted.counter.take().unwrap().calls;
        assert_eq!((tally.outcomes.ok, tally.outcomes.timeout, tally.outcomes.total()), (2, 1, 3));
        assert_eq!((tally.ok.min(), tally.ok.max()), (Some(100_000_000), Some(150_000_000)));
        assert_eq!(counted.took(ms(100)), ms(500));
    }

    #[test]
    fn impossible_records_are_refused() {
        let error =
            |records: &[Vec<u8>]| counted(Some(2)).read(&records.concat(), NOW).unwrap_err();
        assert_eq!(error(&[vec![0; 23]]), RecordError::Size(23));
        assert_eq!(error(&[record(200, 300, 0, 6)]), RecordError::Outcome(6));
        assert_eq!(error(&[record(200, 300, 2, 0)]), RecordError::Slot { slot: 2, slots: 2 });
        assert_eq!(error(&[record(300, 200, 0, 0)]), RecordError::Backwards);
        assert_eq!(error(&[record(200, 1100, 0, 0)]), RecordError::Future);
        assert_eq!(error(&[record(50, 200, 0, 0)]), RecordError::Past);
        let overlapping = [record(200, 300, 0, 0), record(250, 350, 0, 0)];
        assert_eq!(error(&overlapping), RecordError::Overlap(0));
        let many = [record(200, 300, 0, 0), record(300, 350, 0, 0), record(350, 360, 1, 0)];
        assert_eq!(error(&many), RecordError::TooMany(2));
    }
    #[test]
    fn calls_of_an_open_loop_are_those_of_its_schedule() {
        let open = || {
            let mut counted = Counted::new(Protocol::Grpc, None, Nanos::NEVER);
            let due = [100, 200, 300].map(Nanos::from_millis).to_vec();
            counted.begin(Nanos::from_millis(100), Loop::open(due), None);
            counted
        };
        let mut honest = open();
        honest.read(&[record(200, 250, 1, 0), record(100, 260, 0, 0)].concat(), NOW).unwrap();
        assert!(honest.is_complete(Nanos::from_millis(300)));
        assert!(!honest.is_complete(Nanos::from_millis(301)), "call 2 has not ended");
        let error = |records: &[Vec<u8>]| open().read(&records.concat(), NOW).unwrap_err();
        assert_eq!(error(&[record(230, 250, 1, 0)]), RecordError::NotDue(1), "late");
        assert_eq!(error(&[record(170, 250, 1, 0)]), RecordError::NotDue(1), "early");
        assert_eq!(error(&[record(100, 250, 3, 0)]), RecordError::NotPlanned { call: 3, calls: 3 });
        let twice = [record(200, 250, 1, 0), record(200, 260, 1, 0)];
        assert_eq!(error(&twice), RecordError::Twice(1));
    }
}
