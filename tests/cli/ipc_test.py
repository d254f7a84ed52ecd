"""Does `frazil ipc` say what is in Arrow files and streams, and write what others can read? Answers are those of Arrow's gold files
(their JSON has the rows), and of pyarrow where it is there.

Needs nothing but the standard library. FRAZIL is the program; without it build/release/frazil is taken.
"""
import gzip
import json
import pathlib
import re
import subprocess
import unittest

from program_test import (FRAZIL, NATION, PARTITIONED, ROOT, TABLES, TemporaryTest, documented_schemas, environment, frazil, golden,
                          validate)

GOLD = ROOT / 'tests/corpora/arrow-testing/data/arrow-ipc-stream/integration'
LITTLE = GOLD / '1.0.0-littleendian'
PRIMITIVE = str(LITTLE / 'generated_primitive.arrow_file')
DICTIONARY = str(LITTLE / 'generated_nested_dictionary.stream')
METADATA = str(LITTLE / 'generated_custom_metadata.arrow_file')
EXTENSION = str(LITTLE / 'generated_extension.stream')
PLAIN = str(ROOT / 'tests/corpora/parquet-testing/data/alltypes_plain.parquet')

try:
    import pyarrow as pa
except ImportError:
    pa = None


def ipc(*arguments, **more):
    return frazil('ipc', *arguments, **more)


def run_bytes(*arguments, input=b'', code=0):
    done = subprocess.run([FRAZIL, *arguments], input=input, capture_output=True, timeout=120, env=environment())
    if done.returncode != code:
        raise AssertionError(f'{arguments}: exit code {done.returncode}, not {code}\n{done.stderr.decode()}')
    return done.stdout


def read(path):
    return pathlib.Path(path).read_bytes()


def rows_of(path, *arguments):
    return ipc('cat', str(path), '--format', 'json', *arguments).stdout


def gold_rows(path):
    """How many rows the JSON beside a gold file has."""
    stem = re.sub(r'\.(arrow_file|stream)$', '', path.name)
    content = json.loads(gzip.decompress(path.with_name(stem + '.json.gz').read_bytes()))
    return sum(batch['count'] for batch in content['batches'])


