"""Does the sample keep the schema of docs/benchmarks.md? And a document of the runner, which run_test.py hands over."""

import json
import os
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
TYPES = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "null": type(None),
    "integer": int,
    "number": (int, float),
}


def documented():
    with open(os.path.join(HERE, "..", "..", "docs", "benchmarks.md")) as file:
        text = file.read()
    return json.loads(text.rsplit("```json\n", 1)[1].split("```")[0])


def violations(value, schema, where="document"):
    """What breaks the few words of JSON Schema that the documentation uses."""
    types = schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    if types and not any(
        isinstance(value, TYPES[name]) and (name == "boolean") == isinstance(value, bool) for name in types
    ):
        return [f"{where} is {value!r}, not {' or '.join(types)}"]
    if "enum" in schema and value not in schema["enum"]:
        return [f"{where} is {value!r}, not one of {schema['enum']}"]
    found = []
    if isinstance(value, dict):
        found += [f"{where} lacks {name}" for name in schema.get("required", []) if name not in value]
        for name, part in schema.get("properties", {}).items():
            if name in value:
                found += violations(value[name], part, f"{where}.{name}")
    if isinstance(value, list) and "items" in schema:
        for index, item in enumerate(value):
            found += violations(item, schema["items"], f"{where}[{index}]")
    return found


class Schema(unittest.TestCase):
    def test_the_sample_keeps_it(self):
        with open(os.path.join(HERE, "sample_result.json")) as file:
            self.assertEqual(violations(json.load(file), documented()), [])

    def test_violations_are_found(self):
        schema = documented()
        with open(os.path.join(HERE, "sample_result.json")) as file:
            document = json.load(file)
        document["size"] = "huge"
        document["hashes"][0]["rows"] = "7"
        del document["summary"][1]["seconds"]
        self.assertEqual(
            [text.split(" ")[0] for text in violations(document, schema)],
            ["document.size", "document.hashes[0].rows", "document.summary[1]"],
        )


if __name__ == "__main__":
    unittest.main()
