"""Settings -> the running parts; the only place that picks implementations."""

import asyncio
import logging
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace

from fastapi import FastAPI

from clawmarshal.api.app import create_app, nothing_to_start
from clawmarshal.api.arranging import Arrangement, arrange, under
from clawmarshal.api.auth import LOOPBACK_NAMES
from clawmarshal.api.bell import Bell
from clawmarshal.api.configured import (
    configured_challenger,
    configured_fallback,
    configured_model,
)
from clawmarshal.api.guesses import Guesses
from clawmarshal.api.health import ServiceHealth
from clawmarshal.api.nobody import Nobody
from clawmarshal.api.opening import open_ledger
from clawmarshal.api.ports import Parts
from clawmarshal.api.proxied import ProxyTrust, networks_of
from clawmarshal.api.rates import RateLimit
from clawmarshal.api.reloading import Reloader, SettingsFile
from clawmarshal.api.review.door import ReviewDoor
from clawmarshal.api.seats import Seats
from clawmarshal.api.settings import (
    Settings,
    seal_key,
)
from clawmarshal.api.system_one import SystemOneDoor
from clawmarshal.api.transports import make_transport
from clawmarshal.errors import (
    NotLaunchedError,
    SettingsError,
)
from clawmarshal.router.decider import Decider
from clawmarshal.router.decision import DecisionModel
from clawmarshal.router.desk import RoutingDesk
from clawmarshal.router.elsewhere import Elsewhere
from clawmarshal.router.fleet import FleetWatch
from clawmarshal.router.ledger.dispatcher import Dispatcher
from clawmarshal.router.ledger.ledger import Ledger
from clawmarshal.router.ledger.reaches import Reach
from clawmarshal.router.models.closing import close_model
from clawmarshal.router.preview import Previewer
from clawmarshal.router.reconciling import Reconciler
from clawmarshal.router.rounds import Rounds
from clawmarshal.transport.openclaw import OpenClawTransport

logger = logging.getLogger("clawmarshal.api")

SEAL_LOOK_S = 60.0
"""How often it is looked whether a checkpoint is due."""
FINAL_PROBES = frozenset({"cli-version", "cli-flags"})
"""What no waiting mends: the installed CLI is another one than we can launch."""


