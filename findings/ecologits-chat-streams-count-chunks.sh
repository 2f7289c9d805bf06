#!/usr/bin/env bash
# Guess: EcoLogits gives an answer the same energy whether it is streamed or not: it is energy per token times the
# tokens that the server counts, and a stream with include_usage carries them.
# So it is: for streamed chat completions it counts chunks, also where the usage is there. An answer of 500 tokens is
# 134 J, or 41 J in chunks of four, as servers with speculative decoding or a stream interval send them. Hidden
# tokens of reasoning are in no chunk: 634 J are 134. Streams of the Responses API take the usage and are right.
# Why: a server that sends larger chunks, or a model that reasons, seems to need a third or a fifth of the energy.
# Versions: ecologits 0.11.3, openai 2.36.0. The server and the clock are stood in for.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q ecologits==0.11.3 openai==2.36.0 httpx==0.28.1
cd "$tmp"
"$tmp/venv/bin/python" - >"$tmp/seen" 2>"$tmp/err" <<'PY' || { cat "$tmp/err"; exit 1; }
import httpx, importlib.metadata, itertools, json
from types import SimpleNamespace
from ecologits import EcoLogits
from ecologits.tracers import openai_tracer
from openai import OpenAI
print("ecologits", importlib.metadata.version("ecologits"), "openai", importlib.metadata.version("openai"))
openai_tracer.time = SimpleNamespace(perf_counter=itertools.count(step=3600).__next__)
EcoLogits.init(providers=["openai"], electricity_mix_zone="WOR")
MODEL = "o4-mini"


def events(lines):
    text = "".join(f"event: {line['type']}\ndata: {json.dumps(line)}\n\n" if "type" in line else f"data: {json.dumps(line)}\n\n" for line in lines)
    return httpx.Response(200, headers={"content-type": "text/event-stream"}, text=text + "data: [DONE]\n\n")


def chat(visible, hidden, size, stream):
    usage = {"prompt_tokens": 100, "completion_tokens": visible + hidden, "total_tokens": 100 + visible + hidden,
             "completion_tokens_details": {"reasoning_tokens": hidden}}
    answer = {"id": "1", "object": "chat.completion", "created": 1, "model": MODEL}
    if not stream:
        return httpx.Response(200, json={**answer, "usage": usage, "choices": [
            {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "a " * visible}}]})

    def chunk(delta, reason=None):
        return {**answer, "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}
    return events([chunk({"role": "assistant", "content": ""}), *[chunk({"content": "a " * size})] * (visible // size), chunk({}, "stop"),
                   {**chunk({}), "choices": [], "usage": usage}])


def respond(visible, hidden, size, stream):
    answer = {"id": "1", "object": "response", "created_at": 1, "model": MODEL, "status": "completed", "output": [], "tools": [],
              "parallel_tool_calls": True, "tool_choice": "auto",
              "usage": {"input_tokens": 100, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": visible + hidden,
                        "output_tokens_details": {"reasoning_tokens": hidden}, "total_tokens": 100 + visible + hidden}}
    if not stream:
        return httpx.Response(200, json=answer)
    delta = {"type": "response.output_text.delta", "item_id": "1", "output_index": 0, "content_index": 0, "delta": "a " * size,
             "sequence_number": 1, "logprobs": []}
    return events([*[delta] * (visible // size), {"type": "response.completed", "response": answer, "sequence_number": 2}])


def server(visible, hidden, size):
    def handle(request):
        make = chat if request.url.path.endswith("/chat/completions") else respond
        return make(visible, hidden, size, json.loads(request.content).get("stream", False))
    return OpenAI(api_key="none", base_url="http://localhost/v1", http_client=httpx.Client(transport=httpx.MockTransport(handle)))


def mean(answer):
    energy = answer.impacts.energy.value
    return (energy.min + energy.max) / 2 * 3.6e6


def last(stream):
    *_, end = stream
    return end


for visible, hidden, size in (500, 0, 1), (500, 0, 4), (500, 0, 10), (500, 2000, 1), (500, 2000, 4):
    client = server(visible, hidden, size)
    question = [{"role": "user", "content": "Why?"}]
    whole = mean(client.chat.completions.create(model=MODEL, messages=question))
    end = last(client.chat.completions.create(model=MODEL, messages=question, stream=True, stream_options={"include_usage": True}))
    whole_response = mean(client.responses.create(model=MODEL, input="Why?"))
    end_response = last(client.responses.create(model=MODEL, input="Why?", stream=True))
    print(f"{visible} tokens and {hidden} of reasoning, {size} a chunk: chat {whole:.0f} J, streamed {mean(end):.0f} J with a usage of "
          f"{end.usage.completion_tokens}; responses {whole_response:.0f} J, streamed {mean(end_response):.0f} J")
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
ecologits 0.11.3 openai 2.36.0
500 tokens and 0 of reasoning, 1 a chunk: chat 134 J, streamed 134 J with a usage of 500; responses 134 J, streamed 134 J
500 tokens and 0 of reasoning, 4 a chunk: chat 134 J, streamed 41 J with a usage of 500; responses 134 J, streamed 134 J
500 tokens and 0 of reasoning, 10 a chunk: chat 134 J, streamed 22 J with a usage of 500; responses 134 J, streamed 134 J
500 tokens and 2000 of reasoning, 1 a chunk: chat 634 J, streamed 134 J with a usage of 2500; responses 634 J, streamed 634 J
500 tokens and 2000 of reasoning, 4 a chunk: chat 634 J, streamed 41 J with a usage of 2500; responses 634 J, streamed 634 J
END
