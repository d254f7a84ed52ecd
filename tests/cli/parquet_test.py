"""Does `frazil parquet` say what is in Parquet files? Answers are those of the corpora's own papers, of three other
readers (expected/parquet-outcomes.json), of stated rows (CSV), and of pyarrow where it is there.

Needs nothing but the standard library. FRAZIL is the program; without it build/release/frazil is taken.
"""
import csv
import io
import json
import pathlib
import re
import shutil
import subprocess
import sys
import unittest
import zlib

from program_test import FRAZIL, ROOT, TemporaryTest, documented_schemas, environment, frazil, golden, validate

sys.path.append(str(ROOT / 'tests/parquet'))
import forged  # noqa: E402

CORPORA = ROOT / 'tests/corpora'
DATA = CORPORA / 'parquet-testing/data'
BAD = CORPORA / 'parquet-testing/bad_data'
TINY_PAGES = str(DATA / 'alltypes_tiny_pages.parquet')
PLAIN = str(DATA / 'alltypes_plain.parquet')
NULL_PAGES = str(DATA / 'int32_with_null_pages.parquet')
BLOOM = str(DATA / 'data_index_bloom_encoding_stats.parquet')
NESTED = str(DATA / 'nullable.impala.parquet')


def parquet(*arguments, **more):
    return frazil('parquet', *arguments, **more)


def listing(*arguments, **more):
    return json.loads(parquet(*arguments, '--output', 'json', **more).stdout)


def agreed_files():
    """{path: rows} of all files that three other readers read alike."""
    outcomes = json.loads((CORPORA / 'expected/parquet-outcomes.json').read_text())
    return {str(CORPORA / path): known['duckdb']['rows'] for path, known in outcomes.items()
            if known['agree'] and 'rows' in known.get('duckdb', {}) and (CORPORA / path).exists()}


