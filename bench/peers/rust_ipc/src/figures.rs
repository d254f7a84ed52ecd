//! What an operation delivered, and what the kernel and the allocator tell about this process.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use arrow_array::{Array, RecordBatch};

/// `check` depends on where arrays lie, so that nothing is optimised away; `byte_sum` on what buffers hold, if values are
/// touched.
#[derive(Default)]
pub struct Totals {
    pub rows: usize,
    pub batches: usize,
    pub files: usize,
    pub bytes_written: usize,
    pub check: u64,
    pub byte_sum: u64,
}

impl Totals {
    pub fn take(&mut self, batch: &RecordBatch, touch: bool) {
        for column in batch.columns() {
            // The arrays hold their buffers as they are; a list of them is made where they are looked into.
            self.check = self.check.wrapping_add(column.as_ref() as *const dyn Array as *const u8 as u64);
            if !touch {
                continue;
            }
            let data = column.to_data();
            if let Some(nulls) = data.nulls() {
                self.byte_sum = self.byte_sum.wrapping_add(word_sum(nulls.buffer().as_slice()));
            }
            let mut all = vec![&data];
            all.extend(data.child_data());
            for buffer in all.iter().flat_map(|data| data.buffers()) {
                self.byte_sum = self.byte_sum.wrapping_add(word_sum(buffer.as_slice()));
            }
        }
    }
}

/// The sum of the 8-byte words, modulo 2^64.
fn word_sum(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let sum = words.iter().fold(0_u64, |sum, word| sum.wrapping_add(u64::from_le_bytes(*word)));
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    sum.wrapping_add(u64::from_le_bytes(last))
}

/// What went through read(2) and its kin, from the page cache and pipes too.
pub fn bytes_read() -> u64 {
    proc_figure("/proc/self/io", "rchar:")
}

pub fn peak_rss() -> u64 {
    proc_figure("/proc/self/status", "VmHWM:") * 1024
}

fn proc_figure(file: &str, key: &str) -> u64 {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    text.lines()
        .find_map(|line| line.strip_prefix(key))
        .and_then(|rest| rest.split_whitespace().next())
        .and_then(|figure| figure.parse().ok())
        .unwrap_or(0)
}

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

/// Calls of the allocator for new memory so far. All peers count theirs in this way while they are timed.
pub fn allocations() -> u64 {
    ALLOCATIONS.load(Relaxed)
}

struct Counting;

// SAFETY: every call goes to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Relaxed);
        unsafe { System.alloc(layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Relaxed);
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Relaxed);
        unsafe { System.realloc(at, layout, size) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;
