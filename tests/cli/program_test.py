"""The program as users run it: texts, JSON as docs/cli-json.md has it, exit codes, signals, configuration.

Needs nothing but the standard library. FRAZIL is the program; without it build/release/frazil is taken.
"""
import csv
import io
import json
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FRAZIL = os.environ.get('FRAZIL') or str(ROOT / 'build/release/frazil')
TABLES = ROOT / 'tests/corpora/iceberg-tables'
NATION = str(TABLES / 'dremio/nation')
LINEITEM = str(TABLES / 'duckdb/iceberg/lineitem_iceberg_gz')
PARTITIONED = str(TABLES / 'impala/iceberg_v3/test_default_part')
MANY_FILES = str(TABLES / 'duckdb/generated_bounds')
DELETES = str(TABLES / 'icebird/hyperparam-iceberg/java/bunnies')
EMPTY = str(TABLES / 'dremio/empty_table')
GOLDEN = pathlib.Path(__file__).parent / 'golden'


def environment(**more):
    """Without the configuration of whoever runs the test."""
    kept = {k: v for k, v in os.environ.items()
            if not k.upper().startswith(('FRAZIL', 'PYICEBERG', 'NO_COLOR'))}
    kept['HOME'] = '/nonexistent'
    kept['TERM'] = 'xterm'
    kept.update(more)
    return kept


def frazil(*arguments, cwd='/', code=0, env=None, **more):
    done = subprocess.run([FRAZIL, *arguments], capture_output=True, text=True, cwd=cwd, timeout=120,
                          env=environment(**(env or {})), **more)
    if done.returncode != code:
        raise AssertionError(f'{arguments}: exit code {done.returncode}, not {code}\n{done.stderr}')
    return done


def golden(name, text):
    path = GOLDEN / name
    if os.environ.get('FRAZIL_UPDATE_GOLDEN'):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return path.read_text()


# ---- A small validator of JSON Schema: what docs/cli-json.md uses. Strict: unknown members fail. ----

KINDS = {'string': str, 'integer': int, 'number': (int, float), 'boolean': bool, 'array': list, 'object': dict,
         'null': type(None)}


def matches(kind, value):
    return isinstance(value, KINDS[kind]) and not (kind in ('integer', 'number') and isinstance(value, bool))


def validate(schema, value, where='$'):
    unknown = set(schema) - {'type', 'properties', 'required', 'additionalProperties', 'items', 'enum', 'format',
                             'description'}
    assert not unknown, f'{where}: the validator does not know {unknown}'
    if 'enum' in schema:
        assert value in schema['enum'], f'{where}: {value!r} is none of {schema["enum"]}'
    if 'type' in schema:
        kinds = schema['type'] if isinstance(schema['type'], list) else [schema['type']]
        assert any(matches(kind, value) for kind in kinds), f'{where}: {value!r} is no {kinds}'
    if schema.get('format') == 'date-time':
        assert re.fullmatch(r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00', value), f'{where}: {value!r} is no time'
    if isinstance(value, list):
        for i, item in enumerate(value):
            validate(schema.get('items', {}), item, f'{where}[{i}]')
    if isinstance(value, dict):
        for name in schema.get('required', []):
            assert name in value, f'{where}: {name} is missing'
        properties = schema.get('properties', {})
        more = schema.get('additionalProperties', not properties)
        for name, member in value.items():
            if name in properties:
                validate(properties[name], member, f'{where}.{name}')
            else:
                assert more is not False, f'{where}: {name} is not documented'
                if isinstance(more, dict):
                    validate(more, member, f'{where}.{name}')


def documented_schemas():
    """{heading: [schema]} of docs/cli-json.md."""
    schemas, heading = {}, None
    text = (ROOT / 'docs/cli-json.md').read_text()
    for part in re.split(r'(?m)^(## .*|```json\n(?:.*\n)*?```)$', text):
        if part.startswith('## '):
            heading = part[3:].strip()
        elif part.startswith('```json'):
            schemas.setdefault(heading, []).append(json.loads(part[7:-3]))
    return schemas


class Lake:
    """A SQL catalog as PyIceberg makes it, whose tables are those of the corpora."""

    def __init__(self, folder):
        self.path = str(pathlib.Path(folder) / 'lake.db')
        base = sqlite3.connect(self.path)
        base.executescript('''
            CREATE TABLE iceberg_tables (catalog_name VARCHAR(255) NOT NULL, table_namespace VARCHAR(255) NOT NULL,
              table_name VARCHAR(255) NOT NULL, metadata_location VARCHAR(1000),
              previous_metadata_location VARCHAR(1000), iceberg_type VARCHAR(5),
              PRIMARY KEY (catalog_name, table_namespace, table_name));
            CREATE TABLE iceberg_namespace_properties (catalog_name VARCHAR(255) NOT NULL,
              namespace VARCHAR(255) NOT NULL, property_key VARCHAR(255) NOT NULL,
              property_value VARCHAR(1000) NOT NULL, PRIMARY KEY (catalog_name, namespace, property_key));
            INSERT INTO iceberg_namespace_properties VALUES ('default', 'duck', 'owner', 'me'),
              ('default', 'duck', 'exists', 'true'), ('default', 'empty', 'exists', 'true'),
              ('default', 'duck.deep', 'exists', 'true');''')
        metadata = 'data/persistent/partition_bool/metadata/v2.metadata.json'
        base.executemany('INSERT INTO iceberg_tables VALUES (?, ?, ?, ?, NULL, ?)', [
            ('default', 'duck', 'bools', metadata, 'TABLE'), ('default', 'duck', 'old', metadata, None),
            ('default', 'duck', 'view', metadata, 'VIEW'), ('default', 'duck.deep', 'leaf', metadata, None),
            ('default', 'duck', 'gone', '/nowhere/v1.metadata.json', None)])
        base.commit()
        base.close()
        self.options = ['--uri', 'sqlite:///' + self.path, '--map-location', f'data/persistent={TABLES}/duckdb']


class TemporaryTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix='frazil_cli_')
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)


