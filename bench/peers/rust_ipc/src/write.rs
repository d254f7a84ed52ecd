use std::fs::File;
use std::io::{BufWriter, Write};

use arrow_array::RecordBatch;
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};

use crate::Fallible;
use crate::request::Request;
use crate::totals::Totals;

pub fn write(request: &Request, batches: &[RecordBatch]) -> Fallible<Totals> {
    let mut totals = Totals { files: 1, batches: batches.len(), ..Totals::default() };
    totals.rows = batches.iter().map(RecordBatch::num_rows).sum();
    totals.bytes_written = if request.to == "memory" {
        let mut bytes = Vec::new();
        write_to(request, batches, &mut bytes)?;
        std::hint::black_box(&bytes).len()
    } else {
        write_to(request, batches, BufWriter::new(File::create(&request.to)?))?;
        std::fs::metadata(&request.to)?.len() as usize
    };
    Ok(totals)
}

fn write_to(request: &Request, batches: &[RecordBatch], mut sink: impl Write) -> Fallible<()> {
    let compression = match request.codec.as_str() {
        "lz4" => Some(CompressionType::LZ4_FRAME),
        "zstd" => Some(CompressionType::ZSTD),
        _ => None,
    };
    let options = IpcWriteOptions::default().try_with_compression(compression)?;
    let schema = batches.first().ok_or("no batch")?.schema();
    if request.is_file {
        let mut writer = FileWriter::try_new_with_options(&mut sink, &schema, options)?;
        for batch in batches {
            writer.write(batch)?;
        }
        writer.finish()?;
    } else {
        let mut writer = StreamWriter::try_new_with_options(&mut sink, &schema, options)?;
        for batch in batches {
            writer.write(batch)?;
        }
        writer.finish()?;
    }
    Ok(sink.flush()?)
}
