"""Rows of Iceberg tables as Spark reads them: for each metadata file named on standard input a line of JSON (see canonical.py).

usage: spark_rows.py JAR ...        with an interpreter that has pyspark, and TZ=UTC

{"columns": [S], "rows": [[S]], "spark": version} or {"error": S}
"""
import datetime
import decimal
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
from canonical import canonical

from pyspark.sql import SparkSession, types


def plain(kind, value):
    """With times in their zone, and structs as dicts."""
    if value is None:
        return None
    if isinstance(kind, types.StructType):
        return {field.name: plain(field.dataType, value[field.name]) for field in kind}
    if isinstance(kind, types.ArrayType):
        return [plain(kind.elementType, item) for item in value]
    if isinstance(kind, types.MapType):
        return {plain(kind.keyType, key): plain(kind.valueType, item) for key, item in value.items()}
    if isinstance(kind, types.DecimalType):  # small ones come with more digits than the type has
        return value.quantize(decimal.Decimal(1).scaleb(-kind.scale), context=decimal.Context(prec=60))
    if isinstance(kind, types.TimestampType):
        return value.replace(tzinfo=datetime.timezone.utc)
    return value


def main():
    options = {"jars": ",".join(sys.argv[1:]), "ui.enabled": "false", "driver.memory": "1g", "sql.shuffle.partitions": "1",
               "sql.session.timeZone": "UTC", "sql.iceberg.vectorization.enabled": "true",
               "sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"}
    spark = SparkSession.builder.master("local[2]").config(map={f"spark.{key}": value for key, value in options.items()}).getOrCreate()
    for line in sys.stdin:
        try:
            frame = spark.read.format("iceberg").load(line.strip())
            fields = frame.schema.fields
            rows = [[canonical(plain(field.dataType, row[field.name])) for field in fields] for row in frame.collect()]
            answer = {"columns": [field.name for field in fields], "rows": rows, "spark": spark.version}
        except Exception as error:
            answer = {"error": str(error)[:1500]}
        print(json.dumps(answer), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
