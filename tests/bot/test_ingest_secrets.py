"""Secrets in documents are masked, names and placeholders stay (SC-11)."""

import pytest

from bot.ingest.secrets import MASK, find, is_secret_file, mask

SECRETS = [
    ("AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiEXAMPLE", "wJalrXUtnFEMI"),
    ("key id AKIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLE"),
    ("postgres://app:S3cret@db-orders-02/x", "S3cret"),
    ("redis://:hunter2@cache-01/0", "hunter2"),
    ("SLACK_BOT_TOKEN: xoxb-1111-2222-abcdefgh", "xoxb-1111"),
    ("curl -H 'PRIVATE-TOKEN: glpat-abcdefghijklmnop1234'", "glpat-"),
    ("ghp_abcdefghijklmnopqrstuvwxyz0123456789", "ghp_"),
    ("OPENAI_API_KEY=sk-abcdefghijklmnop1234", "sk-abc"),
    ("password: hunter2", "hunter2"),
    ("password = swordfish", "swordfish"),
    ('"password": "Tr0ub4dor&3",', "Tr0ub4dor"),
    ("- **Password:** Winter2026!", "Winter2026"),
    ("| admin password | Winter2026! |", "Winter2026"),
    ("Пароль: Зима2026", "Зима2026"),
    ("PGPASSWORD=qwerty psql -h db", "qwerty"),
    ("mysqldump --password Winter2026 orders", "Winter2026"),
    ("kubectl create secret generic db --from-literal=password=Winter2026", "Winter2026"),
    ('api_key = "AbCdEf0123456789"', "AbCdEf"),
    ("Authorization: Bearer abcdef1234567890", "abcdef1234567890"),
    ("bot 1234567890:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsawx", "AAHdq"),
    ("postgres://app:S3@cret@db-orders-02/x", "cret"),
    ("AccountName=x;AccountKey=abcd1234ABCD1234+/ab==;EndpointSuffix=core", "abcd1234"),
    ("curl -s -u admin:Winter2026 https://grafana.example/api", "Winter2026"),
    ("curl --user 'admin:Winter2026' https://grafana.example", "Winter2026"),
    ("mysql -h db -u root -pWinter2026 orders", "Winter2026"),
    ("sshpass -p 'Winter2026' ssh root@db", "Winter2026"),
    ("machine git.example login ann password Winter2026", "Winter2026"),
    ("DB_PASS=Winter2026", "Winter2026"),
    ("db-pass: Winter2026", "Winter2026"),
    ('<add key="DbPassword" value="Winter2026"/>', "Winter2026"),
    ("The password is Winter2026, ask Ann.", "Winter2026"),
    ("Пароль Winter2026! не меняли", "Winter2026"),
    ("https://discord.com/api/webhooks/123456789/abcdefGHIJKL", "abcdefGHIJKL"),
    ("AGE-SECRET-KEY-1QYQSZQGPQYQSZQGPQYQSZQGPQYQSZQGP", "QYQSZ"),
    ("eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.SflKxwRJSMeKKF2QT4", "SflKxw"),
]
HARMLESS = [
    "kubectl create secret generic db-creds --from-file=./creds",
    "kubectl get secret pay-gw-token-x7k2p -o yaml",
    "password: <your password>",
    "token: $TOKEN",
    "token=${VAULT_TOKEN}",
    'token = os.environ["TOKEN"]',
    "password: '{{ vault_password }}'",
    "Password: stored in Vault, path kv/pay-gw",
    "Пароль: в Vault",
    "secretName: tls-cert",
    "secret: db-creds-v2",
    "password: ********",
    "password_file: /etc/pay-gw/password",
    "max_tokens: 4096",
    "tokens: 1234567",
    "PasswordAuthentication no",
    "postgres://user:password@host/db",
    "postgres://$USER:$PASS@host/db",
    "http://pay-gw:8080/health@now",
    "The secret: never restart both nodes at once.",
    "private key: /etc/ssl/private/pay-gw.key",
    'publicKeyToken="31bf3856ad364e35"',
    "Reset the password: open the console and press Reset",
    "docker run -u 1000:1000 app",
    "curl -u $USER:$PASS https://grafana.example",
    "curl -u admin:<password> https://grafana.example",
    "mysql -u root -p orders",
    "mysql -p${MYSQL_PWD} orders",
    "The password is base64-encoded in the manifest.",
    "The password is 12 characters long, sha256-hashed.",
    "Store the password SHA256-hashed.",
    "First pass: check the logs. Second pass: restart.",
    "Set MASTER_KEY_FILE=/etc/app/master.key first.",
    "see https://ops.example:8443/a@b",
]


@pytest.mark.parametrize(("text", "value"), SECRETS)
def test_values_are_masked(text: str, value: str) -> None:
    """SC-11"""
    masked = mask(text)
    assert value not in masked
    assert MASK in masked


@pytest.mark.parametrize("text", HARMLESS)
def test_names_and_placeholders_stay(text: str) -> None:
    """SC-11: runbooks speak of secrets all the time."""
    assert mask(text) == text


def test_key_names_stay() -> None:
    """SC-11"""
    assert mask("DB_PASSWORD=Winter2026") == f"DB_PASSWORD={MASK}"


@pytest.mark.parametrize("end", ["\n-----END RSA PRIVATE KEY-----", ""])
def test_a_private_key_goes_and_line_numbers_stay(end: str) -> None:
    """SC-11"""
    text = f"before\n-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA\nabcd=={end}"
    masked, found = find(text)
    assert "MIIE" not in masked
    assert "abcd" not in masked
    assert masked.count("\n") == text.count("\n")
    assert [(hit.line, hit.kind) for hit in found] == [(2, "private key")]


def test_values_of_a_kubernetes_secret() -> None:
    """SC-11: base64 under `data` is no encryption; a config map beside it stays."""
    text = (
        "kind: ConfigMap\ndata:\n  mode: fast\n---\nkind: Secret\nmetadata:\n  name: db\n"
        "data:\n  user: YWRtaW4=\n  pass: aHVudGVyMg==\ntype: Opaque\n"
    )
    masked, found = find(text)
    assert "aHVudGVyMg" not in masked
    assert "mode: fast" in masked
    assert "name: db" in masked
    assert [hit.line for hit in found] == [9, 10]


@pytest.mark.parametrize(
    "path",
    [".env", "deploy/.env.prod", "keys/id_rsa", "a/id_ed25519", "tls/server.pem", "tls/server.key",
     ".netrc", "x/.git/config", "home/.ssh/config", "helm/secrets.yaml", "infra/prod.tfstate"],
)  # fmt: skip
def test_secret_files(path: str) -> None:
    """SC-11"""
    assert is_secret_file(path)


@pytest.mark.parametrize("path", ["docs/keys.md", ".env.example", "secrets.md", "tls/README.md"])
def test_documents_about_secrets_are_no_secret_files(path: str) -> None:
    assert not is_secret_file(path)
