#!/bin/sh
# with_python.sh FIND_PYTHON SCRIPT...   Runs a script under the Python that FIND_PYTHON names; status 77 without one.
python=$("$1") || {
    echo "SKIP: no Python with numpy, h5py and matplotlib"
    exit 77
}
shift
exec "$python" "$@"
