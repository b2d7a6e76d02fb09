"""A second, slow and independent implementation of docs/rules.md, to check the engine against.

Standard library only, and nothing of the engine: what both agree on was read twice from the same rules.
"""

from tests.oracle.cards import OracleError, hand_value
from tests.oracle.match import OracleMatch
from tests.oracle.verify import verify_record

__all__ = ["OracleError", "OracleMatch", "hand_value", "verify_record"]
