"""The generated tables of docs/ are those that the code makes."""

import pytest

from chicago_env import docs


def test_pages_are_up_to_date() -> None:
    for path, text in docs.pages().items():
        assert path.read_text("utf-8") == text, f"{path.name}: run make docs"


def test_a_table_takes_the_place_of_the_old_one() -> None:
    page = "a\n<!-- generated: x -->\n\nold\n\n<!-- end -->\nb\n"
    new = docs.filled(page, "x", "new")
    assert new == page.replace("old", "new")
    assert docs.filled(new, "x", "new") == new
    for broken in ("a", "<!-- generated: x --> a", "<!-- end -->"):
        with pytest.raises(ValueError, match="no place for the table x"):
            docs.filled(broken, "x", "new")
