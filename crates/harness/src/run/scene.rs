//! Where, what and under which load; and who watches.

use rpcbench_record::Workload;

use super::lab::Lab;
use super::observer::Observer;
use crate::manifest::Entry;

/// What the steps of a preparation share.
pub(super) struct Scene<'a> {
    pub lab: &'a Lab,
    pub entry: &'a Entry,
    pub workload: &'a Workload,
    pub observer: &'a dyn Observer,
}