class ReadTest(TemporaryTest):
    def test_texts(self):
        for name, arguments in {'ipc_schema': ['schema', 'generated_custom_metadata.arrow_file'],
                                'ipc_schema_nested': ['schema', 'generated_nested_dictionary.stream',
                                                      'generated_extension.arrow_file'],
                                'ipc_verify': ['verify', 'generated_map.arrow_file', 'generated_map.stream']}.items():
            with self.subTest(name=name):
                text = ipc(*arguments, cwd=str(LITTLE)).stdout
                self.assertEqual(text, golden(name + '.txt', text))

    def test_json_is_as_documented(self):
        schemas = documented_schemas()

        def check(verb, *arguments, **more):
            value = json.loads(ipc(verb, *arguments, '--output', 'json', **more).stdout)
            validate(schemas[f'`frazil ipc {verb}`'][0], value)
            return value

        files = [PRIMITIVE, DICTIONARY, METADATA, EXTENSION]
        self.assertEqual([(item['format'], item['file']) for item in check('schema', *files)],
                         list(zip(('file', 'stream', 'file', 'stream'), files)))
        check('count', *files)
        check('verify', *files)
        converted = check('convert', PRIMITIVE, f'{self.folder}/a.arrows')
        self.assertEqual(converted['bytes_written'], len(read(f'{self.folder}/a.arrows')))
        self.assertEqual(converted['format'], 'stream')
        for line in ipc('cat', PRIMITIVE, '--output', 'json').stdout.splitlines():
            validate(schemas['`frazil ipc cat`'][0], json.loads(line))

    def test_every_gold_file_is_whole_and_has_its_rows(self):
        files = [path for ending in ('arrow_file', 'stream') for path in sorted(GOLD.glob(f'*/*.{ending}'))]
        self.assertEqual(len(files), 182)
        reports = json.loads(ipc('verify', *map(str, files), '--output', 'json').stdout)
        wanted = [gold_rows(path) for path in files]
        self.assertEqual([report['rows'] for report in reports], wanted)
        self.assertEqual([report['format'] for report in reports], ['file'] * 91 + ['stream'] * 91)
        self.assertEqual(int(ipc('count', *map(str, files)).stdout), sum(wanted))

    def test_rows_are_those_of_either_format_and_of_standard_input(self):
        for stem in ('primitive', 'nested', 'dictionary', 'decimal256', 'union'):
            with self.subTest(stem=stem):
                file, stream = LITTLE / f'generated_{stem}.arrow_file', LITTLE / f'generated_{stem}.stream'
                text = rows_of(file)
                self.assertGreater(len(text), 100)
                self.assertEqual(text, rows_of(stream))
                for path in (file, stream):
                    self.assertEqual(run_bytes('ipc', 'cat', '-', '--format', 'json', input=read(path)).decode(), text)
                    self.assertEqual(run_bytes('ipc', 'count', '-', input=read(path)).decode(),
                                     ipc('count', str(file)).stdout)

    def test_columns_and_rows_are_chosen(self):
        names = [field['name'] for field in json.loads(ipc('schema', PRIMITIVE, '--output', 'json').stdout)[0]['fields']]
        chosen = [names[3], names[0]]
        wanted = [{name: row[name] for name in chosen}
                  for row in map(json.loads, rows_of(PRIMITIVE).splitlines())]
        select = ('--select', ','.join(chosen))
        text = rows_of(PRIMITIVE, *select)
        self.assertEqual([json.loads(line) for line in text.splitlines()], wanted)
        self.assertEqual(list(json.loads(text.splitlines()[0])), chosen)
        self.assertEqual(run_bytes('ipc', 'cat', '-', '--format', 'json', *select, input=read(PRIMITIVE)).decode(), text)
        self.assertEqual(rows_of(PRIMITIVE, *select, '-n', '3').splitlines(), text.splitlines()[:3])
        ipc('cat', PRIMITIVE, '--select', 'nothing', code=3)
        ipc('cat', PRIMITIVE, '--select', f'{names[0]},{names[0]}', code=2)
        # One file behind the other, if they have the same columns.
        self.assertEqual(rows_of(PRIMITIVE, *select) * 2,
                         ipc('cat', PRIMITIVE, str(LITTLE / 'generated_primitive.stream'), '--format', 'json', *select).stdout)
        self.assertIn('differ', ipc('cat', PRIMITIVE, METADATA, code=2).stderr)

    def test_damage_has_a_place(self):
        whole = read(PRIMITIVE)
        cut = pathlib.Path(self.folder) / 'cut.arrow'
        cut.write_bytes(whole[:-100])
        torn = pathlib.Path(self.folder) / 'torn.arrows'
        torn.write_bytes(read(LITTLE / 'generated_primitive.stream')[:5000])
        done = ipc('verify', PRIMITIVE, str(cut), str(torn), '--output', 'json', code=4)
        reports = json.loads(done.stdout)
        validate(documented_schemas()['`frazil ipc verify`'][0], reports)
        self.assertEqual([report['whole'] for report in reports], [True, False, False])
        self.assertEqual(json.loads(done.stderr)['message'], '2 of 3 files are not whole')
        self.assertIn('cut.arrow', ipc('cat', str(cut), code=4).stderr)
        self.assertIn('torn.arrows', ipc('cat', str(torn), code=4).stderr)
        self.assertIn('standard input', subprocess.run([FRAZIL, 'ipc', 'verify', '-'], input=whole[:2000], capture_output=True,
                                                       env=environment()).stdout.decode())
        # Values that break their type's rules: bytes of a text that are no UTF-8.
        stream = bytearray(read(LITTLE / 'generated_primitive_zerolength.stream'))
        self.assertEqual(json.loads(run_bytes('ipc', 'verify', '-', '--output', 'json', input=bytes(stream)))[0]['rows'], 0)

    def test_what_is_no_arrow_is_named(self):
        feather = pathlib.Path(self.folder) / 'old.feather'
        feather.write_bytes(b'FEA1' + bytes(100) + b'FEA1')
        for verb in ('cat', 'schema', 'count'):
            self.assertIn('Feather V1', ipc(verb, str(feather), code=5).stderr)
        self.assertIn('Feather V1', run_bytes('ipc', 'verify', '-', input=read(feather), code=5).decode())
        ipc('cat', PLAIN, code=4)
        ipc('cat', str(ROOT / 'README.md'), code=4)
        ipc('cat', '/nonexistent.arrow', code=3)
        run_bytes('ipc', 'cat', '-', input=b'', code=4)

    def test_memory_is_bounded(self):
        big = pathlib.Path(self.folder) / 'big.arrow'
        plain = run_bytes('parquet', 'cat', str(ROOT / 'tests/corpora/parquet-testing/data/delta_length_byte_array.parquet'),
                          '--format', 'arrow')
        # One message whose body claims more than the budget.
        big.write_bytes(plain)
        ipc('cat', str(big), '--format', 'none', '--memory', '64MiB')
        self.assertIn('memory', ipc('cat', str(big), '--format', 'none', '--memory', '1000', code=9).stderr)

    def test_a_file_in_a_pipe_that_is_larger_than_memory_has_a_way_out(self):
        file = run_bytes('ipc', 'convert', PRIMITIVE, '-', '--to', 'file') + bytes(1 << 20)
        done = subprocess.run([FRAZIL, 'ipc', 'count', '-', '--memory', '512KiB'], input=file, capture_output=True, env=environment())
        self.assertEqual(done.returncode, 9, done.stderr)
        self.assertIn('give a path, a stream', done.stderr.decode())

    def test_a_closed_pipe_ends_quietly(self):
        run = f'{FRAZIL} ipc cat {" ".join([PRIMITIVE] * 50)} --format arrow | head -c 100 > /dev/null; echo ${{PIPESTATUS[0]}}'
        done = subprocess.run(['bash', '-c', run], capture_output=True, text=True, env=environment())
        self.assertEqual((done.stdout, done.stderr), ('0\n', ''))


