"""The words of the high rows in other languages, by meaning; pure tables."""

from collections.abc import Mapping

MONEY: Mapping[str, str] = {
    "pay": """
überweise ueberweise überweis überweisen bezahle bezahl bezahlen zahle zahl zahlen sende schicke
 schick senden transferiere spende kaufe kauf kaufen verkaufe erstatte maak_over overmaken betaal
 betalen stuur stort koop kopen paga pagare pagar bonifica invia manda trasferisci trasferire
 compra comprare vendi transfiere transferir envía enviar deposita paie payer paye payez vire
 virer envoie envoyer transfère achète transfira pague envie mande compre betal overfør overføre
 køb betala överför skicka köp zapłać przelej wyślij kup zaplať převeď pošli plătește transferă
 trimite öde ödeyin gönder gönderin havale_et havale_yap transfer_et yatır plati uplati prebaci
 pošalji plaćanje kupi переведи переведите перевести оплати оплатите заплати отправь пошли купи
 перекажи сплати надішли πλήρωσε στείλε μετάφερε ادفع حول حوّل أرسل ارسل اشتر שלם תשלם העבר תעביר
 שלח پرداخت_کن واریز_کن انتقال_بده بفرست भुगतान भेजो भेजें भेज ट्रांसफर bayar bayarkan transfer
 kirim kirimkan beli bayaran magbayad ipadala magpadala ilipat bilhin bumili chuyển_khoản
 chuyển_tiền chuyển thanh_toán trả gửi mua төле аудар жібер сатып_ал 送金 振り込 支払 払って
 送って 购买 購入 买 转账 轉帳 转 汇款 匯款 付款 支付 汇 송금 이체 지불 결제 보내 โอนเงิน โอน จ่าย
 ชำระ ซื้อ
""",
    "pay_only": """
überweise ueberweise überweis überweisen overmaken maak_over bonifica trasferisci transfiere
 transferir vire virer transfère transfira overfør överför przelej převeď transferă havale_et
 prebaci uplati переведи переведите перевести перекажи حول حوّل העבר transfer transferkan ilipat
 chuyển_khoản chuyển_tiền аудар 送金 振り込 转账 轉帳 汇款 匯款 송금 이체 โอน โอนเงิน
""",
    "amount": """
franken kronen kroner kronor zł złotych korun lei lira lirası liraya dinara dinar evra evro евро
 рублей рубля долларов доллар доллара гривень ευρώ δολάρια ريال درهم دينار دولار يورو دلار یورو
 שקל שקלים דולר تومان ریال रुपये रुपया डॉलर rupiah ringgit piso đồng đô_la теңге dólares dolar
 dolara dolares reais euroa 円 元 人民币 美元 欧元 ドル ユーロ 块钱 원 달러 บาท ดอลลาร์
""",
    "account": """
konto sparkonto girokonto rekening spaarrekening conto cuenta compte conta kontoen kontot účet
 cont hesap hesabına hesaba račun счёт счет рахунок λογαριασμό حساب الحساب חשבון खाता खाते
 tài_khoản шот 口座 账户 帳戶 帐号 계좌 บัญชี
""",
    "bill": """
rechnung miete stromrechnung rekening_van factuur huur bolletta affitto fattura factura alquiler
 recibo facture loyer fatura aluguel conta_de regning regningen husleje räkning hyra faktur
 fakturę rachunek czynsz nájem účet_za chirie faturayı faturasını kirayı račun_za kiriju счёт_за
 аренду рахунок_за λογαριασμό ενοίκιο فاتورة الفاتورة الإيجار חשבונית شکر قبض किराया बिल tagihan
 sewa upa hóa_đơn tiền_nhà шот 家賃 請求書 料金 账单 帳單 房租 청구서 월세 ค่าเช่า บิล
""",
    "order_money": "",
    "funds": """
geld zahlung überweisung rückerstattung betaling denaro soldi bonifico pagamento rimborso dinero
 pago transferencia reembolso argent paiement virement remboursement dinheiro penge pengar
 pieniądze peníze bani para parayı ödeme novac novca деньги платёж перевод гроші χρήματα مال
 المال مبلغ أموال כסף پول पैसे पैसा uang dana pera tiền ақша 金 钱 錢 款项 お金 돈 เงิน
""",
}

