use std::str::FromStr;

use crate::Fallible;

/// The words of a reading; empty or zero means "not given".
#[derive(Default)]
pub struct Request {
    pub engine: String,
    pub metadata: String,
    pub threads: usize,
    pub columns: Vec<String>,
    pub filter: Option<String>,
    pub count: bool,
    pub hash: bool,
    pub batch_rows: usize,
    pub concurrency: usize,
}

impl Request {
    /// Of the words after `read`.
    pub fn parse(mut words: impl Iterator<Item = String>) -> Fallible<Self> {
        let mut request = Request::default();
        while let Some(option) = words.next() {
            match option.as_str() {
                "--count" => request.count = true,
                "--hash" => request.hash = true,
                _ => {
                    let value = words.next().ok_or_else(|| format!("{option} needs a value"))?;
                    match option.as_str() {
                        "--engine" if ["iceberg_rust", "arrow_rs"].contains(&value.as_str()) => request.engine = value,
                        "--metadata" => request.metadata = value,
                        "--threads" => request.threads = positive(&value)?,
                        "--columns" => request.columns = value.split(',').map(str::to_string).collect(),
                        "--filter" => request.filter = Some(value),
                        "--batch-rows" => request.batch_rows = positive(&value)?,
                        "--concurrency" => request.concurrency = positive(&value)?,
                        _ => return Err(format!("unknown: {option} {value}").into()),
                    }
                }
            }
        }
        if request.engine.is_empty() || request.metadata.is_empty() || request.threads == 0 {
            return Err("--engine, --metadata and --threads are needed".into());
        }
        Ok(request)
    }
}

pub fn positive(text: &str) -> Fallible<usize> {
    match usize::from_str(text)? {
        0 => Err("a number must be positive".into()),
        number => Ok(number),
    }
}
