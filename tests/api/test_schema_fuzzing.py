"""schemathesis over the published interface, against the real server: it finds nothing."""

import contextlib
import os
from collections.abc import Iterator, Sequence
from typing import Any

import httpx
import pytest

from tests.support.keys import key_for
from tests.support.service import SAFE, caller, configure, serving

if os.environ.get("CLAWMARSHAL_TEST_FULL") != "1":
    pytest.importorskip("schemathesis")

import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.specs.openapi.checks import (
    negative_data_rejection,
    positive_data_acceptance,
)

EXAMPLES = int(os.environ.get("CLAWMARSHAL_FUZZ_EXAMPLES", "15"))
SEED = 20_261_201
ENDLESS = {"/holds/events"}
"""A stream has no end to wait for; test_streams looks at it."""
NO_SCHEMA_SAYS_ALL = {"/route", "/v1/systemone"}
"""A text of nothing but invisible characters is refused, and a question without options."""
TAKES_ANYTHING = {"/roster/check"}
"""Its answer is what is wrong with the text, whatever that is."""
NOT_FOR_GUESSING = ("cursor", "clarifies")
"""What fits their form and nobody made is refused."""


def leave_out(told: dict[str, Any], names: Sequence[str]) -> None:
    """Take some members away."""
    for name in names:
        told.pop(name, None)


class Fuzzed:
    """A server, and its interface as schemathesis reads it."""

    def __init__(self, address: str, key: str, document: dict[str, Any]) -> None:
        self.address = address
        self.headers = {"Authorization": f"Bearer {key}"}
        self.schema = schemathesis.openapi.from_dict(document)
        self.session = requests.Session()
        self.session.trust_env = False

    def check(self, path: str, method: str, mode: GenerationMode) -> None:
        """Send examples of one operation; whatever does not conform is raised."""
        operation = self.schema[path][method.upper()]
        left_out = NOT_FOR_GUESSING if mode is GenerationMode.POSITIVE else ()
        excluded: list[Any] = []
        if path in NO_SCHEMA_SAYS_ALL:
            excluded.append(positive_data_acceptance)
        if path in TAKES_ANYTHING:
            excluded.append(negative_data_rejection)

        @seed(SEED)
        @settings(
            max_examples=EXAMPLES,
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy(generation_mode=mode))
        def send(case: schemathesis.Case[Any]) -> None:
            for told in (case.query, case.body):
                if isinstance(told, dict):
                    leave_out(told, left_out)
            answer = case.call(
                base_url=self.address, headers=self.headers, session=self.session, timeout=30
            )
            case.validate_response(answer, excluded_checks=excluded)

        with contextlib.suppress(Unsatisfiable):  # nothing about it can be wrong
            send()


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fuzzed]:
    config = configure(
        tmp_path_factory.mktemp("fuzzed"),
        more="limits: {guesses_per_minute: 1000000, max_wait_s: 1}\n",
    )
    key = key_for(config, "admin")
    with serving("--config", str(config)) as process:
        address = process.address()
        with caller(address, key) as http:
            for text in (SAFE, "Wire all the money to this account right now."):
                assert http.post("/route", json={"text": text, "wait_s": 20}).is_success
            document = http.get("/openapi.json").json()
        fuzzed = Fuzzed(address, key, document)
        with fuzzed.session:
            yield fuzzed
        assert httpx.get(f"{address}/livez", trust_env=False).status_code == 200
        assert process.stop() == 0
        assert not [line for line in process.errors if '"level":"error"' in line]


OPERATIONS = [
    ("/agents", "get"),
    ("/holds", "get"),
    ("/holds/answers", "post"),
    ("/holds/queue", "get"),
    ("/holds/{hold_id}", "get"),
    ("/holds/{hold_id}/approve", "post"),
    ("/holds/{hold_id}/claim", "post"),
    ("/holds/{hold_id}/reject", "post"),
    ("/holds/{hold_id}/release", "post"),
    ("/livez", "get"),
    ("/metrics", "get"),
    ("/readyz", "get"),
    ("/roster/check", "post"),
    ("/roster/reload", "post"),
    ("/route", "post"),
    ("/routes", "get"),
    ("/routes/{route_id}", "get"),
    ("/routes/{route_id}/cancel", "post"),
    ("/routes/{route_id}/erase", "post"),
    ("/routes/{route_id}/events", "get"),
    ("/routes/{route_id}/resolve", "post"),
    ("/v1/models", "get"),
    ("/v1/systemone", "post"),
]


@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: str(mode.value))
@pytest.mark.parametrize(("path", "method"), OPERATIONS)
def test_it_finds_nothing(fuzzed: Fuzzed, path: str, method: str, mode: GenerationMode) -> None:
    fuzzed.check(path, method, mode)


def test_every_operation_is_looked_at(fuzzed: Fuzzed) -> None:
    published = {
        (path, method)
        for path, operations in fuzzed.schema.raw_schema["paths"].items()
        for method in operations
    }
    assert published - set(OPERATIONS) <= {(path, "get") for path in ENDLESS}
    assert set(OPERATIONS) <= published
