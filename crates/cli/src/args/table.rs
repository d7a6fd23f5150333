//! What a table for people shows.

use clap::Args;
use rpcbench_report::{ColumnName, Columns};

/// The columns of a table.
#[derive(Args, Clone, Debug, Default)]
pub struct TableArgs {
    /// Show every column of the table
    #[arg(long, conflicts_with = "columns")]
    pub wide: bool,
    /// Show these columns, by title or export field, such as place,server,p99,connections
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub columns: Vec<ColumnName>,
}

impl TableArgs {
    /// As typed, or else the few that a reader needs first.
    #[must_use]
    pub fn which(&self) -> Columns {
        match (self.wide, self.columns.is_empty()) {
            (true, _) => Columns::Wide,
            (false, false) => Columns::Chosen(self.columns.clone()),
            (false, true) => Columns::Few,
        }
    }
}
