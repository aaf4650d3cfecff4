"""The field `degraded` of an answer from which damaged rows were left out.

Some tools declare it for other reasons too. Every other answer gets it only when it is needed.
"""

from functools import cache

from pydantic import BaseModel, Field, create_model

_FIELD = "degraded"
_DESCRIPTION = "Why the result is incomplete; absent unless rows of the store are damaged."


def with_notice(answer: BaseModel, notice: str | None) -> BaseModel:
    """Return the answer with this notice in its field `degraded`, after a notice that it has already."""
    if notice is None:
        return answer
    before = getattr(answer, _FIELD, None)
    text = f"{before}; {notice}" if isinstance(before, str) else notice
    if _FIELD in type(answer).model_fields:
        return answer.model_copy(update={_FIELD: text})
    values = {**vars(answer), _FIELD: text}
    return _degradable(type(answer)).model_construct(_fields_set={*answer.model_fields_set, _FIELD}, **values)


@cache
def _degradable(kind: type[BaseModel]) -> type[BaseModel]:
    """Return a model with the same fields and `degraded`."""
    return create_model(kind.__name__, __base__=kind, degraded=(str, Field(description=_DESCRIPTION)))