class FooterTest(unittest.TestCase):
    def test_texts(self):
        for name, arguments in {'parquet_meta': ['meta', 'alltypes_plain.parquet'],
                                'parquet_schema': ['schema', 'nullable.impala.parquet'],
                                'parquet_schema_arrow': ['schema', 'nullable.impala.parquet', '--form', 'arrow'],
                                'parquet_pages': ['pages', 'alltypes_plain.parquet', '--select', 'id,string_col'],
                                'parquet_stats': ['stats', 'binary_truncated_min_max.parquet'],
                                'parquet_stats_pages': ['stats', 'int32_with_null_pages.parquet', '--pages'],
                                'parquet_bloom': ['bloom', 'data_index_bloom_encoding_stats.parquet']}.items():
            with self.subTest(name=name):
                text = parquet(*arguments, cwd=str(DATA)).stdout
                self.assertEqual(text, golden(name + '.txt', text))

    def test_json_is_as_documented(self):
        schemas = documented_schemas()
        files = [PLAIN, NESTED, BLOOM, NULL_PAGES, str(DATA / 'floating_orders_nan_count.parquet'),
                 str(DATA / 'rle-dict-snappy-checksum.parquet'), str(DATA / 'nested_lists.snappy.parquet')]
        runs = [('meta', 0, ['meta', *files]), ('schema', 0, ['schema', *files]), ('pages', 0, ['pages', *files]),
                ('stats', 0, ['stats', *files]), ('stats', 1, ['stats', '--pages', *files]),
                ('bloom', 0, ['bloom', *files]),
                ('bloom', 0, ['bloom', BLOOM, '--contains', "String = 'Hello'"]),
                ('count', 0, ['count', *files]), ('verify', 0, ['verify', *files])]
        covered = set()
        for verb, index, arguments in runs:
            with self.subTest(arguments=arguments):
                heading = f'`frazil parquet {verb}`'
                validate(schemas[heading][index], listing(*arguments))
                covered.add((heading, index))
        damaged = str(DATA / 'datapage_v1-corrupt-checksum.parquet')
        validate(schemas['`frazil parquet verify`'][0], listing('verify', damaged, code=4))
        for line in parquet('cat', NESTED, '--output', 'json').stdout.splitlines():
            validate(schemas['`frazil parquet cat`'][0], json.loads(line))
        covered.add(('`frazil parquet cat`', 0))
        documented = {(heading, i) for heading, blocks in schemas.items() for i in range(len(blocks))
                      if heading.startswith('`frazil parquet')}
        self.assertEqual(documented - covered, set(), 'documented, but not tested')

    def test_meta_is_what_parquet_mr_says(self):
        # int32_with_null_pages.md: 1000 values, 3.250 kB in all, by parquet-mr.
        [meta] = listing('meta', NULL_PAGES)
        self.assertEqual(meta['created_by'],
                         'parquet-mr version 1.13.0-SNAPSHOT (build 433de8df33fcf31927f7b51456be9f53e64d48b9)')
        self.assertEqual(meta['key_values'], [{'key': 'writer.model.name', 'value': 'example'}])
        self.assertEqual([meta['rows'], len(meta['row_groups']), meta['columns']], [1000, 1, 1])
        [group] = meta['row_groups']
        self.assertEqual(round(group['compressed_bytes'] / 1024, 2), 3.25)
        self.assertEqual([group['columns'][0][name] for name in ('type', 'values', 'offset')], ['INT32', 1000, 4])

    def test_pages_follow_each_other(self):
        """Each page begins where the one before ends, and all values of the chunk are in them."""
        for path in [TINY_PAGES, NULL_PAGES, PLAIN, str(DATA / 'rle-dict-snappy-checksum.parquet'),
                     str(DATA / 'delta_encoding_required_column.parquet')]:
            [meta] = listing('meta', path)
            pages = listing('pages', path)
            for number, group in enumerate(meta['row_groups']):
                for chunk in group['columns']:
                    with self.subTest(path=path, column=chunk['column']):
                        mine = [page for page in pages
                                if (page['row_group'], page['column']) == (number, chunk['column'])]
                        at = chunk['offset']
                        for page in mine:
                            self.assertEqual(page['offset'], at)
                            at += page['header_bytes'] + page['compressed_bytes']
                        self.assertEqual(at - chunk['offset'], chunk['compressed_bytes'])
                        data = [page for page in mine if page['type'] != 'dictionary']
                        self.assertEqual(sum(page['values'] for page in data), chunk['values'])
                        self.assertEqual(sum(page['rows'] for page in data), group['rows'])
                        self.assertEqual([page['page'] for page in data], list(range(len(data))))
        self.assertEqual(len(listing('pages', TINY_PAGES, '--select', 'id')), 325)  # its README: tiny pages
        with_checksums = str(DATA / 'datapage_v1-snappy-compressed-checksum.parquet')
        self.assertTrue(all(page['checksum'] for page in listing('pages', with_checksums)))
        self.assertFalse(any(page['checksum'] for page in listing('pages', PLAIN)))

    def test_page_bounds_are_what_parquet_mr_says(self):
        stated = []
        for line in (DATA / 'int32_with_null_pages.md').read_text().splitlines():
            found = re.fullmatch(r'page-\d+ +(\d+)  (\S+) +(\S+)', line)
            if found:
                stated.append((int(found[1]), *(None if text == '<none>' else text for text in found.groups()[1:])))
        self.assertEqual(len(stated), 10)
        rows = listing('stats', NULL_PAGES, '--pages')
        self.assertEqual([(row['null_count'], row['min'], row['max']) for row in rows], stated)
        [chunk] = listing('stats', NULL_PAGES)
        self.assertEqual((chunk['null_count'], chunk['min'], chunk['max']), (275, '-2136906554', '2145722375'))

    def test_exactness_of_bounds(self):
        # parquet-testing/data/README.md, "Binary truncated min and max statistics".
        rows = listing('stats', str(DATA / 'binary_truncated_min_max.parquet'))
        members = ('column', 'min', 'min_exact', 'max', 'max_exact')
        self.assertEqual([tuple(row[name] for name in members) for row in rows], [
            ('utf8_full_truncation', 'Al', False, 'Kf', False),
            ('binary_full_truncation', '416c', False, '4b66', False),
            ('utf8_partial_truncation', 'Al', False, '\U0001F680Kevin Bacon', True),
            ('binary_partial_truncation', '416c', False, 'ffff0102', True),
            ('utf8_no_truncation', 'Al', True, 'Ke', True),
            ('binary_no_truncation', '416c', True, '4b65', True)])

    def test_bloom_filters(self):
        [found] = listing('bloom', BLOOM)
        self.assertEqual(found['column'], 'String')
        for value in ('Hello', 'This is', 'a', 'test'):  # values of the file
            with self.subTest(value=value):
                self.assertEqual(listing('bloom', BLOOM, '--contains', f"String='{value}'")[0]['may_contain'], True)
        answers = [listing('bloom', BLOOM, '--contains', f"String='absent {i}'")[0]['may_contain'] for i in range(10)]
        self.assertIn(False, answers)
        self.assertEqual(parquet('bloom', PLAIN).stdout, 'no Bloom filters\n')
        parquet('bloom', BLOOM, '--contains', "String = 'a' AND other = 1", code=3)
        parquet('bloom', PLAIN, '--contains', 'id = 1 AND int_col = 2', code=2)


