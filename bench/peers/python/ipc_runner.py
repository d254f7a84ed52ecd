"""How fast does pyarrow read and write Arrow IPC? One measurement, in this process, as one JSON object on stdout.

usage: ipc_runner.py read|write --engine pyarrow_ipc --path FILE|FOLDER --format file|stream --input memory|mmap|pipe|file --threads N
       --operations N [--touch] [--validation full] [--column N] [--first-batch] [--hash] [--to memory|FILE] [--codec lz4|zstd]

Words and figures as those of cpp/ipc_runner.h: an operation opens a reader and takes all batches, every array made; or
writes the batches that were read before, PATH then being a stream.
"""

import argparse
import glob
import json
import os
import sys
import threading
import time

import pyarrow as pa

SECONDS_MAX = 2.0
WARM_UP = 3
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
HASH_LIBRARY = os.path.join(ROOT, "build", "release", "bench", "content_hash", "libfrazil_content_hash.so")


def arguments():
    parser = argparse.ArgumentParser(prog="ipc_runner.py", usage=__doc__.split("usage: ")[1].split("\n\n")[0])
    parser.add_argument("operation", choices=["read", "write"])
    parser.add_argument("--engine", required=True, choices=["pyarrow_ipc"])
    parser.add_argument("--path", required=True)
    parser.add_argument("--format", required=True, choices=["file", "stream"])
    parser.add_argument("--input", required=True, choices=["memory", "mmap", "pipe", "file"])
    parser.add_argument("--threads", required=True, type=int)
    parser.add_argument("--operations", required=True, type=int)
    parser.add_argument("--touch", action="store_true")
    parser.add_argument("--validation", default="basic", choices=["basic", "full"])
    parser.add_argument("--column", type=int)
    parser.add_argument("--first-batch", action="store_true")
    parser.add_argument("--hash", action="store_true")
    parser.add_argument("--to", default="memory")
    parser.add_argument("--codec", choices=["lz4", "zstd"])
    return parser.parse_args()


class PipeProducer:
    """Writes bytes into a pipe, in a thread of its own, while an operation reads the other end."""

    def __init__(self, data):
        self.read_end, write_end = os.pipe()
        self._thread = threading.Thread(target=self._write, args=(write_end, memoryview(data)))
        self._thread.start()

    @staticmethod
    def _write(end, data):
        try:
            while data:
                data = data[os.write(end, data[: 1 << 20]) :]
        except BrokenPipeError:
            pass
        finally:
            os.close(end)

    def join(self):
        self._thread.join()


def byte_sum(array):
    """The sum of the 8-byte words of all buffers, modulo 2^64."""
    import numpy as np

    total = 0
    for buffer in array.buffers():
        if buffer is None or buffer.size == 0:
            continue
        whole = buffer.size // 8
        total += int(np.frombuffer(buffer, dtype=np.uint64, count=whole).sum(dtype=np.uint64))
        if buffer.size % 8:
            total += int.from_bytes(buffer[whole * 8 :].to_pybytes(), "little")
    return total


class Reader:
    def __init__(self, request):
        self.request = request
        folder = os.path.isdir(request.path)
        self.paths = sorted(glob.glob(os.path.join(glob.escape(request.path), "*.arrow"))) if folder else [request.path]
        self.bytes = [open(path, "rb").read() for path in self.paths] if request.input in ("memory", "pipe") else []
        self.buffers = [pa.py_buffer(data) for data in self.bytes]
        included = None if request.column is None else [request.column]
        self.options = pa.ipc.IpcReadOptions(use_threads=request.threads > 1, included_fields=included)

    def source(self, number):
        if self.request.input == "mmap":
            return pa.memory_map(self.paths[number])
        if self.request.input == "file":
            return pa.OSFile(self.paths[number])
        return pa.BufferReader(self.buffers[number])

    def batches(self):
        for number in range(len(self.paths)):
            yield from self.batches_of(number)

    def batches_of(self, number):
        producer = None
        try:
            if self.request.format == "file":
                reader = pa.ipc.open_file(self.source(number), options=self.options)
                for index in range(1 if self.request.first_batch else reader.num_record_batches):
                    yield reader.get_batch(index)
                return
            if self.request.input == "pipe":
                producer = PipeProducer(self.bytes[number])
                pipe = os.fdopen(producer.read_end, "rb")  # buffered: read(n) of a pipe would give less than n
                source = pa.PythonFile(pipe, mode="r")
            else:
                source = self.source(number)
            for batch in pa.ipc.open_stream(source, options=self.options):
                yield batch
                if self.request.first_batch:
                    return
        finally:
            if producer:
                pipe.close()
                producer.join()

    def all(self):
        rows = batches = total = 0
        for batch in self.batches():
            if self.request.validation == "full":
                batch.validate(full=True)
            columns = batch.columns
            if self.request.touch:
                total += sum(map(byte_sum, columns))
            rows += batch.num_rows
            batches += 1
        return {"rows": rows, "batches": batches, "files": len(self.paths), "byte_sum": f"{total % (1 << 64):016x}", "bytes_written": 0}


def write(request, batches):
    options = pa.ipc.IpcWriteOptions(compression=request.codec, use_threads=request.threads > 1, unify_dictionaries=True)
    sink = pa.BufferOutputStream() if request.to == "memory" else pa.OSFile(request.to, "wb")
    open_writer = pa.ipc.new_file if request.format == "file" else pa.ipc.new_stream
    with open_writer(sink, batches[0].schema, options=options) as writer:
        for batch in batches:
            writer.write_batch(batch)
    written = sink.tell()
    sink.close()
    return {"rows": sum(batch.num_rows for batch in batches), "batches": len(batches), "files": 1, "bytes_written": written}


def bytes_read():
    """What came through read(2) and its kin."""
    with open("/proc/self/io") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("rchar"))


def measured(request, operation):
    for _ in range(WARM_UP):
        operation()
    before = bytes_read()
    own = bytes_read() - before
    before = bytes_read()
    totals = operation()
    read = bytes_read() - before - own
    seconds = []
    started = time.perf_counter()
    while len(seconds) < request.operations and time.perf_counter() - started < SECONDS_MAX:
        start = time.perf_counter()
        operation()
        seconds.append(time.perf_counter() - start)
    seconds.sort()
    median = seconds[len(seconds) // 2]
    return {
        **totals,
        "bytes_read": read,
        "seconds": median,
        "microseconds_median": median * 1e6,
        "operations": len(seconds),
        "seconds_to_first_batch": None,
        "pool_peak_bytes": pa.default_memory_pool().max_memory(),
        "allocations": None,
        "order": None,
    }


def main():
    request = arguments()
    pa.set_cpu_count(request.threads)
    result = {"engine": request.engine, "threads": request.threads}
    if request.operation == "write":
        reading = argparse.Namespace(**{**vars(request), "format": "stream"})
        batches = list(Reader(reading).batches())
        result |= measured(request, lambda: write(request, batches))
    elif request.hash:
        import stream

        library = os.environ.get("FRAZIL_CONTENT_HASH", HASH_LIBRARY)
        result["content_hash"], result["rows"] = stream.content_hash(library, Reader(request).batches())
    else:
        result |= measured(request, Reader(request).all)
    print(json.dumps(result))


if __name__ == "__main__":
    sys.exit(main())
