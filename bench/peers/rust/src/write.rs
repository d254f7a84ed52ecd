//! One append to a table in a SQLite catalog, through the crate's fan-out writer.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use arrow_array::RecordBatch;
use iceberg::arrow::{RecordBatchPartitionSplitter, schema_to_arrow_schema};
use iceberg::io::LocalFsStorageFactory;
use iceberg::spec::{DataFile, DataFileFormat, PartitionKey};
use iceberg::table::Table;
use iceberg::transaction::{ApplyTransactionAction, Transaction};
use iceberg::writer::base_writer::data_file_writer::DataFileWriterBuilder;
use iceberg::writer::file_writer::ParquetWriterBuilder;
use iceberg::writer::file_writer::location_generator::{DefaultFileNameGenerator, DefaultLocationGenerator};
use iceberg::writer::file_writer::rolling_writer::RollingFileWriterBuilder;
use iceberg::writer::partitioning::PartitioningWriter;
use iceberg::writer::partitioning::fanout_writer::FanoutWriter;
use iceberg::{Catalog, CatalogBuilder, NamespaceIdent, TableCreation};
use iceberg_catalog_sql::{SqlBindStyle, SqlCatalog, SqlCatalogBuilder};
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use crate::request::positive;
use crate::{Fallible, figures, rows};

/// The words of an append; empty or zero means "not given".
pub struct WriteRequest {
    pub rows: usize,
    pub threads: usize,
    pub folder: String,
    pub partitions: usize,
    pub order: String,
    pub nested: bool,
    pub keep: bool,
}

impl WriteRequest {
    /// Of the words after `write`.
    pub fn parse(mut words: impl Iterator<Item = String>) -> Fallible<Self> {
        let mut request = WriteRequest {
            rows: 0,
            threads: 0,
            folder: String::new(),
            partitions: 0,
            order: "round-robin".to_string(),
            nested: false,
            keep: false,
        };
        let mut engine = String::new();
        while let Some(option) = words.next() {
            match option.as_str() {
                "--nested" => request.nested = true,
                "--keep" => request.keep = true,
                _ => {
                    let value = words.next().ok_or_else(|| format!("{option} needs a value"))?;
                    match option.as_str() {
                        "--engine" if value == "iceberg_rust_append" => engine = value,
                        "--rows" => request.rows = positive(&value)?,
                        "--threads" => request.threads = positive(&value)?,
                        "--folder" => request.folder = value,
                        "--partitions" => request.partitions = positive(&value)?,
                        "--order" if ["round-robin", "random", "clustered"].contains(&value.as_str()) => {
                            request.order = value
                        }
                        _ => return Err(format!("unknown: {option} {value}").into()),
                    }
                }
            }
        }
        if engine.is_empty() || request.rows == 0 || request.threads == 0 || request.folder.is_empty() {
            return Err("--engine, --rows, --threads and --folder are needed".into());
        }
        Ok(request)
    }
}

/// The result of one measurement as JSON.
pub async fn write(request: &WriteRequest) -> Fallible<String> {
    let stamp = SystemTime::now().duration_since(UNIX_EPOCH)?.as_nanos();
    let folder = Path::new(&request.folder).canonicalize()?.join(format!("frazil-bench-{stamp}"));
    std::fs::create_dir(&folder)?;
    let outcome = append(request, &folder).await;
    if !request.keep {
        std::fs::remove_dir_all(&folder)?;
    }
    outcome
}

async fn append(request: &WriteRequest, folder: &Path) -> Fallible<String> {
    let (catalog, table) = create_table(request, folder.to_str().ok_or("the folder's name is not UTF-8")?).await?;
    let schema = schema_to_arrow_schema(table.metadata().current_schema())?;
    let batch = rows::batch(request, Arc::new(schema))?;
    let old = files_below(folder)?;

    let allocations = figures::allocations();
    let start = Instant::now();
    let files = write_files(&table, &batch, request.threads).await?;
    let transaction = Transaction::new(&table);
    let action = transaction.fast_append().add_data_files(files);
    action.apply(transaction)?.commit(&catalog).await?;
    let seconds = start.elapsed().as_secs_f64();
    let allocations = figures::allocations() - allocations;

    let mut written = files_below(folder)?;
    written.retain(|path, _| !old.contains_key(path));
    Ok(format!(
        concat!(
            r#"{{"engine": "iceberg_rust_append", "threads": {}, "rows": {}, "seconds": {}, "files": {}, "bytes_read": null, "#,
            r#""bytes_written": {}, "pool_peak_bytes": null, "rss_peak_bytes": {}, "allocations": {}, "order": null}}"#
        ),
        request.threads,
        request.rows,
        seconds,
        written.keys().filter(|path| path.ends_with(".parquet")).count(),
        written.values().sum::<u64>(),
        figures::peak_rss(),
        allocations,
    ))
}

async fn create_table(request: &WriteRequest, folder: &str) -> Fallible<(SqlCatalog, Table)> {
    let catalog = SqlCatalogBuilder::default()
        .uri(format!("sqlite://{folder}/catalog.db?mode=rwc"))
        .warehouse_location(format!("file://{folder}/lake"))
        .sql_bind_style(SqlBindStyle::QMark)
        .with_storage_factory(Arc::new(LocalFsStorageFactory))
        .load("default", HashMap::new())
        .await?;
    let namespace = NamespaceIdent::new("bench".to_string());
    catalog.create_namespace(&namespace, HashMap::new()).await?;
    let creation = TableCreation::builder()
        .name("t".to_string())
        .location(format!("file://{folder}/lake/bench/t"))
        .schema(rows::schema(request)?)
        .partition_spec(rows::spec(request)?)
        .build();
    let table = catalog.create_table(&namespace, creation).await?;
    Ok((catalog, table))
}

/// Splits the batch by partition, which one thread does, and writes their files in a tokio task for each thread.
async fn write_files(table: &Table, batch: &RecordBatch, threads: usize) -> Fallible<Vec<DataFile>> {
    let metadata = table.metadata();
    let properties = WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default())).build();
    let files = RollingFileWriterBuilder::new_with_default_file_size(
        ParquetWriterBuilder::new(properties, metadata.current_schema().clone()),
        table.file_io().clone(),
        DefaultLocationGenerator::new(metadata)?,
        DefaultFileNameGenerator::new("data".to_string(), None, DataFileFormat::Parquet),
    );
    let splitter = RecordBatchPartitionSplitter::try_new_with_computed_values(
        metadata.current_schema().clone(),
        metadata.default_partition_spec().clone(),
    )?;
    let mut shares: Vec<Vec<(PartitionKey, RecordBatch)>> = vec![Vec::new(); threads];
    for (i, part) in splitter.split(batch)?.into_iter().enumerate() {
        shares[i % threads].push(part);
    }
    let mut lanes = Vec::new();
    for share in shares {
        let mut writer = FanoutWriter::new(DataFileWriterBuilder::new(files.clone()));
        lanes.push(tokio::spawn(async move {
            for (key, part) in share {
                writer.write(key, part).await?;
            }
            let files: iceberg::Result<Vec<DataFile>> = writer.close().await;
            files
        }));
    }
    let mut written = Vec::new();
    for lane in lanes {
        written.extend(lane.await??);
    }
    Ok(written)
}

/// The size of each file.
fn files_below(folder: &Path) -> Fallible<HashMap<String, u64>> {
    let mut sizes = HashMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            let info = entry.metadata()?;
            if info.is_dir() {
                folders.push(entry.path());
            } else {
                sizes.insert(entry.path().to_string_lossy().into_owned(), info.len());
            }
        }
    }
    Ok(sizes)
}
