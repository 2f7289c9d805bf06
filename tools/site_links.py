"""A hook of MkDocs: links that leave docs/ (to source, tests, examples) become plain text, because the
site stands by itself."""
import re

LINK = re.compile(r"\[([^\]]+)\]\((?:\.\./)+(?!images/|results/)([^)]+)\)")


def on_page_markdown(markdown, page, config, files):
    depth = page.file.src_uri.count("/")

    def plain(match):
        ups = match.group(0).split("](")[1].count("../")
        return match.group(0) if ups <= depth else f"`{match.group(2)}`"

    return LINK.sub(plain, markdown)