class RowsTest(TemporaryTest):
    def test_rows_are_those_stated_beside_the_files(self):
        for name in ('delta_encoding_optional_column', 'delta_encoding_required_column', 'delta_byte_array',
                     'delta_binary_packed'):
            with self.subTest(name=name):
                stated = list(csv.reader((DATA / f'{name}_expect.csv').read_text().splitlines()))
                rows = list(csv.reader(io.StringIO(parquet('cat', str(DATA / f'{name}.parquet')).stdout)))
                self.assertEqual(len(rows), len(stated))
                self.assertEqual(rows[1:], stated[1:])

    def test_nested_rows_are_json(self):
        done = parquet('head', NESTED, '-n', '1', '--format', 'json').stdout
        row = json.loads(done)
        self.assertEqual(row['id'], 1)
        self.assertEqual(row['int_array'], [1, 2, 3])
        self.assertEqual(row['int_map'], {'keys': ['k1', 'k2'], 'values': [1, 100]})
        text = parquet('head', NESTED, '-n', '1', '--select', 'int_array').stdout
        self.assertEqual(text, 'int_array\n"[1,2,3]"\n')
        field = parquet('head', NESTED, '-n', '1', '--select', 'nested_struct.A', '--format', 'json').stdout
        self.assertEqual(json.loads(field), {'nested_struct': {'A': 1}})

    def test_head_select_limit(self):
        self.assertEqual(len(parquet('head', TINY_PAGES).stdout.splitlines()), 11)
        self.assertEqual(parquet('head', PLAIN, '--select', 'int_col,id', '-n', '2').stdout, 'int_col,id\n0,4\n1,5\n')
        self.assertEqual(len(parquet('cat', TINY_PAGES).stdout.splitlines()), 7301)
        self.assertEqual(len(parquet('cat', TINY_PAGES, '--limit', '20').stdout.splitlines()), 21)
        self.assertEqual(parquet('head', PLAIN, '-n', '0', '--select', 'id').stdout, 'id\n')
        self.assertEqual(parquet('cat', PLAIN, '--format', 'none').stdout, '')
        table = parquet('cat', TINY_PAGES, '--format', 'table', '--select', 'id').stdout
        self.assertEqual(len(table.splitlines()), 2 + 7300 + 1)

    def test_several_files_follow_each_other(self):
        for name in ('b', 'a'):
            shutil.copy(PLAIN, f'{self.folder}/{name}.parquet')
        ids = ['4', '5', '6', '7', '2', '3', '0', '1']
        done = parquet('cat', f'{self.folder}/*.parquet', '--select', 'id').stdout
        self.assertEqual(done.splitlines(), ['id', *ids, *ids])
        self.assertEqual(parquet('count', f'{self.folder}/[ab].parquet').stdout, '16\n')
        self.assertEqual(len(parquet('head', f'{self.folder}/*.parquet', '-n', '12').stdout.splitlines()), 13)
        self.assertEqual([row['file'][-9:] for row in listing('meta', f'{self.folder}/*.parquet')],
                         ['a.parquet', 'b.parquet'])
        other = parquet('cat', PLAIN, NESTED, code=2)
        self.assertIn('nullable.impala.parquet differ from those of', other.stderr)

    def test_where(self):
        rows = list(csv.DictReader((DATA / 'delta_encoding_required_column_expect.csv').read_text().splitlines()))
        path = str(DATA / 'delta_encoding_required_column.parquet')
        columns = parquet('head', path, '-n', '0').stdout.strip().split(',')
        sk = next(name for name in columns if name.startswith('c_customer_sk'))
        year = next(name for name in columns if name.startswith('c_birth_year'))
        stated = [row for row in rows if int(list(row.values())[0]) > 50]
        self.assertEqual(parquet('count', path, '--where', f'"{sk}" > 50').stdout, f'{len(stated)}\n')
        done = parquet('cat', path, '--where', f'"{sk}" > 50', '--select', f'"{sk}","{year}"').stdout
        self.assertEqual([line.split(',')[0] for line in done.splitlines()[1:]],
                         [list(row.values())[0] for row in stated])
        self.assertEqual(parquet('count', path, '--where', 'FALSE').stdout, '0\n')
        self.assertEqual(parquet('count', path, '--where', f'"{sk}" IS NOT NULL').stdout, f'{len(rows)}\n')

    def test_counts_equal_those_of_other_readers(self):
        files = agreed_files()
        self.assertGreater(len(files), 300)
        for path, rows in sorted(files.items())[::3]:
            with self.subTest(path=path):
                self.assertEqual(int(parquet('count', path).stdout), rows)

    def test_counts_equal_those_of_pyarrow(self):
        try:
            import pyarrow.compute as pc
            import pyarrow.parquet as pq
        except ImportError:
            self.skipTest('pyarrow is not there')
        table = pq.read_table(TINY_PAGES)
        for where, expression in [
                ('id < 500', pc.field('id') < 500), ("string_col = '7'", pc.field('string_col') == '7'),
                ('int_col = 3 AND bool_col', (pc.field('int_col') == 3) & pc.field('bool_col')),
                ('month IN (1, 12)', pc.field('month').isin([1, 12])),
                ("date_string_col LIKE '01/%'", pc.starts_with(pc.field('date_string_col'), '01/')),
                ('double_col >= 50.5 OR year = 2010', (pc.field('double_col') >= 50.5) | (pc.field('year') == 2010)),
                ('NOT id BETWEEN 100 AND 7000', (pc.field('id') < 100) | (pc.field('id') > 7000))]:
            with self.subTest(where=where):
                self.assertEqual(int(parquet('count', TINY_PAGES, '--where', where).stdout),
                                 table.filter(expression).num_rows)


