package main

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/io"
	"github.com/apache/iceberg-go/table"
)

func read(ctx context.Context, r *request) (map[string]any, error) {
	if r.count {
		return map[string]any{"not_offered": "iceberg-go has no count; its scan always reads columns"}, nil
	}
	options, err := scanOptions(r)
	if err != nil {
		return nil, err
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	bytesBefore := readBytes()
	start := time.Now()
	tbl, err := table.NewFromLocation(ctx, table.Identifier{"peer"}, r.metadata, io.LoadFSFunc(nil, r.metadata), nil)
	if err != nil {
		return nil, err
	}
	scan := tbl.Scan(options...)
	schema, stream, err := scan.ToArrowRecords(ctx)
	if err != nil {
		return nil, err
	}
	var hash contentHash
	var rows, batches int64
	var first any
	order, err := columnOrder(schema, r.columns)
	if err != nil {
		return nil, err
	}
	for batch, err := range stream {
		if err != nil {
			return nil, err
		}
		if batches == 0 {
			first = time.Since(start).Seconds()
		}
		batches++
		rows += batch.NumRows()
		if r.hash {
			if err := hash.add(batch, order); err != nil {
				return nil, err
			}
		}
		batch.Release()
	}
	seconds := time.Since(start).Seconds()
	bytesRead := readBytes() - bytesBefore
	runtime.ReadMemStats(&after)
	if err := scan.Close(); err != nil {
		return nil, err
	}
	result := map[string]any{"engine": r.engine, "threads": r.threads, "rows": rows}
	if r.hash {
		result["content_hash"] = fmt.Sprintf("%016x", hash.sum)
		return result, nil
	}
	result["batches"] = batches
	result["files"] = nil
	result["seconds"] = seconds
	result["seconds_to_first_batch"] = first
	result["bytes_read"] = bytesRead
	result["bytes_written"] = 0
	result["pool_peak_bytes"] = nil
	result["rss_peak_bytes"] = peakRSS()
	result["allocations"] = after.Mallocs - before.Mallocs
	result["order"] = "task"
	return result, nil
}

func scanOptions(r *request) ([]table.ScanOption, error) {
	var options []table.ScanOption
	if r.filter != "" {
		expression, err := parseFilter(r.filter)
		if err != nil {
			return nil, err
		}
		options = append(options, table.WithRowFilter(expression))
	}
	if r.concurrency > 0 {
		options = append(options, table.WithMaxConcurrency(r.concurrency))
	}
	if r.batchRows > 0 {
		options = append(options, table.WithArrowBatchSize(r.batchRows))
	}
	if len(r.columns) > 0 {
		options = append(options, table.WithSelectedFields(r.columns...))
	}
	return options, nil
}

// columnOrder tells where the asked-for columns are; the scan delivers them in the order of the table.
func columnOrder(schema *arrow.Schema, columns []string) ([]int, error) {
	var order []int
	if len(columns) == 0 {
		for i := range schema.NumFields() {
			order = append(order, i)
		}
	}
	for _, name := range columns {
		found := schema.FieldIndices(name)
		if len(found) != 1 {
			return nil, fmt.Errorf("no column %q", name)
		}
		order = append(order, found[0])
	}
	return order, nil
}

// parseFilter takes terms "column op value" joined by " and "; text stands in single quotes.
// iceberg-go casts the value to the column's type when it binds the filter.
func parseFilter(text string) (iceberg.BooleanExpression, error) {
	operations := map[string]iceberg.Operation{
		"=": iceberg.OpEQ, "!=": iceberg.OpNEQ,
		"<": iceberg.OpLT, "<=": iceberg.OpLTEQ, ">": iceberg.OpGT, ">=": iceberg.OpGTEQ,
	}
	var all iceberg.BooleanExpression = iceberg.AlwaysTrue{}
	for term := range strings.SplitSeq(text, " and ") {
		words := strings.SplitN(strings.TrimSpace(term), " ", 3)
		if len(words) != 3 {
			return nil, fmt.Errorf("not a filter term: %q", term)
		}
		operation, known := operations[words[1]]
		if !known {
			return nil, fmt.Errorf("not a filter operator: %q", words[1])
		}
		value := iceberg.NewLiteral(strings.Trim(words[2], "'"))
		all = iceberg.NewAnd(all, iceberg.LiteralPredicate(operation, iceberg.Reference(words[0]), value))
	}
	return all, nil
}
