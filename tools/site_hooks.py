"""What MkDocs does besides for the site: pages from files outside docs/, links that leave docs/, examples as sessions.

Pages are written to be read where they lie, so a link out of docs/ is relative to its file.  In the site it leads to
the page made from that file; to the repository, if `mkdocs.yml` names one as `repo_url`; else its text is kept.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

from markdown import Extension, Markdown
from markdown.preprocessors import Preprocessor
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parent.parent
PAGES = {"CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md", "README.md": "index.md"}
"""Files of the repository and the pages that stand for them; the start page is written by hand."""
LINK_OR_CODE = re.compile(
    r"(?P<fence>^`{3,}).*?^(?P=fence)$"
    r"|(?P<image>!?)\[(?P<text>[^\]]*)\]\((?P<path>[^)#\s]*)(?P<anchor>#[^)\s]*)?\)"
    r"|(?P<ticks>`+)[^`\n]+(?P=ticks)",
    re.DOTALL | re.MULTILINE,
)
"""A link, or a piece of code, in which nothing is a link."""


class SessionFences(Preprocessor):
    """Marks sessions, also in what has been included."""

    def run(self, lines: list[str]) -> list[str]:
        """Return the lines of a page."""
        return as_sessions("\n".join(lines)).split("\n")


class Sessions(Extension):
    """Python-Markdown with sessions marked before blocks of code are found."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802  # its name there
        """Add the preprocessor behind that of includes (32) and before that of code (25)."""
        md.preprocessors.register(SessionFences(md), "session_fences", 30)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Add our extension of Markdown."""
    config.markdown_extensions.append(Sessions())  # type: ignore[arg-type]  # Markdown takes names and objects
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that lie at the top of the repository."""
    for name, page in PAGES.items():
        if page not in files.src_uris:
            files.append(File.generated(config, page, content=(ROOT / name).read_text("utf-8")))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Return the text of a page with links that work in the site."""
    source = {uri: name for name, uri in PAGES.items() if uri != "index.md"}.get(page.file.src_uri)
    where = source or f"docs/{page.file.src_uri}"
    return links_of_site(markdown, where, page.file.src_uri, config.repo_url or "")


def as_sessions(markdown: str) -> str:
    """Return the text with blocks of Python that begin with a prompt marked as sessions, so prompts are not copied."""
    return re.sub(r"^```python\n(?=>>> )", "```pycon\n", markdown, flags=re.MULTILINE)


def links_of_site(markdown: str, source: str, page: str, repo_url: str) -> str:
    """Return the text with the links of a file of the repository as those of a page of the site.

    Args:
        markdown: text with links relative to `source`.
        source: path of the file in the repository.
        page: path of the page in docs/.
        repo_url: address of the repository; empty: there is none, and links to other files become their text.
    """

    def link(found: re.Match[str]) -> str:
        path, anchor = found["path"], found["anchor"] or ""
        if not path or ":" in path:  # code, a place on this page, or another host
            return found[0]
        target = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
        if target in PAGES or target.startswith("docs/"):
            uri = PAGES.get(target) or target.removeprefix("docs/")
            return (
                f"{found['image']}[{found['text']}]({posixpath.relpath(uri, posixpath.dirname(page) or '.')}{anchor})"
            )
        if target == "docs" or not repo_url:
            return found["text"]
        return f"{found['image']}[{found['text']}]({repo_url.rstrip('/')}/blob/HEAD/{target}{anchor})"

    return LINK_OR_CODE.sub(link, markdown)
