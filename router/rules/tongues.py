"""The words of the risk rules in other languages, by meaning; pure tables.

One line a language where it can be. The notation is that of `english`. Everything is folded
before it is compared, so accents are written as a reader expects them and do not matter.
Commands and wishes are listed, not past forms or nouns: "did I set one" is a question.
"""

from collections.abc import Mapping

from clawmarshal.router.rules.router_words import TONGUES_ROUTER
from clawmarshal.router.rules.tongues_high import HARM, MONEY

# Commands and infinitives that change something or reach somebody.
_STATE = (
    """
stelle stell stellen einstellen wecke weck lösche lösch löschen loesche entferne entfernen
 storniere stornieren absagen sage_ab füge fueg füg hinzufügen erinnere erinner erinnern
 reserviere reservier reservieren buche buch_mir buchen bestelle bestell bestellen spiele spiel
 spielen abspielen ändere ändern aendere verschiebe verschieben schicke schick schicken sende
 senden rufe ruf anrufen schalte schalt einschalten ausschalten aktiviere deaktiviere
 deaktivieren erstelle erstellen lege bewerte bewerten vergib stoppe beende abbrechen breche
 brich setz setze setzen mache mach trage eintragen pausiere kaufe kauf kaufen annullieren tua
 speichere kündige starte dreh vereinbare erhöhe verringere dimme rufen erhöhen verringern dimmen
 aufheben benachrichtige verlänger veröffentliche lade hochladen tausche
zet zetten stel instellen verwijder verwijderen wis wissen annuleer annuleren voeg toevoegen
 herinner herinneren reserveer reserveren boek boeken bestel bestellen speel spelen afspelen
 wijzig wijzigen verander veranderen verplaats stuur sturen verstuur bel opbellen verhoog verlaag
 dim_de schakel inschakelen uitschakelen activeer maak aanmaken snooze pauzeer plaats beoordeel
 koop kopen geef wek deel schrap uitstellen stel_uit huur plan_een
imposta impostare metti mettere crea creare aggiungi aggiungere cancella cancellare elimina
 eliminare rimuovi rimuovere annulla annullare disattiva attiva ricordami ricordarmi prenota
 prenotare prenotami riproduci riprodurre riproducimi suona ascoltare valuta valutare dai assegna
 posticipa posticipare posponi postponi rimanda sposta modifica modificare cambia cambiare invia
 inviare manda mandare spedisci chiama chiamare telefona compra comprare acquista spegni spegnere
 accendi accendere inserisci inserire svegliami alza abbassa aumenta diminuisci fissa ordina
 ordinare condividi pubblica sospendi
pon poner ponme ponga programa configura configurar añade añadir agrega agregar borra borrar
 elimina eliminar quita quitar cancela cancelar anula recuérdame recuerdame recordarme reserva
 reservar resérvame reproduce reproducir toca cambia cambiar modifica envía enviar envíame manda
 mandar llama llamar apaga apagar enciende encender activa desactiva crea crear compra comprar
 pide pedir califica puntúa valora aplaza pospón despiértame aumenta sube baja_el baja_la
 comparte publica guarda cierra inscribe
mets mettre règle régler programme_un ajoute ajouter ajoutez supprime supprimer efface effacer
 annule annuler annulez rappelle rappeler réserve réserver réservez joue jouer jouez lancer
 modifie modifier déplace envoie envoyer envoyez appelle appeler éteins éteindre allume allumer
 désactive crée créer achète acheter commander note_ce notez évalue repousse réveille reprends
 augmente baisse monte_le diminue partage publie enregistre désactiver enlève mettez inscris
põe coloca colocar coloque defina definir adiciona adicione adicionar apaga apague apagar exclua
 excluir remova remover cancele cancelar anule lembre lembra_me lembre_me reservar toque tocar
 reproduza muda mude mudar altere alterar envia envie enviar mande desliga desligue liga_para
 ligue_para cria crie criar compre comprar encomenda avalie adie acorda aumente diminua abaixe
 acorde_me agende agendar marque marcar marca ponha
sæt sætte indstil indstille stil opret oprette tilføj tilføje slet slette annuller annullere
 annullér fjern fjerne bestil bestille reserver reservere afspil afspille spil spille mind_mig
 påmind husk_mig vurder bedøm giv skift ændr ændre ændrer udskyd udsæt ring_til sluk tænd
 deaktiver aktiver placer læg flyt køb købe væk vække planlæg booke aflys afbestil lav skru
ställ ställa ställ_in lägg lägga radera ta_bort avboka boka påminn spela spela_upp ändra flytta
 skicka ring_upp stäng sätt sätta skapa köp köpa betygsätt snooza väck avbryt schemalägg beställ
 beställa
sett sette legg legge slett slette avbestill bestill påminn spille endre flytt skru_av skru_på
 opprett kjøp vekk avlys utsett
ustaw ustawić dodaj dodać usuń usunąć skasuj anuluj anulować odwołaj przypomnij zarezerwuj
 zarezerwować odtwórz puść włącz wyłącz zmień zmienić przesuń wyślij wysłać zadzwoń utwórz stwórz
 kup kupić oceń zamów zamówić odłóż obudź zapisz umieść umów
nastav nastavit nastavte přidej přidat přidejte smaž smazat odstraň odstranit zruš zrušit
 připomeň připomenout rezervuj rezervovat zarezervuj přehraj přehrát pusť zapni vypni změň změnit
 přesuň pošli poslat zavolej vytvoř kup koupit objednej ohodnoť odlož vzbuď nastavi pridaj vymaž
 odstráň pripomeň prehraj zmeň
setează seteaza pune adaugă adauga șterge sterge anulează anuleaza amintește reamintește rezervă
 redă cântă schimbă modifică trimite sună pornește oprește creează cumpără comandă evaluează
 amână trezește programează activează dezactivează elimină porneste opreste
kur kurun kurmak ayarla ayarlayın ayarlamak iptal_et iptal_eder iptal_edin sil silin silmek ekle
 ekleyin eklemek hatırlat hatırlatın ayırt ayırtın rezervasyon_yap rezerve_et oynat çal çalın
 değiştir değiştirin ertele erteleyin kapat kapatın kapa gönder gönderin yolla puan_ver
 yıldız_ver oy_ver puanla koy koyun başlat durdur oluştur oluşturun satın_al sipariş_et uyandır
 artır azalt kıs yükselt kaldır kaydet paylaş çıkar yer_ayırt bul_ve sustur etkinleştir
 devre_dışı taşı ekler_misin kurar_mısın
postavi podesi namesti navij otkaži obriši izbriši ukloni dodaj stavi ubaci podseti podsjeti
 rezerviši rezerviraj zakaži pusti pustite oceni ocijeni odloži promeni promijeni izmeni pošalji
 pozovi isključi uključi napravi kreiraj kupi zaustavi prekini poništi postavim rezervišem
 zakažem dodam otkažem obrišem dodati postaviti otkazati obrisati rezervisati zakazati pustim
 promeniti naruči daj_ocenu probudi nastavi ugasi upali sviraj reprodukuj
постави подеси намести откажи обриши избриши уклони додај стави подсети резервиши закажи пусти
 оцени одложи промени пошаљи позови искључи укључи купи
поставь поставьте установи установите установить добавь добавьте добавить удали удалите удалить
 отмени отмените отменить напомни напомните забронируй забронируйте забронировать включи включите
 выключи выключите измени изменить перенеси отправь отправьте отправить позвони создай создайте
 создать купи купить закажи закажите заказать оцени отложи разбуди увеличь уменьши прибавь убавь
 сделай_громче сделай_тише приглуши запиши запланируй сыграй воспроизведи стереть сотри опубликуй
 переименуй отключи
постав поставте встанови встановіть додай додайте видали видаліть скасуй скасуйте нагадай
 забронюй забронюйте увімкни вимкни зміни надішли подзвони створи купи замов оціни відклади
 розбуди зателефонуй ввімкни відтвори
βάλε ρύθμισε όρισε πρόσθεσε διέγραψε σβήσε ακύρωσε υπενθύμισε θύμισέ θύμισε κλείσε κράτησε παίξε
 άλλαξε στείλε κάλεσε άνοιξε δημιούργησε αγόρασε παράγγειλε βαθμολόγησε ξύπνα αφαίρεσε
اضبط ضبط عين الغ ألغي الغي إلغاء احذف حذف امسح أضف اضف إضافة ضف ذكرني تذكيري احجز أحجز شغل شغّل
 تشغيل قيم قيّم أعط اعط اعطي أجل أجّل أوقف اوقف إيقاف غير غيّر عدل انشئ أنشئ أرسل ارسل إرسال اشتر
 اشتري اتصل اطلب ضع فعل انشاء نبهني أيقظني ايقظني اطفئ اقفل سجل ابعث
קבע תקבע קבעי הגדר תגדיר הוסף תוסיף מחק תמחק בטל תבטל הזכר תזכיר הזמן תזמין נגן תנגן שנה תשנה
 שלח תשלח התקשר תתקשר כבה תכבה הדלק תדליק צור קנה תקנה דרג תדרג דחה הער תעיר שים תשים הסר
تنظیم_کن بگذار بذار اضافه_کن حذف_کن پاک_کن لغو_کن یادآوری_کن یادم_بینداز رزرو_کن پخش_کن
 تغییر_بده تغییر_ده ارسال_کن بفرست زنگ_بزن خاموش_کن روشن_کن بساز بخر سفارش_بده امتیاز_بده
 بیدارم_کن کنسل_کن
सेट_करो सेट_करें सेट_कर लगाओ लगाएं लगा_दो जोड़ो जोड़ें जोड़_दो हटाओ हटाएं हटा_दो मिटाओ रद्द डिलीट
 याद_दिला याद_दिलाओ याद_दिलाएं बुक_करो बुक_करें बुक_कर बजाओ बजाएं चलाओ चलाएं बदलो बदलें भेजो
 भेजें भेज कॉल_करो बंद_करो बंद_करें बंद_कर चालू_करो चालू_करें बनाओ बनाएं खरीदो खरीदें ऑर्डर_करो
 दो_स्टार
atur aturlah setel setelkan pasang buat buatkan hapus hapuskan batalkan tambahkan tambah
 ingatkan pesan pesankan putar putarkan mainkan ubah ganti matikan nyalakan kirim kirimkan
 beri_nilai beri_rating beri nilai masukkan reservasi tunda hentikan jadwalkan hubungi telepon
 beli belikan bangunkan aktifkan nonaktifkan pindahkan padam tetapkan tempah main_kan tukar
 hantar mainkanlah taruh berikan_nilai
itakda magtakda mag_set i_set iset tanggalin alisin burahin kanselahin ikansela i_cancel idagdag
 magdagdag ilagay paalalahanan ipaalala ipaalala_mo magpareserba mag_book i_book ireserba
 patugtugin i_play magpatugtog palitan baguhin ipadala magpadala tawagan patayin buksan gumawa
 lumikha bilhin bumili umorder gisingin i_delete i_add tanggalan bigyan_ng isara ibahagi ipost
 mag_order isaayos
đặt_báo đặt_bàn đặt_lịch đặt_lời đặt_một đặt_vé hẹn_giờ cài_đặt cài_báo xóa xoá hủy huỷ nhắc_tôi
 nhắc_nhở tắt phát_bài phát_nhạc mở_nhạc chơi_nhạc thay_đổi thêm_vào thêm_bài gửi gọi_cho tạo_một
 tạo_danh mua_cho đánh_giá báo_thức_tôi chuyển_sang hoãn
қой қойыңыз қоя_сал қойшы орнат орнатыңыз орнату өшір өшіріңіз жой жойыңыз қос қосыңыз қосу
 ескерт ескертіңіз ескертіп еске_сал есіме_сал ескертпе_қой еске_салыңыз бронда брондаңыз брондау
 бронь_жаса тапсырыс_бер ойнат ойнатыңыз болдырма болдырмау тоқтат тоқтатыңыз кейінге_қалдыр
 шегер өзгерт өзгертіңіз ауыстыр жібер қоңырау_шал баға_бер бағала сатып_ал оят жаса күшін_жой
 алып_таста балл_бер ұпай_бер
kumbusha weka ongeza futa ghairi tuma piga_simu zima washa nunua
ajasta lisää poista peruuta muistuta varaa soita lähetä osta tilaa sammuta herätä
állíts állítsd add_hozzá töröld törölj mondd_le emlékeztess foglalj játszd küldj kapcsold vegyél
 rendelj
"""
    + """
設定する 設定して 設定お願い 設定したい 設定 セットする セットして セット 追加する 追加して 追加
 入れて 削除する 削除して 削除
消して 消す キャンセルする キャンセルして キャンセル 取り消して 取り消す 取消 解除する 解除して
 解除 変更する 変更して 変更
クリアする クリアして クリア 停止する 停止して 停止 止めて 止める オフにする オフにして オフ
 オンにする オンにして オン
リマインドする リマインドして リマインド 作成する 作成して 作成 スヌーズする スヌーズして
 スヌーズ 予約する 予約して
予約したい 予約 再生する 再生して 再生 流して かけて 通知する 通知して 通知 送信する 送って 送る
 電話をかけて 起こして 上げて 下げて 明るくして 暗くして 注文する
注文して 購入する 買って 評価する 評価して つけて 登録する 登録して 延期 思い出させて
 アラームしてください アラームが必要
评为 设置 设定 设在 设到 调到 调暗 调亮 调高 调低 调大 调小 调成 设一 设个 设為 設定 設置 新增
 添加 加入 加到 加进 放进 放入 放到 增加 删除 刪除 删掉 清除 移除 取消 关闭 關閉
打开 打開 关掉 提醒我 提醒 预订 预定 預訂 預定 订一 訂一 订个 播放 放一首 放首 推迟 稍后 延后
 更改 修改 改为 改成 改到 发送
發送 发给 打电话 创建 創建 新建 建立 购买 購買 下单 评分 打分 叫醒 给这本 暂停 停止 安排 预约
 預約 发短信 给予
설정해 설정하 맞춰 맞춰줘 추가해 추가하 넣어 삭제해 삭제하 지워 취소해 취소하 예약해 예약하
 재생해 재생하 틀어 켜줘 꺼줘 꺼
변경해 변경하 바꿔 보내줘 보내 전화해 만들어 구매해 사줘 주문해 주문하 알람해 상기시켜 다시알림
 평가해 깨워 올려 내려줘 높여 낮춰 미뤄 연기해
ตั้งปลุก ตั้งนาฬิกา ตั้งเตือน ตั้งค่า ตั้งการ ตั้งเวลา เพิ่ม ลบ ยกเลิก เตือนฉัน เตือนผม เตือนให้ จอง
 เล่นเพลง เล่น เปิดเพลง
เปลี่ยน ส่งข้อความ ส่ง โทรหา ปิด สร้าง สั่งซื้อ สั่งอาหาร ให้คะแนน เลื่อน ปลุกฉัน
"""
)