class ConvertTest(TemporaryTest):
    def test_conversions_keep_rows_schema_and_metadata(self):
        options = [[], ['--alignment', '64'], ['--codec', 'lz4'], ['--codec', 'zstd', '--level', '9'],
                   ['--dictionaries', 'delta'], ['--dictionaries', 'unify']]
        names = ['primitive', 'nested_dictionary', 'union', 'custom_metadata', 'extension', 'interval', 'map', 'null',
                 'nested_large_offsets', 'recursive_nested', 'duplicate_fieldnames']
        for number, name in enumerate(names):
            source = LITTLE / f'generated_{name}.arrow_file'
            more = options[number % len(options)]
            with self.subTest(name=name, options=more):
                stream, file = f'{self.folder}/{name}.arrows', f'{self.folder}/{name}.arrow'
                ipc('convert', str(source), stream, *more)
                ipc('convert', stream, file, *more)
                self.assertEqual(rows_of(file), rows_of(source))
                self.assertEqual(rows_of(stream), rows_of(source))
                ipc('verify', stream, file)

                def described(path):
                    value = json.loads(ipc('schema', str(path), '--output', 'json').stdout)[0]
                    return value['fields'], value['schema_metadata']

                self.assertEqual(described(file), described(source))
                # Through pipes, the same bytes.
                self.assertEqual(run_bytes('ipc', 'convert', '-', '-', *more, input=read(source)), read(stream))
                self.assertEqual(run_bytes('ipc', 'convert', '-', '-', '--to', 'file', *more, input=read(stream)), read(file))

    def test_files_are_published_whole_or_not_at_all(self):
        out = pathlib.Path(self.folder) / 'out.arrow'
        cut = pathlib.Path(self.folder) / 'cut.arrows'
        cut.write_bytes(read(LITTLE / 'generated_primitive.stream')[:20000])
        ipc('convert', str(cut), str(out), code=4)
        self.assertEqual([path.name for path in pathlib.Path(self.folder).iterdir()], ['cut.arrows'])
        ipc('convert', PRIMITIVE, str(out))
        before = out.read_bytes()
        self.assertEqual(ipc('convert', DICTIONARY, str(out), code=1).stderr, f'frazil: {out} exists (--overwrite)\n')
        ipc('convert', str(cut), str(out), '--overwrite', code=4)
        self.assertEqual(out.read_bytes(), before)
        ipc('convert', DICTIONARY, str(out), '--overwrite')
        self.assertEqual(rows_of(out), rows_of(DICTIONARY))
        # Into itself.
        ipc('convert', str(out), str(out), '--overwrite', '--codec', 'zstd')
        self.assertEqual(rows_of(out), rows_of(DICTIONARY))

    def test_wrong_options_are_refused_before_anything_is_written(self):
        out = f'{self.folder}/out.arrow'
        ipc('convert', PRIMITIVE, out, '--dictionaries', 'replace', code=2)
        ipc('convert', PRIMITIVE, out, '--level', '3', code=2)
        ipc('convert', PRIMITIVE, out, '--codec', 'zstd', '--level', '99', code=2)
        ipc('convert', PRIMITIVE, out, '--alignment', '16', code=2)
        ipc('convert', PRIMITIVE, out, '--codec', 'snappy', code=2)
        ipc('convert', str(LITTLE / '*.stream'), out, code=2)
        self.assertEqual(list(pathlib.Path(self.folder).iterdir()), [])


