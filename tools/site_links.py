"""A hook of MkDocs: links that leave docs/ (to source, tests, examples) become plain text, because
the site stands by itself, and what search needs on a disk comes along."""
import pathlib
import re
import shutil

SHIM = pathlib.Path(__file__).parents[1] / ".cache/site/node_modules/iframe-worker/shim/index.js"

LINK = re.compile(r"\[([^\]]+)\]\((?:\.\./)+(?!images/|results/)([^)]+)\)")


def on_page_markdown(markdown, page, config, files):
    depth = page.file.src_uri.count("/")

    def plain(match):
        ups = match.group(0).split("](")[1].count("../")
        return match.group(0) if ups <= depth else f"`{match.group(2)}`"

    return LINK.sub(plain, markdown)


def on_post_build(config):
    shutil.copy(SHIM, pathlib.Path(config.site_dir) / "assets/javascripts/iframe-worker.js")
