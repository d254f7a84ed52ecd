"""`frazil create`, `load`, `rename`, `drop`: what they print, what is in the tables afterwards, and what is not after an
error.

Needs nothing but the standard library. FRAZIL is the program; without it build/release/frazil is taken.
"""
import csv
import gzip
import json
import pathlib
import sqlite3
import subprocess
import unittest

from program_test import FRAZIL, ROOT, TemporaryTest, documented_schemas, environment, frazil, validate

FLIGHTS = str(ROOT / 'examples/data/nycflights13/flights.csv.zst')
AIRLINES = str(ROOT / 'examples/data/nycflights13/airlines.csv')
ALL_TYPES = str(ROOT / 'tests/corpora/parquet-testing/data/alltypes_plain.parquet')


class WriteTest(TemporaryTest):
    def setUp(self):
        super().setUp()
        self.lake = pathlib.Path(self.folder)
        self.options = ['--uri', f'sqlite:///{self.lake}/catalog.db', '--warehouse', str(self.lake)]

    def run_verb(self, *arguments, **more):
        return frazil(*arguments, *self.options, **more)

    def json_of(self, heading, *arguments, **more):
        value = json.loads(self.run_verb(*arguments, '--output', 'json', **more).stdout)
        validate(documented_schemas()[f'`frazil {heading}`'][0], value)
        return value

    def rows(self, table, *arguments):
        text = self.run_verb('scan', table, '--format', 'json', *arguments).stdout
        return [json.loads(line) for line in text.splitlines()]

    def data_files(self):
        return sorted(str(path.relative_to(self.lake)) for path in self.lake.rglob('*') if path.is_file()
                      and not path.name.startswith('catalog.db') and 'metadata' not in path.parts)


class CatalogTest(WriteTest):
    def test_namespaces_come_and_go(self):
        self.assertEqual(self.json_of('namespace create', 'namespace', 'create', 'web', '--property', 'owner=ops'),
                         {'namespace': 'web'})
        self.assertEqual(self.run_verb('create', 'namespace', 'web.deep').stdout, 'created namespace web.deep\n')
        self.assertEqual(json.loads(self.run_verb('properties', 'get', 'namespace', 'web', '--output', 'json').stdout),
                         {'owner': 'ops'})
        self.run_verb('namespace', 'create', 'web', code=1)
        self.run_verb('namespace', 'drop', 'web', code=2)
        self.run_verb('drop', 'namespace', 'web.deep')
        self.run_verb('namespace', 'drop', 'web')
        self.assertEqual(self.run_verb('namespace', 'list').stdout, '')

    def test_tables_are_created_renamed_and_dropped(self):
        self.run_verb('namespace', 'create', 'web')
        made = self.json_of('create', 'create', 'web.hits', '--schema', 'id bigint not null, ts timestamptz, host string',
                            '--partition-by', 'day(ts), bucket(4, id)', '--sort-by', 'ts desc', '--property', 'a=b')
        self.assertTrue(pathlib.Path(made['metadata_location'].removeprefix('file://')).exists())
        described = json.loads(self.run_verb('describe', 'web.hits', '--output', 'json').stdout)['metadata']
        self.assertEqual(described['table-uuid'], made['uuid'])
        self.assertEqual(described['format-version'], 2)
        self.assertEqual(described['properties']['a'], 'b')
        self.assertEqual([f['name'] for f in described['partition-specs'][0]['fields']], ['ts_day', 'id_bucket'])
        self.run_verb('create', 'web.hits', '--schema', 'id int', code=1)
        self.run_verb('create', 'nowhere.hits', '--schema', 'id int', code=3)
        self.run_verb('create', 'web.other', '--schema', 'id nothing', code=2)
        self.run_verb('create', 'web.other', code=2)
        self.assertIn('no file columns.json', self.run_verb('create', 'web.other', '--schema', 'columns.json', code=3).stderr)
        self.assertEqual(self.json_of('rename', 'rename', 'web.hits', 'web.pages'), {'from': 'web.hits', 'to': 'web.pages'})
        self.run_verb('scan', 'web.hits', code=3)
        self.assertEqual(self.rows('web.pages'), [])
        dropped = self.json_of('drop', 'drop', 'table', 'web.pages')
        self.assertEqual(dropped, {'table': 'web.pages', 'deleted_files': 0, 'failed_files': 0})
        self.run_verb('drop', 'web.pages', code=3)

    def test_a_purge_deletes_every_file(self):
        self.run_verb('namespace', 'create', 'web')
        self.run_verb('load', 'web.airlines', AIRLINES, '--create')
        self.assertEqual(len(self.data_files()), 1)
        self.assertGreaterEqual(self.json_of('drop', 'drop', 'web.airlines', '--purge')['deleted_files'], 4)
        self.assertEqual([p for p in self.lake.rglob('*') if p.is_file() and p.parent != self.lake], [])

    def test_columns_as_text_and_as_json(self):
        self.run_verb('namespace', 'create', 'web')
        as_json = '{"type":"struct","fields":[{"id":1,"name":"a","required":true,"type":"int"}]}'
        (self.lake / 'columns.json').write_text(as_json)
        (self.lake / 'columns.txt').write_text('a int not null')
        for i, columns in enumerate([as_json, self.lake / 'columns.json', self.lake / 'columns.txt', 'a int not null']):
            self.run_verb('create', f'web.t{i}', '--schema', str(columns))
            self.assertIn('a     int   required', self.run_verb('schema', f'web.t{i}').stdout)
        self.run_verb('create', 'web.fixed', '--schema', 'a fixed(4), b fixed[4]')
        self.assertEqual(self.run_verb('schema', 'web.fixed').stdout.count('fixed[4]'), 2)

    def test_a_table_at_a_path(self):
        path = str(self.lake / 'hits')
        frazil('create', path, '--like', ALL_TYPES, '--format-version', '3')
        frazil('load', path, ALL_TYPES)
        frazil('load', path, ALL_TYPES)
        rows = [json.loads(line) for line in frazil('scan', path, '--format', 'json').stdout.splitlines()]
        expected = [json.loads(line) for line in frazil('parquet', 'cat', ALL_TYPES, '--format', 'json').stdout.splitlines()]
        self.assertEqual(len(rows), 16)
        for row in expected:  # timestamps of tables have the zone of the file's: none
            self.assertEqual(sum(1 for other in rows if other['id'] == row['id']), 2)
        frazil('drop', path, code=5)