class JsonTest(TemporaryTest):
    """Each form of docs/cli-json.md, over several tables."""

    def test_everything_is_as_documented(self):
        lake = Lake(self.folder)
        schemas = documented_schemas()
        tables = [NATION, PARTITIONED, DELETES, EMPTY, str(TABLES / 'impala/iceberg_with_puffin_stats')]
        listing = {'history': 'history', 'refs': 'refs', 'snapshots': 'snapshots', 'manifests': 'manifests',
                   'files': 'files', 'partitions': 'partitions', 'schema': 'schema', 'spec': 'spec', 'uuid': 'uuid', 'location': 'location',
                   'properties': 'properties'}
        runs = [('`frazil version`', 0, ['version']),
                ('`frazil list`', 0, [*lake.options, 'list']),
                ('`frazil list`', 0, [*lake.options, 'list', 'duck', '--recursive']),
                ('`frazil namespace list`', 0, [*lake.options, 'namespace', 'list']),
                ('`frazil properties`', 0, [*lake.options, 'namespace', 'properties', 'duck']),
                ('`frazil describe`', 1, [*lake.options, 'describe', 'duck'])]
        for table in tables:
            runs.append(('`frazil describe`', 0, ['describe', table]))
            runs.append(('`frazil inspect TABLE metadata_log_entries`', 0, ['inspect', table, 'metadata_log_entries']))
            runs.append(('`frazil files`', 0, ['files', table, '--metrics', '--history']))
            for verb, heading in listing.items():
                runs.append((f'`frazil {heading}`', 0, [verb, table]))
        covered = set()
        for heading, index, arguments in runs:
            with self.subTest(arguments=arguments):
                covered.add((heading, index))
                done = frazil(*arguments, '--output', 'json')
                validate(schemas[heading][index], json.loads(done.stdout))

        error = frazil('describe', '/nowhere', '--output', 'json', code=3)
        validate(schemas['Errors'][0], json.loads(error.stderr))
        self.assertEqual(json.loads(error.stderr)['kind'], 'not_found')
        self.assertEqual(error.stdout, '')
        covered.add(('Errors', 0))
        scan = frazil('scan', NATION, '--format', 'json', '--stats', '--quiet')
        for line in scan.stdout.splitlines():
            validate(schemas['`frazil scan --format json`'][0], json.loads(line))
        validate(schemas['`frazil scan --stats`'][0], json.loads(scan.stderr))
        covered |= {('`frazil scan --format json`', 0), ('`frazil scan --stats`', 0)}
        for more in [], ['--hash'], ['--floor']:
            for line in frazil('bench', 'read', LINEITEM, *more, '--output', 'json').stdout.splitlines():
                validate(schemas['`frazil bench read`'][0], json.loads(line))
        covered.add(('`frazil bench read`', 0))
        for more in [], ['--hash'], ['--write', '--compression', 'zstd']:
            command = ['bench', 'ipc', '--columns', '3', '--rows', '100', '--operations', '5', *more, '--output', 'json']
            for line in frazil(*command).stdout.splitlines():
                validate(schemas['`frazil bench ipc`'][0], json.loads(line))
        covered.add(('`frazil bench ipc`', 0))
        elsewhere = ('`frazil parquet',  # parquet_test.py
                     '`frazil ipc',  # ipc_test.py
                     '`frazil namespace create', '`frazil create', '`frazil drop', '`frazil rename', '`frazil load',
                     '`frazil bench write')  # write_test.py
        documented = {(heading, i) for heading, blocks in schemas.items() for i in range(len(blocks))
                      if not heading.startswith(elsewhere)}
        self.assertEqual(documented - covered, set(), 'documented, but not tested')

    def test_describe_gives_the_metadata_as_it_stands(self):
        text = frazil('describe', DELETES, '--output', 'json').stdout
        value = json.loads(text)
        stored = json.loads(pathlib.Path(DELETES, 'metadata/v5.metadata.json').read_text())
        self.assertEqual(value['metadata_location'], DELETES + '/metadata/v5.metadata.json')
        for key in ('table-uuid', 'location', 'schemas', 'snapshots', 'partition-specs', 'properties',
                    'current-snapshot-id', 'format-version'):
            self.assertEqual(value['metadata'][key], stored[key], key)

    def test_files_tell_what_manifests_say(self):
        files = json.loads(frazil('files', PARTITIONED, '--output', 'json', '--metrics').stdout)
        self.assertEqual(sorted(f['record_count'] for f in files), [1] * 5)
        self.assertEqual(sorted(str(f['partition'].get('j')) for f in files), ['10', '5', 'None', 'None', 'None'])
        self.assertTrue(all(f['content'] == 'data' and f['file_format'] == 'parquet' for f in files))
        bounded = [f for f in files if f['partition'].get('j') == 10]
        self.assertEqual({type(v) for v in bounded[0]['readable_metrics'].values()}, {dict})
        contents = {f['content'] for f in json.loads(frazil('files', DELETES, '--output', 'json').stdout)}
        self.assertEqual(contents, {'data', 'position-deletes', 'equality-deletes'})

    def test_files_of_an_older_snapshot(self):
        first = json.loads(frazil('snapshots', DELETES, '--output', 'json').stdout)[0]
        files = json.loads(frazil('files', DELETES, '--snapshot', str(first['snapshot_id']), '--output', 'json').stdout)
        self.assertEqual({f['content'] for f in files}, {'data'})
        late = json.loads(frazil('files', DELETES, '--as-of', first['committed_at'], '--output', 'json').stdout)
        self.assertEqual(late, files)
        frazil('files', DELETES, '--snapshot', '1', code=3)
        frazil('files', DELETES, '--snapshot', '1', '--ref', 'main', code=2)
        frazil('files', DELETES, '--as-of', 'yesterday', code=2)
        frazil('files', DELETES, '--as-of', '1970-01-01', code=3)