@dataclass(slots=True)
class Service:
    """The parts of one service process, joined."""

    settings: Settings
    transport: OpenClawTransport
    arrangement: Arrangement
    """The fleet and the thresholds in force."""
    ledger: Ledger
    model: DecisionModel
    fleet: FleetWatch
    elsewhere: Elsewhere
    """What other hosts say of the agents that this one does not reach."""
    sealing: Rounds
    """Seals the record from time to time."""
    desk: RoutingDesk
    dispatcher: Dispatcher
    health: ServiceHealth
    previews: Previewer
    probe_again_s: float = 5.0
    """Seconds between two looks at the CLI."""
    address: str = ""
    """Where it listens, once it does."""
    fallback: DecisionModel | None = None
    bell: Bell = field(default_factory=Bell)
    """Rings when a route of this process moved."""
    reconciler: Reconciler | None = None
    """Looks for traces of lost turns; None where no Gateway could have any."""
    reloader: Reloader | None = None
    """Puts in force what the files say; None where the settings came from no file."""
    takes_strays: bool = True
    """Whether routes for agents that the roster does not know go back to a human here."""
    apps: list[FastAPI] = field(default_factory=list)
    """Those that show what is in force."""

    def app(self, *, runs_service: bool = True) -> FastAPI:
        """Make the HTTP application.

        Parameters
        ----------
        runs_service
            True: its lifespan is `running`. False: the caller runs the service around it.
        """
        parts = Parts(
            desk=self.desk,
            records=self.ledger,
            roster=self.arrangement.roster,
            health=self.health,
            max_text_bytes=self.settings.transport.max_text_bytes,
            allowed_hosts=_allowed_hosts(self.settings),
            proxy=_trusted_proxy(self.settings),
            guesses=Guesses(self.settings.limits.guesses_per_minute),
            rate=_rate(self.settings),
            seats=Seats(self.settings.limits.waits_per_key),
            bell=self.bell,
            body_timeout_s=self.settings.limits.body_timeout_s,
            max_wait_s=self.settings.limits.max_wait_s,
            system_one=SystemOneDoor(
                self.model,
                deadline_s=self.settings.decision.deadline_s,
                rate=RateLimit(self.settings.limits.systemone_per_minute),
                open_on_loopback=self.settings.server.open_on_loopback,
            ),
            reloader=self.reloader,
            review=ReviewDoor(self.ledger, self.previews, session_s=self.settings.server.session_s),
        )
        running = self.running if runs_service else nothing_to_start
        app = create_app(parts, running=running, figures=self._figures)
        self.apps.append(app)
        return app

    def use(self, arrangement: Arrangement) -> None:
        """Put another fleet and other thresholds in force, all at once; call it on the loop.

        Decisions under way end by the rules they began with, and running turns are left alone.
        """
        self.arrangement = arrangement
        self.desk.use(under(self.desk.decider, arrangement))
        self.transport.use_values(arrangement.values)
        self.elsewhere.agents = self.health.elsewhere = arrangement.elsewhere
        self.fleet.reached = arrangement.reached
        self.dispatcher.reach = Reach(arrangement.reached, takes_strays=self.takes_strays)
        if self.reconciler is not None:
            self.reconciler.agents = arrangement.reached
        self.health.roster = arrangement.roster
        self.health.revision = arrangement.revision
        for app in self.apps:
            app.state.parts = replace(app.state.parts, roster=arrangement.roster)
        self.dispatcher.wake()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run until the block ends, then stop in order: nothing accepted is lost.

        Raises
        ------
        SettingsError
            The CLI answers, and it is none that can be launched.
        LedgerUnavailableError
            Nothing was begun.
        """
        async with AsyncExitStack() as at_end:
            at_end.push_async_callback(self.close)
            # Before anything is held: an approval is bound to the version that would run.
            await self._look_around(at_end)
            if self.settings.mode == "enforce":
                await self.dispatcher.start()
            await self.desk.start()
            at_end.callback(self.ledger.listen(lambda *_: self.bell.ring()))
            yield

    @asynccontextmanager
    async def launching(self) -> AsyncIterator[None]:
        """Launch what is ready until the block ends; decide nothing, and answer nobody.

        Raises
        ------
        SettingsError, LedgerUnavailableError
            As `running`.
        """
        async with AsyncExitStack() as at_end:
            at_end.push_async_callback(self.close)
            await self._look_around(at_end)
            await self.dispatcher.start()
            yield

    async def _look_around(self, at_end: AsyncExitStack) -> None:
        """Begin to watch the CLI, the fleet, what other hosts reach, and for lost turns."""
        await self._probe()
        watch = asyncio.create_task(self._watch_cli(), name="cli-watch")
        at_end.callback(watch.cancel)
        await self.elsewhere.refresh()
        self.elsewhere.start()
        self.fleet.start()
        self.sealing.start()
        if self.reloader is not None:
            self.reloader.start()
        if self.reconciler is not None:
            # Before the dispatcher, whose first sweep finds what a dead service left.
            await self.reconciler.start()

    async def close(self) -> None:
        """Stop claiming, let turns end, then let go of everything, whatever fails on the way."""
        self.health.is_stopping = True
        async with AsyncExitStack() as in_reverse:
            in_reverse.callback(self.ledger.close)
            in_reverse.push_async_callback(close_model, self.fallback)
            in_reverse.push_async_callback(close_model, self.model)
            in_reverse.push_async_callback(self.transport.close)
            if self.reconciler is not None:
                in_reverse.push_async_callback(self.reconciler.close)
            in_reverse.push_async_callback(self.sealing.close)
            in_reverse.push_async_callback(self.fleet.close)
            if self.reloader is not None:
                in_reverse.push_async_callback(self.reloader.close)
            in_reverse.push_async_callback(self.elsewhere.close)
            in_reverse.push_async_callback(self.desk.close)
            in_reverse.push_async_callback(
                self.dispatcher.close, drain_s=self.settings.server.stop_s
            )

    def _figures(self) -> dict[str, float]:
        answers = {f"challenger.{said}": count for said, count in self.desk.challenged.items()}
        return {**self.ledger.counts(), **answers}

    async def _probe(self) -> None:
        """Ask the CLI what it is, and keep what is wrong with it for ``/readyz``."""
        try:
            await self.transport.probe()
        except NotLaunchedError as error:
            self.health.transport_fault = error.code
            if error.code in FINAL_PROBES:
                raise SettingsError(f"transport.command: {error}") from error
        else:
            self.health.transport_fault = None

    async def _watch_cli(self) -> None:
        """Ask again and again: costs a look at its files unless they changed."""
        while True:
            await asyncio.sleep(self.probe_again_s)
            before = self.health.transport_fault
            with suppress(SettingsError):  # it refuses a start; a running service says it
                await self._probe()
            if self.health.transport_fault != before:
                logger.warning("the CLI: %s", self.health.transport_fault or "answers again")


def wire(
    settings: Settings,
    *,
    model: DecisionModel | None = None,
    file: SettingsFile | None = None,
    is_worker: bool = False,
) -> Service:
    """Join the parts of a service; nothing runs before `Service.running`.

    Parameters
    ----------
    settings
        What was configured.
    model
        Who decides; what the settings name where None.
    file
        Where the settings stand, so that they can be read again.
    is_worker
        True leaves alone whatever is for agents that the roster does not know.

    Raises
    ------
    SettingsError, RosterError, LedgerError
        Something configured cannot be used; the message says how to mend it.
    """
    arrangement = arrange(settings)
    ledger = open_ledger(settings)
    # Before the model: its spawner must start before the encoder's libraries are loaded (a fork
    # beside their threads hung the service in a trial).
    transport = make_transport(settings)
    transport.use_values(arrangement.values)
    chosen = model or configured_model(settings.decision)
    is_nobody = isinstance(model, Nobody)
    challenger = None if is_nobody else configured_challenger(settings.decision)
    fallback = None if is_nobody else configured_fallback(settings.decision)
    decider = Decider(
        chosen,
        arrangement.roster,
        policy=arrangement.policy,
        deadline_s=settings.decision.deadline_s,
        fallback=fallback,
        fallback_policy=arrangement.fallback_policy,
    )
    elsewhere = Elsewhere(ledger, agents=arrangement.elsewhere)
    fleet = FleetWatch(transport, every_s=settings.fleet.refresh_s, elsewhere=elsewhere)
    desk = RoutingDesk(
        decider,
        ledger,
        transport=transport,
        fleet=fleet,
        is_shadow=settings.mode == "shadow",
        default_timeout_s=settings.transport.timeout_s,
        challenger=challenger,
        elsewhere=elsewhere,
    )
    dispatcher = Dispatcher(
        ledger,
        transport,
        terms=desk.terms,
        max_children=settings.transport.max_children,
        lease_s=settings.limits.lease_s,
        name=socket.gethostname(),
    )
    desk.connect(on_cancel=dispatcher.cancel)
    reconciler = None
    if not settings.transport.stand_in:
        reconciler = Reconciler(ledger, transport)
    health = ServiceHealth(
        ledger,
        transport,
        fleet,
        dispatcher,
        roster=arrangement.roster,
        model=chosen.name,
        mode=settings.mode,
    )
    health.undecided = lambda: desk.undecided
    health.unreached = lambda: elsewhere.unreached
    service = Service(
        settings,
        transport,
        arrangement,
        ledger,
        chosen,
        fleet,
        elsewhere,
        _sealing(settings, ledger),
        desk,
        dispatcher,
        health,
        Previewer(lambda: desk.decider, ledger, transport=transport, fleet=fleet, terms=desk.terms),
        fallback=fallback,
        reconciler=reconciler,
        takes_strays=not is_worker,
    )
    service.use(arrangement)
    if file is not None:
        service.reloader = Reloader(service, file)
    return service


def _sealing(settings: Settings, ledger: Ledger) -> Rounds:
    key, every_s = seal_key(settings.audit), settings.audit.checkpoint_s

    async def look() -> None:
        await asyncio.to_thread(ledger.seal, every_s=every_s, key=key)

    return Rounds(look, every_s=min(every_s, SEAL_LOOK_S), what="sealing the record")


def _trusted_proxy(settings: Settings) -> ProxyTrust | None:
    told = settings.server.trusted_proxy
    if not told.addresses:
        return None
    return ProxyTrust(networks_of(told.addresses), told.header.lower(), frozenset(told.scopes))


def _rate(settings: Settings) -> RateLimit | None:
    per_minute = settings.limits.requests_per_minute
    return None if per_minute is None else RateLimit(per_minute)


def _allowed_hosts(settings: Settings) -> frozenset[str]:
    host = settings.server.host.lower()
    names = {name.lower() for name in settings.server.allowed_hosts} | LOOPBACK_NAMES | {host}
    # Bound to more than loopback, the service is reached by an address that nobody listed; a page
    # that rebinds a name cannot send one.
    return frozenset(names if host in LOOPBACK_NAMES else names | {"ip"})
