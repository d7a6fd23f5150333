//! Parsing of valid values, and error messages for the rest.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use serde::Deserialize;
use toml::Spanned;

use super::*;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wheel {
    size: Given<Count>,
    name: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Frame {
    colour: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Bicycle {
    wheel: Vec<Wheel>,
    #[serde(default)]
    frame: Frame,
    bell: Option<bool>,
    lights: BTreeMap<String, Spanned<Length>>,
}

impl FileKind for Bicycle {
    const EXAMPLES: &'static [&'static str] = &[
        "size = 28",
        "[[wheel]]",
        "[frame]",
        "colour = \"red\"",
        "bell = true",
        "lights = { front = \"2h\" }",
    ];
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

fn file(text: &str) -> SourceFile {
    SourceFile::new(Path::new("bicycle.toml"), text)
}

fn read(text: &str) -> Result<Bicycle, ConfigError> {
    file(text).parse()
}

fn refused(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "{from}");
    read(&GOOD.replacen(from, to, 1)).expect_err("a refusal").to_string()
}

#[test]
fn every_kind_of_value_is_read() {
    let bicycle = read(GOOD).expect("a good file");
    let wheels: Vec<(u32, Option<&str>)> =
        bicycle.wheel.iter().map(|wheel| (wheel.size.value.0, wheel.name.as_deref())).collect();
    assert_eq!(wheels, [(28, None), (28, Some("back"))]);
    assert_eq!((bicycle.bell, bicycle.frame.colour), (Some(true), None));
    assert_eq!(bicycle.lights["front"].get_ref().0, Duration::from_secs(3600));
}

#[test]
fn value_knows_its_source_location() {
    let bicycle = read(GOOD).expect("a good file");
    let (file, light) = (file(GOOD), bicycle.lights["front"].span());
    insta::assert_snapshot!(file.place(&light), @r#"bicycle.toml:2: lights.front = "1h""#);
    insta::assert_snapshot!(file.bad(&light, "too long"), @r#"bicycle.toml:2: lights.front = "1h": too long"#);
    insta::assert_snapshot!(bicycle.wheel[1].size.shown(Some(&file)), @"bicycle.toml:8: size = 0x1c");
}

#[test]
fn every_refusal_names_the_line() {
    insta::assert_snapshot!(refused("name", "nmae"), @r#"bicycle.toml:9: nmae = "back": unknown key 'nmae' (did you mean 'name'?); allowed here: size, name"#);
    insta::assert_snapshot!(refused("0x1c", "-1"), @"bicycle.toml:8: size = -1: must be a whole number from 1 to 4294967295");
    insta::assert_snapshot!(refused("0x1c", "\n"), @"bicycle.toml:8: not valid TOML: string values must be quoted, expected literal string");
    insta::assert_snapshot!(refused("size = 28", ""), @"bicycle.toml:4: 'size' is missing; add a line such as size = 28");
    insta::assert_snapshot!(refused("true", "[\n  1,\n  2,\n]"), @"bicycle.toml:1: bell = [ 1, 2, ]: invalid type: list, expected a boolean, such as bell = true");
    insta::assert_snapshot!(refused("\"1h\"", "\"1\""), @r#"bicycle.toml:2: lights.front = "1": '1' is not a length of time; write a number and a unit, such as 500ms, 10s or 2m"#);
    insta::assert_snapshot!(read("wheel = []\nlights = {}\n[frame]\ncolour = 5").expect_err("a refusal"), @r#"bicycle.toml:4: colour = 5: invalid type: integer 5, expected a string, such as colour = "red""#);
    insta::assert_snapshot!(read("wheel = []\nframe = 5").expect_err("a refusal"), @"bicycle.toml:2: frame = 5: invalid type: integer `5`, expected a table, such as [frame]");
    insta::assert_snapshot!(read("wheel = [5]").expect_err("a refusal"), @"bicycle.toml:1: wheel = [5]: invalid type: integer `5`, expected a table, such as [[wheel]]");
    insta::assert_snapshot!(read("wheel = 5").expect_err("a refusal"), @"bicycle.toml:1: wheel = 5: invalid type: integer 5, expected a list, such as [[wheel]]");
    insta::assert_snapshot!(read("bell = true").expect_err("a refusal"), @"bicycle.toml:1: 'wheel' is missing; add a line such as [[wheel]]");
}

#[test]
fn missing_key_of_several_files_is_named_with_its_table() {
    let missing = file(GOOD).missing::<Bicycle>(None, "wheel.size");
    insta::assert_snapshot!(missing, @"bicycle.toml: 'wheel.size' is missing; add a line such as size = 28");
}
