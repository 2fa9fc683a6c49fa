"""Small corpora for the tests of retrieval: near twins, two languages, and frequent words."""

from __future__ import annotations

_IDENTIFIERS = {
    "errors/err-4417.md": (
        "ERR-4417",
        "The card was declined by the issuer. Ask for another card.",
    ),
    "errors/err-4471.md": ("ERR-4471", "The payment gateway timed out. Restart it and pay again."),
    "errors/err-4147.md": ("ERR-4147", "The gateway does not know the currency of the payment."),
    "hosts/db-orders-02.md": ("db-orders-02", "Primary of the orders database. Grow its disk."),
    "hosts/db-orders-20.md": ("db-orders-20", "Replica of the orders database. Replace the host."),
    "stock.md": ("Exceptions", "`OrderTimeoutException`: the stock service does not answer."),
    "totals.md": ("More exceptions", "`OrderTotalException`: the sum of the lines is wrong."),
    "gateway.md": ("Gateway", "Timeouts are set in `/etc/pay/gw.conf`; reload after a change."),
    "gateway-old.md": ("Old gateway", "Timeouts were set in `/etc/pay/gateway.conf` by hand."),
    "alerts/KubePodCrashLooping.md": ("KubePodCrashLooping", "A container restarts for ever."),
    "alerts/KubePodNotReady.md": ("KubePodNotReady", "A pod is not ready for a long time."),
    "pooler.md": ("Pooler", "We run pgbouncer in front of the database; reload it in its console."),
    "pooler-old.md": ("Old pooler", "Odyssey stood in front of the database; SIGHUP reloaded it."),
    "releases/v2.14.3.md": ("Release v2.14.3", "Fixes the leak in the scanner."),
    "releases/v2.13.4.md": ("Release v2.13.4", "Fixes the driver of the printer."),
    "balancer.md": ("Addresses of the shop", "The balancer listens on 10.20.30.41."),
    "printer.md": ("Addresses of the office", "The printer listens on 10.20.30.14."),
    "senders.md": ("Replication", "`max_wal_senders` limits replicas. Raise it first."),
    "size.md": ("Checkpoints", "`max_wal_size` limits the log. Raise it when they are frequent."),
    "signin.md": ("Sign in", "The shop uses oauth2 with refresh tokens of a day."),
    "signin-old.md": ("Old sign in", "The shop used saml with sessions of a day."),
    "cluster.md": ("Cluster", "The k8s control plane is upgraded before its workers."),
    "ru/e-1023.md": ("Ошибка E-1023", "Очередь печати переполнена. Перезапустите печать."),
    "ru/e-1032.md": ("Ошибка E-1032", "В принтере нет бумаги. Позвоните на склад."),
}
IDENTIFIERS = {path: f"# {title}\n\n{text}\n" for path, (title, text) in _IDENTIFIERS.items()}
IDENTIFIER_QUESTIONS = (
    ("what is ERR-4471?", "errors/err-4471.md"),
    ("what does ERR4417 mean", "errors/err-4417.md"),
    ("err_4147", "errors/err-4147.md"),
    ("how do I grow the disk of db-orders-02", "hosts/db-orders-02.md"),
    ("диск на db-orders-20 кончился", "hosts/db-orders-20.md"),
    ("OrderTimeoutException in the logs", "stock.md"),
    ("что за ordertotalexception", "totals.md"),
    ("what is in /etc/pay/gw.conf", "gateway.md"),
    ("where is gateway.conf", "gateway-old.md"),
    ("KubePodCrashLooping", "alerts/KubePodCrashLooping.md"),
    ("kubepodnotready fired", "alerts/KubePodNotReady.md"),
    ("how to reload PgBouncer?", "pooler.md"),
    ("как перезагрузить PgBouncer", "pooler.md"),
    ("what changed in v2.14.3", "releases/v2.14.3.md"),
    ("2.13.4", "releases/v2.13.4.md"),
    ("who listens on 10.20.30.41", "balancer.md"),
    ("10.20.30.14", "printer.md"),
    ("max_wal_senders", "senders.md"),
    ("what is maxWalSize for", "size.md"),
    ("does the shop use OAuth2", "signin.md"),
    ("how do I upgrade kubernetes", "cluster.md"),
    ("E-1032", "ru/e-1032.md"),
    ("принтер пишет E1023", "ru/e-1023.md"),
)

