"""Makes the folder in which job W writes: there is no data, every engine makes its rows itself.

usage: make_data.py RECIPE FOLDER        prints the path of a file in FOLDER
"""

import os
import sys

if __name__ == "__main__":
    folder = sys.argv[2]
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "tables-are-made-here")
    with open(path, "w"):
        pass
    print(path)
