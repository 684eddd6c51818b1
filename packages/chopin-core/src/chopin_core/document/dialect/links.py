"""Where links and images may lead."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from html import unescape
from typing import Final
from urllib.parse import urlsplit

from chopin_core.document.dialect.attributes import value_of
from chopin_core.document.dialect.tree import Node
from chopin_core.errors import SourceIssue

MOST_IMAGES: Final = 100
_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_HIDDEN: Final = frozenset({"Cc", "Cf", "Zl", "Zp"})
_LINK_SCHEMES: Final = frozenset({"https", "mailto"})


def check_link(node: Node) -> Iterator[SourceIssue]:
    url = node.url
    if not _readable(url) or (_scheme(url) is None and (url.startswith("//") or "\\" in url)):
        yield node.issue("bad-link", "leads to an address that does not say where it leads")
    elif _scheme(url) not in (None, *_LINK_SCHEMES):
        yield node.issue("bad-link-protocol", "must be https, mailto, or an address without protocol")
    elif _scheme(url) == "https" and not _host(url):
        yield node.issue("bad-link", "names no host")


def check_image(node: Node) -> Iterator[SourceIssue]:
    url = (value_of(node, "src") or "") if node.tag else node.url
    if not url or not _readable(url) or "\\" in url:
        yield node.issue("bad-image", "has no address that can be read")
    elif _scheme(url) != "https":
        yield node.issue("bad-image-protocol", "must be an absolute https address")
    elif not _host(url):
        yield node.issue("bad-image", "names no host")


def check_image_count(root: Node, images: int) -> Iterator[SourceIssue]:
    if images > MOST_IMAGES:
        yield root.issue("too-many-images", f"has {images} images; {MOST_IMAGES} are allowed")


def _readable(url: str) -> bool:
    """Whether a person who reads the address sees all of it: nothing invisible, no space before a colon or around it."""
    if any(unicodedata.category(character) in _HIDDEN for character in url) or url != url.strip():
        return False
    head = unescape(url).split(":", 1)[0] if ":" in url else ""
    return not any(character.isspace() for character in head.split("/", 1)[0])


def _scheme(url: str) -> str | None:
    match = _SCHEME.match(url)
    return match[1].lower() if match else None


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
