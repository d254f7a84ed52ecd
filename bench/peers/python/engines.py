"""How does each Python engine deliver a table: as a stream of Arrow batches, or only as a number of rows?

An engine is a function of the request. It imports and configures what it needs, outside the measured time, and returns
`deliver`: called once, from before planning, it gives an iterator of pyarrow batches or, for a count, the number.
Engines that know no tables read the Parquet files below the table's folder; the content hash tells if a file is stale.
"""

import glob
import importlib.util
import os
import re


class NotOffered(Exception):
    """The engine's API has no such knob."""


def without(request, **knobs):
    """Refuses the knobs that were asked for, each with its reason."""
    for name, reason in knobs.items():
        if getattr(request, name):
            raise NotOffered(reason)


def local_path(metadata):
    return re.sub("^file:(//)?", "", metadata)


def data_files(metadata):
    folder = os.path.dirname(os.path.dirname(os.path.abspath(local_path(metadata))))
    return sorted(glob.glob(os.path.join(glob.escape(folder), "data", "**", "*.parquet"), recursive=True))


def filter_terms(text):
    """[(column, operator, value)] of "id >= 1 and label = 'row_1'"."""
    terms = []
    for term in text.split(" and "):
        match = re.fullmatch(r"\s*(\w+)\s*(<=|>=|!=|=|<|>)\s*(?:'([^']*)'|(-?\d+)|(-?[\d.eE+-]+))\s*", term)
        if not match:
            raise ValueError(f"not a filter term: {term!r}")
        column, operator, word, integer, number = match.groups()
        terms.append((column, operator, word if word is not None else int(integer) if integer else float(number)))
    return terms


def pyiceberg(request):
    without(request, batch_rows="PyIceberg takes no batch size")
    # max-workers is how many files PyIceberg reads at once; its Arrow threads are another thing.
    os.environ["PYICEBERG_MAX_WORKERS"] = str(request.concurrency or request.threads)
    import pyiceberg.io.pyarrow  # or the first scan imports it, which takes longer than a small scan
    from pyiceberg.table import StaticTable

    def deliver():
        table = StaticTable.from_metadata(request.metadata)
        scan = table.scan(row_filter=request.filter or "true", selected_fields=tuple(request.columns or ["*"]))
        if request.count:
            return scan.count()
        return scan.to_arrow_batch_reader() if request.engine == "pyiceberg_reader" else iter(scan.to_arrow().to_batches())

    return deliver


def pyarrow(request):
    import operator

    import pyarrow.dataset as dataset

    symbols = {"=": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
    batch_rows = request.batch_rows or {"pyarrow_16k": 16_384, "pyarrow_128k": 131_072}[request.engine]
    readahead = {"fragment_readahead": request.concurrency} if request.concurrency else {}

    def deliver():
        condition = None
        for column, symbol, value in filter_terms(request.filter) if request.filter else []:
            term = getattr(operator, symbols[symbol])(dataset.field(column), value)
            condition = term if condition is None else condition & term
        files = dataset.dataset(data_files(request.metadata), format="parquet")
        if request.count:
            return files.count_rows(filter=condition, use_threads=request.threads > 1)
        return files.scanner(columns=request.columns, filter=condition, batch_size=batch_rows,
                             use_threads=request.threads > 1, **readahead).to_reader()

    return deliver


def duckdb(request):
    without(request, concurrency="DuckDB has no number of files to read at once, only threads")
    import duckdb as engine

    # Or a missing extension becomes a network call.
    connection = engine.connect(config={"threads": request.threads, "autoinstall_known_extensions": "false"})
    ordered = "true" if request.engine == "duckdb_ordered" else "false"
    connection.execute(f"set preserve_insertion_order = {ordered}; set timezone = 'UTC'; set enable_progress_bar = false")
    if request.engine == "duckdb_iceberg":
        for name in ("avro", "iceberg"):
            folder = os.path.dirname(importlib.util.find_spec(f"duckdb_extension_{name}").origin)
            connection.execute(f"load '{glob.glob(folder + '/extensions/*/*.duckdb_extension')[0]}'")

    def deliver():
        if request.engine == "duckdb_iceberg":
            source = f"iceberg_scan({local_path(request.metadata)!r})"
        else:
            source = f"read_parquet({data_files(request.metadata)!r})"
        what = "count(*)" if request.count else ", ".join(f'"{name}"' for name in request.columns or []) or "*"
        query = f"select {what} from {source}" + (f" where {request.filter}" if request.filter else "")
        if request.count:
            return connection.execute(query).fetchone()[0]
        return connection.sql(query).to_arrow_reader(request.batch_rows or 131_072)

    return deliver


def polars(request):
    without(request, concurrency="Polars has no number of files to read at once, only threads")
    os.environ["POLARS_MAX_THREADS"] = str(request.threads)  # read when the module is loaded
    import polars as engine

    if request.engine == "polars_iceberg":  # or the first scan imports them
        import polars_iceberg
        import pyiceberg.io.pyarrow
        import pyiceberg.table

    newest = engine.CompatLevel.newest()  # its own memory as it lies, string views and all

    def batches(frame):
        return frame.to_arrow(compat_level=newest).to_batches()

    def deliver():
        if request.engine == "polars_iceberg":
            lazy = engine.scan_iceberg(local_path(request.metadata))
        else:
            lazy = engine.scan_parquet(data_files(request.metadata))
        if request.filter:
            lazy = lazy.filter(engine.sql_expr(request.filter))
        if request.count:
            return lazy.select(engine.len()).collect().item()
        if request.columns:
            lazy = lazy.select(request.columns)
        if request.engine == "polars_collect":
            return iter(batches(lazy.collect()))
        frames = lazy.collect_batches(chunk_size=request.batch_rows or 131_072, maintain_order=True)
        return (batch for frame in frames for batch in batches(frame))

    return deliver


ENGINES = {
    "pyiceberg_reader": pyiceberg,
    "pyiceberg_table": pyiceberg,
    "pyarrow_16k": pyarrow,
    "pyarrow_128k": pyarrow,
    "duckdb_unordered": duckdb,
    "duckdb_ordered": duckdb,
    "duckdb_iceberg": duckdb,
    "polars_batches": polars,
    "polars_collect": polars,
    "polars_iceberg": polars,
}
