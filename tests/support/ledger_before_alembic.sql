BEGIN TRANSACTION;
CREATE TABLE api_keys (
	id VARCHAR(40) NOT NULL, 
	name TEXT NOT NULL, 
	person TEXT NOT NULL, 
	scopes JSON NOT NULL, 
	hash VARCHAR(64) NOT NULL, 
	created_at BIGINT NOT NULL, 
	revoked_at BIGINT, 
	PRIMARY KEY (id), 
	UNIQUE (hash)
);
INSERT INTO "api_keys" VALUES('ck_019b8d9f83809393982bbd82165e7ccc','mailbox','anna','["review","route"]','b410abc60097a09f026d0f10758c720a59f0ed2d66828d706809691758191370',1767607600000000,NULL);
CREATE TABLE attempts (
	fence INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	id VARCHAR(40) NOT NULL, 
	route_id VARCHAR(40) NOT NULL, 
	number INTEGER NOT NULL, 
	worker VARCHAR(40) NOT NULL, 
	state VARCHAR(16) NOT NULL, 
	agent VARCHAR(64) NOT NULL, 
	agent_digest VARCHAR(64) NOT NULL, 
	template_digest VARCHAR(64) NOT NULL, 
	scope VARCHAR(64) NOT NULL, 
	session_key TEXT NOT NULL, 
	generation INTEGER NOT NULL, 
	timeout_s INTEGER NOT NULL, 
	launched_at BIGINT NOT NULL, 
	lease_until BIGINT NOT NULL, 
	not_after BIGINT NOT NULL, 
	acknowledged_at BIGINT, 
	started_at BIGINT, 
	ended_at BIGINT, 
	pid INTEGER, 
	exit_code INTEGER, 
	signal INTEGER, 
	run_id TEXT, 
	code TEXT, 
	detail TEXT, 
	cli_version TEXT, 
	cancel_unconfirmed BOOLEAN NOT NULL, 
	facts JSON NOT NULL, 
	late_evidence JSON, 
	UNIQUE (route_id, number), 
	UNIQUE (id), 
	FOREIGN KEY(route_id) REFERENCES routes (id)
);
INSERT INTO "attempts" VALUES(1,'at_019b8d9f83804b975fd63d4c5f168573','rt_019b8d9f838010c1c14627a9ca1e30a3',1,'wk_019b8d9f838094e554e0dd62fe037a26','done','finance','6f00e12ad8c1396e41829073aa1b692d33aff3fc8d4f67e2ca474140c944203f','a9b432479d4e5868240b6cb15d6905d77a426fa0370df0fd7a428142c76d6674','76950bc15cd81d63612d435185dadb1dde822dd8b9e43acc3d1138ae9bc33822','cm-4f8c970b8cc15527f2ececfb404afb33c9ef7533e657bebfae0e26685c627c0f',1,60,1767607600000000,1767607630000000,1767607622500000,1767607600000000,1767607600000000,1767607600000000,4242,NULL,NULL,'run-1','ok','',NULL,0,'{"raw_text":"fine"}',NULL);
INSERT INTO "attempts" VALUES(2,'at_019b8d9f83800b22c19387f86bda1e1f','rt_019b8d9f8380d9ebf6245e2b0c96e5ab',1,'wk_019b8d9f838094e554e0dd62fe037a26','failed_not_run','finance','6f00e12ad8c1396e41829073aa1b692d33aff3fc8d4f67e2ca474140c944203f','a9b432479d4e5868240b6cb15d6905d77a426fa0370df0fd7a428142c76d6674','bcd603cfcade2357c2c2d6a76544ef8a1d6fddf1fbba008559315c93a2966b9d','cm-4a4e02c3455c0326723fe623b9b82c2cb140ff48fc41c50e484e43759c7ec794',1,60,1767607600000000,1767607630000000,1767607622500000,1767607600000000,1767607600000000,1767607600000000,4242,NULL,NULL,NULL,'agent-unknown','',NULL,0,'{}',NULL);
INSERT INTO "attempts" VALUES(3,'at_019b8d9f8380d3ed5341b322dd9a6b76','rt_019b8d9f8380a67dab5f24a7acdac840',1,'wk_019b8d9f838094e554e0dd62fe037a26','failed_ran','finance','6f00e12ad8c1396e41829073aa1b692d33aff3fc8d4f67e2ca474140c944203f','a9b432479d4e5868240b6cb15d6905d77a426fa0370df0fd7a428142c76d6674','e752ef715e0797a5139a8e57b9f28477a6fc16aae0b9915e0a46cec66e7ee036','cm-6394d6f162cc94bce41ed4626db789af11b714c233fe2f524076b46cdd3ff1e0',1,60,1767607600000000,1767607630000000,1767607622500000,1767607600000000,1767607600000000,1767607600000000,4242,NULL,NULL,NULL,'timeout','',NULL,0,'{}',NULL);
INSERT INTO "attempts" VALUES(4,'at_019b8d9f83807eee203d0db93488c33d','rt_019b8d9f8380cd8ae7edbc9c3d473eb2',1,'wk_019b8d9f838094e554e0dd62fe037a26','unknown','finance','6f00e12ad8c1396e41829073aa1b692d33aff3fc8d4f67e2ca474140c944203f','a9b432479d4e5868240b6cb15d6905d77a426fa0370df0fd7a428142c76d6674','cadb9beb7cc79aeba8288fa658869e3b13fc31e24dd15aeefcb5fe285aac6bd0','cm-fae3a871cca7725188293fc55cf1c39fdd6481f0a65bb38f8fe11f06b8692cea',1,60,1767607600000000,1767607630000000,1767607622500000,1767607600000000,1767607600000000,1767607600000000,4242,NULL,NULL,NULL,'cut','',NULL,0,'{}',NULL);
INSERT INTO "attempts" VALUES(5,'at_019b8d9f8380597622a6d7d58395e424','rt_019b8d9f8380c77f0b0f517b730d35ab',1,'wk_019b8d9f838094e554e0dd62fe037a26','done','finance','6f00e12ad8c1396e41829073aa1b692d33aff3fc8d4f67e2ca474140c944203f','a9b432479d4e5868240b6cb15d6905d77a426fa0370df0fd7a428142c76d6674','bbd2030ee59528125f13120a701b74ebdc24a2d21ef70b3f9883d29c6df6230b','cm-d7603b6399337bbd05ff6841c6d0fbe46f518936edad730f29cca031f95d47d2',1,60,1767607600000000,1767607630000000,1767607622500000,1767607600000000,1767607600000000,1767607600000000,4243,NULL,NULL,'run-1','ok','',NULL,0,'{"raw_text":"fine"}',NULL);
INSERT INTO "attempts" VALUES(6,'at_019b8d9f8380dd77bd0d8212f99fc34c','rt_019b8d9f8380a86ccc07677ef20510af',1,'wk_019b8d9f838094e554e0dd62fe037a26','launching','finance','6f00e12ad8c1396e41829073aa1b692d33aff3fc8d4f67e2ca474140c944203f','a9b432479d4e5868240b6cb15d6905d77a426fa0370df0fd7a428142c76d6674','a51235068ec91fe1622e9edd51ee4686629b61a2374d520f2a30a31ccb17798b','cm-4a20711db6bc0b57640f60b609191fab9ca748d9fc027d3e531181e83760d27f',1,60,1767607600000000,1767607630000000,1767607622500000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,'{}',NULL);
INSERT INTO "attempts" VALUES(7,'at_019b8d9f838020deddc07642b697eb7b','rt_019b8d9f8380b7722d657c513961b2cb',1,'wk_019b8d9f838094e554e0dd62fe037a26','running','security','994eb2d1be81f69ef0f2bd169fba0a3e1c4f340feea458f876ffa3809aab868c','a9b432479d4e5868240b6cb15d6905d77a426fa0370df0fd7a428142c76d6674','efcccfc642c581531e7d5dd8ee0d8c659d339a89791e0867e47bfc693de539a9','cm-51e6003b2fe96095a7f286d2f12705e930d388947b1675ea915ae50ea910ae22',1,60,1767607600000000,1767607630000000,1767607622500000,NULL,1767607600000000,NULL,4242,NULL,NULL,NULL,NULL,NULL,NULL,0,'{}',NULL);
CREATE TABLE events (
	number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	chain VARCHAR(40) NOT NULL, 
	ordinal INTEGER NOT NULL, 
	at BIGINT NOT NULL, 
	actor TEXT NOT NULL, 
	address TEXT, 
	kind VARCHAR(32) NOT NULL, 
	facts TEXT NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	UNIQUE (chain, ordinal)
);
INSERT INTO "events" VALUES(1,'rt_019b8d627a80877f069092cd1041e8fd',1,1767603600000000,'owner:carla',NULL,'received','{"bytes":9,"identified_by":[],"mode":"dispatch","text":"466cf61ab2567e2b120c1fb79a3f9a792fbdff97981e6993074e7e43f5bdf38c"}','1e34ede3d261e669bf719a2272ca7ade128119cde9958660bb6315cf59bace1f');
INSERT INTO "events" VALUES(2,'rt_019b8d627a80877f069092cd1041e8fd',2,1767603600000000,'service',NULL,'decided','{"agent":"finance","from":"received","model":"scripted","outcome":"hold","reasons":["risk"],"risk":"low","roster":"1111111111111111111111111111111111111111111111111111111111111111","via":"model"}','97f46ebd6887cab86ae57a0324e571ce7c0657a04b95c4f8d5c8ec29b96a2300');
INSERT INTO "events" VALUES(3,'rt_019b8d627a80877f069092cd1041e8fd',3,1767603600000000,'service',NULL,'held','{"digest":"f534c41c2805d69b22f28853e03a88bea65c221ea7e33ef0ddb084b8b6325523","from":"decided","hold":"hd_019b8d627a80a05552e6a4146819014d"}','ce4a30d6491b0f4534ac7efe7e48dc377e07790b785a43d69f01d7f7ca5c1883');
INSERT INTO "events" VALUES(4,'rt_019b8d627a80877f069092cd1041e8fd',4,1767607600000000,'service',NULL,'expired','{"from":"held","hold":"hd_019b8d627a80a05552e6a4146819014d"}','031dd8eb08975b59748337685b4942288f479d83640ec1dbeb24e0ca5164a1bc');
INSERT INTO "events" VALUES(5,'rt_019b8d9f8380afa9886542aa5bcc2dfe',1,1767607600000000,'owner:carla',NULL,'received','{"bytes":8,"identified_by":["key","message_id"],"mode":"dispatch","text":"e68ace8c121176f19f400cc48c4ea0ecba301effdf20217ff12ca875f7ea3e3e"}','f85056e7c83e2676e5752a4a537008ace3ca3e34d3872243cd1c0b08316ed51f');
INSERT INTO "events" VALUES(6,'rt_019b8d9f838022e8d5e77bf0963165e4',1,1767607600000000,'owner:carla',NULL,'received','{"bytes":7,"identified_by":[],"mode":"decide","text":"e803149ef5b2bb59d70a3dfe2e6c371313216269bf60b953dc3a4c0de63c2001"}','47a8e18f44ee5fe37cd1a89b9ef32367f50fd2819cad78166e75407cbd4a1bf9');
INSERT INTO "events" VALUES(7,'rt_019b8d9f838022e8d5e77bf0963165e4',2,1767607600000000,'service',NULL,'decided','{"agent":"finance","from":"received","model":"scripted","outcome":"dispatch","reasons":["matched"],"risk":"low","roster":"1111111111111111111111111111111111111111111111111111111111111111","via":"model"}','17247cccd3a9e7a590a3963bb7d8b880a3a0caaaf0d4db078e3ac0f884c82a43');
INSERT INTO "events" VALUES(8,'rt_019b8d9f838072e98a9e24209f499ceb',1,1767607600000000,'owner:carla',NULL,'received','{"bytes":7,"identified_by":[],"mode":"dispatch","text":"50072bc2818fc17647b9870e7a8a123a408fe48fc9f55754955d061e72ecdf2a"}','42b3aeaba0dd70cb3c469e80ef7f68bcb3fe617b428964f1acc8083b7c1e7772');
INSERT INTO "events" VALUES(9,'rt_019b8d9f838072e98a9e24209f499ceb',2,1767607600000000,'service',NULL,'decided','{"agent":null,"from":"received","model":"scripted","outcome":"clarify","reasons":["uncertain"],"risk":"low","roster":"1111111111111111111111111111111111111111111111111111111111111111","via":"model"}','920930c3287bd69a1479db33fa18d29d2ae2d07d30a353c4cc853d49a4d82dd2');
INSERT INTO "events" VALUES(10,'rt_019b8d9f838072e98a9e24209f499ceb',3,1767607600000000,'service',NULL,'clarify','{"from":"decided"}','2f91d5dd44dbf58265dc0e6e42e8b4bc8e9a152cde9d957887221c7733386349');
INSERT INTO "events" VALUES(11,'rt_019b8d9f838015b1eadf2390259e7c91',1,1767607600000000,'owner:carla',NULL,'received','{"bytes":8,"identified_by":[],"mode":"dispatch","text":"44a7b917b870a4d7ae98a0703bffc25b0ab0da9699fd79b23eb2593c7b0f9037"}','8d025e00879b7be14d58910a04f2cb606096d046ac40a75b31985064563c9995');
INSERT INTO "events" VALUES(12,'rt_019b8d9f838015b1eadf2390259e7c91',2,1767607600000000,'service',NULL,'decided','{"agent":null,"from":"received","model":"scripted","outcome":"decline","reasons":["no_match"],"risk":"low","roster":"1111111111111111111111111111111111111111111111111111111111111111","via":"model"}','19d1b308764b2614bcedaa808908557a2a5b8950f4ae2fa1358d3bc4e89baf6e');
INSERT INTO "events" VALUES(13,'rt_019b8d9f838015b1eadf2390259e7c91',3,1767607600000000,'service',NULL,'declined','{"from":"decided"}','88e116d9d63fb997dcf619d790bc0a6abe85b70e9c274175e3e3ce73c3173f59');
INSERT INTO "events" VALUES(14,'rt_019b8d9f8380ac23add6cd0c262089cb',1,1767607600000000,'owner:carla',NULL,'received','{"bytes":4,"identified_by":[],"mode":"dispatch","text":"f1fbcb7356528d1419c35e1cf19009e24dba9bd99a60662fee1df648da2a8732"}','b95d0c2fb0df3b142c311ba10575ebb3a5e5ff4bd325516234d6df60e1d3dfc1');
INSERT INTO "events" VALUES(15,'rt_019b8d9f8380ac23add6cd0c262089cb',2,1767607600000000,'service',NULL,'decided','{"agent":"finance","from":"received","model":"scripted","outcome":"hold","reasons":["risk"],"risk":"high","roster":"1111111111111111111111111111111111111111111111111111111111111111","via":"model"}','349acd498f48591378de7a7432c2c60b4c4e466d0d31059ab5afa4f96ed93065');
INSERT INTO "events" VALUES(16,'rt_019b8d9f8380ac23add6cd0c262089cb',3,1767607600000000,'service',NULL,'held','{"digest":"94802899bea4f13ec014ce7c317ea5e09966b120177e2e93e531ecd104e1140f","from":"decided","hold":"hd_019b8d9f8380b3e094feb56bc8fcc30e"}','0a69803d753cdef635fac5defe08aec0fb179863a01f45989a536a9ea1c46224');
INSERT INTO "events" VALUES(17,'rt_019b8d9f8380f6d66dbe9f1a87b2e158',1,1767607600000000,'owner:carla',NULL,'received','{"bytes":8,"identified_by":[],"mode":"dispatch","text":"b7ad333eebc2c07df4e1dc58fbc87752079235982f46f9b33b5182c6915b23a5"}','50c355c20939a68e86f49f1390e6748f9f405e6da198746aa82183fde0750d4c');
INSERT INTO "events" VALUES(18,'rt_019b8d9f8380f6d66dbe9f1a87b2e158',2,1767607600000000,'service',NULL,'decided','{"agent":"finance","from":"received","model":"scripted","outcome":"hold","reasons":["risk"],"risk":"high","roster":"1111111111111111111111111111111111111111111111111111111111111111","via":"model"}','d9ef059a05a50f1dfb6cd5cbc029ba69c9e6b84c41c1754d2d2a9e10b56d2abc');
INSERT INTO "events" VALUES(19,'rt_019b8d9f8380f6d66dbe9f1a87b2e158',3,1767607600000000,'service',NULL,'held','{"digest":"4c8ed5e3a96658f56742245a1ca60dff8ea2ebb1ecde9fd613c797a067e2473c","from":"decided","hold":"hd_019b8d9f83801978d61848fdc8727e45"}','3a33661bd40105ab97b07f230d7cef349af5a5364ec60d959e48421b653da06a');
INSERT INTO "events" VALUES(20,'rt_019b8d9f8380f6d66dbe9f1a87b2e158',4,1767607600000000,'person:anna','127.0.0.1','rejected','{"from":"held","hold":"hd_019b8d9f83801978d61848fdc8727e45","key":"ck_anna"}','f1ce339fbb7c02a3dbf8a5434f444614826799418620a2ca260a2b818af1c35f');
INSERT INTO "events" VALUES(21,'rt_019b8d9f838025765eb496a5129d4595',1,1767607600000000,'owner:carla',NULL,'received','{"bytes":9,"identified_by":[],"mode":"dispatch","text":"09a00e723d962819b6982c3fc5183587d76d7ed510236695c6e0590f7a306448"}','b757ffc3a1ba4101fd98fd9110de6029c06dc44651c90aa4c01f4c6e9582e6d3');
INSERT INTO "events" VALUES(22,'rt_019b8d9f838025765eb496a5129d4595',2,1767607600000000,'service',NULL,'decided','{"agent":"finance","from":"received","model":"scripted","outcome":"dispatch","reasons":["matched"],"risk":"low","roster":"1111111111111111111111111111111111111111111111111111111111111111","via":"model"}','699a9521d5d6098bfed0997f00b46c74780d7d41d707d865429baa197ac128ed');
INSERT INTO "events" VALUES(23,'rt_019b8d9f838025765eb496a5129d4595',3,1767607600000000,'service',NULL,'ready','{"from":"decided"}','4716558a56b05ab8165d4c2ae57b6183070a73251e50a54e6c1236fc607794d4');
INSERT INTO "events" VALUES(24,'rt_019b8d9f838025765eb496a5129d4595',4,1767607600000000,'person:bela',NULL,'cancelled','{"from":"ready","key":"ck_bela"}','7ea55da19ebf0997a19979d2d034e36df8576c40405001566ba5eba9ca39ab60');
INSERT INTO "events" VALUES(25,'rt_019b8d9f838010c1c14627a9ca1e30a3',1,1767607600000000,'owner:carla',NULL,'received','{"bytes":4,"identified_by":[],"mode":"dispatch","text":"693e12215f04eafe6328e839f1e720f50413002f812ac83760ccaa6d21ce3897"}','8cbcf97a8ac34cb577456141c5b6085be86eb7d2e67987b7c67f337b11a1647e');
INSERT INTO "events" VALUES(26,'rt_019b8d9f838010c1c14627a9ca1e30a3',2,1767607600000000,'service',NULL,'decided','{"agent":"finance","from":"received","model":"scripted","outcome":"dispatch","reasons":["matched"],"risk":"low","roster":"1111111111111111111111111111111111111111111111111111111111111111","via":"model"}','254e6ead4ac1deef72b1e2bd62a3583678659f42de59a45c73d1d4c2b7bd58de');
INSERT INTO "events" VALUES(27,'rt_019b8d9f838010c1c14627a9ca1e30a3',3,1767607600000000,'service',NULL,'ready','{"from":"decided"}','76154fb131f1c72c714caf7ed3fdf9f4e4c570af9cbd9cc328725441988bc0ad');
INSERT INTO "events" VALUES(28,'rt_019b8d9f838010c1c14627a9ca1e30a3',4,1767607600000000,'worker:wk_019b8d9f838094e554e0dd62fe037a26',NULL,'launching','{"agent":"finance","agent_digest":"6f00e12ad8c1396e41829073aa1b692d33aff3fc8d4f67e2ca474140c944203f","attempt":"at_019b8d9f83804b975fd63d4c5f168573","fence":1,"from":"ready","generation":1,"number":1,"session_key":"cm-4f8c970b8cc15527f2ececfb404afb33c9ef7533e657bebfae0e26685c627c0f","template_digest":"a9b432479d4e5868240b6cb15d6905d77a426fa0370df0fd7a428142c76d6674"}','8ce2615f53a7ec641ff65026dd9c8c77b880070eb9507018889f1e620796d9bf');
INSERT INTO "events" VALUES(29,'rt_019b8d9f838010c1c14627a9ca1e30a3',5,1767607600000000,'worker:wk_019b8d9f838094e554e0dd62fe037a26',NULL,'running','{"attempt":"at_019b8d9f83804b975fd63d4c5f168573","from":"launching","pid":4242}','274f59aea99f2d42a4405c1292dbd5158912422df42c8586d0cb607bc77c6cfc');
INSERT INTO "events" VALUES(30,'rt_019b8d9f838010c1c14627a9ca1e30a3',6,1767607600000000,'worker:wk_019b8d9f838094e554e0dd62fe037a26',NULL,'done','{"attempt":"at_019b8d9f83804b975fd63d4c5f168573","cancel_unconfirmed":false,"code":"ok","exit_code":null,"from":"running","run_id":"run-1","signal":null,"tool_sends":0}','f2eceb02113bafac9d20aa9ad7f70be9259bfbee8f5ecf617f5eeea808f12f47');
INSERT INTO "events" VALUES(31,'rt_019b8d9f8380d9ebf6245e2b0c96e5ab',1,1767607600000000,'owner:carla',NULL,'received','{"bytes":6,"identified_by":[],"mode":"dispatch","text":"b98c5347a7cd56fc5dd30e5b83333aeacc7ba4655031e3de5c52a93c31f1b12f"}','19020f0267cb97d8367009f9ad444a727763aeccd49c2adc283267b6f5acaf45');
INSERT INTO "events" VALUES(32,'rt_019b8d9f8380d9ebf6245e2b0c96e5ab',2,1767607600000000,'service',NULL,'decided','{"agent":"finance","from":"received","model":"scripted","outcome":"dispatch","reasons":["matched"],"risk":"low","roster":"1111111111111111111111111111111111111111111111111111111111111111","via":"model"}','d8fc95803e27984db538a536851ff792aababf1869653a53cec60e913a4d75c3');
INSERT INTO "events" VALUES(33,'rt_019b8d9f8380d9ebf6245e2b0c96e5ab',3,1767607600000000,'service',NULL,'ready','{"from":"decided"}','ff696fbc6dc388a045b3b50c879069bb98d3adeb2c28be105cb5274e6b3c4926');
INSERT INTO "events" VALUES(34,'rt_019b8d9f8380d9ebf6245e2b0c96e5ab',4,1767607600000000,'worker:wk_019b8d9f838094e554e0dd62fe037a26',NULL,'launching','{"agent":"finance","agent_digest":"6f00e12ad8c1396e41829073aa1b692d33aff3fc8d4f67e2ca474140c944203f","attempt":"at_019b8d9f83800b22c19387f86bda1e1f","fence":2,"from":"ready","generation":1,"number":1,"session_key":"cm-4a4e02c3455c0326723fe623b9b82c2cb140ff48fc41c50e484e43759c7ec794","template_digest":"a9b432479d4e5868240b6cb15d6905d77a426fa0370df0fd7a428142c76d6674"}','25985f5ce7086549a6044cdb3dd147a36b31b38192db1a376d0a36c63f90783a');
INSERT INTO "events" VALUES(35,'rt_019b8d9f8380d9ebf6245e2b0c96e5ab',5,1767607600000000,'worker:wk_019b8d9f838094e554e0dd62fe037a26',NULL,'running','{"attempt":"at_019b8d9f83800b22c19387f86bda1e1f","from":"launching","pid":4242}','0fc38bd093404483b84bf913ee9cfa23918589ee6e8ba00b63a21863db91a153');
INSERT INTO "events" VALUES(36,'rt_019b8d9f8380d9ebf6245e2b0c96e5ab',6,1767607600000000,'worker:wk_019b8d9f838094e554e0dd62fe037a26',NULL,'failed','{"attempt":"at_019b8d9f83800b22c19387f86bda1e1f","cancel_unconfirmed":false,"code":"agent-unknown","exit_code":null,"from":"running","run_id":null,"signal":null,"tool_sends":0}','df0e86ed0c48e62b560d7d1fa75e1af4c92abbe8fd2b09e00c7a75da1e143b61');
INSERT INTO "events" VALUES(37,'rt_019b8d9f8380a67dab5f24a7acdac840',1,1767607600000000,'owner:carla',NULL,'received','{"bytes":14,"identified_by":[],"mode":"dispatch","text":"cdc805bf5ac963f0361e490d2a97a46e9ce67811ce63fad685554684905dfbfd"}','e9e1bd750d929ad6cadf5f79be1815ec55a8af1a9c1278f04ee0066fd1bb9dd1');
INSERT INTO "events" VALUES(38,'rt_019b8d9f8380a67dab5f24a7acdac840',2,1767607600000000,'service',NULL,'decided','{"agent":"finance","from":"received","model":"scripted","outcome":"dispatch","reasons":["matched"],"risk":"low","roster":"1111111111111111111111111111111111111111111111111111111111111111","via":"model"}','95e49ea1312610a71cdeb37cb930f5f67cd6155b2257f22dd3894220cf1ddabc');
INSERT INTO "events" VALUES(39,'rt_019b8d9f8380a67dab5f24a7acdac840',3,1767607600000000,'service',NULL,'ready','{"from":"decided"}','bb67427b72999716ecaaa414b42e71f68cc3cc9592bd9bb5c68ab03135ad66bc');
INSERT INTO "events" VALUES(40,'rt_019b8d9f8380a67dab5f24a7acdac840',4,1767607600000000,'worker:wk_019b8d9f838094e554e0dd62fe037a26',NULL,'launching','{"agent":"finance","agent_digest":"6f00e12ad8c1396e41829073aa1b692d33aff3fc8d4f67e2ca474140c944203f","attempt":"at_019b8d9f8380d3ed5341b322dd9a6b76","fence":3,"from":"ready","generation":1,"number":1,"session_key":"cm-6394d6f162cc94bce41ed4626db789af11b714c233fe2f524076b46cdd3ff1e0","template_digest":"a9b432479d4e5868240b6cb15d6905d77a426fa0370df0fd7a428142c76d6674"}','d1477ece2903a13eb95735a280f9f1e169b7c0f5f81b2e502a32c9998c705af8');
INSERT INTO "events" VALUES(41,'rt_019b8d9f8380a67dab5f24a7acdac840',5,1767607600000000,'worker:wk_019b8d9f838094e554e0dd62fe037a26',NULL,'running','{"attempt":"at_019b8d9f8380d3ed5341b322dd9a6b76","from":"launching","pid":4242}','7def2ee418f8b657fdeae5d097316857a5f49dc0dc3d79c03655226c453df69e');
INSERT INTO "events" VALUES(42,'rt_019b8d9f8380a67dab5f24a7acdac840',6,1767607600000000,'worker:wk_019b8d9f838094e554e0dd62fe037a26',NULL,'failed','{"attempt":"at_019b8d9f8380d3ed5341b322dd9a6b76","cancel_unconfirmed":false,"code":"timeout","exit_code":null,"from":"running","run_id":null,"signal":null,"tool_sends":0}','dd93f3c969d969cb3ef8fcda8eb535c6302fd4a7e8d3c639d0f4bd15fd69d0ec');
INSERT INTO "events" VALUES(43,'rt_019b8d9f8380cd8ae7edbc9c3d473eb2',1,1767607600000000,'owner:carla',NULL,'received','{"bytes":7,"identified_by":[],"mode":"dispatch","text":"3c727001626d797af2995ad46edaa00caa3a07f131eb43ec9d2cff367ddaa8d0"}','e9f41a1e2fcb286e5d3fe75a5a288a71e1a4b5c96f6663346b86223838e07a94');
INSERT INTO "events" VALUES(44,'rt_019b8d9f8380cd8ae7edbc9c3d473eb2',2,1767607600000000,'service',NULL,'decided','{"agent":"finance","from":"received","model":"scripted","outcome":"dispatch","reasons":["matched"],"risk":"low","roster":"1111111111111111111111111111111111111111111111111111111111111111","via":"model"}','7ec66d006d8e2320cb12d913aa6f132e602c220955642367d99df17779576303');
INSERT INTO "events" VALUES(45,'rt_019b8d9f8380cd8ae7edbc9c3d473eb2',3,1767607600000000,'service',NULL,'ready','{"from":"decided"}','bd2ef8835806a53c2be19d3f7ea9472ef3a15e6cb35132633a017760dd04fb16');
INSERT INTO "events" VALUES(46,'rt_019b8d9f8380cd8ae7edbc9c3d473eb2',4,1767607600000000,'worker:wk_019b8d9f838094e554e0dd62fe037a26',NULL,'launching','{"agent":"finance","agent_digest":"6f00e12ad8c1396e41829073aa1b692d33aff3fc8d4f67e2ca474140c944203f","attempt":"at_019b8d9f83807eee203d0db93488c33d","fence":4,"from":"ready","generation":1,"number":1,"session_key":"cm-fae3a871cca7725188293fc55cf1c39fdd6481f0a65bb38f8fe11f06b8692cea","template_digest":"a9b432479d4e5868240b6cb15d6905d77a426fa0370df0fd7a428142c76d6674"}','0ea9470075c3f96c6570368d76413c7168ec412d5f11b8ddaff0725a24fd1ce6');
INSERT INTO "events" VALUES(47,'rt_019b8d9f8380cd8ae7edbc9c3d473eb2',5,1767607600000000,'worker:wk_019b8d9f838094e554e0dd62fe037a26',NULL,'running','{"attempt":"at_019b8d9f83807eee203d0db93488c33d","from":"launching","pid":4242}','d107b85d700109db56b813c46fc291e1fde4706be679cb2b36f517c414a6a9c5');
INSERT INTO "events" VALUES(48,'rt_019b8d9f8380cd8ae7edbc9c3d473eb2',6,1767607600000000,'worker:wk_019b8d9f838094e554e0dd62fe037a26',NULL,'unknown','{"attempt":"at_019b8d9f83807eee203d0db93488c33d","cancel_unconfirmed":false,"code":"cut","exit_code":null,"from":"running","run_id":null,"signal":null,"tool_sends":0}','3fc3d9a9d824722549c84e1b24fe157127b2668dd4afabdbeaf54326f216b78e');
INSERT INTO "events" VALUES(49,'rt_019b8d9f8380c77f0b0f517b730d35ab',1,1767607600000000,'owner:carla',NULL,'received','{"bytes":18,"identified_by":[],"mode":"dispatch","text":"03cdcde296824a293d71689033b059a61ecbab352c4a820057717a92b85606a5"}','cefeab8d4f97f5f0b47aaf07c58f1898050cd6a362be1267ae0c5e93dc60805f');
INSERT INTO "events" VALUES(50,'rt_019b8d9f8380c77f0b0f517b730d35ab',2,1767607600000000,'service',NULL,'decided','{"agent":"finance","from":"received","model":"scripted","outcome":"hold","reasons":["risk"],"risk":"high","roster":"1111111111111111111111111111111111111111111111111111111111111111","via":"model"}','e0c940b20d3330aeea1619da472f832085b83a35be43c1a0d0036ee8abfe472c');
INSERT INTO "events" VALUES(51,'rt_019b8d9f8380c77f0b0f517b730d35ab',3,1767607600000000,'service',NULL,'held','{"digest":"8f5e2277f0a6527e187c518304d21ef350a9c12ead94436f74f8bb0897f46272","from":"decided","hold":"hd_019b8d9f838046b376ec8cb78a408f19"}','a2f96f3ee977cd2a60dad9c897a1b185b4e74fe1e562af457c9e5462b4037e46');
INSERT INTO "events" VALUES(52,'rt_019b8d9f8380c77f0b0f517b730d35ab',4,1767607600000000,'person:anna','127.0.0.1','approved','{"agent":"finance","answered":["risk"],"digest":"8f5e2277f0a6527e187c518304d21ef350a9c12ead94436f74f8bb0897f46272","from":"held","hold":"hd_019b8d9f838046b376ec8cb78a408f19","key":"ck_anna","note":true}','bf487ade77b3bed501581439b73366a3545e1e2f3d0d8c4a0a54ee00be9bb953');
INSERT INTO "events" VALUES(53,'rt_019b8d9f8380c77f0b0f517b730d35ab',5,1767607600000000,'service',NULL,'ready','{"from":"approved"}','c202fea71f5dda013b9bdf5684ec1dcc3ca1586b412252628c8236406bd9c3b1');
INSERT INTO "events" VALUES(54,'rt_019b8d9f8380c77f0b0f517b730d35ab',6,1767607600000000,'worker:wk_019b8d9f838094e554e0dd62fe037a26',NULL,'launching','{"agent":"finance","agent_digest":"6f00e12ad8c1396e41829073aa1b692d33aff3fc8d4f67e2ca474140c944203f","attempt":"at_019b8d9f8380597622a6d7d58395e424","fence":5,"from":"ready","generation":1,"number":1,"session_key":"cm-d7603b6399337bbd05ff6841c6d0fbe46f518936edad730f29cca031f95d47d2","template_digest":"a9b432479d4e5868240b6cb15d6905d77a426fa0370df0fd7a428142c76d6674"}','567bb016d2ef3a211dda51d9b5dae1c5d62a802ff6ddabb41bca65c9323dc995');
INSERT INTO "events" VALUES(55,'rt_019b8d9f8380c77f0b0f517b730d35ab',7,1767607600000000,'worker:wk_019b8d9f838094e554e0dd62fe037a26',NULL,'running','{"attempt":"at_019b8d9f8380597622a6d7d58395e424","from":"launching","pid":4243}','0e11601ca03ff6ecdeb60b97d5eb4e46e6be55a8005cc359342068d6f8855ae1');
INSERT INTO "events" VALUES(56,'rt_019b8d9f8380c77f0b0f517b730d35ab',8,1767607600000000,'worker:wk_019b8d9f838094e554e0dd62fe037a26',NULL,'done','{"attempt":"at_019b8d9f8380597622a6d7d58395e424","cancel_unconfirmed":false,"code":"ok","exit_code":null,"from":"running","run_id":"run-1","signal":null,"tool_sends":0}','529551b94472b7ff4c42746f35a48a349ae9c4a442e4d77a6b8df308deb88769');
INSERT INTO "events" VALUES(57,'rt_019b8d9f8380a86ccc07677ef20510af',1,1767607600000000,'owner:carla',NULL,'received','{"bytes":9,"identified_by":[],"mode":"dispatch","text":"c92be38e810e251070a499245dd3389886dd42ccc8d6a527f767b00cd7c6c766"}','69f5940d5e229dcb6442546c1df86b6c2242aced8b1cc6baa26d5c3a7028234b');
INSERT INTO "events" VALUES(58,'rt_019b8d9f8380a86ccc07677ef20510af',2,1767607600000000,'service',NULL,'decided','{"agent":"finance","from":"received","model":"scripted","outcome":"dispatch","reasons":["matched"],"risk":"low","roster":"1111111111111111111111111111111111111111111111111111111111111111","via":"model"}','eb3c38daf4e6f4784d7b05663f28ab9d8a0b4c6cfb0cd22290ab471fd8c25ab3');
INSERT INTO "events" VALUES(59,'rt_019b8d9f8380a86ccc07677ef20510af',3,1767607600000000,'service',NULL,'ready','{"from":"decided"}','5c633c97e5ea07bb5893179ad55e4679010a3c249883a738b129bf2cdac33860');
INSERT INTO "events" VALUES(60,'rt_019b8d9f8380a86ccc07677ef20510af',4,1767607600000000,'worker:wk_019b8d9f838094e554e0dd62fe037a26',NULL,'launching','{"agent":"finance","agent_digest":"6f00e12ad8c1396e41829073aa1b692d33aff3fc8d4f67e2ca474140c944203f","attempt":"at_019b8d9f8380dd77bd0d8212f99fc34c","fence":6,"from":"ready","generation":1,"number":1,"session_key":"cm-4a20711db6bc0b57640f60b609191fab9ca748d9fc027d3e531181e83760d27f","template_digest":"a9b432479d4e5868240b6cb15d6905d77a426fa0370df0fd7a428142c76d6674"}','34b15a5eaf154d124b54f02e002243586a298bff07f333b3b3570cbdc29a7234');
INSERT INTO "events" VALUES(61,'rt_019b8d9f8380b7722d657c513961b2cb',1,1767607600000000,'owner:carla',NULL,'received','{"bytes":7,"identified_by":[],"mode":"dispatch","text":"3e5711a9567d05a4fe233339cd8d25c76630234d7516e225ee164460479d265c"}','9887ca02703fdac7b9992d540621445c0396d1f964347fc091e814c00a6f5c2c');
INSERT INTO "events" VALUES(62,'rt_019b8d9f8380b7722d657c513961b2cb',2,1767607600000000,'service',NULL,'decided','{"agent":"security","from":"received","model":"scripted","outcome":"dispatch","reasons":["matched"],"risk":"low","roster":"1111111111111111111111111111111111111111111111111111111111111111","via":"model"}','37015ee53e910fd487a87ea856cbdc5312f5d494da04371cc225a4a2e42a3f4f');
INSERT INTO "events" VALUES(63,'rt_019b8d9f8380b7722d657c513961b2cb',3,1767607600000000,'service',NULL,'ready','{"from":"decided"}','957711cea0a24f4a83c28977b4c6b42f7ae0f283eb27cd965e04718349ca4f60');
INSERT INTO "events" VALUES(64,'rt_019b8d9f8380b7722d657c513961b2cb',4,1767607600000000,'worker:wk_019b8d9f838094e554e0dd62fe037a26',NULL,'launching','{"agent":"security","agent_digest":"994eb2d1be81f69ef0f2bd169fba0a3e1c4f340feea458f876ffa3809aab868c","attempt":"at_019b8d9f838020deddc07642b697eb7b","fence":7,"from":"ready","generation":1,"number":1,"session_key":"cm-51e6003b2fe96095a7f286d2f12705e930d388947b1675ea915ae50ea910ae22","template_digest":"a9b432479d4e5868240b6cb15d6905d77a426fa0370df0fd7a428142c76d6674"}','9b07594140412290de599946f1ad27cbb1370dc3ec2f3a657924b802bb489dd3');
INSERT INTO "events" VALUES(65,'rt_019b8d9f8380b7722d657c513961b2cb',5,1767607600000000,'worker:wk_019b8d9f838094e554e0dd62fe037a26',NULL,'running','{"attempt":"at_019b8d9f838020deddc07642b697eb7b","from":"launching","pid":4242}','dadf3374c425a2c91e56496979a6487ada8ff0333b3171aa62ec478aa565788e');
INSERT INTO "events" VALUES(66,'rt_019b8d9f8380b1b659932661d908a0e5',1,1767607600000000,'owner:carla',NULL,'received','{"bytes":18,"identified_by":[],"mode":"dispatch","text":"6d3519a46330315ce0676e177acf79a7364adff0ccab39e751b0f4d83974a666"}','df58734e220b8c636de7d7a78155f4ff93e9d7da48752c32ed0ea6c58e40c7e2');
INSERT INTO "events" VALUES(67,'rt_019b8d9f8380b1b659932661d908a0e5',2,1767607600000000,'service',NULL,'decided','{"agent":"finance","from":"received","model":"scripted","outcome":"hold","reasons":["risk"],"risk":"high","roster":"1111111111111111111111111111111111111111111111111111111111111111","via":"model"}','e097e64fd8922aa57b9c10e21c6cd415f136438b7f9c0cab454083e875a6b68d');
INSERT INTO "events" VALUES(68,'rt_019b8d9f8380b1b659932661d908a0e5',3,1767607600000000,'service',NULL,'held','{"digest":"86da34952fe4475abacbbe43982960ca373a80dd7af3dc3c0c08d8847ababdf6","from":"decided","hold":"hd_019b8d9f83809ccb16df8b76404ebdb0"}','d7d781559776afbc7784f09e8ef67e4d2c19dea9b5eff3bb54cf665446cf0669');
INSERT INTO "events" VALUES(69,'rt_019b8d9f8380b1b659932661d908a0e5',4,1767607600000000,'person:bela',NULL,'approved','{"agent":"finance","answered":["risk"],"digest":"86da34952fe4475abacbbe43982960ca373a80dd7af3dc3c0c08d8847ababdf6","from":"held","hold":"hd_019b8d9f83809ccb16df8b76404ebdb0","key":"ck_bela","note":false}','13e25e565916a0222244a7688320e9e2348aa70b735abad346fad870487098cd');
INSERT INTO "events" VALUES(70,'rt_019b8d9f8380b1b659932661d908a0e5',5,1767607600000000,'service',NULL,'ready','{"from":"approved"}','26d55b9de126cea774802b4ce68653a6eac3ed7efdbcf7b0a8b563f842d1a898');
INSERT INTO "events" VALUES(71,'ck_019b8d9f83809393982bbd82165e7ccc',1,1767607600000000,'service',NULL,'key_created','{"name":"mailbox","person":"anna","scopes":["review","route"]}','c92c389bb4585cd01a03215f30ccce61fe851898fd621a6d68ded2a5238c7c83');
CREATE TABLE holds (
	number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	id VARCHAR(40) NOT NULL, 
	route_id VARCHAR(40) NOT NULL, 
	owner TEXT NOT NULL, 
	state VARCHAR(16) NOT NULL, 
	suggestion VARCHAR(64), 
	reason VARCHAR(64) NOT NULL, 
	gates JSON NOT NULL, 
	risk VARCHAR(16) NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	created_at BIGINT NOT NULL, 
	expires_at BIGINT, 
	decision VARCHAR(16), 
	agent VARCHAR(64), 
	person TEXT, 
	decided_at BIGINT, 
	note TEXT, 
	UNIQUE (id), 
	FOREIGN KEY(route_id) REFERENCES routes (id)
);
INSERT INTO "holds" VALUES(1,'hd_019b8d627a80a05552e6a4146819014d','rt_019b8d627a80877f069092cd1041e8fd','carla','expired','finance','risk','[{"number":3,"reason":"risk","detail":"P(high) is 0.61, the limit is 0.30."}]','low','f534c41c2805d69b22f28853e03a88bea65c221ea7e33ef0ddb084b8b6325523',1767603600000000,1767607200000000,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "holds" VALUES(2,'hd_019b8d9f8380b3e094feb56bc8fcc30e','rt_019b8d9f8380ac23add6cd0c262089cb','carla','open','finance','risk','[{"number":3,"reason":"risk","detail":"P(high) is 0.61, the limit is 0.30."}]','high','94802899bea4f13ec014ce7c317ea5e09966b120177e2e93e531ecd104e1140f',1767607600000000,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "holds" VALUES(3,'hd_019b8d9f83801978d61848fdc8727e45','rt_019b8d9f8380f6d66dbe9f1a87b2e158','carla','rejected','finance','risk','[{"number":3,"reason":"risk","detail":"P(high) is 0.61, the limit is 0.30."}]','high','4c8ed5e3a96658f56742245a1ca60dff8ea2ebb1ecde9fd613c797a067e2473c',1767607600000000,NULL,'reject',NULL,'anna',1767607600000000,'no');
INSERT INTO "holds" VALUES(4,'hd_019b8d9f838046b376ec8cb78a408f19','rt_019b8d9f8380c77f0b0f517b730d35ab','carla','approved','finance','risk','[{"number":3,"reason":"risk","detail":"P(high) is 0.61, the limit is 0.30."}]','high','8f5e2277f0a6527e187c518304d21ef350a9c12ead94436f74f8bb0897f46272',1767607600000000,NULL,'approve','finance','anna',1767607600000000,'ok');
INSERT INTO "holds" VALUES(5,'hd_019b8d9f83809ccb16df8b76404ebdb0','rt_019b8d9f8380b1b659932661d908a0e5','carla','approved','finance','risk','[{"number":3,"reason":"risk","detail":"P(high) is 0.61, the limit is 0.30."}]','high','86da34952fe4475abacbbe43982960ca373a80dd7af3dc3c0c08d8847ababdf6',1767607600000000,NULL,'approve','finance','bela',1767607600000000,NULL);
CREATE TABLE identities (
	kind VARCHAR(16) NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	route_id VARCHAR(40) NOT NULL, 
	fingerprint VARCHAR(64), 
	created_at BIGINT NOT NULL, 
	PRIMARY KEY (kind, digest)
);
INSERT INTO "identities" VALUES('key','0f7df4887f7a3373ce5e7fb6c25f581f4a18bfa993631c2e45f8955751f76c66','rt_019b8d9f8380afa9886542aa5bcc2dfe','eb5da2eb63816b7bf60e3d8f561e55b6845f61cab1174db66409453fb680f115',1767607600000000);
INSERT INTO "identities" VALUES('message_id','99b20d2fe5ec2c92d1e34b2b053ec7235605406baeb219bd97e0cddef4cbd4e2','rt_019b8d9f8380afa9886542aa5bcc2dfe','eb5da2eb63816b7bf60e3d8f561e55b6845f61cab1174db66409453fb680f115',1767607600000000);
CREATE TABLE messages (
	route_id VARCHAR(40) NOT NULL, 
	text TEXT NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	salt VARCHAR(64) NOT NULL, 
	channel TEXT, 
	account TEXT, 
	sender TEXT, 
	conversation TEXT, 
	message_id TEXT, 
	revision INTEGER NOT NULL, 
	received_at BIGINT, 
	labels JSON NOT NULL, 
	attachments JSON NOT NULL, 
	PRIMARY KEY (route_id), 
	FOREIGN KEY(route_id) REFERENCES routes (id)
);
INSERT INTO "messages" VALUES('rt_019b8d627a80877f069092cd1041e8fd','expire me','3bfee0693971c2373529b3466af56545abc191cc09eb8358eaf0a74290ef2921','bd2136d6dd4697ab8125149efd89a58514a84a8ab218026c4a20bf6b238cc659','chat',NULL,NULL,'exp',NULL,0,NULL,'[]','[]');
INSERT INTO "messages" VALUES('rt_019b8d9f8380afa9886542aa5bcc2dfe','received','318c5ad51e9b36ff5924ae323dd59031245413a3e0f2aa3e03cc42902e9e7acc','39c2abd53938ae22644f08c0e36fd0f621f33cbdd33ee4259fb222f7815b5abe','chat',NULL,'sam',NULL,'m-1',0,NULL,'[]','[]');
INSERT INTO "messages" VALUES('rt_019b8d9f838022e8d5e77bf0963165e4','decided','8d3c6686ec306db55ac57683ca4c4b96b3650d8d63e95599f9d5d1a8d3f31956','0e90f4e833c1dafdbd26be71624bbc1a2233934e66fe266444a422e4c843e5b7','chat',NULL,NULL,'decided',NULL,0,NULL,'[]','[]');
INSERT INTO "messages" VALUES('rt_019b8d9f838072e98a9e24209f499ceb','clarify','c010d5892545f57eb436da32bec37ae1447993752c6decd63021c1b253fbeb28','90ecf899722d43ea92f04fc4a297b7ec463d8d8a7afa8a6f191c1114e898d105','chat',NULL,NULL,'clarify',NULL,0,NULL,'[]','[]');
INSERT INTO "messages" VALUES('rt_019b8d9f838015b1eadf2390259e7c91','declined','a8bfacf3bcd75164698d9d70aacd2ce5a5bb0993f5a9badf2e37b396fe5986d9','eaaae90d0e3455f09dff0a576de076b71a4b9492e74faffaa4114cfb99727edc','chat',NULL,NULL,'declined',NULL,0,NULL,'[]','[]');
INSERT INTO "messages" VALUES('rt_019b8d9f8380ac23add6cd0c262089cb','held','c20dea4d876b5b8fb0a1814b43017030cea6d4ac30b2d9ae71b404d2faba49b5','032b22f24310973139039734d1e848ce8f97b2573971cc96fa48cc60ca8ccead','chat',NULL,NULL,'h1',NULL,0,NULL,'[]','[]');
INSERT INTO "messages" VALUES('rt_019b8d9f8380f6d66dbe9f1a87b2e158','rejected','20cd938a2ea64f612b3523bc9219130c6fc66cd09b394ea38437488c0b8898b2','1c4742e291cadc8abc0970288aeca64c4a2169b2d7b3562db59cd125f436c5b6','chat',NULL,NULL,'h2',NULL,0,NULL,'[]','[]');
INSERT INTO "messages" VALUES('rt_019b8d9f838025765eb496a5129d4595','cancelled','8b47045eb7b8ca42aa967f33ee1d014ba89f8d1ac207426b482d34b5c0d90935','1c594e560d948d7095e6853341cfd1f00c800116ed972dc72dce7504e6f71cd2','chat',NULL,NULL,'cancelled',NULL,0,NULL,'[]','[]');
INSERT INTO "messages" VALUES('rt_019b8d9f838010c1c14627a9ca1e30a3','done','a4c3ed04a95a3da14a9d235c83d868bed7c0f45cf7f3faa751ee8f50598d2211','851bf33465f3bf33b53f469950c2d3b5c5ba8b5a271cad293db99c3d442e2656','chat',NULL,NULL,'done',NULL,0,NULL,'[]','[]');
INSERT INTO "messages" VALUES('rt_019b8d9f8380d9ebf6245e2b0c96e5ab','failed','5d28a90f4498a81461efbaf6f628a19d9778390bb5c81a393dd936181cc3d826','52969be56deb60a683dc5b69b56c622df70866d85b7d384d658318b96215bdd9','chat',NULL,NULL,'failed',NULL,0,NULL,'[]','[]');
INSERT INTO "messages" VALUES('rt_019b8d9f8380a67dab5f24a7acdac840','ran and failed','b4904b3c702779cddc5fcc902571aa4388603331da83e2ef29d2f20a39a15c98','36be9d00e2de1e4ff2b2bca6a6af404d0bc52caf04b5fa17394dbecc630f1978','chat',NULL,NULL,'ran and failed',NULL,0,NULL,'[]','[]');
INSERT INTO "messages" VALUES('rt_019b8d9f8380cd8ae7edbc9c3d473eb2','unknown','b23a6a8439c0dde5515893e7c90c1e3233b8616e634470f20dc4928bcf3609bc','f9d3cb02cd3d652be52616a688fdfb7036e27c66a08dfb92b6987dfbcd66dfd5','chat',NULL,NULL,'unknown',NULL,0,NULL,'[]','[]');
INSERT INTO "messages" VALUES('rt_019b8d9f8380c77f0b0f517b730d35ab','approved then done','87b01477e7a0ea6451dd811221495473528a151260869297c4a827297cdd1095','6db49fcede3179b9292026371698f68fa7c949ce03f72d97cc0286394b98b00d','chat',NULL,NULL,'h3',NULL,0,NULL,'[]','[]');
INSERT INTO "messages" VALUES('rt_019b8d9f8380a86ccc07677ef20510af','launching','f3beda8af56dadf2ef80471b72ed41c3ffa4398694c8e628b41f6d6fb3815ede','d574626a58a437b6813c9027366e1fc60635a49c093debafcf3251ca221cd44d','chat',NULL,NULL,'launching',NULL,0,NULL,'[]','[]');
INSERT INTO "messages" VALUES('rt_019b8d9f8380b7722d657c513961b2cb','running','c071cf5f5ed6f884cc70155b6f05f755fd46a302d05e4261b7e92ce878bbfed8','970d41b0219601cf2dc73799e6b5c569e9b60aa8954312ca4a3cf30d1b3cd427','chat',NULL,NULL,'running',NULL,0,NULL,'[]','[]');
INSERT INTO "messages" VALUES('rt_019b8d9f8380b1b659932661d908a0e5','approved and ready','80308fac655571a224ffb148e9606aa1ed930b102e9f224378e2a40368b58d8a','cb8f383739bf213d188e19a53d53956b17bb806ecca418621a510b1221818546','chat',NULL,NULL,'h4',NULL,0,NULL,'[]','[]');
CREATE TABLE meta (
	name VARCHAR(64) NOT NULL, 
	value TEXT NOT NULL, 
	PRIMARY KEY (name)
);
INSERT INTO "meta" VALUES('schema_version','1');
CREATE TABLE routes (
	number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	id VARCHAR(40) NOT NULL, 
	owner TEXT NOT NULL, 
	state VARCHAR(16) NOT NULL, 
	mode VARCHAR(16) NOT NULL, 
	scope VARCHAR(64) NOT NULL, 
	sender_scope VARCHAR(64), 
	idempotency_key TEXT, 
	pin TEXT, 
	on_uncertain VARCHAR(16) NOT NULL, 
	clarifies TEXT, 
	cancel_on_disconnect BOOLEAN NOT NULL, 
	reply_target TEXT, 
	accepted_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	ready_at BIGINT, 
	decision JSON, 
	explanation JSON, 
	agent VARCHAR(64), 
	reason VARCHAR(64), 
	ran BOOLEAN, 
	reply_text TEXT, 
	tool_sends JSON, 
	approved_digest VARCHAR(64), 
	UNIQUE (id)
);
INSERT INTO "routes" VALUES(1,'rt_019b8d627a80877f069092cd1041e8fd','carla','expired','dispatch','bc3133ed41252d972c7141a1a9e5beb0dcff467fbc38423fbd48ad86dd124fd2',NULL,NULL,NULL,'hold',NULL,0,NULL,1767603600000000,1767607600000000,NULL,'{"id":"rt_00000000000000000000000000000000","agent":"finance","confidence":0.9,"margin":0.8,"model":"scripted","message_digest":"0000000000000000000000000000000000000000000000000000000000000000","roster_digest":"1111111111111111111111111111111111111111111111111111111111111111","agent_digest":"6f00e12ad8c1396e41829073aa1b692d33aff3fc8d4f67e2ca474140c944203f","latency_ms":1.5,"seal":"","outcome":"hold","reason":"risk","via":"model","gates":[{"number":3,"reason":"risk","detail":"P(high) is 0.61, the limit is 0.30."}],"candidates":[["finance",0.9],["none_of_these",0.1]],"notes":[],"risk":{"top":"low","floor":"low","codes":[],"probabilities":{"low":0.9,"medium":0.07,"high":0.03}}}','{}','finance','expired',NULL,NULL,NULL,NULL);
INSERT INTO "routes" VALUES(2,'rt_019b8d9f8380afa9886542aa5bcc2dfe','carla','received','dispatch','64a611a2132f1aa2be7066335351ab7000eb55a49e568935cdb1a306bbb90152','1d5b589fd9a3275c238c763d7964e9d4675299d38805a6f598290f7e38633d67','key-1',NULL,'hold',NULL,0,NULL,1767607600000000,1767607600000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "routes" VALUES(3,'rt_019b8d9f838022e8d5e77bf0963165e4','carla','decided','decide','669db1f31e4f35e417bf125c9778c5ac1b1e9b0cf56f5eebd0f9f5ad0c73792f',NULL,NULL,NULL,'hold',NULL,0,NULL,1767607600000000,1767607600000000,NULL,'{"id":"rt_00000000000000000000000000000000","agent":"finance","confidence":0.9,"margin":0.8,"model":"scripted","message_digest":"0000000000000000000000000000000000000000000000000000000000000000","roster_digest":"1111111111111111111111111111111111111111111111111111111111111111","agent_digest":"6f00e12ad8c1396e41829073aa1b692d33aff3fc8d4f67e2ca474140c944203f","latency_ms":1.5,"seal":"","outcome":"dispatch","reason":"matched","via":"model","gates":[],"candidates":[["finance",0.9],["none_of_these",0.1]],"notes":[],"risk":{"top":"low","floor":"low","codes":[],"probabilities":{"low":0.9,"medium":0.07,"high":0.03}}}','{"ballot":{"agents":["finance"]}}','finance','matched',NULL,NULL,NULL,NULL);
INSERT INTO "routes" VALUES(4,'rt_019b8d9f838072e98a9e24209f499ceb','carla','clarify','dispatch','2ac424b91f54aeba8a67db9a51076e127361411fb21f1c6b3d159ba46e80b742',NULL,NULL,NULL,'hold',NULL,0,NULL,1767607600000000,1767607600000000,NULL,'{"id":"rt_00000000000000000000000000000000","agent":null,"confidence":0.9,"margin":0.8,"model":"scripted","message_digest":"0000000000000000000000000000000000000000000000000000000000000000","roster_digest":"1111111111111111111111111111111111111111111111111111111111111111","agent_digest":"6f00e12ad8c1396e41829073aa1b692d33aff3fc8d4f67e2ca474140c944203f","latency_ms":1.5,"seal":"","outcome":"clarify","reason":"uncertain","via":"model","gates":[],"candidates":[["finance",0.9],["none_of_these",0.1]],"notes":[],"risk":{"top":"low","floor":"low","codes":[],"probabilities":{"low":0.9,"medium":0.07,"high":0.03}}}','{"ballot":{"agents":["finance"]}}',NULL,'uncertain',NULL,NULL,NULL,NULL);
INSERT INTO "routes" VALUES(5,'rt_019b8d9f838015b1eadf2390259e7c91','carla','declined','dispatch','eb70623dd977993624ee658d73919f24c54119de27fc3337981bd8a7f42e3d4b',NULL,NULL,NULL,'hold',NULL,0,NULL,1767607600000000,1767607600000000,NULL,'{"id":"rt_00000000000000000000000000000000","agent":null,"confidence":0.9,"margin":0.8,"model":"scripted","message_digest":"0000000000000000000000000000000000000000000000000000000000000000","roster_digest":"1111111111111111111111111111111111111111111111111111111111111111","agent_digest":"6f00e12ad8c1396e41829073aa1b692d33aff3fc8d4f67e2ca474140c944203f","latency_ms":1.5,"seal":"","outcome":"decline","reason":"no_match","via":"model","gates":[],"candidates":[["finance",0.9],["none_of_these",0.1]],"notes":[],"risk":{"top":"low","floor":"low","codes":[],"probabilities":{"low":0.9,"medium":0.07,"high":0.03}}}','{"ballot":{"agents":["finance"]}}',NULL,'no_match',NULL,NULL,NULL,NULL);
INSERT INTO "routes" VALUES(6,'rt_019b8d9f8380ac23add6cd0c262089cb','carla','held','dispatch','bf48bbb39fa573899e61f40b4302376764a4bfbf5fc5721219fd4c452e01e4be',NULL,NULL,NULL,'hold',NULL,0,NULL,1767607600000000,1767607600000000,NULL,'{"id":"rt_00000000000000000000000000000000","agent":"finance","confidence":0.9,"margin":0.8,"model":"scripted","message_digest":"0000000000000000000000000000000000000000000000000000000000000000","roster_digest":"1111111111111111111111111111111111111111111111111111111111111111","agent_digest":"6f00e12ad8c1396e41829073aa1b692d33aff3fc8d4f67e2ca474140c944203f","latency_ms":1.5,"seal":"","outcome":"hold","reason":"risk","via":"model","gates":[{"number":3,"reason":"risk","detail":"P(high) is 0.61, the limit is 0.30."}],"candidates":[["finance",0.9],["none_of_these",0.1]],"notes":[],"risk":{"top":"high","floor":"low","codes":[],"probabilities":{"low":0.9,"medium":0.07,"high":0.03}}}','{}','finance','risk',NULL,NULL,NULL,NULL);
INSERT INTO "routes" VALUES(7,'rt_019b8d9f8380f6d66dbe9f1a87b2e158','carla','rejected','dispatch','559e9c653637c21f7500bf7a5f6d7e0e9d86ab4ee4decded724ccdf4a67830d5',NULL,NULL,NULL,'hold',NULL,0,NULL,1767607600000000,1767607600000000,NULL,'{"id":"rt_00000000000000000000000000000000","agent":"finance","confidence":0.9,"margin":0.8,"model":"scripted","message_digest":"0000000000000000000000000000000000000000000000000000000000000000","roster_digest":"1111111111111111111111111111111111111111111111111111111111111111","agent_digest":"6f00e12ad8c1396e41829073aa1b692d33aff3fc8d4f67e2ca474140c944203f","latency_ms":1.5,"seal":"","outcome":"hold","reason":"risk","via":"model","gates":[{"number":3,"reason":"risk","detail":"P(high) is 0.61, the limit is 0.30."}],"candidates":[["finance",0.9],["none_of_these",0.1]],"notes":[],"risk":{"top":"high","floor":"low","codes":[],"probabilities":{"low":0.9,"medium":0.07,"high":0.03}}}','{}','finance','rejected',NULL,NULL,NULL,NULL);
INSERT INTO "routes" VALUES(8,'rt_019b8d9f838025765eb496a5129d4595','carla','cancelled','dispatch','82a2bedfad8d99ddc2fe23f476e7689ffc5c5679e6bf8ce9f89a3aa30b594eed',NULL,NULL,NULL,'hold',NULL,0,NULL,1767607600000000,1767607600000000,1767607600000000,'{"id":"rt_00000000000000000000000000000000","agent":"finance","confidence":0.9,"margin":0.8,"model":"scripted","message_digest":"0000000000000000000000000000000000000000000000000000000000000000","roster_digest":"1111111111111111111111111111111111111111111111111111111111111111","agent_digest":"6f00e12ad8c1396e41829073aa1b692d33aff3fc8d4f67e2ca474140c944203f","latency_ms":1.5,"seal":"","outcome":"dispatch","reason":"matched","via":"model","gates":[],"candidates":[["finance",0.9],["none_of_these",0.1]],"notes":[],"risk":{"top":"low","floor":"low","codes":[],"probabilities":{"low":0.9,"medium":0.07,"high":0.03}}}','{"ballot":{"agents":["finance"]}}','finance','cancelled',NULL,NULL,NULL,NULL);
INSERT INTO "routes" VALUES(9,'rt_019b8d9f838010c1c14627a9ca1e30a3','carla','done','dispatch','76950bc15cd81d63612d435185dadb1dde822dd8b9e43acc3d1138ae9bc33822',NULL,NULL,NULL,'hold',NULL,0,NULL,1767607600000000,1767607600000000,1767607600000000,'{"id":"rt_00000000000000000000000000000000","agent":"finance","confidence":0.9,"margin":0.8,"model":"scripted","message_digest":"0000000000000000000000000000000000000000000000000000000000000000","roster_digest":"1111111111111111111111111111111111111111111111111111111111111111","agent_digest":"6f00e12ad8c1396e41829073aa1b692d33aff3fc8d4f67e2ca474140c944203f","latency_ms":1.5,"seal":"","outcome":"dispatch","reason":"matched","via":"model","gates":[],"candidates":[["finance",0.9],["none_of_these",0.1]],"notes":[],"risk":{"top":"low","floor":"low","codes":[],"probabilities":{"low":0.9,"medium":0.07,"high":0.03}}}','{"ballot":{"agents":["finance"]}}','finance','matched',1,'fine',NULL,NULL);
INSERT INTO "routes" VALUES(10,'rt_019b8d9f8380d9ebf6245e2b0c96e5ab','carla','failed','dispatch','bcd603cfcade2357c2c2d6a76544ef8a1d6fddf1fbba008559315c93a2966b9d',NULL,NULL,NULL,'hold',NULL,0,NULL,1767607600000000,1767607600000000,1767607600000000,'{"id":"rt_00000000000000000000000000000000","agent":"finance","confidence":0.9,"margin":0.8,"model":"scripted","message_digest":"0000000000000000000000000000000000000000000000000000000000000000","roster_digest":"1111111111111111111111111111111111111111111111111111111111111111","agent_digest":"6f00e12ad8c1396e41829073aa1b692d33aff3fc8d4f67e2ca474140c944203f","latency_ms":1.5,"seal":"","outcome":"dispatch","reason":"matched","via":"model","gates":[],"candidates":[["finance",0.9],["none_of_these",0.1]],"notes":[],"risk":{"top":"low","floor":"low","codes":[],"probabilities":{"low":0.9,"medium":0.07,"high":0.03}}}','{"ballot":{"agents":["finance"]}}','finance','agent-unknown',0,NULL,NULL,NULL);
INSERT INTO "routes" VALUES(11,'rt_019b8d9f8380a67dab5f24a7acdac840','carla','failed','dispatch','e752ef715e0797a5139a8e57b9f28477a6fc16aae0b9915e0a46cec66e7ee036',NULL,NULL,NULL,'hold',NULL,0,NULL,1767607600000000,1767607600000000,1767607600000000,'{"id":"rt_00000000000000000000000000000000","agent":"finance","confidence":0.9,"margin":0.8,"model":"scripted","message_digest":"0000000000000000000000000000000000000000000000000000000000000000","roster_digest":"1111111111111111111111111111111111111111111111111111111111111111","agent_digest":"6f00e12ad8c1396e41829073aa1b692d33aff3fc8d4f67e2ca474140c944203f","latency_ms":1.5,"seal":"","outcome":"dispatch","reason":"matched","via":"model","gates":[],"candidates":[["finance",0.9],["none_of_these",0.1]],"notes":[],"risk":{"top":"low","floor":"low","codes":[],"probabilities":{"low":0.9,"medium":0.07,"high":0.03}}}','{"ballot":{"agents":["finance"]}}','finance','timeout',1,NULL,NULL,NULL);
INSERT INTO "routes" VALUES(12,'rt_019b8d9f8380cd8ae7edbc9c3d473eb2','carla','unknown','dispatch','cadb9beb7cc79aeba8288fa658869e3b13fc31e24dd15aeefcb5fe285aac6bd0',NULL,NULL,NULL,'hold',NULL,0,NULL,1767607600000000,1767607600000000,1767607600000000,'{"id":"rt_00000000000000000000000000000000","agent":"finance","confidence":0.9,"margin":0.8,"model":"scripted","message_digest":"0000000000000000000000000000000000000000000000000000000000000000","roster_digest":"1111111111111111111111111111111111111111111111111111111111111111","agent_digest":"6f00e12ad8c1396e41829073aa1b692d33aff3fc8d4f67e2ca474140c944203f","latency_ms":1.5,"seal":"","outcome":"dispatch","reason":"matched","via":"model","gates":[],"candidates":[["finance",0.9],["none_of_these",0.1]],"notes":[],"risk":{"top":"low","floor":"low","codes":[],"probabilities":{"low":0.9,"medium":0.07,"high":0.03}}}','{"ballot":{"agents":["finance"]}}','finance','cut',NULL,NULL,NULL,NULL);
INSERT INTO "routes" VALUES(13,'rt_019b8d9f8380c77f0b0f517b730d35ab','carla','done','dispatch','bbd2030ee59528125f13120a701b74ebdc24a2d21ef70b3f9883d29c6df6230b',NULL,NULL,NULL,'hold',NULL,0,NULL,1767607600000000,1767607600000000,1767607600000000,'{"id":"rt_00000000000000000000000000000000","agent":"finance","confidence":0.9,"margin":0.8,"model":"scripted","message_digest":"0000000000000000000000000000000000000000000000000000000000000000","roster_digest":"1111111111111111111111111111111111111111111111111111111111111111","agent_digest":"6f00e12ad8c1396e41829073aa1b692d33aff3fc8d4f67e2ca474140c944203f","latency_ms":1.5,"seal":"","outcome":"hold","reason":"risk","via":"model","gates":[{"number":3,"reason":"risk","detail":"P(high) is 0.61, the limit is 0.30."}],"candidates":[["finance",0.9],["none_of_these",0.1]],"notes":[],"risk":{"top":"high","floor":"low","codes":[],"probabilities":{"low":0.9,"medium":0.07,"high":0.03}}}','{}','finance','risk',1,'fine',NULL,'d3b74c149b47330fb47d81c565058170e77b6d0f0c011927cdf2774fddc77088');
INSERT INTO "routes" VALUES(14,'rt_019b8d9f8380a86ccc07677ef20510af','carla','launching','dispatch','a51235068ec91fe1622e9edd51ee4686629b61a2374d520f2a30a31ccb17798b',NULL,NULL,NULL,'hold',NULL,0,NULL,1767607600000000,1767607600000000,1767607600000000,'{"id":"rt_00000000000000000000000000000000","agent":"finance","confidence":0.9,"margin":0.8,"model":"scripted","message_digest":"0000000000000000000000000000000000000000000000000000000000000000","roster_digest":"1111111111111111111111111111111111111111111111111111111111111111","agent_digest":"6f00e12ad8c1396e41829073aa1b692d33aff3fc8d4f67e2ca474140c944203f","latency_ms":1.5,"seal":"","outcome":"dispatch","reason":"matched","via":"model","gates":[],"candidates":[["finance",0.9],["none_of_these",0.1]],"notes":[],"risk":{"top":"low","floor":"low","codes":[],"probabilities":{"low":0.9,"medium":0.07,"high":0.03}}}','{"ballot":{"agents":["finance"]}}','finance','matched',NULL,NULL,NULL,NULL);
INSERT INTO "routes" VALUES(15,'rt_019b8d9f8380b7722d657c513961b2cb','carla','running','dispatch','efcccfc642c581531e7d5dd8ee0d8c659d339a89791e0867e47bfc693de539a9',NULL,NULL,NULL,'hold',NULL,0,NULL,1767607600000000,1767607600000000,1767607600000000,'{"id":"rt_00000000000000000000000000000000","agent":"security","confidence":0.9,"margin":0.8,"model":"scripted","message_digest":"0000000000000000000000000000000000000000000000000000000000000000","roster_digest":"1111111111111111111111111111111111111111111111111111111111111111","agent_digest":"6f00e12ad8c1396e41829073aa1b692d33aff3fc8d4f67e2ca474140c944203f","latency_ms":1.5,"seal":"","outcome":"dispatch","reason":"matched","via":"model","gates":[],"candidates":[["finance",0.9],["none_of_these",0.1]],"notes":[],"risk":{"top":"low","floor":"low","codes":[],"probabilities":{"low":0.9,"medium":0.07,"high":0.03}}}','{"ballot":{"agents":["finance"]}}','security','matched',NULL,NULL,NULL,NULL);
INSERT INTO "routes" VALUES(16,'rt_019b8d9f8380b1b659932661d908a0e5','carla','ready','dispatch','679baca7d0c2780162ad29e772757340c1077885631849da0496f5dbea2830ba',NULL,NULL,NULL,'hold',NULL,0,NULL,1767607600000000,1767607600000000,1767607600000000,'{"id":"rt_00000000000000000000000000000000","agent":"finance","confidence":0.9,"margin":0.8,"model":"scripted","message_digest":"0000000000000000000000000000000000000000000000000000000000000000","roster_digest":"1111111111111111111111111111111111111111111111111111111111111111","agent_digest":"6f00e12ad8c1396e41829073aa1b692d33aff3fc8d4f67e2ca474140c944203f","latency_ms":1.5,"seal":"","outcome":"hold","reason":"risk","via":"model","gates":[{"number":3,"reason":"risk","detail":"P(high) is 0.61, the limit is 0.30."}],"candidates":[["finance",0.9],["none_of_these",0.1]],"notes":[],"risk":{"top":"high","floor":"low","codes":[],"probabilities":{"low":0.9,"medium":0.07,"high":0.03}}}','{}','finance','risk',NULL,NULL,NULL,'47e2393d2c422e7fa64516462aea2b85375c00ecc13ceb3268b70c98d0800d34');
CREATE TABLE sessions (
	scope VARCHAR(64) NOT NULL, 
	agent VARCHAR(64) NOT NULL, 
	generation INTEGER NOT NULL, 
	PRIMARY KEY (scope, agent)
);
CREATE TABLE workers (
	id VARCHAR(40) NOT NULL, 
	name TEXT NOT NULL, 
	started_at BIGINT NOT NULL, 
	ended_at BIGINT, 
	PRIMARY KEY (id)
);
INSERT INTO "workers" VALUES('wk_019b8d9f838094e554e0dd62fe037a26','old',1767607600000000,NULL);
CREATE INDEX ix_routes_owner ON routes (owner, number);
CREATE INDEX ix_routes_state ON routes (state, number);
CREATE INDEX ix_routes_scope ON routes (scope, number);
CREATE INDEX ix_routes_sender ON routes (sender_scope, number);
CREATE INDEX ix_holds_expiry ON holds (state, expires_at);
CREATE UNIQUE INDEX ux_holds_open ON holds (route_id) WHERE state = 'open';
CREATE INDEX ix_holds_state ON holds (state, number);
CREATE INDEX ix_holds_route ON holds (route_id, number);
CREATE INDEX ix_attempts_open ON attempts (state, lease_until);
CREATE UNIQUE INDEX ux_attempts_session ON attempts (scope, agent) WHERE state IN ('launching', 'running');
CREATE UNIQUE INDEX ux_attempts_route ON attempts (route_id) WHERE state IN ('launching', 'running');
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('routes',16);
INSERT INTO "sqlite_sequence" VALUES('events',71);
INSERT INTO "sqlite_sequence" VALUES('holds',5);
INSERT INTO "sqlite_sequence" VALUES('attempts',7);
COMMIT;
