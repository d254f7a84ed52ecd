//! How fast does arrow-rs read and write Arrow IPC? One measurement, in this process, as one JSON object on stdout.
//!
//!     ipc-peer read|write --engine arrow_rs_ipc --path FILE|FOLDER --format file|stream --input memory|mmap|pipe|file
//!              --threads N --operations N [--touch] [--validation full] [--column N] [--first-batch] [--hash]
//!              [--to memory|FILE] [--codec lz4|zstd]
//!
//! Words and figures as those of ../cpp/ipc_runner.h. In each case its fastest way: decoders over the bytes of memory and
//! mappings, which share them; readers of pipes and files, which copy. Its validation is switched off unless it is asked for.

#[path = "../../rust/src/figures.rs"]
mod figures;
mod hash;
mod read;
mod request;
mod totals;
mod write;

use std::time::Instant;

use request::Request;
use totals::Totals;

pub type Fallible<T> = Result<T, Box<dyn std::error::Error>>;

const SECONDS_MAX: f64 = 2.0;
const WARM_UP: usize = 3;

fn main() {
    let request = Request::parse(std::env::args().skip(1)).unwrap_or_else(|error| fail(2, &*error));
    match run(&request) {
        Ok(result) => println!("{result}"),
        Err(error) => fail(1, &*error),
    }
}

fn run(request: &Request) -> Fallible<String> {
    if request.threads > 1 {
        return Ok(r#"{"not_offered": "arrow-rs decodes a batch on one thread"}"#.to_string());
    }
    let inputs = read::Inputs::open(request)?;
    if request.write {
        let batches = inputs.batches()?;
        return measured(request, || write::write(request, &batches));
    }
    if request.hash {
        let (sum, rows) = hash::content_hash(inputs.batches()?)?;
        return Ok(format!(r#"{{"engine": "{}", "content_hash": "{sum:016x}", "rows": {rows}}}"#, request.engine));
    }
    measured(request, || inputs.read_all())
}

fn measured(request: &Request, operation: impl Fn() -> Fallible<Totals>) -> Fallible<String> {
    for _ in 0..WARM_UP {
        operation()?;
    }
    let before = figures::bytes_read();
    let own = figures::bytes_read() - before;
    let (before, allocations) = (figures::bytes_read(), figures::allocations());
    let totals = operation()?;
    let allocations = figures::allocations() - allocations;
    let read = figures::bytes_read() - before - own;
    let mut seconds = Vec::with_capacity(request.operations);
    let started = Instant::now();
    while seconds.len() < request.operations && started.elapsed().as_secs_f64() < SECONDS_MAX {
        let start = Instant::now();
        operation()?;
        seconds.push(start.elapsed().as_secs_f64());
    }
    seconds.sort_unstable_by(f64::total_cmp);
    let median = seconds[seconds.len() / 2];
    Ok(format!(
        r#"{{"engine": "{}", "rows": {}, "batches": {}, "files": {}, "bytes_read": {read}, "bytes_written": {}, "seconds": {median:.9}, "microseconds_median": {:.3}, "operations": {}, "seconds_to_first_batch": null, "pool_peak_bytes": null, "rss_peak_bytes": {}, "allocations": {allocations}, "threads": 1, "order": null, "byte_sum": "{:016x}", "check": {}}}"#,
        request.engine,
        totals.rows,
        totals.batches,
        totals.files,
        totals.bytes_written,
        median * 1e6,
        seconds.len(),
        figures::peak_rss(),
        totals.byte_sum,
        totals.check & 7,
    ))
}

fn fail(status: i32, error: &dyn std::error::Error) -> ! {
    eprintln!("ipc-peer: {error}");
    std::process::exit(status)
}
