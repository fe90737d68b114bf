"""Everything a CLI may do to us, each with the exact outcome it must have.

The bodies are in the words of ``fake_openclaw``: `write_fake` makes a CLI of one of them, and
`write_actor` one CLI that does what the first word of its message names.
"""

from dataclasses import dataclass
from pathlib import Path

from clawmarshal.transport.outcome import TurnState
from tests.support.fake_openclaw import FakeOpenClaw, write_fake

DONE, RAN = TurnState.DONE, TurnState.FAILED_RAN
NOT_RUN, UNKNOWN = TurnState.FAILED_NOT_RUN, TurnState.UNKNOWN


@dataclass(frozen=True, slots=True)
class Behaviour:
    """One thing a CLI does, and what a launch of it comes to."""

    body: str
    state: TurnState
    code: str
    exit_code: int | None = 0
    signal: int | None = None
    meets_deadline: bool = False
    """It ends by our deadline only."""

    @property
    def ends(self) -> tuple[TurnState, str, int | None, int | None]:
        """State, code, exit code and signal."""
        return self.state, self.code, self.exit_code, self.signal


def _stopped(body: str, *, by: int = 15) -> Behaviour:
    return Behaviour(body, UNKNOWN, "deadline", None, by, meets_deadline=True)


ANSWER = "say(document('answer to ' + options['session-key']))"
STAYS = "while True: time.sleep(1)"
DEAF = "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
CHILD = """
if os.fork() == 0:
    beat()
"""
ORPHAN = """
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        beat()
    os._exit(0)
os.wait()
"""
ONCE_IT_BEATS = "while not os.path.exists(HERE + '/beats'): time.sleep(0.01)\n"
TRACE_ME = "import ctypes; ctypes.CDLL(None).ptrace(0, 0, 0, 0);"
MEMORY_MB = 512
"""What a child may take, so that one that eats memory does not take the machine's."""
DOWN = "'Gateway not reachable at ws://127.0.0.1:1 (ECONNREFUSED).'"

