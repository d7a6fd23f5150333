//! A driver on real sockets.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};

mod tls;
mod tls_hostile;
mod tls_refusals;

use super::{Driver, EpollDriver, Ready, Sources, Waker};
use rpcbench_clock::{self as clock, Nanos};

fn driver() -> (EpollDriver, Waker) {
    let waker = Waker::new().unwrap();
    (EpollDriver::new(2, waker.clone(), Sources::any()).unwrap(), waker)
}

fn soon() -> Nanos {
    clock::now() + Nanos::from_millis(10_000)
}

fn listen() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").unwrap()
}

/// Waits for events.
fn wait(driver: &mut impl Driver) -> Vec<Ready> {
    let (deadline, mut ready) = (soon(), Vec::new());
    while ready.is_empty() {
        assert!(driver.now() < deadline, "nothing happened");
        driver.wait(deadline, &mut ready).unwrap();
    }
    ready
}

/// Connects `connection` to a new listener.
fn connect(driver: &mut impl Driver, connection: usize) -> TcpStream {
    let listener = listen();
    driver.connect(connection, &listener.local_addr().unwrap().into()).unwrap();
    let (peer, _) = listener.accept().unwrap();
    while !wait(driver).iter().any(|it| it.connection == connection && it.writable) {}
    peer
}

/// Receives until `length` bytes or the end of the stream.
fn receive(driver: &mut impl Driver, connection: usize, length: usize) -> Vec<u8> {
    let (mut bytes, mut more) = (Vec::new(), false);
    while bytes.len() < length {
        let readable = if more { 1 } else { wait(driver).iter().filter(|it| it.readable).count() };
        for _ in 0..readable {
            match driver.receive(connection) {
                Ok(received) if received.bytes.is_empty() => return bytes,
                Ok(received) => {
                    bytes.extend_from_slice(received.bytes);
                    more = received.more;
                }
                Err(error) => {
                    assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
                    more = false;
                }
            }
        }
    }
    bytes
}

/// Bytes without repeated runs.
fn pattern(length: usize) -> Vec<u8> {
    (0..length.div_ceil(4) as u32).flat_map(u32::to_be_bytes).take(length).collect()
}

#[test]
fn end_of_a_stream_is_seen_even_if_it_comes_with_the_last_bytes() {
    let (mut driver, _) = driver();
    let listener = listen();
    driver.connect(0, &listener.local_addr().unwrap().into()).unwrap();
    let (mut peer, _) = listener.accept().unwrap();
    peer.write_all(b"last").unwrap();
    drop(peer);
    assert_eq!(receive(&mut driver, 0, usize::MAX), b"last");
}

#[test]
fn partial_writes_are_completed_later() {
    let (mut driver, _) = driver();
    let mut peer = connect(&mut driver, 0);
    let all = pattern(32 << 20);
    let mut ready = Vec::new();
    let first = driver.send(0, &all).unwrap();
    assert!(first < all.len(), "the kernel took all of it at once");
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        peer.read_to_end(&mut bytes).unwrap();
        bytes
    });
    let mut sent = first;
    while sent < all.len() {
        match driver.send(0, &all[sent..]) {
            Ok(taken) => sent += taken,
            Err(error) => {
                assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
                driver.wait(soon(), &mut ready).unwrap();
            }
        }
    }
    driver.close(0);
    assert!(reader.join().unwrap() == all, "other bytes came than were sent");
}

#[test]
fn any_number_of_bytes_may_wait_to_be_received() {
    let (mut driver, _) = driver();
    let mut peer = connect(&mut driver, 0);
    let all = pattern(16 << 20);
    let theirs = all.clone();
    let writer = std::thread::spawn(move || peer.write_all(&theirs).map(|()| peer));
    // More bytes arrive than the driver's buffer holds.
    let mut ready = Vec::new();
    let mut first = 0;
    for _ in 0..100 {
        driver.wait(clock::now() + Nanos::from_millis(1), &mut ready).unwrap();
        first += ready.iter().filter(|it| it.readable).count();
    }
    let mut bytes = Vec::new();
    for _ in 0..first {
        if let Ok(received) = driver.receive(0) {
            bytes.extend_from_slice(received.bytes);
        }
    }
    let mut more = true;
    while more {
        let received = driver.receive(0);
        more = received.as_ref().is_ok_and(|received| received.more);
        bytes.extend_from_slice(received.map_or(&[], |received| received.bytes));
    }
    bytes.extend(receive(&mut driver, 0, all.len() - bytes.len()));
    assert!(bytes == all, "other bytes came than were written");
    writer.join().unwrap().unwrap();
}

