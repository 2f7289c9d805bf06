Wrong usage ends with 2 and says what is wrong and where to read more.

  $ gpufathom --version
  gpufathom 0.1.0
  $ gpufathom
  gpufathom: no verb is given (gpufathom --help lists them)
  [2]
  $ gpufathom no-such-verb
  gpufathom: unknown verb 'no-such-verb' (gpufathom --help lists the verbs)
  [2]
  $ gpufathom analyse x
  gpufathom: unknown verb 'analyse': did you mean analyze? (gpufathom --help lists the verbs)
  [2]
  $ gpufathom analyze x --windw all
  gpufathom: unknown option '--windw': did you mean --window? (see gpufathom analyze --help)
  [2]
  $ gpufathom --help > /dev/full
  gpufathom: standard output: cannot be written: No space left on device
  [1]
  $ gpufathom help monitor > one; gpufathom monitor --help | cmp - one
  $ gpufathom analyze
  gpufathom: FILE is missing (see gpufathom analyze --help)
  [2]
  $ gpufathom analyze x --rows -1
  gpufathom: --rows: '-1' is not a number of 0 or more (see gpufathom analyze --help)
  [2]
  $ gpufathom analyze x --batch some
  gpufathom: --batch: 'some' is not a number above 0 (see gpufathom analyze --help)
  [2]
  $ gpufathom export x
  gpufathom: export requires --perfetto, --csv DIR or both
  [2]

Options that mean nothing together are refused: a rule that is not applied would always pass.

  $ gpufathom compare --axes batch a.json b.json --fail-on "step > 1%"
  gpufathom: --fail-on cannot be used with --axes (see gpufathom compare --help)
  [2]
  $ gpufathom compare --table runs.csv --batch 64
  gpufathom: --batch cannot be used with --table (see gpufathom compare --help)
  [2]
  $ gpufathom energy a.json --site-overhead 1.5
  gpufathom: --site-overhead requires --price or --co2 (see gpufathom energy --help)
  [2]
  $ gpufathom analyze a.json b.json --rules mine.sql
  gpufathom: --rules, --model and --batch require a single capture
  [2]


Help stays within the terminal.

  $ gpufathom analyze --help | head -12
  analyze a capture: utilization by level, idle time, recommendations
  
  Usage: gpufathom analyze [OPTIONS] FILE [MORE]
  
  Arguments:
    FILE                      trace or capture file
    MORE                      captures of the job's other ranks; same output as
                              `gpufathom ranks`
  
  Options:
    -h, --help                print this help
    --counters FILE           counter report of the same program: .ncu-rep, or CSV
  $ for verb in '' $(gpufathom --help | sed -n '/^Verbs/,$s/^  \([a-z]*\)  .*/\1/p'); do gpufathom $verb --help; done | awk 'length > 80'

--rows takes 0 for all.

  $ gpufathom analyze $EXAMPLES/lenet_inf_b1.json.gz --rows 1 | grep -A3 '^By kernel'
  By kernel
    kernel                               count    median      time  share   ~waves
    sm80_xmma_fprop_i..kernel__5x_cudnn      3  6.336 us  19.01 us  0.8 %  0.00606
    and 7 kernels more (--rows N shows more)
  $ gpufathom analyze $EXAMPLES/lenet_inf_b1.json.gz --rows 0 | grep -c 'shows more'
  0
  [1]

A file that is not there is not taken for a verb; the short forms of formats.

  $ gpufathom nowhere.json
  gpufathom: nowhere.json: no such file
  [1]
  $ gpufathom ./nowhere
  gpufathom: ./nowhere: no such file
  [1]
  $ gpufathom $EXAMPLES/lenet_inf_b1.json.gz --json | jq -r .schema
  gpufathom.analysis/1

The name of a file to write promises what is in it.

  $ gpufathom analyze $EXAMPLES/lenet_inf_b1.json.gz -o out.pdf
  gpufathom: -o out.pdf: unknown ending .pdf: use .txt, .md, .log, .json, .jsonl, .html, .htm, or choose with --format (see gpufathom analyze --help)
  [2]
  $ gpufathom work $EXAMPLES/lenet_inf_b1.json.gz -o out.html
  gpufathom: -o out.html: unknown ending .html: use .txt, .md, .log, .json, .jsonl, or choose with --format (see gpufathom work --help)
  [2]
  $ gpufathom query $EXAMPLES/lenet_inf_b1.json.gz 'select 1 as one' -o out.csv && cat out.csv
  one
  1
  $ gpufathom analyze $EXAMPLES/lenet_inf_b1.json.gz -o Out.HTM && head -c 15 Out.HTM
  <!doctype html> (no-eol)
  $ gpufathom analyze $EXAMPLES/lenet_inf_b1.json.gz --format json -o out.pdf && head -c 9 out.pdf
  {"schema" (no-eol)
  $ gpufathom import $EXAMPLES/lenet_inf_b1.json.gz -o out.db
  gpufathom: -o out.db: unknown ending .db: use .gpf (see gpufathom import --help)
  [2]
  $ gpufathom record -o out.pdf -- touch ran
  gpufathom: -o out.pdf: unknown ending .pdf: use .gpf (see gpufathom record --help)
  [2]
  $ gpufathom export $EXAMPLES/lenet_inf_b1.json.gz --perfetto -o out.zip
  gpufathom: -o out.zip: unknown ending .zip: use .pftrace, .perfetto-trace (see gpufathom export --help)
  [2]
  $ ls
  Out.HTM
  one
  out.csv
  out.pdf

And the short forms:

  $ gpufathom analyze $EXAMPLES/lenet_inf_b1.json.gz --html | head -c 15
  <!doctype html> (no-eol)
  $ gpufathom query $EXAMPLES/lenet_inf_b1.json.gz 'select 1 as one' --csv
  one
  1
  $ gpufathom compare $EXAMPLES/lenet_inf_b1.json.gz $EXAMPLES/lenet_inf_b1.json.gz --json | jq -r .schema
  gpufathom.comparison/1

The answer of one screen points to nothing below it.

  $ gpufathom $EXAMPLES/lenet_train_b64.json.gz | grep -c 'see below'
  0
  [1]

More threads than a machine has cores take no memory.

  $ for threads in 1 1000000; do gpufathom analyze "$EXAMPLES"/lenet_inf_b1.json.gz --threads $threads --json | md5sum; done | uniq | wc -l
  1
