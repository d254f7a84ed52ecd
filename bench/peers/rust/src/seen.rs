use std::time::Instant;

use arrow_array::RecordBatch;

use crate::request::Request;
use crate::{Fallible, content_hash, figures};

/// What a consumer of the batches keeps, and what the process did since it began.
pub struct Seen {
    pub files: usize,
    rows: usize,
    batches: usize,
    first: Option<f64>,
    hash: u64,
    start: Instant,
    allocations: u64,
    bytes_read: u64,
}

impl Seen {
    /// The clock runs from here.
    pub fn start() -> Self {
        let (allocations, bytes_read) = (figures::allocations(), figures::bytes_read());
        Seen { files: 0, rows: 0, batches: 0, first: None, hash: 0, start: Instant::now(), allocations, bytes_read }
    }

    pub fn take(&mut self, batch: RecordBatch, request: &Request) -> Fallible<()> {
        self.first.get_or_insert_with(|| self.start.elapsed().as_secs_f64());
        self.rows += batch.num_rows();
        self.batches += 1;
        if request.hash {
            self.hash = self.hash.wrapping_add(content_hash::hash(&batch, &request.columns)?);
        }
        Ok(())
    }

    /// The result of one measurement as JSON; the clock stops here.
    pub fn result(&self, request: &Request) -> String {
        let seconds = self.start.elapsed().as_secs_f64();
        let head =
            format!(r#"{{"engine": "{}", "threads": {}, "rows": {}"#, request.engine, request.threads, self.rows);
        if request.hash {
            return format!(r#"{head}, "content_hash": "{:016x}"}}"#, self.hash);
        }
        format!(
            concat!(
                r#"{}, "batches": {}, "files": {}, "seconds": {}, "seconds_to_first_batch": {}, "bytes_read": {}, "#,
                r#""bytes_written": 0, "pool_peak_bytes": null, "rss_peak_bytes": {}, "allocations": {}, "#,
                r#""order": "arrival"}}"#
            ),
            head,
            self.batches,
            self.files,
            seconds,
            self.first.map_or("null".to_string(), |first| first.to_string()),
            figures::bytes_read() - self.bytes_read,
            figures::peak_rss(),
            figures::allocations() - self.allocations,
        )
    }
}
