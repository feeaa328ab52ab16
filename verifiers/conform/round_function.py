"""Whatever shape a user's code has, as a function from what one round leaves to the next."""

import inspect
from collections.abc import Callable, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np

from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.user_traceback import telling_the_file
from driftproof.verifiers.conform.reference import doubles


class State(dict[str, Any]):
    """The state of a round; what is missing is told."""

    told = "the state has {}, from the second round on what was returned"

    def __missing__(self, name: str) -> Any:
        has = ", ".join(map(str, self)) or "nothing"
        raise KeyError(f"{name}: {self.told.format(has)}")


class Draws(State):
    """What a round draws, by name: several draws of one name follow one another in it."""

    told = "with these parameters a round draws {}"


class Cohorts(list[Any]):
    """The cohorts of a round; one that there is not is told."""

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, int) and not -len(self) <= at < len(self):
            raise IndexError(f"cohorts[{at}]: with these parameters a round has {len(self)}")
        return super().__getitem__(at)


class RoundFunction:
    """A plain function, a class with ``step``, or one with ``fit`` and ``aggregate``.

    Args:
        code: the user's.
        iterate: what the algorithm calls its iterate.
        fields: of the algorithm's state, those with which a round begins.
        own: those of them of which each client has its own, and whether after the first round, too.

    Attributes:
        unseen: fields that it left out of the state, and that no other one stood for.
        arrays: how many aggregate returned; the model is the first.
        unclear: on how many instances the draws can be dealt in too many ways.
    """

    def __init__(
        self,
        code: Callable[..., Any],
        iterate: str,
        fields: tuple[str, ...],
        own: Mapping[str, bool],
    ) -> None:
        self.iterate, self.fields, self.own = iterate, fields, own
        self.name = getattr(code, "__name__", repr(code))
        has = {name for name in ("step", "fit", "aggregate") if hasattr(code, name)}
        self._class = "step" if "step" in has else "fit" if len(has) == 2 else ""
        if not callable(code) or (isinstance(code, type) and not self._class):
            lacks = ", a class with neither step nor fit and aggregate"
            lacks = lacks if callable(code) else " as an implementation"
            raise DriftproofError(
                f"{self.name:.60}{lacks}",
                "a function of (state, clients, cohort), or a class with step or fit and aggregate",
                "pass the function or the class itself",
            )
        self.unseen: dict[str, None] = {}
        self.arrays, self.unclear = 1, 0
        self._code = code
        called = [code, getattr(code, self._class)] if self._class else [code]
        self.takes = set().union(*(inspect.signature(each).parameters for each in called))
        self.samples = not self.takes.isdisjoint(("cohort", "cohorts")) or self._class == "fit"

    @property
    def two_results(self) -> DriftproofError:
        """What refuses it if it does not depend on its arguments alone."""
        return DriftproofError(
            f"{self.name}, called twice with one state and one cohort, gives two results",
            "a round that depends on its arguments alone",
            "take cohort, and the noise in clients[k].grad(x), in place of draws of your own; keep "
            "what later rounds need in the state",
        )

    @property
    def unseen_told(self) -> str:
        """Lines that say what was not compared ("": all was)."""
        does = "return" if self._class == "fit" else "name"
        parts = [f"{', '.join(self.unseen)}, which {self.name} does not {does}"] * bool(self.unseen)
        if self.arrays > 1:
            parts.append(f"all but the first of the {self.arrays} arrays that aggregate returns")
        return "".join(f"\n        not compared: {part}" for part in parts)

    def begin(self, given: Mapping[str, Any]) -> Any:
        """Return what the first round begins with: the state, or an object (and parameters)."""
        if not self._class:
            return given["state"]
        if self._class == "fit" and given["state"][self.iterate].shape[-1:] != given["start"].shape:
            several = " and ".join(self.fields)
            raise DriftproofError(
                f"{self.name}, with fit and aggregate, beside an algorithm of {several}",
                "an algorithm whose first round begins with one vector",
                "write a function of (state, clients, cohort), or a class with step",
            )
        made = self._called(self._code, given)
        return made if self._class == "step" else (made, [given["start"]])

    def after(self, before: Any, given: Mapping[str, Any]) -> Any:
        """Return what a round leaves, and leave as it was what it began with."""
        before = deepcopy(before)
        keeps = {name: x for name, x in given.items() if name != "state"}  # a class has its own
        if not self._class:
            made = self._called(self._code, {**given, "state": before})
            made = made._asdict() if hasattr(made, "_asdict") else made
            made = made if isinstance(made, Mapping) else {self.iterate: made}
            lists = [name for name in self.fields if isinstance(made.get(name), list)]
            return State({**made, **{name: _array(name, made[name]) for name in lists}})
        if self._class == "step":
            self._called(before.step, keeps)
            return before
        made, sent = before
        clients = [given["clients"][k] for k in given["cohort"]]
        results = [
            self._called(made.fit, {**keeps, "parameters": deepcopy(sent), "client": client})
            for client in clients
        ]
        left = self._called(made.aggregate, {**keeps, "results": results})
        if isinstance(left, tuple) and isinstance(left[-1], Mapping):  # arrays and metrics
            left = left[0]
        return made, list(left)

    def state(self, after: Any) -> dict[str, np.ndarray]:
        """Return those fields of the state that a round leaves, as arrays."""
        held = after
        if self._class == "fit":
            held, self.arrays = {self.iterate: after[1][0]}, len(after[1])
        elif self._class:
            held = {name: getattr(after, name) for name in self.fields if hasattr(after, name)}
        return {name: _array(name, held[name]) for name in self.fields if name in held}

    def _called(self, function: Callable[..., Any], given: Mapping[str, Any]) -> Any:
        """Call a function with what its parameters are called after."""
        signature = inspect.signature(function)
        every = any(of.kind is of.VAR_KEYWORD for of in signature.parameters.values())
        chosen = {name: x for name, x in given.items() if every or name in signature.parameters}
        try:
            signature.bind(**chosen)
        except TypeError as error:
            in_rounds = ""
            if function is self._code and self._class:
                in_rounds = f"; clients, and len(clients), are to be had in {self._class} alone"
            raise DriftproofError(
                f"{self.name}{signature}: {error}",
                f"parameters called {', '.join(given)}",
                "rename them, or give them defaults" + in_rounds,
            ) from error
        code = getattr(function, "__code__", None)  # a class has none
        with telling_the_file(Path(code.co_filename if code else "")):
            return function(**chosen)


def _array(name: str, x: Any) -> np.ndarray:
    try:
        return np.asarray(doubles(f"{name} after a round", "" if x is None else x), np.float64)
    except (TypeError, ValueError) as error:
        raise DriftproofError(
            f"{name} = {x!r:.60}",
            "numbers",
            "return a vector, or one for each client; a function without return returns None",
        ) from error
