#!/usr/bin/env bash
# Guess: the requests per minute that LLMeter gives for a run are requests over its time, and the same after the run is
# loaded from its folder.
# So it is: at the end of a run they, and the input tokens per minute, are over the time from the first to the last sending:
# the time of the last answers is left out. 32 clients that send 1 request of 10 s each at once, within 10 ms, make
# 192000 a minute, not 192; with 2 requests 384, with 10 213. Loaded again they are over the time of the run.
# The output tokens per second beside them are right, and input and output tokens are over different times.
# Why: a short test shows a server that is thousands of times faster than a long one.
# Versions: llmeter 0.2.0. The requests are made here, with the times of a run; no server is asked.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q boto3==1.44.8 fsspec==2026.1.0 jmespath==1.1.0 tqdm==4.70.1 universal-pathlib==0.3.10
"$tmp/venv/bin/pip" install -q --no-deps llmeter==0.2.0
cd "$tmp"
"$tmp/venv/bin/python" - >"$tmp/seen" 2>"$tmp/err" <<'PY' || { tail -n 5 "$tmp/err"; exit 1; }
import importlib.metadata
from datetime import datetime, timedelta, timezone
from llmeter.endpoints import InvocationResponse
from llmeter.results import Result
from llmeter.utils import RunningStats
print("llmeter", importlib.metadata.version("llmeter"))
clients, start = 32, datetime(2026, 1, 1, tzinfo=timezone.utc)
for each in (1, 2, 10, 100):
    # Each client sends its next request when it has the answer, after 10 s; the first within 10 ms.
    answers = [InvocationResponse(id=f"{client}-{number}", response_text="", request_time=start + timedelta(seconds=number * 10 + client / (clients - 1) / 100),
                                  time_to_first_token=0.5, time_to_last_token=10.0, num_tokens_input=1000, num_tokens_output=500)
               for number in range(each) for client in range(clients)]
    end = start + timedelta(seconds=each * 10 + 0.01)
    run = RunningStats(["num_tokens_input", "num_tokens_output"]) # as the runner does with each answer
    for answer in answers:
        run.update(answer.to_dict())
    live = run.to_stats(end_time=end)
    result = Result(responses=answers, total_requests=len(answers), clients=clients, n_requests=each, total_test_time=(end - start).total_seconds())
    result.save(f"run{each}")
    loaded = Result.load(f"run{each}").stats
    print(f"{each} of each client: requests a minute {live['requests_per_minute']:.0f}, loaded {loaded['requests_per_minute']:.0f};",
          f"tokens a minute: input {live['average_input_tokens_per_minute']:.0f}, loaded {loaded['average_input_tokens_per_minute']:.0f},",
          f"output {live['average_output_tokens_per_minute']:.0f}, loaded {loaded['average_output_tokens_per_minute']:.0f}")
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
llmeter 0.2.0
1 of each client: requests a minute 192000, loaded 192; tokens a minute: input 192000000, loaded 191808, output 95904, loaded 95904
2 of each client: requests a minute 384, loaded 192; tokens a minute: input 383616, loaded 191904, output 95952, loaded 95952
10 of each client: requests a minute 213, loaded 192; tokens a minute: input 213310, loaded 191981, output 95990, loaded 95990
100 of each client: requests a minute 194, loaded 192; tokens a minute: input 193937, loaded 191998, output 95999, loaded 95999
END