class CorpusTest(unittest.TestCase):
    """Every table of the corpora: each verb reads it, and the files are those that the corpora's index counts."""

    def test_files_are_as_counted(self):
        index = json.loads((ROOT / 'tests/corpora/expected/iceberg-tables-index.json').read_text())
        kinds = {'data': 'data', 'position-deletes': 'posdel', 'equality-deletes': 'eqdel'}
        self.assertGreater(len(index), 80)
        for expected in index:
            with self.subTest(table=expected['dir']):
                files, records = {}, {}
                done = frazil('--quiet', '--output', 'json', 'files', str(TABLES / expected['dir']))
                for file in json.loads(done.stdout):
                    kind = kinds[file['content']]
                    of_format = f"{kind}:{file['file_format']}"
                    files[of_format] = files.get(of_format, 0) + 1
                    records[kind] = records.get(kind, 0) + file['record_count']
                self.assertEqual(files, expected['files'])
                expected['records'].pop('deleted-entries', None)  # entries that `files` leaves out
                self.assertEqual(records, expected['records'])

    def test_all_metadata_verbs_read_all_tables(self):
        index = json.loads((ROOT / 'tests/corpora/expected/iceberg-tables-index.json').read_text())
        for expected in index[::7]:
            for verb in ('describe', 'schema', 'spec', 'snapshots', 'history', 'refs', 'manifests', 'properties'):
                with self.subTest(table=expected['dir'], verb=verb):
                    frazil('--quiet', verb, str(TABLES / expected['dir']))


class TextTest(TemporaryTest):
    def test_texts_are_as_they_were(self):
        for name, arguments in {
                'describe': ['describe', 'duckdb/partition_bool'],
                'schema': ['schema', 'impala/iceberg_v3/test_default_part'],
                'spec': ['spec', 'impala/iceberg_v3/test_default_part'],
                'snapshots': ['snapshots', 'icebird/hyperparam-iceberg/java/bunnies'],
                'history': ['history', 'icebird/hyperparam-iceberg/java/bunnies'],
                'refs': ['refs', 'icebird/hyperparam-iceberg/java/bunnies'],
                'files': ['files', 'icebird/hyperparam-iceberg/java/bunnies'],
                'manifests': ['manifests', 'icebird/hyperparam-iceberg/java/bunnies'],
                'partitions': ['partitions', 'dremio/v2/products_with_eq_deletes'],
                'properties': ['properties', 'duckdb/partition_bool'],
                'scan': ['scan', 'dremio/nation', '--format', 'table', '--limit', '3'],
                'help': ['--help'],
                'help_files': ['files', '--help'],
        }.items():
            with self.subTest(name=name):
                text = frazil('--quiet', *arguments, cwd=TABLES).stdout
                self.assertEqual(text, golden(name + '.txt', text))

    def test_tables_without_anything(self):
        self.assertEqual(frazil('-h').returncode, 0)
        self.assertEqual(frazil('--quiet', 'snapshots', EMPTY).stdout, 'no snapshots\n')
        self.assertEqual(frazil('--quiet', 'files', EMPTY).stdout, 'no files\n')
        self.assertEqual(frazil('--quiet', 'manifests', EMPTY).stdout, 'no manifests\n')
        self.assertEqual(frazil('--quiet', 'history', EMPTY).stdout, 'no history\n')

    def test_notices_go_to_stderr_unless_quiet(self):
        loud, quiet = frazil('uuid', NATION), frazil('uuid', NATION, '--quiet')
        self.assertIn('recorded at file:///tmp/iceberg and found at', loud.stderr)
        self.assertEqual(len(loud.stderr.splitlines()), 1)
        self.assertEqual(quiet.stderr, '')
        self.assertEqual(loud.stdout, quiet.stdout)

    def test_nothing_of_others_reaches_the_terminal_as_a_command(self):
        lake = Lake(self.folder)
        base = sqlite3.connect(lake.path)
        base.execute("INSERT INTO iceberg_tables VALUES ('default', 'duck', ?, 'x', NULL, NULL)", ('\x1b[2Jevil\n',))
        base.commit()
        base.close()
        text = frazil(*lake.options, 'list', 'duck').stdout
        self.assertIn('\\x1b[2Jevil\\n', text)
        self.assertNotIn('\x1b', text)

    def test_colours(self):
        def coloured(*arguments, **env):
            return '\x1b[' in frazil('--quiet', *arguments, 'snapshots', DELETES, env=env).stdout
        self.assertFalse(coloured())
        self.assertTrue(coloured('--color', 'always'))
        self.assertFalse(coloured('--color', 'never'))
        self.assertTrue(coloured(FRAZIL_COLOR='always'))
        self.assertIn('\x1b[31m', frazil('uuid', '/nowhere', '--color', 'always', code=3).stderr)
        self.assertNotIn('\x1b', frazil('uuid', '/nowhere', code=3).stderr)


