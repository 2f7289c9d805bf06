Completion in fish and zsh, where both are installed; what they offer comes from the parser's table:

  $ command -v fish > fish_found && command -v zsh > zsh_found || exit 80
  $ export HOME=$PWD XDG_CONFIG_HOME=$PWD XDG_DATA_HOME=$PWD XDG_RUNTIME_DIR=$PWD
  $ gpufathom help completion fish > gpufathom.fish
  $ gpufathom help completion zsh > _gpufathom
  $ in_fish() { fish --no-config -c "source gpufathom.fish; complete -C '$1'" | cut -f 1 | sort | tr '\n' ' '; echo; }
  $ in_fish 'gpufathom com'
  compare 
  $ in_fish 'gpufathom analyze --format '
  html json text 
  $ in_fish 'gpufathom reproduce d'
  date24 dsd22 
  $ in_fish 'gpufathom whatif x.json --without c'
  communication compiling copies 
  $ in_fish 'gpufathom compare --axes batch,pre'
  batch,precision 
  $ in_fish 'gpufathom overhead --only nsys,rec'
  nsys,record nsys,record --kernels 
  $ in_fish 'gpufathom help completion '
  agents analyze bash benchmark calibrate ceilings compare completion doctor energy export fish formats import man metrics monitor overhead path query ranks record reproduce run whatif work zsh 
  $ in_fish 'gpufathom analyze --threads '
  
  $ zsh_matches $PWD 'gpufathom com'
  compare  -- compare two or more runs and attribute the difference
  $ zsh_matches $PWD 'gpufathom analyze --format '
  html  json  text
  $ zsh_matches $PWD 'gpufathom trace.json --ful'
  --full  -- print everything: evidence, idle causes, runtime, layers, kernels
  $ zsh_matches $PWD 'gpufathom reproduce '
  asap24  date24  dsd22   itu23
  $ zsh_matches $PWD 'gpufathom whatif x.json --without c'
  communication  compiling      copies
  $ zsh_matches $PWD 'gpufathom compare --axes batch,'
  framework  gpu        mode       model      precision
  $ zsh_matches $PWD 'gpufathom overhead --only nsys,d'
  dcgmi dmon
  $ zsh_matches $PWD 'gpufathom help completion '
  bash  fish  zsh
  $ zsh_matches $PWD 'gpufathom analyze --threads '