class ScanTest(TemporaryTest):
    def test_rows_of_tables_are_a_stream(self):
        for table in (NATION, PARTITIONED, str(TABLES / 'duckdb/iceberg/lineitem_iceberg_gz')):
            with self.subTest(table=table):
                stream = run_bytes('scan', table, '--format', 'arrow', '--quiet', '-n', '5000')
                text = frazil('scan', table, '--format', 'json', '--quiet', '-n', '5000').stdout
                self.assertEqual(run_bytes('ipc', 'cat', '-', '--format', 'json', input=stream).decode(), text)
        self.assertEqual(run_bytes('ipc', 'count', '-', input=run_bytes('scan', NATION, '--format', 'arrow', '-n', '0')), b'0\n')

    def test_rows_of_parquet_are_a_stream(self):
        stream = run_bytes('parquet', 'cat', PLAIN, '--format', 'arrow', '-n', '5')
        text = frazil('parquet', 'cat', PLAIN, '--format', 'json', '-n', '5').stdout
        self.assertEqual(run_bytes('ipc', 'cat', '-', '--format', 'json', input=stream).decode(), text)

    @unittest.skipUnless(pa, 'pyarrow is not there')
    def test_pyarrow_reads_them(self):
        import pyarrow.ipc
        import pyarrow.parquet as pq
        for table in (NATION, PARTITIONED):
            with self.subTest(table=table):
                read_table = pa.ipc.open_stream(run_bytes('scan', table, '--format', 'arrow', '--quiet')).read_all()
                read_table.validate(full=True)
                # The same rows as a Parquet file, which has its own tests.
                path = f'{self.folder}/rows.parquet'
                pathlib.Path(path).write_bytes(run_bytes('scan', table, '--format', 'parquet', '--quiet'))
                self.assertEqual(read_table.to_pylist(), pq.read_table(path).to_pylist())
                self.assertEqual(read_table.schema.names, pq.read_table(path).schema.names)

    @unittest.skipUnless(pa, 'pyarrow is not there')
    def test_pyarrow_reads_conversions(self):
        import pyarrow.ipc
        for name in ('primitive', 'nested', 'dictionary', 'union', 'map', 'extension'):
            source = LITTLE / f'generated_{name}.stream'
            theirs = pa.ipc.open_stream(read(source)).read_all()
            for more in (['--to', 'file', '--codec', 'zstd'], ['--to', 'stream', '--alignment', '64']):
                with self.subTest(name=name, options=more):
                    ours = run_bytes('ipc', 'convert', '-', '-', *more, input=read(source))
                    reader = pa.ipc.open_file(ours) if more[1] == 'file' else pa.ipc.open_stream(ours)
                    table = reader.read_all()
                    table.validate(full=True)
                    self.assertEqual(table.schema, theirs.schema)
                    self.assertEqual(table.schema.metadata or {}, theirs.schema.metadata or {})
                    self.assertEqual(str(table.to_pydict()) if name != 'extension' else table,
                                     str(theirs.to_pydict()) if name != 'extension' else theirs)


