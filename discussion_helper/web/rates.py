"""How often somebody may ask: token buckets, one for each address and one for all."""

from collections import OrderedDict

from discussion_helper.clock import now

__all__ = ["ADDRESSES", "Bucket", "Rates"]

ADDRESSES = 4096
"""Buckets that are kept; whoever was quiet for the longest time begins again with a full one."""


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
        return 0.0 if self._left >= 1 else (1 - self._left) / self._per_s

    def take(self) -> None:
        """One; after `wait_s` gave 0.0."""
        self._left -= 1


class Rates:
    """One address may take `per_s`, all together `of_all_per_s`, and `burst_s` seconds' worth of it at once."""

    def __init__(self, per_s: float, of_all_per_s: float, *, burst_s: float) -> None:
        self._per_s = per_s
        self._burst_s = burst_s
        self._all = Bucket(of_all_per_s, max(1.0, of_all_per_s * burst_s))
        self._of: OrderedDict[str, Bucket] = OrderedDict()

    def wait_s(self, address: str) -> float:
        """Seconds until this address can take something; 0.0 = now. Takes nothing."""
        return max(self._bucket(address).wait_s(), self._all.wait_s())

    def take(self, address: str) -> float:
        """0.0 and one was taken, or the seconds until one can be."""
        wait_s = self.wait_s(address)
        if not wait_s:
            self._bucket(address).take()
            self._all.take()
        return wait_s

    def _bucket(self, address: str) -> Bucket:
        bucket = self._of.pop(address, None) or Bucket(self._per_s, max(1.0, self._per_s * self._burst_s))
        self._of[address] = bucket
        if len(self._of) > ADDRESSES:
            self._of.popitem(last=False)
        return bucket
