// How fast does iceberg-go read or write a table? One measurement, in this process, as one JSON object on stdout.
//
//	iceberg-peer-go read --engine iceberg_go --metadata METADATA_JSON --threads N [--columns a,b]
//	                     [--filter "id >= 1 and id < 2"] [--count] [--hash] [--batch-rows N] [--concurrency N]
//	iceberg-peer-go write --engine iceberg_go_append --rows N --threads N --folder FOLDER [--partitions N] [--nested]
//	                      [--keep] [--order round-robin|random|clustered]
//
// Reading counts from before the metadata file is read until the last batch was released; writing, from rows and an empty
// table until the commit. A knob that the API lacks prints {"not_offered": reason}.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
)

// request holds the words of a reading; zero means "not given".
type request struct {
	engine      string
	metadata    string
	threads     int
	columns     []string
	filter      string
	count       bool
	hash        bool
	batchRows   int
	concurrency int
}

func main() {
	work, err := parse(os.Args[1:])
	if err != nil {
		fail(2, err)
	}
	result, err := work(context.Background())
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(result)
	}
	if err != nil {
		fail(1, err)
	}
}

func fail(status int, err error) {
	fmt.Fprintln(os.Stderr, "iceberg-peer-go:", err)
	os.Exit(status)
}

// parse gives the measurement that the words ask for.
func parse(words []string) (func(context.Context) (map[string]any, error), error) {
	verb := ""
	if len(words) > 0 {
		verb = words[0]
	}
	switch verb {
	case "read":
		r, err := parseRead(words[1:])
		return func(ctx context.Context) (map[string]any, error) {
			runtime.GOMAXPROCS(r.threads)
			return read(ctx, r)
		}, err
	case "write":
		r, err := parseWrite(words[1:])
		return func(ctx context.Context) (map[string]any, error) {
			runtime.GOMAXPROCS(r.threads)
			return write(ctx, r)
		}, err
	}
	return nil, errors.New("the first word must be read or write")
}

func parseRead(words []string) (*request, error) {
	var r request
	flags := flag.NewFlagSet("read", flag.ContinueOnError)
	flags.StringVar(&r.engine, "engine", "", "iceberg_go")
	flags.StringVar(&r.metadata, "metadata", "", "metadata file of the table")
	flags.IntVar(&r.threads, "threads", 0, "GOMAXPROCS")
	columns := flags.String("columns", "", "columns, comma separated; empty takes all")
	flags.StringVar(&r.filter, "filter", "", "terms `column op value`, joined by and")
	flags.BoolVar(&r.count, "count", false, "only count the rows")
	flags.BoolVar(&r.hash, "hash", false, "print the content hash; its time counts")
	flags.IntVar(&r.batchRows, "batch-rows", 0, "rows of a batch")
	flags.IntVar(&r.concurrency, "concurrency", 0, "files read at once")
	if err := flags.Parse(words); err != nil {
		return nil, err
	}
	if *columns != "" {
		r.columns = strings.Split(*columns, ",")
	}
	switch {
	case flags.NArg() != 0:
		return nil, fmt.Errorf("unexpected %q", flags.Arg(0))
	case r.engine != "iceberg_go":
		return nil, fmt.Errorf("no engine %q here", r.engine)
	case r.metadata == "" || r.threads < 1:
		return nil, errors.New("--metadata and --threads are needed")
	case r.batchRows < 0 || r.concurrency < 0:
		return nil, errors.New("--batch-rows and --concurrency must be positive")
	}
	return &r, nil
}
