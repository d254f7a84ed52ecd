//! How fast does iceberg-rust read a table, without DataFusion, and arrow-rs a Parquet file? One measurement, in this
//! process, as one JSON object on stdout.
//!
//!     iceberg-peer read --engine iceberg_rust|arrow_rs --metadata METADATA_JSON|PARQUET_FILE --threads N
//!                       [--columns a,b] [--filter "id >= 1 and id < 2"] [--count] [--hash] [--batch-rows N]
//!                       [--concurrency N]
//!
//! Time counts from before the metadata file is read until the last batch was dropped. --concurrency is the number of
//! tasks that read files side by side (default: one a thread), for the crate's own stream decodes every file in the one
//! task that polls it.

mod content_hash;
mod figures;
mod parquet_file;
mod request;
mod seen;
mod table;

use request::Request;

pub type Fallible<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

fn main() {
    let request = Request::parse(std::env::args().skip(1)).unwrap_or_else(|error| fail(2, &*error));
    match run(request) {
        Ok(result) => println!("{result}"),
        Err(error) => fail(1, &*error),
    }
}

/// What is printed where an engine lacks a knob.
fn not_offered(reason: &str) -> Fallible<String> {
    Ok(format!(r#"{{"not_offered": "{reason}"}}"#))
}

fn run(request: Request) -> Fallible<String> {
    if request.engine == "arrow_rs" {
        return parquet_file::read(&request);
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(request.threads).enable_all().build()?;
    // The work runs on a worker, so that the runtime's threads are all there are.
    let work = runtime.spawn(async move { table::read(&request).await });
    runtime.block_on(work)?
}

fn fail(status: i32, error: &dyn std::error::Error) -> ! {
    eprintln!("iceberg-peer: {error}");
    std::process::exit(status)
}
