use crate::Fallible;

/// The words of a measurement.
pub struct Request {
    pub write: bool,
    pub engine: String,
    pub path: String,
    pub is_file: bool,
    pub input: String,
    pub threads: usize,
    pub operations: usize,
    pub touch: bool,
    pub validate: bool,
    pub column: Option<usize>,
    pub first_batch: bool,
    pub hash: bool,
    pub to: String,
    pub codec: String,
}

impl Request {
    pub fn parse(mut words: impl Iterator<Item = String>) -> Fallible<Self> {
        let write = match words.next().as_deref() {
            Some("read") => false,
            Some("write") => true,
            _ => return Err("the first word must be read or write".into()),
        };
        let mut request = Request {
            write,
            engine: String::new(),
            path: String::new(),
            is_file: false,
            input: String::new(),
            threads: 0,
            operations: 0,
            touch: false,
            validate: false,
            column: None,
            first_batch: false,
            hash: false,
            to: "memory".to_string(),
            codec: String::new(),
        };
        while let Some(option) = words.next() {
            match option.as_str() {
                "--touch" => request.touch = true,
                "--first-batch" => request.first_batch = true,
                "--hash" => request.hash = true,
                _ => {
                    let value = words.next().ok_or_else(|| format!("{option} needs a value"))?;
                    match option.as_str() {
                        "--engine" => request.engine = value,
                        "--path" => request.path = value,
                        "--format" => request.is_file = value == "file",
                        "--input" => request.input = value,
                        "--threads" => request.threads = value.parse()?,
                        "--operations" => request.operations = value.parse()?,
                        "--validation" => request.validate = value == "full",
                        "--column" => request.column = Some(value.parse()?),
                        "--to" => request.to = value,
                        "--codec" => request.codec = value,
                        _ => return Err(format!("unknown: {option} {value}").into()),
                    }
                }
            }
        }
        if request.path.is_empty() || request.threads == 0 || request.operations == 0 {
            return Err("--path, --threads and --operations are needed".into());
        }
        Ok(request)
    }
}
