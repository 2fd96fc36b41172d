"""What the programs here share: the file they are given is looked at with care, and what is wrong with it is one line.

h5py follows links to other files, and reads values that a dataset says lie there, so a file from elsewhere could show what
else is on this machine. Only what lies in the file itself is read.
"""
import os
import sys


def fail(text):
    """One line, status 2: what is wrong is the input."""
    print(f"{os.path.basename(sys.argv[0])}: {text}", file=sys.stderr)
    sys.exit(2)


def lacking(missing):
    fail(f"{missing}; this needs Debian's python3-h5py, python3-numpy and python3-matplotlib (run it with /usr/bin/python3)")


try:
    import h5py
except ImportError as missing_module:
    lacking(missing_module)


def own(file, name):
    """The dataset or group of that name; KeyError where it is missing or lies in another file."""
    names = name.split("/")
    for depth in range(1, len(names) + 1):
        path = "/".join(names[:depth])
        link = file.get(path, getlink=True)
        if link is None:
            raise KeyError(f"{path} is missing")
        if not isinstance(link, h5py.HardLink):
            raise KeyError(f"{path} is a link to elsewhere")
    found = file[name]
    if isinstance(found, h5py.Dataset) and (found.is_virtual or found.external):
        raise KeyError(f"{name} has its values in another file")
    return found


class Own:
    """own() as brackets."""

    def __init__(self, file):
        self.file, self.attrs = file, file.attrs

    def __getitem__(self, name):
        return own(self.file, name)


def read_file(path, title, what, schema, read):
    """Has `read` take what it needs of a file with this title and schema."""
    try:
        file = h5py.File(path, "r")
    except FileNotFoundError:
        fail(f"{path}: no such file")
    except OSError as error:
        fail(f"{path}: cannot be read as HDF5: {' '.join(str(error).split())}")
    with file:
        try:
            there = file.attrs.get("title"), file.attrs.get("schema")
            if there[0] != title:
                fail(f"{path}: is no {what} of starfold")
            if there[1] != schema:
                fail(f"{path}: has schema version {there[1]}; this program reads version {schema}")
            read(Own(file))
        except (KeyError, OSError, ValueError, TypeError, IndexError, AttributeError) as error:
            fail(f"{path}: is damaged: {' '.join(str(error).split())}")


def load_pyplot():
    """Only once the file is known to be good: it takes a second."""
    try:
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot
    except ImportError as missing:
        lacking(missing)
    return matplotlib.pyplot