class RowsTest(unittest.TestCase):
    def test_csv_and_json_agree(self):
        rows = list(csv.reader(io.StringIO(frazil('scan', NATION, '--quiet').stdout)))
        objects = [json.loads(line) for line in
                   frazil('scan', NATION, '--format', 'json', '--quiet').stdout.splitlines()]
        self.assertEqual(rows[0], list(objects[0]))
        self.assertEqual(len(rows), 26)
        self.assertEqual(rows[1:], [[str(v) for v in o.values()] for o in objects])

    def test_output_json_means_rows_in_json(self):
        self.assertEqual(frazil('scan', NATION, '--output', 'json', '--quiet').stdout,
                         frazil('scan', NATION, '--format', 'json', '--quiet').stdout)
        self.assertTrue(frazil('scan', NATION, '--output', 'json', '--format', 'csv', '--quiet').stdout.startswith('n_'))

    def test_none_prints_nothing(self):
        done = frazil('scan', LINEITEM, '--format', 'none', '--stats', '--quiet')
        self.assertEqual(done.stdout, '')
        figures = json.loads(done.stderr)
        self.assertEqual(figures['rows'], 111968)
        self.assertLess(0, figures['pool_peak_bytes'])
        self.assertLess(figures['pool_peak_bytes'], figures['rss_peak_bytes'])

    def test_limit_and_select(self):
        done = frazil('scan', NATION, '--limit', '2', '--select', 'n_name,n_nationkey', '--quiet')
        self.assertEqual(done.stdout, 'n_name,n_nationkey\nALGERIA,0\nARGENTINA,1\n')

    def test_where_and_count(self):
        def count(*options):
            return frazil('scan', NATION, '--count', '--quiet', *options).stdout
        rows = [json.loads(line) for line in frazil('scan', NATION, '--format', 'json', '--quiet').stdout.splitlines()]
        wanted = [row for row in rows if row['n_regionkey'] == 1 and row['n_name'] < 'C']
        where = ('--where', "n_regionkey = 1 AND n_name < 'C'")
        done = frazil('scan', NATION, *where, '--format', 'json', '--select', 'n_name', '--quiet')
        self.assertEqual([json.loads(line) for line in done.stdout.splitlines()],
                         [{'n_name': row['n_name']} for row in wanted])
        self.assertEqual((count(), count('--limit', '7'), count(*where)), ('25\n', '7\n', f'{len(wanted)}\n'))
        done = frazil('bench', 'read', NATION, *where, '--count', '--rounds', '1', '--output', 'json', '--quiet')
        self.assertEqual(json.loads(done.stdout)['rows'], len(wanted))
        frazil('scan', NATION, '--where', 'n_regionkey =', code=2)
        frazil('scan', NATION, '--where', 'nothing = 1', '--count', code=3)

    def test_what_cannot_be_done_yet_says_so(self):
        self.assertIn('deletes', frazil('scan', DELETES, code=5).stderr)
        frazil('scan', NATION, '--format', 'xml', code=2)
        frazil('scan', NATION, '--select', 'nothing', code=3)


class BenchReadTest(TemporaryTest):
    def rounds(self, *arguments, **more):
        done = frazil('bench', 'read', *arguments, '--output', 'json', '--quiet', **more)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def test_each_round_is_a_line(self):
        rounds = self.rounds(LINEITEM, '--threads', '2')
        self.assertEqual(len(rounds), 3)
        for figures in rounds:
            self.assertEqual((figures['rows'], figures['files'], figures['threads']), (111968, 1, 2))
            self.assertEqual(figures['bytes_read'], rounds[0]['bytes_read'])
            self.assertLessEqual(figures['seconds_to_first_batch'], figures['seconds'])
            self.assertLessEqual(figures['pool_peak_bytes'], figures['rss_peak_bytes'])
            self.assertGreater(figures['batches'], 1)
            self.assertNotIn('content_hash', figures)
        self.assertEqual(len(self.rounds(LINEITEM, '--rounds', '2', '--warm-up', '1')), 2)

    def test_peaks_follow_what_is_read(self):
        small = self.rounds(LINEITEM, '--rounds', '1', '--select', 'l_orderkey', '--batch-rows', '1000')[0]
        large = self.rounds(LINEITEM, '--rounds', '1')[0]
        self.assertLess(small['pool_peak_bytes'] * 4, large['pool_peak_bytes'])
        self.assertLess(small['rss_peak_bytes'], large['rss_peak_bytes'])

    def test_the_content_hash_is_that_of_another_implementation(self):
        """Expected: tests/content_hash/content_hash.py over the data file as pyarrow 26.0.1 reads it."""
        for more in [], ['--order', 'arrival'], ['--order', 'sequential'], ['--batch-rows', '3'], ['--memory', '1MiB']:
            for input in NATION, f'{NATION}/data/*.parquet':
                with self.subTest(more=more, input=input):
                    figures = self.rounds(input, '--hash', '--rounds', '1', *more)[0]
                    self.assertEqual((figures['rows'], figures['content_hash']), (25, '5eb205b4fe562fae'))
        some = self.rounds(NATION, '--hash', '--rounds', '1', '--select', 'n_name,n_regionkey')[0]
        other = self.rounds(NATION, '--hash', '--rounds', '1', '--select', 'n_regionkey,n_name')[0]
        self.assertEqual(some['rows'], 25)
        self.assertNotIn(some['content_hash'], ('5eb205b4fe562fae', other['content_hash']))

    def test_files_are_read_like_the_table(self):
        folder = f'{LINEITEM}/data'
        paths = sorted(str(path) for path in pathlib.Path(folder).glob('*.parquet'))
        table = self.rounds(LINEITEM, '--hash', '--rounds', '1')[0]
        for inputs in [paths, [folder + '/*.parquet'], [folder + '/*parque?']]:
            files = self.rounds(*inputs, '--hash', '--rounds', '1', '--threads', '3')[0]
            self.assertEqual(files['content_hash'], table['content_hash'])
            self.assertEqual((files['rows'], files['files'], files['order']), (table['rows'], len(paths), 'arrival'))
        one = self.rounds(*paths, '--rounds', '1', '--order', 'sequential')[0]
        self.assertEqual((one['threads'], one['order']), (1, 'sequential'))

    def test_the_floor_reads_the_pages_and_makes_no_batches(self):
        for input in LINEITEM, f'{LINEITEM}/data/*.parquet':
            whole = self.rounds(input, '--rounds', '1')[0]
            floor = self.rounds(input, '--rounds', '1', '--floor')[0]
            self.assertEqual((floor['rows'], floor['files']), (whole['rows'], whole['files']))
            self.assertEqual((floor['batches'], floor['seconds_to_first_batch']), (None, None))
            self.assertLess(floor['pool_peak_bytes'], whole['pool_peak_bytes'])
            narrow = self.rounds(input, '--rounds', '1', '--floor', '--select', 'l_orderkey')[0]
            self.assertEqual(narrow['rows'], whole['rows'])
            self.assertLess(narrow['bytes_read'] * 2, floor['bytes_read'])

    def test_the_text_is_a_table(self):
        lines = frazil('bench', 'read', NATION, '--hash', '--quiet').stdout.splitlines()
        self.assertEqual(lines[0].split(), 'round seconds M rows/s MB/s first batch ms pool peak RSS peak'.split())
        self.assertEqual([line.split()[0] for line in lines[1:7]], ['1', '2', '3', 'lowest', 'median', 'highest'])
        self.assertTrue(lines[7].startswith('25 rows, 1 file, '), lines[7])
        self.assertEqual(lines[8:], ['content hash 5eb205b4fe562fae'])
        self.assertEqual(len(frazil('bench', 'read', NATION, '--rounds', '1', '--quiet').stdout.splitlines()), 3)

    def test_what_is_wrong_says_so(self):
        for code, arguments in [(2, [NATION, '--rounds', '0']), (2, [NATION, '--hash', '--floor']), (2, []),
                                (2, [f'{NATION}/data/*.parquet', '--order', 'task']), (3, [self.folder + '/*.parquet']),
                                (3, [self.folder + '/x.parquet']), (3, [NATION, '--select', 'nothing']),
                                (3, [f'{NATION}/data/*.parquet', '--select', 'nothing']),
                                (5, [DELETES]), (9, [LINEITEM, '--memory', '100KiB'])]:
            with self.subTest(arguments=arguments):
                done = frazil('bench', 'read', *arguments, '--quiet', code=code)
                self.assertEqual((done.stdout, len(done.stderr.splitlines())), ('', 1))


