#!/usr/bin/env python3
"""Fetches the files of ONNX's backend tests.

  fetch_data.py FOLDER

Downloads the wheel of onnx 1.22.0, the last one that has the cases as files, and unpacks
onnx/backend/test/data below FOLDER. Exit status 1 where there is no network.
"""

import pathlib
import subprocess
import sys
import tempfile
import zipfile


def main():
    folder = pathlib.Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as download:
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:",
                   "--dest", download, "onnx==1.22.0"]
        if subprocess.run(command, check=False).returncode != 0:
            sys.exit(1)
        wheel = next(pathlib.Path(download).glob("onnx-*.whl"))
        with zipfile.ZipFile(wheel) as archive:
            names = [n for n in archive.namelist() if n.startswith("onnx/backend/test/data/")]
            archive.extractall(folder, names)


if __name__ == "__main__":
    main()
