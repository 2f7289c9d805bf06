#!/bin/sh
# Whether docs/PAGE.md is what the program prints: check_page.sh PROGRAM PAGE
"$1" "$2" | diff -u "$(dirname "$0")/../docs/$2.md" - && exit 0
echo "docs/$2.md is out of date: run ./dev docs and commit the result"
exit 1
