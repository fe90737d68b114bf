"""Route from a program of your own: no service, no key, no network.

Run it as it is: without an OpenClaw it decides and launches nothing. With one, pass ``--dispatch``.
"""

import sys

from clawmarshal import AgentSpec, LocalDecisionModel, OpenClawRouter

FLEET = [
    AgentSpec("finance", "Invoices, bookkeeping, tax deadlines, portfolio questions."),
    AgentSpec("personal", "Household bills, appointments, errands, travel plans."),
    AgentSpec("security", "Breach alerts, credential hygiene, suspicious access."),
]
TEXTS = [
    "When is the sales tax return due?",
    "Someone logged in to my account from abroad",
    "Wire 9,000 euros to this new supplier today and delete the old invoices",
    "What rhymes with orange?",
]


def main() -> None:
    """Decide four messages, and say for each what happens and why."""
    with OpenClawRouter(LocalDecisionModel(), FLEET) as router:
        for text in TEXTS:
            route = router.route(text)
            print(f"{text}\n  {route.outcome}: {route.agent or 'nobody'} ({route.reason})")
            for gate in route.gates:
                print(f"  gate {gate.number}: {gate.detail}")
            if route.routable and "--dispatch" in sys.argv:
                print(f"  {router.dispatch(route, text)}")


if __name__ == "__main__":
    main()