class LoadTest(WriteTest):
    def setUp(self):
        super().setUp()
        self.run_verb('namespace', 'create', 'n')

    def test_flights_by_month_and_carrier(self):
        loaded = self.json_of('load', 'load', 'n.flights', FLIGHTS, '--create', '--null', 'NA',
                              '--partition-by', 'month, carrier')
        self.assertEqual(loaded['rows'], 336776)
        self.assertEqual(loaded['files'], 185)
        self.assertEqual(loaded['files'], len(self.data_files()))
        self.assertEqual(sum('/flights/data/month=12/carrier=9E/' in path for path in self.data_files()), 1)
        # Facts of the R package's documentation: the airports, and flights without a departure time.
        rows = self.rows('n.flights', '--select', 'origin,dep_time')
        self.assertEqual({row['origin'] for row in rows}, {'EWR', 'JFK', 'LGA'})
        self.assertEqual(sum(row['dep_time'] is None for row in rows), 8255)
        self.assertEqual(len(self.rows('n.flights', '--where', "month = 7 AND carrier = 'HA'")), 31)

    def test_several_files_and_formats_in_one_commit(self):
        (self.lake / 'a.csv').write_text('id,name\n1,x\n2,\n')
        (self.lake / 'b.json').write_text('{"name": "y"}\n{"id": 4}\n')
        with gzip.open(self.lake / 'c.csv.gz', 'wt') as out:
            out.write('name,id\n"",5\n')
        loaded = self.json_of('load', 'load', 'n.t', *(str(self.lake / name) for name in ('a.csv', 'b.json', 'c.csv.gz')),
                              '--create')
        self.assertEqual((loaded['rows'], loaded['input_files'], loaded['files']), (5, 3, 1))
        self.assertEqual(self.rows('n.t'), [{'id': 1, 'name': 'x'}, {'id': 2, 'name': None}, {'id': None, 'name': 'y'},
                                            {'id': 4, 'name': None}, {'id': 5, 'name': ''}])
        self.assertEqual(len(json.loads(self.run_verb('snapshots', 'n.t', '--output', 'json').stdout)), 1)

    def test_standard_input(self):
        done = subprocess.run([FRAZIL, 'load', 'n.t', '-', '--format', 'json',
                               '--create', *self.options], input=b'{"a": 1}\n{"a": 2}\n', capture_output=True,
                              env=environment(), timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.rows('n.t'), [{'a': 1}, {'a': 2}])

    def test_what_scan_prints_is_loaded_again(self):
        self.run_verb('load', 'n.a', ALL_TYPES, '--create')
        for name, form in ('n.csv', 'csv'), ('n.json', 'json'):
            text = self.run_verb('scan', 'n.a', '--format', form).stdout
            path = self.lake / f'rows.{form}'
            path.write_text(text)
            schema = self.run_verb('schema', 'n.a', '--output', 'json').stdout
            (self.lake / 'schema.json').write_text(schema)
            self.run_verb('create', name, '--schema', str(self.lake / 'schema.json'))
            self.run_verb('load', name, str(path))
            self.assertEqual(self.rows(name), self.rows('n.a'))

    def test_scans_as_parquet(self):
        self.run_verb('load', 'n.t', FLIGHTS, '--create', '--null', 'NA', '--partition-by', 'month')
        path = self.lake / 'july.parquet'
        arguments = ['scan', 'n.t', '--where', 'month = 7', '--select', 'carrier,dep_delay,time_hour']
        with open(path, 'wb') as out:
            subprocess.run([FRAZIL, *arguments, '--format', 'parquet', *self.options], stdout=out, check=True,
                           env=environment(), timeout=60)
        as_json = ['--format', 'json']
        self.assertEqual(frazil('parquet', 'cat', str(path), *as_json).stdout, self.run_verb(*arguments, *as_json).stdout)
        frazil('parquet', 'verify', str(path))
        self.assertEqual(frazil('parquet', 'count', str(path)).stdout, '29425\n')
        with open(path, 'wb') as out:
            subprocess.run([FRAZIL, *arguments, '--limit', '7', '--format', 'parquet', *self.options], stdout=out,
                           check=True, env=environment(), timeout=60)
        self.assertEqual(frazil('parquet', 'count', str(path)).stdout, '7\n')

    def test_a_dry_run_leaves_nothing(self):
        loaded = self.json_of('load', 'load', 'n.t', AIRLINES, '--create', '--dry-run')
        self.assertEqual((loaded['rows'], loaded['snapshot_id']), (16, None))
        self.assertGreater(loaded['bytes_written'], 100)
        self.assertEqual(self.run_verb('list', 'n').stdout, '')
        self.assertEqual(self.data_files(), [])

    def test_a_bad_row_leaves_the_table_as_it_was(self):
        self.run_verb('load', 'n.t', AIRLINES, '--create')
        before = self.data_files()
        for text, code, message in [
                ('carrier,name\nXX,"a" b\n', 4, 'CSV row 2, line 2: text follows the closing quote'),
                ('carrier,name,more\nXX,a,b\n', 2, "'more'"),
                ('carrier,name\nXX,\udcff\n', 2, 'row 2'),
                ('carrier,name\nXX\n', 2, '1 fields instead of 2')]:
            path = self.lake / 'bad.csv'
            path.write_bytes(text.encode('utf-8', 'surrogateescape'))
            error = self.run_verb('load', 'n.t', AIRLINES, str(path), code=code).stderr
            self.assertIn(message, error)
            path.unlink()
            self.assertEqual(self.data_files(), before)
        self.assertEqual(len(self.rows('n.t')), 16)

    def test_a_new_table_comes_with_its_rows_or_not_at_all(self):
        path = self.lake / 'late.csv'
        path.write_text('id,name\n' + '1,a longer text to fill the sample\n' * 200_000 + '2,"b" c\n')
        folder = str(self.lake / 'by_path')
        for table in 'n.t', folder:
            error = self.run_verb('load', table, str(path), '--create', '--partition-by', 'name', code=4).stderr
            self.assertIn('CSV row 200002, line 200002', error)
            self.run_verb('scan', table, code=3)
        self.assertEqual(self.run_verb('list', 'n').stdout, '')
        self.assertEqual([p.name for p in self.lake.iterdir() if not p.name.startswith('catalog.db')], ['late.csv'])
        path.write_text('id,name\n1,a\n')
        for table in 'n.t', folder:
            self.assertIn('created ', self.run_verb('load', table, str(path), '--create').stderr)
            again = self.run_verb('load', table, str(path), '--create', '--partition-by', 'name')
            self.assertIn('plays no part', again.stderr)
            self.assertTrue(again.stdout.startswith('loaded 1 row of 12 bytes into '), again.stdout)
            self.assertEqual(self.run_verb('scan', table, '--count').stdout, '2\n')
        self.assertIn('--create', self.run_verb('load', 'n.t', str(path), '--partition-by', 'name', code=2).stderr)

    def test_a_table_that_is_not_there_is_created_on_request(self):
        for table in 'n.t', str(self.lake / 'by_path'):
            self.assertIn('--create makes a table', self.run_verb('load', table, AIRLINES, code=3).stderr)
        self.assertIn('namespace create', self.run_verb('load', 'x.t', AIRLINES, '--create', code=3).stderr)

    def test_numbers_that_do_not_fit(self):
        self.run_verb('create', 'n.t', '--schema', 'i int, f float, d double, m decimal(4, 1), u uuid, s date')
        for column, text in [('i', '2147483648'), ('i', '1.5'), ('f', '1e39'), ('d', '-1e309'), ('m', '1.25'),
                             ('m', '1000.0'), ('u', '7'), ('s', '2026-02-30'), ('s', '10000-01-01')]:
            (self.lake / 'a.csv').write_text(f'{column}\n{text}\n')
            error = self.run_verb('load', 'n.t', str(self.lake / 'a.csv'), code=2).stderr
            self.assertIn(f'row 2, line 2, column \'{column}\': "{text}" is no ', error)
            (self.lake / 'a.json').write_text(json.dumps({column: text}) + '\n')
            self.assertIn('at line 1', self.run_verb('load', 'n.t', str(self.lake / 'a.json'), code=2).stderr)
        (self.lake / 'a.csv').write_text('f,d\ninf,-Infinity\nNaN,1e308\n')
        self.run_verb('load', 'n.t', str(self.lake / 'a.csv'))
        self.assertEqual([row['f'] for row in self.rows('n.t')], ['Infinity', 'NaN'])

    def test_required_columns(self):
        self.run_verb('create', 'n.t', '--schema', 'id int not null, name string')
        path = self.lake / 'a.csv'
        path.write_text('name\nx\n')
        self.assertIn("'id'", self.run_verb('load', 'n.t', str(path), code=2).stderr)
        path.write_text('id,name\n,x\n')
        self.assertIn("'id' is required", self.run_verb('load', 'n.t', str(path), code=2).stderr)
        path.write_text('id\n7\n')
        self.run_verb('load', 'n.t', str(path))
        self.assertEqual(self.rows('n.t'), [{'id': 7, 'name': None}])

    def test_write_defaults_of_what_no_file_or_row_has(self):
        def field(id, name, type, required=False, **more):
            return {'id': id, 'name': name, 'type': type, 'required': required, **more}

        point = {'type': 'struct', 'fields': [field(5, 'x', 'int', **{'write-default': 7}), field(6, 'y', 'int')]}
        columns = [field(1, 'id', 'long'),
                   field(2, 'day', 'date', True, **{'initial-default': '2026-01-01', 'write-default': '2026-02-28'}),
                   field(3, 'state', 'string', **{'write-default': 'new'}), field(4, 'p', point)]
        self.run_verb('create', 'n.t', '--schema', json.dumps({'type': 'struct', 'fields': columns}), '--format-version', '3')
        (self.lake / 'a.json').write_text('{"id": 1}\n{"id": 2, "state": null, "p": {"y": 1}}\n'
                                          '{"id": 3, "day": "2025-12-31", "state": "", "p": {"x": null}}\n')
        (self.lake / 'b.csv').write_text('id\n4\n')
        self.run_verb('load', 'n.t', str(self.lake / 'a.json'), str(self.lake / 'b.csv'))
        self.assertEqual(self.rows('n.t'), [
            {'id': 1, 'day': '2026-02-28', 'state': 'new', 'p': None},
            {'id': 2, 'day': '2026-02-28', 'state': None, 'p': {'x': 7, 'y': 1}},
            {'id': 3, 'day': '2025-12-31', 'state': '', 'p': {'x': None, 'y': None}},
            {'id': 4, 'day': '2026-02-28', 'state': 'new', 'p': None}])
        (self.lake / 'a.json').write_text('{"id": 5, "day": null}\n')
        self.assertIn("'day' is required", self.run_verb('load', 'n.t', str(self.lake / 'a.json'), code=2).stderr)

    def test_python_reads_the_catalog(self):
        self.run_verb('load', 'n.t', AIRLINES, '--create')
        with sqlite3.connect(self.lake / 'catalog.db') as base:
            rows = base.execute('SELECT table_namespace, table_name, previous_metadata_location IS NOT NULL '
                                'FROM iceberg_tables').fetchall()
        self.assertEqual(rows, [('n', 't', 0)])  # the first version holds the rows
        with open(AIRLINES, newline='') as file:
            self.assertEqual(self.rows('n.t'), list(csv.DictReader(file)))


class BenchTest(WriteTest):
    def test_rounds_of_writing(self):
        for arguments, files in [([], 30), (['--partitions', '7', '--order', 'random', '--nested'], 7),
                                 (['--partitions', '7', '--order', 'clustered', '--durability', 'full'], 7)]:
            text = frazil('bench', 'write', '--rows', '1000', '--rounds', '2', '--folder', self.folder, *arguments,
                          '--output', 'json').stdout
            for line in text.splitlines():
                figures = json.loads(line)
                validate(documented_schemas()['`frazil bench write`'][0], figures)
                self.assertEqual((figures['rows'], figures['files']), (1000, files))
            self.assertEqual(len(text.splitlines()), 2)
        self.assertEqual(list(self.lake.iterdir()), [])
        self.assertIn('1,000 rows, 30 files', frazil('bench', 'write', '--rows', '1000', '--rounds', '1').stdout)


if __name__ == '__main__':
    unittest.main()