# Forms that look like the above and only tell or ask of what is so; longest match wins.
_TOLD = """
設定していま 設定してあ 設定してい 設定しました 設定した 設定されて 設定され 設定できま 設定方法
 セットしていま セットした セットされて
追加しました 追加した 追加されて 予約していま 予約しました 予約した 予約でき 予約され 予約状況
 再生されて 再生していま 再生時間
キャンセルでき キャンセルされ 変更され 通知され 送信され 登録され 作成され リマインダー 購入した
 評価は 評価を教 再生中 オンライン
オフィス 停止してい 解除方法 削除方法 注文した 注文状況 思い出せ
设置了 设定了 设了 设置的 设置好 添加了 预订了 预定了 订了 取消了 提醒了 有提醒 的提醒 提醒有
 哪些提醒 什么提醒 个提醒 提醒事项 显示提醒 查看提醒
所有提醒 评分是 的评分 评分多 评分高 修改了 播放时间 播放的 正在播放 什么时候播放 放映 打开吗
 创建的 安排了 的安排 什么安排
설정된 설정했 맞춰져 추가된 예약된 예약했 재생중 꺼져 켜져 예약하는법 설정하는법
ตั้งปลุกไว้ ตั้งไว้ การเตือน เตือนความจำ จองไว้ เล่นอยู่ ปิดกี่ เปิดปิด
"""

