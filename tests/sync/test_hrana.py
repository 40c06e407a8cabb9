"""The Hrana client: values, atomic batches and errors, against a real server and a scripted one."""

import httpx
import pytest
from memoryd.errors import AuthRequiredError, ReadOnlyError, UnavailableError
from memoryd.sync.hrana import CloudClient, CloudError, Statement


@pytest.fixture
async def client(sqld):
    """A client of a fresh server."""
    one = CloudClient(sqld.url, sqld.token())
    yield one
    await one.close()


def scripted(answer):
    """A client whose server gives one answer, whatever it is asked."""
    return CloudClient("http://127.0.0.1:1", "token", transport=httpx.MockTransport(lambda _: answer))


@pytest.mark.parametrize(
    "value", [None, "", "日记", "a\0b", 0, 2**31, 2**53 + 1, -(2**63), 0.5, b"", b"\x00\xff", b"x" * 1001]
)
async def test_every_value_comes_back_exactly(client, value):
    """Text with NUL, 64-bit integers and bytes travel without loss."""
    (result,) = await client.query(Statement("SELECT ?", (value,)))
    assert result.rows == [(value,)]
    assert type(result.rows[0][0]) is type(value)


async def test_a_failed_statement_rolls_the_whole_transaction_back(client):
    """Nothing of the batch is there, and the cause is named."""
    await client.transact([Statement("CREATE TABLE t (a INTEGER PRIMARY KEY)")])
    with pytest.raises(CloudError, match="UNIQUE"):
        await client.transact([Statement("INSERT INTO t VALUES (1)"), Statement("INSERT INTO t VALUES (1)")])
    (result,) = await client.query(Statement("SELECT count(*) FROM t"))
    assert result.rows == [(0,)]


async def test_a_transaction_says_how_many_rows_each_statement_changed(client):
    """The counts are in the order of the statements."""
    await client.transact([Statement("CREATE TABLE t (a INTEGER)")])
    counts = await client.transact(
        [
            Statement("INSERT INTO t VALUES (1), (2)"),
            Statement("DELETE FROM t WHERE a = ?", (2,)),
            Statement("DELETE FROM t"),
        ]
    )
    assert counts == [2, 1, 1]


async def test_a_missing_table_is_told_apart(client):
    """A new cloud is not an error to everybody."""
    with pytest.raises(CloudError) as caught:
        await client.query(Statement("SELECT v FROM meta"))
    assert caught.value.missing_table


async def test_an_answer_that_is_too_large_is_told_apart(client):
    """The reader asks for less then."""
    blobs = " UNION ALL ".join(["SELECT zeroblob(4000000)"] * 4)
    with pytest.raises(CloudError) as caught:
        await client.query(Statement(blobs))
    assert caught.value.too_large


async def test_a_read_only_token_may_read_and_not_write(sqld):
    """403 on a write is read_only, not a bad token."""
    client = CloudClient(sqld.url, sqld.token("ro"))
    assert (await client.query(Statement("SELECT 1")))[0].rows == [(1,)]
    with pytest.raises(ReadOnlyError):
        await client.transact([Statement("CREATE TABLE t (a)")])
    await client.close()


@pytest.mark.parametrize(("token", "lives_s"), [("nonsense", 0), ("", 0), ("expired", -3600)])
async def test_a_bad_token_is_refused(sqld, token, lives_s):
    """Nonsense, none and an expired one."""
    client = CloudClient(sqld.url, sqld.token(lives_s=lives_s) if token == "expired" else token)
    with pytest.raises(AuthRequiredError):
        await client.query(Statement("SELECT 1"))
    await client.close()


@pytest.mark.parametrize(
    ("answer", "kind", "retry_after_s"),
    [
        (httpx.Response(401), AuthRequiredError, 0),
        (httpx.Response(403), AuthRequiredError, 0),
        (httpx.Response(404), CloudError, 0),
        (httpx.Response(429, headers={"Retry-After": "17"}), CloudError, 17),
        (httpx.Response(429, headers={"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"}), CloudError, 0),
        (httpx.Response(500), CloudError, 0),
        (httpx.Response(200, text="<html>Welcome to the hotel</html>"), CloudError, 0),
        (httpx.Response(200, json={"results": []}), CloudError, 0),
        (httpx.Response(200, json={"results": [{"type": "error", "error": {"message": "no"}}]}), CloudError, 0),
    ],
)
async def test_every_bad_answer_is_an_error_of_our_own(answer, kind, retry_after_s):
    """Also a captive portal's page and an error inside of a 200."""
    client = scripted(answer)
    with pytest.raises(kind) as caught:
        await client.query(Statement("SELECT 1"))
    assert isinstance(caught.value, UnavailableError)
    assert getattr(caught.value, "retry_after_s", 0) == retry_after_s
    await client.close()


async def test_a_commit_that_was_not_confirmed_is_no_success():
    """HTTP 200 with an error inside of the batch."""
    batch = {
        "step_results": [{"affected_row_count": 0}, None, None, None],
        "step_errors": [None, {"message": "full"}, None, None],
    }
    answer = {
        "results": [{"type": "ok", "response": {"type": "batch", "result": batch}}, {"type": "ok", "response": {}}]
    }
    client = scripted(httpx.Response(200, json=answer))
    with pytest.raises(CloudError, match="full"):
        await client.transact([Statement("INSERT INTO t VALUES (1)")])
    await client.close()


async def test_new_connections_can_be_opened_at_any_time(sqld):
    """After a sleep of the machine the old ones are let go, and the next request goes through new ones."""
    client = CloudClient(sqld.url, sqld.token())
    await client.query(Statement("SELECT 1"))
    before = client._http

    await client.reconnect()
    (result,) = await client.query(Statement("SELECT 2"))
    await client.close()

    assert before.is_closed
    assert result.rows == [(2,)]
    assert client.ended == 2
