Interleaved runs of a program alone and watched, over fake driver libraries.

  $ export GPUFATHOM_LIBRARY_PATH=$FAKES GPUFATHOM_FAKE= PATH=$(dirname $(command -v gpufathom)):/usr/bin:/bin
  $ gpufathom overhead --rounds 2 --json -- sleep 0.1 2>/dev/null | jq -c '.rows[] | select(.name | test("none|record|monitor")) | [.name, (.seconds | length), .failed, .median_seconds > 0.09, .disk_bytes > 0]'
  ["none",2,"",true,false]
  ["record",2,"",true,true]
  ["record --kernels",2,"",true,true]
  ["monitor",2,"",true,false]

A program that fails alone cannot be compared.

  $ gpufathom overhead --rounds 1 -- false 2>&1 | tail -1
  gpufathom: the program itself fails: the run ended with 1
