package main

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/iceberg-go"
)

// The rows of job W, as peers/python/rows.py has them.

var (
	hosts  = []string{"example.com", "foo.test.org", "demo.net"}
	agents = []string{"Mozilla/5.0", "curl/7.68.0", "python-requests/2.25.1"}
)

func rowSchema(r *writeRequest) *iceberg.Schema {
	var fields []iceberg.NestedField
	add := func(name string, kind iceberg.Type, required bool) {
		fields = append(fields, iceberg.NestedField{ID: len(fields) + 1, Name: name, Type: kind, Required: required})
	}
	add("id", iceberg.PrimitiveTypes.Int64, true)
	add("ts", iceberg.PrimitiveTypes.TimestampTz, true)
	add("host", iceberg.PrimitiveTypes.String, true)
	add("status_code", iceberg.PrimitiveTypes.Int32, true)
	add("bytes_sent", iceberg.PrimitiveTypes.Int64, true)
	add("user_agent", iceberg.PrimitiveTypes.String, true)
	if r.partitions > 0 {
		add("part", iceberg.PrimitiveTypes.Int32, true)
	}
	if r.nested {
		add("tags", &iceberg.ListType{ElementID: 101, Element: iceberg.PrimitiveTypes.String}, false)
		add("point", &iceberg.StructType{FieldList: []iceberg.NestedField{
			{ID: 102, Name: "x", Type: iceberg.PrimitiveTypes.Float64},
			{ID: 103, Name: "y", Type: iceberg.PrimitiveTypes.Float64},
		}}, false)
		add("counts", &iceberg.MapType{
			KeyID: 104, KeyType: iceberg.PrimitiveTypes.String, ValueID: 105, ValueType: iceberg.PrimitiveTypes.Int64,
		}, false)
	}
	return iceberg.NewSchema(0, fields...)
}

// rowOrder has the number of the row at each place.
func rowOrder(r *writeRequest) []int64 {
	order := make([]int64, r.rows)
	for i := range order {
		order[i] = int64(i)
	}
	switch r.order {
	case "random":
		rand.New(rand.NewPCG(1, 1)).Shuffle(len(order), func(i, k int) { order[i], order[k] = order[k], order[i] })
	case "clustered":
		parts := int64(30)
		if r.partitions > 0 {
			parts = int64(r.partitions)
		}
		slices.SortStableFunc(order, func(a, b int64) int { return int(a%parts - b%parts) })
	}
	return order
}

func rowBatch(r *writeRequest, schema *arrow.Schema) arrow.RecordBatch {
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	b.Reserve(r.rows)
	start := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()
	const day = 24 * 60 * 60 * 1_000_000
	for _, i := range rowOrder(r) {
		b.Field(0).(*array.Int64Builder).Append(i)
		b.Field(1).(*array.TimestampBuilder).Append(arrow.Timestamp(start + i%10*day))
		b.Field(2).(*array.StringBuilder).Append(hosts[i%3])
		b.Field(3).(*array.Int32Builder).Append(int32(200 + i%5))
		b.Field(4).(*array.Int64Builder).Append(1000 + i%5000)
		b.Field(5).(*array.StringBuilder).Append(agents[i%3])
		next := 6
		if r.partitions > 0 {
			b.Field(next).(*array.Int32Builder).Append(int32(i % int64(r.partitions)))
			next++
		}
		if r.nested {
			appendNested(b, next, i)
		}
	}
	return b.NewRecordBatch()
}

func appendNested(b *array.RecordBuilder, at int, i int64) {
	tags := b.Field(at).(*array.ListBuilder)
	tags.Append(true)
	for place := range i % 4 {
		tags.ValueBuilder().(*array.StringBuilder).Append(agents[place])
	}
	point := b.Field(at + 1).(*array.StructBuilder)
	point.Append(true)
	point.FieldBuilder(0).(*array.Float64Builder).Append(float64(i) * 0.1)
	point.FieldBuilder(1).(*array.Float64Builder).Append(float64(i) * 0.2)
	counts := b.Field(at + 2).(*array.MapBuilder)
	counts.Append(true)
	for place := range i % 3 {
		counts.KeyBuilder().(*array.StringBuilder).Append(hosts[place])
		counts.ItemBuilder().(*array.Int64Builder).Append(i + place)
	}
}
