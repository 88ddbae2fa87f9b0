"""What calls bring and get, as OpenAPI shows it."""

from typing import Annotated, Any, Literal

from fastapi.exceptions import RequestValidationError
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StringConstraints,
    TypeAdapter,
    ValidationError,
)

from selectron.arrays import Values

Id = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.:-]{1,64}$", strict=True)]
QuestionId = Annotated[str, StringConstraints(pattern=r"^q[1-9][0-9]{0,17}$", strict=True)]
Name = Annotated[str, StringConstraints(pattern=r"^[^\x00-\x1f\x7f]{1,200}$", strict=True)]
ItemId = Annotated[str, StringConstraints(pattern=r"^[^\x00-\x1f\x7f]{1,500}$", strict=True)]
AccountName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.@-]{1,64}$", strict=True)]
Password = Annotated[str, StringConstraints(min_length=1, max_length=200, strict=True)]
Label = Name | Annotated[list[Name], Field(max_length=1000)]


def _true(value: bool) -> bool:
    if not value:
        raise ValueError("skip is true, or it is left out")
    return value


True_ = Annotated[StrictBool, AfterValidator(_true), Field(json_schema_extra={"const": True})]


class Strict(BaseModel):
    """Nothing is guessed: no other types, no other members."""

    model_config = ConfigDict(strict=True, extra="forbid")


class Answer(Strict):
    """An answer to a question. With `item`, it is refused where the question is about another."""

    id: Id
    question: QuestionId
    item: ItemId | None = None
    label: Label


class Skip(Strict):
    """Nobody knows the answer to a question."""

    id: Id
    question: QuestionId
    item: ItemId | None = None
    skip: True_


class Found(Strict):
    """A label of an item that was found in review, without a question."""

    id: Id
    item: ItemId
    label: Label


Schema = dict[str, Any]  # what OpenAPI says of a call
_answer: TypeAdapter[Answer | Skip | Found] = TypeAdapter(Answer | Skip | Found)


def read_answer(body: object) -> Answer | Skip | Found:
    """Check the body of an answer, as FastAPI checks others."""
    try:
        return _answer.validate_python(body)
    except ValidationError as error:
        raise RequestValidationError(error.errors(include_url=False)) from None


def body_of(*kinds: type[BaseModel]) -> Schema:
    """Describe a body that is one of some models."""
    schema = {"anyOf": [kind.model_json_schema() for kind in kinds]}
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


class Correction(Strict):
    label: Label


class Note(Strict):
    item: ItemId
    text: Annotated[str, StringConstraints(max_length=10_000, strict=True)]


class _Item(Strict):
    id: ItemId
    meta: Values = {}


class TextItem(_Item):
    text: Annotated[str, StringConstraints(max_length=1_000_000)]


class ImageItem(_Item):
    """A picture by its name in the folder of pictures, or as a data: address."""

    image: Annotated[str, StringConstraints(min_length=1, max_length=8_000_000)]


class FieldsItem(_Item):
    fields: Values


class VectorItem(_Item):
    vector: Annotated[list[float], Field(max_length=100_000)]


Item = TextItem | ImageItem | FieldsItem | VectorItem


class Items(Strict):
    items: Annotated[list[Item], Field(min_length=1, max_length=1000)]


class Classes(Strict):
    names: Annotated[list[Name], Field(min_length=1, max_length=1000)]


class Settings(Strict):
    """What changes; the rest stays."""

    question: Name | None = None
    goal: Name | None = None
    budget: Annotated[int, Field(ge=0, le=10**9)] | None = None
    overlap: Annotated[float, Field(ge=0, le=1)] | None = None
    positive: Name | None = None


class SignIn(Strict):
    name: AccountName
    password: Password


class NewAccount(Strict):
    name: AccountName
    password: Annotated[str, StringConstraints(min_length=10, max_length=200, strict=True)]
    role: Literal["annotator", "owner"] = "annotator"


class Durable(BaseModel):
    seq: int
    durable: Literal[True]


class Reason(BaseModel):
    kind: Literal["doubt", "audit", "first", "overlap", "stream"]
    margin: float | None
    odds: float
    text: str


class Question(BaseModel):
    question: str
    item: dict[str, Any]
    options: list[str]
    guess: str | list[str] | None
    reason: Reason
    lease_seconds: float


class Questions(BaseModel):
    questions: list[Question]
    why: str | None


class PushedItem(BaseModel):
    id: str
    label: str | list[str] | None
    probability: float | None
    asked: bool
    question: str | None


class Pushed(BaseModel):
    items: list[PushedItem]


class Problem(BaseModel):
    """What is wrong with a call, and what one may do about it."""

    error: str
    remedy: str
