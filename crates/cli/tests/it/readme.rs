//! What README shows is what the program prints.

use std::fs;
use std::path::Path;

use crate::bench::rpcbench;
use crate::program::Program;

#[test]
fn the_matrix_is_the_one_that_is_printed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = fs::read_to_string(root.join("README.md")).expect("README.md");
    let shown = page.split("<!-- matrix -->\n").nth(1).expect("a matrix");
    let shown = shown.split("<!-- /matrix -->").next().expect("its end");
    let root = root.to_str().expect("a path in UTF-8");
    let mut command = rpcbench(&["--root", root, "list", "--matrix"]);
    let printed = Program::start(&mut command).finish().expect(0);
    assert_eq!(shown, printed.out, "copy what `rpcbench list --matrix` prints into README.md");
}
