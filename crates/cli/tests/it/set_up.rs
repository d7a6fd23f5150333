//! scripts/setup.sh, where only those programs are installed that a test puts there.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use tempfile::TempDir;

use crate::bench::repository;
use crate::fakes::Fakes;
use crate::program::{Ended, Program};

/// What the script itself needs.
const REAL: [&str; 9] = ["awk", "cut", "dirname", "env", "grep", "head", "sed", "sort", "tail"];

const NO_RUST: &str = "set-up: Rust is missing; to install it: \
     curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh";

/// A line of `rpcbench doctor --missing`.
const OLD_GO: &str =
    "Go\tgo\t1.19.8\t1.26\tgolang-go (>= 2:1.21~)\tGo 1.26 from https://go.dev/dl/\n";

/// apt-get that has everything, and where Go is older, its backports have a newer one.
const APT: &str = r#"
case "$*" in
    "satisfy --simulate -qq golang-go"*) exit 100 ;;
    *" satisfy --no-install-recommends "*) : >target/missing ;;
esac"#;

/// A copy of what the script reads, with a C compiler, Rust and apt-get, used by root.
struct SetUp {
    root: TempDir,
    programs: Fakes,
}

impl SetUp {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("scripts")).unwrap();
        for profile in ["first", "debug"] {
            fs::create_dir_all(root.path().join("target").join(profile)).unwrap();
        }
        let files = ["scripts/setup.sh", "scripts/apt.sh", "rust-toolchain.toml", "Cargo.toml"];
        for file in files {
            fs::copy(repository().join(file), root.path().join(file)).unwrap();
        }
        let this = Self { root, programs: Fakes::new() };
        for name in REAL {
            this.programs.real(name);
        }
        this.programs.script("cc", "").script("id", "echo 0");
        // The folder of apt's lists has some.
        this.programs.script("find", "echo main_Packages");
        this.logged("cargo", "echo cargo 999.0.0").logged("apt-get", APT);
        let rpcbench = "while IFS= read -r line; do printf '%s\\n' \"$line\"; done <target/missing";
        this.logged("rpcbench", rpcbench);
        for built in ["target/first/rpcbench", "target/debug/rpcbench"] {
            symlink(this.programs.path().join("rpcbench"), this.root.path().join(built)).unwrap();
        }
        this.missing("")
    }

    /// A program that writes down what it is asked for.
    fn logged(&self, name: &str, text: &str) -> &Self {
        self.programs.script(name, &format!("echo \"{name} $*\" >>log\n{text}"));
        self
    }

    fn missing(self, lines: &str) -> Self {
        fs::write(self.root.path().join("target/missing"), lines).unwrap();
        self
    }

    fn without(self, name: &str) -> Self {
        fs::remove_file(self.programs.path().join(name)).unwrap();
        self
    }

    fn with(self, name: &str, text: &str) -> Self {
        self.logged(name, text);
        self
    }

    fn run(&self, mode: &str) -> Ended {
        let mut bash = Command::new("/bin/bash");
        bash.args(["scripts/setup.sh", mode]).current_dir(self.root.path());
        Program::start(bash.env_clear().env("PATH", self.programs.path())).finish()
    }

    fn log(&self) -> String {
        fs::read_to_string(self.root.path().join("log")).unwrap_or_default()
    }

    /// What apt-get was asked to install.
    fn installed(&self) -> Vec<String> {
        let log = self.log();
        let orders = log.lines().filter(|line| line.starts_with("apt-get -y "));
        let order = |line: &str| line.split(" satisfy ").nth(1).unwrap_or(line).to_owned();
        orders.map(order).collect()
    }
}

#[test]
fn complete_machine_installs_nothing() {
    let set_up = SetUp::new();
    for name in ["shellcheck", "curl", "npm", "chromium"] {
        set_up.programs.script(name, "");
    }
    for mode in ["all", "default", "test"] {
        let ended = set_up.run(mode).expect(0);
        assert_eq!(ended.err, "", "{mode}");
    }
    let asked = set_up.log();
    assert!(!asked.contains("apt-get"), "{asked}");
    for build in
        ["build --profile first --locked --package rpcbench", "test --workspace --locked --no-run"]
    {
        assert!(asked.contains(&format!("cargo {build}")), "{asked}");
    }
}

#[test]
fn default_mode_covers_the_servers_of_make_bench() {
    for (mode, asked) in [("default", "default"), ("all", "all"), ("test", "all")] {
        let set_up = SetUp::new();
        set_up.run(mode);
        let log = set_up.log();
        let questions: Vec<_> = log.lines().filter(|line| line.starts_with("rpcbench ")).collect();
        assert!(!questions.is_empty(), "{mode}");
        for question in questions {
            assert_eq!(question, format!("rpcbench doctor --missing={asked}"), "{mode}");
        }
    }
}

