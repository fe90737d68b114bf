"""Talk to a running service over HTTP: send, wait, see what is held, approve, follow.

``make run`` prints the address and the two keys:

    .venv/bin/python examples/http_client.py ADDRESS ROUTE_KEY REVIEW_KEY
"""

import sys

from clawmarshal.api.client import Client, Route

SAFE = "Which invoices are still unpaid, and when is each of them due?"
RISKY = "Refund the 4,000 euros that Kestrel GmbH paid twice."


def show(route: Route) -> None:
    """Say what became of a message."""
    print(f"  {route.state}: {route.agent} ({route.reason})")
    if route.reply:
        print(f"  {route.reply}")


def main() -> None:
    """Route one message, have another held, approve it."""
    if len(sys.argv) != 4:
        sys.exit("usage: http_client.py ADDRESS ROUTE_KEY REVIEW_KEY")
    address, route_key, review_key = sys.argv[1:]
    with Client(address, route_key) as caller, Client(address, review_key) as reviewer:
        print(SAFE)
        # A message of a channel has a message_id; one of your own gets a key by itself. With
        # either, a second try after a lost connection finds the first and launches nothing.
        show(caller.send(SAFE, channel="example", wait_s=30))
        print(RISKY)
        held = caller.send(RISKY, channel="example", wait_s=30)
        show(held)
        assert held.id is not None and held.hold_id is not None
        hold = reviewer.hold(held.hold_id)
        for gate in hold.gates:
            print(f"  gate {gate.number}: {gate.detail}")
        # What was read is what is approved: if anything else would run, this is refused.
        reviewer.approve(hold)
        print(f"  approved for {hold.suggestion}")
        for event in caller.follow(held.id):  # until it has ended
            print(f"  {event.kind}")
        show(caller.route(held.id))


if __name__ == "__main__":
    main()
