#!/usr/bin/env python3
"""Every sentence with a number has a statement that judges it, or a reason: sentences.py GPUFATHOM
[--papers FILE...] [--write]

sentences.tsv lists the sentences of the publications in our own words: source, place, key of the
sentence ("-": it has no number), what is said, and statements of `gpufathom reproduce` ("date24 1,
date24 f1") or "none: " and why. The test fails where a statement does not exist, a statement is in
no sentence, or a row has neither.

With --papers, plain texts of the publications, the sentences are found again: each with a number
other than that of a reference or a name must be in the list, by its key, which is a hash of its
letters and digits. docs/studies/sentences.md is the list as a page; --write writes it.
"""
import argparse
import csv
import hashlib
import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

LIST = Path(__file__).with_name("sentences.tsv")
PAGE = Path(__file__).resolve().parents[2] / "docs/studies/sentences.md"
STUDIES = ("date24", "dsd22", "asap24", "itu23")
SOURCES = {"date24": "DATE 2024", "thesis": "Thesis, chapters 3 to 6 (DSD 2022, DATE 2024, ASAP 2024)", "slides": "Slides, 2023"}
# Texts with digits that are no numbers: references, names of products and models, numbered steps,
# lines of a listing.
NAMES = re.compile(r"""
    \[[\d,\s–-]+\] | \b(?:Figs?\.?|Figure|Tables?|[Ss]ections?|Chapters?|Listing|Eq\.|Line|lines|Volta|Ampere)\s*\d[\d.]*[a-d]?(?:\s*(?:and|to)\s*\d[\d.]*)?
    | \bTABLE\s+[IVX]+ | \(\d+(?:\.\d+)+\) | \b\d\.\d[a-d]\b | \b(?:ResNet|LeNet|VGG)-?\d+ | \b[AVB]\d00\b | \bL[12]\b | \b[FT][PF]\d\d\b | \bHBM\d\b | H2D
    | Conv2D | \bt\d\b | u?int64(?:_t)? | float64 | CUDA\ Toolkit\ [\d.]+ | EPYC\ \d+ | Cascade\ Lake\ \d+ | v2\.8\.0 | PyTorch\ [\d.]+ | GPT-3\b
    | \b\d+(?:st|nd|rd|th)\b | \(\s*\d[a-c]?\s*(?:in|and|\)) | \b(?:19|20)\d\d\b | takeaway\ \d | (?:enqueuing|dequeuing|execution|thread)\ +\(?\s*\d\b
    | delestrac\d+\w* | as\ 1\ ,\ 2\ ,\ and\ 3 | OpKernel\ d\b | volta_dgemm_\w+ | \b1D\b | \(\d\)""", re.X)
HEADING = re.compile(r"^\s*\d+(?:\.\d+)+ [A-Z].*$|^\s*\d+ Chapter \d.*$|^\s*\d+\.?\s*$", re.M)
LISTING = re.compile(r"^\s*\d+ (?:import |x = |y = |z = |with |output = |print\().*$|^.*(?:__global__|asm volatile|ld\.global|setp\.|mov\.u64|@%p|uint64_t\)|warmup:|measurement:|"
                     r"Reset counter|unrolling X|N_ITER|Init registers|SUBTAB_SIZE|add\.u32|threadIdx|blockIdx|thread ID|start address|\(start\)|// Warm-up|// Measurement loop|%tmp|\.reg).*$", re.M)


def sentences(text):
    """The sentences of a text whose lines were broken, and words with them."""
    text = LISTING.sub("", HEADING.sub("\n", text))
    text = re.sub(r"-\n\s*(?=[a-z])", "", text)
    for paragraph in re.split(r"\n\s*\n", text):
        yield from re.split(r"(?<=[.!?])\s+(?=[A-Z“\"(])", " ".join(paragraph.split()))


def has_number(sentence):
    return re.search(r"\d", NAMES.sub(" ",
                                      sentence)) is not None and re.search("[A-Za-z]{3}", sentence) is not None


def key_of(sentence):
    return hashlib.sha1(re.sub(r"[^a-z0-9]", "", sentence.lower()).encode()).hexdigest()[:10]


def found_in(path):
    text = path.read_text(encoding="utf-8", errors="replace")
    chapters = re.search(r"^\s*3\.1 Context and motivation\s*$", text, re.M)
    return {key_of(s): s for s in sentences(text[chapters.start():] if chapters else text)
            if has_number(s)}


def statements(program):
    """Ids of every study, as "date24 1"."""
    known = []
    for study in STUDIES:
        answer = json.loads(subprocess.run([program, "reproduce", study, "--format", "json"],
                                           check=True, capture_output=True, text=True).stdout)
        known += [f"{study} {claim['id']}" for claim in answer["claims"]]
    return known


def page(rows):
    judged = sum(not row["judged"].startswith("none: ") for row in rows)
    yield "# Sentences with a number\n\n<!-- Made by `./dev docs` from tests/claims/sentences.tsv. -->\n"
    yield (f"{len(rows)} sentences of the publications in our own words, each with the statements of\n[`gpufathom reproduce`](../claims.md) that judge "
           f"it ({judged}) or the reason why none does ({len(rows) - judged}). `tests/claims/sentences.py`\nchecks the list against the statements and, "
           "where their texts are available, the publications.")
    for source, title in SOURCES.items():
        yield f"\n## {title}\n\n| place | says | judged by |\n|---|---|---|"
        for row in rows:
            if row["source"] == source:
                yield f"| {row['place']} | {row['says']} | {row['judged']} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--papers", nargs="+", type=Path, default=[])
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    with LIST.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    known, wrong, named = statements(args.program), [], set()
    for row in rows:
        if row["judged"].startswith("none: "):
            wrong += [f"{row['key']}: no reason"] * (len(row["judged"]) < 20)
            continue
        ids = [name.strip() for name in row["judged"].split(",")]
        wrong += [f"{row['key']}: there is no statement \"{name}\"" for name in ids
                  if name not in known]
        named.update(ids)
    wrong += [f"{key}: twice in the list"
              for key, count in Counter(row["key"] for row in rows).items() if count > 1
              and key != "-"]
    wrong += [f"statement {name} is in no sentence" for name in known if name not in named]
    listed = {row["key"] for row in rows}
    for paper in args.papers:
        found = found_in(paper)
        wrong += [f"{paper.name}: {key} is not in the list: {sentence[:160]}"
                  for key, sentence in found.items() if key not in listed]
        print(f"{paper.name}: {len(found)} sentences with a number, {sum(key in listed for key in found)} in the list")
    text = "\n".join(page(rows)) + "\n"
    if args.write:
        PAGE.write_text(text, encoding="utf-8")
    wrong += [f"{PAGE.name} is not what the list says: --write writes it"] * (PAGE.read_text(encoding="utf-8") != text)
    print(*wrong, sep="\n", end="\n" if wrong else "")
    reasons = sum(row["judged"].startswith("none: ") for row in rows)
    print(f"{len(rows)} sentences: {len(rows) - reasons} judged by {len(named)} of {len(known)} statements, {reasons} with a reason, {len(wrong)} wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
