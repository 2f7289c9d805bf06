Wrong usage ends with 2.

  $ gpufathom --version
  gpufathom 0.1.0
  $ gpufathom no-such-verb >/dev/null 2>&1
  [2]
  $ gpufathom analyze >/dev/null 2>&1
  [2]