class BenchIpcTest(TemporaryTest):
    made = ('--columns', '5', '--rows', '1000', '--batches', '3')

    def rounds(self, *arguments, **more):
        done = frazil('bench', 'ipc', *arguments, '--operations', '3', '--output', 'json', '--quiet', **more)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def test_all_inputs_and_formats_give_the_same_rows(self):
        hashes = set()
        for format in 'file', 'stream':
            for input in 'memory', 'mmap', 'pipe', 'file':
                arguments = (*self.made, '--format', format, '--input', input)
                for figures in self.rounds(*arguments):
                    self.assertEqual((figures['rows'], figures['batches'], figures['operations']), (1000, 3, 3))
                    self.assertAlmostEqual(figures['seconds'] * 1e6, figures['microseconds_median'], places=3)
                self.assertEqual(len(self.rounds(*arguments, '--touch', '--validation', 'full', '--rounds', '2')), 2)
                hashes.add(self.rounds(*arguments, '--hash', '--rounds', '1')[0]['content_hash'])
        self.assertEqual(len(hashes), 1)

    def test_what_was_written_is_read_again(self):
        path = self.folder + '/rows.arrow'
        written = self.rounds(*self.made, '--write', '--to', path, '--compression', 'zstd', '--rounds', '1')[0]
        self.assertEqual(written['bytes_written'], os.path.getsize(path))
        read = self.rounds(path, '--hash', '--rounds', '1')[0]
        self.assertEqual(read['content_hash'], self.rounds(*self.made, '--hash', '--rounds', '1')[0]['content_hash'])
        first = self.rounds(path, '--first-batch', '--select', 'c3', '--rounds', '1')[0]
        self.assertEqual((first['rows'], first['batches'], first['files']), (333, 1, 1))

    def test_what_is_wrong_says_so(self):
        for code, arguments in [(2, ['--operations', '0']), (2, ['--hash', '--write']), (2, [NATION, '--columns', '3']),
                                (2, ['--columns', '0']), (3, [self.folder + '/x.arrow']), (3, ['--select', 'nothing']),
                                (4, [__file__])]:
            with self.subTest(arguments=arguments):
                done = frazil('bench', 'ipc', *arguments, '--quiet', code=code)
                self.assertEqual((done.stdout, len(done.stderr.splitlines())), ('', 1))


