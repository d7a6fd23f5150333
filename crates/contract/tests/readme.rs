//! `contract/README.md` and the cases must not drift apart.

use std::collections::BTreeSet;

use rpcbench_contract::conformance::cases;

const README: &str = include_str!("../../../contract/README.md");

/// First cells of the rows of the tables of cases: `| `text/filled` | ...`.
fn described() -> BTreeSet<&'static str> {
    let cells = README.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    cells.filter(|cell| cell.contains('/') && !cell.starts_with('/')).collect()
}

#[test]
fn the_readme_describes_every_case_and_no_other() {
    let names: BTreeSet<_> = cases().iter().map(|case| case.name()).collect();
    assert_eq!(described(), names);
}

#[test]
fn the_readme_says_what_each_case_verifies() {
    for case in cases() {
        let row = format!("| `{}` | {} |", case.name(), case.verifies());
        assert!(README.contains(&row), "contract/README.md has no line that begins\n{row}");
    }
}

#[test]
fn the_readme_names_every_method() {
    for method in ["/Text`", "/Record`", "/Dto`", "/Tree`"] {
        assert!(README.contains(&format!("`/rpcbench.v1.Echo{method}")), "{method}");
    }
}
