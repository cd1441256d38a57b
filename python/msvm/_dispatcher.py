"""The callable behind compiled functions and operators, as a class that takes type arguments."""

import types
from typing import TYPE_CHECKING

from . import _core

if TYPE_CHECKING:
    from ._core import Dispatcher as Dispatcher
else:

    class Dispatcher(_core.Dispatcher):
        """``Dispatcher[P, R]``: called with arguments P it returns R."""

        __class_getitem__ = classmethod(types.GenericAlias)
