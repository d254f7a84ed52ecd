//! The rows of job W, as peers/python/rows.py has them.

use std::sync::Arc;

use arrow_array::builder::{BufferBuilder, StringBuilder};
use arrow_array::{
    ArrayRef, Float64Array, Int32Array, Int64Array, ListArray, MapArray, RecordBatch, StringArray, StructArray,
    TimestampMicrosecondArray,
};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{DataType, SchemaRef};
use iceberg::spec::{
    ListType, MapType, NestedField, PrimitiveType, Schema, StructType, Transform, Type, UnboundPartitionSpec,
};

use crate::Fallible;
use crate::write::WriteRequest;

const HOSTS: [&str; 3] = ["example.com", "foo.test.org", "demo.net"];
const AGENTS: [&str; 3] = ["Mozilla/5.0", "curl/7.68.0", "python-requests/2.25.1"];
const FIRST_OF_2024_MICROS: i64 = 1_704_067_200_000_000;
const DAY_MICROS: i64 = 24 * 60 * 60 * 1_000_000;
const PART_ID: i32 = 7;

pub fn schema(request: &WriteRequest) -> Fallible<Schema> {
    let primitive = Type::Primitive;
    let mut fields = vec![
        NestedField::required(1, "id", primitive(PrimitiveType::Long)),
        NestedField::required(2, "ts", primitive(PrimitiveType::Timestamptz)),
        NestedField::required(3, "host", primitive(PrimitiveType::String)),
        NestedField::required(4, "status_code", primitive(PrimitiveType::Int)),
        NestedField::required(5, "bytes_sent", primitive(PrimitiveType::Long)),
        NestedField::required(6, "user_agent", primitive(PrimitiveType::String)),
    ];
    if request.partitions > 0 {
        fields.push(NestedField::required(PART_ID, "part", primitive(PrimitiveType::Int)));
    }
    if request.nested {
        let element = NestedField::list_element(11, primitive(PrimitiveType::String), false);
        fields.push(NestedField::optional(8, "tags", Type::List(ListType::new(element.into()))));
        let point = ["x", "y"]
            .into_iter()
            .zip(12..)
            .map(|(name, id)| NestedField::optional(id, name, primitive(PrimitiveType::Double)).into());
        fields.push(NestedField::optional(9, "point", Type::Struct(StructType::new(point.collect()))));
        let key = NestedField::map_key_element(14, primitive(PrimitiveType::String));
        let value = NestedField::map_value_element(15, primitive(PrimitiveType::Long), false);
        fields.push(NestedField::optional(10, "counts", Type::Map(MapType::new(key.into(), value.into()))));
    }
    Ok(Schema::builder().with_fields(fields.into_iter().map(Arc::new)).build()?)
}

pub fn spec(request: &WriteRequest) -> Fallible<UnboundPartitionSpec> {
    let spec = UnboundPartitionSpec::builder();
    if request.partitions > 0 {
        return Ok(spec.add_partition_field(PART_ID, "part_value", Transform::Identity)?.build());
    }
    Ok(spec
        .add_partition_field(2, "ts_day", Transform::Day)?
        .add_partition_field(3, "host_value", Transform::Identity)?
        .build())
}

/// The number of the row at each place.
fn order(request: &WriteRequest) -> Vec<i64> {
    let mut order: Vec<i64> = (0..request.rows as i64).collect();
    match request.order.as_str() {
        "random" => {
            let mut state: u64 = 1;
            for i in (1..order.len()).rev() {
                // Knuth's MMIX generator.
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                order.swap(i, ((state >> 33) as usize) % (i + 1));
            }
        }
        "clustered" => {
            let parts = if request.partitions > 0 { request.partitions as i64 } else { 30 };
            order.sort_by_key(|i| i % parts);
        }
        _ => {}
    }
    order
}

/// `schema` is that of the table, whose fields have ids.
pub fn batch(request: &WriteRequest, schema: SchemaRef) -> Fallible<RecordBatch> {
    let order = order(request);
    let i = || order.iter().copied();
    let mut columns: Vec<ArrayRef> = vec![
        Arc::new(Int64Array::from_iter_values(i())),
        Arc::new(
            TimestampMicrosecondArray::from_iter_values(i().map(|i| FIRST_OF_2024_MICROS + i % 10 * DAY_MICROS))
                .with_timezone("+00:00"),
        ),
        Arc::new(StringArray::from_iter_values(i().map(|i| HOSTS[(i % 3) as usize]))),
        Arc::new(Int32Array::from_iter_values(i().map(|i| 200 + (i % 5) as i32))),
        Arc::new(Int64Array::from_iter_values(i().map(|i| 1000 + i % 5000))),
        Arc::new(StringArray::from_iter_values(i().map(|i| AGENTS[(i % 3) as usize]))),
    ];
    if request.partitions > 0 {
        columns.push(Arc::new(Int32Array::from_iter_values(i().map(|i| (i % request.partitions as i64) as i32))));
    }
    if request.nested {
        let kind = |place: usize| schema.field(columns.len() + place).data_type().clone();
        let nested = [tags(&order, &kind(0))?, point(&order, &kind(1))?, counts(&order, &kind(2))?];
        columns.extend(nested);
    }
    Ok(RecordBatch::try_new(schema, columns)?)
}

fn offsets(lengths: impl Iterator<Item = i64>) -> OffsetBuffer<i32> {
    OffsetBuffer::from_lengths(lengths.map(|length| length as usize))
}

fn tags(order: &[i64], kind: &DataType) -> Fallible<ArrayRef> {
    let DataType::List(element) = kind else { return Err("tags are no list".into()) };
    let mut values = StringBuilder::new();
    for i in order {
        AGENTS.iter().take((i % 4) as usize).for_each(|agent| values.append_value(agent));
    }
    let offsets = offsets(order.iter().map(|i| i % 4));
    Ok(Arc::new(ListArray::try_new(element.clone(), offsets, Arc::new(values.finish()), None)?))
}

fn point(order: &[i64], kind: &DataType) -> Fallible<ArrayRef> {
    let DataType::Struct(fields) = kind else { return Err("point is no struct".into()) };
    let axis =
        |scale: f64| -> ArrayRef { Arc::new(Float64Array::from_iter_values(order.iter().map(|i| *i as f64 * scale))) };
    Ok(Arc::new(StructArray::try_new(fields.clone(), vec![axis(0.1), axis(0.2)], None)?))
}

fn counts(order: &[i64], kind: &DataType) -> Fallible<ArrayRef> {
    let DataType::Map(entries, _) = kind else { return Err("counts are no map".into()) };
    let DataType::Struct(fields) = entries.data_type() else { return Err("a map without entries".into()) };
    let mut keys = StringBuilder::new();
    let mut values = BufferBuilder::<i64>::new(order.len());
    for i in order {
        for place in 0..i % 3 {
            keys.append_value(HOSTS[place as usize]);
            values.append(i + place);
        }
    }
    let values = Int64Array::new(values.finish().into(), None);
    let pairs = StructArray::try_new(fields.clone(), vec![Arc::new(keys.finish()), Arc::new(values)], None)?;
    Ok(Arc::new(MapArray::try_new(entries.clone(), offsets(order.iter().map(|i| i % 3)), pairs, None, false)?))
}
