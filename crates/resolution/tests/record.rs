//! Reading a record that a real run made.

use std::fs;
use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;
use rpcbench_resolution::judge::Judged;
use rpcbench_resolution::noise::{Noise, noise};

/// The golden record of the suite `quick`.
fn golden() -> rpcbench_record::Run {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/tests/records/quick");
    let to = tempfile::tempdir().unwrap();
    fs::copy(from.join("run.json"), to.path().join("run.json")).unwrap();
    let mut events = String::new();
    let zipped = fs::File::open(from.join("events.jsonl.gz")).unwrap();
    GzDecoder::new(zipped).read_to_string(&mut events).unwrap();
    fs::write(to.path().join("events.jsonl"), events).unwrap();
    rpcbench_record::read(to.path()).unwrap()
}

/// To a thousandth of a percent: the last digits are the processor's.
#[test]
fn the_noise_of_a_record_is_told_part_by_part() {
    let run = golden();
    let Noise { windows, in_rounds, by_part, by_all } = noise(&run, &run.header.plan.workloads[0]);
    let told = [&[windows, in_rounds][..], &by_part, &[by_all]].concat();
    let told = told.into_iter().flatten().map(|share| format!("{:.3} %", share * 100.0));
    insta::assert_snapshot!(told.collect::<Vec<_>>().join(", "), @"16.383 %, 16.483 %, 14.499 %, 15.651 %, 16.104 %, 15.828 %");
}

#[test]
fn runs_of_no_design_are_left_out() {
    assert!(Judged::of("golden", &golden()).is_none());
}