# Question words and requests to show or tell; they count among the first words of a clause.
_ASK = """
wie was wann wo warum wieso weshalb wer wem wen welche welcher welches welchen wieviel wieviele
 zeig zeige zeigen zeigst sag_mir suche habe hab_i hat gibt wird ist sind soll sollte brauche_ich
 muss_ich kann_es liste_alle nenne erkläre wos wia isch zoag
hoe wat waarom wie wanneer waar welke toon laat_zien laat_me hoeveel zoek wordt zal moet_ik
 heb_ik zijn
come che cosa quando dove perché chi quale quali qual quanto quanta quanti quante mostra
 mostrami visualizza trova trovami sarà ci_sarà dovrei dimmi cerca fammi_vedere c_è spiega
cómo como qué que cuándo cuando dónde donde quién cuál cuáles cuánto cuánta cuántos muestra
 muéstrame muestrame busca dime hay tengo está explica enséñame por_qué
comment quoi quand où pourquoi qui quel quelle quels quelles combien montre montrez affiche
 cherche trouve dis_moi est_ce est_il ai_je y_a_t il_y qu_est explique
quando onde quem qual quais quanto quantos mostre mostra procure encontre diga há está explique
 por_que o_que
hvordan hvad hvornår hvor hvorfor hvem hvilke hvilken hvilket vis vise har_jeg bliver skal_jeg
 kommer fortæl søg hur vad när var varför vem vilka vilken vilket hitta berätta hva når finn
jak jaka jakie jaki co kiedy gdzie dlaczego kto ile który która które pokaż znajdź wyszukaj czy
 powiedz
jaký jaká jaké kdy kde proč kdo kolik který ukaž zobraz najdi řekni bude aké ako čo kedy
cum ce când unde cine cât câte arată găsește caută spune
nasıl nedir ne_kadar ne_zaman ne_var nerede neden niçin kim hangi kaç göster gösterin bul mı mi
 var_mı listele söyle anlat
kako šta što sta kada gde gdje zašto tko koji koje koja koliko prikaži pokaži pronađi nađi da_li
 je_li hoće_li kakvo kakav kakva ima_li reci како шта када где зашто који колико прикажи да_ли
как что когда где почему зачем кто какой какая какие какое сколько покажи покажите найди найдите
 скажи расскажи есть_ли будет ли чему
як що коли де чому хто який яка які скільки покажи знайди чи
πώς τι πότε πού γιατί ποιος ποια ποιο ποιες πόσο δείξε βρες πες
هل ما ماذا متى كيف أين اين كم لماذا أي اي أرني ارني اعرض أظهر اظهر أخبرني اخبرني ابحث جد كيفية
 عرض ماهي ماهو
מה מתי איך איפה למה מי כמה האם הראה תראה חפש מצא ספר
چه چی چطور چگونه کی کجا چرا آیا چند نشان_بده پیدا_کن بگو نمایش
क्या कब कैसे कहाँ कहां क्यों कौन कितना कितने कितनी दिखाओ दिखाएं बताओ बताएं ढूंढो खोजें कैसा
bagaimana apa apakah kapan dimana di_mana mengapa kenapa siapa berapa tampilkan tunjukkan
 carikan cari lihat adakah mana beritahu akankah perlihatkan
paano ano anong kailan saan bakit sino ilan magkano ipakita hanapin mayroon meron sabihin
làm_sao thế_nào khi_nào ở_đâu tại_sao bao_nhiêu hiển_thị cho_tôi_xem tìm có_phải
қалай қандай қашан қайда неге кім қанша неше көрсет көрсетіңіз тап табыңыз қай айтшы айтыңыз
 тізімде ма ме
"""

