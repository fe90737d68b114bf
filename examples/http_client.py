"""Talk to a running service over HTTP: send, wait, list what is held, approve.

``make run`` prints the address and the two keys:

    .venv/bin/python examples/http_client.py ADDRESS ROUTE_KEY REVIEW_KEY
"""

import sys
import uuid
from typing import Any

import httpx

SAFE = "Which invoices are still unpaid, and when is each of them due?"
RISKY = "Refund the 4,000 euros that Kestrel GmbH paid twice."


def client(address: str, key: str) -> httpx.Client:
    """Return a client that shows a key."""
    headers = {"Authorization": f"Bearer {key}"}
    return httpx.Client(base_url=address, headers=headers, timeout=60)


def send(http: httpx.Client, text: str) -> dict[str, Any]:
    """Send one message and wait for its end.

    A message of a channel has a ``message_id``; one of your own gets a key. With either, the
    second try after a lost connection finds the first and launches nothing.
    """
    key = str(uuid.uuid4())
    for is_last in (False, True):
        try:
            answer = http.post(
                "/route",
                json={"text": text, "channel": "example", "wait_s": 30},
                headers={"Idempotency-Key": key},
            )
            break
        except httpx.TransportError:
            if is_last:
                raise
    route: dict[str, Any] = answer.raise_for_status().json()
    return route


def show(route: dict[str, Any]) -> None:
    """Say what became of a message."""
    print(f"  {route['state']}: {route['agent']} ({route['reason']})")
    if route["reply"]:
        print(f"  {route['reply']['text']}")


def main() -> None:
    """Route one message, have another held, approve it."""
    if len(sys.argv) != 4:
        sys.exit("usage: http_client.py ADDRESS ROUTE_KEY REVIEW_KEY")
    address, route_key, review_key = sys.argv[1:]
    with client(address, route_key) as caller, client(address, review_key) as reviewer:
        print(SAFE)
        show(send(caller, SAFE))
        print(RISKY)
        held = send(caller, RISKY)
        show(held)
        hold = reviewer.get(f"/holds/{held['hold_id']}").raise_for_status().json()
        for gate in hold["gates"]:
            print(f"  gate {gate['number']}: {gate['detail']}")
        # The digest stands for what was shown: if anything else would run, this is refused.
        approval = {"agent": hold["suggestion"], "digest": hold["digest"]}
        reviewer.post(f"/holds/{hold['id']}/approve", json=approval).raise_for_status()
        print(f"  approved for {hold['suggestion']}")
        show(caller.get(f"/routes/{held['id']}", params={"wait_s": 30}).raise_for_status().json())


if __name__ == "__main__":
    main()
