"""What to do about each problem: the words of its page."""

from collections.abc import Mapping
from types import MappingProxyType

_TEXT = "Mend the text and send the message again; nothing was accepted."
_BODY = "Mend the body and send it again; nothing was changed."

MENDS: Mapping[str, str] = MappingProxyType(
    {
        "request-malformed": "What came is not HTTP/1.1 as RFC 9112 has it, or names its length "
        "twice. The connection is closed. Use an HTTP library.",
        "head-timeout": "The request line and headers must arrive within limits.head_timeout_s. "
        "Send them at once.",
        "too-many-connections": "The service has server.max_connections open. Nothing was "
        "accepted. Wait as long as Retry-After says, and keep connections alive.",
        "body-not-json": "Send one JSON object: no NaN, no byte order mark. " + _BODY,
        "body-not-utf8": "Encode the body as UTF-8. " + _BODY,
        "body-duplicate-key": "Name each key once in an object. " + _BODY,
        "body-too-deep": "Nest at most 32 levels. " + _BODY,
        "body-invalid": "The member faults lists each field and what is wrong with it. " + _BODY,
        "body-too-large": "The limit stands in the detail. Send less; nothing was accepted.",
        "body-timeout": "The whole body must arrive within limits.body_timeout_s. Send it at once.",
        "media-type": "Send the Content-Type that the detail names, once, as UTF-8 and without a "
        "Content-Encoding.",
        "query-invalid": "The member faults lists each parameter and what is wrong with it.",
        "cursor-invalid": "A cursor belongs to the list and the filters it came from, and the id "
        "of an event to this ledger. Begin again without it. Cursors do not run out.",
        "if-match-invalid": "Send the ETag of GET /holds/{id} as it came, in quotes, or *.",
        "hold-changed": "Somebody answered the hold, or what would run changed, since you read "
        "it. Read it again (the member etag is the new one), look, and answer with that ETag.",
        "idempotency-key-invalid": "Send Idempotency-Key once, 1 to 255 visible ASCII characters.",
        "key-missing": "Send a key as Authorization: Bearer KEY. clawmarshal keys create makes "
        "one.",
        "key-unknown": "The key is unknown, revoked or over, or two were sent. Ask whoever runs "
        "the service for another; clawmarshal keys list shows what became of it.",
        "identity-invalid": "The proxy before the service sent a name twice, or one that is no "
        "name of 1 to 200 printable ASCII characters, or the person was barred by keys revoke.",
        "too-many-guesses": "Your address showed many keys that nobody has. Wait as long as "
        "Retry-After says. A known key is let in at once.",
        "too-many-requests": "The key asked more often than limits.requests_per_minute. Wait as "
        "long as Retry-After says.",
        "too-many-waits": "The key keeps limits.waits_per_key waits and streams open. End some, "
        "or wait as long as Retry-After says.",
        "scope-missing": "The member scopes names what the key would need. Use another key.",
        "host-not-allowed": "Ask for the service by a loopback name, or list the name that you "
        "use in server.allowed_hosts.",
        "path-unknown": "GET /openapi.json lists what is served.",
        "method-not-allowed": "The header Allow lists what the path takes.",
        "caller-gone": "The connection ended before the message was accepted. Send it again; the "
        "Idempotency-Key is free.",
        "text-empty": "The text is blank. " + _TEXT,
        "text-nul": "The text holds NUL characters. " + _TEXT,
        "text-surrogate": "The text holds half of a surrogate pair. " + _TEXT,
        "text-bom": "The text begins with a byte order mark. " + _TEXT,
        "text-too-large": "The text is longer than transport.max_text_bytes. " + _TEXT,
        "text-invalid": "The text cannot be stored as Unicode. " + _TEXT,
        "field-invalid": "A field of the message is too long or holds control characters. " + _TEXT,
        "message-invalid": "The message breaks a rule that the detail names. " + _TEXT,
        "unknown-agent": "The member near lists ids that are written almost the same; GET /agents "
        "lists all.",
        "agent-required": "The hold suggests nobody. Approve with an agent.",
        "reason-required": "Say in reason why; it is kept.",
        "not-clarifying": "clarifies names a route that ended in clarify. Leave it out.",
        "clarifies-unknown": "clarifies names no route of yours. Leave it out.",
        "idempotency-mismatch": "The key, or the channel's message id, came with another body "
        "before; the member route_id names that route. Use another key for another message.",
        "not-found": "There is no such row, or it is not one that the key may see.",
        "form-foreign": "Open the page again and answer there. A program needs a key.",
        "hold-claimed": "The member winner says who looks at the hold, and until when.",
        "hold-decided": "The first answer wins; the member winner says whose it was. The same "
        "answer again would be 200.",
        "hold-expired": "The hold ran out. Send the message again if it still matters.",
        "hold-cancelled": "The route was cancelled. Nothing is left to answer.",
        "gates-changed": "For another agent gates fire that were not shown. Look at the member "
        "gates, and approve with the member digest.",
        "digest-changed": "The message, the agent or the installation is no longer what was "
        "shown. Read the hold again, and approve with the member digest.",
        "not-waivable": "An approval cannot make the agent available or the text displayable. "
        "Mend that, reassign or reject.",
        "not-erasable": "It waits or runs, and needs its text. Cancel or reject it first.",
        "erased": "The text was erased on request, so nothing can be launched from it.",
        "not-cancellable": "The route ended, or nobody knows whether it ran.",
        "not-resolvable": "Only unknown routes, and failed ones that certainly did not run, have "
        "a question to resolve.",
        "rerun-too-early": "The launch may still be running. Wait until the member opens_at; "
        "Retry-After says how long that is.",
        "self-review": "You sent this message yourself (holds.no_self_review). Somebody else "
        "approves it.",
        "claim-required": "Claim the hold before you answer it (holds.claim_required).",
        "conflict": "The row is in another state. Read it again.",
        "reload-refused": "The configuration or the roster has the faults that are listed. What "
        "was in force stays in force; mend the files and reload.",
        "no-settings-file": "This service was started from settings in memory. Restart it to "
        "change them.",
        "stopping": "The service is told to stop, and nothing was begun. Try again after "
        "Retry-After.",
        "accepted-unread": "The message is in the ledger; do not send it again without its key. "
        "Ask for the route that the member route_id names, after Retry-After.",
        "ledger-unavailable": "The database does not answer. Nothing was accepted or changed: try "
        "again after Retry-After.",
        "internal": "The service failed. Its log has the cause under the X-Request-Id of the "
        "answer.",
    }
)
"""By code; every code of `PROBLEMS` has one."""
