"""Route from a program of your own: no service, no key, no network.

As it is, it decides and launches nothing. With ``--dispatch`` it launches the agents of an OpenClaw
that is on this machine.
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
            print(text)
            if not route.routable:
                print(f"  Hold: {route.reason}; a reviewer would be offered {route.agent}")
                for gate in route.gates:
                    print(f"  gate {gate.number}: {gate.detail}")
            elif "--dispatch" in sys.argv:
                print(f"  {route.agent}: {router.dispatch(route, text)}")
            else:
                print(f"  Dispatch to {route.agent}, which has {route.confidence:.2f}")


if __name__ == "__main__":
    main()