class ExitCodeTest(TemporaryTest):
    def test_usage(self):
        for arguments in [[], ['scna'], ['scan'], ['uuid', 'a', 'b'], ['list', '--frob'], ['--frob'],
                          ['describe', NATION, '--entity', 'x'], ['scan', NATION, '--limit', 'x'],
                          ['uuid', NATION, '--memory', 'lots'], ['uuid', NATION, '--threads', '0'],
                          ['uuid', 'a..b'], ['uuid', ''], ['--property', 'x', 'uuid', 'a.b'],
                          ['list', '--uri', 'sqlite://host/x'], ['uuid', NATION, '--map-location', 'x'],
                          ['inspect', NATION, 'nothing'], ['properties', 'get'], ['completion', 'csh'], ['list'],
                          ['--config', '/tmp', 'list']]:
            with self.subTest(arguments=arguments):
                done = frazil(*arguments, code=2 if arguments[:1] != ['--config'] else 3)
                self.assertEqual(done.stdout, '')
                self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
                self.assertTrue(done.stderr.startswith('frazil: '))
        self.assertIn('did you mean scan?', frazil('scna', code=2).stderr)

    def test_not_found(self):
        lake = Lake(self.folder)
        for arguments in [['uuid', '/nowhere'], ['uuid', str(TABLES)], [*lake.options, 'uuid', 'duck.nothing'],
                          [*lake.options, 'list', 'nothing'], [*lake.options, 'uuid', 'duck.gone'],
                          ['list', '--uri', 'sqlite:////nowhere/x.db'], ['properties', 'get', NATION, 'nothing'],
                          ['schema', NATION, '--schema-id', '99'], ['spec', NATION, '--spec-id', '99']]:
            with self.subTest(arguments=arguments):
                frazil(*arguments, code=3)

    def test_corrupt(self):
        bad = pathlib.Path(self.folder, 'v1.metadata.json')
        for text in [b'', b'[' * 100000, b'{"format-version": 2}', b'\x1f\x8b\x08', b'PAR1',
                     pathlib.Path(NATION, 'metadata/v2.metadata.json').read_bytes()[:-100]]:
            with self.subTest(text=text[:20]):
                bad.write_bytes(text)
                done = frazil('uuid', str(bad), code=4)
                self.assertIn(str(bad), done.stderr)
        pathlib.Path(self.folder, 'x.db').write_bytes(b'no database' * 1000)
        frazil('list', '--uri', f'sqlite:///{self.folder}/x.db', code=4)

    def test_unsupported(self):
        frazil('list', '--uri', 'postgresql://h/d', code=5)
        frazil('list', '--uri', 'https://h/', code=5)
        frazil('uuid', 's3://bucket/table', code=5)
        lake = Lake(self.folder)
        self.assertIn('not a table but a view', frazil(*lake.options, 'uuid', 'duck.view', code=5).stderr)
        newer = json.loads(pathlib.Path(NATION, 'metadata/v2.metadata.json').read_text()) | {'format-version': 99}
        pathlib.Path(self.folder, 'v1.metadata.json').write_text(json.dumps(newer))
        frazil('uuid', self.folder + '/v1.metadata.json', code=5)

    def test_memory_limit(self):
        # Sparse: a metadata file that claims more than metadata.max-bytes is not read.
        huge = pathlib.Path(self.folder, 'v1.metadata.json')
        with open(huge, 'wb') as file:
            file.truncate(1 << 30)
        done = frazil('uuid', str(huge), code=9)
        self.assertIn('metadata.max-bytes', done.stderr)
        with open(huge, 'wb') as file:
            file.write(b'[' * (20 << 20))
        frazil('uuid', str(huge), '--memory', '10MiB', code=9)
        frazil('uuid', str(huge), code=4)

    @unittest.skipIf(os.geteuid() == 0, 'root may read everything')
    def test_permission(self):
        lake = Lake(self.folder)
        os.chmod(lake.path, 0)
        frazil(*lake.options, 'list', code=10)

    @unittest.skipUnless(os.path.exists('/dev/full'), 'no /dev/full')
    def test_a_full_disk(self):
        with open('/dev/full', 'w') as full:
            done = subprocess.run([FRAZIL, 'files', MANY_FILES], stdout=full, stderr=subprocess.PIPE, text=True,
                                  env=environment(), timeout=60)
        self.assertEqual(done.returncode, 8)
        self.assertIn('cannot write the output', done.stderr)

    def test_errors_are_json_wherever_json_was_asked_for(self):
        for arguments, env in [(['--output', 'json', 'scna'], {}), (['scna', '--output=json'], {}),
                               (['uuid', '/nowhere'], {'FRAZIL_OUTPUT': 'json'}),
                               (['list'], {'FRAZIL_OUTPUT': 'json'})]:
            with self.subTest(arguments=arguments):
                done = subprocess.run([FRAZIL, *arguments], capture_output=True, text=True, env=environment(**env))
                validate(documented_schemas()['Errors'][0], json.loads(done.stderr))


class PipeAndSignalTest(TemporaryTest):
    def test_a_closed_pipe_ends_quietly(self):
        for arguments in [['files', MANY_FILES], ['files', MANY_FILES, '--output', 'json'],
                          ['scan', LINEITEM], ['scan', LINEITEM, '--format', 'json']]:
            with self.subTest(arguments=arguments):
                process = subprocess.Popen([FRAZIL, '--quiet', *arguments], stdout=subprocess.PIPE,
                                           stderr=subprocess.PIPE, env=environment())
                process.stdout.read(10)
                process.stdout.close()
                self.assertEqual(process.wait(timeout=60), 0)
                self.assertEqual(process.stderr.read(), b'')
                process.stderr.close()

    def test_an_interrupt_stops_within_a_second(self):
        for sent in (signal.SIGINT, signal.SIGTERM):
            # Nobody reads: the program stands still in the middle of its output.
            process = subprocess.Popen([FRAZIL, '--quiet', 'scan', LINEITEM], stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, env=environment())
            process.stdout.read(10)
            time.sleep(0.2)
            start = time.monotonic()
            process.send_signal(sent)
            self.assertEqual(process.wait(timeout=60), 130)
            self.assertLess(time.monotonic() - start, 30)  # a second is promised; a loaded machine may be late
            process.stdout.close()
            process.stderr.close()

    def test_an_ignored_interrupt_stays_ignored(self):
        process = subprocess.Popen(['sh', '-c', f'trap "" INT; exec {FRAZIL} --quiet scan {LINEITEM}'],
                                   stdout=subprocess.PIPE, env=environment())
        process.stdout.read(10)
        process.send_signal(signal.SIGINT)
        self.assertGreater(len(process.stdout.read()), 10_000_000)
        self.assertEqual(process.wait(timeout=60), 0)
        process.stdout.close()


