Programs of other people's libraries (tests/advice/programs/libraries.json): what is said first and second.

  $ cd "$ROOT/tests/advice/libraries"
  $ for trace in *.json.gz; do
  >   gpufathom analyze $trace --format json | jq -r --arg name ${trace%.json.gz} '[$name, .findings[0, 1].id // "-"] | join(" ")'
  > done