_WANT = """
brauche möchte finde suche benötige hätte wollen möchten ich_will nodig zoek vind willen
 ho_bisogno vorrei voglio vogliono trova cerco necesito quiero quieren encuentra busco quisiera
 voudrais veux besoin trouve preciso quero encontre gostaria behøver vil_gerne brug_for
 skal_bruge behöver vill potrzebuję chcę znajdź potřebuji chci vreau ihtiyacım istiyorum istiyor
 istiyorlar bul lazım treba potrebno potreban želim želi žele pronađi нужен нужна нужно хочу
 найди потрібен χρειάζομαι θέλω أريد اريد أحتاج احتاج ابحث יש_לי_צורך צריך רוצה میخواهم चाहिए
 butuh perlu ingin mau carikan nais kailangan muốn керек қажет тап қалаймын 需要 想要 想订 我要
 我想 必要 ほしい 欲しい したい 필요 원해 ต้องการ อยาก
"""

_BOOKABLE = """
tisch reservierung flug hotelzimmer fahrkarte tafel reservering vlucht tavolo prenotazione volo
 biglietto mesa reserva vuelo billete réservation une_table bordsbokning stolik rezerwację stůl
 rezervaci masă rezervare masa masaya rezervasyon rezervasyona uçak_bileti sto_za rezervacija
 rezervaciju stol столик столика бронь τραπέζι طاولة حجز שולחן میز टेबल टिकट meja reservasi tiket
 mesang reserbasyon bàn үстел орын 桌子 位子 机票 座位 テーブル 席 테이블 자리 โต๊ะ
"""

