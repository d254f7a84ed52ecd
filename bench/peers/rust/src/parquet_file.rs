//! arrow-rs' own reader of one Parquet file, on one thread. Its path stands where that of the table's metadata stands.

use std::fs::File;

use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use crate::request::Request;
use crate::seen::Seen;
use crate::{Fallible, not_offered};

/// Of 1,024 (the crate's default) to 131,072 the fastest on most of the data sets of job parquet that were tried.
const BATCH_ROWS: usize = 8_192;

pub fn read(request: &Request) -> Fallible<String> {
    if request.count {
        return not_offered("a reader of files has no count");
    }
    if request.filter.is_some() {
        return not_offered("the parquet crate leaves to its callers which pages a filter may skip");
    }
    if request.concurrency > 0 {
        return not_offered("it is one file on one thread");
    }
    let mut seen = Seen::start();
    let mut builder = ParquetRecordBatchReaderBuilder::try_new(File::open(&request.metadata)?)?;
    if !request.columns.is_empty() {
        let mask = ProjectionMask::columns(builder.parquet_schema(), request.columns.iter().map(String::as_str));
        builder = builder.with_projection(mask);
    }
    let batch_rows = if request.batch_rows > 0 { request.batch_rows } else { BATCH_ROWS };
    seen.files = 1;
    for batch in builder.with_batch_size(batch_rows).build()? {
        seen.take(batch?, request)?;
    }
    Ok(seen.result(request))
}
