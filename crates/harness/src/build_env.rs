//! The part of the user's environment that builds see.
//!
//! `RUSTFLAGS`, `CXXFLAGS`, `GOAMD64` and the like would tune the servers of one language only, so builds get only the variables
//! that locate tools, registries and networks. Tool versions are read in the same environment, and recorded. The tools' own
//! configuration files, such as `~/.cargo/config.toml`, remain the user's business.

use std::collections::BTreeMap;
use std::process::Command;

/// Names to pass on, in upper case. Matching ignores case, since programs disagree on the case of `http_proxy`.
const NAMES: &[&str] = &[
    // Programs, homes and caches.
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "TMPDIR",
    "LD_LIBRARY_PATH",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "SSL_CERT_DIR",
    "NETRC",
    // C++
    "PKG_CONFIG_PATH",
    // .NET
    "DOTNET_ROOT",
    "NUGET_PACKAGES",
    "NUGET_HTTP_CACHE_PATH",
    // Go
    "GOROOT",
    "GOPATH",
    "GOCACHE",
    "GOMODCACHE",
    "GOTMPDIR",
    "GOTOOLCHAIN",
    "GOAUTH",
    // Java
    "JAVA_HOME",
    "M2_HOME",
    "MAVEN_HOME",
    // Node.js
    "NPM_CONFIG_CACHE",
    "NPM_CONFIG_USERCONFIG",
    "NPM_CONFIG_PROXY",
    "NPM_CONFIG_HTTPS_PROXY",
    "NPM_CONFIG_NOPROXY",
    // Python
    "PIP_FIND_LINKS",
    "PIP_PROXY",
    "PIP_CACHE_DIR",
    "PIP_CONFIG_FILE",
    "PYENV_ROOT",
    "PYENV_VERSION",
    // Rust
    "CARGO_HOME",
];

/// Prefixes of names to pass on, in upper case. The last three let the commands of container engines find their engine and its
/// settings.
const PREFIXES: &[&str] = &["RUSTUP_", "RPCBENCH_", "DOCKER_", "CONTAINERS_", "XDG_RUNTIME_DIR"];

/// More names to pass on, which locate registries and networks. A build in an image needs only these.
const REGISTRIES: &[&str] = &[
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "SSL_CERT_FILE",
    "CURL_CA_BUNDLE",
    "REQUESTS_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS",
    "GOPROXY",
    "GOPRIVATE",
    "GONOPROXY",
    "GOSUMDB",
    "GONOSUMDB",
    "GOINSECURE",
    "NPM_CONFIG_REGISTRY",
    "NPM_CONFIG_CAFILE",
    "PIP_INDEX_URL",
    "PIP_EXTRA_INDEX_URL",
    "PIP_TRUSTED_HOST",
    "PIP_CERT",
    "PIP_DEFAULT_TIMEOUT",
];

/// Prefixes of names like those in [`REGISTRIES`].
const REGISTRY_PREFIXES: &[&str] =
    &["CARGO_HTTP_", "CARGO_NET_", "CARGO_REGISTRY_", "CARGO_REGISTRIES_"];

/// Set for every build, so that messages and sort orders are the same everywhere.
const FIXED: &[(&str, &str)] = &[("LANG", "C.UTF-8"), ("LC_ALL", "C.UTF-8")];

/// The environment of builds, and of the commands that print toolchains' versions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BuildEnv {
    passed: BTreeMap<String, String>,
}

impl BuildEnv {
    /// Selects what to pass on from the user's environment.
    pub fn new(all: impl IntoIterator<Item = (String, String)>) -> Self {
        Self { passed: all.into_iter().filter(|(name, _)| is_passed(name)).collect() }
    }

    /// Names of the user's variables that builds see, sorted.
    pub fn names(&self) -> Vec<String> {
        self.passed.keys().cloned().collect()
    }

    /// The value of a variable.
    pub(crate) fn value(&self, name: &str) -> Option<&str> {
        self.passed.get(name).map(String::as_str)
    }

