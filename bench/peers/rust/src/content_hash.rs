//! The content hash: the sum of XXH64 over rows. A row is, for each column, its index (u32), a null flag (u8) and, if
//! there is one, the value: little-endian bytes of its width, or its length (u32) and bytes.
//! src/frazil/columnar/content_hash.h defines it; this is written from that definition, so that the two check each other.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int32Type, Int64Type,
    Time64MicrosecondType, TimestampMicrosecondType, TimestampNanosecondType,
};
use arrow_array::{Array, RecordBatch, StructArray};
use arrow_schema::{DataType, TimeUnit};
use twox_hash::XxHash64;

use crate::Fallible;

type Append<'a> = Box<dyn Fn(&mut Vec<u8>, usize) + 'a>;

/// The hash of a batch; `columns` gives their order, empty means that of the batch.
pub fn hash(batch: &RecordBatch, columns: &[String]) -> Fallible<u64> {
    let arrays: Vec<&dyn Array> = if columns.is_empty() {
        batch.columns().iter().map(|column| &**column).collect()
    } else {
        let find = |name: &String| batch.column_by_name(name).map(|column| &**column);
        columns.iter().map(|name| find(name).ok_or_else(|| format!("no column {name}"))).collect::<Result<_, _>>()?
    };
    let appends = arrays.iter().map(|array| append_nullable(*array)).collect::<Fallible<Vec<_>>>()?;
    let mut sum = 0_u64;
    let mut row = Vec::new();
    for i in 0..batch.num_rows() {
        row.clear();
        for (index, append) in appends.iter().enumerate() {
            row.extend_from_slice(&(index as u32).to_le_bytes());
            append(&mut row, i);
        }
        sum = sum.wrapping_add(XxHash64::oneshot(0, &row));
    }
    Ok(sum)
}

fn append_nullable(array: &dyn Array) -> Fallible<Append<'_>> {
    let append = append_value(array)?;
    Ok(Box::new(move |row, i| {
        row.push(u8::from(array.is_null(i)));
        if array.is_valid(i) {
            append(row, i);
        }
    }))
}

/// The elements between two offsets, after their count.
fn append_elements<'a>(offsets: &'a [i32], append: Append<'a>) -> Append<'a> {
    Box::new(move |row, i| {
        let (first, end) = (offsets[i], offsets[i + 1]);
        row.extend_from_slice(&((end - first) as u32).to_le_bytes());
        (first..end).for_each(|element| append(row, element as usize));
    })
}

fn append_fields(fields: &StructArray) -> Fallible<Append<'_>> {
    let appends = fields.columns().iter().map(|field| append_nullable(&**field)).collect::<Fallible<Vec<_>>>()?;
    Ok(Box::new(move |row, i| appends.iter().for_each(|append| append(row, i))))
}

fn append_value(array: &dyn Array) -> Fallible<Append<'_>> {
    fn fixed<T: ArrowPrimitiveType, const N: usize>(array: &dyn Array, bytes: fn(T::Native) -> [u8; N]) -> Append<'_> {
        let values = array.as_primitive::<T>();
        Box::new(move |row, i| row.extend_from_slice(&bytes(values.value(i))))
    }
    fn sized<'a>(value: impl Fn(usize) -> &'a [u8] + 'a) -> Append<'a> {
        Box::new(move |row, i| {
            let bytes = value(i);
            row.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
            row.extend_from_slice(bytes);
        })
    }
    Ok(match array.data_type() {
        DataType::Boolean => {
            let values = array.as_boolean();
            Box::new(move |row, i| row.push(u8::from(values.value(i))))
        }
        DataType::Int32 => fixed::<Int32Type, 4>(array, i32::to_le_bytes),
        DataType::Int64 => fixed::<Int64Type, 8>(array, i64::to_le_bytes),
        DataType::Float32 => fixed::<Float32Type, 4>(array, f32::to_le_bytes),
        DataType::Float64 => fixed::<Float64Type, 8>(array, f64::to_le_bytes),
        DataType::Date32 => fixed::<Date32Type, 4>(array, i32::to_le_bytes),
        DataType::Time64(TimeUnit::Microsecond) => fixed::<Time64MicrosecondType, 8>(array, i64::to_le_bytes),
        DataType::Timestamp(TimeUnit::Microsecond, _) => fixed::<TimestampMicrosecondType, 8>(array, i64::to_le_bytes),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => fixed::<TimestampNanosecondType, 8>(array, i64::to_le_bytes),
        DataType::Decimal128(_, _) => fixed::<Decimal128Type, 16>(array, i128::to_le_bytes),
        DataType::Utf8 => sized(|i| array.as_string::<i32>().value(i).as_bytes()),
        DataType::LargeUtf8 => sized(|i| array.as_string::<i64>().value(i).as_bytes()),
        DataType::Utf8View => sized(|i| array.as_string_view().value(i).as_bytes()),
        DataType::Binary => sized(|i| array.as_binary::<i32>().value(i)),
        DataType::LargeBinary => sized(|i| array.as_binary::<i64>().value(i)),
        DataType::BinaryView => sized(|i| array.as_binary_view().value(i)),
        DataType::FixedSizeBinary(_) => sized(|i| array.as_fixed_size_binary().value(i)),
        DataType::List(_) => {
            let list = array.as_list::<i32>();
            append_elements(list.value_offsets(), append_nullable(&**list.values())?)
        }
        DataType::Map(_, _) => {
            let map = array.as_map();
            append_elements(map.value_offsets(), append_fields(map.entries())?) // no flag: an entry is never null
        }
        DataType::Struct(_) => append_fields(array.as_struct())?,
        other => return Err(format!("no content hash for {other}").into()),
    })
}