_DB = (
    "# Orders database\n\nHost `pg-{0}-1`. Maintenance window {1}. Backups are kept for {2} days.\n"
)
_MQ = "# Очередь заказов\n\nХост `mq-{0}-1`. Чистить очередь {1}. Лимит сообщений {2}.\n"
_REDIS = "# Redis {0}\n\nMemory limit {1}, eviction policy {2}. Flush it {3}.\n"
ENVIRONMENTS = {
    "db/db-prod.md": _DB.format("prod", "Sunday 02:00 to 04:00", 30),
    "db/db-staging.md": _DB.format("stg", "daily from 20:00", 7),
    "db/db-test.md": _DB.format("tst", "at any time", 1),
    "cache/redis-production.md": _REDIS.format("in production", "16 GB", "lru", "after a call"),
    "cache/redis-staging.md": _REDIS.format("on staging", "2 GB", "lru", "freely"),
    "cache/redis-dev.md": _REDIS.format("for development", "512 MB", "none", "freely"),
    "mq/prod/queue.md": _MQ.format("prod", "только с дежурным", 500000),
    "mq/stage/queue.md": _MQ.format("stg", "когда угодно", 20000),
    "mq/test/queue.md": _MQ.format("tst", "каждую ночь", 1000),
}
ENVIRONMENT_QUESTIONS = (
    ("maintenance window of staging DB?", "db/db-staging.md"),
    ("when is the maintenance window of the production database", "db/db-prod.md"),
    ("how long are backups kept in the test environment", "db/db-test.md"),
    ("the stage database's maintenance window", "db/db-staging.md"),
    ("how do I test the backups of the prod database", "db/db-prod.md"),
    ("когда окно обслуживания базы на стейдже", "db/db-staging.md"),
    ("сколько хранятся бэкапы боевой базы заказов", "db/db-prod.md"),
    ("окно обслуживания базы в тестовом окружении", "db/db-test.md"),
    ("memory limit of redis on dev", "cache/redis-dev.md"),
    ("can I flush redis in prod?", "cache/redis-production.md"),
    ("pre-prod redis memory limit", "cache/redis-staging.md"),
    ("лимит памяти редиса на продовом кластере", "cache/redis-production.md"),
    ("как почистить очередь заказов на проде", "mq/prod/queue.md"),
    ("лимит сообщений очереди на препроде", "mq/stage/queue.md"),
    ("как часто чистится очередь на тестовом стенде", "mq/test/queue.md"),
    ("message limit of the orders queue in staging", "mq/stage/queue.md"),
)

