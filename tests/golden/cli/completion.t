Completion offers verbs, options, their values and files, from what the parser takes:

  $ gpufathom help completion bash > bash_completion
  $ bash -n bash_completion
  $ complete_words() { bash -c 'source bash_completion; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _gpufathom; printf "%s\n" "${COMPREPLY[@]}" | sort' bash "$@" | tr '\n' ' '; echo; }
  $ complete_words gpufathom com
  compare 
  $ complete_words gpufathom analyze --for
  --format 
  $ complete_words gpufathom analyze --format ''
  html json text 
  $ complete_words gpufathom analyze --format = js
  json 
  $ complete_words gpufathom analyze --window st
  stable steps 
  $ complete_words gpufathom reproduce ''
  asap24 bash_completion date24 dsd22 itu23 
  $ complete_words gpufathom whatif x.json --without c
  communication compiling copies 
  $ complete_words gpufathom whatif x.json --with fused
  fused_attention fused_elementwise fused_optimizer 
  $ complete_words gpufathom metrics --chip GH
  GH100 
  $ complete_words gpufathom whatif x.json --link NV
  NVLink2 NVLink3 NVLink4 NVLink5 
  $ complete_words gpufathom metrics dram.
  dram.active dram.read dram.write 
  $ complete_words gpufathom help completion ''
  bash fish zsh 
  $ complete_words gpufathom help f
  formats 

Lists in one word go on behind the separator; a number has no completion, not the files around it:

  $ complete_words gpufathom compare --axes batch,pre
  batch,precision 
  $ complete_words gpufathom overhead --only nsys,record
  nsys,record nsys,record\ --kernels 
  $ touch 'two words.json' trace.json
  $ complete_words gpufathom analyze --threads ''
   
  $ complete_words gpufathom analyze --counters ''
  bash_completion trace.json two words.json 
  $ complete_words gpufathom analyze ''
  bash_completion trace.json two words.json 

A file alone takes the options of analyze; behind -- comes a command:

  $ complete_words gpufathom trace.json --ful
  --full 
  $ complete_words gpufathom record --duration 3 -- gpufathom-no-such
   
  $ complete_words gpufathom record -- gpufatho | tr ' ' '\n' | grep -x gpufathom
  gpufathom

Every option with a list of values offers exactly those that it accepts:

  $ for verb in analyze ranks compare reproduce whatif path energy work record monitor doctor overhead ceilings; do gpufathom "$verb" --help | grep -q -- --format || continue; for value in $(complete_words gpufathom "$verb" --format ''); do gpufathom "$verb" --format "$value" 2>&1 | grep 'is not one of'; done; done
  [1]
