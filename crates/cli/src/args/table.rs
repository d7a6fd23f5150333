//! Options of the printed table.

use clap::Args;
use rpcbench_report::{ColumnName, Columns, GroupBy, Layout};

/// The columns of a table, and the order of its rows.
#[derive(Args, Clone, Debug, Default)]
pub struct TableArgs {
    /// Show every column of the table
    #[arg(long, conflicts_with = "columns")]
    pub wide: bool,
    /// Show these columns, by title or export field, such as place,server,p99,connections
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub columns: Vec<ColumnName>,
    /// Sort rows by this column, rates descending, everything else ascending [default: the fastest first]
    #[arg(long, value_name = "COLUMN")]
    pub sort: Option<ColumnName>,
    /// Also show the best of each protocol, language or server
    #[arg(long, value_name = "WHAT")]
    pub group_by: Option<GroupBy>,
    /// Explain each word and column
    #[arg(long)]
    pub explain: bool,
}

impl TableArgs {
    /// As typed; without columns, the few that a reader needs first.
    pub fn layout(&self) -> Layout {
        let columns = match (self.wide, self.columns.is_empty()) {
            (true, _) => Columns::Wide,
            (false, false) => Columns::Chosen(self.columns.clone()),
            (false, true) => Columns::Few,
        };
        Layout { columns, sort: self.sort, group_by: self.group_by, explain: self.explain }
    }
}
