//! An expectation that is met takes no memory.

#[path = "it/common.rs"]
mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use common::method;
use rpcbench_schema::Expectation;

/// The system's allocator, which counts the allocations of a thread.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: all of it is the system's allocator; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[track_caller]
fn is_met_without_memory(expectation: &Expectation, reply: &[u8]) {
    let before = ALLOCATIONS.get();
    let checked = expectation.check(reply);
    assert_eq!(ALLOCATIONS.get(), before, "{}", expectation.text());
    assert_eq!(checked, Ok(()));
}

#[test]
fn met_expectation_takes_no_memory() {
    let put = method("Orders/Put");
    let text =
        br#"{"id": "a1", "state": "PAID", "prices": [{}, {"currency": "EUR"}], "items": {"x": 2}}"#;
    let reply = put.request(text).unwrap();
    for text in [
        r#"$.state in ["OPEN", "PAID"]"#,
        r#"$.prices[1].currency == "EUR""#,
        r#"$.items["x"] != 7"#,
        "$.id exists",
    ] {
        is_met_without_memory(&Expectation::of_reply(text, &put).unwrap(), &reply);
        let json = Expectation::of_json(text).unwrap();
        is_met_without_memory(&json, br#"{"id": "a\u0031", "state": "P\u0041ID", "x": [{"y": [[]]}], "prices": [{}, {"currency": "EUR"}], "items": {"x": 2}}"#);
    }
}
