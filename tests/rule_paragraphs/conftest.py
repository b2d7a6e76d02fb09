from __future__ import annotations

from functools import partial

import pytest

from tests.drivers import DRIVERS, Driver
from tests.rule_paragraphs.table import Deal, Table


@pytest.fixture(params=DRIVERS, ids=lambda driver: driver.name)
def driver(request: pytest.FixtureRequest) -> Driver:
    found: Driver = request.param
    return found


@pytest.fixture
def deal(driver: Driver) -> Deal:
    """Starts a match from written-out cards; see Table."""
    return partial(Table, driver)
