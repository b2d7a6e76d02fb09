"""The exceptions of this project. All but `MissingExtra` are `ValueError`s; each carries where and what went wrong."""

from collections.abc import Sequence

MAX_LISTED = 12
"""How many legal actions the message of an `IllegalAction` names; the attribute `legal` has them all."""


class ChicagoError(Exception):
    """Base of every exception that this project raises on purpose."""


class CardError(ChicagoError, ValueError):
    """A card, or a text of cards, that does not exist.

    Attributes:
        position: offset in the text at which reading failed; None where there is no text.
    """

    def __init__(self, message: str, *, position: int | None = None) -> None:
        super().__init__(message)
        self.position = position


class RulesError(ChicagoError, ValueError):
    """Rules, or a number of players, that are impossible or unknown.

    Attributes:
        field: the field or key at fault, where there is one.
        value: what was given.
        allowed: what is allowed, in words.
    """

    def __init__(
        self, message: str, *, field: str | None = None, value: object = None, allowed: str | None = None
    ) -> None:
        super().__init__(message)
        self.field = field
        self.value = value
        self.allowed = allowed


class ActionError(ChicagoError, ValueError):
    """An action id or text that means nothing, or not with this hand."""


class IllegalAction(ActionError):
    """An action that the acting seat may not take now. The game is as it was before.

    Attributes:
        seat: the seat to act.
        phase: the name of the phase of the game.
        action: what was given.
        legal: ids of all legal actions.
        text: text of the action, or None where it has none.
        legal_texts: texts of the legal actions, in the order of `legal`; may be empty.
    """

    def __init__(
        self,
        seat: int,
        phase: str,
        action: object,
        legal: Sequence[int],
        text: str | None = None,
        legal_texts: Sequence[str] = (),
    ) -> None:
        self.seat = seat
        self.phase = phase
        self.action = action
        self.legal = tuple(int(a) for a in legal)
        self.text = text
        self.legal_texts = tuple(legal_texts)
        # the arguments, not the message, so that a pickled exception is rebuilt
        super().__init__(seat, phase, action, self.legal, text, self.legal_texts)

    def __str__(self) -> str:
        given = str(self.action) if self.text is None else f"{self.action} ({self.text})"
        named = [f"{a} ({t})" for a, t in zip(self.legal, self.legal_texts, strict=False)] or [*map(str, self.legal)]
        more = f", … {len(named) - MAX_LISTED} more" if len(named) > MAX_LISTED else ""
        legal = ", ".join(named[:MAX_LISTED]) + more if named else "none"
        return f"seat {self.seat}, phase {self.phase}: action {given} is illegal; legal: {legal}"


class RecordError(ChicagoError, ValueError):
    """A match record that cannot be read, or that the rules contradict (docs/record-format.md).

    The message starts with the position as far as it is known: `FILE:LINE deal 3 event 17: …`.

    Attributes:
        reason: what is wrong, without the position.
        file: name of the file.
        line: line in the file, from 1.
        deal: index of the deal in the match, from 0.
        event: index of the event in the deal, from 0.
    """

    def __init__(
        self,
        reason: str,
        *,
        file: str | None = None,
        line: int | None = None,
        deal: int | None = None,
        event: int | None = None,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.file = file
        self.line = line
        self.deal = deal
        self.event = event

    def __str__(self) -> str:
        place = [] if self.file is None else [self.file]
        if self.line is not None:
            place = [f"{self.file}:{self.line}"] if self.file is not None else [f"line {self.line}"]
        if self.deal is not None:
            place.append(f"deal {self.deal}")
        if self.event is not None:
            place.append(f"event {self.event}")
        return f"{' '.join(place)}: {self.reason}" if place else self.reason


class SetupError(ChicagoError, ValueError):
    """A match that cannot be set up: seed, scores, dealer, decks, length, or the shape of an array of actions."""


class StateError(ChicagoError, ValueError):
    """A saved state that is corrupt, or that was saved by something else."""


class FileError(ChicagoError, ValueError):
    """A file that holds something else than it should; the kinds of files have errors of their own below this one.

    Attributes:
        path: the file.
        reason: what is wrong.
    """

    def __init__(self, path: object, reason: str) -> None:
        super().__init__(path, reason)
        self.path = path
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"


class CheckpointError(FileError):
    """A file of weights or of training that is damaged, foreign, or made for another version of the game."""


class UsageError(ChicagoError, ValueError):
    """A command line, or options of a command, that cannot be carried out."""


class MissingExtra(ChicagoError, ImportError):
    """A package is missing that an optional part of the project needs.

    Attributes:
        package: the package that could not be imported.
        extra: the extra of `chicago-env` that installs it.
    """

    def __init__(self, package: str, extra: str) -> None:
        self.package = package
        self.extra = extra
        super().__init__(package, extra)

    def __str__(self) -> str:
        return f"{self.package} is not installed; pip install 'chicago-env[{self.extra}]'"


class ObservationError(ChicagoError, ValueError):
    """An array that is no observation of this version: wrong shape, dtype, or an entry that its block does not allow."""