class LoadTest(TemporaryTest):
    def setUp(self):
        super().setUp()
        self.options = ['--uri', f'sqlite:///{self.folder}/catalog.db', '--warehouse', self.folder]
        frazil('namespace', 'create', 'web', *self.options)
        self.number = 0

    def loaded(self, *arguments, input=None):
        """The rows of a new table."""
        self.number += 1
        table = f'web.t{self.number}'
        done = subprocess.run([FRAZIL, 'load', table, *arguments, '--create', *self.options, '--output', 'json', '--quiet'],
                              input=input, capture_output=True, env=environment(), timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        figures = json.loads(done.stdout)
        text = frazil('scan', table, '--format', 'json', '--quiet', *self.options).stdout
        return figures, text

    def test_files_streams_and_pipes_are_loaded(self):
        wanted = frazil('scan', NATION, '--format', 'json', '--quiet').stdout
        stream = run_bytes('scan', NATION, '--format', 'arrow', '--quiet')
        folder = pathlib.Path(self.folder)
        (folder / 'n.arrows').write_bytes(stream)
        ipc('convert', str(folder / 'n.arrows'), str(folder / 'n.arrow'), '--codec', 'lz4')
        (folder / 'unnamed').write_bytes(read(folder / 'n.arrow'))
        (folder / 'n.arrows.gz').write_bytes(gzip.compress(stream))
        for name in ('n.arrows', 'n.arrow', 'unnamed', 'n.arrows.gz'):
            with self.subTest(name=name):
                figures, text = self.loaded(str(folder / name))
                self.assertEqual(text, wanted)
                self.assertEqual((figures['rows'], figures['bytes_read']), (25, len(read(folder / name))))
        for content in (stream, read(folder / 'n.arrow'), gzip.compress(stream)):
            figures, text = self.loaded('-', input=content)
            self.assertEqual(text, wanted)
            self.assertEqual(figures['bytes_read'], len(content))
        # Several, and of an existing table.
        figures, text = self.loaded(str(folder / 'n.arrow'), str(folder / 'n.arrows'))
        self.assertEqual(text, wanted * 2)

    def test_what_cannot_be_loaded_leaves_nothing(self):
        folder = pathlib.Path(self.folder)
        (folder / 'cut.arrow').write_bytes(read(PRIMITIVE)[:3000])
        frazil('load', 'web.bad', str(folder / 'cut.arrow'), '--create', *self.options, code=4)
        frazil('load', 'web.bad', '-', '--create', *self.options, code=2, input='a,b\n1,2\n')
        (folder / 'text').write_text('a,b\n1,2\n')
        self.assertIn('--format', frazil('load', 'web.bad', str(folder / 'text'), '--create', *self.options, code=2).stderr)
        (folder / 'old.feather').write_bytes(b'FEA1' + bytes(100))
        self.assertIn('Feather V1', frazil('load', 'web.bad', str(folder / 'old.feather'), '--create', *self.options,
                                           code=5).stderr)
        self.assertEqual(json.loads(frazil('list', 'web', *self.options, '--output', 'json').stdout)['tables'], [])

    @unittest.skipUnless(pa, 'pyarrow is not there')
    def test_what_pyarrow_writes_is_loaded(self):
        import datetime
        table = pa.table({
            'n': pa.array([1, None, 3], pa.int32()), 'd': pa.array(['a', None, 'a']).dictionary_encode(),
            'v': pa.array(['x' * 20, 'y', None], pa.string_view()), 'b': pa.array([b'1', b'', None], pa.large_binary()),
            'r': pa.array([datetime.date(2026, 11, 30), None, datetime.date(1969, 1, 1)]),
            'l': pa.array([[1.5], None, []], pa.list_(pa.float64())),
            's': pa.array([{'x': 1}, None, {'x': None}], pa.struct([('x', pa.int64())]))})
        wanted = [{'n': 1, 'd': 'a', 'v': 'x' * 20, 'b': '31', 'r': '2026-11-30', 'l': [1.5], 's': {'x': 1}},
                  {'n': None, 'd': None, 'v': 'y', 'b': '', 'r': None, 'l': None, 's': None},
                  {'n': 3, 'd': 'a', 'v': None, 'b': None, 'r': '1969-01-01', 'l': [], 's': {'x': None}}]
        for compression in (None, 'zstd'):
            path = f'{self.folder}/{compression}.feather'
            options = pa.ipc.IpcWriteOptions(compression=compression)
            with pa.OSFile(path, 'wb') as sink, pa.ipc.new_file(sink, table.schema, options=options) as writer:
                writer.write_table(table)
            _, text = self.loaded(path)
            rows = [json.loads(line) for line in text.splitlines()]
            self.assertEqual([{name: row[name] for name in wanted[0]} for row in rows], wanted)


class HelpTest(unittest.TestCase):
    def test_completion_knows_the_verbs(self):
        script = frazil('completion', 'bash').stdout
        words = re.search(r"'ipc'\) words='([^']*)'", script).group(1).split()
        self.assertTrue({'schema', 'cat', 'count', 'convert', 'verify'} <= set(words))

    def test_every_verb_has_an_example(self):
        for verb in ('schema', 'cat', 'count', 'convert', 'verify'):
            self.assertIn(f'frazil ipc {verb}', ipc(verb, '--help').stdout)


if __name__ == '__main__':
    unittest.main()
