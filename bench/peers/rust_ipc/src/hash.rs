//! The content hash of batches, through the library of bench/content_hash, which takes an Arrow C stream.

use std::ffi::{CStr, CString, c_char, c_int, c_void};

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchIterator};

use crate::Fallible;

unsafe extern "C" {
    fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}
const RTLD_NOW: c_int = 2;

type HashStream = unsafe extern "C" fn(*mut FFI_ArrowArrayStream, *mut u64, *mut i64, *mut c_char, usize) -> c_int;

/// (hash, rows)
pub fn content_hash(batches: Vec<RecordBatch>) -> Fallible<(u64, i64)> {
    let path = CString::new(std::env::var("FRAZIL_CONTENT_HASH").map_err(|_| "FRAZIL_CONTENT_HASH names no library")?)?;
    let schema = batches.first().ok_or("no batch")?.schema();
    let reader = RecordBatchIterator::new(batches.into_iter().map(Ok), schema);
    let mut stream = FFI_ArrowArrayStream::new(Box::new(reader));
    let (mut sum, mut rows) = (0_u64, 0_i64);
    let mut error = [0 as c_char; 1024];
    // SAFETY: the library is ours and has a function of this name and type; it releases the stream and leaves it empty.
    unsafe {
        let library = dlopen(path.as_ptr(), RTLD_NOW);
        let function = if library.is_null() { library } else { dlsym(library, c"frazil_content_hash_stream".as_ptr()) };
        if function.is_null() {
            return Err("no library of content hashes there".into());
        }
        let hash: HashStream = std::mem::transmute(function);
        if hash(&mut stream, &mut sum, &mut rows, error.as_mut_ptr(), error.len()) != 0 {
            return Err(format!("content hash: {}", CStr::from_ptr(error.as_ptr()).to_string_lossy()).into());
        }
    }
    Ok((sum, rows))
}
