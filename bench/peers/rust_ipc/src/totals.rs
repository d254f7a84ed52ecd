//! What an operation delivered.

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
