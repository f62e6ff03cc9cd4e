"""Whether a server can hold talks with browsers: exit code 0, or 1 and a line that says what is missing.

With DISCUSSION_HELPER_TOKEN in the environment, as the server has it; without, whether it answers at all.
"""

import json
import os
import ssl
import sys
import urllib.error
import urllib.request

WITHIN_S = 10.0


def answer_of(url: str) -> tuple[int, str]:
    """Status and body of the readiness. Of a certificate nothing is checked: this is the loopback interface."""
    asked = urllib.request.Request(f"{url}/health?ready=remote")
    if token := os.environ.get("DISCUSSION_HELPER_TOKEN"):
        asked.add_header("Authorization", f"Bearer {token}")
    trust = ssl._create_unverified_context() if url.startswith("https") else None
    try:
        with urllib.request.urlopen(asked, timeout=WITHIN_S, context=trust) as answer:
            return answer.status, answer.read(65536).decode()
    except urllib.error.HTTPError as refusal:
        return refusal.code, refusal.read(65536).decode()


def main() -> int:
    """Of the server at the address that is given."""
    try:
        status, text = answer_of(sys.argv[1])
    except OSError as error:
        print(f"Nobody answers: {error}")
        return 1
    if status == 200 or (status == 401 and not os.environ.get("DISCUSSION_HELPER_TOKEN")):
        return 0
    told = json.loads(text)
    print(" ".join([told.get("error", ""), *told.get("missing", []), *told.get("fixes", [])]).strip())
    return 1


if __name__ == "__main__":
    sys.exit(main())
