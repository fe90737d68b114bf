"""The words of consent, refusal and reference in the languages that the rules know; pure.

All are written folded: lower case, without diacritics and with plain apostrophes.
"""

import re

from clawmarshal.router.folding import fold


def _listed(text: str) -> frozenset[str]:
    """Split at bars; fold as messages are folded."""
    return frozenset(_plain(entry) for entry in re.split(r"[|\n]", text) if entry.strip())


def _plain(entry: str) -> str:
    return " ".join(fold(entry.strip()).text.split())


CONSENTS = _listed(
    """
    yes | yep | yeah | yup | ya | sure | agreed | approved | approve | confirm | confirmed
    i confirm | go ahead | go for it | do it | do that | do so | do this
    please do | proceed | carry on | make it so | sounds good | that's right
    absolutely | definitely | of course | by all means | exactly | affirmative | as you say
    do the same | same again | again | go on | continue | let's do it | let's go | yes please
    ja | jawohl | gerne | mach das | mach es | tu es | einverstanden | bestatigt | genau | los
    oui | d'accord | vas y | fais le | faites le | allez y | bien sur | confirme | je confirme
    si | claro | hazlo | adelante | de acuerdo | confirmo | dale | procede
    certo | va bene | fallo | procedi | d'accordo | confermo | fai pure
    sim | pode | faca | pode fazer | faz isso | faca isso | manda ver
    ja graag | doe het | doe maar | ga je gang | akkoord
    ja tak | gor det | gjor det | kjor pa | varsagod | javisst | kor pa | joo | kylla | tee se
    tak | zrob to | zgoda | potwierdzam | dalej | ano | udelej to | souhlasim
    да | давай | сделай это | сделай | подтверждаю | так | зроби це
    evet | yap | onayliyorum | devam et
    نعم | اجل | افعل ذلك | موافق | بله | آره | انجام بده
    כן | תעשה את זה | אישור
    हां | हाँ | जी हां | कर दो | हां कर दो | haan | kar do | theek hai
    oo | opo | gawin mo | ya lakukan | lakukan | silakan | setuju | vang | dong y | lam di
    ναι | καντο | προχωρα | da | fa o | igen | csinald
    はい | お願いします | そうして | やって
    네 | 예 | 그래 | 해줘
    是的 | 可以 | 确认 | 執行 | 执行 | ใช่ | ตกลง
    ✅
    """
)
"""Said to a proposal, these let it happen."""

NODS = _listed(
    """
    ok | okay | okey | k | kk | fine | right | correct | good | alright | all right | cool
    got it
    gut | in ordnung | bien | bon | vale | bene | bom | prima | goed | bra | dobrze | хорошо
    добре
    tamam | تمام | בסדר | ठीक है | achha | sige | oke | entaxei | 好 | 好的 | 了解
    わかりました | 알겠습니다
    👍 | 👌
    """
)
"""Said to a question, these let it happen; said to a report, they only take note."""

NEGATIONS = _listed("don't | not | never | nicht | non | pas | niet | ikke | inte | nie | nao")
"""Before a consent, these turn it round."""

REFUSALS = _listed(
    """
    no | nope | nah | keep it | keep them | leave them | don't | do not | stop | cancel
    cancel that | never mind | nevermind | wait
    hold on | not now | not yet | rather not | leave it | forget it | abort
    nein | nicht | lass es | stopp | abbrechen | warte | non | pas | annule | arrete | attends
    no gracias | cancela | espera | para | annulla | aspetta | fermati | nao | cancele | nee
    niet
    nej | ikke | inte | ei | nie | anuluj | ne | нет | не надо | отмена | стой | ні
    hayir | dur | iptal | لا | توقف | נו | לא | नहीं | nahi | hindi | huwag | tidak | jangan
    khong
    いいえ | やめて | 아니 | 취소 | 不 | 不要 | 取消 | ไม่
    """
)
"""Said to a proposal, these end it."""

CLOSINGS = _listed(
    """
    thanks | thank | you | thx | ty | cheers | great | nice | perfect | cool | good | lovely
    bye
    goodbye | hello | hi | hey | morning | evening | night | much | very | so | a | lot | all
    danke | dir | ihnen | sehr | schon | super | toll | tschuss | hallo | merci | beaucoup
    parfait
    gracias | muchas | perfecto | genial | grazie | mille | obrigado | obrigada | bedankt | dank
    je
    tack | takk | kiitos | dzieki | dziekuje | спасибо | дякую | tesekkurler | شكرا | תודה
    धन्यवाद | shukriya | salamat | terima | kasih | cam | on | ありがとう | ありがとうございます
    감사합니다 | 谢谢 | 多谢
    🙏 | 🙂 | 😀 | 😊 | ❤ | 🎉 | 😂
    """
)
"""Thanks, greetings and applause: they answer nothing."""

ANAPHORS = _listed(
    """
    it | its | that | this | these | those | them | there | they | him | her | one | ones | same
    again | everything | thing | everyone | rest | both | other | others | previous | earlier
    es | das | dies | diese | sie | ihn | ihm | dort | alles | le | la | les | ca | cela | y
    tout
    lo | los | las | eso | esto | todo | alli | quello | questo | tutto | isso | isto | tudo
    het | dat | dit | alles | det | den | to | tego | wszystko | это | его | их | все
    всё | onu | bunu
    هذا | ذلك | זה | יה | यह | वह | उसे | ito | iyon | itu | ini
    """
)
"""Words that point at something said before."""

TRIFLES = _listed(
    """
    please | just | now | then | also | and | but | or | the | an | to | for | of | in | at
    with
    i | me | my | we | us | our | your | is | are | be | can | could | would | will | do | does
    let
    bitte | jetzt | und | dann | der | die | ein | eine | ich | mir | s'il | vous | plait
    et | je
    por | favor | ahora | y | el | un | una | per | favore | e | il | ora | agora | o | um | uma
    """
)
"""Words that say nothing by themselves."""

QUESTION_WORDS = _listed(
    "what | what's | how | how's | when | where | why | who | which | does | did"
)
"""What a question begins with that asks something else instead of answering."""
