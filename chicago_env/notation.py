"""Rules as text: `preset+key=value+…`, e.g. `pagat+target=51+buy_stop=none` (docs/rules.md §5).

Every field of `Rules` is a key, and so are the shorthands in `VARIANTS`, which change single entries. Keys are applied
from left to right; what several fields must agree on is checked once, at the end. In values, lists have commas
(`hand_points=0,1,2,3,4,5,6,7,8,52`), flags are `yes` or `no`, and `none` is the empty list or the absent value.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from chicago_env.cards import CATEGORIES
from chicago_env.errors import RulesError
from chicago_env.rules import FIELDS, MAX_POINTS, PRESETS, Rules, check_field, suggestion

_FOUR, _STRAIGHT_FLUSH, _ROYAL = 7, 8, 9
_WORDS = {"none": None, "yes": True, "true": True, "no": False, "false": False}
_WHOLE = re.compile(r"-?[0-9]{1,9}")

Values = dict[str, Any]
"""Values by field name, each allowed by its field, while a notation is being read."""


@dataclass(frozen=True, slots=True)
class Variant:
    """A key of the notation that is named in the descriptions of the game.

    Attributes:
        key: the key.
        values: the values that the descriptions name; each is allowed with any preset.
        sets: what the key sets, in words.
        allowed: what else is allowed, in words.
        apply: changes the values of fields as the text after `=` says.
    """

    key: str
    values: tuple[str, ...]
    sets: str
    allowed: str
    apply: Callable[[Values, str], None]


def _value(text: str) -> Any:
    if text in _WORDS:
        return _WORDS[text]
    return int(text) if _WHOLE.fullmatch(text) else text


def _field_value(name: str, text: str) -> Any:
    """The value of a field from its text."""
    if not FIELDS[name].metadata["is_list"]:
        return check_field(name, _value(text))
    return check_field(name, [] if text == "none" else [_value(item.strip()) for item in text.split(",")])


def _field_text(value: Any) -> str:
    """Inverse of `_field_value`."""
    if isinstance(value, (tuple, frozenset)):
        items = sorted(value) if isinstance(value, frozenset) else value
        return ",".join(map(_field_text, items)) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)


def _refusal(key: str, text: str, allowed: str) -> RulesError:
    return RulesError(f"{text!r} is not allowed; allowed: {allowed}", field=key, value=text, allowed=allowed)


def _set_field(name: str) -> Callable[[Values, str], None]:
    def apply(values: Values, text: str) -> None:
        values[name] = _field_value(name, text)

    return apply


def _set_exchanges(values: Values, text: str) -> None:
    values["exchanges"] = _field_value("exchanges", text)
    values["scored_exchanges"] = values["scored_exchanges"][: values["exchanges"]]


def _set_points(values: Values, category: int, points: int) -> None:
    changed = list(values["hand_points"])
    changed[category] = points
    values["hand_points"] = tuple(changed)


def _set_points_or_win(key: str, category: int) -> Callable[[Values, str], None]:
    """Sets the points of a category; `win` makes it and those above win at once."""

    def apply(values: Values, text: str) -> None:
        number = _value(text)
        if text == "win":
            values["instant_win"] |= frozenset(range(category, len(CATEGORIES)))
        elif isinstance(number, int) and not isinstance(number, bool) and 0 <= number <= MAX_POINTS:
            _set_points(values, category, number)
        else:
            raise _refusal(key, text, f"a whole number from 0 to {MAX_POINTS}, or win")

    return apply


_FOURS = {
    "7": ("points", 7),
    "8": ("points", 8),
    "reset7": ("reset", 7),
    "reset8": ("reset", 8),
    "choose": ("choose", 7),
}


def _set_four(values: Values, text: str) -> None:
    if text not in _FOURS:
        raise _refusal("four", text, f"one of {', '.join(_FOURS)}")
    values["four_of_a_kind"], points = _FOURS[text]
    _set_points(values, _FOUR, points)


def _of_field(key: str, name: str, *values: str) -> Variant:
    """A variant that is a field, perhaps by a shorter name."""
    return Variant(key, values, f"`{name}`", FIELDS[name].metadata["allowed"], _set_field(name))


VARIANTS: tuple[Variant, ...] = (
    _of_field("target", "target", "51"),
    Variant(
        "exchanges",
        ("1", "2", "3"),
        "`exchanges`, and keeps so many first entries of `scored_exchanges`",
        FIELDS["exchanges"].metadata["allowed"],
        _set_exchanges,
    ),
    _of_field("buy_stop", "buy_stop", "41", "42", "46", "none"),
    _of_field("penalty", "buy_stop_penalty", "none", "15", "all"),
    Variant(
        "straight_flush",
        ("8", "9", "10", "11", "win"),
        "`hand_points[8]`; win: adds 8 and 9 to `instant_win`",
        f"a whole number from 0 to {MAX_POINTS}, or win",
        _set_points_or_win("straight_flush", _STRAIGHT_FLUSH),
    ),
    Variant(
        "royal",
        ("10", "52", "win"),
        "`hand_points[9]`; win: adds 9 to `instant_win`",
        f"a whole number from 0 to {MAX_POINTS}, or win",
        _set_points_or_win("royal", _ROYAL),
    ),
    Variant(
        "four",
        tuple(_FOURS),
        "`hand_points[7]` and `four_of_a_kind`: points only; points and reset; 7 or reset by choice",
        f"one of {', '.join(_FOURS)}",
        _set_four,
    ),
    _of_field("chicago_from", "chicago_threshold", "15", "0", "none"),
    _of_field("needs_chicago", "win_needs_chicago", "none", "attempt", "success"),
    _of_field("breaker", "chicago_breaker_points", "0", "8"),
    _of_field("two_doubles", "last_trick_two_doubles", "yes", "no"),
    _of_field("open_card", "open_card", "yes", "no"),
    _of_field("show_broken", "show_broken_hand", "yes", "no"),
    _of_field("suits", "suit_order", "HSDC", "none"),
    _of_field("reveal", "tie_reveal", "cards", "ranks"),
    _of_field("announcing", "announcing", "free", "compulsory"),
)
"""The variants that the descriptions of the game mention, in the order of docs/rules.md §5."""

KEYS: Mapping[str, Callable[[Values, str], None]] = {
    **{name: _set_field(name) for name in FIELDS},
    **{variant.key: variant.apply for variant in VARIANTS},
}
"""Every key of the notation: what it does to the values of fields."""


def parse_rules(spec: "str | Mapping[str, object] | Rules") -> Rules:
    """Rules from a preset's name, the notation, or a mapping of field names (what it lacks is as in `pagat`).

    Raises:
        RulesError: an unknown preset, key or field, or an impossible value; the message says what is allowed.
    """
    if isinstance(spec, Rules):
        return spec
    if isinstance(spec, Mapping):
        return Rules.from_dict(spec)
    if not isinstance(spec, str):
        raise RulesError(f"rules: {spec!r} is no preset, text of rules, mapping or Rules", value=spec)
    preset, *changes = (part.strip() for part in spec.split("+"))
    if preset not in PRESETS:
        message = f"rules {spec!r}: unknown preset {preset!r}{suggestion(preset, PRESETS)}"
        raise RulesError(message, value=preset, allowed=", ".join(PRESETS))
    values = {name: getattr(PRESETS[preset], name) for name in FIELDS}
    for change in changes:
        key, equals, text = (part.strip() for part in change.partition("="))
        if not equals:
            raise RulesError(f"rules {spec!r}: {change!r} is no key=value", value=change)
        if key not in KEYS:
            raise RulesError(f"rules {spec!r}: unknown key {key!r}{suggestion(key, KEYS)}", field=key, value=text)
        try:
            KEYS[key](values, text)
        except RulesError as error:  # a shorthand's error would name the field only
            message = f"{key}={text}: {error}"
            raise RulesError(message, field=error.field, value=error.value, allowed=error.allowed) from None
    return Rules(**values)


def _changes(rules: Rules, preset: Rules) -> list[str]:
    """The shortest list of `key=value` with full field names that turns a preset into the rules."""
    base = {name: getattr(preset, name) for name in FIELDS}
    changes = []
    for name in FIELDS:
        value = getattr(rules, name)
        if value != base[name]:
            changes.append(f"{name}={_field_text(value)}")
            KEYS[name](base, _field_text(value))  # `exchanges` also shortens `scored_exchanges`
    return changes


def format_rules(rules: Rules) -> str:
    """The shortest text for rules that has only full field names; `parse_rules` inverts it.

    Starts from the preset that gives the shortest text, the earlier one of equals.
    """
    texts = ("+".join([name, *_changes(rules, preset)]) for name, preset in PRESETS.items())
    return min(texts, key=len)


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)


def rules_table() -> str:
    """Markdown table of every field of `Rules`: its value in each preset, what is allowed, and its help."""
    rows = [
        [
            f"`{name}`",
            *(_field_text(getattr(preset, name)) for preset in PRESETS.values()),
            field.metadata["allowed"],
            field.metadata["help"],
        ]
        for name, field in FIELDS.items()
    ]
    first, *others = (f"`{name}`" for name in PRESETS)
    return _table(["field", f"{first} (default)", *others, "allowed", "meaning"], rows)


def variants_table() -> str:
    """Markdown table of the named variants: key, values that the descriptions name, what it sets, what is allowed."""
    rows = [[f"`{v.key}`", ", ".join(f"`{value}`" for value in v.values), v.sets, v.allowed] for v in VARIANTS]
    return _table(["key", "values", "sets", "allowed"], rows)
