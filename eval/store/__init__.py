"""The result store: the games of an event in one SQLite file, from which every figure is computed."""

from eval.store.file import Store as Store
from eval.store.reading import Fault as Fault
from eval.store.reading import Played as Played
from eval.store.schema import StoreError as StoreError

__all__ = ["Fault", "Played", "Store", "StoreError"]
