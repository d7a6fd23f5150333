//! A load as JSON and CSV.

use rpcbench_record::{AddressFigures, FailureKind, Labels, Measured};
use serde::Serialize;

use super::Load;
use super::verdict::exceeded;
use crate::catalog::{RowKind, Subject, Value, Values, row};
use crate::export::{EXPORT_SCHEMA, Export, ExportError, to_csv, to_json};

/// The load's labels, the figures of its window, and its own settings.
fn values(load: &Load) -> Values {
    let workload = &load.workload;
    let word = |text: &str| Some(Value::from(text));
    let mut values = vec![
        ("address", word(&load.address)),
        ("protocol", word(load.protocol.name())),
        ("shape", workload.content.shape().and_then(word)),
        ("target", workload.content.call().and_then(|call| word(&call.target))),
        ("connections", Some(workload.connections_under(load.protocol).into())),
        ("in_flight", Some(workload.in_flight.into())),
        ("verdict", word(load.verdict().name())),
    ];
    values.extend(row(RowKind::Windows, &Subject::window(&load.header, &load.measured)).0);
    values.extend([
        ("arrivals", word(&workload.arrivals.to_string())),
        ("seed", Some(load.header.plan.seed.into())),
        ("capacity_calls_per_s", load.capacity.map(|c| c.calls_per_s.into())),
        ("limits_exceeded", word(&exceeded(load).join("; "))),
    ]);
    Values(values)
}

impl Export for Load {
    fn json(&self) -> Result<String, ExportError> {
        #[derive(Serialize)]
        struct Versioned<'a> {
            schema: u32,
            #[serde(flatten)]
            values: Values,
            #[serde(flatten)]
            labels: &'a Labels,
            #[serde(skip_serializing_if = "<[_]>::is_empty")]
            failures: &'a [FailureKind],
            #[serde(skip_serializing_if = "<[_]>::is_empty")]
            addresses: &'a [AddressFigures],
        }
        let (schema, values) = (EXPORT_SCHEMA, values(self));
        let labels = &self.header.plan.labels;
        let Measured { failures, addresses, .. } = &self.measured;
        to_json(&Versioned { schema, values, labels, failures, addresses })
    }

    fn csv(&self) -> Result<String, ExportError> {
        let values = values(self);
        let keys: Vec<&str> = values.0.iter().map(|(key, _)| *key).collect();
        to_csv(&keys, std::iter::once(values.clone()))
    }
}
