"""How often somebody may ask: token buckets, one for each address and one for all."""

from collections import OrderedDict

from discussion_helper.clock import now
from discussion_helper.web.owners import owner_of

__all__ = ["ADDRESSES", "Bucket", "Rates"]

ADDRESSES = 4096
"""Whose buckets are kept; whoever was quiet for the longest time begins again with a full one."""


class Bucket:
    """Fills up at `per_s`, up to `most`."""

    def __init__(self, per_s: float, most: float) -> None:
        self._per_s = per_s
        self._most = most
        self._left = most
        self._at_s = now()

    def wait_s(self) -> float:
        """Seconds until something can be taken; 0.0 = now."""
        at_s = now()
        self._left = min(self._most, self._left + (at_s - self._at_s) * self._per_s)
        self._at_s = at_s
        return max(0.0, 1 - self._left) / self._per_s

    def full_in_s(self) -> float:
        """Seconds until nothing of it counts as taken; 0.0 = it is full."""
        self.wait_s()
        return (self._most - self._left) / self._per_s

    def take(self) -> None:
        """One; after `wait_s` gave 0.0."""
        self._left -= 1


class Rates:
    """One address may take `per_s`, all together `of_all_per_s`, and `burst_s` seconds' worth of it at once.

    Of IPv6 addresses 64 bits' worth count as one. With `shared` half of what there is for all is kept for addresses
    that have taken nothing of late, whose buckets are full: somebody with many addresses empties the other half.
    """

    def __init__(self, per_s: float, of_all_per_s: float, *, burst_s: float, shared: bool = False) -> None:
        self._per_s = per_s
        self._burst_s = burst_s
        part = of_all_per_s / 2 if shared else of_all_per_s
        self._all = Bucket(part, max(1.0, part * burst_s))
        self._quiet = Bucket(part, max(1.0, part * burst_s)) if shared else self._all
        self._of: OrderedDict[str, Bucket] = OrderedDict()

    def wait_s(self, address: str) -> float:
        """Seconds until this address can take something; 0.0 = now. Takes nothing."""
        own = self._bucket(address)
        return max(own.wait_s(), min(self._all.wait_s(), max(own.full_in_s(), self._quiet.wait_s())))

    def take(self, address: str) -> float:
        """0.0 and one was taken, or the seconds until one can be."""
        wait_s = self.wait_s(address)
        if not wait_s:
            own = self._bucket(address)
            (self._all if own.full_in_s() or self._quiet.wait_s() else self._quiet).take()
            own.take()
        return wait_s

    def is_its_own(self, address: str) -> bool:
        """Whether it is for what this address has taken that it has to wait, not for what others have."""
        return self._bucket(address).wait_s() > 0

    def _bucket(self, address: str) -> Bucket:
        whose = owner_of(address)
        bucket = self._of.pop(whose, None) or Bucket(self._per_s, max(1.0, self._per_s * self._burst_s))
        self._of[whose] = bucket
        if len(self._of) > ADDRESSES:
            self._of.popitem(last=False)
        return bucket
