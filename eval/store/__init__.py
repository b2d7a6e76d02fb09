"""The result store: the games of an event in one SQLite file, from which every figure is computed."""

from eval.store.file import Fault as Fault
from eval.store.file import Played as Played
from eval.store.file import Store as Store
from eval.store.schema import StoreError as StoreError

__all__ = ["Fault", "Played", "Store", "StoreError"]
