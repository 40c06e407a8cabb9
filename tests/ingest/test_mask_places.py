"""Secrets known by where they stand, beside lines that look alike and hold none."""

import pytest
from memoryd.ingest.mask import mask_text

VALUE = "Koala5" + "Shelf22"

SECRETS = [
    f"mysql -u root -p{VALUE} shop",
    f"`mysqldump --host db -p{VALUE} shop > dump.sql`",
    f"MYSQLPASSWORD={VALUE} run",
    f"PGPASSWORD={VALUE} psql -h db",
    f"docker login -u bob -p {VALUE} registry.example",
    f"redis-cli -h cache -a {VALUE} ping",
    f"password for the nas: {VALUE}",
    f"the password of the nas is {VALUE}",
    f"password (router): {VALUE}",
    f"密码（路由器）：{VALUE}",
    f"wifi pass `{VALUE}`",
    f"login bob pass `{VALUE}`",
    f"Passwort: {VALUE}",
    f"kennwort = {VALUE}",
    f"mot de passe : {VALUE}",
    f"パスワード：{VALUE}",
    f"| host | password |\n|---|---|\n| nas | {VALUE} |",
    f"| 主机 | **密码** | 备注 |\n| :-- | --- | --- |\n| nas | `{VALUE}` | 旧 |",
    f"Token | Use\n--- | ---\n{VALUE} | deploy",
]

TRAPS = [
    "Remember to pass `verbose=True` to the builder",
    "Pass `delete=False` to it",
    "We pass `ctx.user_id9` along",
    "callers pass `Foo2Bar` here",
    "you can explicitly pass `X-Trace-Id7` down",
    "We pin `numpy==1.26.4`",
    "Upgraded. Then pin `requests>=2.31`",
    "if it hangs, pass `wait2=0` in",
    "don't pass `retry_3x` there",
    "mvn -p module1 test",
    "docker run -p 8080:80 nginx1",
    "ssh -p 2222 host1 after login",
    "cp -p file1 file2",
    "mkdir -pv a1/b2",
    "redis-cli -a localhost",
    "password for the nas: see the vault",
    "password of the router: unchanged",
    "the password of the nas is stored in 1Password",
    "密码（路由器）：已修改",
    "BYPASS=feature2flag",
    "| host | password policy |\n|---|---|\n| nas | rotate90days |",
    "| model | tokens |\n|---|---|\n| small1 | 15k |",
    "| host | password |\n|---|---|\n| nas | required |",
    "| password |\nno table follows here12 |",
]


@pytest.mark.parametrize("text", SECRETS)
def test_a_secret_is_masked_where_it_stands(text):
    """The value goes, everything around it stays, and masking again changes nothing."""
    masked, count = mask_text(text)

    assert count == 1
    assert VALUE not in masked
    assert masked.count("\n") == text.count("\n")
    assert mask_text(masked) == (masked, 0)


@pytest.mark.parametrize("text", TRAPS)
def test_what_only_looks_alike_stays(text):
    """Ports, flags of other programs, prose and other columns are left alone."""
    assert mask_text(text) == (text, 0)
