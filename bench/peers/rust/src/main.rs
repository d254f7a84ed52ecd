//! How fast does iceberg-rust read or write a table, without DataFusion, and arrow-rs read a Parquet file? One
//! measurement, in this process, as one JSON object on stdout.
//!
//!     iceberg-peer read --engine iceberg_rust|arrow_rs --metadata METADATA_JSON|PARQUET_FILE --threads N
//!                       [--columns a,b] [--filter "id >= 1 and id < 2"] [--count] [--hash] [--batch-rows N]
//!                       [--concurrency N]
//!     iceberg-peer write --engine iceberg_rust_append --rows N --threads N --folder FOLDER [--partitions N] [--nested]
//!                        [--keep] [--order round-robin|random|clustered]
//!
//! Reading counts from before the metadata file is read until the last batch was dropped; writing, from rows and an empty
//! table until the commit. --concurrency is the number of
//! tasks that read files side by side (default: one a thread), for the crate's own stream decodes every file in the one
//! task that polls it.

mod content_hash;
mod figures;
mod parquet_file;
mod request;
mod rows;
mod seen;
mod table;
mod write;

use std::future::Future;

use request::Request;
use write::WriteRequest;

pub type Fallible<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

fn main() {
    let mut words = std::env::args().skip(1);
    let result = match words.next().as_deref() {
        Some("read") => read(Request::parse(words).unwrap_or_else(|error| fail(2, &*error))),
        Some("write") => {
            let request = WriteRequest::parse(words).unwrap_or_else(|error| fail(2, &*error));
            on_runtime(request.threads, async move { write::write(&request).await })
        }
        _ => fail(2, &*Box::<dyn std::error::Error>::from("the first word must be read or write")),
    };
    match result {
        Ok(result) => println!("{result}"),
        Err(error) => fail(1, &*error),
    }
}

/// What is printed where an engine lacks a knob.
fn not_offered(reason: &str) -> Fallible<String> {
    Ok(format!(r#"{{"not_offered": "{reason}"}}"#))
}

fn read(request: Request) -> Fallible<String> {
    if request.engine == "arrow_rs" {
        return parquet_file::read(&request);
    }
    on_runtime(request.threads, async move { table::read(&request).await })
}

fn on_runtime(threads: usize, work: impl Future<Output = Fallible<String>> + Send + 'static) -> Fallible<String> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build()?;
    // The work runs on a worker, so that the runtime's threads are all there are.
    let work = runtime.spawn(work);
    runtime.block_on(work)?
}

fn fail(status: i32, error: &dyn std::error::Error) -> ! {
    eprintln!("iceberg-peer: {error}");
    std::process::exit(status)
}
