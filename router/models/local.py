"""LocalDecisionModel: decides offline, from the remits and the text alone."""

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext

from clawmarshal.errors import DecisionUnavailableError
from clawmarshal.router.ballot import Ballot
from clawmarshal.router.decision import Answers
from clawmarshal.router.message import InboundMessage
from clawmarshal.router.models.choose import Chooser, Reading
from clawmarshal.router.models.encoder import Encoder, UseEncoder, one_blas_thread
from clawmarshal.router.models.head import Heads, shipped_heads
from clawmarshal.router.models.questions import Respondent
from clawmarshal.router.models.risk import shipped_head
from clawmarshal.router.models.risk_reader import RiskReader

LEXICAL_ONLY = "lexical-only"
RISK_BY_RULES = "risk-by-rules"
ENCODER_SAMPLED = "encoder-sampled"
HEAD_UNFITTED = "head-unfitted"
LEXICAL_DECIDES = "lexical features decide alone and are right less often"
_log = logging.getLogger("clawmarshal")


class LocalDecisionModel:
    """Answer ballots offline with an encoder, lexical features and a fitted head.

    The whole text is read: by the lexical features and the risk rules always, by the encoder up
    to `features.MAX_WINDOWS` windows (about 60,000 characters; beyond that it sees windows spread
    over the text, and the answer carries the note ``encoder-sampled``). Answers do not depend on
    the order of a ballot. One message is judged at a time, in a thread of the model's own.

    Parameters
    ----------
    encoder
        Used as it is; where None, `load_encoder` is asked at the first answer. With another
        encoder than `heads` were fitted with, answers carry the note ``head-unfitted``: the order
        of the agents may be right, the probabilities are not calibrated. The risk classifier then
        reads with a second encoder, the one of `load_encoder`.
    use_encoder
        False for lexical features alone.
    load_encoder
        Returns the encoder of the ``offline`` extra; ImportError means that it is not installed:
        lexical features then decide alone, with one warning and the note ``lexical-only``; beside
        another encoder, risk is left to the rules, with the note ``risk-by-rules`` where the
        classifier was wanted.
    heads
        Another fit than the one that is shipped.

    Notes
    -----
    Source: bench/results/routing.md, for what was fitted and how well it does.
    """

    def __init__(
        self,
        *,
        encoder: Encoder | None = None,
        use_encoder: bool = True,
        load_encoder: Callable[[], Encoder] = UseEncoder,
        heads: Heads | None = None,
    ) -> None:
        self._heads = shipped_heads() if heads is None else heads
        self._encoder = encoder
        self._use_encoder = use_encoder
        self._load_encoder = load_encoder
        self._respondent: Respondent | None = None
        self._risk: RiskReader | None = None
        self._one_blas_thread: Callable[[], AbstractContextManager[object]] = nullcontext
        self._loading = threading.Lock()
        # Not the same lock: the event loop must not wait for an encoder that is being loaded.
        self._starting = threading.Lock()
        self._worker: ThreadPoolExecutor | None = None

    @property
    def name(self) -> str:
        """``clawmarshal-local-`` and the version of the fit."""
        return f"clawmarshal-local-{self._heads.version}"

    @property
    def is_lexical_only(self) -> bool:
        """Tell, once loaded, whether lexical features decide alone."""
        return self._loaded().is_lexical_only

    @property
    def encoder_name(self) -> str | None:
        """Name the encoder, with its version or digest; None where words decide alone.

        Loads it when it is not loaded yet.
        """
        return self._loaded().encoder_name

    def load(self) -> None:
        """Load the encoders now (about a second) instead of at the first answer."""
        self._loaded()
        if self._risk is not None:
            self._risk.load()

    def close(self) -> None:
        """End the model's thread; the next answer starts another."""
        with self._starting:
            worker, self._worker = self._worker, None
        if worker is not None:
            worker.shutdown(wait=False, cancel_futures=True)

    async def answer(
        self, ballot: Ballot, message: InboundMessage, *, deadline_s: float
    ) -> Answers:
        """Answer every question of the ballot; see `DecisionModel.answer`."""
        started = time.monotonic()
        reading = Reading(message.text, _until(started + deadline_s))
        loop = asyncio.get_running_loop()
        judged = loop.run_in_executor(self._thread(), self._judge, ballot, reading)
        try:
            answers = await asyncio.wait_for(judged, deadline_s)
        except TimeoutError:
            raise _late() from None
        return Answers(
            answers,
            self.name,
            truncated=False,
            latency_ms=(time.monotonic() - started) * 1000,
            notes=self._notes(reading),
        )

    def _judge(self, ballot: Ballot, reading: Reading) -> Mapping[str, object]:
        respondent = self._loaded()
        with self._one_blas_thread():
            return respondent.answers(ballot, reading)

    def _notes(self, reading: Reading) -> tuple[str, ...]:
        respondent = self._loaded()
        facts = {
            LEXICAL_ONLY: respondent.is_lexical_only,
            HEAD_UNFITTED: not respondent.is_lexical_only and not respondent.is_fitted,
            ENCODER_SAMPLED: not reading.is_whole,
            RISK_BY_RULES: not reading.is_risk_read,
        }
        return tuple(note for note, holds in facts.items() if holds)

    def _loaded(self) -> Respondent:
        with self._loading:
            if self._respondent is None:
                encoder = self._encoder if self._encoder or not self._use_encoder else self._find()
                if encoder is not None:
                    self._risk = self._risk_reader(encoder)
                    self._one_blas_thread = one_blas_thread()
                self._respondent = Respondent(Chooser(self._heads, encoder), self._risk)
            return self._respondent

    def _risk_reader(self, encoder: Encoder) -> RiskReader:
        if self._encoder is None or encoder.name == shipped_head().encoder:
            return RiskReader(lambda: encoder, is_shared=True)
        return RiskReader(lambda: self._find("the rules judge risk alone"))

    def _find(self, otherwise: str = LEXICAL_DECIDES) -> Encoder | None:
        try:
            encoder = self._load_encoder()
            encoder.encode(["warm up"])
        except (ImportError, OSError, ValueError) as error:
            _log.warning(
                "the offline encoder cannot be loaded (%s): %s; install clawmarshal[offline]",
                type(error).__name__,
                otherwise,
            )
            return None
        return encoder

    def _thread(self) -> ThreadPoolExecutor:
        with self._starting:
            if self._worker is None:
                self._worker = ThreadPoolExecutor(1, thread_name_prefix="clawmarshal-local")
            return self._worker


def _until(at: float) -> Callable[[], None]:
    def check() -> None:
        if time.monotonic() > at:
            raise _late()

    return check


def _late() -> DecisionUnavailableError:
    return DecisionUnavailableError("the local model had no answer before the deadline")
