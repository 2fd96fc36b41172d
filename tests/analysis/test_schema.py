"""The table of the run file in analysis/README.md says of every dataset what the file itself says: type, axes, unit, sentence.

    test_schema.py README MAKE_SAMPLE            compares; status 1 names what differs
    test_schema.py README MAKE_SAMPLE --print    prints the table as it should be
"""
import os
import subprocess
import sys
import tempfile

import h5py


def type_name(dataset):
    if dataset.dtype.kind == "S":
        return "text"
    return {"i": "int", "u": "uint"}[dataset.dtype.kind] + str(8 * dataset.dtype.itemsize)


def axes(name, dataset):
    labels = [dimension.label for dimension in dataset.dims]
    for dimension in dataset.dims:
        scale = h5py.h5ds.is_scale(dataset.id) or dimension.keys() == [dimension.label]
        assert scale, f"/{name}: the scale of axis {dimension.label} is missing"
    return ", ".join(labels) or "-"


def lines(file):
    found = []

    def add(name, dataset):
        if isinstance(dataset, h5py.Dataset):
            found.append(f"| `/{name}` | {type_name(dataset)} | {axes(name, dataset)} | {dataset.attrs['units'] or '-'} | "
                         f"{dataset.attrs['description']} |")

    file.visititems(add)
    return found


def main():
    readme, make_sample = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "run.h5")
        subprocess.run([make_sample, path, "2", "2", "3", "kept"], check=True)
        with h5py.File(path, "r") as file:
            wanted = lines(file)
    if sys.argv[3:] == ["--print"]:
        print("\n".join(wanted))
        return 0
    with open(readme, encoding="utf-8") as file:
        section = file.read().partition("\n## The run file\n")[2].partition("\n## ")[0]
    written = [line for line in section.split("\n") if line.startswith("| `/")]
    for line in sorted(set(wanted) ^ set(written)):
        print(("missing in " if line in wanted else "not so, but in ") + f"{readme}: {line}")
    return int(written != wanted)


if __name__ == "__main__":
    sys.exit(main())
