"""The English words of the high rows, by meaning; pure tables, in the notation of `english`."""

from collections.abc import Mapping

ENGLISH_HIGH: Mapping[str, str] = {
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
        " fetch+ retrieve+ obtain+ harvest+ collect+ replace+ revoke+ generate+ display+"
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
    "shut": "close closing shut cancel terminate",
    "noting": "remind reminder remember note jot todo",
    "freeze": (
        "freeze+ block+ unblock+ lock+ unlock+ unfreeze+ deactivate+ suspend+ hold_on stop_on"
        " reactivate+ shut_down frozen locked_out"
    ),
    "lost": (
        "lost stolen stole was_taken took_my been_taken missing misplaced swiped_my cloned"
        " skimmed lose losing"
    ),
    "own_card": (
        "card cards visa mastercard amex debit wallet_with bank_card credit_card atm_card passport"
    ),
    "fraud_sign": (
        "fraud fraudulent suspicious unauthorized unauthorised unrecognized"
        " unrecognised fishy not_me someone_else compromised hacked didn_t_make did_not_make"
        " don_t_recognize don_t_recognise scammed"
    ),
    "fraud_place": (
        "card account charge charges transaction transactions activity purchase purchases"
        " payment payments bank statement withdrawal credit visa mastercard amex"
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
        " phone store shop bank files secrets packages jewelry employer company"
    ),
    "harm": (
        "kill killing murder murdering poison strangle strangling stab shoot beat attack harm"
        " hurt bomb kidnap throttle choke drown hang capture hunt assassinate torture push"
        " overpower drug punch butcher beat_up take_hostage blow_up cut"
        " exploding explode"
    ),
    "victim": (
        "someone somebody person people human humans wife husband spouse boss neighbor"
        " neighbour myself child children girlfriend boyfriend ex coworker politician president"
        " woman man hospital school"
    ),
    "fiction": (
        "character novel story book film movie game minecraft battlefield play"
        " chess fictional screenplay"
    ),
    "defence": (
        "ticket report alert incident training awareness policy protect prevent prevention"
        " detect detection_of summary avoid against scanner antivirus filter clean remove defend"
        " defense defence stop block"
    ),
    "relation": (
        "wife husband partner girlfriend boyfriend ex neighbor neighbour boss coworker"
        " colleague therapist teacher tenant landlord match rival employee"
        " roommate friend someone other_people people"
    ),
    "private_fact": (
        "pin password passport home_address private_email login tax_records criminal_history"
        " criminal_record birth_certificate bank_account sexual_orientation browsing_history"
        " medical_records diagnosis date_of_birth marital_status license_number credit_card"
        " text_messages location_history salary ssn"
    ),
}