_RESERVED = """
tisch einen_tisch reservierung eine_reservierung tafel een_tafel reservering un_tavolo
 tavolo_per una_prenotazione una_mesa una_reserva une_table une_réservation uma_mesa uma_reserva
 et_bord ett_bord stolik stůl rezervaci o_masă masa masayı bir_masa rezervasyon sto_za
 rezervaciju столик طاولة שולחן meja reservasi mesa reserbasyon bàn үстел орын 桌子 位子 机票
 テーブル 席 테이블 โต๊ะ
"""

_RATE = """
gib dale geben geef dai dare assegna dá dê da donne donner giv ge gi daj przyznaj dej dă ver
 verin daje дай поставь дать постав أعط اعط تقييم תן دهید دो दे beri berikan kasih bigyan cho бер
 беріңіз 给 給 つけて 付けて 줘 ให้
"""

_RATING = """
punkte punkten stern sterne sternen punten sterren punti stelle puntos estrellas étoiles points
 pontos estrelas point stjerner stjärnor poäng punkty gwiazdki hvězdy bodů stele puncte puan
 yıldız poena zvezda zvezdice zvezdica бал балла баллов звезд звёзд звезды зірки نجوم نقاط نجمة
 כוכבים נקודות ستاره स्टार अंक bintang poin bituin sao điểm жұлдыз ұпай балл 星 分 ポイント 점 별
 ดาว คะแนน
"""

TONGUES: Mapping[str, str] = {
    "state": _STATE,
    "told": _TOLD,
    "foreign_ask": _ASK,
    "want": _WANT,
    "reserved": _RESERVED,
    "rate": _RATE,
    "rating": _RATING,
    "bookable": _BOOKABLE,
    "carry": "maak maken",
    "across": "over",
    **MONEY,
    **HARM,
    **TONGUES_ROUTER,
}
