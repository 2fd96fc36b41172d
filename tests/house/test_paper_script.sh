#!/usr/bin/env bash
# test_paper_script.sh TREE   `scripts/paper.sh` as a newcomer runs it: in a fresh copy of the tree whose path has a
# space, started from another folder, twice. The run file is the same both times, and the figures are there.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
copy="$work/a tree"
mkdir "$copy"
cp -R "$1"/{CMakeLists.txt,cmake,src,include,scripts,analysis} "$copy"

cd /
"$copy/scripts/paper.sh"
first=$(sha256sum <"$copy/results/paper/paper.h5")
"$copy/scripts/paper.sh" | tee "$work/second.log"
[ "$(sha256sum <"$copy/results/paper/paper.h5")" = "$first" ]
grep -qF "$copy/results/paper" "$work/second.log"
[ "$(find "$copy/results/paper" -name '*.png' -size +10k | wc -l)" -ge 2 ]
