package main

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/catalog"
	sqlcatalog "github.com/apache/iceberg-go/catalog/sql"
	"github.com/apache/iceberg-go/config"
	"github.com/apache/iceberg-go/table"
	_ "modernc.org/sqlite"
)

// writeRequest holds the words of an append; zero means "not given".
type writeRequest struct {
	engine     string
	rows       int
	threads    int
	folder     string
	partitions int
	order      string
	nested     bool
	keep       bool
}

func parseWrite(words []string) (*writeRequest, error) {
	var r writeRequest
	flags := flag.NewFlagSet("write", flag.ContinueOnError)
	flags.StringVar(&r.engine, "engine", "", "iceberg_go_append")
	flags.IntVar(&r.rows, "rows", 0, "rows to append")
	flags.IntVar(&r.threads, "threads", 0, "GOMAXPROCS, and workers of iceberg-go")
	flags.StringVar(&r.folder, "folder", "", "where a folder for catalog and table is made")
	flags.IntVar(&r.partitions, "partitions", 0, "partitions of a column; without it days and hosts")
	flags.StringVar(&r.order, "order", "round-robin", "round-robin, random or clustered")
	flags.BoolVar(&r.nested, "nested", false, "with a list, a struct and a map")
	flags.BoolVar(&r.keep, "keep", false, "remove nothing")
	if err := flags.Parse(words); err != nil {
		return nil, err
	}
	switch {
	case flags.NArg() != 0:
		return nil, fmt.Errorf("unexpected %q", flags.Arg(0))
	case r.engine != "iceberg_go_append":
		return nil, fmt.Errorf("no engine %q here", r.engine)
	case r.rows < 1 || r.threads < 1 || r.folder == "":
		return nil, errors.New("--rows, --threads and --folder are needed")
	case r.partitions < 0:
		return nil, errors.New("--partitions must be positive")
	case r.order != "round-robin" && r.order != "random" && r.order != "clustered":
		return nil, fmt.Errorf("no order %q", r.order)
	}
	return &r, nil
}

func write(ctx context.Context, r *writeRequest) (result map[string]any, err error) {
	folder, err := os.MkdirTemp(r.folder, "frazil-bench-")
	if err != nil {
		return nil, err
	}
	if !r.keep {
		defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	}
	if folder, err = filepath.Abs(folder); err != nil {
		return nil, err
	}
	config.EnvConfig.MaxWorkers = r.threads
	db, err := sql.Open("sqlite", "file:"+filepath.Join(folder, "catalog.db"))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	schema := rowSchema(r)
	arrowSchema, err := table.SchemaToArrowSchema(schema, nil, false, false)
	if err != nil {
		return nil, err
	}
	tbl, err := createTable(ctx, db, r, schema, folder)
	if err != nil {
		return nil, err
	}
	batch := rowBatch(r, arrowSchema)
	defer batch.Release()
	reader, err := array.NewRecordReader(arrowSchema, []arrow.RecordBatch{batch})
	if err != nil {
		return nil, err
	}
	defer reader.Release()
	old, err := filesBelow(folder)
	if err != nil {
		return nil, err
	}

	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	if _, err = tbl.Append(ctx, reader, nil); err != nil {
		return nil, err
	}
	seconds := time.Since(start).Seconds()
	runtime.ReadMemStats(&after)

	written, err := filesBelow(folder)
	if err != nil {
		return nil, err
	}
	files, bytes := 0, int64(0)
	for path, size := range written {
		if _, known := old[path]; known {
			continue
		}
		bytes += size
		if strings.HasSuffix(path, ".parquet") {
			files++
		}
	}
	return map[string]any{
		"engine": r.engine, "threads": r.threads, "rows": r.rows, "seconds": seconds, "files": files, "bytes_read": nil,
		"bytes_written": bytes, "pool_peak_bytes": nil, "rss_peak_bytes": peakRSS(),
		"allocations": after.Mallocs - before.Mallocs, "order": nil,
	}, nil
}

func createTable(ctx context.Context, db *sql.DB, r *writeRequest, schema *iceberg.Schema, folder string) (*table.Table, error) {
	warehouse := "file://" + folder + "/lake"
	lake, err := sqlcatalog.NewCatalog("default", db, sqlcatalog.SQLite, iceberg.Properties{"warehouse": warehouse})
	if err != nil {
		return nil, err
	}
	if err := lake.CreateNamespace(ctx, catalog.ToIdentifier("bench"), nil); err != nil {
		return nil, err
	}
	// The catalog numbers fields anew, in this order.
	options := []iceberg.PartitionOption{
		iceberg.AddPartitionFieldByName("ts", "ts_day", iceberg.DayTransform{}, schema, nil),
		iceberg.AddPartitionFieldByName("host", "host", iceberg.IdentityTransform{}, schema, nil),
	}
	if r.partitions > 0 {
		options = []iceberg.PartitionOption{iceberg.AddPartitionFieldByName("part", "part", iceberg.IdentityTransform{}, schema, nil)}
	}
	spec, err := iceberg.NewPartitionSpecOpts(options...)
	if err != nil {
		return nil, err
	}
	return lake.CreateTable(ctx, catalog.ToIdentifier("bench", "t"), schema, catalog.WithPartitionSpec(&spec),
		catalog.WithLocation(warehouse+"/bench/t"),
		catalog.WithProperties(iceberg.Properties{"write.parquet.compression-codec": "zstd"}))
}

// filesBelow has the size of each file.
func filesBelow(folder string) (map[string]int64, error) {
	sizes := map[string]int64{}
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			sizes[path] = info.Size()
		}
		return err
	})
	return sizes, err
}
