use std::time::Instant;

use arrow_array::RecordBatch;
use futures::{StreamExt, TryStreamExt, stream};
use iceberg::TableIdent;
use iceberg::expr::{Predicate, Reference};
use iceberg::io::FileIO;
use iceberg::scan::{FileScanTask, TableScan};
use iceberg::spec::{Datum, PrimitiveType, Schema, Type};
use iceberg::table::{StaticTable, Table};
use tokio::sync::mpsc;

use crate::request::Request;
use crate::{Fallible, content_hash, figures};

/// Takes a sixth less CPU time than the crate's default of 1,024, and hardly more memory; larger ones gain nothing.
const BATCH_ROWS: usize = 32_768;

/// What a consumer of the batches keeps.
#[derive(Default)]
struct Seen {
    files: usize,
    rows: usize,
    batches: usize,
    first: Option<f64>,
    hash: u64,
}

/// The result of one measurement as JSON.
pub async fn read(request: &Request) -> Fallible<String> {
    if request.count {
        // A scan of no columns (select_empty) reads all of them.
        return Ok(r#"{"not_offered": "iceberg-rust has no count"}"#.to_string());
    }
    let allocations = figures::allocations();
    let bytes_read = figures::bytes_read();
    let start = Instant::now();
    let table = open(&request.metadata).await?;
    let scan = scan(&table, request)?;
    let seen = read_in_lanes(&table, &scan, request, start).await?;
    let seconds = start.elapsed().as_secs_f64();
    let head = format!(r#"{{"engine": "iceberg_rust", "threads": {}, "rows": {}"#, request.threads, seen.rows);
    if request.hash {
        return Ok(format!(r#"{head}, "content_hash": "{:016x}"}}"#, seen.hash));
    }
    Ok(format!(
        concat!(
            r#"{}, "batches": {}, "files": {}, "seconds": {}, "seconds_to_first_batch": {}, "bytes_read": {}, "#,
            r#""bytes_written": 0, "pool_peak_bytes": null, "rss_peak_bytes": {}, "allocations": {}, "#,
            r#""order": "arrival"}}"#
        ),
        head,
        seen.batches,
        seen.files,
        seconds,
        seen.first.map_or("null".to_string(), |first| first.to_string()),
        figures::bytes_read() - bytes_read,
        figures::peak_rss(),
        figures::allocations() - allocations,
    ))
}

async fn open(metadata: &str) -> Fallible<Table> {
    let name = TableIdent::from_strs(["peer", "table"])?;
    Ok(StaticTable::from_metadata_file(metadata, name, FileIO::new_with_fs()).await?.into_table())
}

fn scan(table: &Table, request: &Request) -> Fallible<TableScan> {
    let mut builder = table.scan();
    if !request.columns.is_empty() {
        builder = builder.select(&request.columns);
    }
    if let Some(text) = &request.filter {
        builder = builder.with_filter(parse_filter(text, &table.current_schema_ref())?);
    }
    Ok(builder.build()?)
}

/// Reads the planned files in tokio tasks, each with a reader of its own.
async fn read_in_lanes(table: &Table, scan: &TableScan, request: &Request, start: Instant) -> Fallible<Seen> {
    let tasks: Vec<FileScanTask> = scan.plan_files().await?.try_collect().await?;
    let lanes = if request.concurrency > 0 { request.concurrency } else { request.threads };
    let mut seen = Seen { files: tasks.len(), ..Seen::default() };
    let mut shares: Vec<Vec<iceberg::Result<FileScanTask>>> = (0..lanes).map(|_| Vec::new()).collect();
    for (i, task) in tasks.into_iter().enumerate() {
        shares[i % lanes].push(Ok(task));
    }
    let (sender, mut receiver) = mpsc::channel::<iceberg::Result<RecordBatch>>(2 * lanes);
    for share in shares {
        let batch_rows = if request.batch_rows > 0 { request.batch_rows } else { BATCH_ROWS };
        let reader = table.reader_builder().with_data_file_concurrency_limit(1).with_batch_size(batch_rows).build();
        let mut batches = reader.read(stream::iter(share).boxed())?.stream();
        let sender = sender.clone();
        tokio::spawn(async move {
            while let Some(batch) = batches.next().await {
                if sender.send(batch).await.is_err() {
                    return;
                }
            }
        });
    }
    drop(sender);
    while let Some(batch) = receiver.recv().await {
        let batch = batch?;
        seen.first.get_or_insert_with(|| start.elapsed().as_secs_f64());
        seen.rows += batch.num_rows();
        seen.batches += 1;
        if request.hash {
            seen.hash = seen.hash.wrapping_add(content_hash::hash(&batch, &request.columns)?);
        }
    }
    Ok(seen)
}

/// Takes terms "column op value" joined by " and "; text stands in single quotes.
fn parse_filter(text: &str, schema: &Schema) -> Fallible<Predicate> {
    let mut all = Predicate::AlwaysTrue;
    for term in text.split(" and ") {
        let words: Vec<_> = term.trim().splitn(3, ' ').collect();
        let [column, operator, value] = words[..] else {
            return Err(format!("not a filter term: {term:?}").into());
        };
        let field = schema.field_by_name(column).ok_or_else(|| format!("no column {column}"))?;
        let Type::Primitive(kind) = field.field_type.as_ref() else {
            return Err(format!("column {column} is nested").into());
        };
        let value = value.trim_matches('\'');
        let value = match kind {
            PrimitiveType::Int => Datum::int(value.parse::<i32>()?),
            PrimitiveType::Long => Datum::long(value.parse::<i64>()?),
            PrimitiveType::Float => Datum::float(value.parse::<f32>()?),
            PrimitiveType::Double => Datum::double(value.parse::<f64>()?),
            PrimitiveType::String => Datum::string(value),
            _ => return Err(format!("no filter on a column of type {kind}").into()),
        };
        let column = Reference::new(column);
        all = all.and(match operator {
            "=" => column.equal_to(value),
            "!=" => column.not_equal_to(value),
            "<" => column.less_than(value),
            "<=" => column.less_than_or_equal_to(value),
            ">" => column.greater_than(value),
            ">=" => column.greater_than_or_equal_to(value),
            _ => return Err(format!("not a filter operator: {operator:?}").into()),
        });
    }
    Ok(all)
}
