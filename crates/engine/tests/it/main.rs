//! Loads over real sockets.

mod hostile;
mod hostile_http1;
mod interop;
mod json;
mod json_h2c;
mod lives;
mod loads;
mod session;
mod support;
mod tcp_echo;
mod thrift;
mod truth;
