use std::fs::File;
use std::io::{BufReader, Cursor, Read, Write};

use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::{FileDecoder, FileReader, StreamDecoder, StreamReader, read_footer_length};
use arrow_ipc::root_as_footer;

use crate::Fallible;
use crate::request::Request;
use crate::totals::Totals;

/// What is read: the files, and the bytes of those that are taken from memory.
pub struct Inputs<'a> {
    request: &'a Request,
    is_file: bool,
    paths: Vec<String>,
    bytes: Vec<Buffer>,
}

impl<'a> Inputs<'a> {
    pub fn open(request: &'a Request) -> Fallible<Self> {
        let mut paths = Vec::new();
        if std::fs::metadata(&request.path)?.is_dir() {
            for entry in std::fs::read_dir(&request.path)? {
                let path = entry?.path();
                if path.extension().is_some_and(|extension| extension == "arrow") {
                    paths.push(path.to_string_lossy().into_owned());
                }
            }
            paths.sort();
        } else {
            paths.push(request.path.clone());
        }
        let mut bytes = Vec::new();
        if request.input == "memory" || request.input == "pipe" {
            for path in &paths {
                bytes.push(Buffer::from_vec(std::fs::read(path)?));
            }
        }
        // What is written again comes from a stream.
        Ok(Inputs { request, is_file: request.is_file && !request.write, paths, bytes })
    }

    pub fn read_all(&self) -> Fallible<Totals> {
        let mut totals = Totals::default();
        self.read(&mut |batch| {
            totals.batches += 1;
            totals.rows += batch.num_rows();
            totals.take(&batch, self.request.touch);
        })?;
        totals.files = self.paths.len();
        Ok(totals)
    }

    pub fn batches(&self) -> Fallible<Vec<RecordBatch>> {
        let mut batches = Vec::new();
        self.read(&mut |batch| batches.push(batch))?;
        Ok(batches)
    }

    fn read(&self, take: &mut impl FnMut(RecordBatch)) -> Fallible<()> {
        for number in 0..self.paths.len() {
            match self.request.input.as_str() {
                "memory" => self.decode(&self.bytes[number], take)?,
                "mmap" => {
                    // SAFETY: nobody writes the benchmark's files.
                    let mapping = unsafe { memmap2::Mmap::map(&File::open(&self.paths[number])?)? };
                    self.decode(&Buffer::from(bytes::Bytes::from_owner(mapping)), take)?;
                }
                "pipe" => self.read_pipe(&self.bytes[number], take)?,
                _ if self.is_file => self.read_file(File::open(&self.paths[number])?, take)?,
                _ => self.read_stream(File::open(&self.paths[number])?, take)?,
            }
        }
        Ok(())
    }

    fn skips_validation(&self) -> bool {
        !self.request.validate
    }

    fn projection(&self) -> Option<Vec<usize>> {
        self.request.column.map(|column| vec![column])
    }

    /// Batches that share `bytes`.
    fn decode(&self, bytes: &Buffer, take: &mut impl FnMut(RecordBatch)) -> Fallible<()> {
        if self.is_file {
            return self.decode_file(bytes, take);
        }
        if self.request.column.is_some() {
            return self.read_stream(Cursor::new(bytes.as_slice()), take);
        }
        let mut rest = bytes.clone();
        // SAFETY: the benchmark's files come from a trusted writer.
        let mut decoder = unsafe { StreamDecoder::new().with_skip_validation(self.skips_validation()) };
        while let Some(batch) = decoder.decode(&mut rest)? {
            take(batch);
            if self.request.first_batch {
                return Ok(());
            }
        }
        Ok(decoder.finish()?)
    }

    fn decode_file(&self, bytes: &Buffer, take: &mut impl FnMut(RecordBatch)) -> Fallible<()> {
        let trailer = bytes.len().checked_sub(10).ok_or("too short for a footer")?;
        let footer_length = read_footer_length(bytes[trailer..].try_into()?)?;
        let start = trailer.checked_sub(footer_length).ok_or("the footer is longer than the file")?;
        let footer = root_as_footer(&bytes[start..trailer]).map_err(|error| format!("bad footer: {error:?}"))?;
        let schema = try_fb_to_schema(footer.schema().ok_or("the footer has no schema")?)?;
        let mut decoder = FileDecoder::new(schema.into(), footer.version());
        if let Some(projection) = self.projection() {
            decoder = decoder.with_projection(projection);
        }
        // SAFETY: the benchmark's files come from a trusted writer.
        let mut decoder = unsafe { decoder.with_skip_validation(self.skips_validation()) };
        let slice = |block: &arrow_ipc::Block| {
            let length = block.metaDataLength() as usize + block.bodyLength() as usize;
            bytes.slice_with_length(block.offset() as usize, length)
        };
        for block in footer.dictionaries().iter().flatten() {
            decoder.read_dictionary(block, &slice(block))?;
        }
        for block in footer.recordBatches().iter().flatten() {
            if let Some(batch) = decoder.read_record_batch(block, &slice(block))? {
                take(batch);
            }
            if self.request.first_batch {
                break;
            }
        }
        Ok(())
    }

    fn read_pipe(&self, bytes: &Buffer, take: &mut impl FnMut(RecordBatch)) -> Fallible<()> {
        let (reader, mut writer) = std::io::pipe()?;
        std::thread::scope(|scope| {
            scope.spawn(move || {
                for chunk in bytes.as_slice().chunks(1 << 20) {
                    if writer.write_all(chunk).is_err() {
                        break;
                    }
                }
            });
            self.read_stream(reader, take)
        })
    }

    fn read_stream(&self, input: impl Read, take: &mut impl FnMut(RecordBatch)) -> Fallible<()> {
        let reader = StreamReader::try_new(BufReader::new(input), self.projection())?;
        // SAFETY: the benchmark's files come from a trusted writer.
        for batch in unsafe { reader.with_skip_validation(self.skips_validation()) } {
            take(batch?);
            if self.request.first_batch {
                break;
            }
        }
        Ok(())
    }

    fn read_file(&self, file: File, take: &mut impl FnMut(RecordBatch)) -> Fallible<()> {
        let reader = FileReader::try_new(BufReader::new(file), self.projection())?;
        // SAFETY: the benchmark's files come from a trusted writer.
        for batch in unsafe { reader.with_skip_validation(self.skips_validation()) } {
            take(batch?);
            if self.request.first_batch {
                break;
            }
        }
        Ok(())
    }
}
