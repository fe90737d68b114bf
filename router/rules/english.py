"""The English words of the risk rules, by meaning; pure tables."""

from collections.abc import Mapping

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
    # --- high: money --------------------------------------------------------------------------
    "pay": (
        "pay+ transfer+ wire wires wiring send+ remit+ donate+ deposit+ withdraw+ invest+ buy"
        " buying buys purchase+ sell+ bid bidding refund+ reimburse+ lend+ loan+ venmo zelle"
        " paypal move+ tip+ take put shift+ pull+ contribute+ chip_in settle+ disburse+ wager+"
        " bet top_up charge"
    ),
    "pay_only": (
        "pay paying transfer transferring wire wiring remit send sending refund refunding"
        " reimburse donate withdraw deposit invest sell move moving split settle"
    ),
    "amount": (
        "dollar dollars buck bucks euro euros pounds quid usd eur gbp chf jpy inr yen rupees"
        " btc bitcoin bitcoins eth ether usdt grand francs pesos"
    ),
    "account": (
        "account accounts savings checking iban wallet wallets brokerage payee recipient"
        " beneficiary"
    ),
    "bill": (
        "bill bills invoice invoices rent mortgage subscription fine fees tuition installment"
        " instalment balance debt utilities toll premium"
    ),
    "order_money": (
        "submit stop send+ set_up schedule scheduling make making update updating create"
        " creating cancel issue issuing approve split handle initiate start request trade refund"
        " reverse process release authorize authorise execute transfer"
    ),
    "funds": (
        "transaction transactions payment payments standing_order direct_debit money funds cash"
        " bitcoin crypto cryptocurrency stock stocks shares refund refunds payout payouts"
        " payroll bonus difference venmo deposit direct_deposit wire_transfer bank_transfer loan"
        " mutual_fund dividends rent_payment"
    ),
    "buy": "buy purchase rebuy buying purchasing",
    # --- high: secrets and accounts -----------------------------------------------------------
    "secret": (
        "password passwords passcode passcodes passphrase pin pins pin_number pin_code otp 2fa"
        " two_factor security_code verification_code one_time_code one_time_password credentials"
        " credential api_key api_keys apikey secret_key secret_keys private_key private_keys"
        " ssh_key ssh_keys access_token access_tokens auth_token bearer_token seed_phrase"
        " recovery_phrase recovery_code recovery_codes backup_codes passport_number ssn"
        " social_security_number card_number cvv bank_account_number login_details"
        " encryption_key signing_key client_secret secrets service_key session_cookie"
    ),
    "handle_secret": (
        "send+ share+ give giving want switch+ changed change+ update+ reset+ rotate+ copy+"
        " forward+ post+ print+ show+ reveal+ tell email+ extract+ dump+ expose+ publish+"
        " upload+ include+ read+ decode+ paste+ export+ set create+ make remove+ need forgot"
        " forgotten lost store storing save disclose+ leak+ hand_over text whisper guess+ crack+"
        " fetch+ retrieve+ obtain+ harvest+ collect+ replace+ revoke+ generate+ write+ display+"
    ),
    "reveal": "tell_me show_me give_me need_to_know reveal what_s give_us tell_us",
    "own_secret": (
        "my_pin my_password my_passcode the_password the_pin the_passcode his_password"
        " her_password their_password the_credentials his_pin her_pin the_api_key the_otp"
        " the_secret_key pin_number_to"
    ),
    "secret_file": (
        "/passwd /shadow /gshadow /sudoers id_rsa .env .pem .ssh /.ssh /.aws .aws .npmrc .netrc"
        " .kube keychain .htpasswd"
    ),
    "card": (
        "card cards account accounts checking savings activity all_transactions visa mastercard"
        " amex atm credit_union wallet sim line debit passport id_card"
    ),
    "freeze": (
        "freeze+ block+ unblock+ lock+ unlock+ unfreeze+ deactivate+ suspend+ hold_on stop_on"
        " close closing reactivate+ shut_down frozen locked_out"
    ),
    "lost": (
        "lost stolen stole was_taken took_my been_taken missing misplaced swiped_my cloned"
        " skimmed lose losing"
    ),
    "own_card": (
        "card cards visa mastercard amex debit wallet_with bank_card credit_card atm_card passport"
    ),
    "fraud_sign": (
        "fraud fraudulent fradulent suspicious unauthorized unauthorised unrecognized"
        " unrecognised fishy not_me someone_else compromised hacked didn_t_make did_not_make"
        " don_t_recognize don_t_recognise scammed"
    ),
    "fraud_place": (
        "card account charge charges transaction transactions activity purchase purchases"
        " payment payments bank statement withdrawal login credit visa mastercard amex"
        " american_express discover paypal"
    ),
    "report": (
        "report+ dispute+ victim help assist happened there_is there_s alert flag see_a noticed"
    ),
    "login_part": (
        "two_factor 2fa mfa multi_factor recovery_email security_question security_questions"
        " login_email account_email phone_number_on_my_account account_information"
        " account_details account_info billing_address alarm_system security_system"
        " security_cameras burglar_alarm googlehome_security home_security"
    ),
    "alter": (
        "change changing update updating reset resetting disable disabling remove removing"
        " turn_off switch_off deactivate disarm bypass set_up add edit replace modify link"
    ),
    # --- high: destruction, privilege, code ---------------------------------------------------
    "destroy": (
        "delete+ deletes erase+ wipe+ purge+ destroy+ drop dropping truncate+ overwrite+"
        " format_the format_c formatting shred+ nuke nuking remove+ uninstall+ kill+ terminate+"
        " shutdown shut_down clean_up clear_out clear get_rid_of corrupt+ discard+ deprovision+"
        " decommission+ tear_down blow_away reset_hard"
    ),
    "asset": (
        "file files folder folders directory directories database databases db table tables"
        " backup backups repo repos repository repositories branch branches disk disks drive"
        " drives partition volume volumes server servers cluster bucket buckets instance"
        " instances production prod staging environment system systems records users data"
        " dataset everything inbox mailbox process processes service services daemon logs"
        " log_files accounts account root_directory root_dir root history tenant namespace"
        " namespaces container containers vm vms snapshot snapshots schema index certificates"
        " keys customers documents photos emails all_messages filesystem python"
    ),
    "system_path": (
        "/etc /root /dev /usr /bin /sbin /boot /sys /proc /var /lib /system32 /windows /opt"
    ),
    "shell_wipe": (
        "rm_rf rm_fr rm_r mkfs dd_if drop_table drop_database truncate_table format_c"
        " push_force push_f reset_hard fork_bomb wipefs shred_u delete_from del_f"
        " terraform_destroy kubectl_delete docker_system_prune git_clean"
    ),
    "reset": "reset resetting restore revert configure switch go_back return set put",
    "factory": (
        "factory default defaults factory_settings factory_reset default_settings"
        " original_settings factor_settings"
    ),
    "grant": (
        "grant+ give giving assign+ elevate+ escalate+ add adding make promote+ provide enable"
        " allow+ remove removing revoke+ change changing obtain gain open"
    ),
    "right": (
        "admin administrator superuser sudo sudoers root_access access_to access admin_rights"
        " permission permissions privileges privilege write_access full_access necessary_access"
        " owner_role admin_role root_privileges write_permissions door_code gate_code"
        " access_code ssh_access remote_access superadmin setuid suid"
    ),
    "shell_right": "chmod chown sudo setuid visudo usermod setfacl iptables ufw chattr doas runas",
    "door": "door doors gate garage safe vault front_door firewall firewalls",
    "open_up": "unlock unlocking disarm disable turn_off open_the open_up",
    "fetch": (
        "download+ downloads wget curl fetch+ pull+ clone+ install+ get_the_script grab+"
        " pip_install npm_install"
    ),
    "code": (
        "script scripts .sh .py .exe .ps1 .bat .js .msi .jar .apk .dmg executable binary"
        " payload macro installer plugin bash powershell shell"
    ),
    "run": (
        "run+ execute+ executing exec eval launch+ open install+ start invoke+ pipe source"
        " evaluate+ curl wget"
    ),
    "remote": (
        "url link http https www attached attachment pastebin gist usb downloaded untrusted base64"
    ),
    "shell_script": "shell_command bash_script shell_script bash_command powershell_script",
    "follow": "follow+ obey+ execute+ carry_out do_what comply",
    "orders": "instructions commands steps_in directions orders_in what_it_says",
    "source": (
        "file email mail link page website attachment document .txt .md .pdf message url letter"
    ),
    # --- high: disclosure and malice ----------------------------------------------------------
    "give_out": (
        "send+ forward+ email+ share+ post+ upload+ publish+ tweet+ submit+ give giving export+"
        " leak+ exfiltrate+ disclose+ text mail+ dump+ sell+ concatenate compile+ transmit+"
        " broadcast+ hand_over"
    ),
    "private": (
        "passport confidential patient patients medical health_record health_records salary"
        " salaries customer_list customer_data customers client_list client_data user_data"
        " employee_data personal_data personal_information personal_details private_data"
        " private_information private_messages all_messages all_emails all_the_messages"
        " customer_records bank_account bank_details card_details credit_card_details"
        " criminal_history criminal_record address_book contact_list contacts_list"
        " access_history transaction_history trade_history scheduled_transactions iban ibans ssn"
        " database source_code payroll_data tax_records tax_return customer_email"
        " customer_emails customer_database phone_model diagnosis all_channels trade_secrets"
        " internal_documents customeremaillist birth_certificate home_address home_addresses"
    ),
    "craft": (
        "create write develop build design generate make making produce code program launch"
        " launching conduct deploy spread spreading distribute distributing craft compose script"
        " writing creating building developing plan planning use install send sending run"
        " carry_out orchestrate"
    ),
    "instruct": (
        "teach instruct explain describe outline provide give show suggest offer demonstrate"
        " guide tutorial instructions advice step_by_step manual detail how_to video recommend"
        " help tell_me_how assist plan develop devise"
    ),
    "show_others": (
        "show_someone show_people show_users show_others teach_someone teach_people tell_people"
    ),
    "malice_thing": (
        "malware ransomware spyware trojan rootkit keylogger botnet virus viruses worm exploit"
        " phishing phish spam scam ddos cyberattack cyber_attack identity_theft fraud backdoor"
        " counterfeit malicious fake_accounts fake_reviews fake_social deepfake hoax"
        " social_engineering insecurities disinformation fake_invoices fake_invoice"
    ),
    "malice_tool": "ransomware keylogger rootkit botnet malware spyware cyberattack ddos",
    "malice_act": (
        "hack hacks hacking steal steals stealing pirate pirating hijack hijacks hijacking"
        " sabotage sabotaging launder laundering embezzle blackmail blackmailing extort"
        " extorting scam scamming defraud defrauding impersonate impersonating exploits"
        " exploiting infect infecting infects evade_detection evading cheat_on smuggle smuggling"
        " forge forging counterfeiting phish disrupting vandalize sabotages stalk stalking doxx"
        " dox without_getting_caught cover_your_tracks tax_evasion evade_taxes bypass_security"
        " crash_a hacks_into spoof spoofing identity_theft insider_trading commit_fraud"
        " manipulate_financial exploit_vulnerabilities disrupt_the disrupt_transportation"
        " interfere targets_vulnerable cheat bribe bribing crack_software"
    ),
    "malice_hard": (
        "hack_into hacking_into hacks_into break_into breaking_into crack_into launder_money"
        " money_laundering steal_identities phishing_attack ddos_attack sell_it_on_the_dark_web"
        " steal_from take_hostage evade_detection evading_detection interfere_with_the_operation"
        " spy_on without_their_knowledge without_her_knowledge without_his_knowledge"
        " without_their_consent fake_id counterfeit_money"
    ),
    "commit": "commit committing commits",
    "crime": (
        "fraud theft crime murder arson assault robbery terrorism suicide burglary forgery"
        " perjury genocide violence extortion espionage"
    ),
    "steal": "steal stealing steals rob robbing shoplift",
    "loot": (
        "information data money credentials passwords identity identities wallet car bike"
        " playstation phone store shop bank files secrets packages jewelry employer company"
    ),
    "harm": (
        "kill killing murder murdering poison strangle strangling stab shoot beat attack harm"
        " hurt bomb kidnap throttle choke drown hang capture hunt assassinate torture push"
        " overpower drug punch butcher butchering butchered beat_up take_hostage blow_up cut"
        " chop exploding explode"
    ),
    "victim": (
        "someone somebody person people human humans wife husband spouse boss neighbor"
        " neighbour myself child children girlfriend boyfriend ex coworker politician president"
        " woman man my_date humanity skull kidney hospital school grandparent tinder_date"
        " dead_body passengers"
    ),
    "fiction": (
        "character novel story book film movie game minecraft battlefield play judo boxing"
        " chess fictional screenplay"
    ),
    "defence": (
        "ticket report alert incident training awareness policy protect prevent prevention"
        " detect detection_of summary avoid against scanner antivirus filter clean remove defend"
        " defense defence stop block"
    ),
    "relation": (
        "wife husband partner girlfriend boyfriend ex neighbor neighbour boss coworker"
        " colleague therapist teacher babysitter roofer tenant landlord match rival employee"
        " mentee servant officer roommate friend someone other_people people"
    ),
    "private_fact": (
        "pin password passport home_address private_email login tax_records criminal_history"
        " criminal_record birth_certificate bank_account sexual_orientation browsing_history"
        " medical_records diagnosis date_of_birth marital_status license_number credit_card"
        " labour_union labor_union text_messages location_history salary ssn"
    ),
}
