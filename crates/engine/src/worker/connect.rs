//! Opening connections: the first time, a few at once, and again when they were lost.

use std::sync::Arc;

use super::Worker;
use crate::clock::Nanos;
use crate::driver::Driver;
use crate::lane::Lane;
use crate::protocol::grpc::Connection;

/// Most connections that all threads together open at once: no listener's queue overflows.
const MOST_OPENING: usize = 64;

impl<D: Driver> Worker<D> {
    /// Whether every connection is open.
    pub fn is_connected(&self) -> bool {
        self.unopened == self.lanes.len() && self.lanes.iter().all(Lane::is_open)
    }

    /// Why the first connection that is not open is not.
    pub fn connect_problem(&self) -> (usize, Option<&str>) {
        let open = self.lanes.iter().filter(|lane| lane.is_open()).count();
        let mut others = self.lanes.iter().filter(|lane| !lane.is_open());
        (open, others.find_map(|lane| lane.problem.as_deref()))
    }

    /// Starts to connect every lane; the next turns must come back by `deadline`.
    pub fn connect_all(&mut self, deadline: Nanos) {
        self.expiry_at = deadline;
        self.connect_more();
    }

    /// Opens the next lanes, as others are open or lost.
    pub(super) fn connect_more(&mut self) {
        let lanes = &self.lanes;
        self.opening.retain(|lane| lanes[*lane].opening_since().is_some());
        let most = (MOST_OPENING / self.plan.threads as usize).max(1);
        while self.opening.len() < most && self.unopened < self.lanes.len() {
            self.opening.push(self.unopened);
            self.connect(self.unopened);
            self.unopened += 1;
        }
    }

    fn connect(&mut self, index: usize) {
        let lane = &mut self.lanes[index];
        let mut out = Vec::new();
        let connection = Connection::new(Arc::clone(&self.templates), lane.share, &mut out);
        lane.open(connection, out, self.driver.now());
        if let Err(error) = self.driver.connect(index, self.plan.address) {
            self.lose(index, &error.to_string());
        }
    }

    /// Opens the lost connections again whose pause is over.
    pub(super) fn reconnect(&mut self, now: Nanos) {
        for lane in 0..self.lanes.len() {
            if self.lanes[lane].retry_at().is_some_and(|at| at <= now) {
                self.connect(lane);
            }
        }
        let retries = self.lanes.iter().filter_map(Lane::retry_at);
        self.retry_at = retries.min().unwrap_or(Nanos::NEVER);
    }

    /// Ends the attempts to connect that took too long; others follow.
    pub(super) fn give_up_opening(&mut self, now: Nanos) {
        for lane in 0..self.lanes.len() {
            let since = self.lanes[lane].opening_since();
            if since.is_some_and(|since| since + self.plan.connect_timeout <= now) {
                self.lose(lane, "no HTTP/2 handshake within the connect timeout");
            }
        }
    }
}
