"""In which order a block launches what it launches: at random, and so that no place in a block favours one of them.

Of every four blocks the first two have orders that are drawn, and the other two have these turned round. So who came
later comes earlier, and what a place in a block costs is not taken for a difference of what stood there. The one turned
round does not follow the one that was drawn: where launches leave something to the next one, entries that were
neighbours would be so again, end to end, and blocks would be more alike than independent ones are.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import TypeVar

Item = TypeVar("Item")
_OF, _DRAWN = 4, 2


def orders(
    chance: random.Random, items: Sequence[Item], earlier: Sequence[Sequence[Item]] = (), *, all_drawn: bool = False
) -> Iterator[list[Item]]:
    """Yield the order of one block after the other, without end; `earlier` are those of the blocks before.

    `all_drawn` is how older versions did it: none is turned round.
    """
    made = [list(order) for order in earlier]
    while True:
        is_drawn = all_drawn or len(made) % _OF < _DRAWN
        made.append(chance.sample(items, len(items)) if is_drawn else made[-_DRAWN][::-1])
        yield made[-1]