#[test]
fn refused_connection_says_so() {
    let (mut driver, _) = driver();
    let closed = listen().local_addr().unwrap();
    if let Err(error) = driver.connect(0, &closed.into()) {
        return assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
    }
    wait(&mut driver);
    let error = driver.receive(0).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
}

#[test]
fn closed_connection_is_never_heard_of_again() {
    let (mut driver, _) = driver();
    for round in 0..100 {
        let mut old = connect(&mut driver, 0);
        old.write_all(b"old").unwrap();
        if round % 2 == 0 {
            wait(&mut driver);
        }
        driver.close(0);
        assert!(driver.receive(0).is_err());
        let mut new = connect(&mut driver, 0);
        let nothing = driver.receive(0).unwrap_err();
        assert_eq!(nothing.kind(), io::ErrorKind::WouldBlock);
        new.write_all(b"new").unwrap();
        assert_eq!(receive(&mut driver, 0, 3), b"new");
        driver.close(0);
    }
}

#[test]
fn waker_ends_the_wait() {
    let (mut driver, waker) = driver();
    for _ in 0..3 {
        waker.wake();
        let (before, mut ready) = (clock::now(), Vec::new());
        driver.wait(Nanos::NEVER, &mut ready).unwrap();
        assert!(ready.is_empty() && clock::now() >= before);
    }
    let other = waker.clone();
    let waking = std::thread::spawn(move || other.wake());
    driver.wait(Nanos::NEVER, &mut Vec::new()).unwrap();
    waking.join().unwrap();
}

#[test]
fn wait_ends_at_its_deadline() {
    let (mut driver, _) = driver();
    let (mut ready, mut least) = (Vec::new(), Nanos::NEVER);
    for micros in 200..300 {
        let until = clock::now() + Nanos(micros * 1000);
        while clock::now() < until {
            driver.wait(until, &mut ready).unwrap();
            assert!(ready.is_empty());
        }
        least = least.min(clock::now() - until);
        driver.wait(until, &mut ready).unwrap();
    }
    // A timer that counts milliseconds would be 700 us late.
    assert!(least < Nanos(300_000), "late by {} ns at least", least.0);
}

#[test]
fn short_waits_poll_and_long_waits_sleep() {
    let (mut driver, _) = driver();
    let mut ready = Vec::new();
    // If this thread is preempted, the time is already over.
    while driver.awake() == Nanos(0) {
        let until = clock::now() + Nanos(8_000);
        driver.wait(until, &mut ready).unwrap();
        assert!(clock::now() >= until && ready.is_empty());
    }
    let awake = driver.awake();
    for millis in [1, 5] {
        driver.wait(clock::now() + Nanos::from_millis(millis), &mut ready).unwrap();
    }
    assert_eq!(driver.awake(), awake);
    let _peer = connect(&mut driver, 0);
    assert_eq!(driver.awake(), awake);
}

#[test]
fn far_deadline_ends_the_wait_wherever_it_moves() {
    let (mut driver, waker) = driver();
    let millis = Nanos::from_millis;
    let mut wait = |until| {
        driver.wait(until, &mut Vec::new()).unwrap();
        clock::now()
    };
    // A nearer deadline, then a farther one: the wait may end early, but not at once each time.
    let begin = clock::now();
    waker.wake();
    wait(begin + millis(60_000));
    for until in [millis(20), millis(10), millis(40)] {
        while wait(begin + until) < begin + until {}
    }
    // A deadline in the past.
    wait(begin);
    wait(Nanos(0));
}

#[test]
fn peer_sees_a_close() {
    let (mut driver, _) = driver();
    let mut first = connect(&mut driver, 0);
    let mut second = connect(&mut driver, 1);
    driver.close(0);
    assert_eq!(first.read(&mut [0; 8]).unwrap(), 0);
    drop(driver);
    assert_eq!(second.read(&mut [0; 8]).unwrap(), 0);
}
