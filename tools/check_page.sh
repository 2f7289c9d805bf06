#!/bin/sh
# Checks that a page of docs/ is what the program prints: check_page.sh PROGRAM PAGE [FILE]
file=${3:-$2.md}
"$1" "$2" | diff -u "$(dirname "$0")/../docs/$file" - && exit 0
echo "docs/$file is out of date: run ./dev docs and commit the result"
exit 1
