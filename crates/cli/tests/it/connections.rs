//! A server of a test: what it does with each connection.

use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

/// Listens on a free port, and calls `attend` with each connection in its own thread. Returns the address.
pub fn serve(attend: impl Fn(TcpStream) + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let attend = Arc::new(attend);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            stream.set_nodelay(true).unwrap();
            let attend = Arc::clone(&attend);
            thread::spawn(move || attend(stream));
        }
    });
    address
}
