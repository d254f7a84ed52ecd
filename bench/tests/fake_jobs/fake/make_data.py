"""Writes a file for the fake engines. usage: make_data.py RECIPE FOLDER"""

import json
import os
import sys

recipe, folder = json.loads(sys.argv[1]), sys.argv[2]
if recipe["rows"] < 0:
    sys.exit("ValueError: no rows\n(more about it elsewhere)")
os.makedirs(folder)
path = os.path.join(folder, "rows")
with open(path, "w") as file:
    file.write(str(recipe["rows"]))
with open(os.path.join(os.path.dirname(folder), "made"), "a") as log:
    log.write("made\n")
print(path)
