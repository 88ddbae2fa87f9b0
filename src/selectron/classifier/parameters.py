"""scikit-learn's conventions for parameters and tags, without importing it: that costs seconds."""

from functools import cache
from inspect import signature
from typing import Any, ClassVar, Self


class Parameters:
    """Keep constructor arguments under their own names: get, set, show, clone."""

    MANY_CLASSES: ClassVar[bool] = True

    @classmethod
    @cache
    def _parameter_names(cls) -> list[str]:
        return [name for name in signature(cls.__init__).parameters if name != "self"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {name: getattr(self, name) for name in self._parameter_names()}

    def set_params(self, **params: Any) -> Self:
        """Change some of the constructor's arguments; they take effect at the next fit."""
        known = self._parameter_names()
        for name in params:
            if name not in known:
                raise ValueError(
                    f"Invalid parameter {name!r} for estimator {type(self).__name__}. "
                    f"Valid parameters are: {known!r}."
                )
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = {n: p.default for n, p in signature(type(self).__init__).parameters.items()}
        changed = ", ".join(
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if value is not defaults[name] and value != defaults[name]
        )
        return f"{type(self).__name__}({changed})"

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import (  # noqa: PLC0415
            ClassifierTags,
            InputTags,
            Tags,
            TargetTags,
        )

        return Tags(
            estimator_type="classifier",
            target_tags=TargetTags(required=True),
            classifier_tags=ClassifierTags(multi_class=self.MANY_CLASSES),
            input_tags=InputTags(sparse=True),
        )
