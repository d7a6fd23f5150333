//! Open streams by identifier.
//!
//! A ring of cells indexed by identifier: a client's identifiers ascend by two, so streams in flight are neighbours.
//! A stream still open when its cell is needed again moves to a map, so memory stays bounded by the number of open streams,
//! however long one of them hangs.

use std::collections::BTreeMap;

/// Largest identifier of a client's stream.
const LAST_STREAM: u32 = 0x7fff_ffff;
/// Maximum streams in the ring; others go to the map.
const MAX_EXPECTED: u32 = 1 << 16;
/// Marks an empty cell. Identifiers have 31 bits.
const EMPTY: u32 = u32::MAX;

#[derive(Debug)]
struct Cell<T> {
    id: u32,
    value: T,
}

/// The client's open streams, with a value for each.
#[derive(Debug)]
pub(crate) struct Streams<T> {
    ring: Box<[Cell<T>]>,
    displaced: BTreeMap<u32, T>,
    next: u32,
    open: u32,
}

impl<T: Copy + Default> Streams<T> {
    /// A ring for about `expected` open streams, within a bound: its memory is allocated now.
    pub fn new(expected: u32) -> Self {
        let cells = (expected.clamp(2, MAX_EXPECTED) * 2).next_power_of_two();
        let ring = (0..cells).map(|_| Cell { id: EMPTY, value: T::default() }).collect();
        Self { ring, displaced: BTreeMap::new(), next: 1, open: 0 }
    }

    pub fn open(&self) -> u32 {
        self.open
    }

    /// Number of closed streams.
    pub fn closed(&self) -> u32 {
        (self.next >> 1) - self.open
    }

    /// Identifier of the next stream. `None` if they are used up.
    pub fn next_id(&self) -> Option<u32> {
        (self.next <= LAST_STREAM).then_some(self.next)
    }

    /// The first unused identifier; may be past the largest valid one.
    #[inline]
    pub fn end(&self) -> u32 {
        self.next
    }

    /// Skips the identifiers before `next`.
    #[cfg(test)]
    pub fn skip_to(&mut self, next: u32) {
        self.next = next;
    }

    #[inline]
    fn cell(ring: &mut [Cell<T>], id: u32) -> &mut Cell<T> {
        let index = (id >> 1) as usize & (ring.len() - 1);
        &mut ring[index]
    }

    /// Opens the next stream and returns its identifier. Check [`Self::next_id`] first.
    #[inline(always)]
    pub fn insert(&mut self, value: T) -> u32 {
        let id = self.next;
        debug_assert!(id <= LAST_STREAM);
        self.next += 2;
        self.open += 1;
        let cell = Self::cell(&mut self.ring, id);
        if cell.id != EMPTY {
            displace(cell, &mut self.displaced);
        }
        *cell = Cell { id, value };
        id
    }

    /// An open stream.
    #[inline]
    pub fn get_mut(&mut self, id: u32) -> Option<&mut T> {
        let cell = Self::cell(&mut self.ring, id);
        match cell.id == id {
            true => Some(&mut cell.value),
            false => self.displaced.get_mut(&id),
        }
    }

    /// Closes a stream.
    #[inline]
    pub fn remove(&mut self, id: u32) -> Option<T> {
        let cell = Self::cell(&mut self.ring, id);
        let value = if cell.id == id {
            cell.id = EMPTY;
            cell.value
        } else {
            self.displaced.remove(&id)?
        };
        self.open -= 1;
        Some(value)
    }

    /// Closes a stream in the ring, if `ready` agrees.
    #[inline]
    pub fn close_if(&mut self, id: u32, ready: impl FnOnce(&T) -> bool) -> Option<&T> {
        let cell = Self::cell(&mut self.ring, id);
        if cell.id != id || !ready(&cell.value) {
            return None;
        }
        cell.id = EMPTY;
        self.open -= 1;
        Some(&cell.value)
    }

    /// True if all open streams are in the ring.
    #[inline]
    pub fn are_neighbours(&self) -> bool {
        self.displaced.is_empty()
    }

    /// The open streams of the ring from `first` on.
    #[inline]
    pub fn newest_mut(&mut self, first: u32) -> impl Iterator<Item = &mut T> {
        let (cells, new) = (self.ring.len(), ((self.next - first) >> 1) as usize);
        let start = (first >> 1) as usize & (cells - 1);
        let (older, newer) = self.ring.split_at_mut(start);
        let newer = newer.iter_mut().take(new);
        let wrapped = older.iter_mut().take((start + new).saturating_sub(cells));
        newer.chain(wrapped).filter(|cell| cell.id != EMPTY).map(|cell| &mut cell.value)
    }

