//! Headers that change during a load, such as tokens that expire.

use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::payload::Payload;

/// Makes a session's templates from a payload.
type Subscriber = Box<dyn Fn(&dyn Payload) + Send>;

/// Replaces the headers of a payload's calls in all loads that use it. Clones share their state.
#[derive(Clone, Default)]
pub struct Renewal(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    latest: Option<Arc<dyn Payload>>,
    /// Subscriber of the current session.
    subscriber: Option<Subscriber>,
}

impl fmt::Debug for Renewal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Renewal").finish_non_exhaustive()
    }
}

impl Renewal {
    /// Switches later calls to those of `payload`: the same requests with other headers. Makes the new templates in the
    /// calling thread; load threads take them between two turns of their loops.
    pub fn publish(&self, payload: Arc<dyn Payload>) {
        let mut state = self.state();
        if let Some(subscriber) = &state.subscriber {
            subscriber(&*payload);
        }
        state.latest = Some(payload);
    }

    /// Templates for the threads of a session. `make` makes them from a payload now and each time one is published.
    pub(crate) fn subscribe<T: Send + Sync + 'static>(
        &self,
        payload: &dyn Payload,
        make: impl Fn(&dyn Payload) -> T + Send + 'static,
    ) -> Renewed<T> {
        let mut state = self.state();
        let first = make(state.latest.as_deref().unwrap_or(payload));
        let shared =
            Arc::new(Shared { number: AtomicU32::new(0), latest: Mutex::new(Arc::new(first)) });
        let of_session = Arc::clone(&shared);
        state.subscriber = Some(Box::new(move |payload| of_session.set(make(payload))));
        Renewed { shared, taken: 0 }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug)]
struct Shared<T> {
    /// Number of the latest templates.
    number: AtomicU32,
    latest: Mutex<Arc<T>>,
}

impl<T> Shared<T> {
    fn set(&self, templates: T) {
        *self.lock() = Arc::new(templates);
        self.number.fetch_add(1, Ordering::Release);
    }

    fn lock(&self) -> MutexGuard<'_, Arc<T>> {
        self.latest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A load thread's view of the latest templates.
#[derive(Debug)]
pub(crate) struct Renewed<T> {
    shared: Arc<Shared<T>>,
    /// Number of the templates taken last.
    taken: u32,
}

impl<T> Clone for Renewed<T> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared), taken: self.taken }
    }
}

impl<T> Renewed<T> {
    /// The current templates.
    pub fn current(&self) -> Arc<T> {
        Arc::clone(&self.shared.lock())
    }

    /// The latest templates, if they are newer than those taken before.
    pub fn take(&mut self) -> Option<Arc<T>> {
        let number = self.shared.number.load(Ordering::Acquire);
        if number == self.taken {
            return None;
        }
        self.taken = number;
        Some(self.current())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::payload::Filler;

    #[test]
    fn threads_take_each_published_payload_once() {
        let renewal = Renewal::default();
        let mut one = renewal.subscribe(&Filler::of(&[3]), |payload| payload.request(0).len());
        let mut other = one.clone();
        assert_eq!((*one.current(), one.take()), (3, None));
        renewal.publish(Arc::new(Filler::of(&[4])));
        renewal.publish(Arc::new(Filler::of(&[5])));
        assert_eq!((one.take().as_deref(), one.take()), (Some(&5), None));
        assert_eq!(other.take().as_deref(), Some(&5));
    }

    #[test]
    fn next_session_begins_with_the_latest_payload() {
        let renewal = Renewal::default();
        renewal.publish(Arc::new(Filler::of(&[4])));
        let session = renewal.subscribe(&Filler::of(&[3]), |payload| payload.request(0).len());
        assert_eq!(*session.current(), 4);
    }
}
