The pages of docs/studies are what `reproduce` says of the committed results (./dev docs writes them).

  $ for study in date24 dsd22 asap24 itu23; do gpufathom reproduce $study "$EXAMPLES"/../docs/results "$EXAMPLES"/../share/energy --format md | diff - "$EXAMPLES"/../docs/studies/$study.md && echo $study; done
  date24
  dsd22
  asap24
  itu23