    /// The variables that locate registries and networks.
    pub(crate) fn registries(&self) -> impl Iterator<Item = (&str, &str)> {
        let all = self.passed.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        all.filter(|(name, _)| is_listed(name, REGISTRIES, REGISTRY_PREFIXES))
    }

    /// The same environment with one more variable.
    pub(crate) fn with(&self, name: &str, value: &str) -> Self {
        let mut all = self.clone();
        all.passed.insert(name.to_owned(), value.to_owned());
        all
    }

    /// Gives a command this environment and nothing else.
    pub(crate) fn set(&self, command: &mut Command) {
        command.env_clear().envs(&self.passed).envs(FIXED.iter().copied());
    }
}

fn is_passed(name: &str) -> bool {
    is_listed(name, NAMES, PREFIXES) || is_listed(name, REGISTRIES, REGISTRY_PREFIXES)
}

fn is_listed(name: &str, names: &[&str], prefixes: &[&str]) -> bool {
    let name = name.to_ascii_uppercase();
    names.contains(&name.as_str()) || prefixes.iter().any(|start| name.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passes(name: &str) -> bool {
        !BuildEnv::new([(name.to_owned(), "value".to_owned())]).names().is_empty()
    }

    #[test]
    fn tuning_variables_are_not_passed() {
        for name in [
            "RUSTFLAGS",
            "CARGO_ENCODED_RUSTFLAGS",
            "CARGO_BUILD_RUSTFLAGS",
            "RUSTC_WRAPPER",
            "CARGO_PROFILE_RELEASE_LTO",
            "CARGO_TARGET_DIR",
            "GOFLAGS",
            "GOAMD64",
            "GOEXPERIMENT",
            "GODEBUG",
            "CGO_CFLAGS",
            "CFLAGS",
            "CXXFLAGS",
            "CPPFLAGS",
            "LDFLAGS",
            "CC",
            "CXX",
            "CMAKE_BUILD_TYPE",
            "MAVEN_OPTS",
            "DOTNET_TieredPGO",
            "JAVA_TOOL_OPTIONS",
            "_JAVA_OPTIONS",
            "NODE_OPTIONS",
            "NODE_ENV",
            "NPM_CONFIG_OMIT",
            "PYTHONPATH",
            "PYTHONOPTIMIZE",
            "LD_PRELOAD",
            "MAKEFLAGS",
        ] {
            assert!(!passes(name), "{name}");
        }
    }

    #[test]
    fn variables_of_tools_and_registries_are_passed() {
        for name in [
            "PATH",
            "HOME",
            "https_proxy",
            "HTTPS_PROXY",
            "SSL_CERT_FILE",
            "GOPROXY",
            "npm_config_registry",
            "PIP_INDEX_URL",
            "CARGO_HOME",
            "CARGO_REGISTRIES_MINE_TOKEN",
            "RUSTUP_TOOLCHAIN",
            "JAVA_HOME",
            "NUGET_PACKAGES",
            "RPCBENCH_TESTKIT",
        ] {
            assert!(passes(name), "{name}");
        }
    }

    #[test]
    fn command_sees_this_environment_and_nothing_else() {
        let all = [("GOPROXY", "off"), ("RUSTFLAGS", "-O"), ("LC_ALL", "de_DE.UTF-8")];
        let env = BuildEnv::new(all.map(|(name, value)| (name.to_owned(), value.to_owned())));
        assert_eq!(env.names(), ["GOPROXY"]);
        let mut command = Command::new("/usr/bin/env");
        env.set(&mut command);
        let output = command.output().expect("an environment");
        let text = String::from_utf8(output.stdout).expect("text");
        let mut lines: Vec<&str> = text.lines().collect();
        lines.sort_unstable();
        assert_eq!(lines, ["GOPROXY=off", "LANG=C.UTF-8", "LC_ALL=C.UTF-8"]);
    }
}