HARM: Mapping[str, str] = {
    "destroy": """
lösche lösch löschen loesche entferne vernichte formatiere formatier beende_den verwijder
 verwijderen wis wissen vernietig formatteer cancella cancellare elimina eliminare distruggi
 formatta borra borrar eliminar destruye formatea supprime supprimer supprimez efface effacer
 détruis formate apaga apague apagar exclua excluir destrua slet slette fjern ødelæg formater
 radera ta_bort förstör slett usuń usunąć skasuj wyczyść smaž smazat odstraň zničit șterge sterge
 elimină distruge sil silin silmek yok_et biçimlendir obriši izbriši uništi обриши избриши удали
 удалите удалить сотри уничтожь видали знищ διέγραψε σβήσε κατάστρεψε احذف حذف امسح دمر מחק תמחק
 השמד حذف_کن پاک_کن हटाओ हटाएं मिटाओ डिलीट hapus hapuskan musnahkan burahin i_delete sirain
 tanggalin xóa xoá жой жойыңыз өшір 削除する 削除して 削除 消去 初期化 删除 刪除 删掉 清空 销毁
 格式化 삭제해 삭제하 지워 파기 ลบ ทำลาย
""",
    "asset": """
datei dateien datenbank ordner sicherung sicherungen benutzer kundendaten festplatte konten
 verzeichnis bestand bestanden gegevens databank gebruikers archivio cartella utenti dati
 archivos archivo datos base_de carpeta usuarios copias fichier fichiers données dossier
 utilisateurs sauvegardes sauvegarde arquivo arquivos dados banco_de filer filerne databasen
 mappe mappen filerna användare pliki plik bazę bazę_danych użytkowników soubory soubor databázi
 zálohy fișiere fișierele baza_de dosya dosyaları dosyalarını veritabanını veritabanı klasörü
 kullanıcıları fajlove fajl bazu datoteke datoteku podatke файлы файл базу данных данные папку
 пользователей резервные сервер файли αρχεία αρχείο βάση δεδομένα ملفات الملفات ملف قاعدة
 البيانات بيانات קבצים הקבצים קובץ מסד נתונים فایل پایگاه فایل‌ها फाइल फाइलें डेटाबेस डेटा berkas
 basis_data pangkalan akun pengguna mga_file dữ_liệu tệp tập_tin thư_mục деректер файлдарды
 файлды қорын ファイル データ フォルダ バックアップ 文件 档案 檔案 数据 数据库 資料 文件夹 备份
 用户 서버 파일 데이터 데이터베이스 폴더 백업 ไฟล์ ฐานข้อมูล ข้อมูล โฟลเดอร์
""",
    "secret": """
passwort passwörter kennwort zugangsdaten geheimzahl pin_nummer wachtwoord wachtwoorden pincode
 parola_chiave credenziali contraseña contraseñas credenciales mot_de_passe identifiants senha
 senhas adgangskode kodeord lösenord passord hasło hasła heslo hesla parolă şifre şifremi şifreyi
 şifresini parolayı lozinka lozinku šifru пароль пароли пароля лозинку κωδικό συνθηματικό
 كلمة_المرور كلمة_السر סיסמה הסיסמה رمز_عبور गुप्त पासवर्ड kata_sandi sandi kata_laluan mật_khẩu
 құпиясөз құпия_сөз パスワード 暗証番号 认证 密码 密碼 口令 비밀번호 암호 รหัสผ่าน
""",
    "handle_secret": """
schicke schick sende gib verrate zeige zeig ändere ändern setze zurücksetzen sag_mir nenne stuur
 geef toon wijzig verander deel invia dammi mostrami cambia manda envía dame muestra muéstrame
 mándame dime envoie donne montre changer envie dê mostre mude altere me_diga giv vis skift
 skicka ändra podaj wyślij pokaż zmień pošli ukaž změň dej trimite arată schimbă gönder ver söyle
 göster değiştir pošalji daj pokaži promeni отправь пришли дай скажи покажи смени измени надішли
 στείλε δώσε άλλαξε أرسل ارسل أعط اعطني غير أعطني שלח תן שנה תגיד بفرست بده बताओ भेजो बदलो kirim
 kirimkan beri berikan ubah ganti tunjukkan ibigay ipadala palitan baguhin gửi cho_tôi đổi
 thay_đổi жібер бер өзгерт айт 教えて 送って 変更 見せて 发给 告诉 发送 更改 修改 给我 알려줘
 보내 변경 บอก ส่ง เปลี่ยน
""",
    "freeze": """
sperre sperr sperren blockiere kündige schließe blokkeer blokkeren sluit blocca bloccare chiudi
 bloquea bloquear congela cierra bloquer bloquez ferme bloqueie spær spærre luk spärra zablokuj
 zamknij zablokovat blochează bloke_et dondur kapat blokiraj blokirajte заблокируй заблокируйте
 заблокировать заблокуй μπλόκαρε أوقف جمد احظر חסום תחסום مسدود_کن ब्लॉक blokir blokirkan sekat
 i_block harangin khóa chặn бұғатта 止めて ブロック 凍結 冻结 挂失 锁定 정지 차단 อายัด ระงับ
 บล็อก
""",
    "shut": """
kündige schließe sluit chiudi chiudere cierra cerrar ferme fermer feche fechar luk lukk stäng
 zamknij zruš închide kapat zatvori закрой закройте закрий κλείσε أغلق סגור ببند बंद tutup isara
 đóng жап 閉じて 解約 关闭 注销 해지 닫아 ปิด
""",
    "card": """
karte kreditkarte kontokarte konto kaart rekening carta conto tarjeta cuenta carte cartão kort
 kortet karta kartę kartu účet card_ul kart kartımı hesabımı karticu račun карту карта счёт
 аккаунт картку κάρτα بطاقة بطاقتي حساب כרטיס חשבון کارت कार्ड खाता akun kad tài_khoản картаны
 カード 口座 卡 银行卡 账户 카드 계좌 บัตร บัญชี
""",
    "lost": """
gestohlen verloren geklaut gestolen kwijt rubata rubato persa smarrita robado robada robaron
 perdido perdida volé volée perdu perdue roubado roubada perdi stjålet mistet stulen stulet
 tappat skradziono zgubiłem ukradli ukradena ztratil furat pierdut çalındı kayboldu kaybettim
 izgubio izgubila украли потерял потеряла украдена вкрали загубив έχασα سرقت ضاعت فقدت נגנב אבד
 دزدیده گم चोरी खो dicuri hilang ninakaw nawala bị_mất đánh_cắp ұрланды жоғалттым 盗まれ 紛失
 失くし 被盗 丢了 遗失 丟了 도난 분실 잃어버 หาย ขโมย
""",
    "own_card": """
karte kreditkarte bankkarte kaart bankpas carta tarjeta carte_bancaire ma_carte cartão kort
 bankkort karta kartę kartu cardul kartım kartımı kartica karticu карту карта картку κάρτα بطاقة
 بطاقتي כרטיס کارت कार्ड kad картам カード 卡 银行卡 카드 บัตร
""",
    "grant": """
gib gewähre erteile mache mach geef verleen maak dai concedi dammi rendi concede otorga donne
 accorde dê conceda giv tildel nadaj daj przyznaj dej uděl dă acordă ver yap tanı odobri дай
 предоставь сделай выдай надай δώσε أعط امنح تن הענק بده दो beri berikan jadikan bigyan gawin бер
 与えて 付与 授予 给予 赋予 给他 给她 부여 줘 ให้สิทธิ์
""",
    "right": """
adminrechte administratorrechte zugriff zugang root_rechte beheerdersrechten toegang accesso
 amministratore acceso permisos administrador accès administrateur droits_d acesso administratør
 adgang åtkomst tilgang dostęp uprawnienia přístup práva erişim yönetici yetkisi pristup
 administratora доступ права администратора админа πρόσβαση صلاحيات وصول الوصول הרשאות גישה
 دسترسی एक्सेस एडमिन akses hak_akses quyền truy_cập рұқсат 権限 管理者 权限 管理员 訪問 访问 권한
 관리자 สิทธิ์
""",
    "give_out": """
schicke schick sende teile teil veröffentliche leite stuur deel publiceer invia condividi
 pubblica inoltra envía comparte publica reenvía envoie partage publie transfère envie
 compartilhe publique offentliggør skicka dela wyślij udostępnij pošli sdílej trimite gönder
 paylaş yayınla pošalji podeli отправь пришли опубликуй поделись перешли надішли στείλε أرسل ارسل
 شارك انشر שלח שתף فرست भेजो साझा kirim kirimkan bagikan sebarkan ipadala ibahagi gửi chia_sẻ
 жібер бөліс 送って 送信 共有 公開 发送 發送 发给 分享 公开 公布 보내 공유 공개 ส่ง แชร์ เผยแพร่
""",
    "private": """
kundendaten kundenliste patientenakten patientendaten gehälter gehaltsliste personalausweis
 reisepass vertraulich vertrauliche klantgegevens klantenlijst patiëntgegevens paspoort
 vertrouwelijke dati_dei pazienti passaporto riservati datos_de_los datos_personales pasaporte
 confidenciales pacientes confidentiels données_clients passeport dados_dos dados_pessoais
 passaporte confidenciais kundedata fortrolige kundedatabase kunduppgifter dane_klientów poufne
 osobní_údaje müşteri_verileri müşteri_listesi gizli pasaport poverljive podatke_klijenata
 паспорт персональные конфиденциальные клиентов διαβατήριο بيانات_العملاء جواز سرية דרכון סודי
 محرمانه गोपनीय pelanggan rahasia pasien paspor kumpidensyal hộ_chiếu bí_mật құпия 個人情報 顧客
 機密 患者 客户 客戶 护照 机密 隐私 病历 고객 개인정보 기밀 여권 ลูกค้า ความลับ
""",
    "fetch": """
lade herunterladen installiere installier downloade scarica scaricare installa descarga
 descargar instala télécharge télécharger installe baixe baixar instale hent hente installer
 ladda pobierz zainstaluj stáhni nainstaluj descarcă indir kur yükle preuzmi instaliraj скачай
 скачайте установи установите завантаж κατέβασε نزل حمل הורד התקן دانلود_کن डाउनलोड unduh pasang
 i_download tải_xuống жүктеп ダウンロード インストール 下载 下載 安装 安裝 다운로드 설치
 ดาวน์โหลด ติดตั้ง
""",
    "run": """
führe starte ausführen voer_uit uitvoeren esegui eseguire ejecuta ejecutar exécute exécuter
 executar kør köra kjør uruchom wykonaj spusť rulează çalıştır pokreni запусти запустите выполни
 виконай εκτέλεσε نفذ شغل הרץ اجرا_کن चलाओ jalankan patakbuhin chạy орында 実行 运行 執行 执行
 실행 เรียกใช้ รัน
""",
    "code": """
skript skripte скрипт скрипта betik komut σενάριο سكريبت סקריפט स्क्रिप्ट skrip スクリプト 脚本
 腳本 程序 스크립트 สคริปต์
""",
}
