"""Whose an address is."""

from ipaddress import IPv6Address

__all__ = ["owner_of"]


def owner_of(address: str) -> str:
    """What stands for the owner of an address: of IPv6 ones somebody has 64 bits' worth, for which one counts.

    What is no address stands for itself.
    """
    if ":" not in address:
        return address
    try:
        found = IPv6Address(address.partition("%")[0])
    except ValueError:
        return address
    return str(found.ipv4_mapped or int(found) >> 64)