#[test]
fn unavailable_rust_fails_before_anything_is_installed() {
    let bare = || SetUp::new().missing(OLD_GO).without("cargo").without("cc");
    for set_up in [
        bare().without("apt-get"),
        bare().with("apt-get", "exit 100"),
        // A user who must not install packages.
        bare().with("id", "echo 1000"),
    ] {
        let ended = set_up.run("all").expect(1);
        assert_eq!(ended.err, NO_RUST);
        assert_eq!(set_up.installed(), [] as [String; 0], "{}", set_up.log());
    }
}

#[test]
fn older_go_is_replaced_from_backports() {
    let policy = "echo 'release o=Debian Backports,a=stable-backports,n=bookworm-backports,l=x'";
    let set_up = SetUp::new().missing(OLD_GO).with("apt-cache", policy);
    let ended = set_up.run("all").expect(0);
    let order = "--no-install-recommends -t bookworm-backports golang-go (>= 2:1.21~)";
    assert_eq!(set_up.installed(), [order]);
    assert_eq!(
        ended.err,
        "set-up: installing golang-go (>= 2:1.21~) from bookworm-backports (some minutes)"
    );
    let set_up = SetUp::new().missing(OLD_GO).with("apt-cache", policy).with("id", "echo 1000");
    set_up.run("all").expect(0).complains(&[
        "set-up: to install what is missing: sudo apt-get satisfy -t bookworm-backports 'golang-go (>= 2:1.21~)'\n",
    ]);
    assert_eq!(set_up.installed(), [] as [String; 0]);
}

#[test]
fn unavailable_toolchain_omits_its_language() {
    let set_up = SetUp::new().missing(OLD_GO).with("apt-cache", "");
    let ended = set_up.run("all").expect(0);
    assert_eq!(set_up.installed(), [] as [String; 0]);
    assert_eq!(
        ended.err,
        "set-up: Go: go is 1.19.8, older than 1.26, so servers that need it are left out; install Go 1.26 from https://go.dev/dl/"
    );
}

#[test]
fn missing_packages_are_installed_together() {
    let lines =
        "Ruby\truby\t-\t3.0\truby (>= 1:3.0)\tRuby\nPHP\tphp\t-\t8.2\tphp-cli (>= 2:8.2)\tPHP\n";
    let set_up = SetUp::new().missing(lines);
    set_up.run("all").expect(0);
    let order = "--no-install-recommends php-cli (>= 2:8.2),ruby (>= 1:3.0)";
    assert_eq!(set_up.installed(), [order]);
}

#[test]
fn service_packages_are_unpacked_but_not_installed() {
    let lines = "PHP\tphp-fpm\t-\t-\tphp-fpm\tphp-fpm\nPHP\tnginx\t-\t-\tnginx-light\tnginx\n";
    let apt = r#"
case "$*" in
    *--simulate*--no-install-recommends*)
        echo 'Inst php8.2-fpm (8.2.36-1 Debian:12.11/stable [amd64])'
        echo 'Inst nginx [1.22.0-1] (1.22.1-9 Debian:12.11/stable [amd64])'
        echo 'Conf nginx (1.22.1-9 Debian:12.11/stable [amd64])' ;;
    download*) : >nginx.deb; : >php8.2-fpm.deb ;;
esac"#;
    // A user who must not install packages gets these all the same.
    for user in ["echo 0", "echo 1000"] {
        let set_up = SetUp::new().missing(lines).with("dpkg-deb", "").with("id", user);
        for name in ["mkdir", "rm"] {
            set_up.programs.real(name);
        }
        // Its working directory is not always the root.
        let log = set_up.root.path().join("log");
        let apt = format!("echo \"apt-get $*\" >>{}\n{apt}", log.display());
        set_up.programs.script("apt-get", &apt);
        let ended = set_up.run("all").expect(0);
        assert_eq!(set_up.installed(), [] as [String; 0]);
        let said = "set-up: unpacking nginx-light php-fpm into build/debian";
        assert!(ended.err.starts_with(said), "{}", ended.err);
        let log = set_up.log();
        assert!(log.contains("apt-get download -qq php8.2-fpm=8.2.36-1 nginx=1.22.1-9\n"), "{log}");
        for package in ["nginx", "php8.2-fpm"] {
            let extract = format!("--extract build/debian/archives/{package}.deb build/debian\n");
            assert!(log.contains(&extract), "{log}");
        }
    }
}

#[test]
fn shared_package_is_installed_once() {
    let lines = "C++\tthrift\t-\t0.17\tthrift-compiler (>= 0.17)\tThrift\n\
        Go\tthrift\t-\t0.9\tthrift-compiler (>= 0.9), git\tThrift\n\
        Java\tjdk\t-\t17\tdefault-jdk | openjdk-21-jdk\tJDK\n\
        Scala\tjdk\t-\t17\tdefault-jdk (>= 2:1.17)\tJDK\n";
    let set_up = SetUp::new().missing(lines);
    set_up.run("all").expect(0);
    let order = "--no-install-recommends default-jdk (>= 2:1.17),default-jdk | openjdk-21-jdk,git,\
        thrift-compiler (>= 0.17)";
    assert_eq!(set_up.installed(), [order]);
}
