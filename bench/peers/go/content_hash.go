package main

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/cespare/xxhash/v2"
)

// contentHash is the sum of XXH64 over rows: for each column its index (u32), a null flag (u8) and, if there is one, the
// value: little-endian bytes of its width, or its length (u32) and bytes. src/frazil/columnar/content_hash.h defines it;
// this is written from that definition, so that the two check each other.
type contentHash struct {
	sum  uint64
	rows int64
}

func (h *contentHash) add(batch arrow.RecordBatch, order []int) error {
	appenders := make([]func([]byte, int) []byte, len(order))
	for i, column := range order {
		appender, err := valueAppender(batch.Column(column))
		if err != nil {
			return err
		}
		appenders[i] = appender
	}
	var row []byte
	for i := range int(batch.NumRows()) {
		row = row[:0]
		for index, column := range order {
			row = binary.LittleEndian.AppendUint32(row, uint32(index))
			if batch.Column(column).IsNull(i) {
				row = append(row, 1)
			} else {
				row = appenders[index](append(row, 0), i)
			}
		}
		h.sum += xxhash.Sum64(row)
	}
	h.rows += batch.NumRows()
	return nil
}

func valueAppender(column arrow.Array) (func([]byte, int) []byte, error) {
	little := binary.LittleEndian
	text := func(row []byte, value string) []byte {
		return append(little.AppendUint32(row, uint32(len(value))), value...)
	}
	blob := func(row, value []byte) []byte {
		return append(little.AppendUint32(row, uint32(len(value))), value...)
	}
	switch values := column.(type) {
	case *array.Boolean:
		return func(row []byte, i int) []byte {
			if values.Value(i) {
				return append(row, 1)
			}
			return append(row, 0)
		}, nil
	case *array.Int32:
		return func(row []byte, i int) []byte { return little.AppendUint32(row, uint32(values.Value(i))) }, nil
	case *array.Int64:
		return func(row []byte, i int) []byte { return little.AppendUint64(row, uint64(values.Value(i))) }, nil
	case *array.Float32:
		return func(row []byte, i int) []byte { return little.AppendUint32(row, math.Float32bits(values.Value(i))) }, nil
	case *array.Float64:
		return func(row []byte, i int) []byte { return little.AppendUint64(row, math.Float64bits(values.Value(i))) }, nil
	case *array.Date32:
		return func(row []byte, i int) []byte { return little.AppendUint32(row, uint32(values.Value(i))) }, nil
	case *array.Time64:
		return func(row []byte, i int) []byte { return little.AppendUint64(row, uint64(values.Value(i))) }, nil
	case *array.Timestamp:
		return func(row []byte, i int) []byte { return little.AppendUint64(row, uint64(values.Value(i))) }, nil
	case *array.Decimal128:
		return func(row []byte, i int) []byte {
			value := values.Value(i)
			return little.AppendUint64(little.AppendUint64(row, value.LowBits()), uint64(value.HighBits()))
		}, nil
	case *array.String:
		return func(row []byte, i int) []byte { return text(row, values.Value(i)) }, nil
	case *array.LargeString:
		return func(row []byte, i int) []byte { return text(row, values.Value(i)) }, nil
	case *array.Binary:
		return func(row []byte, i int) []byte { return blob(row, values.Value(i)) }, nil
	case *array.LargeBinary:
		return func(row []byte, i int) []byte { return blob(row, values.Value(i)) }, nil
	case *array.FixedSizeBinary:
		return func(row []byte, i int) []byte { return blob(row, values.Value(i)) }, nil
	}
	return nil, fmt.Errorf("no content hash for %s", column.DataType())
}
