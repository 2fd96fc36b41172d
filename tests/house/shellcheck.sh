#!/usr/bin/env bash
# Usage: shellcheck.sh TREE. Runs shellcheck on every shell script of the tree; 77 (skipped) where it is not installed.
set -euo pipefail
cd "$1"
command -v shellcheck >/dev/null || {
    echo "SKIP: house.shellcheck: shellcheck is not installed"
    exit 77
}
# Scripts are known by their first line, not by a list that someone forgets to extend.
scripts=()
while IFS= read -r -d '' file; do
    IFS= read -r first <"$file" || true
    if [[ $first =~ ^\#!.*[/\ ](ba|da)?sh$ || $first = '# shellcheck shell='* ]]; then
        scripts+=("$file")
    fi
done < <(find . \( -name .git -o -path './build*' -o -path ./results \) -prune -o -type f -size -200k -print0 | sort -z)
[ ${#scripts[@]} -gt 0 ]
shellcheck --external-sources --source-path=. -- "${scripts[@]}"
echo "${#scripts[@]} scripts are clean"