def checksum_field(page):
    """Field 4 of a page header, behind field 3: the CRC-32 of the page as a zigzag number."""
    number = zlib.crc32(page)
    number = number - 2**32 if number >= 2**31 else number
    number = number << 1 ^ number >> 31
    field = bytearray(b'\x15')
    while number >= 0x80:
        field.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes(field) + bytes([number])


class VerifyTest(TemporaryTest):
    def test_whole_files(self):
        names = ['alltypes_plain.parquet', 'alltypes_tiny_pages.parquet', 'alltypes_dictionary.parquet',
                 'nulls.snappy.parquet',
                 'datapage_v1-uncompressed-checksum.parquet', 'datapage_v1-snappy-compressed-checksum.parquet',
                 'plain-dict-uncompressed-checksum.parquet', 'rle-dict-snappy-checksum.parquet',
                 'int32_with_null_pages.parquet', 'nested_lists.snappy.parquet', 'nested_maps.snappy.parquet',
                 'nullable.impala.parquet', 'data_index_bloom_encoding_stats.parquet',
                 'binary_truncated_min_max.parquet',
                 'floating_orders_nan_count.parquet', 'nan_in_stats.parquet', 'delta_binary_packed.parquet',
                 'int64_decimal.parquet', 'fixed_length_decimal.parquet', 'lz4_raw_compressed.parquet',
                 'datapage_v2.snappy.parquet', 'overflow_i16_page_cnt.parquet', 'sort_columns.parquet']
        reports = listing('verify', *(str(DATA / name) for name in names))
        self.assertEqual([report['problem'] for report in reports], [None] * len(names))
        rows = {pathlib.Path(path).name: rows for path, rows in agreed_files().items() if path.startswith(str(DATA))}
        for report in reports:
            name = pathlib.Path(report['file']).name
            if name in rows:
                self.assertEqual(report['rows'], rows[name], name)
        self.assertRegex(parquet('verify', PLAIN).stdout, r'plain.parquet: whole, 8 rows, 1 row groups, \d+ pages')

    def test_files_that_three_other_readers_agree_about(self):
        files = agreed_files()
        self.assertGreater(len(files), 500)
        reports = json.loads(parquet('verify', *files, '--output', 'json', code=4).stdout)
        broken = {}
        for report in reports:
            if report['whole']:
                self.assertEqual(report['rows'], files[report['file']], report['file'])
            else:
                broken[pathlib.Path(report['file']).name] = report['problem']['message']
        # Readers that do not look at checksums read them all the same, and those that know no variants invalid ones.
        cases = json.loads((DATA.parent / 'shredded_variant' / 'cases.json').read_text())
        invalid = {case['parquet_file'] for case in cases if 'error_message' in case} & {
            pathlib.Path(path).name for path in files if 'shredded_variant' in path}
        # Others are named after what is wrong with them.
        bad_filters = [f'bloom_filter_{name}.parquet' for name in ('bad_length_range', 'bad_numbytes', 'short_numbytes')]
        self.assertEqual(sorted(broken), [*bad_filters, *sorted(invalid), 'datapage_v1-corrupt-checksum.parquet',
                                          'parquet_column_num_values_mismatch.parquet',
                                          'rle-dict-uncompressed-corrupt-checksum.parquet'])

    def test_null_counts_that_their_writer_did_not_count(self):
        path = next(path for path in agreed_files() if path.endswith('h2oai_group_small.parquet'))
        self.assertEqual(parquet('count', path, '--where', 'id1 IS NULL').stdout, '472\n')

    def test_checksums(self):
        # parquet-testing/data/README.md: pages whose CRC does not match.
        for name in ('datapage_v1-corrupt-checksum.parquet', 'rle-dict-uncompressed-corrupt-checksum.parquet'):
            with self.subTest(name=name):
                [report] = listing('verify', str(DATA / name), code=4)
                self.assertEqual(report['problem']['kind'], 'corrupt')
                self.assertIn('checksum', report['problem']['message'].lower().replace('crc', 'checksum'))
                context = ' '.join(report['problem']['context'])
                self.assertIn('row group 0', context)
                self.assertIn('column', context)
                self.assertIsNotNone(report['problem']['offset'])

    def test_bad_data(self):
        bad = sorted(str(path) for path in BAD.glob('*.parquet'))
        self.assertGreater(len(bad), 5)
        whole = str(DATA / 'alltypes_plain.parquet')
        done = parquet('verify', *bad, whole, code=4)
        lines = done.stdout.splitlines()
        self.assertEqual(len(lines), len(bad) + 1)
        for path, line in zip(bad, lines):
            self.assertTrue(line.startswith(path + ': '), line)
            if 'GH-43605' not in path:  # rle with bit width 0: readers take it for zeros, as Frazil does
                self.assertNotIn(': whole', line)
        self.assertIn(': whole', lines[-1])
        self.assertIn('files are not whole', done.stderr)

    def test_damage_anywhere_is_found(self):
        """A byte of a page with a checksum is changed: it is found, and its place is named."""
        source = DATA / 'datapage_v1-uncompressed-checksum.parquet'
        for page in listing('pages', str(source)):
            with self.subTest(page=page):
                bytes_ = bytearray(source.read_bytes())
                bytes_[page['offset'] + page['header_bytes'] + page['compressed_bytes'] // 2] ^= 0x10
                path = pathlib.Path(self.folder, 'damaged.parquet')
                path.write_bytes(bytes_)
                [report] = listing('verify', str(path), code=4)
                self.assertIn(page['column'], ' '.join(report['problem']['context']))

    def test_statistics_that_lie(self):
        """Bounds of a chunk are changed in the footer: values lie outside then."""
        source = pathlib.Path(NULL_PAGES).read_bytes()
        least = (-2136906554).to_bytes(4, 'little', signed=True)
        self.assertGreater(source.count(least), 1)
        path = pathlib.Path(self.folder, 'lies.parquet')
        # The value itself is data; bounds are in the page index and in the footer, behind it.
        first = source.index(least) + 4
        path.write_bytes(source[:first] + source[first:].replace(least, (0).to_bytes(4, 'little')))
        [report] = listing('verify', str(path), code=4)
        self.assertIn('bounds that a value is outside of', report['problem']['message'])

    def test_variants_that_are_none(self):
        """Those that parquet-testing calls invalid are found, and metadata of a version that does not exist."""
        folder = DATA.parent / 'shredded_variant'
        cases = [case for case in json.loads((folder / 'cases.json').read_text()) if case.get('parquet_file')]
        files = [str(folder / case['parquet_file']) for case in cases]
        reports = json.loads(parquet('verify', *files, '--output', 'json', code=4).stdout)
        self.assertEqual({pathlib.Path(report['file']).name for report in reports if not report['whole']},
                         {case['parquet_file'] for case in cases if 'error_message' in case})

        source = folder / 'case-052.parquet'  # not shredded
        page = next(page for page in listing('pages', str(source)) if page['column'] == 'var.metadata')
        begin = page['offset'] + page['header_bytes']
        whole = source.read_bytes()
        data = whole[begin:begin + page['compressed_bytes']]
        self.assertTrue(data.endswith(b'\1\0\0'))
        for version in range(2, 16):  # one whose checksum takes as many bytes
            other = data[:-3] + bytes([version, 0, 0])
            damaged = whole.replace(data, other).replace(checksum_field(data), checksum_field(other))
            if len(damaged) == len(whole):
                break
        path = pathlib.Path(self.folder, 'variant.parquet')
        path.write_bytes(damaged)
        [report] = listing('verify', str(path), code=4)
        self.assertIn(f'variant metadata has version {version}', report['problem']['message'])
        self.assertEqual(report['problem']['context'][:2], ['row 0', "column 'var'"])

    def test_truncated_files_and_others(self):
        path = pathlib.Path(self.folder, 'x.parquet')
        whole = pathlib.Path(PLAIN).read_bytes()
        for text in (b'', b'PAR1', whole[:-1], whole[:len(whole) // 2], b'\0' * 100):
            with self.subTest(size=len(text)):
                path.write_bytes(text)
                for verb in ('verify', 'meta', 'count', 'cat'):
                    done = parquet(verb, str(path), code=4)
                    self.assertIn(str(path), done.stderr + done.stdout)
        path.write_bytes(b'PAR0' + whole[4:])  # its footer is read as ever
        self.assertIn('does not begin with PAR1', parquet('verify', str(path), code=4).stdout)
        self.assertEqual(parquet('count', str(path)).stdout, '8\n')


class ErrorTest(TemporaryTest):
    def test_bad_arguments(self):
        for arguments in [['meta'], ['head', PLAIN, '--where', 'id ='], ['cat', PLAIN, '--limit', '-1'],
                          ['cat', PLAIN, '--format', 'xml'], ['schema', PLAIN, '--form', 'avro'],
                          ['cat', PLAIN, '--where', 'id LIKE 1'],
                          ['count', PLAIN, '--where', "id = 'x'"], ['cat', PLAIN, '--select', '"id'], ['lint', PLAIN],
                          ['bloom', BLOOM, '--select', 'String', '--contains', "String = 'a'"]]:
            with self.subTest(arguments=arguments):
                done = parquet(*arguments, code=2)
                self.assertEqual(done.stdout, '')
                self.assertTrue(done.stderr.startswith('frazil: '), done.stderr)

    def test_not_found(self):
        for arguments in [['meta', '/nowhere.parquet'], ['count', self.folder + '/*.parquet'],
                          ['cat', PLAIN, '--select', 'nothing'], ['pages', PLAIN, '--select', 'nothing'],
                          ['count', PLAIN, '--where', 'nothing = 1'],
                          ['verify', '/nowhere.parquet']]:
            with self.subTest(arguments=arguments):
                parquet(*arguments, code=3)
        self.assertIn(PLAIN, parquet('count', PLAIN, '--where', 'nothing = 1', code=3).stderr)

    def test_a_predicate_is_shown_with_the_place_that_is_wrong(self):
        error = parquet('count', PLAIN, '--where', 'id >= 0 AND x = AND', code=2).stderr
        self.assertEqual(error.splitlines(), ['frazil: predicate, column 17: expected a value, found AND',
                                              '  id >= 0 AND x = AND', ' ' * 18 + '^'])

    def test_encrypted_files(self):
        files = sorted(DATA.glob('*.parquet.encrypted'))
        self.assertGreater(len(files), 4)
        for path in files:
            with self.subTest(path=path.name):
                for verb in ('verify', 'cat'):
                    done = parquet(verb, str(path), code=5)
                    self.assertIn('encrypt', (done.stderr + done.stdout).replace(path.name, ''))

    def test_a_closed_pipe_ends_quietly(self):
        for arguments in (['cat', TINY_PAGES], ['pages', TINY_PAGES], ['pages', TINY_PAGES, '--output', 'json']):
            with self.subTest(arguments=arguments):
                process = subprocess.Popen([FRAZIL, '--quiet', 'parquet', *arguments], stdout=subprocess.PIPE,
                                           stderr=subprocess.PIPE, env=environment())
                process.stdout.read(10)
                process.stdout.close()
                self.assertEqual(process.wait(timeout=60), 0)
                self.assertEqual(process.stderr.read(), b'')
                process.stderr.close()

    def test_text_that_is_not_utf8(self):
        path = str(pathlib.Path(self.folder, 'x.parquet'))
        forged.write(path, [forged.Column([forged.Page(forged.texts([b'a', b'\xff\xfe']), 2)], forged.BYTE_ARRAY, text=True)], 2)
        self.assertIn('UTF-8', parquet('cat', path, code=4).stderr)
        self.assertEqual(parquet('cat', path, '--unchecked-text', '--format', 'none').stdout, '')
        self.assertEqual(parquet('head', path, '--unchecked-text', '-n', '1').stdout, 'c0\na\n')

    def test_a_row_group_of_half_a_million_rows_streams_within_8_mib(self):
        """Of five columns, as pyarrow writes it and as Frazil does: 21 MiB of values, pages and dictionaries of 1 MiB."""
        try:
            import pyarrow as pa
            import pyarrow.parquet as pq
        except ImportError:
            self.skipTest('pyarrow is not there')
        rows = 500_000
        numbers = range(rows)
        table = pa.table({'id': pa.array(numbers, pa.int64()), 'value': [i * 0.1 for i in numbers],
                          'label': [f'row_{i}' for i in numbers], 'k': pa.array([i * 7919 % 100 for i in numbers], pa.int32()),
                          'ts': pa.array([i * 1_000_003 for i in numbers], pa.timestamp('us'))})
        path, own = (str(pathlib.Path(self.folder, f'{name}.parquet')) for name in ('theirs', 'own'))
        for codec in ('zstd', 'snappy', 'none'):
            with self.subTest(codec=codec):
                pq.write_table(table, path, compression=codec, row_group_size=rows)
                parquet('cat', path, '--format', 'none', '--memory', '8MiB')
                self.assertEqual(parquet('count', path, '--where', 'value >= 0', '--memory', '8MiB').stdout, f'{rows}\n')
                parquet('verify', path, '--memory', '8MiB')
        with open(own, 'wb') as file:
            subprocess.run([FRAZIL, 'parquet', 'cat', path, '--format', 'parquet'], stdout=file, check=True)
        [meta] = listing('meta', own)
        self.assertEqual(len(meta['row_groups']), 1)
        parquet('cat', own, '--format', 'none', '--memory', '4MiB')

    def test_memory(self):
        self.assertEqual(parquet('count', TINY_PAGES, '--where', 'id >= 0', '--memory', '8MiB').stdout, '7300\n')
        parquet('cat', TINY_PAGES, '--memory', '10KiB', code=9)

    def test_completion_knows_the_verbs(self):
        script = frazil('completion', 'bash').stdout
        for verb in ('meta', 'schema', 'pages', 'stats', 'bloom', 'head', 'cat', 'count', 'verify'):
            self.assertIn(f"'parquet {verb}')", script)


if __name__ == '__main__':
    unittest.main()
