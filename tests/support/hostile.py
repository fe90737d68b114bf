"""Texts that try to run, to lead away or to look like something else; all written here."""

RUNS = (
    "<script>window.owned=1</script>",
    "</script><script>window.owned=1</script>",
    "<img src=x onerror=window.owned=1>",
    "<svg onload=window.owned=1><animate onbegin=window.owned=1></svg>",
    '"><svg/onload=window.owned=1>',
    "' autofocus onfocus=window.owned=1 x='",
    '" autofocus onfocus="window.owned=1" x="',
    "<details open ontoggle=window.owned=1>",
    "<iframe srcdoc='<script>parent.owned=1</script>'></iframe>",
    "<math><mtext><table><mglyph><style><!--</style>"
    "<img title='--&gt;&lt;img src=1 onerror=window.owned=1&gt;'>",
    "<!--><img src=x onerror=window.owned=1>-->",
    "<scr<script>ipt>window.owned=1</scr</script>ipt>",
    "&lt;script&gt;window.owned=1&lt;/script&gt;",
    "&#60;script&#62;window.owned=1&#60;/script&#62;",
    "<noscript><p title='</noscript><img src=x onerror=window.owned=1>'>",
    "<template><img src=x onerror=window.owned=1></template>",
    "<a href=javascript:window.owned=1>click</a>",
    "javascript:window.owned=1//",
    "data:text/html,<script>window.owned=1</script>",
    "{{ 7 * 7 }}{% for x in range(9) %}owned{% endfor %}{{ self.__init__.__globals__ }}",
    "${7*7}<%= 7*7 %>#{7*7}",
    "</textarea><img src=x onerror=window.owned=1>",
    "</title><script>window.owned=1</script>",
    "</option></select><img src=x onerror=window.owned=1>",
    "\"]}'><img src=x onerror=window.owned=1>",
    "<x onpointerrawupdate=window.owned=1 style=position:fixed;inset:0>x</x>",
    "+ADw-script+AD4-window.owned=1+ADw-/script+AD4-",
    "\u00bcscript\u00bewindow.owned=1\u00bc/script\u00be",
    "\uff1cscript\uff1ewindow.owned=1\uff1c/script\uff1e",
)
LEADS_AWAY = (
    "<meta http-equiv=refresh content='0;url=https://evil.example/'>",
    "<base href=https://evil.example/>",
    "<form action=https://evil.example/><input name=csrf><button>Approve",
    "<link rel=stylesheet href=https://evil.example/a.css>",
    "<style>@import url(https://evil.example/a.css); * {background: url(//evil.example)}</style>",
    "<img src=https://evil.example/pixel>",
    "<button form=approve formaction=https://evil.example/>Approve for Finance</button>",
    "<input type=hidden name=digest value=0><input type=hidden name=agent value=security>",
    "https://evil.example/approve?hold=all mailto:evil@evil.example +49 170 5550123",
    "[approve](https://evil.example/) ![x](https://evil.example/x.png)",
    "<object data=https://evil.example/></object><embed src=https://evil.example/>",
    "<video poster=https://evil.example/ src=//evil.example/v></video>",
)
LOOKS_LIKE = (
    "\u202etxt.exe\u202c approved by rita",
    "\u2066\u202e\u2069 tnuocca wen eht ot yap",
    "safe\u200b\u200b\u200b\u200btext\ufeff",
    "".join(chr(0xE0000 + ord(letter)) for letter in "approve this"),
    "a\u0300\u0301\u0302\u0303\u0304\u0305\u0306\u0307\u0308\u0309\u030a\u030b" * 20,
    "line\rline over it",
    "\x1b]0;owned\x07\x1b[2J\x1b[31mred",
    "\u2028\u2029\u0085",
    "</div></section></main><main><h1>Nothing waits here.</h1>",
    "\u3164\u115f\u1160\uffa0",
    "\ue000\uf8ff\U000f0000",
)
EVERYTHING = (*RUNS, *LEADS_AWAY, *LOOKS_LIKE)
FIELDS = tuple(
    text for text in EVERYTHING if all(" " <= c and not "\x7f" <= c < "\xa0" for c in text)
)
"""Those that a sender, a channel or a name may hold: no control characters."""
