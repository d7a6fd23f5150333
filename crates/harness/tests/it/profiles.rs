//! The build profiles that measure.

use toml::{Table, Value};

const CARGO: &str = include_str!("../../../../Cargo.toml");

/// A key of a crate in a profile, as Cargo finds it: its own, that of all libraries, the profile's, those of its parent.
fn setting(profiles: &Table, profile: &str, package: &str, key: &str) -> Option<Value> {
    let own = profiles.get(profile)?.as_table()?;
    let of = |name: &str| own.get("package")?.get(name)?.get(key).cloned();
    let parent = own.get("inherits").and_then(Value::as_str);
    let inherited = || setting(profiles, parent?, package, key);
    of(package).or_else(|| of("*")).or_else(|| own.get(key).cloned()).or_else(inherited)
}

/// At level 0, or in several units, sealing and opening a record costs up to six times as much.
#[test]
fn libraries_of_tls_are_optimised_in_one_unit_wherever_calls_are_measured() {
    let manifest: Table = CARGO.parse().unwrap();
    let profiles = manifest["profile"].as_table().unwrap();
    for profile in ["release", "first"] {
        for package in ["rustls", "ring"] {
            let of = |key| setting(profiles, profile, package, key).and_then(|it| it.as_integer());
            // Cargo's own level of the profile `release` is 3.
            assert_eq!(of("opt-level").unwrap_or(3), 3, "{package} in {profile}");
            assert_eq!(of("codegen-units"), Some(1), "{package} in {profile}");
        }
    }
}
