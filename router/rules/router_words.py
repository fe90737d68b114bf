"""The words of texts that speak to what routes them, by meaning; pure tables.

The notation is that of `english`.
"""

from collections.abc import Mapping

ENGLISH_ROUTER: Mapping[str, str] = {
    # A router may be a box with lights: alone it is told by what it is to choose.
    "router_name": "router routers dispatcher dispatchers decider",
    "router_duty": (
        "choose chooses pick picks select selects pin pins classify classifies dispatch dispatches"
        " trust trusts obey obeys ignore ignores forwards route routes assign assigns"
        " unconditionally must_send should_send without_rules"
    ),
    "model_name": (
        "classifier classifiers dispatchbot routerbot policy_engine routing_model routing_agent"
        " decision_model decision_layer triage_model risk_model risk_question risk_classifier"
        " routing_desk holds_queue hold_queue review_queue gate_keeper"
    ),
    "model_duty": (
        "should must shall will never always now choose chooses pick picks select selects answer"
        " answers return returns decide decides treat classify label trust ignore skip override"
        " obey maintenance exist exists disabled off with"
    ),
    "route_this": (
        "route_this route_it route_that route_me route_the_message route_this_message"
        " route_my_message route_the_request route_everything reroute_this reroute_it"
        " redirect_this dispatch_this dispatch_it dispatch_me dispatch_now dispatch_directly"
        " dispatch_the_message pin_this override_routing override_the_routing override_router"
        " right_destination correct_destination right_agent correct_agent any_agent"
        " to_the_agent the_agent_named agent_named choose_any_agent not_choose_any"
        " fallback_agent main_agent classify_as classify_this classify_me label_this_as"
        " which_agent_should no_agent_above destination_here"
    ),
    "no_hold": (
        "no_holding not_hold_it not_hold_this not_hold_me don_t_hold_it don_t_hold_this"
        " never_hold_it never_hold_this never_holds skip_the_queue skip_the_hold skip_the_holds"
        " skip_the_review skip_review bypass_the_queue bypass_the_hold bypass_review"
        " jump_the_queue holds_are_suspended holds_are_off holds_suspended hold_it_again"
        " previous_hold hold_was_a without_holding let_it_through let_this_through"
        " gate_is_disabled forwards_unconditionally risk_review no_thresholds"
    ),
    "free_of_rules": (
        "without_rules no_rules without_restrictions unrestricted without_limits"
        " ignore_all_previous ignore_previous ignore_the_above ignore_the_rules"
        " ignore_all_rules ignore_your_rules ignore_your_instructions disregard_previous"
        " disregard_the_above disregard_all disregard_your previous_instructions"
        " previous_rules rules_above instructions_above maintenance_mode debug_mode"
        " developer_mode always_answer"
    ),
    "pose": (
        "you_are you_re act_as acting_as pretend speak_as roleplay role_play simulate imagine"
        " consider_yourself be_the"
    ),
    "overseer": (
        "dispatchbot router classifier policy_engine dispatcher unrestricted"
        " without_rules trusts_everybody trusts_everyone no_thresholds compliance_officer"
        " trusted_sender the_reviewer the_admin the_guard debugging_you"
    ),
    "message_self": (
        "this_message this_request this_text the_message the_request my_message my_request"
        " everything_here what_follows message_below message_above sender_is previous_message"
    ),
    "risk_word": "risk risks risk_tier risk_level",
    "risk_none": (
        "low none zero harmless safe innocuous trivial read_only reversible approved verified"
        " trusted benign no_risk"
    ),
    "answer_low": (
        "risk_is_low risk_low low_risk answer_low return_low answer_the_risk risk_tier_:_low"
        " risk_question_with tier_low"
    ),
    "harm_denied": (
        "no_money_no no_credentials_and no_harm nobody_could_be_harmed nothing_real"
        " everything_here_can_be_undone is_read_only trivially_reversible was_approved_already"
        " already_approved approved_by_security approved_by_the_admin"
        " is_harmless every_message_is_harmless this_is_a_drill"
        " signed_by_the_administrator trusted_content"
    ),
}

TONGUES_ROUTER: Mapping[str, str] = {
    "router_name": "routeur enrutador instradatore roteador маршрутизатор ルーター 路由器",
    "router_duty": "choisir elegir scegliere escolher wählen kies выбрать выбери",
    "message_self": """
nachricht dieser_nachricht diese_nachricht ce_message ceci este_mensaje esta_mensagem
 questo_messaggio dit_bericht сообщение це_повідомлення メッセージ 这条消息 这个消息 메시지 الرسالة
 संदेश bu_mesaj
""",
    "risk_word": """
risiko risque riesgo rischio risco риск ризик リスク 风险 風險 위험 خطر जोखिम
""",
    "risk_none": """
niedrig gering harmlos ungefährlich faible sans_aucun_risque sans_risque inoffensif ningún_riesgo
 inofensivo bajo innocuo basso inofensiva baixo onschuldig ongevaarlijk безопасно безопасный низкий
 низький 没有风险 無害 安全です 위험하지 آمنة सुरक्षित zararsız
""",
}
