//! Apache Parquet: a compressed column per field.

use std::io::BufWriter;
use std::sync::Arc;

use parquet::basic::{Compression, Encoding};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnPath;
use rpcbench_engine::LoggedCall;

use super::{COLUMNS, CallWriter, outcome};
use crate::commands::out_file::OutFile;

/// The first bytes of every Parquet file.
pub const BEGINS: &str = "PAR1";

const SCHEMA: &str = "message calls {
    required int64 due_ns;
    optional int64 written_ns;
    required int64 done_ns;
    required int64 response_ns;
    required binary outcome (STRING);
    optional int32 status;
}";
/// Calls per row group.
const GROUP: usize = 1 << 17;
/// Number of columns of times.
const TIMES: usize = 4;

/// Writes calls as Parquet.
pub struct Parquet {
    to: SerializedFileWriter<BufWriter<OutFile>>,
    group: Vec<LoggedCall>,
}

impl Parquet {
    pub fn new(to: BufWriter<OutFile>) -> anyhow::Result<Self> {
        let mut properties = WriterProperties::builder().set_compression(Compression::SNAPPY);
        for column in &COLUMNS[..TIMES] {
            let column = || ColumnPath::from(*column);
            properties = properties
                .set_column_dictionary_enabled(column(), false)
                .set_column_encoding(column(), Encoding::DELTA_BINARY_PACKED);
        }
        let schema = Arc::new(parse_message_type(SCHEMA)?);
        let to = SerializedFileWriter::new(to, schema, Arc::new(properties.build()))?;
        Ok(Self { to, group: Vec::with_capacity(GROUP) })
    }

    fn write_group(&mut self) -> anyhow::Result<()> {
        let mut calls = std::mem::take(&mut self.group);
        let mut group = self.to.next_row_group()?;
        let required = |of: fn(&LoggedCall) -> u64| -> Vec<i64> {
            calls.iter().map(|call| of(call) as i64).collect()
        };
        column::<Int64Type>(&mut group, &required(|call| call.due.0), None)?;
        let written = calls.iter().filter_map(|call| call.written.map(|w| w.0 as i64));
        let written: Vec<i64> = written.collect();
        let present = levels(&calls, |call| call.written.is_some());
        column::<Int64Type>(&mut group, &written, Some(&present))?;
        column::<Int64Type>(&mut group, &required(|call| call.done.0), None)?;
        column::<Int64Type>(&mut group, &required(|call| call.done.since(call.due)), None)?;
        let outcomes: Vec<ByteArray> =
            calls.iter().map(|call| ByteArray::from(outcome(call.ended).0)).collect();
        column::<ByteArrayType>(&mut group, &outcomes, None)?;
        let codes: Vec<i32> =
            calls.iter().filter_map(|call| outcome(call.ended).1.map(|code| code as i32)).collect();
        let present = levels(&calls, |call| outcome(call.ended).1.is_some());
        column::<Int32Type>(&mut group, &codes, Some(&present))?;
        group.close()?;
        calls.clear();
        self.group = calls;
        Ok(())
    }
}

/// Definition levels: 1 for rows that have a value in an optional column, or else 0.
fn levels(calls: &[LoggedCall], has: fn(&LoggedCall) -> bool) -> Vec<i16> {
    calls.iter().map(|call| i16::from(has(call))).collect()
}

fn column<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, BufWriter<OutFile>>,
    values: &[T::T],
    levels: Option<&[i16]>,
) -> anyhow::Result<()> {
    if let Some(mut column) = group.next_column()? {
        column.typed::<T>().write_batch(values, levels, None)?;
        column.close()?;
    }
    Ok(())
}

impl CallWriter for Parquet {
    fn add(&mut self, mut calls: &[LoggedCall]) -> anyhow::Result<()> {
        while !calls.is_empty() {
            let room = (GROUP - self.group.len()).min(calls.len());
            self.group.extend_from_slice(&calls[..room]);
            calls = &calls[room..];
            if self.group.len() == GROUP {
                self.write_group()?;
            }
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> anyhow::Result<OutFile> {
        if !self.group.is_empty() {
            self.write_group()?;
        }
        let buffer = self.to.into_inner()?;
        Ok(buffer.into_inner().map_err(|refused| refused.into_error())?)
    }
}
