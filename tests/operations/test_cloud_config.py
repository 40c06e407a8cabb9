"""Where words may go unprotected, and where a command may send them: to this machine alone."""

import pytest
from memoryd.cloud_config import cloud_url, is_loopback
from memoryd.config import Settings
from memoryd.errors import ConfigError
from memoryd.operations.llm import llm_of


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.8.9.10", "::1"])
def test_this_machine_is_known_by_its_addresses(host):
    """All of 127.0.0.0/8, ::1 and the one name."""
    assert is_loopback(host)


@pytest.mark.parametrize(
    "host", ["127.0.0.1.example", "127.example", "localhost.example", "10.0.0.1", "::2", "1270.0.0.1"]
)
def test_a_name_that_begins_like_an_address_is_another_machine(host):
    """Neither a cloud without encryption nor an endpoint of a command may be there."""
    url = f"http://[{host}]:80" if ":" in host else f"http://{host}"

    assert not is_loopback(host)
    with pytest.raises(ConfigError, match="unprotected"):
        cloud_url(Settings(), url, {})
    with pytest.raises(ConfigError, match="another machine"):
        llm_of(Settings(), url)