    /// True if the stream was ever opened: closed streams may still get frames.
    pub fn was_opened(&self, id: u32) -> bool {
        id % 2 == 1 && id < self.next
    }

    /// The open streams; the ring's from the newest back. As streams in flight are neighbours, few empty cells are visited,
    /// however large the ring.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (u32, &mut T)> {
        let in_ring = self.open as usize - self.displaced.len();
        let next = (self.next >> 1) as usize & (self.ring.len() - 1);
        let (newer, older) = self.ring.split_at_mut(next);
        newer
            .iter_mut()
            .rev()
            .chain(older.iter_mut().rev())
            .filter(|cell| cell.id != EMPTY)
            .map(|cell| (cell.id, &mut cell.value))
            .take(in_ring)
            .chain(self.displaced.iter_mut().map(|(id, value)| (*id, value)))
    }
}

/// Moves the stream of a cell to the map.
#[cold]
fn displace<T: Copy>(cell: &Cell<T>, displaced: &mut BTreeMap<u32, T>) {
    displaced.insert(cell.id, cell.value);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// After any opens and closes, the content is that of a plain map.
        #[test]
        fn behaves_as_a_map(closes in prop::collection::vec(prop::option::of(0_usize..64), 0..400)) {
            let mut streams = Streams::new(4);
            let mut model = BTreeMap::new();
            for (n, close) in closes.into_iter().enumerate() {
                match close.and_then(|i| model.keys().nth(i).copied()) {
                    Some(id) => prop_assert_eq!(streams.remove(id), model.remove(&id)),
                    None => { let id = streams.insert(n); model.insert(id, n); }
                }
                prop_assert_eq!(streams.open() as usize, model.len());
            }
            for (id, n) in &mut model {
                prop_assert_eq!(streams.get_mut(*id), Some(n));
            }
            let mut all: Vec<_> = streams.iter_mut().map(|(id, n)| (id, *n)).collect();
            all.sort_unstable();
            prop_assert_eq!(all, model.into_iter().collect::<Vec<_>>());
        }
    }

    #[test]
    fn open_streams_come_from_the_newest_back() {
        let mut streams = Streams::<u8>::new(8);
        for _ in 0..100 {
            let ids: Vec<u32> = (0..5).map(|_| streams.insert(1)).collect();
            let found: Vec<u32> = streams.iter_mut().map(|(id, _)| id).collect();
            assert!(found.iter().eq(ids.iter().rev()), "{found:?}");
            assert!(ids.into_iter().all(|id| streams.remove(id).is_some()));
        }
        assert_eq!(streams.iter_mut().count(), 0);
    }

    #[test]
    fn newest_streams_are_the_open_ones_from_the_first_on() {
        let mut streams = Streams::<u32>::new(4);
        for round in 0..20 {
            let first = streams.end();
            let ids: Vec<u32> = (0..5).map(|_| streams.insert(round)).collect();
            streams.remove(ids[1]);
            assert_eq!(streams.newest_mut(first).count(), 4);
            assert_eq!(streams.newest_mut(ids[3]).count(), 2);
            assert_eq!(streams.newest_mut(streams.end()).count(), 0);
            assert!(streams.newest_mut(first).all(|value| *value == round));
            for id in ids {
                streams.remove(id);
            }
        }
    }

    #[test]
    fn unknown_streams_are_not_found() {
        let mut streams = Streams::<u8>::new(1);
        assert_eq!(streams.remove(0), None);
        assert_eq!(streams.get_mut(1), None);
        let id = streams.insert(7);
        assert!(streams.was_opened(id) && !streams.was_opened(id + 2) && !streams.was_opened(2));
        assert_eq!((streams.remove(id), streams.remove(id), streams.open()), (Some(7), None, 0));
    }

    #[test]
    fn any_number_of_streams_may_be_expected() {
        for expected in [0, 1, 3, 1 << 30, u32::MAX] {
            let mut streams = Streams::<u8>::new(expected);
            assert!(streams.ring.len() <= 2 * MAX_EXPECTED as usize);
            let ids: Vec<_> = (0..200_000).map(|_| streams.insert(1)).collect();
            assert!(ids.iter().all(|id| streams.remove(*id) == Some(1)), "{expected}");
        }
    }

    #[test]
    fn identifiers_run_out() {
        let mut streams = Streams::<u8>::new(1);
        streams.skip_to(LAST_STREAM);
        assert_eq!(streams.insert(1), LAST_STREAM);
        assert_eq!((streams.next_id(), streams.end()), (None, LAST_STREAM + 2));
    }
}
