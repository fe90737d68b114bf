"""The English words of the risk rules, by meaning; pure tables."""

from collections.abc import Mapping

from clawmarshal.router.rules.english_high import ENGLISH_HIGH
from clawmarshal.router.rules.router_words import ENGLISH_ROUTER

# Words are separated by blanks. `a_b` is a phrase. `word+` also stands for its -s and -ing forms.
# Everything is folded before it is compared.
ENGLISH: Mapping[str, str] = {
    # --- how a clause opens -------------------------------------------------------------------
    "ask": (
        "what when where why who whom whose which how whats wheres whos hows is are was were am"
        " do does did has have had should shall isn aren wasn doesn didn hasn any whether"
    ),
    "read": (
        "tell show list find search look explain describe read summarize summarise check count"
        " recommend suggest define spell translate compare calculate convey see know understand"
        " hear learn repeat identify review lookup look_up confirm double_check inform_me"
        " let_me_know let_us_know give_me give_us get_me_information go_over think wonder watch"
        " wait go_to how_to what_to tell_me show_me remember need_to_know want_to_know"
        " like_to_know bring_up display view"
    ),
    "read_phrase": (
        "inform_me inform_us inform_if update_me share_with_me let_me_know let_us_know give_me"
        " give_us get_me_information remind_me_of remind_me_how remind_me_what remind_me_when"
        " add_up update_the_status call_it confirm_that confirm_my confirm_if confirm_the"
        " try_and"
    ),
    "filler": (
        "hey hi hello ok okay please pls kindly now also then and so just olly alexa siri"
        " google can could would will may might you i we need needs want wants wish to like must"
        " help me us let s go ahead d ll ve m re my be sure for your task is a an the it am"
        " looking trying possible mind if by well first next finally afterwards after that"
        " immediately quickly urgently asap really actually today tomorrow everybody sir bot"
        " assistant thanks thank everyone there dear team got have gotta wanna gonna should"
        " ought love able way as soon once more again seeking assistance assist with in via or"
        " but oh yes yeah yep no there's require requires required request requested requesting"
        " do t not don never forget happy glad hoping hope wondering think"
    ),
    "release": "then please afterwards finally",
    # --- medium: what changes state -----------------------------------------------------------
    "act": (
        "book reserve schedule reschedule cancel delete erase remove add append insert create"
        " send post share forward email mail text message call phone dial ring contact notify"
        " pay transfer update upload save order buy purchase invite submit publish place set"
        " setup turn put run execute install uninstall reply respond grant make change edit"
        " modify rename move copy swap switch replace download start launch deploy merge push"
        " commit clear take adjust raise lower increase decrease redeem apply request sign"
        " register enroll subscribe unsubscribe enable disable unlock lock open close withdraw"
        " deposit sell ship dispatch retweet tweet complain file fill mark tick remind arrange"
        " plan organize organise log record stop pause resume skip play shuffle mute unmute dim"
        " brighten silence snooze rate star like_this follow unfollow block unblock archive"
        " restart reboot shut kill terminate rent hire hail get_me_a get_me_an get_me_the"
        " call_off take_off clean charge fix repair reset restore configure activate deactivate"
        " connect disconnect pair unpair sync unsync link unlink join leave accept decline"
        " reject approve donate invest refund split bid nix ditch scrap drop mow vacuum preheat"
        " brew boil water feed heat cool warm boost escalate assign reassign transcribe import"
        " export convert_the give_the give_my give_her give_him give_them tell_my tell_him"
        " tell_her tell_them tell_mom tell_dad tell_everyone let_my let_him let_her let_them"
        " page ping wake inform_my inform_him inform_her inform_them inform_the inform_everyone"
        " inform_our alert_my alert_the alert_them roll_over rollover cash cash_in write_to"
        " forget_the forget_my forget_about dismiss hoover secure hook_up tune_in tune_to"
        " tune_into tune_the remember_that let_s_play do_the_actions do_the_tasks bring extend"
        " renew upgrade downgrade return exchange reorder refill reactivate suspend freeze"
        " unfreeze complete process handle redirect act_on hang stream broadcast print begin end"
        " finish initiate trigger toggle flip_the flip_on flip_off allow deny forbid ban kick"
        " promote demote"
    ),
    "strong_act": (
        "book reserve schedule reschedule cancel delete erase remove add append insert create"
        " send post share forward email text message call pay transfer update upload save order"
        " buy purchase invite submit publish place set turn put run execute install uninstall"
        " reply grant remind wire withdraw sell ship dispatch subscribe unsubscribe move"
        " overwrite disable enable revoke write_them write_him write_her make_a make_an make_the"
        " process complete notify"
    ),
    "joins": "and then also please kindly not",
    "want": (
        "need needs want wants like looking seeking require find get i_d_like we_d_like"
        " could_i_have can_i_have can_i_get could_i_get may_i_have rent connect_me hook craving"
        " fancy ran_out am_out are_out lookup look_for searching"
    ),
    "bookable": (
        "flight flights hotel hotels suite rental rentals taxi cab uber lyft ride ticket"
        " tickets reservation reservations booking takeaway takeout take_out delivery"
        " appointment appointments table_for room_for replacement refill checks_and more_checks"
        " new_checks car_rental rental_car new_card train_ticket an_alarm a_timer a_reminder"
        " a_table"
    ),
    "wish": (
        "lights_on lights_off light_on light_off volume_up volume_down louder quieter darker"
        " brighter more_light less_light be_quiet too_bright too_dark too_loud new_contact"
        " new_list new_event new_alarm new_reminder alarm_on alarm_off alarm_every"
        " facebook_status get_delivered heating_on heating_off music_on music_off"
    ),
    "want_verb": "need needs want wants like require get have",
    "made_so": (
        "changed increased raised lowered decreased replaced removed added cancelled canceled"
        " rescheduled updated texted booked scheduled transferred delivered deleted sent emailed"
        " reserved postponed moved_to turned_on turned_off cleared renewed"
    ),
    "hand": "give show send have know share tell text let beam",
    "my_place": (
        "my_location my_current_location my_exact_location my_gps gps_location where_i_m"
        " where_i_am my_whereabouts my_position"
    ),
    "hear": "hear listen",
    "music": (
        "music song songs album albums track tracks tune jazz blues rock pop classical radio"
        " podcast audiobook station playlist concerto symphony soundtrack"
    ),
    "listing": "list lists calendar playlist reminders agenda schedule planner basket cart",
    "listing_change": (
        "add added put remove removed clear cleared off no_longer anymore don_t_need on_it wipe"
        " empty take_off cross scratch get_rid"
    ),
    "reserved": (
        "a_table table_for a_reservation a_booking a_flight a_taxi a_cab an_uber a_ride"
        " a_hotel_room an_appointment round_trip_flight uber_and"
    ),
    "rate": "give gives award rate score",
    "rating": "star stars points out_of",
    "my_card": (
        "my_card my_credit_card my_debit_card my_bank_card my_visa my_mastercard my_amex"
        " my_discover my_atm_card the_card"
    ),
    "broken": (
        "broken broke damaged damage cracked melted bent snapped chewed shredded shredder"
        " burned burnt burn scratched torn ruined destroyed impaired demagnetized mangled split"
        " ripped worn unreadable warped cut scuffed won_t_work doesn_t_work not_working"
        " stopped_working isn_t_working"
    ),
    "must_know": "let inform notify tell alert advise message told",
    "my_bank": "bank banks back_needs bank_know credit_union card_company",
    "abroad": (
        "travel traveling travelling trip abroad vacation overseas going_to heading visiting"
        " visit going_on be_in leaving out_of_the_country"
    ),
    "to_message": (
        "message messages following_message email e_mail text sms post comment tweet reply"
        " review note channel file letter response"
    ),
    "compose": "write compose draft type generate",
    "points": "points rewards cashback",
    "spend": "use redeem cash spend cash_in apply help convert",
    "done_to": (
        "put_on placed_on added_to removed_from turned_on turned_off set_to changed_to"
        " booked_for lowered decreased increased scheduled_for replaced cancelled_please"
        " canceled_please be_notified be_booked be_cancelled be_canceled be_increased be_raised"
        " be_changed be_removed let_me_forget be_added be_put be_deleted be_sent doesn_t_want"
        " don_t_want no_longer_want"
    ),
    **ENGLISH_HIGH,
    **ENGLISH_ROUTER,
}
