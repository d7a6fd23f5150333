//! Chooses the connection for the next call of an open loop.

use std::collections::VecDeque;

/// Calls due at the same time that go to one connection, in one write, before the next has its turn. With one write per call,
/// the last would leave so late that more are due by then, and a client that is late once would stay late.
const MAX_BATCH: u32 = 16;

/// Which connections may have room. At first any may, and they are tried in turn until none has. From then on, only
/// connections with new activity are tried; once these are half of all, any may have room again. So a call tries only a few
/// connections on average, for any number of connections and any share of them with room.
#[derive(Debug)]
pub(super) struct Room {
    /// True if any connection may have room; otherwise only the candidates.
    any: bool,
    /// The connection whose turn it is, among all.
    next: usize,
    /// Connections with new activity; the first one has its turn.
    candidates: VecDeque<usize>,
    /// Whether each connection is a candidate.
    is_candidate: Vec<bool>,
    /// Calls that the current connection got in this turn.
    in_turn: u32,
}

impl Room {
    pub fn new(connections: usize) -> Self {
        Self {
            any: true,
            next: 0,
            candidates: VecDeque::with_capacity(connections / 2 + 1),
            is_candidate: vec![false; connections],
            in_turn: 0,
        }
    }

    /// Notes that something happened on a connection.
    #[inline]
    pub fn may_be_on(&mut self, connection: usize) {
        if self.any || self.is_candidate[connection] {
            return;
        }
        self.candidates.push_back(connection);
        self.is_candidate[connection] = true;
        if self.candidates.len() * 2 >= self.is_candidate.len() {
            self.candidates.clear();
            self.is_candidate.fill(false);
            (self.any, self.in_turn) = (true, 0);
        }
    }

    /// The next connection in turn for which `send` is true. `None` if no connection has room.
    #[inline]
    pub fn find(&mut self, mut send: impl FnMut(usize) -> bool) -> Option<usize> {
        if self.any {
            let connections = self.is_candidate.len();
            let mut turns = (0..connections).map(|i| (self.next + i) % connections);
            let found = turns.find(|connection| send(*connection));
            match found {
                Some(connection) if connection == self.next => self.count_call(),
                Some(connection) => {
                    (self.next, self.in_turn) = (connection, 0);
                    self.count_call();
                }
                None => (self.any, self.in_turn) = (false, 0),
            }
            return found;
        }
        while let Some(connection) = self.candidates.front().copied() {
            if send(connection) {
                self.count_call();
                return Some(connection);
            }
            self.candidates.pop_front();
            self.is_candidate[connection] = false;
            self.in_turn = 0;
        }
        None
    }

    /// Notes that the current connection got a call.
    #[inline]
    fn count_call(&mut self) {
        self.in_turn += 1;
        if self.in_turn == MAX_BATCH {
            self.pass_on();
        }
    }

    /// Moves on to the next connection, unless the current one got nothing.
    pub fn pass_on(&mut self) {
        if std::mem::take(&mut self.in_turn) == 0 {
            return;
        }
        match self.any {
            true => self.next = (self.next + 1) % self.is_candidate.len(),
            false => self.candidates.rotate_left(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn full_connections_are_not_polled_for_each_call() {
        const CONNECTIONS: usize = 10_000;
        let (mut room, mut asked) = (Room::new(CONNECTIONS), 0);
        let mut free = vec![true; CONNECTIONS];
        let mut put_out = |room: &mut Room, free: &mut Vec<bool>| {
            room.find(|connection| {
                asked += 1;
                std::mem::take(&mut free[connection])
            })
        };
        for _ in 0..CONNECTIONS {
            assert!(put_out(&mut room, &mut free).is_some());
            room.pass_on();
        }
        // No call waits in between: each comes when one has ended.
        for ended in 0..CONNECTIONS {
            assert_eq!(put_out(&mut room, &mut free), None);
            free[ended] = true;
            room.may_be_on(ended);
            assert_eq!(put_out(&mut room, &mut free), Some(ended));
            room.pass_on();
        }
        assert!(asked <= 5 * CONNECTIONS, "{asked}");
    }

    #[test]
    fn candidates_are_tried_round_robin() {
        let mut room = Room::new(100);
        assert_eq!(room.find(|_| false), None);
        for connection in [7, 3, 9, 3] {
            room.may_be_on(connection);
        }
        let turns: Vec<_> = (0..MAX_BATCH * 4).filter_map(|_| room.find(|_| true)).collect();
        let expected = [7, 3, 9, 7].map(|connection| [connection; MAX_BATCH as usize]).concat();
        assert_eq!(turns, expected);
    }

    proptest! {
        /// A call finds room wherever there is some, if every connection that gets room is reported.
        #[test]
        fn available_room_is_always_found(
            connections in 1_usize..20,
            steps in prop::collection::vec((any::<bool>(), 0_usize..20), 0..300),
        ) {
            let mut room = Room::new(connections);
            let mut free = vec![true; connections];
            for (ends, connection) in steps {
                if ends {
                    free[connection % connections] = true;
                    room.may_be_on(connection % connections);
                } else {
                    let some = free.contains(&true);
                    let found = room.find(|connection| std::mem::take(&mut free[connection]));
                    prop_assert_eq!(found.is_some(), some);
                    if connection % 3 == 0 {
                        room.pass_on();
                    }
                }
            }
        }
    }
}
