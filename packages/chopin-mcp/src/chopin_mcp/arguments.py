"""What each tool may be given, with every bound; anything else is refused by name, so that a model can correct itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

import attrs
from pydantic import AfterValidator, BaseModel, ConfigDict, FailFast, Field, ValidationError
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from chopin_core.channel import TITLE_LENGTH
from chopin_core.counters import LARGEST
from chopin_core.errors import Invalid, InvalidField
from chopin_core.ports.channels import PAGE_LIMIT
from chopin_core.text import storable

LOCATOR_LENGTH = 2048
SHOWN_PATH = 120


@attrs.frozen(kw_only=True)
class ArgumentIssue:
    """One thing wrong with the arguments; ``path`` names it (``brief.goal``), ``message`` never quotes what was given."""

    code: str
    message: str
    path: str


@attrs.frozen
class ArgumentsRefused(Invalid):
    """The arguments do not fit the tool's schema; all that is wrong with them."""

    issues: tuple[ArgumentIssue, ...]

    def __str__(self) -> str:
        return f"the arguments have {len(self.issues)} issues: {', '.join(sorted({issue.code for issue in self.issues}))}"


def _storable(value: str) -> str:
    try:
        return storable(value, "text")
    except InvalidField as refused:
        raise PydanticCustomError("not_storable", "String {reason}", {"reason": refused.reason}) from refused


Text = Annotated[str, AfterValidator(_storable)]
"""A string that every adapter can keep. Lengths count code points, which is what pydantic counts."""

Locator = Annotated[
    Text,
    Field(min_length=1, max_length=LOCATOR_LENGTH, description="The document's id, its path /documents/…, or its URL."),
]
RepositoryName = Annotated[
    Text, Field(max_length=300, pattern=r"^[^/\s]+/[^/\s]+$", description="The repository as owner/name.")
]
IdempotencyKey = Annotated[
    Text,
    Field(
        min_length=1,
        max_length=128,
        pattern=r"\S",
        description="A new random value (such as a UUID) for each change you want; the same value only to repeat that call.",
    ),
]
Points = Annotated[list[Text], FailFast()]


class Arguments(BaseModel):
    """Exactly the documented keys, each of exactly the documented type."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, alias_generator=to_camel)


class ListDocuments(Arguments):
    repository: RepositoryName
    include_archived: Annotated[bool, Field(description="Also list archived documents.")] = False
    cursor: Annotated[Text, Field(max_length=1024, description="next_cursor of the previous page; omit for the first.")] = ""
    limit: Annotated[int, Field(ge=1, le=PAGE_LIMIT, description="How many documents to list.")] = 50


class ReadDocument(Arguments):
    id: Locator


class BriefArguments(Arguments):
    goal: Annotated[Text, Field(max_length=4096, pattern=r"\S", description="What the document is to achieve.")]
    constraints: Annotated[Points, Field(description="What must be respected.")] = []
    settled_decisions: Annotated[Points, Field(description="What has been decided already.")] = []
    open_questions: Annotated[Points, Field(description="What people still have to answer.")] = []
    repository_findings: Annotated[Points, Field(description="What you found in the repository.")] = []


class CreateDocument(Arguments):
    idempotency_key: IdempotencyKey
    repository: RepositoryName
    base_branch: Annotated[Text, Field(min_length=1, max_length=255, description="The branch you looked at.")]
    base_commit: Annotated[Text, Field(min_length=1, max_length=64, description="The commit you looked at.")]
    title: Annotated[
        Text, Field(min_length=1, max_length=TITLE_LENGTH, description="A title no other document of the repository has.")
    ]
    brief: Annotated[BriefArguments, Field(description="Why the document is written.")]
    plan: Annotated[Text, Field(description="The whole text of the document, in Markdown, at most 256 KiB.")]


class UpdateDocument(Arguments):
    id: Locator
    revision: Annotated[int, Field(ge=0, le=LARGEST, description="The revision that read_document gave you.")]
    plan: Annotated[Text, Field(description="The whole new text, in Markdown, at most 256 KiB; it replaces the old one.")]
    idempotency_key: IdempotencyKey


ArgumentsT = TypeVar("ArgumentsT", bound=Arguments)


def parse(shape: type[ArgumentsT], given: Mapping[str, Any]) -> ArgumentsT:
    """
    What was given, as the tool's arguments.

    Raises:
        ArgumentsRefused: it does not fit.
    """
    try:
        return shape.model_validate(given)
    except ValidationError as refused:
        errors = refused.errors(include_url=False, include_context=False, include_input=False)
        raise ArgumentsRefused(
            tuple(
                ArgumentIssue(
                    code=error["type"].replace("_", "-"),
                    message=error["msg"],
                    path=".".join(str(step) for step in error["loc"])[:SHOWN_PATH] or "arguments",
                )
                for error in errors
            )
        ) from None
