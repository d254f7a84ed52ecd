//! The readers and writers of arrow-rs as a library for ../differential.py, which hands batches over by the C stream
//! interface. Functions give 0, or -1 and `arrow_rs_last_error` has the text.

use std::any::Any;
use std::cell::RefCell;
use std::error::Error;
use std::ffi::{CStr, CString, c_char, c_int};
use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::{RecordBatch, RecordBatchIterator, RecordBatchReader};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_ipc::writer::{DictionaryHandling, FileWriter, IpcWriteOptions, StreamWriter};
use arrow_ipc::{CompressionType, MetadataVersion};
use arrow_schema::{ArrowError, SchemaRef};

type Fallible<T> = Result<T, Box<dyn Error>>;

thread_local! {
    static LAST_ERROR: RefCell<CString> = RefCell::default();
}

fn text_of(panic: &(dyn Any + Send)) -> String {
    let text =
        panic.downcast_ref::<&str>().map(|text| text.to_string()).or_else(|| panic.downcast_ref::<String>().cloned());
    format!("panic: {}", text.unwrap_or_default())
}

fn guarded(body: impl FnOnce() -> Fallible<()>) -> c_int {
    let text = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => return 0,
        Ok(Err(error)) => error.to_string(),
        Err(panic) => text_of(&*panic),
    };
    LAST_ERROR.set(CString::new(text.replace('\0', " ")).unwrap_or_default());
    -1
}

#[unsafe(no_mangle)]
pub extern "C" fn arrow_rs_last_error() -> *const c_char {
    LAST_ERROR.with_borrow(|text| text.as_ptr())
}

/// # Safety
/// `path` is a C string, `out` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn arrow_rs_read(path: *const c_char, is_file: c_int, out: *mut FFI_ArrowArrayStream) -> c_int {
    guarded(|| {
        // SAFETY: as the caller promised.
        let input = BufReader::new(File::open(unsafe { CStr::from_ptr(path) }.to_str()?)?);
        let (schema, batches) = if is_file != 0 {
            let reader = FileReader::try_new(input, None)?;
            (reader.schema(), reader.collect::<Result<Vec<_>, _>>()?)
        } else {
            let reader = StreamReader::try_new(input, None)?;
            (reader.schema(), reader.collect::<Result<Vec<_>, _>>()?)
        };
        let stream = FFI_ArrowArrayStream::new(Box::new(RecordBatchIterator::new(batches.into_iter().map(Ok), schema)));
        // SAFETY: as the caller promised.
        unsafe { out.write(stream) };
        Ok(())
    })
}

/// Takes the batches of `input`. `codec`: 0 none, 6 zstd, 8 lz4, as in frazil_write.
///
/// # Safety
/// `input` is a stream, `path` a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn arrow_rs_write(
    input: *mut FFI_ArrowArrayStream,
    path: *const c_char,
    is_file: c_int,
    codec: c_int,
    alignment: c_int,
    has_deltas: c_int,
    version4: c_int,
) -> c_int {
    guarded(|| {
        // SAFETY: as the caller promised.
        let (reader, path) = unsafe { (RecordBatchStreamReader::from_raw(input)?, CStr::from_ptr(path).to_str()?) };
        let version = if version4 != 0 { MetadataVersion::V4 } else { MetadataVersion::V5 };
        let compression = match codec {
            6 => Some(CompressionType::ZSTD),
            8 => Some(CompressionType::LZ4_FRAME),
            _ => None,
        };
        let dictionaries = if has_deltas != 0 { DictionaryHandling::Delta } else { DictionaryHandling::Resend };
        let options = IpcWriteOptions::try_new(usize::try_from(alignment)?, false, version)?
            .try_with_compression(compression)?
            .with_dictionary_handling(dictionaries);
        let schema = reader.schema();
        write(reader, &schema, is_file != 0, options, BufWriter::new(File::create(path)?))
    })
}

fn write(
    batches: impl Iterator<Item = Result<RecordBatch, ArrowError>>,
    schema: &SchemaRef,
    is_file: bool,
    options: IpcWriteOptions,
    mut sink: impl Write,
) -> Fallible<()> {
    if is_file {
        let mut writer = FileWriter::try_new_with_options(&mut sink, schema, options)?;
        for batch in batches {
            writer.write(&batch?)?;
        }
        writer.finish()?;
    } else {
        let mut writer = StreamWriter::try_new_with_options(&mut sink, schema, options)?;
        for batch in batches {
            writer.write(&batch?)?;
        }
        writer.finish()?;
    }
    Ok(sink.flush()?)
}
