"""Match records, format 1 (docs/record-format.md): building, writing, reading and verifying them."""

from chicago_env.records.build import record_of, record_of_game
from chicago_env.records.io import RecordWriter, read_records, write_records
from chicago_env.records.verify import MatchSummary, verify_record

__all__ = [
    "MatchSummary",
    "RecordWriter",
    "read_records",
    "record_of",
    "record_of_game",
    "verify_record",
    "write_records",
]
