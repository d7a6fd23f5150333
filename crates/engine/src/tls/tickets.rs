//! Sessions to resume. The store of rustls keeps eight TLS 1.3 tickets per server, so most of fifty connections opened at once
//! would do a full handshake; this one keeps as many as there are connections.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustls::NamedGroup;
use rustls::client::{ClientSessionStore, Tls12ClientSessionValue, Tls13ClientSessionValue};
use rustls::pki_types::ServerName;

/// Sessions with the one server of a load thread. Only that thread uses the lock.
pub(super) struct Tickets {
    most: usize,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    group: Option<NamedGroup>,
    tls12: Option<Tls12ClientSessionValue>,
    /// Used once each, newest first.
    tls13: VecDeque<Tls13ClientSessionValue>,
}

impl Tickets {
    /// A store for `most` TLS 1.3 tickets, at least one.
    pub fn new(most: usize) -> Self {
        Self { most: most.max(1), known: Mutex::default() }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tickets are secrets.
impl fmt::Debug for Tickets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tickets").field("most", &self.most).finish_non_exhaustive()
    }
}

impl ClientSessionStore for Tickets {
    fn set_kx_hint(&self, _server: ServerName<'static>, group: NamedGroup) {
        self.known().group = Some(group);
    }

    fn kx_hint(&self, _server: &ServerName<'_>) -> Option<NamedGroup> {
        self.known().group
    }

    fn set_tls12_session(&self, _server: ServerName<'static>, session: Tls12ClientSessionValue) {
        self.known().tls12 = Some(session);
    }

    fn tls12_session(&self, _server: &ServerName<'_>) -> Option<Tls12ClientSessionValue> {
        self.known().tls12.clone()
    }

    fn remove_tls12_session(&self, _server: &ServerName<'static>) {
        self.known().tls12 = None;
    }

    fn insert_tls13_ticket(&self, _server: ServerName<'static>, ticket: Tls13ClientSessionValue) {
        let mut known = self.known();
        if known.tls13.len() == self.most {
            known.tls13.pop_front();
        }
        known.tls13.push_back(ticket);
    }

    fn take_tls13_ticket(&self, _server: &ServerName<'static>) -> Option<Tls13ClientSessionValue> {
        self.known().tls13.pop_back()
    }
}