_ENGLISH = {
    "drain": (
        "Draining a node",
        "To drain a node run `kubectl drain NODE --ignore-daemonsets`. Pods move elsewhere.",
    ),
    "notready": (
        "Node is NotReady",
        "Look at the kubelet first, then at the disk. Replace the node when it does not come back.",
    ),
    "certificates": (
        "Renewing certificates",
        "Certificates of the gateway expire after 90 days. Issue a new one, reload the gateway.",
    ),
    "backup": (
        "Restoring a backup",
        "Stop the application, fetch the dump from cold storage, load it, check the row counts.",
    ),
    "disk": ("Disk is full", "Delete old logs, then grow the volume."),
    "holidays": (
        "Holidays of the on-call engineer",
        "Swap shifts with a colleague two weeks before and tell the lead.",
    ),
    "login": (
        "Nobody can sign in",
        "The identity provider is unreachable. Switch to the local accounts kept in the safe.",
    ),
    "kafka": (
        "Kafka consumer lag",
        "The consumer is behind. Add consumers up to the number of partitions.",
    ),
    "mail": (
        "Letters do not arrive",
        "The mail relay is on a block list. Ask for removal and send through the second relay.",
    ),
    "clock": ("Clocks differ", "Time synchronisation stopped. Restart chrony on the host."),
}
_RUSSIAN = {
    "pechat": (
        "Очередь печати не двигается",
        "Перевозчик не принимает этикетки. Перезапустите сервис печати и повторите отправку.",
    ),
    "smena": (
        "Передача смены",
        "Дежурный передаёт смену в десять утра и созванивается со следующим.",
    ),
    "oplata": (
        "Оплата не проходит",
        "Платёжный шлюз отвечает ошибкой. Переключите трафик на запасного эквайера.",
    ),
    "otkat": (
        "Откат релиза",
        "Верните предыдущую версию образа и сообщите в канал выпуска.",
    ),
    "parol": (
        "Смена пароля базы данных",
        "Новый пароль кладут в хранилище секретов, затем перезапускают приложения по одному.",
    ),
    "zhara": (
        "Перегрев серверной",
        "Кондиционер остановился. Откройте двери, выключите тестовые стойки, позвоните охране.",
    ),
    "kanal": ("Пропал интернет в офисе", "Переключите маршрутизатор на резервного провайдера."),
    "sklad": (
        "Сканеры на складе молчат",
        "Точка доступа зависла. Выдерните её из розетки на минуту.",
    ),
    "otchet": (
        "Отчёт не пришёл утром",
        "Ночное задание не успело. Запустите его вручную и предупредите бухгалтерию.",
    ),
    "domen": ("Домен не продлён", "Оплатите продление у регистратора и дождитесь обновления зоны."),
}
_NOTES = (  # every word of these is frequent, and many questions hold some of them
    "The shift was quiet. The team checked the system in the morning and in the evening.",
    "The system works again. The team spoke about the problem and closed the ticket of day {0}.",
    "Смена прошла спокойно. Утром и вечером система работала, проблем у команды не было.",
    "Проблема решена, система снова работает. Команда закрыла заявку номер {0}.",
)
TWO_LANGUAGES = (
    {f"en/{name}.md": f"# {title}\n\n{text}\n" for name, (title, text) in _ENGLISH.items()}
    | {f"ru/{name}.md": f"# {title}\n\n{text}\n" for name, (title, text) in _RUSSIAN.items()}
    | {
        f"notes/day-{day:02}.md": f"# Day {day}\n\n{_NOTES[day % len(_NOTES)].format(day)}\n"
        for day in range(40)
    }
)

PARAPHRASES = (  # as people ask, beside the words of the right page
    ("how do I take a node out of the cluster before maintenance", "en/drain.md"),
    ("a worker node is not healthy any more, what first", "en/notready.md"),
    ("the TLS certificate has run out", "en/certificates.md"),
    ("we lost all rows, how do we get yesterday's copy back", "en/backup.md"),
    ("no space left on the server's disk", "en/disk.md"),
    ("I want to go on vacation during my duty week", "en/holidays.md"),
    ("users cannot log into the system", "en/login.md"),
    ("messages of the topic are consumed too slowly", "en/kafka.md"),
    ("our emails are treated as spam", "en/mail.md"),
    ("the system time is wrong on one machine", "en/clock.md"),
    ("наклейки не печатаются, система стоит", "ru/pechat.md"),
    ("как сдать дежурство сменщику", "ru/smena.md"),
    ("покупатели не могут заплатить картой", "ru/oplata.md"),
    ("новый релиз сломал систему, как вернуться назад", "ru/otkat.md"),
    ("нужно обновить учётные данные базы", "ru/parol.md"),
    ("в комнате с серверами слишком горячо", "ru/zhara.md"),
    ("сеть пропала у всей команды", "ru/kanal.md"),
    ("ручные терминалы на складе не работают", "ru/sklad.md"),
    ("утренний отчёт отсутствует", "ru/otchet.md"),
    ("сайт не открывается, забыли заплатить за имя", "ru/domen.md"),
)
NO_SHARED_WORD = (  # and the frequent words of the notes
    ("users cannot log into the system", "en/login.md"),
    ("the letters of the team are treated as spam in the morning", "en/mail.md"),
    ("покупатели не могут заплатить картой, проблема у системы", "ru/oplata.md"),
    ("в комнате с железом слишком горячо, утром проблема", "ru/zhara.md"),
    ("сеть пропала у всей команды", "ru/kanal.md"),
)
CROSS_LANGUAGE = (
    ("как вывести ноду из кластера?", "en/drain.md"),
    ("что делать с кубером если нода NotReady", "en/notready.md"),
    ("сертификат шлюза истёк, как выпустить новый", "en/certificates.md"),
    ("консьюмер кафки отстаёт", "en/kafka.md"),
    ("labels are not being printed", "ru/pechat.md"),
    ("customers cannot pay, the payment gateway fails", "ru/oplata.md"),
    ("roll back a release", "ru/otkat.md"),
    ("rotate the database password", "ru/parol.md"),
)