class TerminalTest(unittest.TestCase):
    def run_on_terminal(self, *arguments, code=0):
        try:
            main, other = pty.openpty()
        except OSError as error:
            self.skipTest(f'no terminal can be had here: {error}')
        process = subprocess.Popen([FRAZIL, *arguments], stdout=other, stderr=other, env=environment(), cwd='/')
        os.close(other)
        text = b''
        while True:
            try:
                if not select.select([main], [], [], 60)[0]:
                    break
                part = os.read(main, 65536)
            except OSError:
                break
            if not part:
                break
            text += part
        os.close(main)
        self.assertEqual(process.wait(timeout=60), code)
        return text.decode()

    def test_rows_are_a_table_with_colours(self):
        self.assertIn('nothing for a terminal', self.run_on_terminal('scan', NATION, '--format', 'arrow', code=2))
        text = self.run_on_terminal('--quiet', 'scan', NATION, '--limit', '2')
        self.assertIn('\x1b[1m', text)
        self.assertIn('ALGERIA', text)
        self.assertIn('(2 of 25 rows)', text)
        self.assertNotIn('\x1b', self.run_on_terminal('--quiet', '--color', 'never', 'scan', NATION))

    def test_json_is_indented(self):
        text = self.run_on_terminal('--quiet', 'uuid', NATION, '--output', 'json')
        self.assertEqual(text.count('\n'), 3, text)


class CatalogTest(TemporaryTest):
    def setUp(self):
        super().setUp()
        self.lake = Lake(self.folder)

    def run_in_lake(self, *arguments, **more):
        return frazil(*self.lake.options, *arguments, **more)

    def test_lists(self):
        self.assertEqual(self.run_in_lake('list').stdout, 'duck\nempty\n')
        self.assertEqual(self.run_in_lake('list', 'duck').stdout, 'duck.bools\nduck.gone\nduck.old\nduck.deep\n')
        self.assertEqual(self.run_in_lake('list', '-r').stdout, 'duck.bools\nduck.gone\nduck.old\nduck.deep.leaf\n')
        self.assertEqual(self.run_in_lake('list', 'empty').stdout, '')
        self.assertEqual(self.run_in_lake('namespace', 'list', '-r').stdout, 'duck\nduck.deep\nempty\n')
        self.assertEqual(json.loads(self.run_in_lake('list', 'duck', '--output', 'json').stdout),
                         {'tables': ['duck.bools', 'duck.gone', 'duck.old'], 'namespaces': ['duck.deep']})

    def test_loads(self):
        uuid = 'd09cc8d2-371d-4870-8503-6e7e0de0e31c\n'
        for table in ('duck.bools', 'duck.old', 'duck.deep.leaf'):
            self.assertEqual(self.run_in_lake('uuid', table).stdout, uuid)
        self.assertEqual(self.run_in_lake('scan', 'duck.bools', '--select', 'user_id').stdout, 'user_id\n12345\n67890\n')
        self.assertIn('owner', self.run_in_lake('describe', 'duck').stdout)
        self.assertIn('Format version', self.run_in_lake('describe', 'duck.bools').stdout)
        self.run_in_lake('describe', 'duck.bools', '--entity', 'namespace', code=3)
        self.run_in_lake('describe', 'duck', '--entity', 'table', code=3)

    def test_words_of_pyiceberg(self):
        self.assertEqual(self.run_in_lake('list-refs', 'duck.bools').stdout, self.run_in_lake('refs', 'duck.bools').stdout)
        self.assertEqual(self.run_in_lake('properties', 'get', 'table', 'duck.bools', 'owner').stdout, 'thijs\n')
        self.assertEqual(self.run_in_lake('properties', 'get', 'duck.bools', 'owner').stdout, 'thijs\n')
        self.assertEqual(self.run_in_lake('properties', 'get', 'namespace', 'duck', 'owner').stdout, 'me\n')
        self.assertEqual(self.run_in_lake('properties', 'get', 'namespace', 'duck').stdout,
                         self.run_in_lake('namespace', 'properties', 'duck').stdout)
        self.assertEqual(self.run_in_lake('location', 'duck.bools').stdout, 'data/persistent/partition_bool\n')
        self.assertEqual(frazil('--version').stdout, frazil('version').stdout)
        self.assertIn('refs', self.run_in_lake('list-refs', '--type', 'tag', 'duck.bools').stdout + 'refs')

    def test_short_forms_are_inspect(self):
        for name in ('files', 'history', 'manifests', 'partitions', 'refs', 'snapshots'):
            self.assertEqual(self.run_in_lake('inspect', 'duck.bools', name).stdout,
                             self.run_in_lake(name, 'duck.bools').stdout)

    def test_options_stand_before_and_behind_the_verb(self):
        a, b = self.lake.options[:2], self.lake.options[2:]
        expected = frazil(*a, *b, 'uuid', 'duck.bools').stdout
        self.assertEqual(frazil('uuid', *a, 'duck.bools', *b).stdout, expected)
        self.assertEqual(frazil(*b, 'uuid', 'duck.bools', *a).stdout, expected)
        self.assertEqual(frazil('properties', 'get', *a, 'table', 'duck.bools', 'owner', *b).stdout, 'thijs\n')

    def test_a_table_named_like_a_verb_is_no_verb(self):
        base = sqlite3.connect(self.lake.path)
        base.execute("UPDATE iceberg_tables SET table_name = 'list', table_namespace = '' WHERE table_name = 'bools'")
        base.commit()
        base.close()
        self.assertIn('d09cc8d2', self.run_in_lake('uuid', 'list').stdout)

    def test_another_name_of_the_catalog_sees_nothing_and_hints(self):
        self.assertIn("but of 'default'", self.run_in_lake('--catalog', 'other', 'uuid', 'duck.bools', code=3).stderr)

    def test_configuration(self):
        home = pathlib.Path(self.folder, 'home')
        work = pathlib.Path(self.folder, 'work')
        home.mkdir()
        work.mkdir()
        (home / '.pyiceberg.yaml').write_text(
            f'catalog:\n  default:\n    uri: sqlite:///{self.lake.path}\n'
            f'    map-location: data/persistent={TABLES}/duckdb\n  broken:\n    uri: sqlite:////nowhere.db\n')
        env = {'HOME': str(home)}
        self.assertEqual(frazil('list', env=env).stdout, 'duck\nempty\n')
        self.assertIn('d09cc8d2', frazil('uuid', 'duck.bools', env=env).stdout)
        self.assertIn('d09cc8d2', frazil('uuid', 'default.duck.bools', env=env).stdout)
        frazil('list', '--catalog', 'broken', env=env, code=3)
        # Each source above it wins in turn.
        frazil('list', env=env | {'PYICEBERG_CATALOG__DEFAULT__URI': 'sqlite:////nowhere.db'}, code=3)
        (work / '.frazil.yaml').write_text(f'catalog: {{default: {{uri: "sqlite:///{self.lake.path}"}}}}\n')
        frazil('list', env=env | {'PYICEBERG_CATALOG__DEFAULT__URI': 'sqlite:////nowhere.db'}, cwd=work)
        frazil('list', env=env | {'FRAZIL_CATALOG__DEFAULT__URI': 'sqlite:////nowhere.db'}, cwd=work, code=3)
        frazil('list', '--uri', 'sqlite:///' + self.lake.path, cwd=work,
               env=env | {'FRAZIL_CATALOG__DEFAULT__URI': 'sqlite:////nowhere.db'})
        # Other options have variables too.
        json.loads(frazil('list', env=env | {'FRAZIL_OUTPUT': 'json'}).stdout)
        frazil('uuid', 'duck.bools', env=env | {'FRAZIL_MEMORY': 'x'}, code=2)
        # A file that is named stands for both.
        named = work / 'other.yaml'
        named.write_text('catalog: {default: {uri: "sqlite:////nowhere.db"}}\n')
        frazil('list', '--config', str(named), env=env, code=3)
        named.write_text('catalog: [\n')
        self.assertIn('other.yaml line', frazil('list', '--config', str(named), env=env, code=2).stderr)

    def test_reading_changes_nothing(self):
        before = pathlib.Path(self.lake.path).read_bytes()
        self.run_in_lake('list', '-r')
        self.run_in_lake('scan', 'duck.bools')
        self.assertEqual(pathlib.Path(self.lake.path).read_bytes(), before)
        self.assertEqual(os.listdir(self.folder), ['lake.db'])


