"""A certificate and its key, as what a server encrypts with."""

import ssl
from pathlib import Path

from discussion_helper.errors import SettingError

__all__ = ["tls_context"]


def tls_context(certificate: Path, key: Path) -> ssl.SSLContext:
    """TLS 1.2 and later. Both files are PEM. Blocks while they are read.

    Raises SettingError naming `tls_cert` or `tls_key`.
    """
    for field, file in (("tls_cert", certificate), ("tls_key", key)):
        if not file.is_file():
            raise SettingError(f"{field}: {file} is no file.", fix="Name a file in the PEM format.")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(certificate, key, password="")  # asks nobody for the password of a key
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or error
        what = f"tls_cert: {certificate} and the key {key} cannot be used ({reason})."
        raise SettingError(what, fix="Use a certificate and its own key, unencrypted, in the PEM format.") from error
    return context