BEHAVIOURS: dict[str, Behaviour] = {
    "answers": Behaviour(ANSWER, DONE, "ok"),
    "hangs": _stopped(STAYS),
    "ignores-term": _stopped(DEAF + STAYS, by=9),
    "forks": _stopped(CHILD + STAYS),
    "double-forks-out-of-the-group": _stopped(ORPHAN + DEAF + STAYS, by=9),
    "leaves-a-child": Behaviour(CHILD + ONCE_IT_BEATS + ANSWER, DONE, "ok"),
    "leaves-an-orphan": Behaviour(ORPHAN + ONCE_IT_BEATS + ANSWER, DONE, "ok"),
    "answers-then-stays": Behaviour(ANSWER + "\n" + STAYS, DONE, "ok", None, 15),
    "answers-then-stays-deaf": Behaviour(DEAF + ANSWER + "\n" + STAYS, DONE, "ok", None, 9),
    "answers-then-chatters": Behaviour(
        ANSWER + "\nwhile True: print('tick', flush=True); time.sleep(0.05)", DONE, "ok", None, 15
    ),
    "answers-and-leaves-its-pipes-to-a-child": Behaviour(
        ANSWER + "\nif os.fork() == 0: time.sleep(60)", DONE, "ok"
    ),
    "floods-both": Behaviour(
        "while True: os.write(2, b'e' * 60000); os.write(1, b'o' * 60000)",
        UNKNOWN, "reply-too-large", None, 15,
    ),
    "floods-both-deaf": Behaviour(
        DEAF + "while True: os.write(2, b'e' * 60000); os.write(1, b'o' * 60000)",
        UNKNOWN, "reply-too-large", None, 9,
    ),
    "floods-stderr": Behaviour(
        f"os.write(2, b'e' * 3_000_000); {ANSWER}; os.write(2, b'e' * 3_000_000)", DONE, "ok"
    ),
    "closes-its-pipes-early": Behaviour(f"{ANSWER}; os.close(1); os.close(2)", DONE, "ok"),
    "answers-closes-its-pipes-and-stays": Behaviour(
        f"{ANSWER}; os.close(1); os.close(2)\n" + STAYS, DONE, "ok", None, 15
    ),
    "closes-its-pipes-and-stays": _stopped("os.close(1); os.close(2)\n" + STAYS),
    "is-stopped": _stopped("os.kill(os.getpid(), signal.SIGSTOP)\n" + STAYS),
    "is-stopped-after-its-answer": Behaviour(
        f"{ANSWER}; os.kill(os.getpid(), signal.SIGSTOP)\n" + STAYS, DONE, "ok", None, 15
    ),
    "makes-us-its-tracer-and-stays": Behaviour(
        f"{TRACE_ME}{ANSWER}; os.kill(os.getpid(), signal.SIGSTOP)\n" + STAYS,
        DONE, "ok", None, 9,
    ),
    "makes-us-its-tracer-as-an-orphan": Behaviour(
        ORPHAN.replace("beat()", f"{TRACE_ME} note('beats', os.getpid()); os.kill(os.getpid(), 10)")
        + ONCE_IT_BEATS + ANSWER,
        DONE, "ok",
    ),
    "timeout-and-exit-0": Behaviour("say(document(status='timeout'))", RAN, "turn-timeout"),
    "timeout-and-exit-1": Behaviour(
        "say(document(status='timeout')); sys.exit(1)", RAN, "turn-timeout", 1
    ),
    "exits-1-with-nothing": Behaviour("sys.exit(1)", UNKNOWN, "no-document", 1),
    "exits-0-with-nothing": Behaviour("", UNKNOWN, "no-document"),
    "garbage-and-exit-3": Behaviour(
        "print('garbage'); sys.exit(3)", UNKNOWN, "no-document", 3
    ),
    "ok-and-exit-1": Behaviour(f"{ANSWER}; sys.exit(1)", UNKNOWN, "exit-disagrees", 1),
    "two-documents": Behaviour(f"{ANSWER}; {ANSWER}", UNKNOWN, "two-documents"),
    "two-documents-then-stays": Behaviour(
        f"{ANSWER}; {ANSWER}\n" + STAYS, UNKNOWN, "two-documents", None, 15, meets_deadline=True
    ),
    "half-a-document": Behaviour(
        "print(json.dumps(document())[:400])", UNKNOWN, "document-cut"
    ),
    "half-a-document-then-stays": Behaviour(
        "print(json.dumps(document())[:400], flush=True)\n" + STAYS,
        UNKNOWN, "document-cut", None, 15, meets_deadline=True,
    ),
    "unflushed-after-200-kb": Behaviour(
        "os.write(1, b'{\"runId\": \"' + b'x' * 200000); os._exit(0)", UNKNOWN, "document-cut"
    ),
    "20-mb": Behaviour(
        "import io; b = json.dumps(document('x' * 20_000_000)).encode()\n"
        "while b: b = b[os.write(1, b):]\n" + STAYS,
        UNKNOWN, "reply-too-large", None, 15,
    ),
    "a-reply-over-the-cap": Behaviour(
        "say(document('x' * 1_100_000))", UNKNOWN, "reply-too-large"
    ),
    "log-lines-around": Behaviour(
        f"print('[a] x\\n{{b\\nlog'); {ANSWER}; print('bye {{}}')", DONE, "ok"
    ),
    "an-object-behind": Behaviour(f"{ANSWER}; print('{{}}\\ntext')", DONE, "ok"),
    "invalid-utf-8-around": Behaviour(
        f"os.write(1, b'\\xff\\xfe log\\n'); {ANSWER}", DONE, "ok"
    ),
    "ansi-around": Behaviour(
        f"os.write(1, b'\\x1b[32m\\x1b]0;title\\x07banner\\x1b[0m\\n\\x1b[1m'); {ANSWER}\n"
        "os.write(1, b'\\x1b[0m\\n')",
        DONE, "ok",
    ),
    "another-agent": Behaviour(
        "say(document(agent='security'))", UNKNOWN, "wrong-agent"
    ),
    "another-session": Behaviour(
        "say(document(key='cm-' + 'f' * 16))", UNKNOWN, "wrong-session"
    ),
    "unknown-shape": Behaviour(
        "say({'runId': 'x', 'verdict': 'fine'})", UNKNOWN, "unknown-shape"
    ),
    "only-on-stderr": Behaviour(
        f"sys.stdout = sys.stderr; {ANSWER}", DONE, "ok"
    ),
    "dumps-its-environment": Behaviour(
        f"print(dict(os.environ)); {ANSWER}", DONE, "ok"
    ),
    "reads-stdin": Behaviour(f"assert sys.stdin.read() == ''; {ANSWER}", DONE, "ok"),
    "rejects-message-file": Behaviour(
        "say(failure('OpenClaw does not recognize option \"--message-file\".')); sys.exit(1)",
        NOT_RUN, "argument", 1,
    ),
    "gateway-down": Behaviour(f"say(failure({DOWN})); sys.exit(1)", NOT_RUN, "gateway-down", 1),
    "gateway-down-and-exit-0": Behaviour(f"say(failure({DOWN}))", UNKNOWN, "cli-error"),
    "accepted-then-failed": Behaviour(
        f"say(failure({DOWN}, runId='r1')); sys.exit(1)", UNKNOWN, "failed-after-acceptance", 1
    ),
    "accepted-by-stderr": Behaviour(
        f"print('(accepted run r-1234567)', file=sys.stderr); say(failure({DOWN})); sys.exit(1)",
        UNKNOWN, "failed-after-acceptance", 1,
    ),
    "accepted-works-on-detached": Behaviour(
        ORPHAN + "say(failure('lost the Gateway', runId='r1')); sys.exit(1)",
        UNKNOWN, "failed-after-acceptance", 1,
    ),
    "eats-memory": Behaviour(
        "kept = []\nwhile True: kept.append(bytearray(64 << 20))", UNKNOWN, "no-document", 1
    ),
    "dies-of-a-signal": Behaviour(
        "os.kill(os.getpid(), signal.SIGSEGV)", UNKNOWN, "killed", None, 11
    ),
    "dies-after-its-answer": Behaviour(
        f"{ANSWER}; os.kill(os.getpid(), signal.SIGKILL)", UNKNOWN, "exit-disagrees", None, 9
    ),
    "litters": Behaviour(
        "for n in range(300): open(f'litter-{n}', 'w').close()\n"
        "os.mkdir('deep'); os.chmod('deep', 0)\n" + ANSWER, DONE, "ok",
    ),
    "leaves-folders-deeper-than-any-path": Behaviour(
        "for n in range(2500): os.mkdir('deep'); os.chdir('deep')\nos.chmod('..', 0)\n" + ANSWER,
        DONE, "ok",
    ),
    "leaves-a-pipe-for-its-folder": Behaviour(
        "import shutil; d = os.path.dirname(file); shutil.rmtree(d); os.mkfifo(d); " + ANSWER,
        DONE, "ok",
    ),
    "leaves-a-link-for-its-folder": Behaviour(
        "import shutil; d = os.path.dirname(file); shutil.rmtree(d); os.symlink('/', d); " + ANSWER,
        DONE, "ok",
    ),
    "removes-its-own-folder": Behaviour(
        "import shutil; shutil.rmtree(os.path.dirname(file)); " + ANSWER, DONE, "ok"
    ),
}  # fmt: skip


def write_actor(folder: Path) -> FakeOpenClaw:
    """Write a CLI that does what the first word of its message names."""
    deeds = {name: behaviour.body for name, behaviour in BEHAVIOURS.items()}
    deed = "DEEDS[message.decode().splitlines()[1].split()[0]]"
    return write_fake(folder, f"DEEDS = {deeds!r}\nexec({deed})")
