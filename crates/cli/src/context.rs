//! Everything that depends on the environment, read once.

use std::collections::BTreeMap;
use std::env;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use clap::ColorChoice;
use rpcbench_harness::build_env::BuildEnv;
use rpcbench_harness::interrupt::Interrupt;
use rpcbench_harness::setup::{Setup, SetupObserver};
use rpcbench_record::Tool;
use rpcbench_report::Style;

use crate::args::GlobalArgs;

/// Variables passed to servers. They locate runtimes and do not tune anything.
const PASSED_ON: [&str; 8] =
    ["PATH", "HOME", "USER", "LANG", "LC_ALL", "TMPDIR", "JAVA_HOME", "LD_LIBRARY_PATH"];

/// The environment as this program understands it.
#[derive(Debug)]
pub struct Context {
    /// The arguments as typed.
    pub arguments: Vec<String>,
    /// Number of `-v` options.
    pub verbose: u8,
    /// How results look on standard output.
    pub style: Style,
    /// True if standard error is a terminal that can redraw a line.
    pub live: bool,
    /// File to which the user wants TLS keys written, to decrypt captured traffic.
    pub key_log: Option<PathBuf>,
    /// The environment of builds.
    pub build_env: BuildEnv,
    /// See [`PASSED_ON`].
    base_env: BTreeMap<String, String>,
    root: Option<PathBuf>,
}

impl Context {
    pub fn new(global: GlobalArgs) -> Self {
        // A terminal that can't redraw is treated as a file.
        let dumb = variable("TERM").is_some_and(|term| term == "dumb");
        let terminal = std::io::stdout().is_terminal();
        let color = match global.color {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => {
                terminal && !dumb && variable("NO_COLOR").is_none_or(|v| v.is_empty())
            }
        };
        let choice =
            if color { anstream::ColorChoice::Always } else { anstream::ColorChoice::Never };
        choice.write_global();
        let width = terminal.then(terminal_size::terminal_size).flatten();
        Self {
            arguments: env::args().skip(1).collect(),
            verbose: global.verbose,
            style: Style {
                color,
                width: width.map(|(width, _)| usize::from(width.0)),
                ascii: !is_utf8(),
            },
            key_log: variable("SSLKEYLOGFILE").filter(|file| !file.is_empty()).map(PathBuf::from),
            live: std::io::stderr().is_terminal() && !dumb,
            base_env: PASSED_ON
                .iter()
                .filter_map(|name| Some(((*name).to_owned(), variable(name)?)))
                .collect(),
            build_env: BuildEnv::new(
                env::vars_os()
                    .filter_map(|(n, v)| Some((n.into_string().ok()?, v.into_string().ok()?))),
            ),
            root: global.root,
        }
    }

    /// The setup of a command that starts servers.
    pub fn setup<'a>(
        &self,
        interrupt: Interrupt,
        observer: &'a mut dyn SetupObserver,
    ) -> anyhow::Result<Setup<'a>> {
        Ok(Setup { root: self.root()?, ..self.setup_outside(interrupt, observer) })
    }

    /// The setup of a command that needs no checkout.
    pub fn setup_outside<'a>(
        &self,
        interrupt: Interrupt,
        observer: &'a mut dyn SetupObserver,
    ) -> Setup<'a> {
        Setup {
            tool: tool(),
            arguments: self.arguments.clone(),
            root: PathBuf::new(),
            base_env: self.base_env.clone(),
            build_env: self.build_env.clone(),
            interrupt,
            call_log: None,
            slices: Vec::new(),
            calls: None,
            warnings: Vec::new(),
            observer,
        }
    }

    /// The folder that holds `servers/` and `suites/`.
    pub fn root(&self) -> anyhow::Result<PathBuf> {
        if let Some(root) = &self.root {
            if !is_root(root) {
                bail!("--root {}: no servers/ and suites/ in there", root.display());
            }
            return root.canonicalize().with_context(|| root.display().to_string());
        }
        let current = env::current_dir().context("current folder")?;
        let program = env::current_exe().context("this program's path")?;
        let mut above = current.ancestors().chain(program.ancestors().skip(1));
        above.find(|folder| is_root(folder)).map(Path::to_owned).with_context(|| {
            format!(
                "no servers/ and suites/ in {} or above it; change to a checkout of rpcbench, or name one with --root",
                current.display()
            )
        })
    }
}

fn tool() -> Tool {
    Tool {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: option_env!("RPCBENCH_COMMIT").map(str::to_owned),
        profile: env!("RPCBENCH_PROFILE").to_owned(),
    }
}

/// True if the terminal supports UTF-8. The first of these variables that is set decides; if none is set, it does.
fn is_utf8() -> bool {
    let names = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter();
    let locale = names.filter_map(variable).find(|value| !value.is_empty());
    locale.is_none_or(|locale| {
        let locale = locale.to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    })
}

fn is_root(folder: &Path) -> bool {
    folder.join("servers").is_dir() && folder.join("suites").is_dir()
}

#[expect(clippy::disallowed_methods, reason = "this is the only place that reads the environment")]
pub fn variable(name: &str) -> Option<String> {
    env::var(name).ok()
}
