//! What is read, and what is said about what can't be.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use super::*;

table! {
    struct Wheel {
        size: u32 = "size = 28",
        name: Option<String> = "name = \"front\"",
    }
}

table! {
    struct Frame {
        colour: Option<String> = "colour = \"red\"",
    }
}

table! {
    struct Bicycle {
        wheel: Vec<Wheel> = "[[wheel]]",
        frame: Frame = "[frame]",
        bell: Option<bool> = "bell = true",
        lights: BTreeMap<String, At<Duration>> = "lights = { front = \"2h\" }",
    }
}

const GOOD: &str = "\
bell = true
lights.front = \"1h\"

[[wheel]]
size = 28

[[wheel]]
size = 0x1c
name = \"back\"
";

fn read(text: &str) -> Result<Bicycle, ConfigError> {
    parse(Path::new("bicycle.toml"), text)
}

fn refused(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "{from}");
    read(&GOOD.replacen(from, to, 1)).expect_err("a refusal").to_string()
}

#[test]
fn every_kind_is_read() {
    let bicycle = read(GOOD).expect("a good file");
    let wheels: Vec<(u32, Option<&str>)> =
        bicycle.wheel.iter().map(|wheel| (wheel.size, wheel.name.as_deref())).collect();
    assert_eq!(wheels, [(28, None), (28, Some("back"))]);
    assert_eq!((bicycle.bell, bicycle.frame.colour), (Some(true), None));
    assert_eq!(bicycle.lights["front"].value, Duration::from_secs(3600));
}

#[test]
fn a_value_remembers_where_it_stands() {
    let light = &read(GOOD).expect("a good file").lights["front"];
    insta::assert_snapshot!(light, @r#"bicycle.toml:2: lights.front = "1h""#);
    insta::assert_snapshot!(light.bad("too long"), @r#"bicycle.toml:2: lights.front = "1h": too long"#);
}

#[test]
fn every_refusal_names_the_line() {
    insta::assert_snapshot!(refused("name", "nmae"), @"bicycle.toml:9: unknown key 'wheel[1].nmae' (did you mean 'name'?); allowed here: size, name");
    insta::assert_snapshot!(refused("0x1c", "-1"), @"bicycle.toml:8: 'wheel[1].size' is the integer -1, but must be a whole number from 0 to 4294967295, such as size = 28");
    insta::assert_snapshot!(refused("0x1c", "\n"), @"bicycle.toml:8: not valid TOML: string values must be quoted, expected literal string");
    insta::assert_snapshot!(refused("size = 28", ""), @"bicycle.toml:4: 'wheel[0].size' is missing; add a line such as size = 28");
    insta::assert_snapshot!(refused("true", "[\n  1,\n  2,\n]"), @"bicycle.toml:1: 'bell' is the list [ 1, 2, ], but must be true or false, such as bell = true");
    insta::assert_snapshot!(refused("\"1h\"", "\"1\""), @r#"bicycle.toml:2: lights.front = "1": '1' is not a length of time; write a number and a unit, such as 500ms, 10s or 2m"#);
    insta::assert_snapshot!(read("wheel = []\nlights = {}\n[frame]\ncolour = 5").expect_err("a refusal"), @r#"bicycle.toml:4: 'frame.colour' is the integer 5, but must be a string, such as colour = "red""#);
    insta::assert_snapshot!(read("wheel = []\nframe = 5").expect_err("a refusal"), @"bicycle.toml:2: 'frame' is the integer 5, but must be a table, such as [frame]");
    insta::assert_snapshot!(read("wheel = [5]").expect_err("a refusal"), @"bicycle.toml:1: 'wheel[0]' is the integer 5, but must be a table, such as [[wheel]]");
}

#[test]
fn a_table_may_be_left_out_if_its_keys_may() {
    assert!(Frame::absent().is_some());
    assert!(Wheel::absent().is_none());
    insta::assert_snapshot!(Wheel::missing(Path::new("wheel.toml"), "wheel.", "size"), @"wheel.toml: 'wheel.size' is missing; add a line such as size = 28");
}
