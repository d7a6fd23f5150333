//! What users call a run.

use clap::Args;
use rpcbench_record::{Labels, Tag};

/// Labels, as typed.
#[derive(Args, Debug, Default)]
pub struct LabelArgs {
    /// Name of the run, for its record
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Tag of the run, for its record; repeatable
    #[arg(long, value_name = "KEY=VALUE")]
    tag: Vec<Tag>,
}

impl LabelArgs {
    /// What the record has of them.
    pub fn labels(&self) -> Labels {
        let tags = self.tag.iter().map(|Tag(key, value)| (key.clone(), value.clone()));
        Labels { name: self.name.clone(), tags: tags.collect() }
    }
}
