"""Irregular English forms: `went` is found by `go`, `children` by `child`. Regular ones are the stemmer's matter.

Forms that are as often words of their own (`left`, `saw`, `found`, `bore`, `ground`, `lay`, `rose`, `wound`) are
left out, so that no meaning is lost.
"""

_FORMS = """
arise arose arisen; awake awoke awoken; beat beaten; become became; begin began begun; bend bent;
bite bit bitten; bleed bled; blow blew blown; break broke broken; breed bred; bring brought; build built;
burn burnt; buy bought; catch caught; choose chose chosen; come came; creep crept; deal dealt; dig dug;
draw drew drawn; dream dreamt; drink drank drunk; drive drove driven; eat ate eaten; fall fell fallen;
feed fed; feel felt; fight fought; flee fled; fly flew flown; forbid forbade forbidden;
forget forgot forgotten; forgive forgave forgiven; freeze froze frozen; get got gotten; give gave given;
go goes went gone; grow grew grown; hang hung; hear heard; hide hid hidden; hold held; keep kept;
know knew known; lay laid; lead led; lean leant; leap leapt; learn learnt; lend lent; lose lost; make made;
mean meant; meet met; overcome overcame; pay paid; prove proven; rebuild rebuilt; ride rode ridden;
ring rang rung; rise risen; run ran; say said; see seen; seek sought; sell sold; send sent; sew sewn;
shake shook shaken; shine shone; shoot shot; show shown; shrink shrank shrunk; sing sang sung; sink sank sunk;
sit sat; sleep slept; slide slid; sow sown; speak spoke spoken; spend spent; spin spun; stand stood;
steal stole stolen; stick stuck; strike struck; swear swore sworn; sweep swept; swim swam swum; swing swung;
take took taken; teach taught; tear tore torn; tell told; think thought; throw threw thrown; tread trod trodden;
undergo underwent undergone; understand understood; undo undid undone; wake woke woken; wear wore worn;
weave wove woven; weep wept; win won; withdraw withdrew withdrawn; write wrote written; rewrite rewrote rewritten;
child children; man men; woman women; person people; foot feet; tooth teeth; mouse mice; goose geese; wife wives;
knife knives; leaf leaves; half halves; shelf shelves; wolf wolves; thief thieves; index indices; vertex vertices;
matrix matrices; criterion criteria; phenomenon phenomena; analysis analyses; crisis crises; hypothesis hypotheses
"""

BASE_FORMS: dict[str, str] = {
    form: base for base, *forms in map(str.split, _FORMS.replace("\n", " ").split(";")) for form in forms
}
"""Irregular form → base form, lower case."""
