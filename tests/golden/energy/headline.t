Every text and page about energy says what is not explained, and its parts sum to all of it: of every example with energy.

  $ for capture in "$EXAMPLES"/*.gpf "$EXAMPLES"/*_energy.gpf.gz; do
  >   LC_ALL=C gpufathom energy "$capture" --window all 2>/dev/null > text
  >   gpufathom energy "$capture" --window all --format json 2>/dev/null > energy.json
  >   jq -r '.energy.devices[] | .nj as $all | ([.parts[].nj] | add - $all), ([.layer_types[].nj] | if length > 0 then add - $all else 0 end), .parts[-1].component' energy.json | paste -sd' '
  >   sed -n '/95 % interval/,/^  Intervals/p' text | grep -oE '[-0-9.]+ %  ' | awk '{s += $1} END {if (s < 99.5 || s > 100.5) print "the shares sum to " s}'
  >   grep -c '^  not explained ' text
  > done
  0 0 rest
  1
  0 0 rest
  1
  0 0 rest
  1

A log of power alone: its headline is the energy, of which a model without counts explains the static part.

  $ awk 'BEGIN { print "unix_time_s,power_instant_w,energy_mj,sm_clock_mhz,temp_c,name"; for (i = 0; i < 40; ++i) printf "%.3f,240,%d,1980,41,NVIDIA H200\n", 1795186726.9 + i / 10, 24000 * i }' > power.csv
  $ gpufathom analyze power.csv 2>/dev/null | head -4
  power.csv                                    NVIDIA H200, whole capture, 3.900 s
  936.0 J in 3.900 s: static power 54.3 %, not explained 45.7 %.
  
  Data quality                                                   40 events, 1.9 kB
