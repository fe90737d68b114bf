"""Talk to a running service over HTTP: send, wait, list what is held, approve.

``make run`` prints the address and the two keys:

    python examples/http_client.py ADDRESS ROUTE_KEY REVIEW_KEY
"""

import sys
import uuid

import httpx


def send(http: httpx.Client, text: str) -> dict[str, object]:
    """Send one message and wait for its end; the key makes a retry safe."""
    answer = http.post(
        "/route",
        json={"text": text, "channel": "example", "wait_s": 30},
        headers={"Idempotency-Key": str(uuid.uuid4())},
    )
    answer.raise_for_status()
    route: dict[str, object] = answer.json()
    print(f"{text}\n  {route['state']}: {route['agent']} ({route['reason']})")
    if isinstance(reply := route.get("reply"), dict):
        print(f"  {reply['text']}")
    return route


def main() -> None:
    """Route one message, have another held, approve it."""
    address, route_key, review_key = sys.argv[1:4]
    caller = httpx.Client(
        base_url=address, headers={"Authorization": f"Bearer {route_key}"}, timeout=60
    )
    reviewer = httpx.Client(
        base_url=address, headers={"Authorization": f"Bearer {review_key}"}, timeout=60
    )
    with caller, reviewer:
        send(caller, "Which invoices are still unpaid, and when is each of them due?")
        held = send(caller, "Wire 4,000 euros to the new supplier's account today")
        for hold in reviewer.get("/holds").raise_for_status().json()["holds"]:
            if hold["route_id"] == held["id"]:
                agent = hold["suggestion"] or "bookkeeping"
                done = reviewer.post(f"/holds/{hold['id']}/approve", json={"agent": agent})
                print(f"  approved for {agent}: {done.status_code}")
        after = caller.get(f"/routes/{held['id']}", params={"wait_s": 30}).raise_for_status()
        print(f"  now {after.json()['state']}")


if __name__ == "__main__":
    main()