class PyIcebergDatabaseTest(unittest.TestCase):
    """A catalog and a table that PyIceberg 0.12.0 wrote (data/pyiceberg-0.12.0/make.py)."""

    def test_reads(self):
        folder = pathlib.Path(__file__).parent / 'data/pyiceberg-0.12.0'
        options = ['--uri', f'sqlite:///{folder}/lake.db', '--catalog', 'lake',
                   '--map-location', f'file:///frazil-fixture={folder}']
        before = (folder / 'lake.db').read_bytes()
        self.assertEqual(frazil(*options, 'list').stdout, 'a_b\nempty\nweb\n')
        self.assertEqual(frazil(*options, 'list', 'web').stdout, 'web.hits\nweb.eu\n')
        self.assertEqual(frazil(*options, 'namespace', 'properties', 'web').stdout,
                         'property  value\nowner     frazil\n')
        rows = frazil(*options, 'scan', 'web.hits').stdout
        self.assertEqual(rows, 'id,host,day\n1,a,2026-11-01\n2,,2026-11-02\n3,"",2026-11-02\n')
        self.assertEqual(len(json.loads(frazil(*options, 'snapshots', 'web.hits', '--output', 'json').stdout)), 2)
        self.assertEqual((folder / 'lake.db').read_bytes(), before)


class CompletionTest(unittest.TestCase):
    def test_bash(self):
        if not shutil.which('bash'):
            self.skipTest('no bash')
        script = frazil('completion', 'bash').stdout

        def complete(*words):
            line = ' '.join(f'"{w}"' for w in words)
            run = f'{script}\nCOMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _frazil; echo "${{COMPREPLY[@]}}"'
            return subprocess.run(['bash', '-c', run], capture_output=True, text=True, check=True).stdout.split()

        self.assertEqual(complete('frazil', 'sn'), ['snapshots'])
        self.assertIn('--recursive', complete('frazil', 'list', '--'))
        self.assertIn('--memory', complete('frazil', 'list', '--'))
        self.assertEqual(complete('frazil', 'namespace', 'l'), ['list'])
        self.assertEqual(complete('frazil', '--output', ''), ['text', 'json'])

    def test_fish_and_zsh_are_scripts(self):
        self.assertIn('complete -c frazil', frazil('completion', 'fish').stdout)
        self.assertIn('bashcompinit', frazil('completion', 'zsh').stdout)


if __name__ == '__main__':
    unittest.main(argv=[sys.argv[0], *sys.argv[1:]], verbosity=1)
